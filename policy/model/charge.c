/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges a run by exact integrals over its hours, cut at the site's midnights where these are not
 * full hours of UTC. Only the run's total is rounded (by the ledger, with a carry); the hours are
 * cut from that total. Then from what Slurm allocated to the shares and watts that are multiplied.
 *
 * Pure. Fails with LT_ENOMEM, or LT_ELIMIT for more than ten years.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "charge.h"
#include "gpu_kinds.h"
#include "units.h"
#include "min_max.h"

/* ---- charges ---- */

enum { HOURS_MAX = 10 * 366 * 24 };

/* Returns the integral over [from, to) in value x seconds, and the worst quality met. */
double
lt_rates_integral(const struct lt_rates *rates, int64_t from, int64_t to, enum lt_quality *worst)
{
	assert(from <= to);
	assert(rates->steps != NULL || rates->count == 0);

	double sum = 0;
	for (uint32_t i = 0; i < rates->count; i++) {
		const struct lt_rate_step *const step = &rates->steps[i];
		const int64_t begin = i == 0 ? INT64_MIN : step->start_utc_s;
		const int64_t end =
		    i + 1 == rates->count ? INT64_MAX : rates->steps[i + 1].start_utc_s;
		const int64_t low = lt_max_i64(begin, from);
		const int64_t high = lt_min_i64(end, to);

		if (low >= high)
			continue;
		sum += step->value * (double)(high - low);
		if (step->quality > *worst)
			*worst = step->quality;
	}
	return sum;
}

/* Returns their mean; without steps `otherwise`. A single step counts with its value. */
static double
mean_of(const struct lt_rates *rates, int64_t from, int64_t to, double otherwise)
{
	enum lt_quality any = LT_QUALITY_NONE;

	if (rates->count == 0)
		return otherwise;
	if (rates->count == 1)
		return rates->steps[0].value;
	return lt_rates_integral(rates, from, to, &any) / (double)(to - from);
}

static void
charge_hour(struct lt_charge *charge, const struct lt_charge_input *input, int64_t from, int64_t to)
{
	static const double mg_per_g = 1000, wh_per_kwh = 1000;
	const double off = input->suspended, on = 1 - off;
	const double kept = off > 0 ? (double)input->suspended_share.numerator /
					  (double)input->suspended_share.denominator
				    : 0;
	const double share =
	    on * (double)input->share.numerator / (double)input->share.denominator + off * kept;
	const double pue = mean_of(&input->pues, from, to, input->pue);
	const double watts = (on * input->watts + (off > 0 ? off * input->suspended_watts : 0)) *
			     (input->pue > 0 && pue != input->pue ? pue / input->pue : 1);
	const double embodied =
	    mean_of(&input->embodied, from, to, input->embodied_g_per_node_hour);
	const double seconds = (double)(to - from);
	const double price = lt_rates_integral(&input->price, from, to, &charge->worst_quality);
	const double intensity =
	    lt_rates_integral(&input->carbon, from, to, &charge->worst_quality);
	struct lt_charge_hour *const hour = &charge->hours[charge->hour_count++];

	hour->at_utc_s = from;
	/* One division, last: a whole node's parts keep their exact sum. */
	hour->money_micros = off > 0
				 ? price * (double)input->nodes * share / LT_HOUR_S
				 : price * (double)input->nodes * (double)input->share.numerator /
				       ((double)input->share.denominator * LT_HOUR_S);
	hour->energy_wh = watts * seconds / LT_HOUR_S;
	hour->carbon_mg = watts * intensity / LT_HOUR_S / wh_per_kwh * mg_per_g +
			  embodied * mg_per_g * (double)input->nodes * share * seconds / LT_HOUR_S;
	if (!charge->has_carbon)
		hour->carbon_mg = 0;
	hour->carbon_charge_micros =
	    hour->carbon_mg * mean_of(&input->carbon_charge, from, to, 0) / LT_MG_PER_TONNE;
	hour->money_micros += hour->carbon_charge_micros;
	if (!charge->priced)
		hour->money_micros = hour->carbon_charge_micros = 0;
	charge->carbon_charge_micros += hour->carbon_charge_micros;
	charge->money_micros += hour->money_micros;
	charge->carbon_mg += hour->carbon_mg;
	charge->energy_wh += hour->energy_wh;
}

/* Unknown power means unknown carbon. */
static bool
has_carbon(const struct lt_charge_input *input)
{
	return input->carbon.count > 0 && !input->watts_unknown;
}

/* True if it has a price, with that of its carbon. */
static bool
is_priced(const struct lt_charge_input *input)
{
	bool is_charged = false;

	for (uint32_t i = 0; i < input->carbon_charge.count; i++)
		is_charged |= input->carbon_charge.steps[i].value > 0;
	return input->price.count > 0 && (!is_charged || has_carbon(input));
}

