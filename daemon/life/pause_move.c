/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suspends a job and resumes it. The hold grows first, by what the pause may cost, then the row is
 * written, then Slurm is asked; so a restart continues and does nothing twice.
 *
 * LT_EDENIED: the budget does not allow the growth, and nothing is done.
 */
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "books.h"
#include "budget_state.h"
#include "compile_budget.h"
#include "fits.h"
#include "grow.h"
#include "ingest.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "lookup.h"
#include "notice.h"
#include "pass_time.h"
#include "pause_jobs.h"
#include "pause_move.h"
#include "poll_schedule.h"
#include "proof.h"
#include "site.h"
#include "suspension.h"

enum {
	GRAIN_S = 60, /* of what is held for, as of others' suspensions */
	LATE_S = 30,  /* by so much it may resume too late */
};

int
lt_pausing_put(struct lt_ledger *ledger, struct lt_paused *row, enum lt_pause_step step,
    int64_t now_utc_s, struct lt_error *err)
{
	static const char *const words[LT_PAUSE_STEP_COUNT] = {[LT_PAUSE_SUSPENDING] = "suspending",
	    [LT_PAUSE_PAUSED] = "paused",
	    [LT_PAUSE_RESUMING] = "resuming",
	    [LT_PAUSE_RESUMING_FOR_GOOD] = "resuming_for_good",
	    [LT_PAUSE_LEFT] = "left",
	    [LT_PAUSE_ASKED] = "asked",
	    [LT_PAUSE_REQUEUED] = "requeued",
	    [LT_PAUSE_ASKED_AWAY] = "asked_away",
	    [LT_PAUSE_REQUEUED_AWAY] = "requeued_away"};
	struct lt_paused next = *row;

	next.step = step;
	next.at_utc_s = now_utc_s;
	const int code = lt_ledger_put_paused(ledger, &next, err);
	if (code != LT_OK)
		return code;
	*row = next;
	lt_log("pause", "job=%u step=%s until=%lld", row->job_id, LT_WORD(words, step),
	    (long long)row->until_utc_s);
	return LT_OK;
}

/* The hold of a run that stands still for held_s in all. False: it can't be priced. */
static bool
grow(struct lt_ledger_hold *grown, const struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_standing *at, int64_t held_s)
{
	struct lt_batch_job still = *at->job;
	struct lt_amount *const held = &grown->quote.hold_per_task;
	struct lt_quote fresh;

	*grown = at->hold;
	still.pause_s = held_s;
	if (!lt_quote_of_job(&fresh, &still, site, ledger, at->now_utc_s))
		return false;
	const struct lt_amount *const want = &fresh.hold_per_task;
	if (want->has_money && (!held->has_money || want->money_micros > held->money_micros))
		held->money_micros = want->money_micros;
	if (want->has_carbon && (!held->has_carbon || want->carbon_mg > held->carbon_mg))
		held->carbon_mg = want->carbon_mg;
	held->has_money |= want->has_money;
	held->has_carbon |= want->has_carbon;
	const int64_t end_utc_s =
	    at->job->limit_s < INT64_MAX / 2 ? at->job->start_utc_s + at->job->limit_s + held_s : 0;
	if (end_utc_s > grown->quote.end_utc_s)
		grown->quote.end_utc_s = end_utc_s;
	grown->quote.rev++;
	return true;
}

int
lt_pausing_fit(const struct lt_books *books, const struct lt_standing *at,
    const struct lt_ledger_hold *grown, struct lt_error *err)
{
	int code = LT_OK;

	if (!lt_sheet_budgeted(&books->budget->snapshot,
		lt_sheet_account(&books->budget->snapshot, at->hold.quote.account)))
		return LT_OK;
	code = lt_ingest(books, at->now_utc_s, err);
	if (code == LT_OK)
		code = lt_compile_budget(books, at->now_utc_s, err);
	if (code == LT_OK && !lt_fits_instead(books->budget, &at->hold, grown, at->now_utc_s))
		code = lt_fail(
		    err, LT_EDENIED, "job %u: its budget does not allow a pause", at->job->job_id);
	return code;
}

/* Writes both or neither. */
static int
write_both(struct lt_ledger *ledger, struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, const struct lt_paused *row, struct lt_error *err)
{
	int code = lt_ledger_begin(ledger, err);

	if (code != LT_OK)
		return code;
	code = lt_ledger_put_hold(ledger, hold, err);
	if (code == LT_OK)
		code = lt_ledger_put_paused(ledger, row, err);
	if (code == LT_OK)
		code = lt_ledger_commit(ledger, err);
	if (code != LT_OK)
		lt_ledger_rollback(ledger);
	budget->dirty = true;
	return code;
}

struct lt_amount
lt_pausing_saves(const struct lt_pause_course *course)
{
	return (struct lt_amount){.has_money = course->has_cost,
	    .has_carbon = course->has_carbon,
	    .money_micros = (int64_t)course->saved_micros,
	    .carbon_mg = (int64_t)course->saved_mg};
}

static int64_t
held_until(const struct lt_standing *at, int64_t until_utc_s)
{
	const int64_t most_s = until_utc_s - at->job->start_utc_s -
			       lt_suspension_worked_s(at->job, at->now_utc_s) + LATE_S;

	return (most_s / GRAIN_S + 1) * GRAIN_S;
}

