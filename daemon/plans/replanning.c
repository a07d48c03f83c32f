/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which jobs are decided again, and when; and takes groups of waiting jobs out together, to
 * put them back in another order. The decision itself is lt_replan()'s or lt_rearrange()'s, and its
 * way to the job is in standing.c.
 *
 * Reads the market and the list of jobs; writes holds, and jobs by updates, at most 20 a second.
 * What fails is tried again by a later pass.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "books.h"
#include "breath.h"
#include "budget_state.h"
#include "counters.h"
#include "grow.h"
#include "http.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "occupancy.h"
#include "rearrange.h"
#include "replan.h"
#include "replanning.h"
#include "site.h"
#include "standing.h"
#include "units.h"

enum {
	SOME = 16,   /* looked at in a pass */
	ROUNDS = 2,  /* of up to LT_REARRANGE_GROUP of them */
	OTHERS = 64, /* rows of the list are passed over, at most, for each */
};

struct some {
	uint32_t count;
	uint32_t left; /* changes that are still allowed */
	struct lt_standing jobs[SOME];
	struct lt_booking bookings[SOME];
	struct lt_replanned again;
};

/* The next ones in the list of jobs, from where the pass before stopped. */
static void
gather(struct some *some, const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, struct lt_replan_state *replan, int64_t now_utc_s)
{
	const struct lt_batch_jobs *const list = &jobs->list;
	uint32_t *const at = &replan->gathered;
	uint32_t looks = list->count < SOME * OTHERS ? list->count : SOME * OTHERS;

	for (; looks > 0 && some->count < SOME; looks--) {
		*at = *at + 1 < list->count ? *at + 1 : 0;
		const struct lt_batch_job *const job = &list->jobs[*at];

		if (job->state == LT_JOB_PENDING && !job->held && job->eligible_utc_s > now_utc_s &&
		    lt_standing_find(
			&some->jobs[some->count], market, ledger, jobs, job->job_id, now_utc_s))
			some->count++;
	}
}

/* Windows of others for `planned`, and the bookings themselves. */
static uint32_t
book_all(struct some *some, struct lt_planned *planned, const struct lt_market *market,
    const struct lt_jobs_state *jobs, int64_t now_utc_s)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < some->count; i++) {
		const struct lt_standing *const s = &some->jobs[i];
		struct lt_booking *const booking = &some->bookings[i];

		*booking = (struct lt_booking){.request = &s->made.request,
		    .partition = s->partition,
		    .start_utc_s = s->quote.plan_start_utc_s};
		(void)lt_occupancy_window(
		    &booking->window, s->job, market, s->partition, now_utc_s);
		count += lt_standing_taken_out(&planned[count], market, jobs, s);
	}
	return count;
}

/* Moves each job that was given another start, beside all others' new ones. */
static int
move_job_of_group(struct some *some, const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_rearrange *of, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; i < some->count && code == LT_OK && some->left > 0; i++) {
		struct lt_standing *const s = &some->jobs[i];
		struct lt_planned *const own = &of->planned[of->planned_count + i];
		const struct lt_replan again = {.request = &s->made.request,
		    .market = &books->site->market,
		    .planned = of->planned,
		    .planned_count = of->planned_count + some->count,
		    .partition = s->partition,
		    .start_utc_s = s->quote.plan_start_utc_s,
		    .now_utc_s = of->now_utc_s};
		const struct lt_planned given = *own;

		if (!some->bookings[i].changed)
			continue;
		*own = (struct lt_planned){0};
		if (lt_replan(&some->again, &again, NULL) == LT_OK &&
		    (some->count > 1 || some->again.why != LT_REPLAN_KEEP))
			code = lt_standing_move(books, replan, s, &some->again.plan,
			    lt_replan_word(some->count > 1 ? LT_REPLAN_TOGETHER : some->again.why),
			    err);
		*own = given;
		some->left -= s->moved;
	}
	return code;
}

static int
rearrange(struct some *some, const struct lt_books *books, struct lt_replan_state *replan,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_planned *const planned =
	    calloc(replan->planned_count + 2 * SOME, sizeof(*planned));
	struct lt_rearrange of = {.market = &books->site->market,
	    .planned = planned,
	    .bookings = some->bookings,
	    .booking_count = some->count,
	    .rounds = ROUNDS,
	    .seed = (uint64_t)now_utc_s,
	    .now_utc_s = now_utc_s};
	int code;

	if (planned == NULL)
		return lt_fail(err, LT_ENOMEM, "rearrange: out of memory");
	memcpy(planned, replan->planned, replan->planned_count * sizeof(*planned));
	of.planned_count =
	    replan->planned_count + book_all(some, planned + replan->planned_count,
					&books->site->market, books->jobs, now_utc_s);
	code = lt_rearrange(&of, err);
	if (code == LT_OK)
		code = move_job_of_group(some, books, replan, &of, err);
	free(planned);
	return code;
}

