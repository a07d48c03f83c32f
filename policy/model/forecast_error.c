/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each hour: what was forecast for hours that are measured now is scored, and a few hours ahead are
 * forecast to be scored in their turn.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast_error.h"
#include "lookup.h"
#include "units.h"
#include "min_max.h"

enum {
	BUCKETS = LT_FORECAST_BUCKET_COUNT,
	KINDS = LT_FORECAST_KIND_COUNT,
	HINDCAST_EVERY_HOURS = 3,
	HINDCAST_DAYS = LT_FORECAST_MEAN_DAYS,
	TRUTH_HOURS = 4 * LT_FORECAST_MEAN_DAYS * 24, /* older: not scored */
};

/* 80 % of errors are within 1.6 times their mean size, whether they are
 * normal (1.606) or have Laplace's heavier tails (1.609); eq. (36). */
static const double width_of_mean_abs = 1.6;
/* And 95 % within this many: 2.46 of normal errors, 3.00 of Laplace's; these are between. */
static const double width_95_of_mean_abs = 2.65;

const int lt_forecast_bucket_hours[BUCKETS + 1] = {0, 1, 3, 6, 12, 24, 48, 96, 192};

static const char *const kind_names[LT_FORECAST_KIND_COUNT] = {
    [LT_FORECAST_PROVIDER] = "provider",
    [LT_FORECAST_OWN] = "own",
    [LT_FORECAST_LAST_VALUE] = "last_value",
};

const char *
lt_forecast_kind_name(enum lt_forecast_kind kind)
{
	return LT_WORD(kind_names, kind);
}

int
lt_forecast_bucket(int64_t lead_s)
{
	int bucket = 0;

	while (bucket + 1 < BUCKETS &&
	       lead_s > (int64_t)lt_forecast_bucket_hours[bucket + 1] * LT_HOUR_S)
		bucket++;
	return bucket;
}

/* Measured values of a source: its steps, and means of whole hours. */
struct measured {
	struct lt_rate_step *steps;
	uint32_t count;
	int64_t first_hour;
	uint32_t hours;
	double *means; /* NAN = not known */
	bool seasonal;
	double floor;
};

static bool
is_measured(enum lt_quality quality)
{
	return quality == LT_QUALITY_MEASURED || quality == LT_QUALITY_ESTIMATED ||
	       quality == LT_QUALITY_REPLAY;
}

/* The mean of steps over an hour of which at least half is known, else NAN. */
static double
mean_of_hour(const struct lt_rate_step *steps, uint32_t count, int64_t hour)
{
	const int64_t from = hour * LT_HOUR_S, to = from + LT_HOUR_S;
	double sum = 0;
	int64_t seconds = 0;

	for (uint32_t i = 0; i < count && steps[i].start_utc_s < to; i++) {
		const int64_t start = lt_max_i64(steps[i].start_utc_s, from);
		const int64_t end = lt_min_i64(steps[i].end_utc_s, to);

		if (end <= start)
			continue;
		sum += steps[i].value * (double)(end - start);
		seconds += end - start;
	}
	return seconds * 2 >= LT_HOUR_S ? sum / (double)seconds : NAN;
}

/* Means of whole hours until now. Steps are in order: each is read from where the hour before
 * began. */
static void
fill_means(struct measured *m)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < m->hours; i++) {
		const int64_t hour = m->first_hour + i;

		while (from < m->count && m->steps[from].end_utc_s <= hour * LT_HOUR_S)
			from++;
		m->means[i] = mean_of_hour(m->steps + from, m->count - from, hour);
	}
}

static int
measured_of(struct measured *m, const struct lt_known *known, struct lt_error *err)
{
	const int64_t now_utc_s = known->now_utc_s;

	m->steps = malloc((known->count + 1) * sizeof(*m->steps));
	if (m->steps == NULL)
		return lt_fail(err, LT_ENOMEM, "forecast errors: no memory");
	for (uint32_t i = 0; i < known->count && known->steps[i].start_utc_s <= now_utc_s; i++)
		if (is_measured(known->steps[i].quality))
			m->steps[m->count++] = known->steps[i];
	if (m->count == 0)
		return LT_OK;
	const int64_t end = now_utc_s / LT_HOUR_S;
	m->first_hour = m->steps[0].start_utc_s / LT_HOUR_S;
	if (m->first_hour < end - TRUTH_HOURS)
		m->first_hour = end - TRUTH_HOURS;
	m->hours = (uint32_t)(end - m->first_hour);
	m->means = malloc((m->hours + 1) * sizeof(*m->means));
	if (m->means == NULL)
		return lt_fail(err, LT_ENOMEM, "forecast errors: no memory");
	fill_means(m);
	return LT_OK;
}

