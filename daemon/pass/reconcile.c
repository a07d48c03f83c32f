/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares slurmctld's jobs with the ledger's holds: which job has which quote, how many shares of
 * it are live, and which job has no hold and gets one.
 *
 * Reads the list of jobs by a child; writes holds in the ledger and memory's live quotes. All is a
 * comparison of two states, so a repeated pass changes nothing, and a failed one is done again.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "announced.h"
#include "breath.h"
#include "ingest.h"
#include "change.h"
#include "compile_budget.h"
#include "reconcile.h"
#include "daemon.h"
#include "ended.h"
#include "facts.h"
#include "first_plan.h"
#include "fits.h"
#include "grow.h"
#include "http.h"
#include "job_quote.h"
#include "jobs.h"
#include "job_list.h"
#include "requeue_gate.h"
#include "log.h"
#include "poll_schedule.h"
#include "release.h"
#include "batch_child.h"
#include "suspension.h"
#include "expire.h"

enum { VOIDS_AT_ONCE = 500 }; /* in a transaction */

static bool
is_settled(struct lt_ledger *ledger, uint32_t job_id, int64_t submit_utc_s)
{
	struct lt_run run;
	const struct lt_run_key key = {job_id, submit_utc_s};

	return lt_ledger_run(ledger, key, &run, NULL) == LT_OK && !run.provisional;
}

/* Shares of its quote that this record still needs held. */
static uint32_t
shares_of(struct lt_ledger *ledger, const struct lt_batch_job *job)
{
	if (job->state == LT_JOB_PENDING)
		return job->array_pending > 0 ? job->array_pending : 1;
	if (job->state != LT_JOB_FINISHED || job->completing)
		return 1;
	if (job->start_utc_s == 0 || job->end_utc_s <= job->start_utc_s)
		return 0; /* cancelled while it waited */
	return is_settled(ledger, job->job_id, job->submit_utc_s) ? 0 : 1;
}

/* Returns what is live by a record. A run that waits to be admitted has no share, and says nothing
 * about the hold's times. */
static struct lt_live
live_of(struct lt_jobs_state *jobs, struct lt_ledger *ledger, const struct lt_batch_job *job,
    const struct lt_ledger_hold *hold)
{
	struct lt_live live = {.quote_id = hold->quote.id,
	    .job_id = job->array_job_id ? job->array_job_id : job->job_id};

	if (lt_gate_waits(jobs, job, hold))
		return live;
	live.live = shares_of(ledger, job);
	live.never_ran = lt_never_ran(job) && hold->uid == job->uid && hold->quote.tasks == 1;
	live.requeued = job->requeued;
	live.eligible_utc_s = job->eligible_utc_s;
	live.submit_utc_s = job->submit_utc_s;
	live.seen_utc_s = job->seen_utc_s;
	if (job->state == LT_JOB_PENDING)
		live.pending = job->array_pending > 0 ? job->array_pending : 1;
	else
		live.start_utc_s = job->start_utc_s;
	if (job->limit_s != INT64_MAX)
		live.end_utc_s = job->start_utc_s + job->limit_s + lt_suspension_held_s(job);
	return live;
}

static int
add_live(struct lt_daemon *d, struct lt_batch_job *job, struct lt_ledger_hold *hold,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	const int code = lt_gate_follow(&books, job, hold, now_utc_s, err);

	if (code != LT_OK)
		return code;
	job->at_release = lt_release_concerns(&d->jobs, job, hold);
	struct lt_live *const grown =
	    lt_items_grow(d->jobs.live, &d->jobs.live_capacity, d->jobs.live_count, sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "confirm: out of memory");
	d->jobs.live = grown;
	d->jobs.live[d->jobs.live_count++] = live_of(&d->jobs, d->ledger, job, hold);
	return LT_OK;
}

/* Adopts a job that nobody priced: older than lowtide, plugstack-only, or without a balance. Those
 * of budgeted accounts, or of SPANK, with its plan known or not. */
