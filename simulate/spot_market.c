/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two partitions of one node each, whose prices do not change: what is left to
 * decide is where, and when to leave.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pause.h"
#include "spot_market.h"
#include "units.h"

enum { ON_DEMAND, SPOT, PLACES };

/* Second 0 of the trace: any will do from which a series may begin. */
static const int64_t begin_utc_s = LT_DAY_S;

struct lt_sim_spot_market {
	const struct lt_sim_spot_options *options;
	struct lt_market market;
	struct lt_partition partitions[PLACES];
	struct lt_shape shape;
	struct lt_series prices[PLACES];
	int64_t starts[2];
	double values[PLACES], integrals[PLACES][2];
	struct lt_class class;
	struct lt_request request;
	struct lt_plan plan;
	struct lt_replanned again;
};

int64_t
lt_sim_spot_limit_s(const struct lt_sim_spot_options *options)
{
	return (int64_t)ceil(
		   options->limit_factor * (double)options->work_s / 60) *
	       60;
}

int64_t
lt_sim_spot_deadline_s(
    const struct lt_sim_spot_options *options, int64_t came_s)
{
	return came_s +
	       llround(options->deadline_factor * (double)options->work_s);
}

struct lt_checkpoint
lt_sim_spot_checkpoint(const struct lt_sim_spot_options *options)
{
	return (struct lt_checkpoint){.enabled = true,
	    .signal = 10, /* any will do */
	    .every_s = (double)options->every_s,
	    .write_s = (double)options->write_s};
}

double
lt_sim_spot_hazard_per_hour(const struct lt_sim_spot_trace *trace)
{
	uint32_t there = 0, taken = 0;

	for (uint32_t i = 0; i < trace->count; i++) {
		if (trace->taken[i])
			continue;
		there++;
		taken += trace->taken[(i + 1) % trace->count];
	}
	return there > 0 ? (double)taken * LT_HOUR_S /
			       ((double)there * (double)trace->tick_s)
			 : 0;
}

static int
make_price(struct lt_sim_spot_market *made, int place, double per_hour,
    struct lt_error *err)
{
	struct lt_series *const price = &made->prices[place];

	made->starts[0] = 0;
	made->starts[1] = begin_utc_s;
	made->values[place] = per_hour * LT_MICROS;
	*price = (struct lt_series){.count = 1,
	    .quality = LT_QUALITY_CONSTANT,
	    .start_utc_s = made->starts,
	    .value = &made->values[place],
	    .integral = made->integrals[place]};
	return lt_series_prepare(price, err);
}

static void
make_partitions(
    struct lt_sim_spot_market *made, const struct lt_sim_spot_trace *trace)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} places[PLACES] = {
	    [ON_DEMAND] = {"ondemand", LT_PARTITION_DEFAULT},
	    [SPOT] = {"spot", LT_PARTITION_PREEMPTIBLE},
	};

	for (int i = 0; i < PLACES; i++) {
		struct lt_partition *const part = &made->partitions[i];

		*part = (struct lt_partition){.flags = places[i].flags |
						       LT_PARTITION_UP |
						       LT_PARTITION_MANAGED,
		    .max_time_s = INT64_MAX,
		    .max_nodes = UINT32_MAX,
		    .allow_accounts = "",
		    .deny_accounts = "",
		    .allow_qos = "",
		    .deny_qos = "",
		    .node_count = 1,
		    .shape_count = 1,
		    .price_series = i,
		    .carbon_series = LT_NO_SERIES,
		    .tariff_series = LT_NO_SERIES,
		    .occupancy_series = LT_NO_SERIES,
		    .pue = 1,
		    .restart_s = (double)made->options->restart_s};
		(void)snprintf(
		    part->name, sizeof(part->name), "%s", places[i].name);
	}
	made->partitions[SPOT].hazard_per_node_hour =
	    lt_sim_spot_hazard_per_hour(trace);
}

