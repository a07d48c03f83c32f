/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that waits where lowtide put it: its request, what the ledger has since learned about it
 * (how long its kind runs, on which GPU how much faster, and whether it resumes), and its way to
 * another start: the hold first, then the update of the job.
 *
 * Reads the job list, the market and the ledger; writes the hold, the plans and the job. If
 * slurmctld refuses, all is as it was.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "budget_state.h"
#include "compile_budget.h"
#include "counters.h"
#include "fits.h"
#include "history.h"
#include "ingest.h"
#include "interrupted.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "market.h"
#include "min_max.h"
#include "occupancy.h"
#include "poll_schedule.h"
#include "ledger_jobs.h"
#include "replan.h"
#include "replanning.h"
#include "site.h"
#include "standing.h"
#include "units.h"

/* Fills in the groups that show its run time, by the limit that its record has, or had before
 * lowtide lowered it. Returns that limit; 0: none. */
static int64_t
keys_of(struct lt_history_key keys[LT_HISTORY_GROUPS], const struct lt_standing *s)
{
	const struct lt_run_kind kind = {.uid = s->job->uid,
	    .account = s->job->account,
	    .name = s->job->name,
	    .hash = s->run.kind,
	    .limit_s = s->run.limit_s > s->job->limit_s ? s->run.limit_s : s->job->limit_s,
	    .is_interactive = !s->job->is_batch};

	lt_history_keys(keys, &kind);
	return kind.limit_s < INT64_MAX ? kind.limit_s : 0;
}

/* Returns what runs of its kind have shown by now, unless the user said how long it runs; what they
 * had shown before where the ledger has nothing any more. */
static struct lt_expected
learned(const struct lt_standing *s, struct lt_ledger *ledger)
{
	struct lt_history_key keys[LT_HISTORY_GROUPS];
	struct lt_history_figures figures[LT_HISTORY_GROUPS];
	const int64_t limit_s = keys_of(keys, s);
	struct lt_expected now;

	if (s->run.expected.from == LT_HISTORY_SAID)
		return s->run.expected;
	for (int i = 0; i < LT_HISTORY_GROUPS; i++)
		if (lt_ledger_figures(ledger, &keys[i], &figures[i], NULL) != LT_OK)
			return s->run.expected;
	now = lt_history_expect(figures, limit_s);
	return now.expected_s > 0 ? now : s->run.expected;
}

/* Fills in what its runs have shown about the market's GPUs. */
static void
learn_gpus(struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger)
{
	const struct lt_request *const request = &s->made.request;
	struct lt_history_key keys[LT_HISTORY_GROUPS];
	struct lt_speed speeds[LT_SPEEDS_MAX];
	int count = 0;

	(void)keys_of(keys, s);
	if (keys[LT_HISTORY_NAME].hash != 0 && lt_request_wants_gpus(request))
		count = lt_ledger_speeds(ledger, &keys[LT_HISTORY_NAME], speeds, NULL);
	memset(s->gpu_median_s, 0, sizeof(s->gpu_median_s));
	for (uint32_t g = 0; g < market->gpu_count; g++)
		for (int i = 0; i < count; i++)
			if (strcmp(market->gpus[g].name, speeds[i].gpu) == 0)
				s->gpu_median_s[g] = speeds[i].median_s;
	s->made.request.gpu_median_s = count > 0 ? s->gpu_median_s : NULL;
}

/* Fills in what is known by now about its promise to resume. */
static void
learn_proof(struct lt_standing *s, struct lt_ledger *ledger)
{
	struct lt_request *const request = &s->made.request;
	const struct lt_run_kind kind = {
	    .uid = s->job->uid, .account = s->quote.account, .name = s->job->name};
	struct lt_proof_row row;

	if (!request->checkpoint.enabled || request->script_hash == 0)
		return;
	const struct lt_history_key key = lt_history_proof_key(&kind, request->script_hash);
	if (lt_ledger_proof(ledger, &key, &row, NULL) == LT_OK)
		request->proof =
		    (struct lt_proof){row.survived, (uint32_t)row.write_s, (uint32_t)row.restart_s};
}