static int
adopt(struct lt_daemon *d, struct lt_batch_job *job, const struct lt_batch_job *before,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	const struct lt_change change = {.job = job, .before = before, .now_utc_s = now_utc_s};
	struct lt_ledger_hold hold;
	struct lt_announced told;
	const struct lt_budget_snapshot *const sheet = &d->budget.snapshot;
	const bool budgeted = lt_sheet_budgeted(sheet, lt_sheet_account(sheet, job->account));

	if (job->state == LT_JOB_FINISHED || job->completing)
		return LT_OK;
	if (job->is_kept) {
		const int code = lt_first_take(&books, &d->replan, &change, &hold, err);

		return code == LT_OK ? add_live(d, job, &hold, now_utc_s, err) : code;
	}
	const bool placed =
	    lt_announced_find(&told, &d->site.market, &d->announced, job, now_utc_s);
	if (!budgeted && !placed && job->comment_head[0] == '\0')
		return LT_OK;
	if (lt_hold_by_id(d->ledger, job->array_job_id, job->job_id, job->uid, &hold) &&
	    hold.state == LT_HOLD_OPEN) {
		if (placed) { /* slurmctld did not take it before */
			hold.quote.wish = told.wish;
			(void)lt_quote_publish(job, &hold.quote, LT_LEAVE, 0, NULL);
		}
		const int code =
		    lt_change_follow(&d->site, d->ledger, &d->budget, &change, &hold, err);

		return code == LT_OK ? add_live(d, job, &hold, now_utc_s, err) : code;
	}
	hold = (struct lt_ledger_hold){.uid = job->uid,
	    .state = LT_HOLD_OPEN,
	    .made_utc_s = now_utc_s,
	    .job_id = job->job_id,
	    .submit_utc_s = job->submit_utc_s};
	if ((!budgeted && !placed) ||
	    !lt_quote_of_job(&hold.quote, job, &d->site, d->ledger, now_utc_s))
		return LT_OK; /* no limit or unmanaged: charged when it ends */
	if (placed)
		lt_announced_lay(&hold.quote, &d->site.market, &d->announced, job, &told);
	if (job->user_held)
		hold.quote.flags |= LT_QUOTE_USER_HOLD;
	hold.live_tasks = hold.quote.tasks;
	if (job->state != LT_JOB_PENDING)
		hold.start_utc_s = job->start_utc_s;
	else if (budgeted && lt_site_may(&d->site, LT_MAY_HOLD) &&
		 !lt_fits_hold(&d->budget, &hold, now_utc_s))
		hold.quote.flags |= LT_QUOTE_BUDGET_HOLD;
	const int code = lt_ledger_put_hold(d->ledger, &hold, err);
	if (code != LT_OK)
		return code;
	lt_log("adopted",
	    "job=%u account=%s quote=%016" PRIx64 " money_micros=%" PRId64 " held_back=%d",
	    job->job_id, job->account, hold.quote.id, hold.quote.hold_per_task.money_micros,
	    (hold.quote.flags & LT_QUOTE_BUDGET_HOLD) != 0);
	job->is_new = d->budget.dirty = true;
	(void)lt_quote_publish(job, &hold.quote, LT_LEAVE, 0, NULL);
	return add_live(d, job, &hold, now_utc_s, err);
}

