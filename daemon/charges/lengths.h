/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finished runs become what is expected of the next ones: into the ledger as they are settled, from
 * there to job_submit as a file.
 */
#ifndef LT_LENGTHS_H
#define LT_LENGTHS_H

#include "ledger.h"
#include "batch.h"

struct lt_charges;
struct lt_policy;
struct lt_run;

/* A row whose run is complete; quote may be NULL. */
struct lt_ended_run {
	const struct lt_batch_run *row;
	const struct lt_run *run;
	const struct lt_quote *quote;
	bool is_new; /* the ledger does not have the run */
};
/* Learns from a run the length of its kind, if it says anything about it and did not end before
 * not_before_utc_s. Call it before the run is in the ledger. */
int lt_lengths_learn(struct lt_ledger *ledger, const struct lt_ended_run *ended,
    int64_t not_before_utc_s, struct lt_error *err);
/* Runs that ended before are not kept; INT64_MAX: none is. */
int64_t lt_lengths_since(const struct lt_policy *policy, int64_t now_utc_s);
/* Returns the longest time, over all classes, that a smoke run counts; 0 = none requires one. */
int64_t lt_lengths_smoke_within_s(const struct lt_policy *policy);
/* Notes a charged run: a user who waits for a smoke run sees it within seconds. */
void lt_lengths_ended(
    const struct lt_policy *policy, struct lt_charges *charges, const struct lt_run *run);
/* Figures of groups that have new runs, and the file, when it is due. */
int lt_lengths_publish(const struct lt_policy *policy, struct lt_ledger *ledger,
    struct lt_charges *charges, const char *path, int64_t now_utc_s, struct lt_error *err);

#endif