/* Returns its latest start. The promise is counted from its first submission, while a requeue is a
 * new one: all time but the kept work was waiting. */
static int64_t
latest_again(const struct lt_standing *s, const struct lt_market *market)
{
	const struct lt_request *const request = &s->made.request;

	return lt_latest_start(s->job,
	    s->hold.made_utc_s + lt_class_max_delay_s(lt_request_class(request, market), market) +
		request->done_s);
}

void
lt_standing_learn(struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger)
{
	learn_proof(s, ledger);
	lt_interrupted_lay(&s->made.request, ledger, s->job, &s->hold, s->run.limit_s);
	if (!lt_resume_counts(&s->made.request, market))
		s->made.request.done_s = 0; /* it starts over */
	if (s->job->requeued)
		s->made.request.latest_utc_s = latest_again(s, market);
	if (s->made.request.home == lt_market_partition(market, s->quote.home))
		s->made.request.learned = s->run.expected = learned(s, ledger);
	learn_gpus(s, market, ledger);
}

/* Learns what differs by place: GPUs, and whether it resumes. */
static void
learn_place(struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger)
{
	learn_gpus(s, market, ledger);
	learn_proof(s, ledger);
}

/* True if it asked to be moved and is still where it was put. */
static bool
is_ours(const struct lt_batch_job *job, const struct lt_quote *quote)
{
	/* Slurm itself holds a job that it can't start, until an update. */
	return job->state == LT_JOB_PENDING && (!job->held || job->reason == LT_REASON_NEVER) &&
	       !job->is_cron && job->het_job_id == 0 && quote->wish.known &&
	       lt_mode_may(quote->mode, LT_MAY_EDIT) && quote->objective != LT_OBJECTIVE_OFF &&
	       strcmp(job->partition, quote->partition) == 0;
}

bool
lt_standing_waits(const struct lt_batch_job *job, const struct lt_quote *quote, int64_t now_utc_s)
{
	return is_ours(job, quote) && job->eligible_utc_s > now_utc_s &&
	       !(quote->wish.pins & LT_PIN_BEGIN) && job->eligible_utc_s == quote->plan_start_utc_s;
}

static bool
is_open(const struct lt_ledger_hold *hold, const struct lt_batch_job *job)
{
	static const uint32_t held_back =
	    LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN | LT_QUOTE_LOCK | LT_QUOTE_FREEING;

	/* For an array the lock says only that one task was locked once. */
	const uint32_t back =
	    hold->quote.tasks == 1 ? held_back : held_back & ~(uint32_t)LT_QUOTE_LOCK;

	return hold->uid == job->uid && hold->state == LT_HOLD_OPEN && !(hold->quote.flags & back);
}

static bool
find_standing(
    struct lt_standing *s, struct lt_ledger *ledger, struct lt_jobs_state *jobs, uint32_t job_id)
{
	s->job = lt_jobs_find(&jobs->list, job_id);
	if (s->job == NULL || s->job->admin_comment == NULL ||
	    lt_quote_unpack(
		&s->quote, s->job->admin_comment, strlen(s->job->admin_comment), NULL) != LT_OK)
		return false;
	return !lt_jobs_requeued(jobs, job_id) &&
	       lt_standing_waits(s->job, &s->quote, s->now_utc_s) &&
	       lt_ledger_hold(ledger, s->quote.id, &s->hold, NULL) == LT_OK &&
	       /* Else it was moved since the list was read. */
	       s->hold.quote.plan_start_utc_s == s->quote.plan_start_utc_s &&
	       strcmp(s->hold.quote.partition, s->quote.partition) == 0 &&
	       is_open(&s->hold, s->job) &&
	       /* All of an array, or none of it. */
	       s->hold.live_tasks == s->job->array_pending;
}