/* Inserts the hold of a quote that the job carries but the ledger lacks. */
static int
insert_hold(struct lt_daemon *d, const struct lt_change *change, struct lt_ledger_hold *hold,
    const struct lt_quote *quote, struct lt_error *err)
{
	struct lt_batch_job *const job = change->job;

	*hold = (struct lt_ledger_hold){.quote = *quote,
	    .uid = job->uid,
	    .state = LT_HOLD_OPEN,
	    .live_tasks = quote->tasks,
	    .job_id = job->array_job_id ? job->array_job_id : job->job_id,
	    .submit_utc_s = job->submit_utc_s,
	    .made_utc_s = change->now_utc_s};
	if (job->state == LT_JOB_FINISHED && !job->completing)
		return LT_OK;
	job->is_new = true;
	if (job->state == LT_JOB_PENDING && job->requeued && job->held && quote->tasks == 1 &&
	    (quote->flags & LT_QUOTE_LOCK)) {
		/* Its new run was not admitted when the ledger was lost. */
		hold->state = LT_HOLD_SETTLED;
		hold->live_tasks = 0;
		hold->submit_utc_s--;
	}
	d->budget.dirty = true;
	return lt_ledger_put_hold(d->ledger, hold, err);
}

/*
 * Takes a quote that is newer than the ledger's: slurmctld was updated, and then lowtided was
 * killed or its ledger could not be written. The quote shows whose hold is on the job. Slurm takes
 * the text from its admins only, and a submission with one loses it.
 */
static int
take_told(struct lt_budget_state *budget, struct lt_ledger *ledger, struct lt_ledger_hold *hold,
    const struct lt_quote *told, struct lt_error *err)
{
	static const uint32_t taken = LT_QUOTE_LOCK | LT_QUOTE_USER_HOLD | LT_QUOTE_UNDERHELD;

	hold->quote.flags &= ~taken;
	hold->quote.flags |= told->flags & taken;
	/* Our own for a dear hour (hold_raised()). */
	if ((hold->quote.flags & LT_QUOTE_RAISED) && (told->flags & LT_QUOTE_BUDGET_HOLD))
		hold->quote.flags =
		    (hold->quote.flags & ~(uint32_t)LT_QUOTE_RAISED) | LT_QUOTE_BUDGET_HOLD;
	hold->quote.rev = told->rev;
	budget->dirty = true;
	return lt_ledger_put_hold(ledger, hold, err);
}

/* Notes the end of the run before a requeue. Its record is gone: its former look is left. */
static void
saw_requeue(struct lt_daemon *d, const struct lt_batch_job *job, const struct lt_batch_job *before,
    int64_t now_utc_s)
{
	struct lt_batch_job ended = *before;

	if (before->uid != job->uid || before->start_utc_s == 0 ||
	    before->state == LT_JOB_PENDING || before->state == LT_JOB_FINISHED ||
	    job->submit_utc_s <= before->submit_utc_s)
		return;
	ended.end_utc_s = job->submit_utc_s;
	ended.state_text = "REQUEUED";
	lt_settle_saw_end(&d->jobs, d->ledger, &d->site.tables.conf, &ended, now_utc_s);
}

static int
take_job(struct lt_daemon *d, struct lt_batch_job *job, const struct lt_batch_job *before,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	const struct lt_change change = {job, before, now_utc_s};
	struct lt_quote quote;
	struct lt_ledger_hold hold = {0};
	const char *const text = job->admin_comment;

	if (job->state == LT_JOB_FINISHED && !job->completing)
		lt_settle_saw_end(&d->jobs, d->ledger, &d->site.tables.conf, job, now_utc_s);
	else if (before != NULL)
		saw_requeue(d, job, before, now_utc_s);
	if (text == NULL || lt_quote_unpack(&quote, text, strlen(text), NULL) != LT_OK)
		return adopt(d, job, before, now_utc_s, err);
	int code = lt_ledger_hold(d->ledger, quote.id, &hold, NULL);
	if (code == LT_ENOENT)
		code = insert_hold(d, &change, &hold, &quote, err);
	else if (code == LT_OK && hold.quote.home[0] == '\0' && quote.home[0] != '\0') {
		/* The ring has amounts only; the job has the plan. */
		const struct lt_quote held = hold.quote;

		hold.quote = quote;
		hold.quote.rev = held.rev > quote.rev ? held.rev : quote.rev;
		hold.quote.flags = held.flags;
		hold.quote.hold_per_task = held.hold_per_task;
		hold.quote.start_utc_s = held.start_utc_s;
		hold.quote.end_utc_s = held.end_utc_s;
		job->is_new = true;
		code = lt_ledger_put_hold(d->ledger, &hold, err);
	}
	if (code == LT_OK && hold.uid == job->uid && quote.rev > hold.quote.rev)
		code = take_told(&d->budget, d->ledger, &hold, &quote, err);
	if (code == LT_OK && hold.quote.id == quote.id)
		code = lt_change_follow(&d->site, d->ledger, &d->budget, &change, &hold, err);
	if (code == LT_OK && hold.quote.id == quote.id)
		code = lt_underheld_follow(&books, job, &hold, now_utc_s, err);
	return code == LT_OK ? add_live(d, job, &hold, now_utc_s, err) : code;
}

