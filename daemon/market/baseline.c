/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan without lowtide, priced after the fact: one undisturbed run at home, whatever came
 * between the actual runs. Each actual run has its share of that plan. docs/model.md, eq. (30).
 *
 * Reads the ledger's runs and rates and the market; fills fields of the run and writes nothing
 * itself. Without a price the run's own charge is its base, so that nothing counts as saved.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "ledger.h"
#include "log.h"
#include "market.h"
#include "posterior.h"
#include "price.h"
#include "units.h"

enum { MOVED_S = 60 }; /* a later start by less is the queue's, not ours */

static const struct lt_gpu *
gpu_of(const struct lt_market *market, const char *partition)
{
	const int index = lt_market_partition(market, partition);

	if (index < 0 || market->partitions[index].shape_count == 0)
		return NULL;
	const int gpu = market->shapes[market->partitions[index].first_shape].gpu_index;
	return gpu < 0 ? NULL : &market->gpus[gpu];
}

static bool
is_deferred(const struct lt_quote *quote)
{
	return quote->plan_start_utc_s > quote->home_start_utc_s + MOVED_S;
}

static bool
was_moved(const struct lt_run *run, const struct lt_quote *quote)
{
	if (!lt_mode_may(quote->mode, LT_MAY_EDIT) || quote->objective == LT_OBJECTIVE_OFF ||
	    quote->home[0] == '\0')
		return false;
	if (strcmp(quote->partition, quote->home) != 0 &&
	    strcmp(run->partition, quote->partition) == 0)
		return true;
	return is_deferred(quote) && run->start_utc_s >= quote->plan_start_utc_s;
}

/* True if a later run repeats the part that this one lost. */
static bool
is_cut_short(const struct lt_run *run)
{
	return lt_is_interruption(run->state_text) || strncmp(run->state_text, "REQUEUED", 8) == 0;
}

/* Returns the ratio as it was decided; for a run elsewhere, or of an older quote, by the GPUs. */
static double
time_ratio(const struct lt_run *run, const struct lt_quote *quote,
    const struct lt_quote_run *expected, const struct lt_market *market)
{
	bool known;

	if (strcmp(run->partition, quote->home) == 0)
		return 1;
	if (expected->kind != 0 && strcmp(run->partition, quote->partition) == 0)
		return (double)expected->ratio_ppm / LT_MICROS;
	if (run->gpus == 0 && run->shards == 0)
		return 1;
	const enum lt_precision precision =
	    quote->wish.known ? quote->wish.precision : LT_PRECISION_AUTO;
	const struct lt_gpu_use home = {gpu_of(market, quote->home), precision};
	const struct lt_gpu_use there = {gpu_of(market, run->partition), precision};

	return lt_gpu_time_ratio(&home, &there, &known);
}

/*
 * Returns the seconds of a run whose work was kept. For a run that was cut short: all but what an
 * interruption is expected to lose, and 0 where that is not known or no checkpoint was written. For
 * any other run: all its time without suspensions.
 */
static double
useful_s(
    const struct lt_run *run, const struct lt_quote *quote, const struct lt_quote_run *expected)
{
	const double worked = (double)(run->end_utc_s - run->start_utc_s - run->suspended_s);

	if (!is_cut_short(run))
		return worked;
	if (!(quote->flags & LT_QUOTE_CHECKPOINT) || expected->interruptions_ppm <= 0)
		return 0;
	return fmax(
	    0, worked - (double)expected->lost_s * LT_MICROS / (double)expected->interruptions_ppm);
}

struct home_run {	 /* one, undisturbed, in which this run's work is a part */
	double before_s; /* of the runs before it */
	double length_s;
	double ratio;	     /* run time here over there */
	int64_t first_utc_s; /* when the first of the runs began */
};

static int
find_home_run(struct home_run *at, const struct lt_run *run, const struct lt_quote *quote,
    const struct lt_market *market, struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_quote_run expected = {0};
	struct lt_run *runs = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_runs_of_id(ledger, run->key.job_id, &runs, &count, err);

	if (quote->run[0] != '\0')
		(void)lt_quote_run_unpack(&expected, quote->run, strlen(quote->run), NULL);
	*at = (struct home_run){
	    .first_utc_s = run->start_utc_s, .ratio = time_ratio(run, quote, &expected, market)};
	at->length_s = useful_s(run, quote, &expected) / at->ratio;
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_run *const r = &runs[i];

		if (!r->moved || r->quote_id != quote->id || r->end_utc_s <= r->start_utc_s ||
		    r->start_utc_s >= run->start_utc_s)
			continue;
		at->before_s +=
		    useful_s(r, quote, &expected) / time_ratio(r, quote, &expected, market);
		if (r->start_utc_s < at->first_utc_s)
			at->first_utc_s = r->start_utc_s;
	}
	free(runs);
	return code;
}

