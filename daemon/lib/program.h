/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines of lowtided, lowtide-node and lowtide-notify, each a table that prints its usage,
 * and the signals that end the two small programs.
 */
#ifndef LT_PROGRAM_H
#define LT_PROGRAM_H

enum { LT_PROGRAM_OPTIONS_MAX = 16, LT_PROGRAM_MISUSE = 2 };

struct lt_program_option {
	const char *name, *argument, *usage; /* argument: NULL = it has none */
	int letter;			     /* 'h' and 'v' are --help and --version everywhere */
};

struct lt_program {
	const char *name;
	const struct lt_program_option *options; /* that its usage prints */
	int option_count;			 /* LT_PROGRAM_OPTIONS_MAX */
	int width;				 /* of the options' column, in characters */
};

/* Returns the letter of the next option, its argument in getopt's optarg. 0:
 * that was the last, and *status is -1 to start, else the exit status of
 * --help, --version or misuse, which it has printed. */
int lt_program_next(const struct lt_program *program, int argc, char **argv, int *status);
/* Prints the misuse and returns LT_PROGRAM_MISUSE. */
int lt_program_refuse(
    const struct lt_program *program, const char *option, const char *got, const char *want);

/* Returns a descriptor that is readable when SIGTERM or SIGINT came; both are blocked from then
 * on. */
int lt_program_signals(void);

#endif