static int
update_hold(struct lt_budget_state *budget, struct lt_ledger *ledger, struct lt_live *live,
    struct lt_error *err)
{
	struct lt_ledger_hold hold;
	const int found = lt_ledger_hold(ledger, live->quote_id, &hold, NULL);

	if (found == LT_ENOENT)
		return LT_OK;
	/* Its record proves it; of one that was submitted again, slurmdbd's rows do (expire.c). */
	if (live->never_ran && hold.state == LT_HOLD_OPEN &&
	    (hold.submit_utc_s == 0 || hold.submit_utc_s == live->submit_utc_s)) {
		live->is_void = true;
		return LT_OK;
	}
	const struct lt_ledger_hold before = hold;
	hold.job_id = live->job_id;
	/* A single job that started again before the lock was on it: while its old run is not
	 * settled, one share is for that, one for the new. */
	uint32_t need = live->live;
	if (hold.quote.tasks == 1 && hold.submit_utc_s && live->submit_utc_s > hold.submit_utc_s) {
		if (!is_settled(ledger, live->job_id, hold.submit_utc_s))
			need++;
		lt_log("requeued", "job=%u submit=%" PRId64, live->job_id, live->submit_utc_s);
	}
	if (live->submit_utc_s > hold.submit_utc_s)
		hold.submit_utc_s = live->submit_utc_s;
	/* Only up: what goes down is proved first (expire.c, settle.c). */
	if (hold.state != LT_HOLD_OPEN && live->live > 0) {
		hold.state = LT_HOLD_OPEN;
		hold.live_tasks = 0;
		hold.start_utc_s = 0;
	}
	if (need > hold.live_tasks && live->live > 0)
		hold.live_tasks = need;
	const bool runs = live->pending == 0 && live->start_utc_s > 0;
	hold.start_utc_s = runs ? live->start_utc_s : 0;
	if (runs && live->end_utc_s > live->start_utc_s) {
		hold.quote.start_utc_s = live->start_utc_s;
		hold.quote.end_utc_s = live->end_utc_s;
	}
	if (hold.state == before.state && hold.live_tasks == before.live_tasks &&
	    hold.job_id == before.job_id && hold.submit_utc_s == before.submit_utc_s &&
	    hold.start_utc_s == before.start_utc_s &&
	    hold.quote.end_utc_s == before.quote.end_utc_s)
		return LT_OK;
	live->is_late = lt_counters_breaks_plan(live, &hold, &before);
	budget->dirty = true;
	return lt_ledger_put_hold(ledger, &hold, err);
}

/* Takes these records, of which `before` are as they were; the live shares of their quotes go to
 * jobs->live, which starts empty. */
