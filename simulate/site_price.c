/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as the job that it was when it came: what it was given is taken for what it asked. And what
 * it costs at a place and time, by the site's market with its signals as they were:
 * lt_estimate_at(), with nothing left to chance.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "site_internal.h"
#include "text.h"
#include "units.h"

static const uint32_t starts_at_once = LT_PIN_BEGIN | LT_PIN_HET | LT_PIN_RESERVATION |
				       LT_PIN_DEPENDENCY | LT_PIN_LICENSES | LT_PIN_BURST_BUFFER |
				       LT_PIN_CRON | LT_PIN_INTERACTIVE;

/* A person waits for it: the class of its name places it only if asked. */
static bool
is_waited_for(const struct lt_market *market, const struct lt_site_run *run)
{
	char account[LT_ACCOUNT_SIZE];

	lt_copy_lower(account, sizeof(account), run->account);
	const struct lt_class *const class =
	    lt_market_class(market, &(struct lt_class_of){.account = account,
					.qos = run->qos,
					.name = run->name,
					.partition = run->partition});

	return class != NULL && class->patterns[0] != '\0' &&
	       class->default_objective == LT_OBJECTIVE_OFF;
}

bool
lt_site_is_free(const struct lt_market *market, const struct lt_site_run *run)
{
	if (is_waited_for(market, run))
		return false;
	return (run->pins & starts_at_once) == 0 ||
	       (run->pins & ~(uint32_t)LT_PIN_FREQUENCY) == LT_PIN_INTERACTIVE;
}

int64_t
lt_site_length_s(const struct lt_site_run *run)
{
	return run->end_utc_s - run->start_utc_s;
}

void
lt_site_request(
    struct lt_request *request, const struct lt_site_sim *sim, uint32_t index, int64_t length_s)
{
	const struct lt_site_run *const run = &sim->site.runs[index];
	const struct lt_expected *const learned = &sim->bases[index].learned;

	*request = (struct lt_request){.uid = run->uid,
	    .min_nodes = run->nodes,
	    .max_nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .memory_mib_per_node =
		run->nodes > 0 ? (run->memory_mib + run->nodes - 1) / run->nodes : 0,
	    .array_tasks = 1,
	    .limit_s = run->limit_s,
	    .expected_run_s = length_s > 0 ? length_s : LT_UNSET_64,
	    .deadline_utc_s = LT_UNSET_64,
	    .max_cost_micros = LT_UNSET_64,
	    .pins = run->pins,
	    .home = run->partition,
	    .earliest_utc_s = run->eligible_utc_s};
	lt_copy_lower(request->account, sizeof(request->account), run->account);
	lt_copy(request->qos, sizeof(request->qos), run->qos);
	lt_copy(request->name, sizeof(request->name), run->name);
	lt_copy(request->features, sizeof(request->features), run->features);
	if (length_s <= 0)
		request->learned = *learned;
	/* Slurm let it run past its limit, or its end was late. */
	else if (request->limit_s > 0 && request->limit_s < length_s)
		request->limit_s = length_s;
}

/* ---- signals as they were ---- */

enum { HOLE_HOURS = 2 }; /* is bridged, as lowtided does; longer: not known */

struct lt_site_truth {
	struct lt_market market;
	struct lt_partition *partitions;
	struct lt_series *series;
	int64_t first_hour;
	int hours;
	int *unknown; /* how many of the hours before it are; hours + 1 */
};

void
lt_site_truth_close(struct lt_site_truth *truth)
{
	if (truth == NULL)
		return;
	for (uint32_t i = 0; truth->series != NULL && i < truth->market.series_count; i++) {
		free(truth->series[i].start_utc_s);
		free(truth->series[i].value);
		free(truth->series[i].integral);
	}
	free(truth->series);
	free(truth->partitions);
	free(truth->unknown);
	free(truth);
}

static int
copy_constant(struct lt_series *to, const struct lt_series *from)
{
	*to = *from;
	to->count = 1;
	to->start_utc_s = calloc(2, sizeof(*to->start_utc_s));
	to->value = calloc(1, sizeof(*to->value));
	to->integral = calloc(2, sizeof(*to->integral));
	if (to->start_utc_s == NULL || to->value == NULL || to->integral == NULL)
		return LT_ENOMEM;
	to->start_utc_s[0] = from->start_utc_s[0];
	to->start_utc_s[1] = from->start_utc_s[0] + 1;
	to->value[0] = from->value[0];
	return LT_OK;
}

static int
copy_signal(
    struct lt_series *to, const struct lt_site_truth *truth, const struct lt_sim_signal *signal)
{
	const size_t count = (size_t)truth->hours;

	to->count = (uint32_t)count;
	to->quality = LT_QUALITY_MEASURED;
	to->start_utc_s = calloc(count + 1, sizeof(*to->start_utc_s));
	to->value = calloc(count, sizeof(*to->value));
	to->integral = calloc(count + 1, sizeof(*to->integral));
	if (to->start_utc_s == NULL || to->value == NULL || to->integral == NULL)
		return LT_ENOMEM;
	for (size_t i = 0; i <= count; i++)
		to->start_utc_s[i] = (truth->first_hour + (int64_t)i) * LT_HOUR_S;
	for (size_t i = 0; i < count; i++)
		to->value[i] = lt_sim_signal_at(signal, truth->first_hour + (int64_t)i);
	return LT_OK;
}

