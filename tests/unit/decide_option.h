/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a partition and a start cost in a random world, computed the plainest way: a walk over steps
 * and a sum over seconds. For test_decide_brute.c.
 */
#ifndef LT_DECIDE_OPTION_H
#define LT_DECIDE_OPTION_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decide_world.h"
#include "last_task.h"

enum {
	SECONDS = 6000, /* looked at after the earliest start */
	TERMS = 3,	/* price, tariff, carbon */
	LIKELY = 3,	/* lengths that are as likely, rising */
	NEVER_ENDS_S = 1000000000,
};

/* One partition, priced. */
struct option {
	bool fits, moves; /* can run it; may take part */
	int64_t length_s, done_s, latest_s;
	int64_t sure_s;		     /* as long as it may be */
	int64_t likely_s[LIKELY];    /* the same thrice: one is known only */
	double units, power_kw;	     /* of all tasks at once: nodes x share */
	double idle_kw;		     /* of that, drawn without them too */
	double once_micros, once_mg; /* storage and failures; embodied */
	bool has[TERMS], has_money, has_charged;
	double worst_price, each, booked; /* nodes x share of a task, of all */
	double worst_mg_per_h;		  /* of a task */
	double sums[TERMS][SECONDS + 1];  /* from the earliest start on */
	uint32_t full[SECONDS + 1];	  /* seconds without room before */
	bool step_at[SECONDS + 1];	  /* a step of any signal */
};

static struct option options[PARTITIONS];
static int64_t earliest_s;

/* By a walk: the step that holds. */
static double
value_at(int index, int64_t utc_s)
{
	const struct lt_series *series = &world.series[index];
	uint32_t i = 0;

	while (i + 1 < series->count && series->start_utc_s[i + 1] <= utc_s)
		i++;
	return series->value[i];
}

static bool
steps_at(int index, int64_t utc_s)
{
	const struct lt_series *series = &world.series[index];

	for (uint32_t i = 1; i < series->count; i++)
		if (series->start_utc_s[i] == utc_s)
			return true;
	return false;
}

static double
load_at(int partition, int64_t utc_s)
{
	const int busy = world.partitions[partition].occupancy_series;
	double load = busy == LT_NO_SERIES ? 0 : value_at(busy, utc_s);

	for (uint32_t i = 0; i < world.planned_count; i++)
		if (world.planned[i].partition == partition &&
		    world.planned[i].start_utc_s <= utc_s && utc_s < world.planned[i].end_utc_s)
			load += (double)world.planned[i].nodes;
	return load;
}

static int64_t
age_of(int partition)
{
	const struct lt_partition *part = &world.partitions[partition];
	const int indexes[] = {part->price_series, part->tariff_series, part->carbon_series};
	int64_t age = INT64_MIN;

	for (int t = 0; t < TERMS; t++) {
		if (indexes[t] == LT_NO_SERIES)
			continue;
		const struct lt_series *series = &world.series[indexes[t]];
		const int64_t own =
		    series->quality == LT_QUALITY_CONSTANT ? 0 : NOW - series->issued_utc_s;
		age = own > age ? own : age;
	}
	return age == INT64_MIN ? INT64_MAX : age;
}

static const struct lt_gpu *
gpu_of(int partition)
{
	const int index = world.shapes[partition].gpu_index;

	return index < 0 ? NULL : &world.market.gpus[index];
}

struct length { /* of one task: expected, and for deadlines */
	double work_s, sure_s;
	double low_s, high_s; /* work_s where only that is known */
	bool has_sure;
	struct lt_exposure exposure, sure;
	struct lt_active active, sure_active;
};

static struct lt_checkpoint
checkpoint_of(const struct lt_partition *part)
{
	struct lt_checkpoint checkpoint = world.request.checkpoint;

	if (checkpoint.write_s == 0 && part->storage_gib_per_s > 0)
		checkpoint.write_s = checkpoint.size_gib / part->storage_gib_per_s;
	return checkpoint;
}

/* The latest start that keeps the deadline. */
static int64_t
latest_of(const struct length *length, const struct lt_tasks *tasks)
{
	const struct lt_request *request = &world.request;
	const double waves = ceil(tasks->count / tasks->at_once);
	int64_t latest;

	if (request->deadline_utc_s == LT_UNSET_64)
		return earliest_s + world.market.max_delay_s;
	latest = request->deadline_utc_s - 60 - request->limit_s;
	if (length->has_sure)
		latest -= (int64_t)((waves - 1) * fmin(length->sure_s, (double)request->limit_s));
	else
		latest -= (int64_t)(waves - 1) * request->limit_s;
	if (length->sure.hazard_per_h <= 0)
		return latest;
	if (length->sure_active.active_s * waves >= 1e9)
		return INT64_MIN;
	const struct lt_delay delay = lt_task_delay(&length->sure, &length->sure_active);
	const double last_s = lt_last_task_latest_s(&delay, tasks, 0.95);
	const int64_t bound = request->deadline_utc_s - 60 - (int64_t)ceil(last_s);
	return bound < latest ? bound : latest;
}

