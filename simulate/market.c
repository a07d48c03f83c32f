/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A market of one partition whose nodes are CPUs, so that all of the decision is lt_decide()'s: the
 * simulator has no rule of its own for who waits.
 */
#include <math.h>
#include <stdlib.h>

#include "forecast.h"
#include "internal.h"
#include "replan.h"
#include "units.h"

struct lt_sim_market {
	struct lt_market market;
	struct lt_partition partition;
	struct lt_shape shape;
	struct lt_series series;
	int64_t starts[LT_FORECAST_HOURS + 1];
	double values[LT_FORECAST_HOURS], integrals[LT_FORECAST_HOURS + 1];
	struct lt_request request;
	struct lt_plan plan;
	struct lt_replanned again;
};

int
lt_sim_market_open(
    struct lt_sim_market **market, const struct lt_sim_options *options, struct lt_error *err)
{
	const uint32_t cpus = options->capacity > 0 ? options->capacity : LT_NODES_MAX;
	struct lt_sim_market *const made = calloc(1, sizeof(*made));

	*market = made;
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory");
	made->shape =
	    (struct lt_shape){.node_count = cpus, .cpus = 1, .memory_mib = 1024, .gpu_index = -1};
	made->partition = (struct lt_partition){.name = "simulated",
	    .flags = LT_PARTITION_DEFAULT | LT_PARTITION_UP | LT_PARTITION_MANAGED,
	    .max_time_s = INT64_MAX,
	    .max_nodes = UINT32_MAX,
	    .allow_accounts = "",
	    .deny_accounts = "",
	    .allow_qos = "",
	    .deny_qos = "",
	    .node_count = cpus,
	    .shape_count = 1,
	    .price_series = LT_NO_SERIES,
	    .tariff_series = LT_NO_SERIES,
	    .occupancy_series = LT_NO_SERIES,
	    .node_idle_w = options->idle_watts_per_cpu,
	    .node_cpu_w = options->watts_per_cpu - options->idle_watts_per_cpu,
	    .pue = 1};
	made->market = (struct lt_market){.stale_after_s = LT_DAY_S,
	    .deadline_confidence_ppm = 950000,
	    .max_restart_risk_ppm = 100000,
	    .waiting_mg_per_hour = llround(options->waiting_g_per_hour * 1000),
	    .min_saving_ppm = (uint32_t)llround(options->min_saving_percent * 10000),
	    .memory_ignored = true,
	    .partition_count = 1,
	    .shape_count = 1,
	    .series_count = 1,
	    .partitions = &made->partition,
	    .shapes = &made->shape,
	    .series = &made->series};
	made->request = (struct lt_request){.array_tasks = 1,
	    .deadline_utc_s = LT_UNSET_64,
	    .objective = LT_OBJECTIVE_CARBON,
	    .max_cost_micros = LT_UNSET_64};
	return LT_OK;
}

void
lt_sim_market_close(struct lt_sim_market *market)
{
	free(market);
}

int
lt_sim_market_see(struct lt_sim_market *market, struct lt_sim_outlook *outlook, int64_t now_utc_s,
    struct lt_error *err)
{
	const int64_t first_s = now_utc_s / LT_HOUR_S * LT_HOUR_S;
	const double *const values = lt_sim_outlook_at(outlook, now_utc_s / LT_HOUR_S);

	if (values == NULL)
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	market->series = (struct lt_series){.count = LT_FORECAST_HOURS,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = first_s,
	    .source = "signal",
	    .start_utc_s = market->starts,
	    .value = market->values,
	    .integral = market->integrals};
	for (int i = 0; i < LT_FORECAST_HOURS; i++) {
		market->starts[i] = first_s + (int64_t)i * LT_HOUR_S;
		market->values[i] = values[i];
	}
	market->starts[LT_FORECAST_HOURS] = first_s + (int64_t)LT_FORECAST_HOURS * LT_HOUR_S;
	return lt_series_prepare(&market->series, err);
}

void
lt_sim_market_queue(struct lt_sim_market *market, bool queued)
{
	const uint32_t flag = LT_PARTITION_QUEUED;

	market->partition.flags =
	    queued ? market->partition.flags | flag : market->partition.flags & ~flag;
}

const struct lt_market *
lt_sim_market_of(const struct lt_sim_market *market)
{
	return &market->market;
}

void
lt_sim_market_request(struct lt_request *request, const struct lt_sim_market *market,
    const struct lt_sim_ask *ask, int64_t now_utc_s)
{
	*request = market->request;
	request->min_nodes = request->max_nodes = request->cpus = ask->cpus;
	request->limit_s = ask->limit_s;
	request->expected_run_s = ask->run_s > 0 ? ask->run_s : LT_UNSET_64;
	request->learned = (struct lt_expected){0};
	/* At the submission only the median is known, as to job_submit. */
	if (ask->low_s > 0 && ask->standing_utc_s > 0) {
		request->expected_run_s = LT_UNSET_64;
		request->learned = (struct lt_expected){.from = LT_HISTORY_NAME,
		    .expected_s = ask->run_s,
		    .upper_s = ask->run_s,
		    .low_s = ask->low_s,
		    .high_s = ask->high_s};
	}
	request->earliest_utc_s = now_utc_s;
	/* Late already: as soon as there is room. */
	request->latest_utc_s = ask->latest_utc_s > now_utc_s ? ask->latest_utc_s : now_utc_s;
}

int
lt_sim_market_decide(int64_t *start_utc_s, struct lt_sim_market *market,
    const struct lt_sim_ask *ask, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_request *const request = &market->request;

	*start_utc_s = now_utc_s;
	lt_sim_market_request(request, market, ask, now_utc_s);
	if (ask->standing_utc_s > 0) {
		const struct lt_replan replan = {.request = request,
		    .market = &market->market,
		    .planned = ask->planned,
		    .planned_count = ask->planned_count,
		    .start_utc_s = ask->standing_utc_s,
		    .now_utc_s = now_utc_s};

		if (lt_replan(&market->again, &replan, err) != LT_OK)
			return err->code;
		*start_utc_s =
		    market->again.why != LT_REPLAN_KEEP
			? (market->again.plan.moved ? market->again.plan.chosen.start_utc_s
						    : now_utc_s)
		    : ask->standing_utc_s > now_utc_s ? ask->standing_utc_s
						      : now_utc_s;
		return LT_OK;
	}
	if (lt_decide(&market->plan, request, &market->market, ask->planned, ask->planned_count,
		now_utc_s, err) != LT_OK)
		return err->code;
	*start_utc_s = market->plan.moved ? market->plan.chosen.start_utc_s : now_utc_s;
	return LT_OK;
}
