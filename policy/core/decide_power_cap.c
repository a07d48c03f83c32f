/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last step of a decision: where the choice's window is dirtier than the site's
 * power_cap.above, the run is slowed by the first rule that names it. Nothing is chosen by it.
 * docs/model.md, eqs. (9a) to (9c).
 */
#include <math.h>
#include <string.h>

#include "decide_internal.h"

enum {
	STEP_S = 900,		 /* how fine starts are looked at */
	AHEAD_S = 2 * 24 * 3600, /* how far */
};

static bool
is_any(const char *rule, const char *name)
{
	return rule[0] == '\0' || strcmp(rule, name) == 0;
}

/* Finds the first rule for the job there. Rules that slow GPUs alone do not apply to jobs without
 * GPUs. */
static const struct lt_power_cap *
find_power_cap(const struct job *job, int partition)
{
	const struct lt_request *const request = job->request;
	const struct lt_market *const market = job->market;
	const bool has_gpus = lt_request_wants_gpus(request);
	const struct lt_gpu *const gpu = has_gpus ? lt_market_gpu(market, partition) : NULL;
	static const uint32_t never = LT_PIN_FREQUENCY | LT_PIN_INTERACTIVE | LT_PIN_HET;

	for (uint32_t i = 0; i < market->power_cap_count && !(request->pins & never); i++) {
		const struct lt_power_cap *const rule = &market->power_caps[i];

		if (is_any(rule->account, request->account) && is_any(rule->qos, request->qos) &&
		    is_any(rule->partition, market->partitions[partition].name) &&
		    is_any(rule->gpu, gpu != NULL ? gpu->name : "") &&
		    (has_gpus || rule->cpu_freq[0] != '\0'))
			return rule;
	}
	return NULL;
}

/* Mean intensity of the window that starts there; (9a). */
static double
mean_at(const struct lane *lane, int64_t start_utc_s)
{
	double integral[TERM_COUNT];

	lt_lane_integrals(integral, lane, start_utc_s);
	return integral[TERM_CARBON] / lane->mean_h;
}

/* Returns the first start, after that one, which is clean, or of which nothing is known; (9c). */
static int64_t
until(const struct lane *lane, int64_t start_utc_s, double above)
{
	const struct lt_series *const series = lane->series[TERM_CARBON];
	int64_t end_utc_s = start_utc_s + AHEAD_S;

	if (series->quality != LT_QUALITY_CONSTANT &&
	    series->start_utc_s[series->count] < end_utc_s)
		end_utc_s = series->start_utc_s[series->count];
	do
		start_utc_s += STEP_S;
	while (start_utc_s < end_utc_s && mean_at(lane, start_utc_s) > above);
	return start_utc_s;
}

/* True if a slowed job still has the time and the money. */
static bool
is_within(const struct job *job, const struct lane *slow, const struct lt_estimate *slowed)
{
	const struct lt_request *const request = job->request;

	return !lt_is_too_dear(job, lt_lane_mean_price(slow, slowed->start_utc_s)) &&
	       (request->deadline_utc_s == LT_UNSET_64 ||
		   slowed->start_utc_s <= slow->latest_utc_s) &&
	       !lt_is_over_cost(request, slowed);
}

static uint32_t
grams(double g)
{
	return g < UINT32_MAX ? (uint32_t)llround(g) : UINT32_MAX;
}

/* The plan's choice, slowed by the rule, if its window is dirty. */
static void
slow(const struct decision *decision, const struct lane *lane, const struct lt_power_cap *rule)
{
	const double above = decision->job.market->power_cap_above;
	struct lt_plan *const plan = decision->plan;
	const struct lt_estimate was = plan->chosen;
	const double mean_g = mean_at(lane, was.start_utc_s);
	struct job job = decision->job;
	struct lt_estimate slowed;
	struct lane slower;
	double wanted, found;

	job.power_cap = rule;
	if (!(mean_g > above) ||
	    lt_lane_build(&slower, &job, lane->partition, &wanted, &found) != LT_REJECT_NONE)
		return;
	lt_lane_estimate(&slowed, &slower, was.start_utc_s);
	if (!is_within(&job, &slower, &slowed))
		return;
	/* The start was chosen without, and is measured against others so. */
	slowed.score = was.score;
	slowed.too_late = was.too_late;
	plan->chosen = slowed;
	plan->capped = (struct lt_capped){
	    .until_utc_s = until(lane, was.start_utc_s, above),
	    .longer_ppm = (uint32_t)llround((rule->slow_down - 1) * LT_MICROS),
	    .less_wh = llround(was.energy_wh - slowed.energy_wh),
	    .above_g = grams(above),
	    .mean_g = grams(mean_g),
	};
	if (lt_request_wants_gpus(job.request))
		memcpy(plan->capped.gpu_freq, rule->gpu_freq, sizeof(plan->capped.gpu_freq));
	memcpy(plan->capped.cpu_freq, rule->cpu_freq, sizeof(plan->capped.cpu_freq));
}

void
lt_decision_cap(const struct decision *decision, const struct lane *lane)
{
	const struct job *const job = &decision->job;
	const struct lt_power_cap *const rule = find_power_cap(job, lane->partition);

	decision->plan->capped = (struct lt_capped){0};
	if (rule != NULL && lane->series[TERM_CARBON] != NULL &&
	    lt_market_signal_age_s(job->market, lane->partition, job->now_utc_s) <=
		job->market->stale_after_s)
		slow(decision, lane, rule);
}
