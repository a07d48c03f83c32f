/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a start in a lane comes to: as long as its run is expected to be, as
 * long as it may be, and were its nodes no faster than home's.
 */
#include <assert.h>
#include <math.h>

#include "decide_internal.h"

double
lt_linear_value(const struct linear *linear, const double integral[TERM_COUNT],
    double end_after_now_s)
{
	double sum = linear->constant + linear->per_s * end_after_now_s;

	for (int i = 0; i < TERM_COUNT; i++)
		sum += linear->weight[i] * integral[i];
	return sum;
}

struct linear
lt_linear_sum(const struct linear *a, const struct linear *b, double factor)
{
	struct linear sum = *a;

	for (int i = 0; i < TERM_COUNT; i++)
		sum.weight[i] += b->weight[i] * factor;
	sum.constant += b->constant * factor;
	sum.per_s += b->per_s * factor;
	return sum;
}

void
lt_lane_integrals(
    double integral[TERM_COUNT], const struct lane *lane, int64_t start_utc_s)
{
	for (int i = 0; i < TERM_COUNT; i++) {
		integral[i] = 0;
		if (lane->series[i] == NULL)
			continue;
		for (uint32_t e = 0; e < lane->length_count; e++)
			integral[i] += lt_series_integral(lane->series[i],
			    start_utc_s, start_utc_s + lane->lengths_s[e]);
		integral[i] *= lane->length_part;
	}
}

void
lt_lane_mean(struct lane *lane)
{
	double sum_s = 0;

	for (uint32_t i = 0; i < lane->length_count; i++)
		sum_s += (double)lane->lengths_s[i];
	lane->mean_h = sum_s * lane->length_part / LT_HOUR_S;
}

/* Half away from zero, held within int64_t. */
static int64_t
whole(double value)
{
	if (value >= 9.2e18)
		return INT64_MAX;
	if (value <= -9.2e18)
		return INT64_MIN;
	return llround(value);
}

void
lt_lane_estimate(
    struct lt_estimate *estimate, const struct lane *lane, int64_t start_utc_s)
{
	assert(lane->partition >= 0 && lane->length_s >= 0);

	const double hours = lane->mean_h;
	double integral[TERM_COUNT];

	lt_lane_integrals(integral, lane, start_utc_s);
	*estimate = (struct lt_estimate){
	    .partition = lane->partition,
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + lane->done_s,
	    .free_utc_s = start_utc_s + lane->length_s,
	    .expected_active_s = lane->active.active_s,
	    .expected_interruptions = lane->active.expected_interruptions *
				      (double)lane->length_s /
				      lane->active.active_s * lane->task_factor,
	    .expected_lost_s = lane->active.lost_s * (double)lane->length_s /
			       lane->active.active_s * lane->task_factor,
	    .restart_chance = lane->active.restart_chance,
	    .interval_s = lane->active.interval_s,
	    .time_ratio = lane->time_ratio,
	    .time_ratio_known = lane->time_ratio_known,
	    .node_equivalents = lane->node_equivalents,
	    .task_nodes = (double)lane->share.nodes *
			  (double)lane->share.numerator /
			  (double)lane->share.denominator,
	    .task_w = lane->power_kw * 1000 / lane->task_factor,
	    .has_cost = lane->has_charged,
	    .has_carbon = lane->has_carbon,
	    .expected_compute_micros =
		lane->charged.weight[TERM_PRICE] * integral[TERM_PRICE],
	    .expected_energy_micros = lane->power_kw * integral[TERM_TARIFF],
	    .expected_storage_micros = lane->storage_micros,
	    .expected_failure_micros = lane->failure_micros,
	    .energy_wh = lane->power_kw * 1000 * hours,
	};
	if (lane->has_carbon)
		estimate->carbon_mg =
		    whole(lt_linear_value(&lane->emitted, integral, 0));
	if (!lane->has_charged)
		return;
	estimate->cost_micros = estimate->most_micros =
	    whole(lt_linear_value(&lane->charged, integral, 0));
	if (lane->length_count > 1 || lane->lengths_s[0] != lane->sure_s) {
		struct lane sure;

		lt_lane_sure(&sure, lane);
		lt_lane_integrals(integral, &sure, start_utc_s);
		estimate->most_micros =
		    whole(lt_linear_value(&sure.charged, integral, 0));
	}
}

/* All that depends on the length of its windows, were these that many times as
 * long. */
static void
stretch(struct lane *lane, double times)
{
	lane->charged.constant *= times;
	lane->emitted.constant *= times;
}

void
lt_lane_sure(struct lane *sure, const struct lane *lane)
{
	*sure = *lane;
	sure->lengths_s[0] = lane->sure_s;
	sure->length_count = 1;
	sure->length_part = 1;
	lt_lane_mean(sure);
	stretch(sure, sure->mean_h / lane->mean_h);
}

void
lt_lane_estimate_slow(
    struct lt_estimate *estimate, const struct lane *lane, int64_t start_utc_s)
{
	const double ratio = lane->time_ratio;
	struct lane slow = *lane;

	slow.length_s = llround((double)lane->length_s / ratio);
	for (uint32_t i = 0; i < lane->length_count; i++)
		slow.lengths_s[i] = llround((double)lane->lengths_s[i] / ratio);
	lt_lane_mean(&slow);
	stretch(&slow, 1 / ratio);
	lt_lane_estimate(estimate, &slow, start_utc_s);
}
