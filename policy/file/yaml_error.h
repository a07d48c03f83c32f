/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libyaml stumbled over, in words of the file: the line that is to be
 * changed, which is often before the one where it noticed.
 */
#ifndef LT_YAML_ERROR_H
#define LT_YAML_ERROR_H

#include <stddef.h>

#include <yaml.h>

struct lt_yaml_error {
	size_t line, column; /* from 1 */
	char text[192];
};

/* parser: of text, after it failed by a scanner's or parser's error. */
void lt_yaml_explain(struct lt_yaml_error *error, const yaml_parser_t *parser,
    const char *text, size_t length);

#endif
