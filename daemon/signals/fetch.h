/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetches in child processes, each of one adapter, so that a source which
 * does not answer stalls nothing but those of its adapter. Used by one thread.
 */
#ifndef LT_FETCH_H
#define LT_FETCH_H

#include <poll.h>

#include "adapter.h"
#include "policy.h"

enum { LT_FETCH_FDS = 8 }; /* children at once: one libcurl each */

struct lt_fetch {			/* a job for a child, then its result */
	struct lt_policy_source source; /* own copy: a reload may free theirs */
	const struct lt_adapter *adapter;
	int64_t from_utc_s, to_utc_s, now_utc_s;
	struct lt_source_memory memory; /* in and out */
	struct lt_points points;
	int code;
	struct lt_error err;
	struct lt_fetch *next;
};

/* A source as adapters see it: its options, lent by it. */
struct lt_source_options lt_fetch_options(
    const struct lt_policy_source *source, const struct lt_adapter *adapter);
/* Ends those under way; the rest is dropped. */
void lt_fetch_stop(void);
/* Takes ownership; begun by the next lt_fetch_take(). Those of one adapter that wait are done by
 * one child, which sends equal requests once. */
void lt_fetch_post(struct lt_fetch *fetch);
/* A finished one, or NULL; the caller frees it by lt_fetch_free(). */
struct lt_fetch *lt_fetch_take(void);
/* Fills in at most LT_FETCH_FDS, readable when lt_fetch_take() has work; returns how many. */
int lt_fetch_fds(struct pollfd *fds);
/* Do it here and now. */
void lt_fetch_run(struct lt_fetch *fetch);
void lt_fetch_free(struct lt_fetch *fetch);

#endif
