/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends a job back to the queue, and starts it at a better hour or elsewhere.
 *
 *   ASKED      the row first, then the signal; a signal that got lost costs no
 *              more than work since the last checkpoint
 *   REQUEUED   the row first, then the requeue, again if it did not show; once
 *              the job waits its begin is set, and then the row is removed
 *
 * A job that is to resume elsewhere has ASKED_AWAY and REQUEUED_AWAY: it is decided again once it
 * waits. If Slurm refuses a step it is tried again.
 */
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "batch.h"
#include "books.h"
#include "budget_state.h"
#include "interrupted.h"
#include "jobs.h"
#include "log.h"
#include "min_max.h"
#include "notice.h"
#include "pass_time.h"
#include "pause_jobs.h"
#include "pause_move.h"
#include "pause_requeue.h"
#include "pause_plan.h"
#include "poll_schedule.h"
#include "proof.h"
#include "replan.h"
#include "replanning.h"
#include "requeue_gate.h"
#include "site.h"

int
lt_pausing_ask(const struct lt_books *books, struct lt_proof_state *proof, struct lt_pausing *s,
    struct lt_error *err)
{
	const struct lt_standing *const at = &s->standing;
	const struct lt_batch_job *const job = at->job;
	struct lt_ledger_hold *const two = malloc(sizeof(*two));
	const struct lt_paused row = {.job_id = job->job_id,
	    .start_utc_s = job->start_utc_s,
	    .step = s->goes_away ? LT_PAUSE_ASKED_AWAY : LT_PAUSE_ASKED,
	    .at_utc_s = at->now_utc_s,
	    .until_utc_s = s->course.until_utc_s,
	    .saves = lt_pausing_saves(&s->course)};

	if (two == NULL)
		return lt_fail(err, LT_ENOMEM, "pause: out of memory");
	/* The run that ends is held for until it is settled. */
	*two = at->hold;
	two->live_tasks++;
	int code = lt_pausing_fit(books, at, two, err);
	free(two);
	if (code == LT_OK)
		code = lt_ledger_put_paused(books->ledger, &row, err);
	if (code == LT_OK && lt_pausing_add(books->jobs, &row) != LT_OK)
		code = lt_fail(err, LT_ENOMEM, "pause: out of memory");
	if (code != LT_OK)
		return code;
	lt_log("pause", "job=%u step=%s until=%lld saves_micros=%lld saves_mg=%lld", job->job_id,
	    s->goes_away ? "asked_away" : "asked", (long long)row.until_utc_s,
	    (long long)row.saves.money_micros, (long long)row.saves.carbon_mg);
	books->budget->dirty = true; /* two was only a question */
	lt_proof_ask(books->ledger, proof, job->job_id, at->now_utc_s);
	/* One that has no step just then hears nothing. */
	(void)lt_batch_signal(job, at->quote.wish.signal, NULL);
	return LT_OK;
}

/* ---- the requeue ---- */

static bool
is_asked(const struct lt_paused *row)
{
	return row->step == LT_PAUSE_ASKED || row->step == LT_PAUSE_ASKED_AWAY;
}

static bool
is_away(const struct lt_paused *row)
{
	return row->step >= LT_PAUSE_ASKED_AWAY;
}

/* Since when all it did is written; 0: it is still waited for. */
static int64_t
written_utc_s(const struct lt_proof_state *proof, const struct lt_batch_job *job,
    const struct lt_paused *row, int64_t now_utc_s)
{
	const struct lt_life *const life = lt_proof_life(proof, job->job_id);
	struct lt_quote quote;

	if (lt_quote_unpack(&quote, job->admin_comment, strlen(job->admin_comment), NULL) != LT_OK)
		return row->at_utc_s;
	const int64_t write_s = lt_wish_write_s(&quote.wish);
	if (now_utc_s >= row->at_utc_s + write_s)
		return row->at_utc_s;
	/* Sooner than it said: what it did since counts as lost. */
	return life != NULL && life->asked_utc_s != 0 && life->write_s > 0 ? now_utc_s - write_s
									   : 0;
}

/* True if it is still to go back, and not too late for it. */
static bool
is_wanted(const struct lt_site *site, const struct lt_notice_state *notices,
    const struct lt_batch_job *job, const struct lt_paused *row, int64_t now_utc_s)
{
	return now_utc_s < row->until_utc_s && !job->completing && lt_site_may(site, LT_MAY_EDIT) &&
	       lt_pausing_any_class(&site->market) && !lt_notice_has(notices, job->job_id);
}

