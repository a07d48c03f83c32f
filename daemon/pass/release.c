/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges all that waits: jobs that lowtide holds back, runs after a requeue, and in a new period
 * all pending jobs. Oldest first, by the one rule of job_submit; a job that does not fit becomes an
 * admin hold, so that only lowtided (and an admin) frees it. Outside mode enforce all that is held
 * back is freed.
 *
 * Reads the job list and the snapshot; writes the job by an update, then the ledger. What slurmctld
 * refuses is tried again by the next pass.
 */
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "ingest.h"
#include "compile_budget.h"
#include "daemon.h"
#include "fits.h"
#include "job_quote.h"
#include "jobs.h"
#include "requeue_gate.h"
#include "log.h"
#include "poll_schedule.h"
#include "release.h"
#include "reprice.h"

enum { /* the rest in the next pass */
	FREED_A_PASS = 256,
	RAISED_A_PASS = 20,
};

struct waiting { /* a pending job and its hold */
	const struct lt_batch_job *job;
	struct lt_ledger_hold hold;
	bool is_run;   /* after a requeue: one share of the hold is judged */
	bool admitted; /* the run's share is held */
	/* The first of this quote: an array that was split is judged once. For a run: itself. */
	struct waiting *first;
	bool denied; /* it has no place any more: judge_again() */
};

/* Fills in what this one asks for: a run one share, else all of the hold. */
static bool
asked_by(struct lt_hold *out, const struct lt_budget_snapshot *snapshot, const struct waiting *w,
    int64_t now_utc_s)
{
	return lt_fits_asked(
	    out, snapshot, &w->hold, w->is_run ? 1 : w->hold.live_tasks, now_utc_s);
}

static int
by_age(const void *a, const void *b)
{
	const struct waiting *const x = a, *const y = b;

	if (x->job->submit_utc_s != y->job->submit_utc_s)
		return x->job->submit_utc_s < y->job->submit_utc_s ? -1 : 1;
	return x->job->job_id < y->job->job_id ? -1 : 1;
}

static int
by_quote(const void *a, const void *b)
{
	const struct waiting *const *const x = a;
	const struct waiting *const *const y = b;
	const uint64_t p = (*x)->hold.quote.id, q = (*y)->hold.quote.id;

	if (p != q)
		return p < q ? -1 : 1;
	return *x < *y ? -1 : 1;
}

static bool
find_first(struct waiting *all, uint32_t count)
{
	struct waiting **const index = calloc((size_t)count + 1, sizeof(struct waiting *));
	struct waiting *first = NULL;

	if (index == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		index[i] = &all[i];
	if (count > 1)
		qsort(index, count, sizeof(*index), by_quote);
	for (uint32_t i = 0; i < count; i++) {
		struct waiting *const w = index[i];

		w->first = w;
		if (w->is_run)
			continue;
		if (first != NULL && first->hold.quote.id == w->hold.quote.id)
			w->first = first;
		first = w->first;
	}
	free(index);
	return true;
}

bool
lt_release_concerns(
    struct lt_jobs_state *jobs, const struct lt_batch_job *job, const struct lt_ledger_hold *hold)
{
	static const uint32_t flags =
	    LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN | LT_QUOTE_FREEING | LT_QUOTE_RAISED;

	return job->state == LT_JOB_PENDING &&
	       ((hold->quote.flags & flags) || lt_gate_is_left(job, hold) ||
		   lt_gate_admitted(jobs, job) != NULL || lt_gate_waits(jobs, job, hold));
}

/* Collects pending jobs with an open hold, and runs that wait, oldest first:
 * all of them, or those that a hold or a lock keeps. */
static struct waiting *
collect(struct lt_jobs_state *jobs, struct lt_ledger *ledger, bool all_of_them, uint32_t *count)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < jobs->list.count; i++)
		left += all_of_them || jobs->list.jobs[i].at_release;
	*count = 0;
	struct waiting *const all = calloc(left + 1u, sizeof(*all));
	for (uint32_t i = 0; all != NULL && left > 0; i++) {
		const struct lt_batch_job *const job = &jobs->list.jobs[i];
		struct waiting *const w = &all[*count];

		if (!(all_of_them || job->at_release))
			continue;
		left--;
		if (job->state != LT_JOB_PENDING)
			continue;
		lt_breath(LT_TURN_READ);
		if (!lt_hold_of_job(ledger, job, &w->hold))
			continue;
		const struct lt_admitted *const admitted = lt_gate_admitted(jobs, job);
		w->is_run = admitted != NULL || lt_gate_waits(jobs, job, &w->hold);
		w->admitted = admitted != NULL;
		if (!w->is_run && lt_gate_is_left(job, &w->hold))
			w->is_run = w->admitted = true;
		if (admitted != NULL && admitted->freed)
			w->is_run = false; /* waits like any job */
		if (!w->is_run && w->hold.state != LT_HOLD_OPEN)
			continue;
		w->job = job;
		++*count;
	}
	if (all != NULL && *count > 1)
		qsort(all, *count, sizeof(*all), by_age);
	if (all != NULL && !find_first(all, *count)) {
		free(all);
		return NULL;
	}
	return all;
}