static int
take_jobs(struct lt_daemon *d, const struct lt_batch_jobs *jobs, const struct lt_batch_jobs *before,
    int64_t now_utc_s, struct lt_error *err)
{
	int code = LT_OK;

	lt_ended_sort(&d->jobs);
	d->jobs.live_count = 0;
	d->jobs.locks_left = LT_LOCKS_A_PASS;
	const bool anew = d->jobs.looked_generation != d->site.market.generation;
	for (uint32_t i = 0; code == LT_OK && i < jobs->count; i++) {
		struct lt_batch_job *const job = &jobs->jobs[i];
		const struct lt_batch_job *const was = lt_jobs_find(before, job->job_id);

		lt_breath(LT_TURN_READ);
		lt_change_look(&d->site.market, job, was, anew, now_utc_s);
		job->pause_s = lt_jobs_pause_s(&d->jobs, job);
		code = take_job(d, job, was, now_utc_s, err);
	}
	lt_merge_shares(&d->jobs);
	for (uint32_t i = 0; code == LT_OK && i < d->jobs.live_count; i++) {
		lt_breath(LT_TURN_READ);
		code = update_hold(&d->budget, d->ledger, &d->jobs.live[i], err);
	}
	return code == LT_OK ? lt_facts_note(&d->site, d->ledger, &d->jobs, jobs, now_utc_s, err)
			     : code;
}

/*
 * Reads the ring, after slurmctld answered: a hold or a change is in the ring before it shows on a
 * job, so nothing that we saw is missing there. And while the former list is there, which has no
 * change of the ring yet. Whatever is admitted then is judged with all of the ring.
 */
static int
ingest_all(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	int code = lt_ingest(&books, now_utc_s, err);

	if (code == LT_OK && d->budget.has_snapshot && d->budget.dirty) {
		const uint64_t generation = d->budget.snapshot.generation;

		code = lt_compile_budget(&books, now_utc_s, err);
		/* Only its file could not be written, which the budget step says: what is in memory
		 * is right. */
		if (code != LT_OK && d->budget.snapshot.generation != generation)
			code = LT_OK;
	}
	return code;
}

/* Follows the jobs of a list, in one transaction. */
static int
follow_list(struct lt_daemon *d, const struct lt_batch_jobs *jobs,
    const struct lt_batch_jobs *before, int64_t now_utc_s, struct lt_error *err)
{
	int code = lt_ledger_begin(d->ledger, err);

	if (code != LT_OK)
		return code;
	d->budget.is_as_ledger = true; /* ingest_all() */
	code = take_jobs(d, jobs, before, now_utc_s, err);
	if (code == LT_OK)
		code = lt_ledger_commit(d->ledger, err);
	if (code == LT_OK)
		lt_counters_followed(&d->tally, d->ledger, jobs, &d->jobs);
	else
		lt_ledger_rollback(d->ledger);
	d->budget.is_as_ledger = false;
	d->jobs.void_due |= code == LT_OK;
	return code;
}

static uint32_t
count_voids(const struct lt_jobs_state *jobs)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < jobs->live_count; i++)
		count += jobs->live[i].is_void;
	return count;
}

/* Voids from lives[*at] on, in one transaction. */
static int
void_some(struct lt_daemon *d, uint32_t *at, struct lt_error *err)
{
	struct lt_jobs_state *const jobs = &d->jobs;
	struct lt_ledger_hold hold;
	int code = lt_ledger_begin(d->ledger, err);
	uint32_t i = *at;

	if (code != LT_OK)
		return code;
	lt_log_gather();
	for (int n = 0; code == LT_OK && i < jobs->live_count && n < VOIDS_AT_ONCE; i++) {
		if (!jobs->live[i].is_void)
			continue;
		n++;
		lt_breath(LT_TURN_READ);
		if (lt_ledger_hold(d->ledger, jobs->live[i].quote_id, &hold, NULL) == LT_OK &&
		    hold.state == LT_HOLD_OPEN)
			code = lt_expire_hold(&d->budget, d->ledger, &hold, LT_VOID_UNUSED, err);
	}
	lt_log_flush();
	if (code == LT_OK)
		code = lt_ledger_commit(d->ledger, err);
	else
		lt_ledger_rollback(d->ledger);
	for (; code == LT_OK && *at < i; ++*at)
		jobs->live[*at].is_void = false;
	return code;
}

