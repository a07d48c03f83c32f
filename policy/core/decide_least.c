/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least that the integrals of a lane's windows can be: what the search
 * skips whole lanes and blocks of starts by.
 */
#include "decide_internal.h"

/* Of all windows so long within a series: each is days, parts of one and a
 * rest, of which each has at least the least of its length. */
static double
least_within(const struct lt_series *series, int64_t length_s)
{
	double least = (double)(length_s / LT_DAY_S) * series->window_min[0];

	length_s %= LT_DAY_S;
	for (int i = 1; i < LT_SERIES_WINDOWS; i++) {
		const int64_t window_s = LT_DAY_S >> i;

		if (length_s < window_s)
			continue;
		least += series->window_min[i];
		length_s -= window_s;
	}
	return least + (double)length_s / LT_HOUR_S * series->min_value;
}

/* A lower bound of all windows up to the latest start. */
void
lt_lane_least(struct lane *lane, const struct job *job)
{
	const int64_t end_utc_s =
	    lane->latest_utc_s + lane->lengths_s[lane->length_count - 1];

	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *const series = lane->series[t];
		double sum = 0;

		if (series == NULL)
			continue;
		/* Of windows that reach out of the series nothing is known. */
		if (series->start_utc_s[0] > job->earliest_utc_s ||
		    end_utc_s > series->start_utc_s[series->count]) {
			lane->least[t] = lane->mean_h * series->min_value;
			continue;
		}
		for (uint32_t i = 0; i < lane->length_count; i++)
			sum += least_within(series, lane->lengths_s[i]);
		lane->least[t] = sum * lane->length_part;
	}
}
