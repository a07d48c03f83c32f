/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of a subcommand, parsed by its table; its usage text, printed
 * from it. Used by main.c.
 */
#ifndef LT_PARSE_H
#define LT_PARSE_H

#include "cli.h"

/*
 * Sort argv (NULL ended) into values, operands (argv is reordered) and the
 * common flags. LT_EINPUT names the argument and the nearest known one.
 */
int lt_cli_parse(struct lt_cli *cli, bool *help, int argc, char **argv,
    struct lt_error *err);

/* "usage: lowtide CMD ...", a line per form of the command. */
void lt_cli_print_usage(FILE *out, const struct lt_cli_command *command);

#endif