/* Returns its start at home. If it was not meant to wait, whatever kept it back (the line, another
 * job, a hold, earlier tasks) would have kept it back at home, too. */
static int64_t
start_at_home(const struct lt_quote *quote, const struct home_run *at)
{
	const int64_t late_s = at->first_utc_s - quote->plan_start_utc_s;

	return quote->home_start_utc_s +
	       (late_s > 0 && (!is_deferred(quote) || quote->tasks > 1) ? late_s : 0);
}

/* Sets its size there as it was decided: whole nodes here may be a few CPUs at home. */
static void
set_size(struct lt_elsewhere *there, const struct lt_run *run, const struct lt_quote *quote)
{
	struct lt_levers levers;

	if (strcmp(run->partition, quote->partition) != 0 ||
	    lt_levers_unpack(&levers, quote->levers, strlen(quote->levers), NULL) != LT_OK)
		return;
	there->size_ppm = levers.size_ppm;
	there->power_ppm = levers.power_ppm;
}

/* Prices the run's part from its own start on: at home, here at home's speed, and here as it was.
 * The carry of its charge is not included. */
static int
part_saving(struct lt_run *run, struct lt_elsewhere there, const struct home_run *at,
    const struct lt_market *market, struct lt_ledger *ledger, struct lt_error *err)
{
	const int64_t from = run->start_utc_s;
	const int64_t slow = from + (int64_t)llround(at->length_s);
	const int64_t fast = from + (int64_t)llround(at->length_s * at->ratio);
	const struct lt_elsewhere parts[] = {
	    {there.partition, {from, slow}, there.size_ppm, there.power_ppm},
	    {run->partition, {from, slow}, 0, 0}, {run->partition, {from, fast}, 0, 0}};
	double micros[3], mg[3];
	int code = LT_OK;

	for (int i = 0; code == LT_OK && i < 3; i++) {
		struct lt_charge charge = {0};

		code = lt_price_undisturbed(&charge, run, &parts[i], market, ledger, err);
		micros[i] = charge.money_micros;
		mg[i] = charge.carbon_mg;
		lt_charge_free(&charge);
	}
	if (code == LT_OK)
		run->saved_by =
		    (struct lt_saved_by){run->baseline_money_micros - llround(micros[0]),
			run->baseline_carbon_mg - llround(mg[0]), llround(micros[1] - micros[2]),
			llround(mg[1] - mg[2])};
	return code;
}

void
lt_baseline_of_run(struct lt_run *run, const struct lt_quote *quote, const struct lt_market *market,
    struct lt_ledger *ledger)
{
	struct lt_charge charge = {0};
	struct lt_error err = {0};
	struct home_run at;

	run->moved = was_moved(run, quote);
	if (!run->moved)
		return;
	/* 0: cancelled while it waited. */
	if (run->start_utc_s == 0 || run->end_utc_s <= run->start_utc_s) {
		run->has_baseline = true; /* it used nothing, nor would it have */
		return;
	}
	int code = find_home_run(&at, run, quote, market, ledger, &err);
	const int64_t first = start_at_home(quote, &at);
	const int64_t start = first + (int64_t)llround(at.before_s);
	const int64_t end = first + (int64_t)llround(at.before_s + at.length_s);
	struct lt_elsewhere there = {quote->home, {start, end > start ? end : start + 1}, 0, 0};

	set_size(&there, run, quote);
	if (code == LT_OK)
		code = lt_price_undisturbed(&charge, run, &there, market, ledger, &err);
	if (code != LT_OK) {
		lt_log("no_base", "job=%u error=\"%s\"", run->key.job_id, err.text);
		return;
	}
	run->has_baseline = charge.priced == run->priced && charge.has_carbon == run->has_carbon;
	if (end > start) {
		run->baseline_money_micros = (int64_t)llround(charge.money_micros);
		run->baseline_carbon_mg = (int64_t)llround(charge.carbon_mg);
	}
	if (run->has_baseline && end > start &&
	    part_saving(run, there, &at, market, ledger, &err) != LT_OK)
		lt_log("no_levers", "job=%u error=\"%s\"", run->key.job_id, err.text);
	snprintf(run->baseline_text, sizeof(run->baseline_text), "%s@%" PRId64 ", %" PRId64 " s",
	    quote->home, start, end - start);
	lt_charge_free(&charge);
}