/* A need that no record shows keeps it in its partition. */
bool
lt_standing_ask(struct lt_standing *s, const struct lt_market *market)
{
	struct lt_batch_job early = *s->job;
	struct lt_request *const request = &s->made.request;
	const int home = lt_market_partition(market, s->quote.home);

	(void)lt_quote_run_unpack(&s->run, s->quote.run, strlen(s->quote.run), NULL);
	early.eligible_utc_s = s->now_utc_s;
	if (!lt_request_of_job(&s->made, &early, market, s->now_utc_s))
		return false;
	s->partition = s->made.partitions[0];
	lt_wish_lay(request, &s->quote.wish);
	request->objective = s->quote.objective;
	request->named_count = 0;
	lt_request_look(&s->made, s->job, market);
	request->home = home;
	if (!s->quote.wish.movable || home < 0) {
		request->pins |= LT_PIN_PARTITION;
		request->home = s->partition;
	}
	if (request->home == home)
		request->learned = s->run.expected;
	request->latest_utc_s = lt_latest_start(s->job,
	    s->job->submit_utc_s + lt_class_max_delay_s(lt_request_class(request, market), market));
	return true;
}

/* True if its hold is enough, in the period that it is held in. */
static bool
is_within(const struct lt_budget_snapshot *snapshot, const struct lt_ledger_hold *held,
    const struct lt_ledger_hold *moved)
{
	const struct lt_amount *const was = &held->quote.hold_per_task;
	const struct lt_amount *const is = &moved->quote.hold_per_task;
	const int account = lt_sheet_account(snapshot, moved->quote.account);
	const struct lt_hold before = {.account = account,
	    .start_utc_s = held->quote.start_utc_s,
	    .end_utc_s = held->quote.end_utc_s};

	return !lt_sheet_budgeted(snapshot, account) ||
	       (was->has_money >= is->has_money && was->has_carbon >= is->has_carbon &&
		   is->money_micros <= was->money_micros && is->carbon_mg <= was->carbon_mg &&
		   !lt_sheet_new_period(
		       snapshot, &before, moved->quote.start_utc_s, moved->quote.end_utc_s));
}

/* True if more, or another period, fits beside all that was admitted since. */
static bool
fits(const struct lt_books *books, const struct lt_standing *s, const struct lt_ledger_hold *moved)
{
	return lt_ingest(books, s->now_utc_s, NULL) == LT_OK &&
	       lt_compile_budget(books, s->now_utc_s, NULL) == LT_OK &&
	       lt_fits_instead(books->budget, &s->hold, moved, s->now_utc_s);
}

/* Computes the quote and hold of the new start. False: it can't be priced, or is dearer than the
 * budget allows. */
static bool
price(struct lt_ledger_hold *moved, const struct lt_books *books, const struct lt_standing *s,
    const struct lt_plan *plan, const struct lt_estimate *there)
{
	const int partition = there->partition;
	struct lt_quote *const quote = &moved->quote;
	struct lt_quote fresh = {0};

	*moved = s->hold;
	quote->wish = s->quote.wish;
	if (lt_quote_hold(&fresh, &s->made.request, &books->site->market, &partition, 1,
		there->start_utc_s, NULL) != LT_OK)
		return false;
	quote->start_utc_s = fresh.start_utc_s;
	quote->end_utc_s = fresh.end_utc_s;
	/* The run before may not be charged yet, or others have the hold too:
	 * never less for them. */
	if (s->hold.live_tasks > s->job->array_pending || s->job->may_stray)
		lt_quote_most(quote, &fresh, &s->hold.quote);
	else
		quote->hold_per_task = fresh.hold_per_task;
	lt_quote_of_plan(quote, &(struct lt_case){.market = &books->site->market,
				    .plan = plan,
				    .kind = LT_CASE_AGAIN,
				    .run = s->run});
	quote->plan_start_utc_s = there->start_utc_s;
	if (quote->rev < s->quote.rev)
		quote->rev = s->quote.rev;
	quote->rev++;
	return is_within(&books->budget->snapshot, &s->hold, moved) || fits(books, s, moved);
}