/* When the last task is done, seconds after the first begins, if each takes as long as it may. */
static int64_t
done_of(const struct length *length, const struct lt_tasks *tasks)
{
	const struct lt_delay delay = lt_task_delay(&length->sure, &length->sure_active);

	return length->sure.hazard_per_h > 0 && tasks->count > 1
		   ? (int64_t)ceil(lt_last_task_mean_s(&delay, tasks))
		   : (int64_t)ceil(
			 length->sure_active.active_s * ceil(tasks->count / tasks->at_once));
}

/* Sums by the second, so that a window is a difference. */
static void
add_up(struct option *option, int p)
{
	const struct lt_partition *part = &world.partitions[p];
	const int indexes[TERMS] = {part->price_series, part->tariff_series, part->carbon_series};
	const double room = part->node_count - option->booked + 1e-6;

	memset(option->step_at, 0, sizeof(option->step_at));
	option->full[0] = 0;
	for (int s = 0; s < SECONDS; s++)
		option->full[s + 1] = option->full[s] + (load_at(p, earliest_s + s) > room ? 1 : 0);
	for (int t = 0; t < TERMS; t++) {
		option->has[t] = indexes[t] != LT_NO_SERIES;
		option->sums[t][0] = 0;
		for (int s = 0; s < SECONDS && option->has[t]; s++) {
			option->sums[t][s + 1] =
			    option->sums[t][s] + value_at(indexes[t], earliest_s + s) / 3600;
			option->step_at[s] |= steps_at(indexes[t], earliest_s + s);
		}
	}
}

/* By what was said, else learned, else the limit; false: the limit would end it on this slower
 * GPU. */
static bool
make_length(struct length *length, double ratio)
{
	const struct lt_request *request = &world.request;
	const double limit = (double)request->limit_s;
	const bool said = request->expected_run_s > 0;
	const bool learned = !said && request->learned.expected_s > 0;
	double here = limit, most = 0;

	if (said)
		here = (double)request->expected_run_s;
	if (learned) {
		here = fmin(limit, (double)request->learned.expected_s);
		most = fmin(limit, (double)request->learned.upper_s);
	}
	*length = (struct length){.work_s = here * ratio,
	    .low_s = here * ratio,
	    .high_s = here * ratio,
	    .sure_s = (learned ? fmax(here, most > 0 ? most : limit) : here) * ratio,
	    .has_sure = most > 0};
	if (learned && request->learned.low_s > 0 && request->learned.high_s > 0) {
		const double high = fmin(limit, (double)request->learned.high_s);

		length->low_s = fmin(here, (double)request->learned.low_s) * ratio;
		length->high_s = fmax(here, high) * ratio;
		length->sure_s = fmax(length->sure_s, length->high_s);
	}
	/* A most that is the limit tells nothing of such jobs. */
	const double kills = most < limit ? fmax(here, most) : here;
	return !((said || learned) && ratio > 1 && kills * ratio > limit);
}

/* How long the nodes are taken, in waves, of work so long. */
static int64_t
taken_s(struct lt_exposure exposure, double work_s, double waves)
{
	exposure.work_s = work_s;
	return (int64_t)fmin(ceil(lt_active_time(&exposure).active_s * waves), NEVER_ENDS_S);
}

/* A partition is no risk that is none beside home. */
static double
home_chance(double nodes, double work_s)
{
	static const double rounding = 1 + 1e-9;
	const double per_h = world.partitions[world.request.home].hazard_per_node_hour;

	return rounding * (1 - exp(-per_h * nodes * work_s / 3600));
}

/* Everything of one partition; .fits and .moves say whether it counts. False when the window is too
 * long for this test. */