int
lt_sim_spot_market_open(struct lt_sim_spot_market **market,
    const struct lt_sim_spot *spot, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = spot->options;
	struct lt_sim_spot_market *const made = calloc(1, sizeof(*made));

	*market = made;
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory");
	made->options = options;
	made->shape = (struct lt_shape){
	    .node_count = 1, .cpus = 1, .memory_mib = 1024, .gpu_index = -1};
	make_partitions(made, &spot->trace);
	made->market = (struct lt_market){.currency = "USD",
	    .mode = LT_MODE_ENFORCE,
	    .stale_after_s = LT_DAY_S,
	    .deadline_slack_s = options->slack_s,
	    .deadline_confidence_ppm = 950000,
	    .max_restart_risk_ppm = 100000,
	    .memory_ignored = true,
	    .partition_count = PLACES,
	    .shape_count = 1,
	    .series_count = PLACES,
	    .partitions = made->partitions,
	    .shapes = &made->shape,
	    .series = made->prices};
	if (options->returns) {
		made->class = (struct lt_class){.name = "returns",
		    .max_interruptions = LT_INTERRUPTIONS_ANY,
		    .pause = LT_PAUSE_REQUEUE};
		memcpy(made->class.partition, made->partitions[ON_DEMAND].name,
		    sizeof(made->class.partition));
		made->market.classes = &made->class;
		made->market.class_count = 1;
	}
	made->request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .cpus = 1,
	    .array_tasks = 1,
	    .expected_run_s = LT_UNSET_64,
	    .home = ON_DEMAND,
	    .objective = LT_OBJECTIVE_COST,
	    .checkpoint = lt_sim_spot_checkpoint(options),
	    .max_interruptions = options->max_interruptions,
	    .max_cost_micros = LT_UNSET_64};
	if (make_price(made, ON_DEMAND, options->on_demand_per_hour, err))
		return err->code;
	return make_price(made, SPOT, options->spot_per_hour, err);
}

void
lt_sim_spot_market_close(struct lt_sim_spot_market *market)
{
	free(market);
}

/* As lowtided lays it, again and again: interrupted.c, standing.c. */
static void
lay(struct lt_sim_spot_market *market, const struct lt_sim_spot_ask *ask)
{
	struct lt_request *const request = &market->request;
	const int64_t asked_s = lt_sim_spot_limit_s(market->options);

	request->earliest_utc_s = begin_utc_s + ask->now_s;
	request->deadline_utc_s =
	    begin_utc_s + lt_sim_spot_deadline_s(market->options, ask->came_s);
	request->limit_s = ask->limit_s;
	request->cut_s = asked_s - ask->limit_s;
	request->done_s = ask->done_s;
	request->interruptions = ask->interruptions;
}

static void
take(struct lt_sim_spot_answer *answer, const struct lt_sim_spot_market *market,
    const struct lt_plan *plan, const struct lt_sim_spot_ask *ask)
{
	answer->is_spot = plan->chosen.partition == SPOT;
	answer->start_s =
	    plan->moved ? plan->chosen.start_utc_s - begin_utc_s : ask->now_s;
	answer->limit_s =
	    lt_limit_of(&market->request, &market->market, ON_DEMAND);
}

int
lt_sim_spot_first(struct lt_sim_spot_answer *answer,
    struct lt_sim_spot_market *market, const struct lt_sim_spot_ask *ask,
    struct lt_error *err)
{
	lay(market, ask);
	if (lt_decide(&market->plan, &market->request, &market->market, NULL, 0,
		begin_utc_s + ask->now_s, err) != LT_OK)
		return err->code;
	answer->why = LT_REPLAN_KEEP;
	take(answer, market, &market->plan, ask);
	return LT_OK;
}

int
lt_sim_spot_again(struct lt_sim_spot_answer *answer,
    struct lt_sim_spot_market *market, const struct lt_sim_spot_ask *ask,
    struct lt_error *err)
{
	const struct lt_replan of = {.request = &market->request,
	    .market = &market->market,
	    .partition = ask->is_spot ? SPOT : ON_DEMAND,
	    .start_utc_s = begin_utc_s + ask->waits_since_s,
	    .now_utc_s = begin_utc_s + ask->now_s};

	lay(market, ask);
	if (lt_replan(&market->again, &of, err) != LT_OK)
		return err->code;
	answer->why = market->again.why;
	if (answer->why != LT_REPLAN_KEEP)
		take(answer, market, &market->again.plan, ask);
	return LT_OK;
}

int
lt_sim_spot_back(bool *returns, struct lt_sim_spot_market *market,
    const struct lt_sim_spot_ask *ask, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = market->options;
	struct lt_return back;

	lay(market, ask);
	const struct lt_pause_promise promise = {
	    .deadline_utc_s = market->request.deadline_utc_s,
	    .start_utc_s = begin_utc_s + ask->waits_since_s,
	    .limit_s = ask->limit_s,
	    .now_utc_s = begin_utc_s + ask->now_s};
	const struct lt_return_of of = {.request = &market->request,
	    .market = &market->market,
	    .worked_s = ask->now_s - ask->waits_since_s,
	    .requeue_s = options->write_s + options->restart_s,
	    .most_s = lt_pause_most_s(&promise, &market->market),
	    .now_utc_s = promise.now_utc_s};

	if (lt_replan_return(&back, &of, err) != LT_OK)
		return err->code;
	*returns = back.partition == SPOT;
	return LT_OK;
}