static double
measured_at(const struct measured *m, int64_t hour)
{
	return hour >= m->first_hour && hour < m->first_hour + m->hours
		   ? m->means[hour - m->first_hour]
		   : NAN;
}

/* An hour of the bucket, another one at each hour of issue: over time, all hours of the day are
 * scored at all leads. */
static int64_t
target_of(int64_t hour, int bucket)
{
	const int first = lt_forecast_bucket_hours[bucket] + 1;
	const int span = lt_forecast_bucket_hours[bucket + 1] + 1 - first;
	const uint64_t mixed = (uint64_t)hour * 0x9e3779b97f4a7c15u;

	return hour + first + (int64_t)((mixed >> 33) % (uint64_t)span);
}

struct issue { /* what is said in one hour */
	int64_t hour;
	uint32_t count;
	struct lt_issued *items; /* LT_FORECAST_SUM_COUNT */
};

static void
add_kind(struct issue *issue, enum lt_forecast_kind kind, const struct lt_rate_step *steps,
    uint32_t count)
{
	for (int bucket = 0; bucket < BUCKETS; bucket++) {
		const int64_t target = target_of(issue->hour, bucket);
		const double value = mean_of_hour(steps, count, target);

		if (!isnan(value))
			issue->items[issue->count++] =
			    (struct lt_issued){issue->hour, target, (int)kind, value};
	}
}

/* Forecasts the hours to come at `now`, from the first `count` measured steps, and from the fit and
 * the weather of `with`; NULL = none, for a fit of today has seen what a hindcast must not. The
 * last value is a forecast, too: the one to beat. */
static void
issue_own(struct issue *issue, const struct measured *m, uint32_t count, int64_t now_utc_s,
    const struct lt_known *with)
{
	struct lt_rate_step steps[LT_FORECAST_HOURS + 2];

	if (count == 0)
		return;
	struct lt_known known = {.steps = m->steps,
	    .count = count,
	    .seasonal = m->seasonal,
	    .floor = m->floor,
	    .now_utc_s = now_utc_s,
	    .fit = with != NULL ? with->fit : NULL};

	for (int i = 0; with != NULL && i < LT_AHEAD_COUNT; i++)
		known.weather[i] = with->weather[i];
	const uint32_t got = lt_forecast(steps, sizeof(steps) / sizeof(*steps), &known);
	if (got > 0 && steps[0].quality == LT_QUALITY_CLIMATOLOGY)
		add_kind(issue, LT_FORECAST_OWN, steps, got);
	const struct lt_rate_step last = {.start_utc_s = m->steps[count - 1].start_utc_s,
	    .end_utc_s = INT64_MAX,
	    .value = m->steps[count - 1].value};
	add_kind(issue, LT_FORECAST_LAST_VALUE, &last, 1);
}

static void
issue_provider(struct issue *issue, const struct lt_known *known)
{
	for (int bucket = 0; bucket < BUCKETS; bucket++) {
		const int64_t target = target_of(issue->hour, bucket);
		const int64_t from = target * LT_HOUR_S;

		for (uint32_t i = 0; i < known->count; i++) {
			const struct lt_rate_step *const step = &known->steps[i];

			if (step->end_utc_s <= from || step->quality != LT_QUALITY_FORECAST)
				continue;
			const double value = mean_of_hour(step, known->count - i, target);
			if (step->start_utc_s < from + LT_HOUR_S && !isnan(value))
				issue->items[issue->count++] = (struct lt_issued){
				    issue->hour, target, LT_FORECAST_PROVIDER, value};
			break;
		}
	}
}

/* False while the hour that it is of has not been measured. */
static bool
score_hours(struct lt_error_sum *sums, const struct measured *m, const struct lt_issued *issued)
{
	const double seen = measured_at(m, issued->target_hour);

	if (isnan(seen) || issued->kind < 0 || issued->kind >= KINDS)
		return false;
	struct lt_error_sum *const sum =
	    &sums[issued->kind * BUCKETS +
		  lt_forecast_bucket((issued->target_hour - issued->issued_hour) * LT_HOUR_S)];
	sum->count++;
	sum->sum += issued->value - seen;
	sum->sum_abs += fabs(issued->value - seen);
	return true;
}

