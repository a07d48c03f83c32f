/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes holds of waiting jobs follow the prices of the hours that they may start in: a dependency,
 * a full partition or a user's own hold may end in any of them.
 *
 * Once for each market. Reads the market; writes the ledger. A hold that cannot be priced stays as
 * it is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "budget_state.h"
#include "change.h"
#include "facts.h"
#include "fits.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "reprice.h"
#include "request.h"
#include "site.h"

enum { AT_ONCE = 500 }; /* holds in a transaction */

struct rates { /* of the hours that a job may run in */
	struct lt_admission worst;
	double sum[2]; /* price and carbon of all its partitions */
	bool is_scale; /* a hold goes with them: one partition, its limit known
			*/
};

static int64_t
earliest(const struct lt_batch_job *job, int64_t now_utc_s)
{
	return job->eligible_utc_s > now_utc_s ? job->eligible_utc_s : now_utc_s;
}

static struct rates
rates_of(const struct lt_batch_job *job, const struct lt_market *market, int64_t now_utc_s)
{
	const int64_t from = earliest(job, now_utc_s);
	const bool is_limited = job->limit_s < INT32_MAX;
	struct lt_span window = {from, INT64_MAX};
	struct rates rates = {.is_scale = is_limited};
	uint32_t count = 0;

	for (const char *name = job->partition; *name; count++) {
		char one[LT_NAME_SIZE] = "";
		const size_t length = strcspn(name, ",");
		struct lt_admission a = {0};

		if (length < sizeof(one))
			memcpy(one, name, length);
		name += length + (name[length] == ',');
		const int index = lt_market_partition(market, one);
		if (index < 0)
			continue;
		const struct lt_partition *const p = &market->partitions[index];
		if (is_limited)
			window.to_utc_s =
			    from + LT_REPRICE_AHEAD_S + job->limit_s + lt_overrun_s(p);
		lt_facts_add_rates(&a, window, p, market);
		lt_facts_add_rates(&rates.worst, window, p, market);
		rates.sum[0] += a.price;
		rates.sum[1] += a.carbon;
	}
	rates.is_scale &= count == 1;
	return rates;
}

/* Beyond a hundredth: what is written of 100,000 jobs for less would be no more than what prices
 * differ by from one reading to the next. */
static bool
differs(double is, double was)
{
	return fabs(is - was) > fabs(was) / 100;
}

struct part { /* of an amount: one currency */
	bool *has;
	int64_t *held;
	double is, was; /* rates */
};

/* Raises the hold to at least its present price, `fresh`; a hold that has more, for a cause that
 * Slurm's record does not show, goes with the rates. fresh:
 * NULL = not known. */
static bool
follow_part(const struct part *part, const int64_t *fresh, bool is_scale, bool may_fall)
{
	if (fresh == NULL)
		return false;
	const double scaled =
	    is_scale && part->was > 0 ? ceil((double)*part->held * (part->is / part->was)) : 0;
	int64_t next = *fresh;
	if (*part->has && scaled > (double)next && scaled < 9e18)
		next = (int64_t)scaled;
	if (*part->has && (!differs((double)next, (double)*part->held) ||
			      (next < *part->held && !(may_fall && is_scale))))
		return false;
	*part->has = true;
	*part->held = next;
	return true;
}

/* Prices the job for the hours of rates_of(): it starts as soon as it may, or LT_REPRICE_AHEAD_S
 * later. False: it can't be priced. */
static bool
price(struct lt_amount *fresh, const struct lt_batch_job *job, const struct lt_site *site,
    struct lt_ledger *ledger, int64_t now_utc_s)
{
	struct lt_quote now, later;

	if (!lt_quote_of_job(&now, job, site, ledger, now_utc_s) ||
	    !lt_quote_of_job(
		&later, job, site, ledger, earliest(job, now_utc_s) + LT_REPRICE_AHEAD_S))
		return false;
	const struct lt_amount *const a = &now.hold_per_task;
	const struct lt_amount *const b = &later.hold_per_task;
	*fresh = *a;
	if (b->money_micros > a->money_micros)
		fresh->money_micros = b->money_micros;
	if (b->carbon_mg > a->carbon_mg)
		fresh->carbon_mg = b->carbon_mg;
	return true;
}

struct sweep { /* over all jobs */
	const struct lt_site *site;
	struct lt_ledger *ledger;
	struct lt_jobs_state *jobs;
	struct lt_budget_state *budget;
	int64_t now_utc_s;
	uint32_t at, moved, beyond;
};

