/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that started on more than was held for it: what was missing, and what
 * the site wants of it. The hold itself was raised by then (change.c).
 */
#include <string.h>

#include "books.h"
#include "facts.h"
#include "job_quote.h"
#include "log.h"
#include "over_reason.h"
#include "poll_schedule.h"
#include "site.h"
#include "size.h"
#include "underheld.h"

enum { REQUEUE_WITHIN_S = 60 };

/* Nodes x share of what it was allocated. */
static double
node_shares(const struct lt_market *market, const struct lt_batch_job *job)
{
	const struct lt_resources got = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .exact = job->exact,
	    .exclusive = job->exclusive};
	const int index = lt_market_partition(market, job->partition);

	if (index < 0)
		return 0;
	const struct lt_partition *const p = &market->partitions[index];
	const struct lt_fraction share = lt_charge_share(
	    &got, market->shapes + p->first_shape, p->shape_count);
	return job->nodes * (double)share.numerator / (double)share.denominator;
}

/* The word of why `is` passes what was admitted; "": it does not. */
static const char *
why_above(const struct lt_market *market, const struct lt_batch_job *job,
    const struct lt_admission *a, const struct lt_amount *is)
{
	const int index = lt_market_partition(market, job->partition);
	struct lt_over over = {.held_limit_s = a->limit_s,
	    .node_shares = node_shares(market, job),
	    .limit_s = job->limit_s,
	    .active_s = job->limit_s};

	if (index >= 0)
		over.over_time_limit_s =
		    lt_overrun_s(&market->partitions[index]);
	if (job->limit_s < INT32_MAX)
		over.active_s += over.over_time_limit_s;
	const struct {
		bool has;
		int64_t is, was;
		double rate;
	} sides[] = {
	    {is->has_money && a->admitted.has_money, is->money_micros,
		a->admitted.money_micros, a->price},
	    {is->has_carbon && a->admitted.has_carbon, is->carbon_mg,
		a->admitted.carbon_mg, a->carbon},
	};
	const char *why = "";
	for (size_t i = 0; i < 2 && why[0] == '\0'; i++) {
		if (!sides[i].has || sides[i].is <= sides[i].was)
			continue;
		over.charged = (double)sides[i].is;
		over.held = (double)sides[i].was;
		over.held_rate = sides[i].rate;
		why = lt_over_reason(&over);
	}
	return why;
}

void
lt_underheld_log(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold,
    const struct lt_amount *was)
{
	struct lt_admission a = lt_facts_admission(market, ledger, hold, job);

	a.admitted = *was;
	const char *const why =
	    why_above(market, job, &a, &hold->quote.hold_per_task);
	if (why[0] != '\0')
		lt_log("underheld", "job=%u why=%s", job->job_id, why);
}

/* May it go back to the queue for this? Once: a hold of several tasks can't
 * tell of which it was, Slurm counts the restarts of each. */
static bool
is_wanted(const struct lt_policy *policy, const struct lt_batch_job *job,
    const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	const bool was_requeued = hold->quote.tasks == 1
				      ? hold->quote.flags & LT_QUOTE_UNDERHELD
				      : job->requeued;

	return policy->on_underheld == LT_UNDERHELD_REQUEUE &&
	       job->state == LT_JOB_RUNNING && !job->completing &&
	       job->is_allocated && job->is_batch && !job->is_cron &&
	       job->requeue_allowed && hold->state == LT_HOLD_OPEN &&
	       now_utc_s - job->start_utc_s <= REQUEUE_WITHIN_S &&
	       !was_requeued;
}

int
lt_underheld_follow(const struct lt_books *books,
    const struct lt_batch_job *job, struct lt_ledger_hold *hold,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_admission a;
	struct lt_error refused = {0};

	if (!lt_site_may(books->site, LT_MAY_HOLD) ||
	    !is_wanted(books->site->policy, job, hold, now_utc_s))
		return LT_OK;
	/* What was admitted is known from the pass after the raise. */
	lt_poll_again(books->jobs, job->job_id);
	if (lt_ledger_admission(books->ledger, hold->quote.id, &a, NULL) !=
		LT_OK ||
	    strcmp(why_above(&books->site->market, job, &a,
		       &hold->quote.hold_per_task),
		"size") != 0)
		return LT_OK;
	if (lt_batch_requeue_held(job, &refused) != LT_OK) {
		lt_log("requeue_failed", "job=%u error=\"%s\"", job->job_id,
		    refused.text);
		return LT_OK;
	}
	hold->quote.flags |= LT_QUOTE_UNDERHELD;
	hold->quote.rev++;
	books->budget->dirty = true;
	lt_log("requeued_underheld", "job=%u account=%s", job->job_id,
	    hold->quote.account);
	const int code = lt_ledger_put_hold(books->ledger, hold, err);
	if (code == LT_OK)
		(void)lt_quote_publish(job, &hold->quote, LT_LEAVE, 0, NULL);
	return code;
}
