/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one worker thread: it fetches, so that a source which does not answer
 * stalls nothing but itself.
 */
#ifndef LT_FETCH_H
#define LT_FETCH_H

#include "adapter.h"
#include "policy.h"

struct lt_fetch { /* a job for the worker, then its result */
	struct lt_policy_source source; /* own copy: a reload may free theirs */
	const struct lt_adapter *adapter;
	int64_t from_utc_s, to_utc_s, now_utc_s;
	struct lt_points points;
	int code;
	struct lt_error err;
	struct lt_fetch *next;
};

int lt_fetch_start(struct lt_error *err);
/* Waits at most for the transfer under way. */
void lt_fetch_stop(void);
/* Takes ownership. */
void lt_fetch_post(struct lt_fetch *fetch);
/* A finished one, or NULL; the caller frees it by lt_fetch_free(). */
struct lt_fetch *lt_fetch_take(void);
/* Readable when one is finished; -1 = no worker. */
int lt_fetch_fd(void);
/* Do it here and now. */
void lt_fetch_run(struct lt_fetch *fetch);
void lt_fetch_free(struct lt_fetch *fetch);

#endif
