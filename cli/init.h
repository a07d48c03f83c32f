/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a first policy file, apart from where its facts come from.
 */
#ifndef LT_INIT_H
#define LT_INIT_H

#include <stdio.h>

#include <jansson.h>

/* facts: lowtided --probe; zone "" = not known. */
void lt_init_write(
    FILE *out, const json_t *facts, const char *currency, const char *zone);

#endif
