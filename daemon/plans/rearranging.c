/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few of the jobs that lowtide put where they wait go through
 * lt_rearrange(), others each pass.
 */
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "budget_state.h"
#include "counters.h"
#include "ledger.h"
#include "occupancy.h"
#include "rearrange.h"
#include "rearranging.h"
#include "replan.h"
#include "replanning.h"
#include "site.h"
#include "standing.h"

enum {
	SOME = 16,   /* looked at in a pass */
	ROUNDS = 2,  /* of up to LT_REARRANGE_GROUP of them */
	OTHERS = 64, /* rows of the list are passed over, at most, for each */
};

struct some {
	uint32_t count;
	uint32_t left; /* changes that slurmctld may yet be told */
	struct lt_standing jobs[SOME];
	struct lt_booking bookings[SOME];
	struct lt_replanned again;
};

/* The next ones in the list of jobs, from where the pass before stopped. */
static void
gather(struct some *some, const struct lt_market *market,
    struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_replan_state *replan, int64_t now_utc_s)
{
	const struct lt_batch_jobs *const list = &jobs->list;
	uint32_t *const at = &replan->gathered;
	uint32_t looks =
	    list->count < SOME * OTHERS ? list->count : SOME * OTHERS;

	for (; looks > 0 && some->count < SOME; looks--) {
		*at = *at + 1 < list->count ? *at + 1 : 0;
		const struct lt_batch_job *const job = &list->jobs[*at];

		if (job->state == LT_JOB_PENDING && !job->held &&
		    job->eligible_utc_s > now_utc_s &&
		    lt_standing_find(&some->jobs[some->count], market, ledger,
			jobs, job->job_id, now_utc_s))
			some->count++;
	}
}

/* Windows of others for `planned`, and the bookings themselves. */
static uint32_t
book_all(struct some *some, struct lt_planned *planned,
    const struct lt_market *market, const struct lt_jobs_state *jobs,
    int64_t now_utc_s)
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
		count +=
		    lt_standing_taken_out(&planned[count], market, jobs, s);
	}
	return count;
}

/* Each that was given another start is told, beside all others' new ones. */
static int
tell(struct some *some, const struct lt_books *books,
    struct lt_replan_state *replan, const struct lt_rearrange *of,
    struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; i < some->count && code == LT_OK && some->left > 0;
	     i++) {
		struct lt_standing *const s = &some->jobs[i];
		struct lt_planned *const own =
		    &of->planned[of->planned_count + i];
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
			code = lt_standing_move(books, replan, s,
			    &some->again.plan,
			    lt_replan_word(some->count > 1 ? LT_REPLAN_TOGETHER
							   : some->again.why),
			    err);
		*own = given;
		some->left -= s->moved;
	}
	return code;
}

static int
rearrange(struct some *some, const struct lt_books *books,
    struct lt_replan_state *replan, int64_t now_utc_s, struct lt_error *err)
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
	memcpy(
	    planned, replan->planned, replan->planned_count * sizeof(*planned));
	of.planned_count = replan->planned_count +
			   book_all(some, planned + replan->planned_count,
			       &books->site->market, books->jobs, now_utc_s);
	code = lt_rearrange(&of, err);
	if (code == LT_OK)
		code = tell(some, books, replan, &of, err);
	free(planned);
	return code;
}

int
lt_rearrange_some(const struct lt_books *books, struct lt_replan_state *replan,
    uint32_t changes_left, int64_t now_utc_s, struct lt_error *err)
{
	struct some *some;
	int code = LT_OK;

	if (changes_left < LT_REARRANGE_GROUP ||
	    replan->planned_count + 2 * SOME > LT_PLANNED_MAX)
		return LT_OK;
	some = calloc(1, sizeof(*some));
	if (some == NULL)
		return lt_fail(err, LT_ENOMEM, "rearrange: out of memory");
	some->left = changes_left;
	gather(some, &books->site->market, books->ledger, books->jobs, replan,
	    now_utc_s);
	if (some->count > 0)
		code = rearrange(some, books, replan, now_utc_s, err);
	free(some);
	return code;
}