/* Starts nothing where fewer changes are left to a pass than a group may
 * make. */
static int
rearrange_some(const struct lt_books *books, struct lt_replan_state *replan, uint32_t changes_left,
    int64_t now_utc_s, struct lt_error *err)
{
	struct some *some;
	int code = LT_OK;

	if (changes_left < LT_REARRANGE_GROUP || replan->planned_count + 2 * SOME > LT_PLANNED_MAX)
		return LT_OK;
	some = calloc(1, sizeof(*some));
	if (some == NULL)
		return lt_fail(err, LT_ENOMEM, "rearrange: out of memory");
	some->left = changes_left;
	gather(some, &books->site->market, books->ledger, books->jobs, replan, now_utc_s);
	if (some->count > 0)
		code = rearrange(some, books, replan, now_utc_s, err);
	free(some);
	return code;
}

enum {
	LAST_LOOK_S = 300, /* before a start */
	BURST_S = 10,	   /* of changes at once, after a long pass */
	DECIDED_A_PASS = 2000,
	TOLD_MS = 500, /* of a pass, where slurmctld is slow */
	SEEN_HOURS = 24,
};

/* Part of a day's mean: less is the noise of forecasts. */
static const double changed_enough = 0.05;

/* Returns the second of the hour at which this job is looked at. */
static int64_t
phase_of(uint32_t job_id)
{
	/* Knuth's: ids in a row are spread over the hour. */
	return job_id * UINT32_C(2654435761) % LT_HOUR_S;
}

static bool
is_due(const struct lt_batch_job *job, int64_t from_utc_s, int64_t to_utc_s)
{
	const int64_t phase = phase_of(job->job_id);
	const int64_t last_utc_s = job->eligible_utc_s - LAST_LOOK_S;

	return job->state == LT_JOB_PENDING && !job->held && job->eligible_utc_s > to_utc_s &&
	       ((from_utc_s - phase) / LT_HOUR_S != (to_utc_s - phase) / LT_HOUR_S ||
		   (from_utc_s < last_utc_s && last_utc_s <= to_utc_s));
}

int64_t
lt_replan_next(const struct lt_batch_job *job, int64_t now_utc_s)
{
	const int64_t phase = phase_of(job->job_id);
	const int64_t hours = (now_utc_s - phase) / LT_HOUR_S + 1;
	const int64_t last_utc_s = job->eligible_utc_s - LAST_LOOK_S;
	int64_t next_utc_s = hours * LT_HOUR_S + phase;

	if (last_utc_s > now_utc_s && last_utc_s < next_utc_s)
		next_utc_s = last_utc_s;
	return next_utc_s < job->eligible_utc_s ? next_utc_s : 0;
}

static int
by_start(const void *a, const void *b)
{
	const struct lt_replan_due *const x = a, *const y = b;

	if (x->start_utc_s != y->start_utc_s)
		return x->start_utc_s < y->start_utc_s ? -1 : 1;
	return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

static bool
is_queued(const struct lt_replan_state *state, uint32_t job_id)
{
	for (uint32_t i = 0; i < state->count; i++)
		if (state->queue[i].job_id == job_id)
			return true;
	return false;
}

static int
queue_due(struct lt_replan_state *state, const struct lt_batch_jobs *list, int64_t now_utc_s,
    struct lt_error *err)
{
	const uint32_t before = state->count;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];

		if (!is_due(job, state->looked_utc_s, now_utc_s) ||
		    (before > 0 && is_queued(state, job->job_id)))
			continue;
		struct lt_replan_due *const grown =
		    lt_items_grow(state->queue, &state->capacity, state->count, sizeof(*grown));
		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "replan: out of memory");
		state->queue = grown;
		state->queue[state->count++] = (struct lt_replan_due){
		    .start_utc_s = job->eligible_utc_s, .job_id = job->job_id};
	}
	if (state->count > 1)
		qsort(state->queue, state->count, sizeof(*state->queue), by_start);
	return LT_OK;
}