static void
charge_hours(struct lt_charge *charge, const struct lt_charge_input *input)
{
	char text[LT_DAY_TEXT_SIZE];
	int64_t day, day_end = input->offsets != NULL ? 0 : INT64_MAX;

	for (int64_t at = input->start_utc_s, end; at < input->end_utc_s; at = end) {
		if (at >= day_end)
			lt_calendar_day(text, &day, &day_end, input->offsets, at);
		assert(day_end > at);
		end = at - at % LT_HOUR_S + LT_HOUR_S;
		if (day_end < end)
			end = day_end;
		charge_hour(charge, input, at, lt_min_i64(end, input->end_utc_s));
	}
}

int
lt_charge_run(struct lt_charge *charge, const struct lt_charge_input *input, struct lt_error *err)
{
	assert(input->share.denominator > 0);
	assert(input->suspended >= 0 && input->suspended <= 1);
	assert(input->suspended <= 0 || input->suspended_share.denominator > 0);

	*charge = (struct lt_charge){.priced = is_priced(input), .has_carbon = has_carbon(input)};
	if (input->start_utc_s <= 0 || input->end_utc_s <= input->start_utc_s) {
		charge->priced = true; /* it never ran: nothing, exactly */
		charge->has_carbon = true;
		return LT_OK;
	}
	const int64_t first = input->start_utc_s / LT_HOUR_S;
	const int64_t hours = (input->end_utc_s + LT_HOUR_S - 1) / LT_HOUR_S - first;
	if (hours > HOURS_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "run of %lld hours, limit %d", (long long)hours, HOURS_MAX);
	/* One midnight at most is amid an hour. */
	charge->hours = calloc(2 * (size_t)hours, sizeof(*charge->hours));
	if (charge->hours == NULL)
		return lt_fail(err, LT_ENOMEM, "charge: out of memory");
	charge_hours(charge, input);
	return LT_OK;
}

void
lt_charge_free(struct lt_charge *charge)
{
	free(charge->hours);
	*charge = (struct lt_charge){0};
}

void
lt_charge_split(int64_t *parts, const double *exact, uint32_t count, int64_t total)
{
	double sum = 0;
	int64_t given = 0;

	for (uint32_t i = 0; i < count; i++) {
		sum += exact[i];
		const int64_t until = i + 1 == count ? total : (int64_t)llround(sum);
		parts[i] = until - given;
		given = until;
	}
}

/* ---- what a run has of its nodes ---- */

/*
 * Watts of the whole job at the plug: its share of the idle power, its CPUs' part of the CPU power,
 * that of its GPUs, times PUE; LT_WATTS_UNKNOWN. docs/model.md, eq. (5).
 */
static double
watts_of(const struct lt_resources *r, struct lt_fraction share, const struct lt_place *p)
{
	const struct lt_power_parts parts = lt_charge_parts(r, share,
	    &(struct lt_charge_nodes){.shapes = p->shapes,
		.shape_count = p->shape_count,
		.gpu_w = p->gpu_w,
		.gpu_type = ""});

	if (parts.gpu_w < 0)
		return LT_WATTS_UNKNOWN;
	return r->nodes * p->pue *
	       (p->idle_w * (double)share.numerator / (double)share.denominator +
		   p->cpu_w * parts.cpu + parts.gpu_w);
}

/* Returns what a suspended job keeps: memory, GPUs and shards of them; Slurm gives its CPUs
 * away. */
static struct lt_resources
kept_of(const struct lt_resources *r)
{
	struct lt_resources kept = *r;

	kept.cpus = 0;
	kept.exclusive = false;
	return kept;
}

struct lt_fraction
lt_kept_share(const struct lt_resources *r, const struct lt_place *p)
{
	assert(p->shape_count <= LT_PLACE_SHAPES_MAX);

	const struct lt_fraction none = {0, 1}, whole = {1, 1};
	const struct lt_resources kept = kept_of(r);
	const int index = lt_charge_shape(r, p->shapes, p->shape_count);
	if (kept.gpus == 0 && kept.shards == 0 && kept.memory_mib == 0)
		return none;
	return index < 0 ? whole : lt_charge_share(&kept, &p->shapes[index], 1);
}

bool
lt_place_has_power(const struct lt_place *place)
{
	return place->idle_w + place->cpu_w + place->gpu_w > 0;
}

void
lt_usage_of(
    struct lt_charge_input *input, const struct lt_resources *used, const struct lt_place *place)
{
	assert(place->shape_count <= LT_PLACE_SHAPES_MAX);

	const struct lt_resources kept = kept_of(used);
	input->nodes = used->nodes;
	input->share = lt_charge_share(used, place->shapes, place->shape_count);
	input->suspended_share = lt_kept_share(used, place);
	if (used->nodes > 0) {
		input->watts = watts_of(used, input->share, place);
		input->suspended_watts = watts_of(&kept, input->suspended_share, place);
	}
	/* A part that is not known is in no sum. */
	input->watts_unknown = input->watts < 0;
	if (input->watts < 0 || input->suspended_watts < 0)
		input->watts = input->suspended_watts = 0;
	input->pue = place->pue;
	input->embodied_g_per_node_hour = place->embodied_g_per_node_hour;
}
