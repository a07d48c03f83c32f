/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided's command line and environment.
 */
#ifndef LT_ARGS_H
#define LT_ARGS_H

#include <stdbool.h>

struct lt_args {
	const char *config, *state, *run, *off, *follow, *log;
	bool once, probe;
};

/* Returns -1 to go on, else the exit status (help, version, misuse). */
int lt_args_parse(struct lt_args *args, int argc, char **argv);

#endif
