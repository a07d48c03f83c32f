/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides again the jobs that lost their preemptible nodes, or waited too long for some. The
 * decision is lt_replan()'s, and the way to the job is standing.c's: the hold first, then the
 * update. What fails is tried again by a later pass.
 */
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "batch.h"
#include "books.h"
#include "breath.h"
#include "budget_state.h"
#include "fits.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "replan.h"
#include "replanning.h"
#include "requeue_gate.h"
#include "site.h"
#include "standing.h"

enum { FIRST_LOOK_S = 120 }; /* back, after a start */
_Static_assert(2 * LT_WAITING_EVERY_S <= LT_LEAVE_LOOK_S, "who must leave is seen in time");

struct work {
	struct lt_standing standing;
	struct lt_replanned plan;
};

static int
decide(struct work *w, const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_standing *const s = &w->standing;

	if (!lt_replan_begin_market(&books->site->market, books->jobs, replan) ||
	    !lt_standing_back(s, &books->site->market, books->ledger, job, now_utc_s))
		return LT_OK;
	const uint32_t full = lt_request_full(&replan->planned[replan->planned_count],
	    LT_PLANNED_MAX - replan->planned_count, &s->made, &books->site->market, now_utc_s);
	const struct lt_replan of = {.request = &s->made.request,
	    .market = &books->site->market,
	    .planned = replan->planned,
	    .planned_count = replan->planned_count + full,
	    .partition = s->partition,
	    .start_utc_s = job->eligible_utc_s < now_utc_s ? job->eligible_utc_s : now_utc_s,
	    .now_utc_s = now_utc_s};
	int code = lt_replan(&w->plan, &of, err);
	if (code != LT_OK || w->plan.why == LT_REPLAN_KEEP ||
	    lt_request_has_no_place(&s->made, &w->plan.plan))
		return code;
	code = lt_standing_move(books, replan, s, &w->plan.plan, lt_replan_word(w->plan.why), err);
	if (code == LT_OK && !s->moved && w->plan.why >= LT_REPLAN_INTERRUPTED)
		lt_standing_stays(books->ledger, s, lt_replan_word(LT_REPLAN_OVER_BUDGET));
	return code;
}

int
lt_again(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, int64_t now_utc_s, bool *moved, struct lt_error *err)
{
	struct work *const w = calloc(1, sizeof(*w));

	*moved = false;
	if (w == NULL)
		return lt_fail(err, LT_ENOMEM, "again: out of memory");
	const int code = decide(w, books, replan, job, now_utc_s, err);
	*moved = w->standing.moved;
	free(w);
	return code;
}

static int
tell_begin(const struct lt_batch_job *job, const struct lt_quote *quote, int64_t now_utc_s,
    struct lt_error *err)
{
	char task[LT_JOB_ADDRESS_SIZE];

	return job->array_task != UINT32_MAX
		   ? lt_quote_publish_task(job, lt_job_address(task, job), quote, now_utc_s, err)
		   : lt_quote_publish(job, quote, LT_LEAVE, now_utc_s, err);
}

/* With our own quote, or job_submit would judge it as anybody's change. */
int
lt_again_now(const struct lt_site *site, struct lt_ledger *ledger, struct lt_budget_state *budget,
    const struct lt_batch_job *job, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_ledger_hold hold;

	if (!lt_hold_of_job(ledger, job, &hold) || hold.uid != job->uid ||
	    hold.state != LT_HOLD_OPEN)
		return LT_OK; /* not ours to start */
	struct lt_ledger_hold moved = hold;
	if (moved.quote.start_utc_s > now_utc_s)
		moved.quote.start_utc_s = now_utc_s;
	moved.quote.rev++;
	if (lt_site_may(site, LT_MAY_REFUSE) &&
	    lt_sheet_budgeted(
		&budget->snapshot, lt_sheet_account(&budget->snapshot, hold.quote.account)) &&
	    !lt_fits_instead(budget, &hold, &moved, now_utc_s))
		return LT_OK;
	budget->dirty = true;
	const int code = lt_ledger_put_hold(ledger, &moved, err);
	return code == LT_OK ? tell_begin(job, &moved.quote, now_utc_s, err) : code;
}

/* True if it lost its nodes, and nobody started it again. */
static bool
is_back(const struct lt_batch_job *job, int64_t from_utc_s, int64_t to_utc_s)
{
	const int64_t at_utc_s = lt_replan_back_utc_s(job->submit_utc_s, job->eligible_utc_s);

	return job->requeued && !job->completing && job->eligible_utc_s > to_utc_s &&
	       from_utc_s < at_utc_s && at_utc_s <= to_utc_s;
}

/* Its begin time is what a requeue gives it: no user's, and no plan's. */
static bool
is_slurms_wait(const struct lt_batch_job *job)
{
	struct lt_quote quote;

	return job->het_job_id == 0 &&
	       job->eligible_utc_s - job->submit_utc_s <= LT_REQUEUE_WAIT_S + 1 &&
	       (lt_quote_unpack(&quote, job->admin_comment, strlen(job->admin_comment), NULL) !=
		       LT_OK ||
		   quote.plan_start_utc_s != job->eligible_utc_s);
}

static int
decide_again(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, int64_t now_utc_s, struct lt_error *err)
{
	bool moved;
	const int code = lt_again(books, replan, job, now_utc_s, &moved, err);

	return code == LT_OK && !moved && job->eligible_utc_s > now_utc_s && is_slurms_wait(job) &&
		       !lt_gate_holds_back(books->ledger, books->jobs, job)
		   ? lt_again_now(books->site, books->ledger, books->budget, job, now_utc_s, err)
		   : code;
}

/* True if it waits for nodes and is due: each half minute, not all at once. */
static bool
is_waiting(const struct lt_batch_job *job, int64_t from_utc_s, int64_t to_utc_s)
{
	const int64_t phase = job->job_id % LT_WAITING_EVERY_S;

	return job->eligible_utc_s <= to_utc_s &&
	       (from_utc_s - phase) / LT_WAITING_EVERY_S != (to_utc_s - phase) / LT_WAITING_EVERY_S;
}

static bool
is_preemptible(const struct lt_market *market, const char *name)
{
	const int partition = lt_market_partition(market, name);

	return partition >= 0 && market->partitions[partition].flags & LT_PARTITION_PREEMPTIBLE;
}

int
lt_again_run(const struct lt_books *books, struct lt_replan_state *replan,
    struct lt_again_state *again, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &books->jobs->list;
	const int64_t from_utc_s =
	    again->looked_utc_s > 0 ? again->looked_utc_s : now_utc_s - FIRST_LOOK_S;
	int code = LT_OK;

	if (!lt_site_may(books->site, LT_MAY_EDIT) || !books->site->has_market ||
	    now_utc_s <= again->looked_utc_s)
		return LT_OK;
	again->looked_utc_s = now_utc_s;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];
		struct lt_error failed = {0};

		if (job->state != LT_JOB_PENDING || job->held || job->admin_comment == NULL ||
		    lt_jobs_requeued(books->jobs, job->job_id) ||
		    !(is_back(job, from_utc_s, now_utc_s) ||
			is_waiting(job, from_utc_s, now_utc_s)) ||
		    !is_preemptible(&books->site->market, job->partition))
			continue;
		lt_breath(LT_TURN_READ);
		/* One that fails keeps nobody. */
		if (decide_again(books, replan, job, now_utc_s, &failed) != LT_OK) {
			*err = failed;
			code = failed.code;
		}
	}
	return code;
}