/* Voids the holds of cancelled jobs, a part a pass: a hundred thousand may be cancelled at once,
 * and nobody waits for the disk that long. expire.c proves the rest. Void ones are of no more
 * use. */
static int
void_cancelled(struct lt_daemon *d, struct lt_error *err)
{
	struct lt_jobs_state *const jobs = &d->jobs;
	uint32_t at = 0;
	int code = LT_OK;

	while (code == LT_OK) {
		while (at < jobs->live_count && !jobs->live[at].is_void)
			at++;
		if (at == jobs->live_count)
			break;
		code = void_some(d, &at, err);
		lt_breath(LT_TURN_COMMITTED);
	}
	if (code == LT_OK)
		lt_keep_jobs(&jobs->list);
	return code;
}

int
lt_reconcile(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_batch_jobs jobs = {0};
	const int64_t began_ms = lt_monotonic_ms();

	/* Jobs named from now on may come after the list. */
	d->jobs.look_count = 0;
	d->jobs.unseen = d->jobs.unseen_passes = 0;
	d->jobs.next.list = now_utc_s + LT_JOBS_EVERY_S;
	int code = lt_child_jobs(&jobs, &d->jobs, err);
	if (code != LT_OK)
		return code;
	lt_jobs_sort(&jobs);
	code = ingest_all(d, now_utc_s, err);
	struct lt_batch_jobs before = d->jobs.list;
	d->jobs.list = jobs;
	if (code == LT_OK)
		code = follow_list(d, &d->jobs.list, &before, now_utc_s, err);
	if (code != LT_OK) {
		/* Nothing was followed: the next list is compared with the same one. */
		lt_batch_jobs_free(&d->jobs.list);
		d->jobs.list = before;
		return code;
	}
	d->jobs.listed_count = jobs.count;
	lt_gate_sweep(&d->jobs);
	lt_batch_jobs_free(&before);
	lt_breath(LT_TURN_COMMITTED);
	malloc_trim(0);
	if (!d->jobs.followed) /* the first market knew of no job */
		d->site.next.market = 0;
	d->jobs.followed = true;
	d->jobs.looked_generation = d->site.market.generation;
	d->jobs.ended_until_utc_s = d->jobs.list.begun_utc_s;
	if (!d->jobs.quotes_loaded) {
		d->jobs.quotes_loaded = true;
		d->budget.dirty = true;
	}
	/* Before what is long only once: lists are no rarer for it. */
	lt_poll_pace(&d->jobs,
	    &(struct lt_listed){
		.took_ms = lt_monotonic_ms() - began_ms, .cancelled = count_voids(&d->jobs)},
	    now_utc_s);
	return void_cancelled(d, err);
}

/* ---- a few of them ---- */

int
lt_reconcile_some(struct lt_daemon *d, struct lt_batch_jobs *found, struct lt_ids ids,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_jobs_state *const jobs = &d->jobs;
	struct lt_live *const live = jobs->live;
	const uint32_t live_count = jobs->live_count;
	const size_t live_capacity = jobs->live_capacity;
	int code = ingest_all(d, now_utc_s, err);

	if (code != LT_OK)
		return code;
	jobs->live = NULL;
	jobs->live_count = 0;
	jobs->live_capacity = 0;
	lt_jobs_sort(found);
	lt_merge_sort(ids);
	code = follow_list(d, found, &jobs->list, now_utc_s, err);
	if (code == LT_OK)
		code = lt_merge_live(jobs, live, live_count, ids, err);
	if (code == LT_OK)
		code = lt_merge_list(&jobs->list, found, ids, err);
	if (code == LT_OK) {
		free(live);
		return void_cancelled(d, err);
	}
	free(jobs->live);
	jobs->live = live;
	jobs->live_count = live_count;
	jobs->live_capacity = live_capacity;
	return code;
}
