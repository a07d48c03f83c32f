/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides a job that its batch system keeps until lowtide releases it: as job_submit would have, by
 * its record and the wishes in it.
 *
 * Reads the market and the budget snapshot; writes the hold into the ledger, and the quote, the
 * place and the begin onto the job. A job that can't be decided stays where it is; an update that
 * fails is retried by a later pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "budget_state.h"
#include "first_plan.h"
#include "fits.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "lookup.h"
#include "occupancy.h"
#include "plan_text.h"
#include "poll_schedule.h"
#include "replanning.h"
#include "site.h"

/* "NAME=VALUE", one a line; the user was shown the lines that can't be read. */
static void
read_wishes(struct lt_options *options, const char *wishes)
{
	lt_options_init(options);
	for (const char *line = wishes; *line != '\0';) {
		const size_t length = strcspn(line, "\n");
		char text[256];

		snprintf(text, sizeof(text), "%.*s", (int)length, line);
		line += length + (line[length] == '\n');
		char *const value = strchr(text, '=');
		if (value == NULL)
			continue;
		*value = '\0';
		for (int id = 0; id < LT_OPTION_COUNT; id++)
			if (strcmp(text, LT_ROW(lt_option_table, id).name) == 0)
				(void)lt_option_parse(
				    options, (enum lt_option_id)id, value + 1, NULL);
	}
}

/* Fills in the request and the budget. True if a plan is wanted. */
static bool
fill_request(struct lt_first *w, const struct lt_market *market, struct lt_budget_state *budget,
    const struct lt_first_asked *asked)
{
	const struct lt_batch_job *const job = asked->job;
	const int64_t now_utc_s = asked->now_utc_s;
	struct lt_request *const request = &w->made.request;
	struct lt_amount available;

	if (!lt_request_of_job(&w->made, job, market, now_utc_s))
		return false;
	/* Nothing slows a pod. */
	request->pins = LT_PIN_FREQUENCY | (job->partition_named ? LT_PIN_PARTITION : 0u);
	request->named_count = 0;
	lt_request_look(&w->made, job, market);
	lt_holdout_lay(request, &budget->snapshot.holdout, job->submit_utc_s);
	if (job->deadline_utc_s != 0)
		request->deadline_utc_s = job->deadline_utc_s;
	read_wishes(&w->options, job->wishes);
	w->options.plan |= asked->plan;
	if (!lt_request_wishes(request, &w->options, market))
		return false;
	if (job->start_by_utc_s != 0)
		request->latest_utc_s = lt_latest_start(job,
		    now_utc_s + lt_class_max_delay_s(lt_request_class(request, market), market));
	if (job->start_by_utc_s != 0 && request->latest_utc_s < now_utc_s)
		request->latest_utc_s = now_utc_s; /* it is late already */
	const struct lt_recent *const recent = lt_fits_recent(budget);
	const int account = lt_sheet_account(&budget->snapshot, request->account);
	const int64_t limit_s = lt_limit_of(request, market, request->home);
	if (recent == NULL)
		return true;
	lt_available(&available, &budget->snapshot, recent, LT_RULES_BIND, request->uid, account,
	    now_utc_s, now_utc_s + (limit_s > 0 ? limit_s : 0));
	request->has_available = true;
	request->available_micros = available.money_micros;
	request->available_mg = available.carbon_mg;
	return true;
}

/* Holds for that place, and for those that the job may go to by itself. */
static bool
hold_there(struct lt_quote *quote, const struct lt_first *w, const struct lt_market *market,
    bool may_stray)
{
	const struct lt_request *const request = &w->made.request;
	const int64_t start_utc_s = w->plan.chosen.start_utc_s;
	const int partition = w->plan.chosen.partition;
	struct lt_quote there = {0};

	if (lt_quote_hold(&there, request, market, &partition, 1, start_utc_s, NULL) != LT_OK)
		return false;
	for (int i = 0; may_stray && i < (int)market->partition_count; i++) {
		struct lt_quote one = {0};

		if (market->partitions[i].flags & LT_PARTITION_MANAGED &&
		    !w->made.places.closed[i] &&
		    lt_quote_hold(&one, request, market, &i, 1, start_utc_s, NULL) == LT_OK)
			lt_quote_most(&there, &there, &one);
	}
	quote->hold_per_task = there.hold_per_task;
	quote->start_utc_s = there.start_utc_s;
	quote->end_utc_s = there.end_utc_s;
	return true;
}

static void
lay_wish(struct lt_quote *quote, const struct lt_first *w, const struct lt_batch_job *job)
{
	lt_wish_of_request(&quote->wish, &w->made.request);
	quote->wish.movable = !job->partition_named;
}