static bool
requeue(const struct lt_market *market, struct lt_ledger *ledger, struct lt_proof_state *proof,
    const struct lt_batch_job *job, struct lt_paused *row, int64_t now_utc_s, struct lt_error *err)
{
	const int64_t asked_utc_s = is_asked(row) ? written_utc_s(proof, job, row, now_utc_s)
						  : 0 /* noted when it was asked for first */;
	struct lt_error refused = {0};

	if (is_asked(row) && asked_utc_s == 0)
		return true;
	if (lt_interrupted_note(market, ledger, job,
		&(struct lt_ended_by_us){.at_utc_s = now_utc_s, .asked_utc_s = asked_utc_s},
		err) != LT_OK ||
	    lt_pausing_put(ledger, row, is_away(row) ? LT_PAUSE_REQUEUED_AWAY : LT_PAUSE_REQUEUED,
		now_utc_s, err) != LT_OK)
		return true;
	const int code = lt_batch_requeue(job, &refused);
	if (code != LT_OK)
		lt_log("pause_refused", "job=%u error=\"%s\"", row->job_id, refused.text);
	/* slurmctld is away: again when it is back. Else it runs on. */
	if (code != LT_OK && code != LT_ENET)
		(void)lt_pausing_put(ledger, row, LT_PAUSE_LEFT, now_utc_s, err);
	return true;
}

/* ---- and then ---- */

struct back { /* large: not for the stack */
	int64_t until_utc_s, now_utc_s;
	struct lt_standing standing;
	struct lt_plan plan;
};

/* Raises the hold first, then sets the begin time: standing.c's way. False: it can't be done. */
static bool
tell_start(struct back *b, const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, struct lt_error *err)
{
	const int64_t now_utc_s = b->now_utc_s;
	struct lt_standing *const s = &b->standing;

	if (!lt_replan_begin_market(&books->site->market, books->jobs, replan) ||
	    !lt_standing_back(s, &books->site->market, books->ledger, job, now_utc_s))
		return false;
	const struct lt_replan of = {.request = &s->made.request,
	    .market = &books->site->market,
	    .planned = replan->planned,
	    .planned_count = replan->planned_count,
	    .partition = s->partition,
	    .start_utc_s = lt_min_i64(b->until_utc_s, s->made.request.latest_utc_s),
	    .now_utc_s = now_utc_s};

	if (of.start_utc_s <= now_utc_s || lt_replan_standing(&b->plan, &of, err) != LT_OK)
		return false;
	/* It may have been planned for that hour, and started before it. */
	if (s->quote.plan_start_utc_s == of.start_utc_s)
		s->quote.plan_start_utc_s = job->eligible_utc_s;
	/* Unmoved is at home and now. */
	b->plan.moved = true;
	b->plan.chosen.start_utc_s = of.start_utc_s;
	return lt_standing_move(
		   books, replan, s, &b->plan, lt_replan_word(LT_REPLAN_PAUSED), err) != LT_OK ||
	       s->moved;
}

/* True if it waits for its hour by its own record: nothing is left to do. */
static bool
is_told(const struct lt_batch_job *job, int64_t now_utc_s)
{
	struct lt_quote quote;

	return lt_quote_unpack(&quote, job->admin_comment, strlen(job->admin_comment), NULL) ==
		   LT_OK &&
	       lt_standing_waits(job, &quote, now_utc_s);
}

/* Decides it anew, now that it waits; where it was if that is as soon. False:
 * done. */
static bool
go_away(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, int64_t now_utc_s, struct lt_error *err)
{
	bool moved;

	return lt_again(books, replan, job, now_utc_s, &moved, err) != LT_OK ||
	       (!moved && lt_again_now(books->site, books->ledger, books->budget, job, now_utc_s,
			      err) != LT_OK);
}

/* False: its begin is set, or it starts as it can. */
static bool
wait_for_it(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, const struct lt_paused *row, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_ledger_hold hold;

	if (now_utc_s >= row->until_utc_s || !lt_site_may(books->site, LT_MAY_EDIT) ||
	    !lt_hold_of_job(books->ledger, job, &hold) || hold.uid != job->uid ||
	    lt_pausing_is_urgent(books->ledger, hold.quote.id))
		return false;
	if (job->completing || job->held || lt_gate_holds_back(books->ledger, books->jobs, job))
		return true;
	if (is_away(row))
		return go_away(books, replan, job, now_utc_s, err);
	if (is_told(job, now_utc_s))
		return false;
	struct back *const b = calloc(1, sizeof(*b));
	if (b == NULL)
		return true;
	b->until_utc_s = row->until_utc_s;
	b->now_utc_s = now_utc_s;
	/* The next list shows it; if not, it is set again. */
	const bool waits = tell_start(b, books, replan, job, err);
	free(b);
	return waits;
}

bool
lt_pausing_follow_requeue(const struct lt_pauser *by, const struct lt_batch_job *job,
    struct lt_paused *row, int64_t now_utc_s, struct lt_error *err)
{
	const bool was_asked = is_asked(row);

	if (job == NULL || !by->books->site->has_market)
		return job != NULL;
	lt_poll_again(by->books->jobs, row->job_id);
	if (job->state == LT_JOB_RUNNING && job->start_utc_s == row->start_utc_s) {
		if (!was_asked && !lt_pausing_is_newer(job, row))
			return true;
		return is_wanted(by->books->site, by->notices, job, row, now_utc_s) &&
		       requeue(&by->books->site->market, by->books->ledger, by->proof, job, row,
			   now_utc_s, err);
	}
	return !was_asked && (job->state == LT_JOB_PENDING || job->completing) &&
	       wait_for_it(by->books, by->replan, job, row, now_utc_s, err);
}
