/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a notice from what a source says, look by look, to what lowtided has to hear: each notice
 * once, an end that moved again, one that is gone as withdrawn.
 */
#ifndef LT_NODE_NOTICE_H
#define LT_NODE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "reclaim.h"
#include "seal.h"

/* ---- the state of a notice ---- */

/* Ends that differ by no more are the same: a source that counts seconds down rounds them. */
enum { LT_WATCH_SAME_S = 2 };

enum lt_watch_task { LT_WATCH_NOTHING, LT_WATCH_TELL, LT_WATCH_WITHDRAW };

struct lt_watch {	 /* start as { 0 }: nothing is known to have been sent */
	bool is_seen;	 /* the source has answered */
	bool is_noticed; /* by the source */
	int64_t end_utc_s;
	bool is_told; /* to lowtided */
	int64_t told_end_utc_s;
	/* True while lowtided may have a notice: nobody knows what became of a
	 * request without an answer, nor of one that a process before us
	 * sent. */
	bool is_tried;
};

/* Takes in what a look found. Returns true if it is news. */
bool lt_watch_see(struct lt_watch *watch, const struct lt_reading *reading, int64_t now_utc_s);
/* Returns what lowtided has to hear now. */
enum lt_watch_task lt_watch_task(const struct lt_watch *watch);
/* Notes that a request goes out; what lowtided has is not known until it answers. */
void lt_watch_try(struct lt_watch *watch);
/* Notes that lowtided took it, with this end. */
void lt_watch_heard(struct lt_watch *watch, enum lt_watch_task task, int64_t end_utc_s);

/* ---- over a restart ---- */

/*
 * Says whether lowtided may have a notice from here, so that one that ends meanwhile is withdrawn.
 * Not over a boot: the node is back then. Kept as a file in the run directory; one that can't be
 * read counts as absent.
 */
bool lt_told_read(const char *run_dir);
int lt_told_write(const char *run_dir, bool is_told, struct lt_error *err);

/* ---- to lowtided ---- */

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
/* Sends a POST with that body to the first lowtided that answers. */
int lt_tell_ask(struct lt_sealed_reply *reply, const char *server,
    const struct lt_tell_words *words, struct lt_error *err);
/* Fails with the reply's words, {"error": text}. */
int lt_tell_refused(const struct lt_sealed_reply *reply, struct lt_error *err);

/* Returns the seconds until that end, at least 0. */
int64_t lt_tell_left_s(const struct lt_tell *tell, int64_t end_utc_s);
/* Sends the notice, or its withdrawal. LT_OK: lowtided has it. LT_EDENIED: it refuses, and err has
 * its words. Any other code: it is away or busy, or something is not here yet. *had_it: false if
 * there was no notice to withdraw. */
int lt_tell(const struct lt_tell *tell, enum lt_watch_task task, int64_t end_utc_s, bool *had_it,
    struct lt_error *err);

#endif