/* True if we hold it back and it is not yet counted. */
static bool
is_back(const struct waiting *w)
{
	return w->hold.quote.flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN);
}

/* Asks for money that it does not yet have. */
static bool
asks(const struct waiting *w)
{
	return w->is_run ? !w->admitted : is_back(w);
}

/* True if it was admitted and slurmctld does not have that yet. */
static bool
is_freeing(const struct waiting *w)
{
	return w->is_run ? w->admitted : (w->hold.quote.flags & LT_QUOTE_FREEING) != 0;
}

static int
set_flags(
    struct lt_daemon *d, struct waiting *w, uint32_t set, uint32_t clear, struct lt_error *err)
{
	w->hold.quote.flags = (w->hold.quote.flags & ~clear) | set;
	w->hold.quote.rev++;
	d->budget.dirty = true;
	return lt_ledger_put_hold(d->ledger, &w->hold, err);
}

/* Holds it back: a user's hold that job_submit made becomes an admin's; a job that slipped past the
 * plugin is held now. False: slurmctld refused. */
static bool
hold_back(struct lt_daemon *d, struct waiting *w)
{
	struct lt_error err = {0};
	bool is_held = true;

	if (w->job->is_cron) {
		lt_poll_again(&d->jobs, w->job->job_id);
		/* Slurm lets nobody hold a cron job, nor release it. */
		is_held = lt_batch_cancel(w->job->job_id, &err) == LT_OK;
		if (is_held)
			lt_log("cancelled", "job=%u why=cron_over_budget", w->job->job_id);
		else
			lt_log("cancel_failed", "job=%u error=\"%s\"", w->job->job_id, err.text);
		return is_held;
	}
	if (w->job->held && !w->job->user_held)
		return true;
	if (w->job->held && (w->hold.quote.flags & LT_QUOTE_USER_HOLD))
		return true; /* the user's own; job_modify guards it */
	lt_poll_again(&d->jobs, w->job->job_id);
	if (w->is_run) /* by this it is known as ours */
		(void)set_flags(d, w, LT_QUOTE_LOCK, 0, NULL);
	is_held = lt_quote_publish(w->job, &w->hold.quote, LT_HOLD, 0, NULL) == LT_OK;
	if (is_held)
		lt_log("held", "job=%u account=%s", w->job->job_id, w->hold.quote.account);
	return is_held;
}

/* Reads the hold again: other tasks of its array may have changed it in this pass. */
static void
read_again(struct lt_ledger *ledger, struct waiting *w)
{
	struct lt_ledger_hold now;

	if (w->hold.quote.tasks != 1 &&
	    lt_ledger_hold(ledger, w->hold.quote.id, &now, NULL) == LT_OK)
		w->hold = now;
}

/* Moves the window of a job that starts when it is released: by a clock that was set back since, it
 * may lie beyond all periods that are known, where a budget would not be asked. */
static void
bring_into_period(struct waiting *w, const struct lt_budget_snapshot *snapshot, int64_t now_utc_s)
{
	struct lt_quote *const quote = &w->hold.quote;
	const int account = lt_sheet_account(snapshot, quote->account);

	if (account < 0 || quote->start_utc_s <= now_utc_s || w->job->eligible_utc_s > now_utc_s ||
	    lt_sheet_has_time(snapshot, account, quote->start_utc_s))
		return;
	quote->end_utc_s -= quote->start_utc_s - now_utc_s;
	quote->start_utc_s = now_utc_s;
}

/* Prices it now: a job held back because the balance was unknown may have no amount, and a run that
 * waits may have another size than the one before. */
