/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Total cost to outcome, exact integers: products in 128 bits, one rounding for each part. Fed by
 * the daemon's report.
 */
#include "lookup.h"
#include "tcto.h"

#include <string.h>

#include "calendar.h"
#include "units.h"

__extension__ typedef __int128 wide;

const char *
lt_tcto_part_name(enum lt_tcto_part part)
{
	static const char *const names[LT_TCTO_PARTS] = {
	    [LT_TCTO_COMPUTE] = "compute",
	    [LT_TCTO_ENERGY] = "energy",
	    [LT_TCTO_STORAGE] = "storage",
	    [LT_TCTO_ENGINEER] = "engineer",
	    [LT_TCTO_FAILED] = "failed",
	};

	return LT_WORD(names, part);
}

/* a x b x c / divisor, half away from zero; false when it passes int64_t. */
static bool
scaled_micros(int64_t *out, const int64_t factors[3], int64_t divisor)
{
	wide product = factors[0];

	if (__builtin_mul_overflow(product, (wide)factors[1], &product) ||
	    __builtin_mul_overflow(product, (wide)factors[2], &product))
		return false;
	const wide rest = product % divisor;
	product /= divisor;
	if (2 * rest >= divisor)
		product++;
	else if (2 * rest <= -(wide)divisor)
		product--;
	*out = (int64_t)product;
	return *out == product;
}

static bool
sum_parts(struct lt_tcto *out)
{
	for (int i = 0; i < LT_TCTO_PARTS; i++)
		if (out->has[i] && !lt_add(&out->total_micros, out->micros[i]))
			return false;
	return true;
}

/* Divides the total by a number of units. */
static bool
per_unit(bool *has, int64_t *micros, int64_t total_micros, int64_t count, int64_t scale)
{
	*has = count > 0;
	return !*has || scaled_micros(micros, (const int64_t[]){total_micros, scale, 1}, count);
}

int
lt_tcto_of(struct lt_tcto *out, const struct lt_tcto_rates *rates,
    const struct lt_tcto_figures *figures, struct lt_error *err)
{
	const struct {
		enum lt_tcto_part part;
		int64_t factors[3], divisor;
	} products[] = {
	    {LT_TCTO_ENERGY, {figures->owned_energy_wh, rates->energy_micros_per_kwh, 1}, 1000},
	    {LT_TCTO_STORAGE,
		{rates->storage_gb, rates->storage_micros_per_gb_month, figures->month_parts},
		LT_MONTH_PARTS},
	    {LT_TCTO_ENGINEER,
		{rates->engineer_hour_millionths, rates->engineer_micros_per_hour,
		    figures->interruptions},
		LT_MICROS},
	};
	bool good;

	memset(out, 0, sizeof(*out));
	out->has[LT_TCTO_COMPUTE] = out->has[LT_TCTO_FAILED] = true;
	out->has[LT_TCTO_ENERGY] = rates->energy_micros_per_kwh > 0;
	out->has[LT_TCTO_STORAGE] = rates->storage_gb > 0 && rates->storage_micros_per_gb_month > 0;
	out->has[LT_TCTO_ENGINEER] =
	    rates->engineer_hour_millionths > 0 && rates->engineer_micros_per_hour > 0;
	out->micros[LT_TCTO_FAILED] = figures->failed_micros;
	good = !__builtin_sub_overflow(
	    figures->cost_micros, figures->failed_micros, &out->micros[LT_TCTO_COMPUTE]);
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		if (out->has[products[i].part])
			good = scaled_micros(&out->micros[products[i].part], products[i].factors,
				   products[i].divisor) &&
			       good;
	good = good && sum_parts(out) &&
	       per_unit(&out->has_per_gpu_hour, &out->per_gpu_hour_micros, out->total_micros,
		   figures->gpu_s, LT_HOUR_S) &&
	       per_unit(&out->has_per_completed_run, &out->per_completed_run_micros,
		   out->total_micros, figures->completed_runs, 1);
	return good ? LT_OK : lt_fail(err, LT_EOVERFLOW, "tcto: a sum passes its range");
}