static struct lt_plan_made
plan_of(const struct lt_quote *quote, int64_t made_utc_s, const char *why)
{
	struct lt_plan_made plan = {.made_utc_s = made_utc_s,
	    .start_utc_s = quote->plan_start_utc_s,
	    .expected = quote->plan_expected};

	snprintf(plan.partition, sizeof(plan.partition), "%s", quote->partition);
	snprintf(plan.why, sizeof(plan.why), "%s", why);
	return plan;
}

/* Notes the plan for explain: the first change brings the first plan along. If it can't be written
 * explain lacks it, and nothing else stops. */
static void
note_plan(struct lt_ledger *ledger, const struct lt_standing *s, const struct lt_quote *moved)
{
	const struct lt_plan_made next = plan_of(moved, s->now_utc_s, s->why);
	const struct lt_plan_made first = plan_of(&s->quote, s->job->submit_utc_s, "");
	struct lt_plan_made *known = NULL;
	uint32_t count = 0;
	struct lt_error err = {0};
	int code = lt_ledger_plans(ledger, moved->id, &known, &count, &err);

	free(known);
	if (code == LT_OK && count == 0)
		code = lt_ledger_put_plan(ledger, moved->id, &first, &err);
	if (code == LT_OK)
		code = lt_ledger_put_plan(ledger, moved->id, &next, &err);
	if (code != LT_OK)
		lt_log("plan_lost", "job=%u error=\"%s\"", s->job->job_id, err.text);
}

enum { START_S = 5 }; /* until Slurm has started it */

/* Returns the limit that its deadline leaves it, if some of its work is done; else no limit.
 * Without the minute that it was rounded up by, if Slurm would cancel it for that. */
static int64_t
limit_left(const struct lt_standing *s, const struct lt_market *market, int64_t start_utc_s)
{
	const struct lt_request *const request = &s->made.request;
	const int64_t limit_s = lt_limit_of(request, market, request->home);
	const int64_t from_utc_s = lt_max_i64(start_utc_s, s->now_utc_s) + START_S;

	if (request->deadline_utc_s == LT_UNSET_64 || request->done_s <= request->cut_s)
		return LT_UNSET_64;
	const bool fits = from_utc_s + limit_s <= request->deadline_utc_s;
	const int64_t left_s = fits || limit_s <= LT_MINUTE_S ? limit_s : limit_s - LT_MINUTE_S;
	return left_s < request->limit_s ? left_s : LT_UNSET_64;
}

/* Raises the hold first: if lowtided is killed between the two, too much is held, never too little.
 * If slurmctld refuses, all is as it was. */
static int
carry_out(const struct lt_books *books, const struct lt_standing *s,
    const struct lt_ledger_hold *moved, bool *told, struct lt_error *err)
{
	struct lt_ledger_hold most = *moved, next = *moved;

	lt_quote_most(&most.quote, &moved->quote, &s->hold.quote);
	*told = false;
	books->budget->dirty = true;
	int code = lt_ledger_put_hold(books->ledger, &most, err);
	if (code != LT_OK)
		return code;
	lt_poll_again(books->jobs, s->job->job_id);
	*told =
	    lt_quote_publish_place(s->job, &moved->quote, LT_LEAVE,
		limit_left(s, &books->site->market, moved->quote.plan_start_utc_s), NULL) == LT_OK;
	if (!*told || s->is_part) {
		/* The quote of an array is that of those that wait. */
		next = *told ? most : s->hold;
		memcpy(next.quote.partition, s->hold.quote.partition, sizeof(next.quote.partition));
		next.quote.plan_start_utc_s = s->hold.quote.plan_start_utc_s;
		next.quote.rev = moved->quote.rev;
	}
	if (*told) {
		lt_counters_replan(books->tally, s->why);
		lt_log("replanned", "job=%u why=%s from=%s@%lld to=%s@%lld money_micros=%lld",
		    s->job->job_id, s->why, s->quote.partition,
		    (long long)s->quote.plan_start_utc_s, moved->quote.partition,
		    (long long)moved->quote.plan_start_utc_s,
		    (long long)moved->quote.hold_per_task.money_micros);
	}
	next.quote.rev++;
	return lt_ledger_put_hold(books->ledger, &next, err);
}