/* Decides with the job's own window taken out. */
static int
decide(struct lt_replanned *out, const struct lt_market *market, struct lt_jobs_state *jobs,
    struct lt_replan_state *replan, struct lt_standing *s, struct lt_error *err)
{
	struct lt_replan of = {.request = &s->made.request,
	    .market = market,
	    .planned = replan->planned,
	    .planned_count = replan->planned_count,
	    .partition = s->partition,
	    .start_utc_s = s->quote.plan_start_utc_s,
	    .now_utc_s = s->now_utc_s};

	/* Its own window would be taken for another's: it stays where it is. */
	if (replan->planned_count == LT_PLANNED_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "more than %d windows that no market has", LT_PLANNED_MAX - 1);
	of.planned_count +=
	    lt_standing_taken_out(&replan->planned[of.planned_count], market, jobs, s);
	of.planned_count += lt_request_full(&replan->planned[of.planned_count],
	    LT_PLANNED_MAX - of.planned_count, &s->made, market, s->now_utc_s);
	return lt_replan(out, &of, err);
}

struct again { /* a job that is decided again */
	struct lt_standing standing;
	struct lt_replanned plan;
};

/* True if there is a better plan for it. */
static bool
has_better(struct again *again, const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, struct lt_replan_state *replan, uint32_t job_id, int64_t now_utc_s)
{
	lt_breath(LT_TURN_READ);
	return lt_standing_find(&again->standing, market, ledger, jobs, job_id, now_utc_s) &&
	       decide(&again->plan, market, jobs, replan, &again->standing, NULL) == LT_OK &&
	       again->plan.why != LT_REPLAN_KEEP &&
	       !lt_request_has_no_place(&again->standing.made, &again->plan.plan);
}

/* Has a signal of the next day changed by enough, since all jobs were looked at, that each of them
 * should be looked at again? */
static bool
is_another_day(const float *seen, const float *now)
{
	double off = 0, size = 0;

	for (int h = 0; h < SEEN_HOURS; h++) {
		off += fabs((double)(now[h] - seen[h]));
		size += fabs((double)seen[h]);
	}
	return off > changed_enough * size;
}

/* True if the signals changed. The room changes with each job, and is looked at each hour. */
static bool
see_market(struct lt_replan_state *state, const struct lt_market *market)
{
	const int64_t from_utc_s = market->compiled_utc_s;
	const uint32_t count = market->series_count;
	float *const now = calloc((size_t)count * SEEN_HOURS + 1, sizeof(*now));
	bool changed = state->seen == NULL || state->seen_count != count;

	if (now == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		for (int h = 0; h < SEEN_HOURS; h++)
			now[i * SEEN_HOURS + (uint32_t)h] = (float)lt_series_at(
			    &market->series[i], from_utc_s + h * (int64_t)LT_HOUR_S);
	for (uint32_t p = 0; p < market->partition_count && !changed; p++) {
		const struct lt_partition *const part = &market->partitions[p];
		const int used[] = {part->price_series, part->tariff_series, part->carbon_series};

		for (int k = 0; k < 3; k++)
			changed |=
			    used[k] >= 0 && is_another_day(&state->seen[used[k] * SEEN_HOURS],
						&now[used[k] * SEEN_HOURS]);
	}
	if (changed) {
		free(state->seen);
		state->seen = now;
		state->seen_count = count;
	} else {
		free(now);
	}
	return changed;
}

/* A new market has all changes that were made before it. */
bool
lt_replan_begin_market(
    const struct lt_market *market, struct lt_jobs_state *jobs, struct lt_replan_state *replan)
{
	if (replan->planned == NULL)
		replan->planned = calloc(LT_PLANNED_MAX, sizeof(*replan->planned));
	if (replan->generation != market->generation) {
		replan->planned_count = 0;
		replan->young_id = jobs->market_id;
		if (see_market(replan, market))
			replan->looked_utc_s = 0;
	}
	replan->generation = market->generation;
	return replan->planned != NULL;
}

/* Counts jobs that no market has yet: without them others would be put where they are. A job that
 * may use several partitions was counted in none. */
static void
count_young(const struct lt_market *market, const struct lt_batch_jobs *list,
    struct lt_replan_state *replan, int64_t now_utc_s)
{
	uint32_t newest_id = replan->young_id;

	for (uint32_t i = lt_jobs_after(list, replan->young_id); i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];
		/* A task's record is younger than its array. */
		const int partition = lt_first_id(job) > replan->young_id
					  ? lt_market_partition(market, job->partition)
					  : -1;

		if (partition < 0 || replan->planned_count == LT_PLANNED_MAX)
			continue;
		replan->planned_count += lt_occupancy_window(
		    &replan->planned[replan->planned_count], job, market, partition, now_utc_s);
		newest_id = job->job_id; /* the list is sorted */
	}
	replan->young_id = newest_id;
}

