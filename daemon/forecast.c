/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seasonal mean by hour of the day plus the present anomaly, which decays.
 * It keeps most of what perfect foresight would save; docs/model.md, eq. (31).
 */
#include <math.h>
#include <string.h>

#include "forecast.h"
#include "units.h"

enum { HOURS = 24 };
static const double decay_per_hour = 0.95;

static int
hour_of(int64_t utc_s)
{
	return (int)(utc_s / LT_HOUR_S % HOURS);
}

/* Time-weighted means by hour of the day over [now - 28 d, now). True when
 * every hour was seen. */
static bool
means_of(double means[HOURS], const struct lt_rate_step *known, uint32_t count,
    int64_t now_utc_s)
{
	double seconds[HOURS] = {0}, sums[HOURS] = {0};
	const int64_t first =
	    now_utc_s - (int64_t)LT_FORECAST_MEAN_DAYS * LT_DAY_S;
	for (uint32_t i = 0; i < count; i++) {
		int64_t at =
		    known[i].start_utc_s > first ? known[i].start_utc_s : first;
		const int64_t end = known[i].end_utc_s < now_utc_s
					? known[i].end_utc_s
					: now_utc_s;
		while (at < end) {
			const int64_t hour_end =
			    (at / LT_HOUR_S + 1) * LT_HOUR_S;
			const int64_t stop = hour_end < end ? hour_end : end;
			sums[hour_of(at)] +=
			    known[i].value * (double)(stop - at);
			seconds[hour_of(at)] += (double)(stop - at);
			at = stop;
		}
	}
	for (int h = 0; h < HOURS; h++) {
		if (seconds[h] <= 0)
			return false;
		means[h] = sums[h] / seconds[h];
	}
	return true;
}

/* The last step that began at or before now; count - 1 >= result. */
static uint32_t
index_at(const struct lt_rate_step *known, uint32_t count, int64_t now_utc_s)
{
	uint32_t i = 0;
	while (i + 1 < count && known[i + 1].start_utc_s <= now_utc_s)
		i++;
	return i;
}

uint32_t
lt_forecast(struct lt_rate_step *out, uint32_t room,
    const struct lt_rate_step *known, uint32_t count, bool seasonal,
    double floor, int64_t now_utc_s)
{
	double means[HOURS];
	if (count == 0 || room == 0)
		return 0;
	const struct lt_rate_step *const last = &known[count - 1];
	int64_t at = last->end_utc_s;
	const int64_t end = now_utc_s / LT_HOUR_S * LT_HOUR_S +
			    (int64_t)LT_FORECAST_HOURS * LT_HOUR_S;
	if (at >= end)
		return 0;
	if (!seasonal ||
	    now_utc_s - known[0].start_utc_s < LT_FORECAST_HISTORY_S ||
	    !means_of(means, known, count, now_utc_s)) {
		out[0] = (struct lt_rate_step){.start_utc_s = at,
		    .end_utc_s = end,
		    .value = last->value,
		    .quality = LT_QUALITY_LAST_VALUE};
		memcpy(out[0].source, last->source, sizeof(out[0].source));
		return 1;
	}
	const struct lt_rate_step *const now =
	    &known[index_at(known, count, now_utc_s)];
	const int64_t seen = now->start_utc_s > now_utc_s ? now->start_utc_s
			     : now_utc_s < now->end_utc_s ? now_utc_s
							  : now->end_utc_s - 1;
	const double anomaly = now->value - means[hour_of(seen)];
	uint32_t used = 0;
	while (at < end && used < room) {
		const int64_t stop = (at / LT_HOUR_S + 1) * LT_HOUR_S;
		const double lead =
		    at > seen ? (double)((at - seen) / LT_HOUR_S) : 0;
		const double value =
		    means[hour_of(at)] + anomaly * pow(decay_per_hour, lead);
		out[used] = (struct lt_rate_step){.start_utc_s = at,
		    .end_utc_s = stop,
		    .value = value > floor ? value : floor,
		    .quality = LT_QUALITY_CLIMATOLOGY};
		memcpy(
		    out[used].source, last->source, sizeof(out[used].source));
		used++;
		at = stop;
	}
	return used;
}