int
lt_pausing_add(struct lt_jobs_state *jobs, const struct lt_paused *row)
{
	struct lt_paused *const grown =
	    lt_items_grow(jobs->paused, &jobs->paused_capacity, jobs->paused_count, sizeof(*grown));
	uint32_t at = jobs->paused_count;

	if (grown == NULL)
		return LT_ENOMEM;
	jobs->paused = grown;
	while (at > 0 && grown[at - 1].job_id >= row->job_id)
		at--;
	if (at < jobs->paused_count && grown[at].job_id == row->job_id) {
		grown[at] = *row; /* of a run before */
		return LT_OK;
	}
	memmove(&grown[at + 1], &grown[at], (jobs->paused_count - at) * sizeof(*grown));
	grown[at] = *row;
	jobs->paused_count++;
	return LT_OK;
}

/* Lowers the hold again if the pause was not made. */
static int
take_back(struct lt_ledger *ledger, struct lt_jobs_state *jobs, struct lt_budget_state *budget,
    const struct lt_standing *at, const struct lt_ledger_hold *grown, struct lt_error *err)
{
	struct lt_ledger_hold hold = at->hold;
	struct lt_paused *const row = lt_jobs_paused(jobs, at->job);

	hold.quote.rev = grown->quote.rev + 1;
	if (row != NULL)
		row->held_s = 0;
	budget->dirty = true;
	int code = lt_ledger_put_hold(ledger, &hold, err);
	/* Its row goes with the next look at it. */
	return code == LT_OK && row != NULL
		   ? lt_pausing_put(ledger, row, LT_PAUSE_RESUMING, at->now_utc_s, err)
		   : code;
}

int
lt_pausing_suspend(const struct lt_books *books, struct lt_pausing *s, struct lt_error *err)
{
	const struct lt_standing *const at = &s->standing;
	const struct lt_batch_job *const job = at->job;
	struct lt_ledger_hold *const grown = malloc(sizeof(*grown));
	const struct lt_paused row = {.job_id = job->job_id,
	    .start_utc_s = job->start_utc_s,
	    .step = LT_PAUSE_SUSPENDING,
	    .at_utc_s = at->now_utc_s,
	    .until_utc_s = s->course.until_utc_s,
	    .held_s = held_until(at, s->course.until_utc_s),
	    .saves = lt_pausing_saves(&s->course)};
	struct lt_error refused = {0};

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "pause: out of memory");
	int code = grow(grown, books->site, books->ledger, at, row.held_s)
		       ? lt_pausing_fit(books, at, grown, err)
		       : lt_fail(err, LT_EDENIED, "job %u: a pause can't be priced", job->job_id);
	if (code == LT_OK)
		code = write_both(books->ledger, books->budget, grown, &row, err);
	if (code == LT_OK && (code = lt_pausing_add(books->jobs, &row)) != LT_OK)
		code = lt_fail(err, LT_ENOMEM, "pause: out of memory");
	if (code == LT_OK) {
		lt_log("pause",
		    "job=%u step=suspending until=%lld held_s=%lld saves_micros=%lld saves_mg=%lld",
		    job->job_id, (long long)row.until_utc_s, (long long)row.held_s,
		    (long long)row.saves.money_micros, (long long)row.saves.carbon_mg);
		lt_poll_again(books->jobs, job->job_id);
		if (lt_batch_suspend(job, &refused) != LT_OK) {
			lt_log("pause_refused", "job=%u error=\"%s\"", job->job_id, refused.text);
			code = take_back(books->ledger, books->jobs, books->budget, at, grown, err);
		}
	}
	free(grown);
	return code;
}

int
lt_pausing_move(
    const struct lt_books *books, struct lt_pausing *s, struct lt_paused *row, struct lt_error *err)
{
	const struct lt_standing *const at = &s->standing;
	struct lt_ledger_hold *const grown = malloc(sizeof(*grown));
	struct lt_paused next = *row;
	int code = LT_OK;

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "pause: out of memory");
	next.until_utc_s = s->course.until_utc_s;
	next.held_s = held_until(at, next.until_utc_s);
	if (next.held_s <= row->held_s) {
		next.held_s = row->held_s; /* it may be needed again */
		code = lt_ledger_put_paused(books->ledger, &next, err);
	} else if (!grow(grown, books->site, books->ledger, at, next.held_s)) {
		code = LT_EDENIED;
	} else {
		code = lt_pausing_fit(books, at, grown, err);
		if (code == LT_OK)
			code = write_both(books->ledger, books->budget, grown, &next, err);
	}
	if (code == LT_OK) {
		lt_log("pause", "job=%u step=moved until=%lld held_s=%lld", row->job_id,
		    (long long)next.until_utc_s, (long long)next.held_s);
		*row = next;
	}
	free(grown);
	return code;
}

int
lt_pausing_go_on(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_pass_time *pass, const struct lt_batch_job *job, struct lt_paused *row,
    enum lt_pause_step step, const char *why)
{
	struct lt_error err = {0};

	/* Before the step's time is another: by it a suspension is known. */
	if (row->changed_utc_s == 0 && job->state == LT_JOB_SUSPENDED)
		row->changed_utc_s = job->changed_utc_s;
	/* A ledger that can't be written stops nobody: the record shows that it runs, too. */
	if (lt_pausing_put(ledger, row, step, lt_pass_now(pass), &err) != LT_OK)
		lt_log("pause_lost", "job=%u error=\"%s\"", row->job_id, err.text);
	err = (struct lt_error){0};
	lt_log("pause_over", "job=%u why=%s", row->job_id, why);
	lt_poll_again(jobs, row->job_id);
	const int code = lt_batch_go_on(job, &err);
	if (code != LT_OK)
		lt_log("go_on_failed", "job=%u error=\"%s\"", row->job_id, err.text);
	return code;
}