static void
price_again(struct lt_daemon *d, struct waiting *w, int64_t now_utc_s)
{
	struct lt_quote fresh;
	const bool was_unknown = w->hold.quote.flags & LT_QUOTE_UNKNOWN;
	struct lt_amount *const held = &w->hold.quote.hold_per_task;

	if ((!w->is_run && !was_unknown) ||
	    !lt_quote_of_job(&fresh, w->job, &d->site, d->ledger, now_utc_s))
		return;
	const struct lt_amount *const now = &fresh.hold_per_task;
	if (was_unknown) {
		*held = *now;
		w->hold.quote.start_utc_s = fresh.start_utc_s;
		w->hold.quote.end_utc_s = fresh.end_utc_s;
		return;
	}
	if (now->has_money && now->money_micros > held->money_micros)
		held->money_micros = now->money_micros;
	if (now->has_carbon && now->carbon_mg > held->carbon_mg)
		held->carbon_mg = now->carbon_mg;
	held->has_money |= now->has_money;
	held->has_carbon |= now->has_carbon;
}

/* Judges again those that `which` chooses, which have a place in the snapshot:
 * takes all of them out and admits them again, oldest first. Nobody else is denied. */
static void
judge_again(struct lt_daemon *d, struct waiting *all, uint32_t count,
    bool (*which)(const struct lt_jobs_state *, const struct waiting *), int64_t now_utc_s)
{
	struct lt_recent *const recent = lt_fits_recent(&d->budget);
	struct lt_hold asked;

	for (uint32_t i = 0; i < count; i++)
		all[i].denied = false;
	for (uint32_t i = 0; recent != NULL && i < count; i++)
		if (all[i].first == &all[i] && which(&d->jobs, &all[i]) &&
		    asked_by(&asked, &d->budget.snapshot, &all[i], now_utc_s))
			lt_recent_remove(recent, &d->budget.snapshot, &asked);
	for (uint32_t i = 0; recent != NULL && i < count; i++) {
		lt_breath(LT_TURN_READ);
		all[i].denied = all[i].first == &all[i] && which(&d->jobs, &all[i]) &&
				asked_by(&asked, &d->budget.snapshot, &all[i], now_utc_s) &&
				!lt_fits(&d->budget, &asked);
	}
}

static bool
choose_freeing(const struct lt_jobs_state *jobs, const struct waiting *w)
{
	(void)jobs;
	return is_freeing(w);
}

/* Returns the update for one that may go: others' holds stay, a user's own hold under the lock is
 * given back. */
static enum lt_batch_hold
freed_as(const struct waiting *w)
{
	const uint32_t flags = w->hold.quote.flags;
	const bool ours = w->is_run ? flags & LT_QUOTE_LOCK : !(flags & LT_QUOTE_USER_HOLD);

	if (!w->job->held || !ours || (w->is_run && w->job->user_held))
		return LT_LEAVE;
	return flags & LT_QUOTE_USER_HOLD ? LT_USER_HOLD : LT_RELEASE;
}

/* Releases it: slurmctld first, then the ledger. If slurmctld refuses, or lowtided is killed
 * between the two, the next pass does it again. */
static int
let_go(struct lt_daemon *d, struct waiting *w, struct lt_error *err)
{
	/* Other tasks of its array are known as ours by the lock. */
	const uint32_t done = !w->is_run		 ? LT_QUOTE_FREEING
			      : w->hold.quote.tasks == 1 ? LT_QUOTE_LOCK
							 : 0;
	struct lt_quote told = w->hold.quote;

	told.flags &= ~done;
	told.rev++;
	lt_poll_again(&d->jobs, w->job->job_id);
	if (!w->job->is_cron && lt_quote_publish(w->job, &told, freed_as(w), 0, NULL) != LT_OK)
		return LT_OK;
	const int code = done ? set_flags(d, w, 0, done, err) : LT_OK;
	if (code != LT_OK)
		return code;
	struct lt_admitted *const admitted = lt_gate_admitted(&d->jobs, w->job);
	if (w->is_run && admitted != NULL)
		admitted->freed = true;
	lt_log("released", "job=%u account=%s", w->job->job_id, w->hold.quote.account);
	return LT_OK;
}

static int
take_back(struct lt_daemon *d, struct waiting *w, struct lt_error *err)
{
	if (w->is_run)
		return lt_gate_deny(d->ledger, &d->jobs, &d->budget, w->job, &w->hold, err);
	return set_flags(d, w, LT_QUOTE_BUDGET_HOLD, LT_QUOTE_FREEING, err);
}

/*
 * Releases the jobs admitted in the pass before, if they still fit in a snapshot that has all of
 * the ring: since then job_submit counts them, so a hold by an older snapshot is in the ring by
 * now. No two jobs get the same money.
 */