/* Moves a job with a better plan. No more of them in this pass when slurmctld has kept us waiting
 * so long. */
static int
move_better(struct again *again, const struct lt_books *books, struct lt_replan_state *replan,
    int64_t *left, int64_t *told_ms, struct lt_error *err)
{
	const int64_t began_ms = lt_monotonic_ms();
	const int code = lt_standing_move(books, replan, &again->standing, &again->plan.plan,
	    lt_replan_word(again->plan.why), err);

	*left -= again->standing.moved;
	*told_ms += lt_monotonic_ms() - began_ms;
	if (*told_ms >= TOLD_MS)
		*left = 0;
	return code;
}

/* Decides the nearest starts first. Jobs beyond the pass's changes are decided all the same, once:
 * a job that stays need not wait for the others. */
static int
take_queue(const struct lt_books *books, struct lt_replan_state *replan, int64_t *left,
    int64_t now_utc_s, struct lt_error *err)
{
	struct again *const again = malloc(sizeof(*again));
	uint32_t decided = 0, kept = 0, unseen = 0;
	int64_t told_ms = 0;
	int code = LT_OK;

	if (again == NULL)
		return lt_fail(err, LT_ENOMEM, "replan: out of memory");
	for (uint32_t i = 0; i < replan->count; i++) {
		struct lt_replan_due due = replan->queue[i];
		const bool may = code == LT_OK && *left > 0 && lt_batch_may_update();

		if (decided < DECIDED_A_PASS && (may || !due.changes)) {
			decided++;
			due.changes = has_better(again, &books->site->market, books->ledger,
			    books->jobs, replan, due.job_id, now_utc_s);
			if (!due.changes)
				continue;
			if (may) {
				code = move_better(again, books, replan, left, &told_ms, err);
				continue;
			}
		}
		unseen += !due.changes;
		replan->queue[kept++] = due;
	}
	replan->count = kept;
	if (replan->again > 0 && unseen == 0) {
		lt_log("decided_again", "jobs=%u untold=%u", replan->again, kept);
		replan->again = 0;
	}
	free(again);
	return code;
}

int
lt_replan_run(const struct lt_books *books, struct lt_replan_state *replan, int64_t now_utc_s,
    struct lt_error *err)
{
	const int64_t since_s = now_utc_s - replan->passed_utc_s;
	int64_t left = LT_REPLANS_A_SECOND * (since_s < BURST_S ? since_s : BURST_S);
	int code = LT_OK;

	/* The first market after a start is made before any list. */
	if (!lt_site_may(books->site, LT_MAY_EDIT) || !books->site->has_market ||
	    books->site->market.jobs_utc_s == 0)
		return LT_OK;
	if (!lt_replan_begin_market(&books->site->market, books->jobs, replan))
		return lt_fail(err, LT_ENOMEM, "replan: out of memory");
	count_young(&books->site->market, &books->jobs->list, replan, now_utc_s);
	/* All are due anew, those that are left over too. */
	const bool all = replan->looked_utc_s == 0;
	if (all) {
		replan->looked_utc_s = now_utc_s - LT_HOUR_S;
		replan->count = 0;
	}
	if (now_utc_s > replan->looked_utc_s) /* else the clock was set back */
		code = queue_due(replan, &books->jobs->list, now_utc_s, err);
	replan->looked_utc_s = replan->passed_utc_s = now_utc_s;
	if (code != LT_OK)
		return code;
	if (all)
		replan->again = replan->count;
	code = take_queue(books, replan, &left, now_utc_s, err);
	if (code == LT_OK && left > 0 && replan->count == 0)
		code = rearrange_some(books, replan, (uint32_t)left, now_utc_s, err);
	return code;
}

bool
lt_replan_waits(const struct lt_replan_state *replan)
{
	return replan->count > 0;
}

void
lt_replan_free(struct lt_replan_state *state)
{
	free(state->queue);
	free(state->planned);
	free(state->seen);
	*state = (struct lt_replan_state){0};
}
