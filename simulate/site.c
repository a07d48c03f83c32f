/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that settings share: run times as they were known, what each run cost, which of them count,
 * how much room there was. Settings are simulated beside each other: each is one thread's alone,
 * and what they share nobody changes.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "run_lengths.h"
#include "site_internal.h"
#include "units.h"

/* ---- run times ---- */

struct order { /* runs by their ends */
	int64_t end_utc_s;
	uint32_t index;
};

static int
by_end(const void *a, const void *b)
{
	const struct order *const x = a, *const y = b;

	if (x->end_utc_s != y->end_utc_s)
		return x->end_utc_s > y->end_utc_s ? 1 : -1;
	return x->index > y->index ? 1 : -1;
}

static struct lt_run_kind
kind_of_run(const struct lt_site_run *run)
{
	return (struct lt_run_kind){.uid = run->uid,
	    .account = run->account,
	    .name = run->name,
	    .nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .limit_s = run->limit_s,
	    .is_interactive = (run->pins & LT_PIN_INTERACTIVE) != 0};
}

static int
learn_run(struct lt_lengths *lengths, const struct lt_site_run *run)
{
	const struct lt_run_kind kind = kind_of_run(run);
	const int64_t length_s = lt_site_length_s(run);
	const struct lt_run_length length = {.length_s = length_s,
	    .limit_s = run->limit_s,
	    .at_least = run->limit_s > 0 && length_s >= run->limit_s};

	return lt_lengths_add(lengths, &kind, &length);
}

static int
learn_all(struct lt_site_sim *sim, struct lt_error *err)
{
	const uint32_t count = sim->site.run_count;
	struct lt_lengths *const lengths =
	    lt_lengths_new(sim->site.market->deadline_confidence_ppm);
	struct order *const order = calloc(count + 1, sizeof(*order));
	uint32_t ended = 0;
	int code = lengths != NULL && order != NULL ? LT_OK : LT_ENOMEM;

	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		order[i] = (struct order){sim->site.runs[i].end_utc_s, i};
	if (code == LT_OK)
		qsort(order, count, sizeof(*order), by_end);
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_site_run *const run = &sim->site.runs[i];
		const struct lt_run_kind kind = kind_of_run(run);

		while (
		    code == LT_OK && ended < count && order[ended].end_utc_s <= run->submit_utc_s)
			code = learn_run(lengths, &sim->site.runs[order[ended++].index]);
		sim->bases[i].learned = lt_lengths_ask(lengths, &kind, run->limit_s);
	}
	free(order);
	lt_lengths_free(lengths);
	return code == LT_OK ? LT_OK : lt_fail(err, LT_ENOMEM, "run times: no memory");
}

/* ---- what runs cost, and room ---- */