static int
free_admitted(struct lt_daemon *d, struct waiting *all, uint32_t count, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	int code = LT_OK;
	bool any = false;

	for (uint32_t i = 0; i < count; i++)
		any |= is_freeing(&all[i]);
	if (!any || !d->budget.counted_utc_s || now_utc_s <= d->budget.counted_utc_s)
		return LT_OK;
	code = lt_compile_budget(&books, now_utc_s, err);
	if (code == LT_OK && lt_site_may(&d->site, LT_MAY_HOLD))
		judge_again(d, all, count, choose_freeing, now_utc_s);
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		if (!is_freeing(&all[i]))
			continue;
		lt_breath(LT_TURN_READ);
		read_again(d->ledger, &all[i]);
		code = all[i].first->denied ? take_back(d, &all[i], err) : let_go(d, &all[i], err);
	}
	return code;
}

/* Chooses a counted hold of a job of which nothing runs. */
static bool
choose_counted(const struct lt_jobs_state *jobs, const struct waiting *w)
{
	const struct lt_live *const live = lt_live_find(jobs, w->hold.quote.id);

	return !w->is_run && !is_back(w) && live != NULL && live->live == live->pending &&
	       w->hold.live_tasks == live->pending;
}

/* Judges all in a new period: what no longer fits beside the older ones is held back. */
static int
readmit(struct lt_daemon *d, struct waiting *all, uint32_t count, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	int code = lt_compile_budget(&books, now_utc_s, err);

	if (code == LT_OK)
		judge_again(d, all, count, choose_counted, now_utc_s);
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		if (!all[i].denied)
			continue;
		code = set_flags(d, &all[i], LT_QUOTE_BUDGET_HOLD, LT_QUOTE_FREEING, err);
		if (code == LT_OK)
			lt_counters_refused(&d->tally, all[i].hold.quote.account, LT_REFUSAL_HELD,
			    LT_QUOTE_BUDGET_HOLD);
	}
	if (code == LT_OK)
		code = lt_period_judged(&d->budget, d->ledger, now_utc_s, err);
	return code;
}

/* True if it is judged. A run under no budget, or of an unknown account, has no lock
 * (requeue_gate.c), and is not judged either. */
static bool
is_budgeted(const struct lt_budget_snapshot *snapshot, const struct waiting *w)
{
	return lt_sheet_budgeted(snapshot, lt_sheet_account(snapshot, w->hold.quote.account));
}

static int
largest_first(const void *a, const void *b)
{
	const struct waiting *const *const x = a;
	const struct waiting *const *const y = b;
	const struct lt_amount *const p = &(*x)->hold.quote.hold_per_task;
	const struct lt_amount *const q = &(*y)->hold.quote.hold_per_task;

	if (p->money_micros != q->money_micros)
		return p->money_micros > q->money_micros ? -1 : 1;
	return p->carbon_mg != q->carbon_mg ? (p->carbon_mg > q->carbon_mg ? -1 : 1)
					    : (*x > *y) - (*x < *y);
}

/* Its hold counts until slurmctld has it: its team is admitted nothing. */
static int
hold_raised(
    struct lt_daemon *d, struct waiting *w, uint32_t *left, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_recent *const recent = lt_fits_recent(&d->budget);
	struct lt_quote *const quote = &w->hold.quote;
	const struct lt_quote was = *quote;
	const uint32_t done = LT_QUOTE_RAISED | LT_QUOTE_FREEING;
	const bool is_told = !w->job->held;
	struct lt_hold asked;

	/* A lowtided that was killed before its ledger has this knows by the text on the job whose
	 * hold it is (take_told()). */
	quote->flags = (quote->flags & ~done) | LT_QUOTE_BUDGET_HOLD;
	quote->rev++;
	if ((!is_told || *left > 0) && hold_back(d, w)) {
		*left -= is_told;
		lt_counters_refused(
		    &d->tally, quote->account, LT_REFUSAL_HELD, LT_QUOTE_BUDGET_HOLD);
		return set_flags(d, w, LT_QUOTE_BUDGET_HOLD, done, err);
	}
	*quote = was;
	if (recent != NULL && asked_by(&asked, &d->budget.snapshot, w, now_utc_s))
		lt_recent_add(recent, &d->budget.snapshot, &asked);
	return LT_OK;
}

/* Judges those that a dear hour raised past what is left (reprice.c): the smallest stay, the
 * largest are held back first. */
