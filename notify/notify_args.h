/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_NOTIFY_ARGS_H
#define LT_NOTIFY_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct lt_notify_args {
	const char *config, *state_dir;
	int64_t retry_s;
	bool once;
};

/* -1 = go on; else the exit status. */
int lt_notify_args_parse(struct lt_notify_args *args, int argc, char **argv);

#endif
