/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live job that is no longer what its hold was made for.
 */
#ifndef LT_CHANGE_H
#define LT_CHANGE_H

#include "batch.h"
#include "budget_state.h"
#include "ledger.h"

struct lt_books;
struct lt_site;

/*
 * `on_underheld: requeue`: a batch job that may be requeued and runs on more than was admitted goes
 * back to the queue, held, in the first minute of its run and once, in mode enforce. *hold and the
 * ledger get the flag by which explain gives the reason. What slurmctld refuses is tried again by
 * the next pass.
 */
int lt_underheld_follow(const struct lt_books *books, const struct lt_batch_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s, struct lt_error *err);

/* Sets job->node_shares of a job that waits: the most that Slurm may give it by the present market.
 * It stays as before if the job is the same and, with `anew` false, the market is. */
void lt_change_look(const struct lt_market *market, struct lt_batch_job *job,
    const struct lt_batch_job *before, bool anew, int64_t now_utc_s);

/* Does what the hold grew by since `was` fit? The snapshot has `was`. */
bool lt_change_fits(struct lt_budget_state *budget, const struct lt_ledger_hold *hold,
    const struct lt_amount *was, int64_t now_utc_s);

struct lt_change {
	struct lt_batch_job *job;	   /* is_new is written */
	const struct lt_batch_job *before; /* in the last list; NULL = none */
	int64_t now_utc_s;
};
/*
 * Makes the open hold follow the job: its account; less when the job became smaller or runs on less
 * than its bound; more, and held back if that does not fit, when it grew past job_modify or its
 * partition gives more now. Returns LT_OK also when nothing changed.
 */
int lt_change_follow(const struct lt_site *site, struct lt_ledger *ledger,
    struct lt_budget_state *budget, const struct lt_change *change, struct lt_ledger_hold *hold,
    struct lt_error *err);

#endif