bool
lt_work_at_home(struct lt_amount *cost, const struct lt_run *run, const struct lt_quote *quote,
    const struct lt_market *market, struct lt_ledger *ledger)
{
	struct lt_quote_run expected = {0};
	struct lt_charge charge = {0};

	*cost = (struct lt_amount){.has_money = false};
	if (quote->run[0] != '\0')
		(void)lt_quote_run_unpack(&expected, quote->run, strlen(quote->run), NULL);
	const int64_t length_s = run->end_utc_s > run->start_utc_s
				     ? llround(useful_s(run, quote, &expected) /
					       time_ratio(run, quote, &expected, market))
				     : 0;
	const int64_t start = quote->home_start_utc_s;
	struct lt_elsewhere there = {
	    quote->home, {start, start + (length_s > 0 ? length_s : 1)}, 0, 0};

	set_size(&there, run, quote);
	if (quote->home[0] == '\0' ||
	    lt_price_undisturbed(&charge, run, &there, market, ledger, NULL) != LT_OK)
		return false;
	cost->has_money = charge.priced;
	cost->has_carbon = charge.has_carbon;
	if (length_s > 0) {
		cost->money_micros = (int64_t)llround(charge.money_micros);
		cost->carbon_mg = (int64_t)llround(charge.carbon_mg);
	}
	lt_charge_free(&charge);
	return true;
}

/* Returns when it could have started where it ran, by its quote. */
static int64_t
possible_start(const struct lt_run *run, const struct lt_quote *quote)
{
	struct lt_levers levers;

	if (strcmp(run->partition, quote->home) == 0)
		return quote->home_start_utc_s;
	/* If the planned partition had no room, it waited for that. */
	if (strcmp(run->partition, quote->partition) != 0 ||
	    lt_levers_unpack(&levers, quote->levers, strlen(quote->levers), NULL) != LT_OK)
		return quote->plan_start_utc_s;
	return levers.room_utc_s > quote->home_start_utc_s ? levers.room_utc_s
							   : quote->home_start_utc_s;
}

/* Finds whether it is its job's first run: a run after an interruption or a requeue did not wait
 * for an hour. */
static int
is_first_run(bool *first, const struct lt_run *run, struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_run *runs = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_runs_of_id(ledger, run->key.job_id, &runs, &count, err);

	*first = true;
	for (uint32_t i = 0; i < count; i++)
		*first &= runs[i].quote_id != run->quote_id ||
			  runs[i].end_utc_s <= runs[i].start_utc_s ||
			  runs[i].start_utc_s >= run->start_utc_s;
	free(runs);
	return code;
}

enum { POSSIBLE, PLANNED, LATE, REAL, STARTS };

int
lt_wait_saved(double *micros, const struct lt_run *run, const struct lt_quote *quote,
    const struct lt_market *market, struct lt_ledger *ledger, struct lt_error *err)
{
	const int64_t worked_s = run->end_utc_s - run->start_utc_s - run->suspended_s;
	const int64_t possible = possible_start(run, quote);
	/* Tasks of an array wait for others, too: here and at once. */
	const int64_t late_s = quote->tasks > 1 ? run->start_utc_s - quote->plan_start_utc_s : 0;
	const int64_t starts_utc_s[STARTS] = {
	    possible, quote->plan_start_utc_s, possible + late_s, run->start_utc_s};
	double costs[STARTS];
	bool first = false;

	*micros = 0;
	if (!run->moved || !run->priced || !is_deferred(quote) ||
	    (quote->flags & LT_QUOTE_USER_HOLD) || run->start_utc_s < quote->plan_start_utc_s ||
	    worked_s <= 0)
		return LT_OK;
	int code = is_first_run(&first, run, ledger, err);
	if (code != LT_OK || !first)
		return code;
	for (int i = 0; i < STARTS; i++) {
		const int64_t from = starts_utc_s[i];
		struct lt_charge charge;

		code = lt_price_undisturbed(&charge, run,
		    &(struct lt_elsewhere){
			.partition = run->partition, .span = {from, from + worked_s}},
		    market, ledger, err);
		costs[i] = charge.money_micros;
		const bool is_known = charge.priced;
		lt_charge_free(&charge);
		if (code != LT_OK || !is_known)
			return code;
	}
	/* Suspended, it may have cost more than as long at once. */
	costs[REAL] = fmax(costs[REAL], (double)run->money_micros);
	/* Neither more than the plan was for, nor more than came of it. */
	*micros = fmax(0, fmin(costs[POSSIBLE] - costs[PLANNED], costs[LATE] - costs[REAL]));
	return LT_OK;
}

bool
lt_baseline_known(const struct lt_run *run)
{
	return run->has_baseline || !run->moved;
}
