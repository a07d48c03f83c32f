/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most that a job can be charged, held before it exists. Between the
 * plan and the budget: lt_decide() -> lt_quote_hold() -> lt_admit(). What the
 * plan promises is in quote_plan.c, the text in admin_comment in quote_text.c.
 */
#include "quote.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "gpu_kinds.h"
#include "size.h"
#include "units.h"

enum {
	PPM = 1000000,
	LIMIT_MAX_S = INT32_MAX, /* 68 years: longer is held as that */
};

/* What one task takes on one partition. */
struct task {
	struct lt_share share;
	double part;	 /* that bounds its power */
	int64_t limit_s; /* OverTimeLimit added */
	int64_t start_utc_s, end_utc_s;
	uint32_t margin_ppm;
	bool uses_gpus;
};

/*
 * rate (micros per node-hour) x nodes x share x hours x (1 + margin), each
 * step rounded up, plus 1 since settling may round a part up. Nothing for
 * nothing: a rate of 0 or less holds 0.
 */
static bool
hold_money(const struct task *task, double rate, int64_t *micros)
{
	if (!(rate < 9e15))
		return false;
	*micros = 0;
	if (rate <= 0.0)
		return true;
	int64_t node_s;
	if (__builtin_mul_overflow(
		task->limit_s, (int64_t)task->share.nodes, &node_s))
		return false;
	int64_t amount;
	return lt_scale_up((int64_t)ceil(rate), node_s, LT_HOUR_S, &amount) &&
	       lt_scale_up(amount, task->share.numerator,
		   task->share.denominator, &amount) &&
	       lt_scale_up(
		   amount, (int64_t)PPM + task->margin_ppm, PPM, &amount) &&
	       !__builtin_add_overflow(amount, 1, micros);
}

/*
 * (whole node's power x PUE x intensity + embodied) x nodes x share x hours x
 * (1 + margin), up, plus 1. W x h x g/kWh = mg. The dominant resource bounds
 * the part of each of the node's.
 */
static bool
hold_carbon(const struct task *task, const struct lt_partition *partition,
    double intensity, int64_t *mg)
{
	const double power_w = partition->node_idle_w + partition->node_cpu_w +
			       partition->node_gpu_w;
	const double hours = (double)task->limit_s / LT_HOUR_S;
	const double rate = power_w * partition->pue * fmax(intensity, 0.0) +
			    partition->embodied_g_per_node_hour * 1000.0;
	/* One part in 10^12 for the rounding of doubles. */
	const double amount = rate * task->share.nodes * task->part * hours *
			      (1.0 + (double)task->margin_ppm / PPM) *
			      (1.0 + 1e-12);

	if (!(amount < 9e18))
		return false;
	*mg = amount > 0.0 ? (int64_t)ceil(amount) + 1 : 0;
	return true;
}

/* What the most carbon is charged with, up, plus 1. */
static bool
hold_charge(struct lt_amount *amount, const struct lt_market *market)
{
	int64_t micros;

	if (market->charge_micros_per_tonne == 0 || !amount->has_money)
		return true;
	amount->has_money = amount->has_carbon;
	return !amount->has_carbon ||
	       (lt_scale_up(amount->carbon_mg, market->charge_micros_per_tonne,
		    LT_MG_PER_TONNE, &micros) &&
		   !__builtin_add_overflow(
		       micros, amount->carbon_mg > 0, &micros) &&
		   !__builtin_add_overflow(
		       amount->money_micros, micros, &amount->money_micros));
}

/* The amount on one partition; false when it passes int64_t. */
static bool
hold_on(struct lt_amount *amount, const struct task *task,
    const struct lt_market *market, const struct lt_partition *partition)
{
	*amount = (struct lt_amount){0};
	if (partition->price_series != LT_NO_SERIES &&
	    market->currency[0] != '\0') {
		const double price =
		    lt_series_max(&market->series[partition->price_series],
			task->start_utc_s, task->end_utc_s);

		amount->has_money = true;
		if (!hold_money(task, price, &amount->money_micros))
			return false;
	}
	double intensity = partition->worst_intensity;
	if (partition->carbon_series != LT_NO_SERIES)
		intensity =
		    lt_series_max(&market->series[partition->carbon_series],
			task->start_utc_s, task->end_utc_s);
	else if (intensity <= 0.0)
		return hold_charge(amount, market);
	/* A node without a known power is unknown, not free of carbon; nor are
	 * GPUs. */
	amount->has_carbon =
	    partition->node_idle_w + partition->node_cpu_w +
		    partition->node_gpu_w >
		0.0 &&
	    !(task->uses_gpus && lt_gpu_power_unknown(market, partition));
	return (!amount->has_carbon || hold_carbon(task, partition, intensity,
					   &amount->carbon_mg)) &&
	       hold_charge(amount, market);
}