static int
open_outlooks(struct lt_site_sim *sim, struct lt_error *err)
{
	const struct lt_market *const market = sim->site.market;

	sim->outlooks = calloc(market->series_count + 1, sizeof(struct lt_sim_outlook *));
	if (sim->outlooks == NULL)
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	for (uint32_t i = 0; i < market->series_count; i++) {
		const struct lt_sim_signal *const signal = &sim->site.signals[i];

		if (signal->hours > 0 &&
		    lt_sim_outlook_open(&sim->outlooks[i], signal, LT_SIM_OWN_WEEKS, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

/* All of them: settings share them, and change nothing. */
static int
make_forecasts(struct lt_site_sim *sim, struct lt_error *err)
{
	const struct lt_span hours = lt_site_truth_hours(sim->truth);

	for (uint32_t i = 0; i < sim->site.market->series_count; i++)
		for (int64_t hour = hours.from_utc_s / LT_HOUR_S;
		     sim->outlooks[i] != NULL && hour * LT_HOUR_S < hours.to_utc_s; hour++)
			if (lt_sim_outlook_at(sim->outlooks[i], hour) == NULL)
				return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	return LT_OK;
}

/* Finds what it cost, and whether it counts. Only what is priced has room. */
static void
find_base(struct lt_site_sim *sim, uint32_t index)
{
	const struct lt_site *const site = &sim->site;
	const struct lt_site_run *const run = &site->runs[index];
	struct lt_site_base *const base = &sim->bases[index];
	const struct lt_site_stay stay = {
	    .partition = run->partition, .start_utc_s = run->start_utc_s, .stretch = 1};
	const int64_t last_s = run->end_utc_s + site->market->max_delay_s;
	struct lt_estimate estimate;
	const bool is_priced = lt_site_price(&estimate, sim, index, &stay) &&
			       (estimate.has_cost || estimate.has_carbon);

	base->node_equivalents = is_priced ? estimate.node_equivalents : 0;
	if (run->submit_utc_s < site->from_utc_s || run->submit_utc_s >= site->to_utc_s)
		return;
	if (!is_priced) {
		sim->counts.no_place++;
		return;
	}
	if (!lt_site_truth_covers(sim->truth, run->submit_utc_s, last_s)) {
		sim->counts.no_signal++;
		return;
	}
	base->counted = true;
	base->has_micros = estimate.has_cost;
	base->has_mg = estimate.has_carbon;
	base->micros = (double)estimate.cost_micros;
	base->mg = (double)estimate.carbon_mg;
	sim->counts.counted++;
	sim->counts.fixed += !lt_site_is_free(sim->site.market, run);
}

struct edge { /* room is taken or given back */
	int64_t at_utc_s;
	uint32_t index;
	bool is_end;
};

static int
by_time(const void *a, const void *b)
{
	const struct edge *const x = a, *const y = b;

	if (x->at_utc_s != y->at_utc_s)
		return x->at_utc_s > y->at_utc_s ? 1 : -1;
	/* An end makes room for a start. */
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	return x->index > y->index ? 1 : x->index < y->index ? -1 : 0;
}

/* The most that ran at once in each partition: that much had room, whatever nodes it has today. */
static int
find_room(struct lt_site_sim *sim, struct lt_error *err)
{
	const struct lt_site *const site = &sim->site;
	const uint32_t partitions = site->market->partition_count;
	struct edge *const edges = calloc(2 * (size_t)site->run_count + 1, sizeof(*edges));
	double *const used = calloc(partitions + 1, sizeof(*used));
	size_t count = 0;

	sim->room = calloc(partitions + 1, sizeof(*sim->room));
	if (edges == NULL || used == NULL || sim->room == NULL)
		lt_fail(err, LT_ENOMEM, "room: no memory");
	for (uint32_t i = 0; err->code == LT_OK && i < site->run_count; i++) {
		edges[count++] = (struct edge){site->runs[i].start_utc_s, i, false};
		edges[count++] = (struct edge){site->runs[i].end_utc_s, i, true};
	}
	if (edges != NULL)
		qsort(edges, count, sizeof(*edges), by_time);
	for (size_t i = 0; i < count; i++) {
		const uint16_t p = site->runs[edges[i].index].partition;
		const double nodes = sim->bases[edges[i].index].node_equivalents;

		used[p] += edges[i].is_end ? -nodes : nodes;
		if (used[p] > sim->room[p])
			sim->room[p] = used[p];
	}
	free(used);
	free(edges);
	return err->code;
}

/* Whole weeks; what is left over is of the last one. */
static int
count_weeks(struct lt_site_sim *sim, struct lt_error *err)
{
	const int64_t weeks = (sim->site.to_utc_s - sim->site.from_utc_s) / (7 * LT_DAY_S);

	if (weeks > LT_SITE_WEEKS_MAX)
		return lt_fail(err, LT_EINPUT, "got %lld weeks, want at most %d", (long long)weeks,
		    LT_SITE_WEEKS_MAX);
	sim->week_count = weeks > 0 ? (int)weeks : 1;
	return LT_OK;
}

int
lt_site_open(struct lt_site_sim **sim, const struct lt_site *site, struct lt_error *err)
{
	struct lt_site_sim *const made = calloc(1, sizeof(*made));

	*sim = made;
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "runs: no memory");
	made->site = *site;
	made->bases = calloc(site->run_count + 1, sizeof(*made->bases));
	if (made->bases == NULL)
		return lt_fail(err, LT_ENOMEM, "runs: no memory");
	if (count_weeks(made, err) != LT_OK || learn_all(made, err) ||
	    open_outlooks(made, err) != LT_OK ||
	    lt_site_truth_open(&made->truth, made, err) != LT_OK ||
	    make_forecasts(made, err) != LT_OK)
		return err->code;
	for (uint32_t i = 0; i < site->run_count; i++)
		find_base(made, i);
	return find_room(made, err);
}

void
lt_site_close(struct lt_site_sim *sim)
{
	if (sim == NULL)
		return;
	for (uint32_t i = 0; sim->outlooks != NULL && i < sim->site.market->series_count; i++)
		lt_sim_outlook_close(sim->outlooks[i]);
	free(sim->outlooks);
	lt_site_truth_close(sim->truth);
	free(sim->room);
	free(sim->bases);
	free(sim);
}

const struct lt_site_counts *
lt_site_counts(const struct lt_site_sim *sim)
{
	return &sim->counts;
}

/* ---- settings beside each other ---- */

enum { THREADS_MAX = 16 };

struct all {
	struct lt_site_result *results;
	const struct lt_site_sim *sim;
	const struct lt_site_settings *settings;
	atomic_uint next;
	pthread_mutex_t lock;
	struct lt_error err; /* the first */
};

static void *
simulate_next(void *context)
{
	struct all *const all = context;
	uint32_t i;

	while ((i = atomic_fetch_add(&all->next, 1)) < all->settings->count) {
		struct lt_error err = {0};

		if (lt_site_simulate(&all->results[i], all->sim, &all->settings->list[i], &err) ==
		    LT_OK)
			continue;
		pthread_mutex_lock(&all->lock);
		if (all->err.code == LT_OK)
			all->err = err;
		pthread_mutex_unlock(&all->lock);
	}
	return NULL;
}

int
lt_site_simulate_all(struct lt_site_result *results, const struct lt_site_sim *sim,
    const struct lt_site_settings *settings, struct lt_error *err)
{
	struct all all = {.results = results,
	    .sim = sim,
	    .settings = settings,
	    .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t threads[THREADS_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < settings->count; i++)
		results[i] = (struct lt_site_result){0};
	/* This thread is one of them; where no other can be had, the only one. */
	while (count + 1 < settings->threads && count < THREADS_MAX &&
	       pthread_create(&threads[count], NULL, simulate_next, &all) == 0)
		count++;
	simulate_next(&all);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&all.lock);
	if (all.err.code != LT_OK)
		*err = all.err;
	return all.err.code;
}

/* ---- a part of sums of weeks ---- */

/* Leave one week out (Quenouille 1956, Tukey 1958): weeks differ by weather and by who computes,
 * and runs of a week are no independent draws. */

/* Student's t at 0.975 by degrees of freedom, from 1; of more the last, which is a little wide. */
static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
    2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
enum { QUANTILES = sizeof(quantiles) / sizeof(quantiles[0]) };

struct sums {
	double saved, base;
	int weeks; /* with a base */
};

static struct sums
sums_of(const double *saved, const double *base, int count)
{
	struct sums sums = {0};

	for (int i = 0; i < count; i++) {
		sums.saved += saved[i];
		sums.base += base[i];
		sums.weeks += base[i] > 0;
	}
	return sums;
}

static double
part_without(const struct sums *sums, double saved, double base)
{
	return (sums->saved - saved) / (sums->base - base);
}

struct lt_jackknife
lt_jackknife_part(const double *saved, const double *base, int count)
{
	const struct sums sums = sums_of(saved, base, count);
	struct lt_jackknife out = {.has_part = sums.base > 0};
	double mean = 0, squares = 0;

	if (!out.has_part)
		return out;
	out.part = sums.saved / sums.base;
	if (sums.weeks < 2)
		return out;
	for (int i = 0; i < count; i++)
		if (base[i] > 0)
			mean += part_without(&sums, saved[i], base[i]) / sums.weeks;
	for (int i = 0; i < count; i++)
		if (base[i] > 0) {
			const double off = part_without(&sums, saved[i], base[i]) - mean;

			squares += off * off;
		}
	const double t = quantiles[sums.weeks - 2 < QUANTILES ? sums.weeks - 2 : QUANTILES - 1];
	const double half = t * sqrt(squares * (sums.weeks - 1) / sums.weeks);

	out.has_interval = true;
	out.low = out.part - half;
	out.high = out.part + half;
	return out;
}