/* False: it is as it should be. */
static bool
follow_rates(struct lt_ledger_hold *hold, const struct lt_batch_job *job, const struct rates *rates,
    const struct lt_admission *was, const struct sweep *sweep)
{
	struct lt_amount *const held = &hold->quote.hold_per_task;
	/* Tasks of an array share one amount: only up, for all. */
	const bool may_fall = hold->quote.tasks == 1 || job->array_pending == hold->live_tasks;
	struct lt_amount fresh;

	if (!price(&fresh, job, sweep->site, sweep->ledger, sweep->now_utc_s))
		return false;
	const struct part money = {
	    &held->has_money, &held->money_micros, rates->worst.price, was->price};
	const struct part carbon = {
	    &held->has_carbon, &held->carbon_mg, rates->worst.carbon, was->carbon};
	const bool moved = follow_part(
	    &money, fresh.has_money ? &fresh.money_micros : NULL, rates->is_scale, may_fall);
	return follow_part(&carbon, fresh.has_carbon ? &fresh.carbon_mg : NULL, rates->is_scale,
		   may_fall) ||
	       moved;
}

static int
reprice_job(
    struct sweep *sweep, struct lt_batch_job *job, const struct rates *rates, struct lt_error *err)
{
	struct lt_ledger_hold hold;

	if (!lt_hold_of_job(sweep->ledger, job, &hold) || hold.state != LT_HOLD_OPEN)
		return LT_OK;
	const struct lt_amount was = hold.quote.hold_per_task;
	struct lt_admission admission =
	    lt_facts_admission(&sweep->site->market, sweep->ledger, &hold, job);
	if (!follow_rates(&hold, job, rates, &admission, sweep))
		return LT_OK;
	admission.admitted = hold.quote.hold_per_task;
	admission.price = rates->worst.price;
	admission.carbon = rates->worst.carbon;
	sweep->moved++;
	if (lt_site_may(sweep->site, LT_MAY_HOLD) && !(hold.quote.flags & LT_QUOTE_BUDGET_HOLD) &&
	    !lt_change_fits(sweep->budget, &hold, &was, sweep->now_utc_s)) {
		hold.quote.flags |= LT_QUOTE_RAISED;
		job->at_release = true;
		sweep->beyond++;
	}
	hold.quote.rev++;
	sweep->budget->dirty = true;
	const int code = lt_ledger_put_hold(sweep->ledger, &hold, err);
	return code == LT_OK ? lt_ledger_put_admission(sweep->ledger, hold.quote.id,
				   &hold.quote.hold_per_task, &admission, err)
			     : code;
}

/* Reprices the next of them, in one transaction. */
static int
follow_some(struct sweep *sweep, struct lt_error *err)
{
	struct lt_batch_jobs *const list = &sweep->jobs->list;
	const uint32_t first = sweep->at, most = sweep->moved + AT_ONCE;
	int code = lt_ledger_begin(sweep->ledger, err);

	if (code != LT_OK)
		return code;
	for (; code == LT_OK && sweep->at < list->count && sweep->moved < most; sweep->at++) {
		struct lt_batch_job *const job = &list->jobs[sweep->at];

		if (job->state != LT_JOB_PENDING)
			continue;
		lt_breath(LT_TURN_READ);
		const struct rates rates = rates_of(job, &sweep->site->market, sweep->now_utc_s);
		if (!differs(rates.sum[0], job->priced_at[0]) &&
		    !differs(rates.sum[1], job->priced_at[1]))
			continue;
		job->priced_at[0] = (float)rates.sum[0];
		job->priced_at[1] = (float)rates.sum[1];
		code = reprice_job(sweep, job, &rates, err);
	}
	if (code == LT_OK)
		code = lt_ledger_commit(sweep->ledger, err);
	else
		lt_ledger_rollback(sweep->ledger);
	for (uint32_t i = first; code != LT_OK && i < sweep->at; i++)
		list->jobs[i].priced_at[0] = -1; /* they are due again */
	return code;
}

int
lt_reprice(const struct lt_site *site, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, int64_t now_utc_s, struct lt_error *err)
{
	struct sweep sweep = {
	    .site = site, .ledger = ledger, .jobs = jobs, .budget = budget, .now_utc_s = now_utc_s};
	int code = LT_OK;

	if (jobs->repriced_generation == site->market.generation)
		return LT_OK;
	while (code == LT_OK && sweep.at < jobs->list.count) {
		code = follow_some(&sweep, err);
		lt_breath(LT_TURN_COMMITTED);
	}
	if (code == LT_OK)
		jobs->repriced_generation = site->market.generation;
	if (sweep.moved > 0)
		lt_log("holds_repriced", "jobs=%u beyond=%u", sweep.moved, sweep.beyond);
	return code;
}