static int
by_id(const void *a, const void *b)
{
	const uint32_t x = ((const struct lt_counted *)a)->job_id;
	const uint32_t y = ((const struct lt_counted *)b)->job_id;

	return (x > y) - (x < y);
}

static struct lt_counted *
counted(const struct lt_jobs_state *jobs, uint32_t job_id)
{
	const struct lt_counted wanted = {.job_id = job_id};

	return jobs->counted_count == 0
		   ? NULL
		   : bsearch(&wanted, jobs->counted, jobs->counted_count, sizeof(wanted), by_id);
}

bool
lt_standing_taken_out(struct lt_planned *window, const struct lt_market *market,
    const struct lt_jobs_state *jobs, const struct lt_standing *s)
{
	/* Since it was counted it may have been requeued, or moved. */
	const struct lt_counted *const was = counted(jobs, s->job->job_id);
	const bool is = lt_occupancy_window(window, s->job, market, s->partition, s->now_utc_s);
	/* No more of an array goes out than still waits. */
	const float nodes = is ? window->nodes : INFINITY;

	if (was != NULL) {
		*window = was->window;
		window->nodes = fminf(window->nodes, nodes);
	}
	window->nodes = -window->nodes;
	return is || was != NULL;
}

/* Books its window for others until the next market. */
static void
book(const struct lt_market *market, struct lt_jobs_state *jobs, struct lt_replan_state *replan,
    const struct lt_standing *s, const struct lt_estimate *there)
{
	struct lt_batch_job moved = *s->job;
	struct lt_counted *const was = counted(jobs, s->job->job_id);
	struct lt_planned windows[2] = {0};
	int count = 0;

	if (lt_standing_taken_out(&windows[count], market, jobs, s))
		count++;
	moved.eligible_utc_s = lt_max_i64(there->start_utc_s, s->now_utc_s + 1);
	if (lt_occupancy_window(&windows[count], &moved, market, there->partition, s->now_utc_s)) {
		if (was != NULL)
			was->window = windows[count];
		count++;
	}
	for (int i = 0; i < count; i++)
		if (replan->planned_count < LT_PLANNED_MAX)
			replan->planned[replan->planned_count++] = windows[i];
}

static bool
know(struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger)
{
	if (!lt_standing_ask(s, market))
		return false;
	lt_standing_learn(s, market, ledger);
	return true;
}

bool
lt_standing_find(struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, uint32_t job_id, int64_t now_utc_s)
{
	s->now_utc_s = now_utc_s;
	s->moved = s->told = s->is_part = false;
	return find_standing(s, ledger, jobs, job_id) && know(s, market, ledger);
}

bool
lt_standing_here(struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, int64_t now_utc_s)
{
	s->job = job;
	s->now_utc_s = now_utc_s;
	s->moved = s->told = false;
	if (job->admin_comment == NULL ||
	    lt_quote_unpack(&s->quote, job->admin_comment, strlen(job->admin_comment), NULL) !=
		LT_OK ||
	    job->completing || !is_ours(job, &s->quote) ||
	    lt_ledger_hold(ledger, s->quote.id, &s->hold, NULL) != LT_OK || !is_open(&s->hold, job))
		return false;
	s->is_part = s->hold.quote.tasks > 1 && s->hold.live_tasks != job->array_pending;
	if (!know(s, market, ledger))
		return false;
	/* It had its hour. */
	if (s->made.request.latest_utc_s < now_utc_s)
		s->made.request.latest_utc_s = now_utc_s;
	return true;
}

