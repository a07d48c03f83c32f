/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes the progress of this node's jobs from their readers (plugin/spank), which send datagrams
 * to a socket, on to lowtided. The kernel says which user sent a datagram; lowtided checks that the
 * job is that user's.
 */
#ifndef LT_NODE_PROGRESS_H
#define LT_NODE_PROGRESS_H

#include <sys/types.h>

#include "error.h"
#include "progress_message.h"

enum {
	LT_NODE_JOBS_MAX = 256, /* more are not reported */
	LT_NODE_SOON_MS = 3000, /* news that lowtided wants soon, and what it
				   could not place yet */
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

/* Opens "DIR/node.sock", which all may write to and nobody but us replace. It stays when we end:
 * jobs that begin before the next start find it. */
int lt_node_progress_open(struct lt_node_progress *progress, const char *dir, struct lt_error *err);
/* Takes in all datagrams that have come. */
void lt_node_progress_take(struct lt_node_progress *progress, int64_t now_ms);
/* Takes in one message from that uid. */
void lt_node_progress_add(struct lt_node_progress *progress,
    const struct lt_progress_message *message, uid_t uid, int64_t now_ms);
/* Returns the time of the next report; INT64_MAX: there is none. */
int64_t lt_node_progress_due_ms(const struct lt_node_progress *progress);
struct lt_node_told {
	const char *node, *server;
	int64_t now_ms;
};
int lt_node_progress_tell(
    struct lt_node_progress *progress, const struct lt_node_told *told, struct lt_error *err);

#endif
