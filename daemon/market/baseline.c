/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan without lowtide, priced after the fact. The run's length is scaled
 * by what the GPUs of the two partitions can do.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "baseline.h"
#include "daemon.h"
#include "log.h"
#include "price.h"

enum { MOVED_S = 60 }; /* a later start by less is the queue's, not ours */

static const struct lt_gpu *
gpu_of(const struct lt_market *market, const char *partition)
{
	const int index = lt_market_partition(market, partition);

	if (index < 0 || market->partitions[index].shape_count == 0)
		return NULL;
	const int gpu =
	    market->shapes[market->partitions[index].first_shape].gpu_index;
	return gpu < 0 ? NULL : &market->gpus[gpu];
}

static bool
was_moved(const struct lt_run *run, const struct lt_quote *quote)
{
	if (!lt_mode_may(quote->mode, LT_MAY_EDIT) ||
	    quote->objective == LT_OBJECTIVE_OFF || quote->home[0] == '\0')
		return false;
	if (strcmp(quote->partition, quote->home) != 0 &&
	    strcmp(run->partition, quote->partition) == 0)
		return true;
	return quote->plan_start_utc_s > quote->home_start_utc_s + MOVED_S &&
	       run->start_utc_s >= quote->plan_start_utc_s;
}

void
lt_baseline_of_run(
    struct lt_run *run, const struct lt_quote *quote, struct lt_daemon *d)
{
	struct lt_charge charge;
	struct lt_error err = {0};
	bool known;

	run->moved = was_moved(run, quote);
	if (!run->moved)
		return;
	if (run->end_utc_s <= run->start_utc_s) {
		run->has_baseline =
		    true; /* it used nothing, nor would it have */
		return;
	}
	double seconds = (double)(run->end_utc_s - run->start_utc_s);
	if (run->gpus > 0 || run->shards > 0)
		seconds /= lt_gpu_time_ratio(gpu_of(&d->market, quote->home),
		    gpu_of(&d->market, run->partition), LT_PRECISION_AUTO,
		    &known);
	const int64_t start = quote->home_start_utc_s;
	const int64_t end = start + (int64_t)llround(seconds);
	if (lt_price_as(&charge, run,
		&(struct lt_elsewhere){quote->home, {start, end}}, d,
		&err) != LT_OK) {
		lt_log("no_base", "job=%u error=\"%s\"", run->key.job_id,
		    err.text);
		return;
	}
	run->has_baseline = charge.priced == run->priced &&
			    charge.has_carbon == run->has_carbon;
	run->baseline_money_micros = (int64_t)llround(charge.money_micros);
	run->baseline_carbon_mg = (int64_t)llround(charge.carbon_mg);
	snprintf(run->baseline_text, sizeof(run->baseline_text),
	    "%s@%" PRId64 ", %" PRId64 " s", quote->home, start, end - start);
	lt_charge_free(&charge);
}

bool
lt_baseline_known(const struct lt_run *run)
{
	return run->has_baseline || !run->moved;
}
