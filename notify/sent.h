/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was sent, and by which way, so that nothing is sent twice: lines of a
 * file, "2026-11-27T22:00:00Z ID WAY", kept for LT_SENT_KEEP_S.
 */
#ifndef LT_NOTIFY_SENT_H
#define LT_NOTIFY_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum {
	/* lowtided writes an event again only if it was killed in between. */
	LT_SENT_KEEP_S = 30 * 24 * 3600,
	LT_SENT_MAX = 100000,	 /* lines; of more the newer half is kept */
	LT_SENT_LINE_SIZE = 512, /* a longer one is none of ours */
};

struct lt_sent { /* lt_sent_open(), lt_sent_close() */
	int fd, lock_fd;
	size_t count, sorted, capacity; /* `sorted` come first, in order */
	char **keys;			/* "ID WAY" */
};

/* Reads DIR/sent, makes it where there is none, and drops what is old. A line
 * that a killed process left half-written is none. LT_ECONFLICT: another
 * process has it. */
int lt_sent_open(struct lt_sent *sent, const char *dir, int64_t now_utc_s,
    struct lt_error *err);
bool lt_sent_has(const struct lt_sent *sent, const char *id, const char *way);
/* On disk when it returns LT_OK; else at least this process knows it. */
int lt_sent_add(struct lt_sent *sent, const char *id, const char *way,
    int64_t now_utc_s, struct lt_error *err);
void lt_sent_close(struct lt_sent *sent);

#endif
