/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one state of job_submit (job_submit_shared.c), of its loading half (job_submit_state.c) and
 * its holding half (job_submit_hold.c).
 */
#ifndef LT_JOB_STATE_INTERNAL_H
#define LT_JOB_STATE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "job_state.h"

enum { LT_PATH_SIZE = 1024 };

struct lt_market_box {
	atomic_uint references;
	struct lt_market market;
	atomic_uint planned_count;
	struct lt_planned planned[LT_PLANNED_MAX];
	int64_t booked_utc_s[LT_PLANNED_MAX]; /* under the mutex */
};

/* A snapshot may be of so much later than now. */
enum { LT_CLOCKS_DIFFER_S = 10 };

struct lt_sheet_box {
	atomic_uint references;
	struct lt_budget_snapshot snapshot;
	struct lt_recent *recent; /* under the mutex */
	int64_t loaded_ms;	  /* monotonic */
	int64_t age_s;		  /* when it was loaded */
};

struct lt_history_box {
	atomic_uint references;
	struct lt_history_file *file;
};

struct lt_state {
	/* Set by init alone. */
	char market_path[LT_PATH_SIZE], sheet_path[LT_PATH_SIZE], bound_path[LT_PATH_SIZE],
	    in_force_path[LT_PATH_SIZE], terms_path[LT_PATH_SIZE], history_path[LT_PATH_SIZE],
	    ring_path[LT_PATH_SIZE], off_path[LT_PATH_SIZE];
	/* The refreshing thread's own. */
	atomic_llong refresh_due_ms;
	atomic_flag refreshing;
	struct lt_file_id market_tried, sheet_tried, bound_tried, in_force_tried, history_tried;
	struct lt_file_id off_tried;
	int64_t missing_told_ms; /* 0 = never */
	int64_t off_told_ms;
	int ring_opened; /* how often */

	atomic_ullong next_quote_id;
	pthread_mutex_t mutex; /* all below */
	struct lt_off off;
	struct lt_market_box *market;
	struct lt_sheet_box *snapshot;
	struct lt_history_box *history;
	int ring_fd; /* -1 = not open */
	uint64_t ring_generation;
	uint64_t next_sequence;
	struct lt_ring_record *mirror; /* LT_RING_SLOTS: what the ring has */
	bool unwritten;		       /* some slots failed to be written */
	uint64_t failures;	       /* to write, ever */
	char logged[LT_ERROR_TEXT_SIZE];
	int64_t logged_ms;
};
extern struct lt_state lt_state;

int64_t lt_monotonic_ms(void);

/* Open and read the ring if that is not done yet. */
void lt_ring_attach(void);
void lt_ring_detach(void);
/* Add to a new snapshot what was held after its W. Under the mutex. */
void lt_ring_replay(struct lt_sheet_box *box);

#endif
