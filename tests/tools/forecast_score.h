/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mean absolute errors by lead time of our forecast and of those to beat, on the hours of a zone:
 * what bench_forecast prints and test_forecast_real asks.
 */
#ifndef LT_TEST_FORECAST_SCORE_H
#define LT_TEST_FORECAST_SCORE_H

#include "carbon_zone.h"
#include "forecast_fit.h"

enum {
	SCORE_OURS,
	SCORE_LAST,	 /* the last value goes on */
	SCORE_YESTERDAY, /* the same hour, when last known */
	SCORE_WEEK,	 /* mean of that hour of the week over four weeks */
	SCORE_MODELS,
	SCORE_LEADS = 12,
	SCORE_WINDOW = LT_FORECAST_MEAN_DAYS * 24,
	SCORE_STALE = 48, /* hours without a value: nothing to start from */
	SCORE_LONG = LT_FIT_DAYS * 24,
	SCORE_CLOCK = 3,      /* hours: lowtided fits anew after as many */
	SCORE_REFIT = 7 * 24, /* here less often, which is worse */
};

static const char *const score_names[SCORE_MODELS] = {
    "ours", "last value", "yesterday", "hour of week"};
static const int score_leads[SCORE_LEADS] = {1, 2, 3, 6, 12, 24, 36, 48, 72, 96, 120, 168};

struct forecast_scores {
	double sum[SCORE_MODELS][SCORE_LEADS];
	int count[SCORE_LEADS];
	int starts;
};

static inline double
score_last(const struct carbon_zone *zone, int64_t at, int64_t step)
{
	for (; at >= 0; at -= step)
		if (!isnan(zone_at(zone, at)))
			return zone_at(zone, at);
	return NAN;
}

static inline double
score_week(const struct carbon_zone *zone, int64_t start, int64_t target)
{
	double sum = 0;
	int count = 0;

	for (int64_t i = target % 168; i <= start; i += 168)
		if (i > start - SCORE_WINDOW && !isnan(zone_at(zone, i))) {
			sum += zone_at(zone, i);
			count++;
		}
	return count > 0 ? sum / count : score_last(zone, start - (start - target) % 24 - 24, 24);
}

/* Fitted to what was known at `start`, for its hour of the day. */
static inline const struct lt_forecast_fit *
score_fit(const struct carbon_zone *zone, int64_t start)
{
	static struct {
		const struct carbon_zone *zone;
		int64_t start;
		struct lt_forecast_fit fit;
	} fits[24 / SCORE_CLOCK];
	const int64_t clock = (zone->first_hour + start) % 24 / SCORE_CLOCK;

	if (fits[clock].zone != zone || start < fits[clock].start ||
	    start >= fits[clock].start + SCORE_REFIT) {
		struct lt_rate_step *const known = calloc(SCORE_LONG, sizeof(*known));
		const uint32_t count = zone_steps(zone, start - SCORE_LONG + 1, start + 1, known);

		(void)lt_forecast_fit(&fits[clock].fit,
		    &(struct lt_known){.steps = known,
			.count = count,
			.seasonal = true,
			.now_utc_s = (zone->first_hour + start + 1) * LT_HOUR_S - 1},
		    NULL);
		free(known);
		fits[clock].zone = zone;
		fits[clock].start = start;
	}
	return &fits[clock].fit;
}

/* Our forecast by lead (1 ...), into values; NAN = none. Hour `start` is the last that may be
 * known, and just over. */
static inline void
score_ours(const struct carbon_zone *zone, int64_t start, double *values, int leads)
{
	static struct lt_rate_step known[SCORE_WINDOW], out[LT_FORECAST_HOURS + SCORE_WINDOW];
	const uint32_t count = zone_steps(zone, start - SCORE_WINDOW + 1, start + 1, known);
	const uint32_t used = lt_forecast(out, sizeof(out) / sizeof(*out),
	    &(struct lt_known){.steps = known,
		.count = count,
		.seasonal = true,
		.now_utc_s = (zone->first_hour + start + 1) * LT_HOUR_S - 1,
		.fit = score_fit(zone, start)});

	for (int lead = 0; lead <= leads; lead++)
		values[lead] = NAN;
	for (uint32_t i = 0; i < used; i++) {
		const int64_t lead = out[i].start_utc_s / LT_HOUR_S - zone->first_hour - start;

		if (lead >= 0 && lead <= leads)
			values[lead] = out[i].value;
	}
}

static inline void
score_start(const struct carbon_zone *zone, int64_t start, struct forecast_scores *scores)
{
	double ours[LT_FORECAST_HOURS + 1];
	const double last = score_last(zone, start, 1);

	score_ours(zone, start, ours, LT_FORECAST_HOURS);
	scores->starts++;
	for (int i = 0; i < SCORE_LEADS; i++) {
		const int64_t target = start + score_leads[i];
		const double seen = zone_at(zone, target);
		const int64_t days = (score_leads[i] + 23) / 24;
		const double values[SCORE_MODELS] = {ours[score_leads[i]], last,
		    score_last(zone, target - days * 24, 24), score_week(zone, start, target)};
		double all = seen;

		for (int k = 0; k < SCORE_MODELS; k++)
			all += values[k];
		if (isnan(all))
			continue;
		scores->count[i]++;
		for (int k = 0; k < SCORE_MODELS; k++)
			scores->sum[k][i] += fabs(values[k] - seen);
	}
}

/* From each `every` hours, once four weeks are known. */
static inline void
score_zone(const struct carbon_zone *zone, int every, struct forecast_scores *scores)
{
	memset(scores, 0, sizeof(*scores));
	for (int64_t at = SCORE_WINDOW; at < zone->hours; at += every) {
		int64_t known = at;

		while (known > at - SCORE_STALE && isnan(zone_at(zone, known)))
			known--;
		if (known > at - SCORE_STALE)
			score_start(zone, at, scores);
	}
}

static inline double
score_of(const struct forecast_scores *scores, int model, int lead_index)
{
	return scores->count[lead_index] == 0
		   ? NAN
		   : scores->sum[model][lead_index] / scores->count[lead_index];
}

/* At how many leads another one was as good or better. */
static inline int
score_beaten(const struct forecast_scores *scores)
{
	int beaten = 0;

	for (int i = 0; i < SCORE_LEADS; i++)
		for (int k = 1; k < SCORE_MODELS; k++)
			if (!(score_of(scores, SCORE_OURS, i) < score_of(scores, k, i))) {
				beaten++;
				break;
			}
	return beaten;
}

#endif