/* Puts the wishes, the plan and its most possible cost into the quote, which has the job's price
 * where it stands. If it can't be decided the job stays where it is. */
static void
plan_first(struct lt_first *w, const struct lt_site *site, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, struct lt_replan_state *replan,
    const struct lt_first_asked *asked)
{
	struct lt_quote *const quote = &w->hold.quote;
	const bool is_asked = lt_replan_begin_market(&site->market, jobs, replan) &&
			      fill_request(w, &site->market, budget, asked);

	lay_wish(quote, w, asked->job);
	if (w->options.checkpoint_set && w->options.checkpoint.enabled)
		quote->flags |= LT_QUOTE_CHECKPOINT;
	if (!is_asked)
		return;
	const uint32_t full = lt_request_full(&replan->planned[replan->planned_count],
	    LT_PLANNED_MAX - replan->planned_count, &w->made, &site->market, asked->now_utc_s);
	if (lt_decide(&w->plan, &w->made.request, &site->market, replan->planned,
		replan->planned_count + full, asked->now_utc_s, NULL) != LT_OK)
		return;
	w->is_planned = true;
	if (w->plan.chosen.partition < 0)
		return;
	quote->objective = w->made.request.objective;
	if (lt_site_may(site, LT_MAY_EDIT)) {
		if (!hold_there(quote, w, &site->market, asked->job->may_stray))
			return;
		w->is_placed = true;
	}
	struct lt_request *const request = &w->made.request;
	const struct lt_amount available = {
	    true, true, request->available_micros, request->available_mg};

	if (request->has_available)
		request->left = lt_left_behind(&available, quote);
	lt_quote_of_plan(quote, &(struct lt_case){.market = &site->market,
				    .plan = &w->plan,
				    .run = lt_quote_run_again(quote, request)});
}

/* Makes the quote of a job without a limit, whose amounts are not known. */
static void
quote_unknown(struct lt_quote *quote, const struct lt_policy *policy,
    const struct lt_batch_job *job, int64_t now_utc_s)
{
	*quote = (struct lt_quote){.id = lt_quote_new_id(),
	    .rev = 2,
	    .tasks = 1,
	    .mode = policy->mode,
	    .objective = LT_OBJECTIVE_OFF,
	    .start_utc_s = now_utc_s,
	    .end_utc_s = now_utc_s,
	    .plan_start_utc_s = now_utc_s,
	    .home_start_utc_s = now_utc_s};
	snprintf(quote->account, sizeof(quote->account), "%s", job->account);
	snprintf(quote->partition, sizeof(quote->partition), "%.*s",
	    (int)strcspn(job->partition, ","), job->partition);
	memcpy(quote->home, quote->partition, sizeof(quote->home));
}

/* Writes the quote onto the job, and its place if lowtide chose one; with a budget's hold in the
 * same update, or the job would start between the two. A later pass retries what fails. */
static void
publish_plan(struct lt_jobs_state *jobs, const struct lt_batch_job *job,
    const struct lt_quote *quote, bool placed)
{
	static const uint32_t held = LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN;
	const enum lt_batch_hold action = quote->flags & held ? LT_HOLD : LT_LEAVE;
	int code = LT_ELIMIT;

	if (lt_batch_may_update())
		code = placed ? lt_quote_publish_place(job, quote, action, LT_UNSET_64, NULL)
			      : lt_quote_publish(job, quote, action, 0, NULL);
	if (code != LT_OK) {
		jobs->untold = true;
		lt_poll_again(jobs, job->job_id);
	}
}

static bool
is_placed(const struct lt_quote *quote)
{
	return quote->objective != LT_OBJECTIVE_OFF && lt_mode_may(quote->mode, LT_MAY_EDIT);
}

/* Does its team's budget not allow it, or does nobody know? */
static uint32_t
held_back(const struct lt_site *site, struct lt_budget_state *budget, const struct lt_first *first,
    const struct lt_first_asked *asked)
{
	const struct lt_batch_job *const job = asked->job;
	const struct lt_budget_snapshot *const sheet = &budget->snapshot;
	struct lt_verdict verdict;

	if (job->state != LT_JOB_PENDING || !lt_site_may(site, LT_MAY_HOLD) ||
	    !lt_sheet_budgeted(sheet, lt_sheet_account(sheet, job->account)))
		return 0;
	lt_fits_judge(&verdict, budget, &first->hold, asked->now_utc_s);
	if (lt_verdict_fits(&verdict)) {
		if (verdict.code == LT_UNKNOWN)
			return lt_fits_is_endless(job, &first->hold) ? LT_QUOTE_UNKNOWN
								     : LT_QUOTE_LET;
		if (asked->is_question)
			lt_fits_forget(budget, &first->hold, asked->now_utc_s);
		return 0;
	}
	return verdict.code == LT_OVER ? LT_QUOTE_BUDGET_HOLD : LT_QUOTE_UNKNOWN;
}

