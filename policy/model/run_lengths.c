/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Medians and upper quantiles of run lengths of which some are only known to
 * be longer. From finished runs to the figures that decisions use.
 */
#include "run_lengths.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* Of a product of at most LT_RUNS_MOST fractions. */
static const double rounding = 1e-9;

enum lt_run_says
lt_run_says(const char *state_text)
{
	if (strcmp(state_text, "COMPLETED") == 0)
		return LT_RUN_SAYS_LENGTH;
	if (strcmp(state_text, "TIMEOUT") == 0)
		return LT_RUN_SAYS_LEAST;
	return LT_RUN_SAYS_NOTHING;
}

/* At equal times those that ended come first: the others went on. */
static int
by_value(const void *left, const void *right)
{
	const struct lt_length_value *const a = left, *const b = right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (int)a->at_least - (int)b->at_least;
}

/* The first end at which at most `left` of all go on; count: there is none. */
static uint32_t
end_with_left(const struct lt_length_value *values, uint32_t count, double left,
    double *going_on)
{
	*going_on = 1;
	for (uint32_t i = 0; i < count; i++) {
		const double at_risk = count - i;

		if (values[i].at_least)
			continue;
		*going_on *= (at_risk - 1) / at_risk;
		if (*going_on <= left + rounding)
			return i;
	}
	return count;
}

bool
lt_length_quantile(double *quantile, struct lt_length_value *values,
    uint32_t count, double part)
{
	assert(part > 0 && part <= 1);

	double going_on;

	if (count == 0)
		return false;
	qsort(values, count, sizeof(*values), by_value);
	const uint32_t at = end_with_left(values, count, 1 - part, &going_on);
	if (at == count)
		return false;
	*quantile = values[at].value;
	if (part == 1 || fabs(going_on - (1 - part)) > rounding)
		return true;
	for (uint32_t i = at + 1; i < count; i++)
		if (!values[i].at_least) {
			*quantile = (values[at].value + values[i].value) / 2;
			break;
		}
	return true;
}

static uint32_t
figure_of(double value)
{
	return value < UINT32_MAX - 1 ? (uint32_t)llround(value)
				      : UINT32_MAX - 1;
}

/* Lengths, or parts of the limits in millionths. */
static uint32_t
values_of(struct lt_length_value *values, const struct lt_run_length *runs,
    uint32_t count, bool parts)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		const double length_s =
		    runs[i].length_s > 0 ? (double)runs[i].length_s : 1;

		if (parts && runs[i].limit_s <= 0)
			continue;
		values[used++] = (struct lt_length_value){
		    parts ? length_s * LT_MICROS / (double)runs[i].limit_s
			  : length_s,
		    runs[i].at_least};
	}
	return used;
}

static uint32_t
part_of(struct lt_length_value *values, uint32_t count, double part)
{
	double value;

	return lt_length_quantile(&value, values, count, part)
		   ? figure_of(value)
		   : LT_HISTORY_NEVER;
}

struct lt_history_figures
lt_run_figures(const struct lt_run_length *runs, uint32_t count,
    enum lt_history_group group, uint32_t confidence_ppm, uint32_t *ratio_ppm)
{
	assert(count <= LT_RUNS_MOST && confidence_ppm > 0 &&
	       confidence_ppm < LT_MICROS);

	struct lt_length_value values[LT_RUNS_MOST];
	const bool parts = group != LT_HISTORY_NAME;
	struct lt_history_figures figures = {0};
	double going_on;

	if (ratio_ppm != NULL)
		*ratio_ppm =
		    part_of(values, values_of(values, runs, count, true), 0.5);
	const uint32_t n = values_of(values, runs, count, parts);
	figures.runs = n;
	if (n == 0)
		return figures;
	figures.median = part_of(values, n, 1.0 / 2); /* sorts */
	figures.low = part_of(values, n, 1.0 / 6);
	figures.high = part_of(values, n, 5.0 / 6);
	/* The run to come is as likely to be at any place among them (45). */
	const double part = (double)confidence_ppm / LT_MICROS * (n + 1) / n;
	figures.upper_is_longest =
	    part > 1 + rounding || n < LT_HISTORY_RUNS_SURE;
	if (figures.upper_is_longest) {
		figures.upper = figure_of(values[n - 1].value);
		return figures;
	}
	const uint32_t at = end_with_left(values, n, 1 - part, &going_on);
	figures.upper = at < n ? figure_of(values[at].value) : LT_HISTORY_NEVER;
	return figures;
}
