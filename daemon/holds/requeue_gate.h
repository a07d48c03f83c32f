/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate that keeps a second run from starting before it is admitted.
 */
#ifndef LT_REQUEUE_GATE_H
#define LT_REQUEUE_GATE_H

#include "budget_state.h"
#include "ledger.h"

struct lt_books;

/*
 * A run after a requeue that was admitted: it may start. In memory only. After a restart a single
 * job's admission is known by its hold, which has the run's submit time; tasks of an array are
 * judged again, and one share more is held for such a task until expire.c finds that nothing needs
 * it.
 */
struct lt_admitted {
	uint32_t job_id;
	int64_t submit_utc_s;
	bool freed; /* slurmctld has it */
	bool seen;  /* in this pass's list */
};

/* Does the record stand for a run after a requeue that nothing is held for yet? Such a record has
 * no share of its quote. */
bool lt_gate_waits(
    struct lt_jobs_state *jobs, const struct lt_batch_job *job, const struct lt_ledger_hold *hold);

/* Makes a run that waits an admin hold, in enforce. A user's hold is noted, to be given back; an
 * admin's is left as it is. *hold and the ledger get the flags. What slurmctld refuses is tried
 * again by the next pass. */
int lt_gate_follow(const struct lt_books *books, const struct lt_batch_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s, struct lt_error *err);

/* Holds one more share of the quote, for the run that waits; the caller has found that it fits.
 * lt_gate_deny(->ledger, &->jobs, &->budget) takes it back. */
int lt_gate_admit(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, const struct lt_batch_job *job, struct lt_ledger_hold *hold,
    int64_t now_utc_s, struct lt_error *err);
int lt_gate_deny(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, const struct lt_batch_job *job, struct lt_ledger_hold *hold,
    struct lt_error *err);

/* Returns the entry of an admitted run, NULL = none. */
struct lt_admitted *lt_gate_admitted(struct lt_jobs_state *jobs, const struct lt_batch_job *job);
/* True if its newest run was admitted before lowtided began, and still has the lock: the release
 * may not have reached slurmctld. */
bool lt_gate_is_left(const struct lt_batch_job *job, const struct lt_ledger_hold *hold);
/* Its run after a requeue is not admitted yet, and would not be let go. */
bool lt_gate_holds_back(
    struct lt_ledger *ledger, struct lt_jobs_state *jobs, const struct lt_batch_job *job);
/* Forgets, after a whole list, runs that it no longer has as waiting. */
void lt_gate_sweep(struct lt_jobs_state *jobs);

#endif