static bool
make_option(struct option *option, int p)
{
	const struct lt_request *request = &world.request;
	const struct lt_partition *part = &world.partitions[p];
	const struct lt_shape *shape = &world.shapes[p];
	const struct lt_gpu *gpu = gpu_of(p);
	const double nodes = request->max_nodes;
	const double cpus = request->cpus > 0 ? ceil(request->cpus / nodes) : 1;
	const double gpus = ceil(request->gpus / nodes);
	/* Of all nodes together, as it will be charged. */
	const double all_cpus = fmax(request->cpus, nodes) / nodes;
	const double all_gpus = request->gpus > 0 ? fmax(request->gpus, nodes) / nodes : 0;
	double share = fmax(all_cpus / shape->cpus,
	    (double)request->memory_mib_per_node / (double)shape->memory_mib);
	double ratio = 1, at_once, waves;
	bool known;

	option->fits = option->moves = false;
	if (gpus > 0) {
		if (gpus > shape->gpus)
			return true;
		if (request->gpu_memory_mib > 0 &&
		    !(gpu != NULL && gpu->memory_mib >= request->gpu_memory_mib * 0.9))
			return true;
		/* A move must not lose what home has, or may have. */
		const struct lt_gpu *const before = gpu_of(request->home);

		if (request->precision > LT_PRECISION_FP32 && p != request->home &&
		    (before == NULL || before->tflops[request->precision] > 0) &&
		    !(gpu != NULL && gpu->tflops[request->precision] > 0))
			return true;
		share = fmax(share, all_gpus / shape->gpus);
	}
	if (cpus > shape->cpus || request->limit_s > part->max_time_s ||
	    request->memory_mib_per_node > shape->memory_mib || nodes > part->node_count)
		return true;
	if (request->exclusive)
		share = 1;
	if (gpus > 0 && p != request->home)
		ratio = lt_gpu_time_ratio(
		    &(struct lt_gpu_use){gpu_of(request->home), request->precision},
		    &(struct lt_gpu_use){gpu, request->precision}, &known);
	const struct lt_exposure exposure = {.hazard_per_h = part->hazard_per_node_hour * nodes,
	    .restart_s = part->restart_s,
	    .checkpoint = checkpoint_of(part)};
	struct length length;
	if (!make_length(&length, ratio))
		return true;
	length.sure = length.exposure = exposure;
	length.sure.work_s = length.sure_s;
	length.sure_active = lt_active_time(&length.sure);
	length.exposure.work_s = length.work_s;
	length.active = lt_active_time(&length.exposure);
	const struct lt_active active = length.active;

	if (!request->checkpoint.enabled && p != request->home &&
	    length.sure_active.restart_chance >
		fmax(0.1, home_chance(nodes, length.sure_s / ratio)))
		return true;
	at_once = request->array_tasks;
	if (request->array_parallel > 0)
		at_once = fmin(at_once, request->array_parallel);
	at_once = fmin(at_once, fmax(1, floor(part->node_count / (nodes * share))));
	waves = ceil(request->array_tasks / at_once);
	const double tasks = request->array_tasks / waves;

	option->fits = true;
	option->length_s = (int64_t)ceil(active.active_s * waves);
	option->likely_s[0] = taken_s(exposure, length.low_s, waves);
	option->likely_s[1] = option->length_s;
	option->likely_s[2] = taken_s(exposure, length.high_s, waves);
	if (option->likely_s[2] >= NEVER_ENDS_S)
		option->likely_s[0] = option->likely_s[2] = option->length_s;
	const struct lt_tasks all = {request->array_tasks, at_once};
	option->sure_s = taken_s(exposure, length.sure_s, waves);
	option->done_s = done_of(&length, &all);
	option->latest_s = latest_of(&length, &all);
	/* Of signals that end, the window ends with them. */
	const int signals[TERMS] = {part->price_series, part->tariff_series, part->carbon_series};
	for (int t = 0; t < TERMS; t++) {
		if (signals[t] == LT_NO_SERIES ||
		    world.series[signals[t]].quality == LT_QUALITY_CONSTANT)
			continue;
		const struct lt_series *const series = &world.series[signals[t]];
		const int64_t end = series->start_utc_s[series->count] - option->likely_s[2];
		while (option->latest_s > end && option->latest_s > earliest_s)
			option->latest_s--;
	}
	if (request->pins & LT_PIN_BEGIN && option->latest_s > earliest_s)
		option->latest_s = earliest_s;
	if (option->sure_s >= SECONDS - 1 ||
	    option->sure_s + option->latest_s - earliest_s >= SECONDS - 1 ||
	    option->likely_s[2] >= SECONDS - 1 ||
	    option->likely_s[2] + option->latest_s - earliest_s >= SECONDS - 1)
		return false;
	option->units = nodes * share * tasks;
	option->each = nodes * share;
	option->booked = option->each * at_once;
	option->power_kw =
	    nodes * tasks * part->pue / 1000 *
	    (part->node_idle_w * share +
		part->node_cpu_w * (request->exclusive ? 1 : all_cpus / shape->cpus) +
		part->node_gpu_w * (shape->gpus == 0	    ? 0
				       : request->exclusive ? 1
							    : all_gpus / shape->gpus));
	option->idle_kw = nodes * tasks * part->pue / 1000 * part->node_idle_w * share;
	const double hours =
	    (double)(option->likely_s[0] + option->likely_s[1] + option->likely_s[2]) / LIKELY /
	    3600;
	option->once_micros = request->checkpoint.enabled
				  ? request->checkpoint.size_gib * request->checkpoint.keep *
					50000 * hours / 730 * tasks
				  : active.expected_interruptions * tasks * waves *
					(double)part->engineer_micros_per_restart;
	option->once_mg = part->embodied_g_per_node_hour * 1000 * option->units * hours;
	add_up(option, p);
	const bool is_said = option->has[2] || world.market.charge_micros_per_tonne == 0;
	option->has_charged = is_said && option->has[0];
	option->has_money =
	    is_said && (option->has[0] || (part->flags & LT_PARTITION_OWNED && option->has[1]));
	option->worst_price = option->worst_mg_per_h = 0;
	if (option->has[0])
		option->worst_price = world.series[part->price_series].max_value;
	if (option->has[2])
		option->worst_mg_per_h =
		    option->power_kw / tasks * 1000 * world.series[part->carbon_series].max_value;
	return true;
}