/* How long one task may run on a partition; < 0 when there is no limit. */
static int64_t
task_limit_s(const struct lt_request *request, const struct lt_market *market,
    int partition)
{
	int64_t limit_s = lt_limit_of(request, market, partition);

	if (limit_s <= 0)
		return LT_UNSET_64;
	if (limit_s > LIMIT_MAX_S)
		limit_s = LIMIT_MAX_S;
	return limit_s + lt_overrun_s(&market->partitions[partition]);
}

/* From the earliest start to the end of the last of ceil(tasks / %N) runs,
 * or to the deadline. */
static int64_t
latest_end_s(
    const struct lt_request *request, int64_t start_utc_s, int64_t limit_s)
{
	int64_t runs = 1, end_utc_s;

	if (request->array_parallel > 0)
		runs = ((int64_t)request->array_tasks +
			   request->array_parallel - 1) /
		       request->array_parallel;
	if (runs < 1)
		runs = 1;
	if (__builtin_add_overflow(start_utc_s, runs * limit_s, &end_utc_s))
		end_utc_s = INT64_MAX;
	return request->deadline_utc_s > end_utc_s ? request->deadline_utc_s
						   : end_utc_s;
}

/* The larger of both in each currency; unknown in one is unknown. */
static void
widen(struct lt_amount *most, const struct lt_amount *amount)
{
	most->has_money &= amount->has_money;
	most->has_carbon &= amount->has_carbon;
	if (amount->money_micros > most->money_micros)
		most->money_micros = amount->money_micros;
	if (amount->carbon_mg > most->carbon_mg)
		most->carbon_mg = amount->carbon_mg;
}

int
lt_quote_hold(struct lt_quote *quote, const struct lt_request *request,
    const struct lt_market *market, const int *partitions, int count,
    int64_t earliest_start_utc_s, struct lt_error *err)
{
	struct lt_amount most = {0};
	int64_t end_utc_s = earliest_start_utc_s;

	if (count <= 0)
		return lt_fail(err, LT_EINPUT, "no partition to price");
	for (int i = 0; i < count; i++) {
		if (partitions[i] < 0 ||
		    (uint32_t)partitions[i] >= market->partition_count)
			return lt_fail(err, LT_EBUG, "partition %d of %u",
			    partitions[i], market->partition_count);
		const struct lt_partition *const partition =
		    &market->partitions[partitions[i]];
		if (partition->shape_count == 0)
			return lt_fail(err, LT_ENOENT,
			    "no node of partition %s is known yet",
			    partition->name);
		struct task task = {
		    .share = lt_share_most(request, market, partitions[i]),
		    .limit_s = task_limit_s(request, market, partitions[i]),
		    .start_utc_s = earliest_start_utc_s,
		    .margin_ppm = market->hold_margin_ppm,
		};
		task.part =
		    lt_part_most(request, market, partitions[i], task.share);
		task.uses_gpus = lt_request_wants_gpus(request) ||
				 request->shards_per_node > 0 ||
				 task.share.numerator == task.share.denominator;
		if (task.limit_s < 0)
			return lt_fail(err, LT_EINPUT,
			    "no time limit known in partition %s: say --time",
			    partition->name);
		task.end_utc_s =
		    latest_end_s(request, earliest_start_utc_s, task.limit_s);
		struct lt_amount amount;
		if (task.share.denominator <= 0 || task.share.numerator < 0 ||
		    !hold_on(&amount, &task, market, partition))
			return lt_fail(err, LT_EOVERFLOW,
			    "what the job may cost in partition %s passes what can be counted",
			    partition->name);
		if (i == 0)
			most = amount;
		else
			widen(&most, &amount);
		if (task.end_utc_s > end_utc_s)
			end_utc_s = task.end_utc_s;
	}
	quote->hold_per_task = most;
	quote->tasks = request->array_tasks > 0 ? request->array_tasks : 1;
	quote->start_utc_s = earliest_start_utc_s;
	quote->end_utc_s = end_utc_s;
	return LT_OK;
}
