/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal as a step function with prefix sums. lowtided prepares each series once; lt_decide() and
 * the quote read values, integrals and maxima from it. Preparing fails for steps out of order or
 * sums out of range; reading never fails.
 */
#include <assert.h>
#include <math.h>

#include "lookup.h"
#include "series.h"
#include "units.h"

static const char *const quality_names[LT_QUALITY_COUNT] = {
    [LT_QUALITY_NONE] = "none",
    [LT_QUALITY_CONSTANT] = "constant",
    [LT_QUALITY_MEASURED] = "measured",
    [LT_QUALITY_ESTIMATED] = "estimated",
    [LT_QUALITY_FORECAST] = "forecast",
    [LT_QUALITY_CLIMATOLOGY] = "climatology",
    [LT_QUALITY_LAST_VALUE] = "last value",
    [LT_QUALITY_REPLAY] = "replay",
};

const char *
lt_quality_name(enum lt_quality quality)
{
	return LT_WORD(quality_names, quality);
}

static double
hours(int64_t seconds)
{
	return (double)seconds / LT_HOUR_S;
}

/* Integral from the first start to a time in step i; negative before it. */
static double
integral_to(const struct lt_series *series, uint32_t i, int64_t utc_s)
{
	return series->integral[i] + series->value[i] * hours(utc_s - series->start_utc_s[i]);
}

static void
prepare_look_ups(struct lt_series *series)
{
	series->min_value = series->max_value = series->value[0];
	series->steps_per_s = series->count / ((double)series->start_utc_s[series->count] -
						  (double)series->start_utc_s[0]);
	for (uint32_t i = 0; i < series->count; i++) {
		double *block = &series->block_min[i / LT_SERIES_BLOCK];

		series->min_value = fmin(series->min_value, series->value[i]);
		series->max_value = fmax(series->max_value, series->value[i]);
		*block =
		    i % LT_SERIES_BLOCK == 0 ? series->value[i] : fmin(*block, series->value[i]);
	}
}

/* Least integral of the windows of that length within the series, the ends of which are in steps i
 * and k: it is linear in the start, so that only those count where an end meets a step. */
static double
least_window(const struct lt_series *series, int64_t length_s)
{
	const int64_t *const start_utc_s = series->start_utc_s;
	const uint32_t last = series->count - 1;
	int64_t at_utc_s = start_utc_s[0], till_first_s, till_last_s;
	double least = INFINITY;
	uint32_t i = 0, k = 0;

	/* Unsigned, as above. */
	if ((uint64_t)start_utc_s[last + 1] - (uint64_t)at_utc_s < (uint64_t)length_s)
		return hours(length_s) * series->min_value;
	for (;;) {
		const int64_t end_utc_s = at_utc_s + length_s;

		while (k < last && start_utc_s[k + 1] <= end_utc_s)
			k++;
		least = fmin(least,
		    i == k ? series->value[i] * hours(length_s)
			   : integral_to(series, k, end_utc_s) - integral_to(series, i, at_utc_s));
		till_first_s = start_utc_s[i + 1] - at_utc_s;
		till_last_s = start_utc_s[k + 1] - end_utc_s;
		if (till_last_s == 0)
			return least;
		at_utc_s += till_first_s < till_last_s ? till_first_s : till_last_s;
		i += till_first_s <= till_last_s ? 1 : 0;
	}
}