void
lt_first_decide(struct lt_first *first, const struct lt_site *site, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, struct lt_budget_state *budget, struct lt_replan_state *replan,
    const struct lt_first_asked *asked)
{
	const struct lt_batch_job *const job = asked->job;
	struct lt_ledger_hold *const hold = &first->hold;
	struct lt_quote *const quote = &hold->quote;

	*hold = (struct lt_ledger_hold){.uid = job->uid,
	    .state = LT_HOLD_OPEN,
	    .made_utc_s = asked->now_utc_s,
	    .job_id = job->job_id,
	    .submit_utc_s = job->submit_utc_s};
	first->is_priced = lt_quote_of_job(quote, job, site, ledger, asked->now_utc_s);
	if (!first->is_priced)
		quote_unknown(quote, site->policy, job, asked->now_utc_s);
	else if (job->state == LT_JOB_PENDING && job->wishes != NULL)
		plan_first(first, site, jobs, budget, replan, asked);
	hold->live_tasks = quote->tasks;
	quote->flags |= LT_QUOTE_DRAWN;
	if (job->state != LT_JOB_PENDING)
		hold->start_utc_s = job->start_utc_s;
	quote->flags |= held_back(site, budget, first, asked);
}

/* Books its window for the jobs that come after it, until the market has it. */
static void
book(const struct lt_market *market, struct lt_replan_state *replan, const struct lt_batch_job *job,
    const struct lt_estimate *there, int64_t now_utc_s)
{
	struct lt_batch_job placed = *job;

	placed.eligible_utc_s = there->start_utc_s > now_utc_s ? there->start_utc_s : now_utc_s + 1;
	if (replan->planned_count < LT_PLANNED_MAX &&
	    lt_occupancy_window(&replan->planned[replan->planned_count], &placed, market,
		there->partition, now_utc_s))
		replan->planned_count++;
	if (job->job_id > replan->young_id)
		replan->young_id = job->job_id;
}

static int
make_plan(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_change *change, struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct lt_batch_job *const job = change->job;
	const struct lt_quote *const quote = &hold->quote;
	struct lt_first *const first = calloc(1, sizeof(*first));

	if (first == NULL)
		return lt_fail(err, LT_ENOMEM, "job %u: out of memory", job->job_id);
	lt_first_decide(first, books->site, books->ledger, books->jobs, books->budget, replan,
	    &(struct lt_first_asked){.job = job, .now_utc_s = change->now_utc_s});
	const bool placed = first->is_placed;
	*hold = first->hold;
	if (placed)
		book(&books->site->market, replan, job, &first->plan.chosen, change->now_utc_s);
	free(first);
	const int code = lt_ledger_put_hold(books->ledger, hold, err);
	if (code != LT_OK)
		return code;
	lt_log("decided",
	    "job=%u account=%s partition=%s start=%lld money_micros=%lld held_back=%d", job->job_id,
	    job->account, quote->partition, (long long)quote->plan_start_utc_s,
	    (long long)quote->hold_per_task.money_micros,
	    (quote->flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN)) != 0);
	job->is_new = true;
	books->budget->dirty = true;
	publish_plan(books->jobs, job, quote, placed);
	return LT_OK;
}

/* Reads the wishes again, as for the plan: the ledger has none, and the record of a job that was
 * not updated yet has none of ours. Without them it would never be decided again. */
static void
wish_again(struct lt_quote *quote, const struct lt_market *market, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, struct lt_replan_state *replan, const struct lt_change *change)
{
	struct lt_first *const w = change->job->wishes != NULL ? calloc(1, sizeof(*w)) : NULL;

	if (w == NULL)
		return;
	if (lt_replan_begin_market(market, jobs, replan) &&
	    fill_request(w, market, budget,
		&(struct lt_first_asked){.job = change->job, .now_utc_s = change->now_utc_s}))
		lay_wish(quote, w, change->job);
	free(w);
}

int
lt_first_take(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_change *change, struct lt_ledger_hold *hold, struct lt_error *err)
{
	const struct lt_batch_job *const job = change->job;

	if (!lt_hold_by_id(books->ledger, 0, job->job_id, job->uid, hold) ||
	    hold->state != LT_HOLD_OPEN)
		return make_plan(books, replan, change, hold, err);
	wish_again(&hold->quote, &books->site->market, books->jobs, books->budget, replan, change);
	publish_plan(books->jobs, job, &hold->quote, is_placed(&hold->quote));
	return lt_change_follow(books->site, books->ledger, books->budget, change, hold, err);
}
