/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lowtided, lowtide-node and lowtide-notify have in common: a command line
 * that is a table; and the two small ones, what ends them.
 */
#ifndef LT_PROGRAM_H
#define LT_PROGRAM_H

enum { LT_PROGRAM_OPTIONS_MAX = 16, LT_PROGRAM_MISUSE = 2 };

struct lt_program_option {
	const char *name, *argument, *usage; /* argument: NULL = it has none */
	int letter; /* 'h' and 'v' are --help and --version everywhere */
};

struct lt_program {
	const char *name;
	const struct lt_program_option *options; /* that its usage prints */
	int option_count;			 /* LT_PROGRAM_OPTIONS_MAX */
	int width; /* of the options' column, in characters */
};

/* The letter of the next option, its argument in getopt's optarg. 0: that is
 * all, and *status is -1 to go on, else the exit status: of --help, --version
 * and misuse, which it has told. */
int lt_program_next(
    const struct lt_program *program, int argc, char **argv, int *status);
/* Tells it; returns LT_PROGRAM_MISUSE. */
int lt_program_refuse(const struct lt_program *program, const char *option,
    const char *got, const char *want);

/* A descriptor that is readable when SIGTERM or SIGINT came; both are blocked
 * from then on. */
int lt_program_signals(void);

#endif
