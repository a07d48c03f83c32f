/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the jobs of this node are: taken from their readers (plugin/spank) by
 * a socket, told to lowtided. By whom a datagram was sent the kernel says; that
 * the job is his lowtided checks.
 */
#ifndef LT_NODE_PROGRESS_H
#define LT_NODE_PROGRESS_H

#include <sys/types.h>

#include "error.h"
#include "progress_message.h"

enum {
	LT_NODE_JOBS_MAX = 256, /* more are not told of */
	LT_NODE_SOON_MS = 3000, /* what lowtided wants to hear soon, and what it
				 * could not place yet */
	LT_NODE_FAILED_MS = 15000,
	LT_NODE_SILENT_MS = 600000, /* its reader is gone */
};

struct lt_node_job {
	struct lt_progress_message message;
	uid_t uid;
	bool is_news;
	bool is_urgent;	  /* the first of a run; a checkpoint is written */
	int64_t began_ms; /* of the run, by its first reader */
	int64_t heard_ms;
};
struct lt_node_progress { /* start as { 0 } */
	int fd;
	int64_t every_ms;
	uint32_t count;
	struct lt_node_job jobs[LT_NODE_JOBS_MAX];
	int64_t told_ms, not_before_ms;
};

/* "DIR/node.sock", which all may write to and nobody but us replace. It stays
 * when we end: jobs that begin before the next start find it. */
int lt_node_progress_open(
    struct lt_node_progress *progress, const char *dir, struct lt_error *err);
/* All that has come. */
void lt_node_progress_take(struct lt_node_progress *progress, int64_t now_ms);
/* One message of that uid. */
void lt_node_progress_add(struct lt_node_progress *progress,
    const struct lt_progress_message *message, uid_t uid, int64_t now_ms);
/* When something is to be told; INT64_MAX: nothing is. */
int64_t lt_node_progress_due_ms(const struct lt_node_progress *progress);
struct lt_node_told {
	const char *node, *server;
	int64_t now_ms;
};
int lt_node_progress_tell(struct lt_node_progress *progress,
    const struct lt_node_told *told, struct lt_error *err);

#endif