int
lt_series_prepare(struct lt_series *series, struct lt_error *err)
{
	uint32_t kept = 0;

	if (series->count == 0 || series->count > LT_STEPS_MAX)
		return lt_fail(err, LT_EINPUT, "series %s: %u steps, want 1 to %d", series->source,
		    series->count, LT_STEPS_MAX);
	for (uint32_t i = 0; i < series->count; i++) {
		/* Unsigned: the difference of two int64_t may not fit one. */
		if (series->start_utc_s[i + 1] <= series->start_utc_s[i] ||
		    (uint64_t)series->start_utc_s[i + 1] - (uint64_t)series->start_utc_s[i] >
			INT64_MAX)
			return lt_fail(err, LT_EINPUT,
			    "series %s: step %u ends at %lld, not after its start %lld",
			    series->source, i, (long long)series->start_utc_s[i + 1],
			    (long long)series->start_utc_s[i]);
		if (!isfinite(series->value[i]))
			return lt_fail(err, LT_EINPUT, "series %s: step %u is not a finite number",
			    series->source, i);
	}
	for (uint32_t i = 1; i < series->count; i++) {
		if (series->value[i] == series->value[kept])
			continue;
		kept++;
		series->start_utc_s[kept] = series->start_utc_s[i];
		series->value[kept] = series->value[i];
	}
	series->start_utc_s[kept + 1] = series->start_utc_s[series->count];
	series->count = kept + 1;
	prepare_look_ups(series);
	series->integral[0] = 0.0;
	for (uint32_t i = 0; i < series->count; i++)
		series->integral[i + 1] =
		    series->integral[i] +
		    series->value[i] * hours(series->start_utc_s[i + 1] - series->start_utc_s[i]);
	for (int w = 0; w < LT_SERIES_WINDOWS; w++)
		series->window_min[w] = least_window(series, LT_DAY_S >> w);
	return LT_OK;
}

uint32_t
lt_series_index_in(const struct lt_series *series, int64_t utc_s, uint32_t low, uint32_t high)
{
	assert(low <= high && high < series->count);

	const int64_t *start_utc_s = series->start_utc_s;
	/* A little more, since times asked for are steps more often than not. */
	const double steps = (double)(utc_s - start_utc_s[low]) * series->steps_per_s + 1e-6;
	const uint32_t guess = steps <= 0	     ? low
			       : steps >= high - low ? high
						     : low + (uint32_t)steps;

	/* Where all steps are of one length that is it. */
	if (start_utc_s[guess] <= utc_s)
		low = guess;
	else
		high = guess - (guess > low ? 1 : 0);
	if (low == high || start_utc_s[low + 1] > utc_s)
		return low;
	/* The step is in [low, high). */
	for (high++; high - low > 1;) {
		const uint32_t middle = low + (high - low) / 2;

		if (start_utc_s[middle] <= utc_s)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t
lt_series_index(const struct lt_series *series, int64_t utc_s)
{
	assert(series->count >= 1 && series->count <= LT_STEPS_MAX);

	const int64_t *start_utc_s = series->start_utc_s;
	const uint32_t last = series->count - 1;
	uint32_t guess, low, high, width;

	if (utc_s < start_utc_s[1])
		return 0;
	if (utc_s >= start_utc_s[last])
		return last;
	/* Most series have steps of one length: the guess is right or next to right. Else the
	 * distance doubles until the step is enclosed. */
	guess = (uint32_t)fmin(last, (double)(utc_s - start_utc_s[0]) * series->steps_per_s);
	low = high = guess;
	for (width = 1; start_utc_s[low] > utc_s; width *= 2)
		low = low > width ? low - width : 0;
	for (width = 1; high < last && start_utc_s[high + 1] <= utc_s; width *= 2)
		high = high + width < last ? high + width : last;
	return lt_series_index_in(series, utc_s, low, high);
}

double
lt_series_at(const struct lt_series *series, int64_t utc_s)
{
	return series->value[lt_series_index(series, utc_s)];
}

double
lt_series_integral(const struct lt_series *series, int64_t from_utc_s, int64_t to_utc_s)
{
	assert(from_utc_s <= to_utc_s);

	/* A difference of prefix sums would leave rounding noise, and noise would move jobs between
	 * equal prices. */
	const uint32_t i = lt_series_index(series, from_utc_s);

	if (i + 1 == series->count || to_utc_s <= series->start_utc_s[i + 1])
		return series->value[i] * hours(to_utc_s - from_utc_s);
	return integral_to(series, lt_series_index(series, to_utc_s), to_utc_s) -
	       integral_to(series, i, from_utc_s);
}

double
lt_series_max(const struct lt_series *series, int64_t from_utc_s, int64_t to_utc_s)
{
	uint32_t i = lt_series_index(series, from_utc_s);
	double largest = series->value[i];

	while (++i < series->count && series->start_utc_s[i] <= to_utc_s)
		largest = fmax(largest, series->value[i]);
	return largest;
}