/* Scores what lowtided would have forecast if it had run all the time, with values coming as late
 * as they do now. */
static void
hindcast_hours(struct lt_error_sum *sums, const struct measured *m, int64_t now_utc_s)
{
	const int64_t end = m->steps[m->count - 1].end_utc_s;
	const int64_t late = end < now_utc_s ? now_utc_s - end : 0;
	const int64_t step = (int64_t)HINDCAST_EVERY_HOURS * LT_HOUR_S;
	int64_t at = now_utc_s - (int64_t)HINDCAST_DAYS * LT_DAY_S;
	uint32_t count = 0;

	for (; at < now_utc_s; at += step) {
		struct lt_issued issued[LT_FORECAST_SUM_COUNT];
		struct issue issue = {at / LT_HOUR_S, 0, issued};

		while (count < m->count && m->steps[count].end_utc_s <= at - late)
			count++;
		issue_own(&issue, m, count, at, NULL);
		for (uint32_t i = 0; i < issue.count; i++)
			(void)score_hours(sums, m, &issued[i]);
	}
}

/* Scores what is due; those that could be go to the front of due. */
static uint32_t
score_due(struct lt_error_sum *sums, const struct measured *m, const struct lt_due *due)
{
	uint32_t scored = 0;

	for (uint32_t i = 0; i < due->count; i++)
		if (score_hours(sums, m, &due->issued[i]))
			due->issued[scored++] = due->issued[i];
	return scored;
}

int
lt_forecast_lesson(struct lt_lesson *lesson, const struct lt_known *known, const struct lt_due *due,
    bool is_first, struct lt_error *err)
{
	assert(known->steps != NULL || known->count == 0);
	assert(due->issued != NULL || due->count == 0);

	const int64_t now_utc_s = known->now_utc_s;
	struct measured m = {.seasonal = known->seasonal, .floor = known->floor};
	const int rc = measured_of(&m, known, err);

	memset(lesson, 0, sizeof(*lesson));
	for (int i = 0; i < LT_FORECAST_SUM_COUNT; i++)
		lesson->sums[i] = (struct lt_error_sum){.kind = i / BUCKETS, .bucket = i % BUCKETS};
	if (rc == LT_OK) {
		if (is_first && m.count > 0)
			hindcast_hours(lesson->sums, &m, now_utc_s);
		struct issue issue = {now_utc_s / LT_HOUR_S, 0, lesson->issued};

		lesson->scored_count = score_due(lesson->sums, &m, due);
		issue_provider(&issue, known);
		issue_own(&issue, &m, m.count, now_utc_s, known);
		lesson->issued_count = issue.count;
	}
	free(m.steps);
	free(m.means);
	return rc;
}

void
lt_forecast_bands_of(
    struct lt_forecast_band bands[KINDS][BUCKETS], const struct lt_error_sum *sums, uint32_t count)
{
	memset(bands, 0, sizeof(**bands) * KINDS * BUCKETS);
	for (uint32_t i = 0; i < count; i++) {
		const struct lt_error_sum *const sum = &sums[i];

		if (sum->kind < 0 || sum->kind >= KINDS || sum->bucket < 0 ||
		    sum->bucket >= BUCKETS || sum->count == 0)
			continue;
		bands[sum->kind][sum->bucket] = (struct lt_forecast_band){.count = sum->count,
		    .mean = sum->sum / sum->count,
		    .mean_abs = sum->sum_abs / sum->count,
		    .has_interval = true,
		    .half_width = width_of_mean_abs * sum->sum_abs / sum->count,
		    .half_width_95 = width_95_of_mean_abs * sum->sum_abs / sum->count};
	}
	for (int kind = 0; kind < KINDS; kind++)
		for (int bucket = 1; bucket < BUCKETS; bucket++) {
			struct lt_forecast_band *const band = &bands[kind][bucket];
			const struct lt_forecast_band *const before = band - 1;

			if (!before->has_interval)
				continue;
			band->has_interval = true;
			band->half_width = fmax(band->half_width, before->half_width);
			band->half_width_95 = fmax(band->half_width_95, before->half_width_95);
		}
}
