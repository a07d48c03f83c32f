/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges by exact integrals over the hours of a run. Only the run's total is
 * rounded (by the ledger, with a carry); the hours are cut from that total.
 */
#include <math.h>
#include <stdlib.h>

#include "charge.h"
#include "units.h"

__extension__ typedef __int128 wide;

enum { HOURS_MAX = 10 * 366 * 24 };

static int64_t
gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		const int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static struct lt_fraction
reduce(int64_t numerator, int64_t denominator)
{
	const int64_t divisor = gcd(numerator, denominator);
	return (struct lt_fraction){numerator / divisor, denominator / divisor};
}

/* The dominant resource over `nodes` nodes of this shape; may pass 1. */
static struct lt_fraction
dominant(const struct lt_resources *r, const struct lt_shape *shape)
{
	const struct {
		uint64_t used, full;
	} parts[] = {
	    {r->gpus, shape->gpus},
	    {r->cpus, shape->cpus},
	    {r->memory_mib, shape->memory_mib},
	};
	struct lt_fraction best = {0, 1};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const int64_t used = (int64_t)parts[i].used;
		const int64_t full = (int64_t)parts[i].full * r->nodes;
		if (used == 0)
			continue;
		if (full == 0) /* asks for what the shape has not */
			return (struct lt_fraction){INT64_MAX, 1};
		if ((wide)used * best.denominator > (wide)best.numerator * full)
			best = (struct lt_fraction){used, full};
	}
	return best;
}

int
lt_charge_shape(const struct lt_resources *resources,
    const struct lt_shape *shapes, uint32_t shape_count)
{
	int chosen = -1;
	struct lt_fraction largest = {0, 1};
	for (uint32_t i = 0; i < shape_count; i++) {
		const struct lt_fraction share =
		    dominant(resources, &shapes[i]);
		if (share.numerator > share.denominator)
			continue; /* does not fit there */
		if (chosen < 0 ||
		    (wide)share.numerator * largest.denominator >
			(wide)largest.numerator * share.denominator) {
			chosen = (int)i;
			largest = share;
		}
	}
	return chosen;
}

struct lt_fraction
lt_charge_share(const struct lt_resources *resources,
    const struct lt_shape *shapes, uint32_t shape_count)
{
	const struct lt_fraction whole = {1, 1};
	if (resources->exclusive || resources->nodes == 0)
		return whole;
	const int shape = lt_charge_shape(resources, shapes, shape_count);
	if (shape < 0)
		return whole;
	const struct lt_fraction share = dominant(resources, &shapes[shape]);
	if (share.numerator == 0)
		return whole;
	return reduce(share.numerator, share.denominator);
}

/* Integral over [from, to) in value x seconds, and the worst quality met. */
double
lt_rates_integral(const struct lt_rates *rates, int64_t from, int64_t to,
    enum lt_quality *worst)
{
	double sum = 0;
	for (uint32_t i = 0; i < rates->count; i++) {
		const struct lt_rate_step *const step = &rates->steps[i];
		const int64_t begin = i == 0 ? INT64_MIN : step->start_utc_s;
		const int64_t end = i + 1 == rates->count
					? INT64_MAX
					: rates->steps[i + 1].start_utc_s;
		const int64_t low = begin > from ? begin : from;
		const int64_t high = end < to ? end : to;
		if (low >= high)
			continue;
		sum += step->value * (double)(high - low);
		if (step->quality > *worst)
			*worst = step->quality;
	}
	return sum;
}

static void
charge_hour(struct lt_charge *charge, const struct lt_charge_input *input,
    int64_t from, int64_t to)
{
	static const double mg_per_g = 1000, wh_per_kwh = 1000;
	const double share =
	    (double)input->share.numerator / (double)input->share.denominator;
	const double seconds = (double)(to - from);
	const double price =
	    lt_rates_integral(&input->price, from, to, &charge->worst_quality);
	const double intensity =
	    lt_rates_integral(&input->carbon, from, to, &charge->worst_quality);
	struct lt_charge_hour *const hour =
	    &charge->hours[charge->hour_count++];
	hour->at_utc_s = from;
	/* One division, last: a whole node's parts keep their exact sum. */
	hour->money_micros = price * (double)input->nodes *
			     (double)input->share.numerator /
			     ((double)input->share.denominator * LT_HOUR_S);
	hour->energy_wh = input->watts * seconds / LT_HOUR_S;
	hour->carbon_mg =
	    input->watts * intensity / LT_HOUR_S / wh_per_kwh * mg_per_g +
	    input->embodied_g_per_node_hour * mg_per_g * (double)input->nodes *
		share * seconds / LT_HOUR_S;
	if (!charge->priced)
		hour->money_micros = 0;
	if (!charge->has_carbon)
		hour->carbon_mg = 0;
	charge->money_micros += hour->money_micros;
	charge->carbon_mg += hour->carbon_mg;
	charge->energy_wh += hour->energy_wh;
}

int
lt_charge_run(struct lt_charge *charge, const struct lt_charge_input *input,
    struct lt_error *err)
{
	*charge = (struct lt_charge){.priced = input->price.count > 0,
	    .has_carbon = input->carbon.count > 0};
	if (input->start_utc_s <= 0 || input->end_utc_s <= input->start_utc_s) {
		charge->priced = true; /* it never ran: nothing, exactly */
		charge->has_carbon = true;
		return LT_OK;
	}
	const int64_t first = input->start_utc_s / LT_HOUR_S;
	const int64_t hours =
	    (input->end_utc_s + LT_HOUR_S - 1) / LT_HOUR_S - first;
	if (hours > HOURS_MAX)
		return lt_fail(err, LT_ELIMIT, "run of %lld hours, limit %d",
		    (long long)hours, HOURS_MAX);
	charge->hours = calloc((size_t)hours, sizeof(*charge->hours));
	if (!charge->hours)
		return lt_fail(err, LT_ENOMEM, "charge: out of memory");
	for (int64_t h = 0; h < hours; h++) {
		const int64_t begin = (first + h) * LT_HOUR_S;
		const int64_t end = begin + LT_HOUR_S;
		charge_hour(charge, input,
		    begin > input->start_utc_s ? begin : input->start_utc_s,
		    end < input->end_utc_s ? end : input->end_utc_s);
	}
	return LT_OK;
}

void
lt_charge_free(struct lt_charge *charge)
{
	free(charge->hours);
	*charge = (struct lt_charge){0};
}

void
lt_charge_split(
    int64_t *parts, const double *exact, uint32_t count, int64_t total)
{
	double sum = 0;
	int64_t given = 0;
	for (uint32_t i = 0; i < count; i++) {
		sum += exact[i];
		const int64_t until =
		    i + 1 == count ? total : (int64_t)llround(sum);
		parts[i] = until - given;
		given = until;
	}
}