static int
judge_raised(struct lt_daemon *d, struct waiting *all, uint32_t count, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	struct waiting **const raised = calloc(count + 1u, sizeof(all));
	struct lt_hold asked;
	uint32_t n = 0, left = RAISED_A_PASS;

	if (raised == NULL)
		return lt_fail(err, LT_ENOMEM, "release: out of memory");
	for (uint32_t i = 0; i < count; i++)
		if (all[i].first == &all[i] && (all[i].hold.quote.flags & LT_QUOTE_RAISED))
			raised[n++] = &all[i];
	int code = n == 0 ? LT_OK : lt_compile_budget(&books, now_utc_s, err);
	struct lt_recent *const recent = lt_fits_recent(&d->budget);
	if (n > 1)
		qsort(raised, n, sizeof(*raised), largest_first);
	for (uint32_t i = 0; code == LT_OK && i < n; i++) {
		raised[i]->denied = recent != NULL && lt_site_may(&d->site, LT_MAY_HOLD) &&
				    choose_counted(&d->jobs, raised[i]);
		if (raised[i]->denied &&
		    asked_by(&asked, &d->budget.snapshot, raised[i], now_utc_s))
			lt_recent_remove(recent, &d->budget.snapshot, &asked);
	}
	for (uint32_t i = n; code == LT_OK && i-- > 0;)
		raised[i]->denied &= !asked_by(&asked, &d->budget.snapshot, raised[i], now_utc_s) ||
				     !lt_fits(&d->budget, &asked);
	for (uint32_t i = 0; code == LT_OK && i < n; i++) {
		lt_breath(LT_TURN_READ);
		code = raised[i]->denied ? hold_raised(d, raised[i], &left, now_utc_s, err)
					 : set_flags(d, raised[i], 0, LT_QUOTE_RAISED, err);
	}
	free(raised);
	return code;
}

/* Admits what fits; the rest is held back. */
static int
admit(struct lt_daemon *d, struct waiting *all, uint32_t count, int64_t now_utc_s,
    struct lt_error *err)
{
	const bool enforce = lt_site_may(&d->site, LT_MAY_HOLD);
	uint32_t admitted = 0;
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		struct waiting *const w = &all[i];
		struct lt_hold asked;

		lt_breath(LT_TURN_READ);
		if (!asks(w))
			continue;
		if (w->first != w) {
			w->hold = w->first->hold;
			if (enforce && is_back(w))
				(void)hold_back(d, w);
			continue;
		}
		read_again(d->ledger, w);
		price_again(d, w, now_utc_s);
		bring_into_period(w, &d->budget.snapshot, now_utc_s);
		const bool judged = enforce && (!w->is_run || is_budgeted(&d->budget.snapshot, w));
		if (admitted == FREED_A_PASS) {
			/* A cron job can't be held until its turn. */
			if (judged && !w->job->is_cron)
				(void)hold_back(d, w);
			continue;
		}
		if (judged && (!asked_by(&asked, &d->budget.snapshot, w, now_utc_s) ||
				  (is_back(w) && lt_fits_is_endless(w->job, &w->hold)) ||
				  !lt_fits(&d->budget, &asked))) {
			(void)hold_back(d, w);
			continue;
		}
		admitted++;
		code = w->is_run ? lt_gate_admit(d->ledger, &d->jobs, &d->budget, w->job, &w->hold,
				       now_utc_s, err)
				 : set_flags(d, w, LT_QUOTE_FREEING,
				       LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN, err);
	}
	if (admitted > 0)
		d->budget.counted_utc_s = 0;
	return code;
}

int
lt_release(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	uint32_t count = 0;
	int code = lt_ingest(&books, now_utc_s, err);

	if (code == LT_OK)
		code = lt_reprice(&d->site, d->ledger, &d->jobs, &d->budget, now_utc_s, err);
	if (code != LT_OK)
		return code;
	/* In a new period each counted hold is judged. */
	const bool is_new = d->budget.period_began && lt_site_may(&d->site, LT_MAY_HOLD);
	struct waiting *const all = collect(&d->jobs, d->ledger, is_new, &count);
	if (all == NULL)
		return lt_fail(err, LT_ENOMEM, "release: out of memory");
	if (is_new)
		code = readmit(d, all, count, now_utc_s, err);
	if (code == LT_OK)
		code = free_admitted(d, all, count, now_utc_s, err);
	if (code == LT_OK)
		code = admit(d, all, count, now_utc_s, err);
	if (code == LT_OK)
		code = judge_raised(d, all, count, now_utc_s, err);
	free(all);
	return code;
}