struct price { /* charged and emitted: what is shown; most: if it is long */
	double money, charged, carbon, emitted, most;
};

/* The mean over how long it likely is. */
static double
window(const struct option *option, int term, int64_t s)
{
	double sum = 0;

	for (int i = 0; i < LIKELY && option->has[term]; i++)
		sum += option->sums[term][s + option->likely_s[i]] - option->sums[term][s];
	return sum / LIKELY;
}

/* What is charged if it is as long as it may be. */
static double
most_of(int p, int64_t s)
{
	const struct option *option = &options[p];
	const double likely_s =
	    (double)(option->likely_s[0] + option->likely_s[1] + option->likely_s[2]) / LIKELY;
	const double times = (double)option->sure_s / likely_s;
	double sums[TERMS];

	for (int t = 0; t < TERMS; t++)
		sums[t] =
		    option->has[t] ? option->sums[t][s + option->sure_s] - option->sums[t][s] : 0;
	const bool owned = world.partitions[p].flags & LT_PARTITION_OWNED;
	const double mg = option->once_mg * times + option->power_kw * 1000 * sums[2];

	return option->once_micros * times + option->units * sums[0] +
	       (owned ? 0 : option->power_kw * sums[1]) +
	       mg / 1e9 * (double)world.market.charge_micros_per_tonne;
}

static struct price
price_of(int p, int64_t s)
{
	const struct option *option = &options[p];
	const bool owned = world.partitions[p].flags & LT_PARTITION_OWNED;
	const double compute = option->units * window(option, 0, s);
	const double energy = option->power_kw * window(option, 1, s);
	const double emitted = option->once_mg + option->power_kw * 1000 * window(option, 2, s);
	/* What waiting does not change: idle nodes draw it all the time. */
	const bool rests = owned && (world.partitions[p].flags & LT_PARTITION_STAYS_ON);
	const double idle_kw = rests ? option->idle_kw : 0;
	const double for_carbon = emitted / 1e9 * (double)world.market.charge_micros_per_tonne;

	return (struct price){.money = option->once_micros + for_carbon +
				       (owned && option->has[1] ? energy : compute + energy) +
				       idle_kw * (window(option, 1, 0) - window(option, 1, s)),
	    .charged = option->once_micros + compute + (owned ? 0 : energy) + for_carbon,
	    .emitted = emitted,
	    .most = most_of(p, s),
	    .carbon = emitted + idle_kw * 1000 * (window(option, 2, 0) - window(option, 2, s))};
}

/* Of a tonne, beyond what it is charged with, in micros. */
static double
worth(void)
{
	return fmax(0, (double)(world.market.carbon_price_micros_per_tonne -
				world.market.charge_micros_per_tonne));
}

/* The job may not be moved there. */
static bool
is_bound(int p)
{
	const struct lt_request *request = &world.request;

	return p != request->home && ((request->named_count > 0 && request->named[0] != p) ||
					 !(world.partitions[p].flags & LT_PARTITION_MANAGED));
}

#endif