bool
lt_standing_back(struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, int64_t now_utc_s)
{
	/* One task of an array, or all. */
	return lt_standing_here(s, market, ledger, job, now_utc_s) &&
	       (!s->is_part || (job->array_task != UINT32_MAX && job->array_pending == 1));
}

static struct lt_wish
wish_of(const struct lt_batch_job *job)
{
	const char *const text = job->admin_comment;
	struct lt_quote told;

	if (text == NULL || lt_quote_unpack(&told, text, strlen(text), NULL) != LT_OK ||
	    !told.wish.known)
		return lt_wish_none();
	return told.wish;
}

void
lt_standing_starts_now(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	struct start {
		struct lt_standing standing;
		struct lt_plan plan;
	} *const start = calloc(1, sizeof(*start));
	struct lt_quote *const quote = &hold->quote;

	if (start == NULL) {
		quote->plan_start_utc_s = now_utc_s;
		return;
	}
	struct lt_standing *const s = &start->standing;
	s->job = job;
	s->quote = *quote;
	s->quote.wish = wish_of(job); /* the ledger has none */
	s->now_utc_s = now_utc_s;
	s->why = lt_replan_word(LT_REPLAN_NOW);
	quote->plan_start_utc_s = now_utc_s;
	if (lt_standing_ask(s, market)) {
		const struct lt_replan of = {.request = &s->made.request,
		    .market = market,
		    .partition = s->partition,
		    .start_utc_s = now_utc_s,
		    .now_utc_s = now_utc_s};

		learn_place(s, market, ledger);
		if (lt_replan_standing(&start->plan, &of, NULL) == LT_OK)
			lt_quote_of_plan(quote, &(struct lt_case){.market = market,
						    .plan = &start->plan,
						    .kind = LT_CASE_STANDS,
						    .run = s->run});
	}
	note_plan(ledger, s, quote);
	free(start);
}

void
lt_standing_stays(struct lt_ledger *ledger, struct lt_standing *s, const char *why)
{
	struct lt_plan_made *plans = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_plans(ledger, s->quote.id, &plans, &count, NULL);
	const bool is_told = count > 0 && strcmp(plans[count - 1].why, why) == 0;

	free(plans);
	if (code != LT_OK || is_told)
		return;
	s->why = why;
	note_plan(ledger, s, &s->quote);
	lt_log("stays", "job=%u why=%s partition=%s", s->job->job_id, why, s->quote.partition);
}

int
lt_standing_move(const struct lt_books *books, struct lt_replan_state *replan,
    struct lt_standing *s, const struct lt_plan *plan, const char *why, struct lt_error *err)
{
	struct lt_ledger_hold *const moved = malloc(sizeof(*moved));
	struct lt_estimate there = plan->chosen;
	int code = LT_OK;

	s->why = why;
	if (moved == NULL)
		return lt_fail(err, LT_ENOMEM, "replan: out of memory");
	/* Dearer than it may be: it waits on. */
	if (there.partition >= 0 &&
	    plan->candidates[there.partition].reject == LT_REJECT_MAX_PRICE) {
		free(moved);
		return LT_OK;
	}
	/* Unmoved: from now on it stands in Slurm's line. */
	if (!plan->moved)
		there.start_utc_s = s->now_utc_s;
	if (there.start_utc_s <=
		lt_max_i64(s->made.request.latest_utc_s, s->quote.plan_start_utc_s) &&
	    (there.partition != s->partition || there.start_utc_s != s->quote.plan_start_utc_s) &&
	    price(moved, books, s, plan, &there)) {
		s->moved = true;
		code = carry_out(books, s, moved, &s->told, err);
		if (code == LT_OK && s->told) {
			note_plan(books->ledger, s, &moved->quote);
			book(&books->site->market, books->jobs, replan, s, &there);
			/* The next market may be made before the next list. */
			lt_jobs_moved(&books->jobs->list, s->job->job_id, moved->quote.partition,
			    moved->quote.plan_start_utc_s);
		}
	}
	free(moved);
	return code;
}
