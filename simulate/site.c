/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all settings share: run times as they were known, what each run cost,
 * which of them count, how much room there was.
 */
#include <stdlib.h>

#include "site_internal.h"
#include "units.h"

static int
open_outlooks(struct lt_site_sim *sim, struct lt_error *err)
{
	const struct lt_market *const market = sim->site.market;

	sim->outlooks =
	    calloc(market->series_count + 1, sizeof(struct lt_sim_outlook *));
	if (sim->outlooks == NULL)
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	for (uint32_t i = 0; i < market->series_count; i++) {
		const struct lt_sim_signal *const signal =
		    &sim->site.signals[i];

		if (signal->hours > 0 &&
		    lt_sim_outlook_open(&sim->outlooks[i], signal,
			LT_SIM_OWN_WEEKS, err) != LT_OK)
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
		     sim->outlooks[i] != NULL &&
		     hour * LT_HOUR_S < hours.to_utc_s;
		     hour++)
			if (lt_sim_outlook_at(sim->outlooks[i], hour) == NULL)
				return lt_fail(
				    err, LT_ENOMEM, "forecasts: no memory");
	return LT_OK;
}

/* What it cost, and whether it counts. Room is that of what is priced. */
static void
find_base(struct lt_site_sim *sim, uint32_t index)
{
	const struct lt_site *const site = &sim->site;
	const struct lt_site_run *const run = &site->runs[index];
	struct lt_site_base *const base = &sim->bases[index];
	const struct lt_site_stay stay = {run->partition, run->start_utc_s, 1};
	const int64_t last_s = run->end_utc_s + site->market->max_delay_s;
	struct lt_estimate estimate;
	const bool is_priced = lt_site_price(&estimate, sim, index, &stay) &&
			       (estimate.has_cost || estimate.has_carbon);

	base->node_equivalents = is_priced ? estimate.node_equivalents : 0;
	if (run->submit_utc_s < site->from_utc_s ||
	    run->submit_utc_s >= site->to_utc_s)
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
	/* What ends makes room for what starts. */
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	return x->index > y->index ? 1 : x->index < y->index ? -1 : 0;
}

/* The most that ran at once in each partition: that much had room, whatever
 * nodes it has today. */
static int
find_room(struct lt_site_sim *sim, struct lt_error *err)
{
	const struct lt_site *const site = &sim->site;
	const uint32_t partitions = site->market->partition_count;
	struct edge *const edges =
	    calloc(2 * (size_t)site->run_count + 1, sizeof(*edges));
	double *const used = calloc(partitions + 1, sizeof(*used));
	size_t count = 0;

	sim->room = calloc(partitions + 1, sizeof(*sim->room));
	if (edges == NULL || used == NULL || sim->room == NULL)
		lt_fail(err, LT_ENOMEM, "room: no memory");
	for (uint32_t i = 0; err->code == LT_OK && i < site->run_count; i++) {
		edges[count++] =
		    (struct edge){site->runs[i].start_utc_s, i, false};
		edges[count++] =
		    (struct edge){site->runs[i].end_utc_s, i, true};
	}
	if (edges != NULL)
		qsort(edges, count, sizeof(*edges), by_time);
	for (size_t i = 0; i < count; i++) {
		const uint16_t p = site->runs[edges[i].index].partition;
		const double nodes =
		    sim->bases[edges[i].index].node_equivalents;

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
	const int64_t weeks =
	    (sim->site.to_utc_s - sim->site.from_utc_s) / (7 * LT_DAY_S);

	if (weeks > LT_SITE_WEEKS_MAX)
		return lt_fail(err, LT_EINPUT,
		    "got %lld weeks, want at most %d", (long long)weeks,
		    LT_SITE_WEEKS_MAX);
	sim->week_count = weeks > 0 ? (int)weeks : 1;
	return LT_OK;
}

int
lt_site_open(
    struct lt_site_sim **sim, const struct lt_site *site, struct lt_error *err)
{
	struct lt_site_sim *const made = calloc(1, sizeof(*made));

	*sim = made;
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "runs: no memory");
	made->site = *site;
	made->bases = calloc(site->run_count + 1, sizeof(*made->bases));
	if (made->bases == NULL)
		return lt_fail(err, LT_ENOMEM, "runs: no memory");
	if (count_weeks(made, err) != LT_OK || lt_site_learn(made, err) ||
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
	for (uint32_t i = 0;
	     sim->outlooks != NULL && i < sim->site.market->series_count; i++)
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

static void
free_loop(struct lt_site_loop *loop, uint32_t partitions)
{
	for (uint32_t i = 0; loop->queues != NULL && i < partitions; i++)
		free(loop->queues[i]);
	free(loop->queues);
	free(loop->queue_count);
	free(loop->queue_room);
	free(loop->lines);
	free(loop->used);
	free(loop->taking);
	free(loop->heap);
	free(loop->jobs);
	lt_site_view_close(loop->view);
	free(loop);
}

int
lt_site_simulate(struct lt_site_result *result, const struct lt_site_sim *sim,
    const struct lt_site_setting *setting, struct lt_error *err)
{
	const uint32_t partitions = sim->site.market->partition_count;
	const size_t runs = sim->site.run_count + (size_t)1;
	/* Two plans are too large for a stack. */
	struct lt_site_loop *const loop = calloc(1, sizeof(*loop));

	*result = (struct lt_site_result){0};
	if (loop == NULL)
		return lt_fail(err, LT_ENOMEM, "simulation: no memory");
	loop->sim = sim;
	loop->setting = setting;
	loop->jobs = calloc(runs, sizeof(*loop->jobs));
	loop->taking = calloc(runs, sizeof(*loop->taking));
	loop->used = calloc(partitions + 1, sizeof(*loop->used));
	loop->queues = calloc(partitions + 1, sizeof(*loop->queues));
	loop->queue_count = calloc(partitions + 1, sizeof(*loop->queue_count));
	loop->queue_room = calloc(partitions + 1, sizeof(*loop->queue_room));
	loop->lines = calloc(partitions + 1, sizeof(*loop->lines));
	if (loop->jobs == NULL || loop->taking == NULL || loop->used == NULL ||
	    loop->queues == NULL || loop->queue_count == NULL ||
	    loop->queue_room == NULL || loop->lines == NULL)
		lt_fail(err, LT_ENOMEM, "simulation: no memory");
	else if (lt_site_view_open(&loop->view, sim, setting, err) == LT_OK &&
		 lt_site_loop_run(loop, err) == LT_OK)
		(void)lt_site_sum(result, loop, err);
	free_loop(loop, partitions);
	return err->code;
}