/* Marks its long holes, and what lies before and behind it. */
static void
mark_unknown(bool *unknown, const struct lt_site_truth *truth, const struct lt_sim_signal *signal)
{
	int hole = 0;

	for (int i = 0; i <= truth->hours; i++) {
		const int64_t k = truth->first_hour + i - signal->first_hour;
		const bool outside = k < 0 || k >= signal->hours;

		if (i < truth->hours && (outside || isnan(signal->seen[k]))) {
			unknown[i] |= outside;
			hole++;
			continue;
		}
		for (int back = 1; hole > HOLE_HOURS && back <= hole; back++)
			unknown[i - back] = true;
		hole = 0;
	}
}

static int
copy_series(
    struct lt_site_truth *truth, bool *unknown, const struct lt_site_sim *sim, struct lt_error *err)
{
	const struct lt_market *const market = sim->site.market;

	for (uint32_t i = 0; i < market->series_count; i++) {
		const struct lt_sim_signal *const signal = &sim->site.signals[i];
		struct lt_series *const to = &truth->series[i];
		int code = LT_OK;

		if (market->series[i].count == 0 || !lt_market_uses(market, (int)i)) {
			continue;
		} else if (market->series[i].quality == LT_QUALITY_CONSTANT) {
			code = copy_constant(to, &market->series[i]);
		} else if (signal->hours > 0) {
			code = copy_signal(to, truth, signal);
			mark_unknown(unknown, truth, signal);
		} else {
			continue;
		}
		if (code != LT_OK)
			return lt_fail(err, code, "signals: no memory");
		if (lt_series_prepare(to, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

/* Spans the whole window, and what may be put off to behind it. */
static int
find_hours(struct lt_site_truth *truth, const struct lt_site_sim *sim, struct lt_error *err)
{
	int64_t last_s = sim->site.to_utc_s;

	for (uint32_t i = 0; i < sim->site.run_count; i++) {
		const struct lt_site_run *const run = &sim->site.runs[i];
		const int64_t end_s = run->end_utc_s + sim->site.market->max_delay_s;

		if (run->submit_utc_s >= sim->site.from_utc_s && end_s > last_s)
			last_s = end_s;
	}
	truth->first_hour = sim->site.from_utc_s / LT_HOUR_S;
	const int64_t hours = last_s / LT_HOUR_S + 1 - truth->first_hour;
	if (hours > LT_STEPS_MAX)
		return lt_fail(err, LT_EINPUT,
		    "runs, and how long they may wait, are of %lld hours, limit %d: want a shorter time",
		    (long long)hours, LT_STEPS_MAX);
	truth->hours = (int)hours;
	return LT_OK;
}

int
lt_site_truth_open(
    struct lt_site_truth **truth, const struct lt_site_sim *sim, struct lt_error *err)
{
	const struct lt_market *const market = sim->site.market;
	struct lt_site_truth *const made = calloc(1, sizeof(*made));
	bool *unknown = NULL;

	*truth = made;
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "signals: no memory");
	made->market = *market;
	if (find_hours(made, sim, err) != LT_OK)
		return err->code;
	made->series = calloc(market->series_count + 1, sizeof(*made->series));
	made->partitions = calloc(market->partition_count + 1, sizeof(*made->partitions));
	made->unknown = calloc((size_t)made->hours + 1, sizeof(*made->unknown));
	unknown = calloc((size_t)made->hours + 1, sizeof(*unknown));
	if (made->series == NULL || made->partitions == NULL || made->unknown == NULL ||
	    unknown == NULL)
		lt_fail(err, LT_ENOMEM, "signals: no memory");
	else if (copy_series(made, unknown, sim, err) == LT_OK) {
		for (int i = 0; i < made->hours; i++)
			made->unknown[i + 1] = made->unknown[i] + unknown[i];
		for (uint32_t i = 0; i < market->partition_count; i++) {
			made->partitions[i] = market->partitions[i];
			/* The length of a run has its interruptions in it. */
			made->partitions[i].hazard_per_node_hour = 0;
		}
		made->market.series = made->series;
		made->market.partitions = made->partitions;
		/* Its length is known: no limit of the site cuts it. */
		made->market.power_cap_count = 0;
	}
	free(unknown);
	return err->code;
}

struct lt_span
lt_site_truth_hours(const struct lt_site_truth *truth)
{
	return (struct lt_span){
	    truth->first_hour * LT_HOUR_S, (truth->first_hour + truth->hours) * LT_HOUR_S};
}

static int
hour_index(const struct lt_site_truth *truth, int64_t hour)
{
	const int64_t i = hour - truth->first_hour;

	return i < 0 ? 0 : i > truth->hours ? truth->hours : (int)i;
}

bool
lt_site_truth_covers(const struct lt_site_truth *truth, int64_t from_utc_s, int64_t to_utc_s)
{
	const int from = hour_index(truth, from_utc_s / LT_HOUR_S);
	const int to = hour_index(truth, (to_utc_s + LT_HOUR_S - 1) / LT_HOUR_S);

	return truth->unknown[to] == truth->unknown[from];
}

bool
lt_site_price(struct lt_estimate *estimate, const struct lt_site_sim *sim, uint32_t index,
    const struct lt_site_stay *stay)
{
	const struct lt_site_run *const run = &sim->site.runs[index];
	struct lt_request request;
	enum lt_reject reject;

	lt_site_request(
	    &request, sim, index, llround((double)lt_site_length_s(run) * stay->stretch));
	request.earliest_utc_s = stay->start_utc_s;
	return lt_estimate_at(
	    estimate, &reject, &request, &sim->truth->market, stay->partition, stay->start_utc_s);
}
