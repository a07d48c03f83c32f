/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lowtided is told about this node, by munge, once.
 */
#ifndef LT_NODE_TELL_H
#define LT_NODE_TELL_H

#include "servers.h"
#include "watch.h"

enum {
	LT_TELL_CONNECT_MS = 1000, /* then the next controller */
	LT_TELL_MS = 5000,	   /* amid long work lowtided takes a second */
};

struct lt_tell {
	const char *node, *server; /* server NULL = as the command finds it */
	int64_t now_utc_s;
};

struct lt_tell_words {
	const char *path, *body;
};
/* A POST with that body, to whichever lowtided answers. */
int lt_tell_ask(struct lt_sealed_reply *reply, const char *server,
    const struct lt_tell_words *words, struct lt_error *err);
/* By its words, {"error": text}. */
int lt_tell_refused(const struct lt_sealed_reply *reply, struct lt_error *err);

/* Until that end, at least 0. */
int64_t lt_tell_left_s(const struct lt_tell *tell, int64_t end_utc_s);
/* LT_OK: lowtided has it. LT_EDENIED: it refuses, and err has its words. All
 * else: it is away or busy, or something is not here yet. *had_it: false if
 * there was no notice to withdraw. */
int lt_tell(const struct lt_tell *tell, enum lt_watch_task task,
    int64_t end_utc_s, bool *had_it, struct lt_error *err);

#endif
