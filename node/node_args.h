/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_NODE_ARGS_H
#define LT_NODE_ARGS_H

#include "reclaim.h"

struct lt_node_args {
	const char *node, *server, *metadata, *command, *run_dir;
	const struct lt_node_source *source;
	int64_t lead_s; /* 0 = as the cloud says */
	int64_t progress_s;
	char host[256];
};

/* -1 = go on; else the exit status. */
int lt_node_args_parse(struct lt_node_args *args, int argc, char **argv);

#endif
