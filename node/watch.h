/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what a source says, look by look, to what lowtided has to hear: each
 * notice once, an end that moved again, one that is gone as withdrawn. Pure.
 */
#ifndef LT_NODE_WATCH_H
#define LT_NODE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "reclaim.h"

/* An end that differs by no more is the same: who counts seconds down rounds.*/
enum { LT_WATCH_SAME_S = 2 };

enum lt_watch_task { LT_WATCH_NOTHING, LT_WATCH_TELL, LT_WATCH_WITHDRAW };

struct lt_watch {     /* start as { 0 }: nothing is known to have been told */
	bool is_seen; /* the source has answered */
	bool is_noticed; /* by the source */
	int64_t end_utc_s;
	bool is_told; /* to lowtided */
	int64_t told_end_utc_s;
	/* lowtided may have a notice: of a question without an answer nobody
	 * knows, nor of what a process before us asked. */
	bool is_tried;
};

/* Take in what a look found; true: it is news. */
bool lt_watch_see(struct lt_watch *watch, const struct lt_reading *reading,
    int64_t now_utc_s);
/* What lowtided has to hear now. */
enum lt_watch_task lt_watch_task(const struct lt_watch *watch);
/* That is being asked; what lowtided has is not known until it answers. */
void lt_watch_try(struct lt_watch *watch);
/* It heard that, with this end. */
void lt_watch_heard(
    struct lt_watch *watch, enum lt_watch_task task, int64_t end_utc_s);

#endif
