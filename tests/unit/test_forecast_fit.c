/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forecast that is fitted to a long history: weekends and weather are learned, what was never
 * seen does no harm, and neither gaps nor a late feed make it worse than the last value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast_fit.h"
#include "tools/carbon_zone.h"

enum {
	HOUR = 3600,
	T0 = 1795219200, /* 2026-11-21, 00:00 */
	DAYS = 200,
	PAST = DAYS * 24,
	FUTURE = 192,
	FINE = 12, /* steps of five minutes */
	LEADS = 5,
};
static const int leads[LEADS] = {1, 6, 24, 72, 168};

struct world { /* hours [0, PAST) are over at T0 */
	double values[PAST + FUTURE];
	double wind[PAST + FUTURE], sun[PAST + FUTURE], warmth[PAST + FUTURE];
};

static struct world world;
static struct lt_rate_step known[PAST * FINE], out[400];
static struct lt_rate_step weather[LT_AHEAD_COUNT][PAST + FUTURE];
static struct lt_forecast_fit fit;

static double
chance(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(*seed >> 11) * 0x1p-53 - 0.5;
}

/* A grid: a day's shape, weekends, wind that takes off a share, and what nobody knows. */
static void
make_world(uint64_t seed, double by_wind, double weekend, double noise)
{
	double wind = 0, anomaly = 0;

	for (int i = 0; i < PAST + FUTURE; i++) {
		const int64_t hour = T0 / HOUR - PAST + i;
		const double day = (double)(hour % 24) * 0.2617993878;

		wind = 0.97 * wind + 2 * chance(&seed);
		anomaly = 0.95 * anomaly + noise * chance(&seed);
		world.wind[i] = 8 + wind;
		world.sun[i] = fmax(0, 400 * sin(day - 1.5));
		world.warmth[i] = 10 + 5 * sin(day);
		world.values[i] = 300 + 60 * sin(day) + anomaly - by_wind * wind -
				  ((hour / 24 + 3) % 7 >= 5 ? weekend : 0);
	}
}

static struct lt_rate_step
step_of(int i, double value, enum lt_quality quality)
{
	return (struct lt_rate_step){.start_utc_s = T0 + (i - PAST) * HOUR,
	    .end_utc_s = T0 + (i + 1 - PAST) * HOUR,
	    .value = value,
	    .quality = quality,
	    .source = "s"};
}

static void
add_weather(struct lt_known *of, int to)
{
	const double *const series[LT_WEATHER_COUNT] = {[LT_WEATHER_WIND] = world.wind,
	    [LT_WEATHER_SUN] = world.sun,
	    [LT_WEATHER_WARMTH] = world.warmth};

	for (int kind = 0; kind < LT_WEATHER_COUNT; kind++) {
		for (int i = 0; i < to; i++)
			weather[kind][i] = step_of(i, series[kind][i], LT_QUALITY_FORECAST);
		of->weather[kind] = (struct lt_weather){weather[kind], (uint32_t)to};
	}
}

/* Hours [0, to), but those that a gap takes; now is T0 less a second. */
static struct lt_known
known_until(int to, const bool *missing)
{
	uint32_t count = 0;

	for (int i = 0; i < to; i++)
		if (missing == NULL || !missing[i])
			known[count++] = step_of(i, world.values[i], LT_QUALITY_MEASURED);
	return (struct lt_known){
	    .steps = known, .count = count, .seasonal = true, .now_utc_s = T0 - 1};
}

static void
fit_to(const struct lt_known *of)
{
	assert_int_equal(lt_forecast_fit(&fit, of, NULL), LT_OK);
}

/* The mean absolute error over all hours to come. */
static double
error_of(const struct lt_known *of)
{
	const uint32_t count = lt_forecast(out, 400, of);
	double sum = 0;

	assert_true(count >= FUTURE - 1);
	for (uint32_t i = 0; i < count; i++) {
		const int64_t hour = (out[i].start_utc_s - T0) / HOUR + PAST;

		assert_true(isfinite(out[i].value));
		assert_true(hour < PAST + FUTURE);
		sum += fabs(out[i].value - world.values[hour]);
	}
	return sum / count;
}

static void
test_weekends(void **state)
{
	double without = 0, with = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		make_world(seed, 0, 80, 8);
		struct lt_known all = known_until(PAST, NULL);
		without += error_of(&all);
		fit_to(&all);
		assert_true(fit.is_fitted[LT_FIT_WITHOUT]);
		assert_false(fit.is_fitted[LT_FIT_WITH]);
		all.fit = &fit;
		with += error_of(&all);
	}
	if (!(with < 0.7 * without))
		fail_msg("%.2f, without a fit %.2f", with / 5, without / 5);
}

static void
test_weather(void **state)
{
	double with = 0, without = 0, half = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		make_world(seed, 15, 20, 8);
		struct lt_known all = known_until(PAST, NULL);
		add_weather(&all, PAST + FUTURE);
		fit_to(&all);
		assert_true(fit.is_fitted[LT_FIT_WITH]);
		all.fit = &fit;
		with += error_of(&all);
		/* It ends after four days: the rest is as without. */
		add_weather(&all, PAST + FUTURE / 2);
		half += error_of(&all);
		memset(all.weather, 0, sizeof(all.weather));
		without += error_of(&all);
	}
	if (!(with < 0.5 * without && with < half && half < without))
		fail_msg("%.2f, half known %.2f, without %.2f", with / 5, half / 5, without / 5);
}

/* A short while of weather counts less than a long history without. */
static void
test_little_weather(void **state)
{
	static struct lt_rate_step alone[400];
	const int skip = PAST - 60 * 24;

	(void)state;
	make_world(1, 15, 20, 8);
	struct lt_known all = known_until(PAST, NULL);
	fit_to(&all);
	all.fit = &fit;
	const uint32_t count = lt_forecast(alone, 400, &all);
	add_weather(&all, PAST + FUTURE);
	for (int kind = 0; kind < LT_WEATHER_COUNT; kind++) {
		all.weather[kind].steps += skip;
		all.weather[kind].count -= (uint32_t)skip;
	}
	fit_to(&all);
	assert_true(fit.is_fitted[LT_FIT_WITH]);
	assert_true(fit.days[LT_FIT_WITH] > 30 && fit.days[LT_FIT_WITH] <= 60);
	assert_int_equal(lt_forecast(out, 400, &all), count);
	for (uint32_t i = 0; i < count; i++)
		assert_true(out[i].value == alone[i].value);
}

enum { TOMORROW = 24 }; /* hours that the operator has published */

/* What the grid's operator expected: intensity is what wind and sun leave of the load, 700 g a kWh
 * of it and 30 g of all. skip: a day of two is missing, with the parity of that day. */
static void
add_operator(struct lt_known *of, uint64_t seed, bool is_noise, int skip)
{
	double wind = 0, noise = 0;
	uint32_t count = 0;

	for (int i = 0; i < PAST + FUTURE; i++) {
		const int64_t hour = T0 / HOUR - PAST + i;
		const double day = (double)(hour % 24) * 0.2617993878;
		const double load =
		    50000 + 8000 * sin(day - 2) - ((hour / 24 + 3) % 7 >= 5 ? 9000 : 0);
		const double sun = fmax(0, 12000 * sin(day - 1.5));

		wind = 0.97 * wind + 0.3 * chance(&seed);
		noise = 0.97 * noise + 0.3 * chance(&seed);
		const double mw[] = {12000 * exp(wind), sun, load};
		world.values[i] = 30 + 700 * (1 - (mw[0] + mw[1]) / load);
		if (i >= PAST + TOMORROW || (hour / 24) % 2 == skip)
			continue;
		for (int kind = 0; kind < 3; kind++)
			weather[LT_OPERATOR_WIND + kind][count] = step_of(i,
			    is_noise ? mw[kind] * exp(noise - (kind ? 0 : wind)) : mw[kind],
			    LT_QUALITY_FORECAST);
		count++;
	}
	for (int kind = LT_OPERATOR_WIND; kind < LT_AHEAD_COUNT; kind++)
		of->weather[kind] = (struct lt_weather){weather[kind], count};
}

/* Of the hours [from, to) to come, %. */
static double
mape_of(const struct lt_known *of, int from, int to)
{
	double sum = 0;

	assert_true(lt_forecast(out, 400, of) >= FUTURE - 1);
	for (int i = from; i < to; i++)
		sum += fabs(out[i].value / world.values[PAST + i] - 1) * 100 / (to - from);
	return sum;
}

/* What the operator says of tomorrow cuts the error; what it says by chance does no harm, nor that
 * it says nothing of half of the days; and the days that it has not published are as if it said
 * nothing. */
static void
test_operator(void **state)
{
	static const struct {
		const char *why;
		bool is_noise;
		int skip;
		double least, most; /* of the error without, tomorrow's */
	} cases[] = {
	    {"exact", false, -1, 0, 0.5},
	    {"noise", true, -1, 0.9, 1.02},
	    {"noise, half of the days", true, T0 / 86400 % 2 ^ 1, 0.9, 1.02},
	    {"half of the days", false, T0 / 86400 % 2 ^ 1, 0, 0.6},
	    {"and not tomorrow", false, T0 / 86400 % 2, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double with = 0, without = 0, rest = 0;

		for (uint64_t seed = 1; seed <= 6; seed++) {
			struct lt_known ahead = {.steps = NULL};

			add_operator(&ahead, seed, cases[i].is_noise, cases[i].skip);
			struct lt_known all = known_until(PAST, NULL);
			memcpy(all.weather, ahead.weather, sizeof(all.weather));
			fit_to(&all);
			all.fit = &fit;
			with += mape_of(&all, 0, TOMORROW);
			rest += mape_of(&all, TOMORROW, FUTURE);
			memset(all.weather, 0, sizeof(all.weather));
			without += mape_of(&all, 0, TOMORROW);
			rest -= mape_of(&all, TOMORROW, FUTURE);
		}
		if (!(with >= cases[i].least * without && with <= cases[i].most * without &&
			rest == 0))
			fail_msg("%s: %.2f %%, without %.2f %%, rest %g", cases[i].why, with / 6,
			    without / 6, rest);
	}
}

/* It counts from a month on, also beside a long history without. */
static void
test_new_operator(void **state)
{
	const uint32_t skip = PAST - 45 * 24;
	double with = 0, without = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct lt_known ahead = {.steps = NULL};

		add_operator(&ahead, seed, false, -1);
		struct lt_known all = known_until(PAST, NULL);
		for (int i = LT_OPERATOR_WIND; i < LT_AHEAD_COUNT; i++)
			all.weather[i] = (struct lt_weather){
			    ahead.weather[i].steps + skip, ahead.weather[i].count - skip};
		fit_to(&all);
		assert_true(fit.is_fitted[LT_FIT_OPERATOR]);
		assert_in_range(fit.days[LT_FIT_OPERATOR], 30, 45);
		all.fit = &fit;
		with += mape_of(&all, 0, TOMORROW);
		memset(all.weather, 0, sizeof(all.weather));
		without += mape_of(&all, 0, TOMORROW);
	}
	if (!(with < 0.85 * without))
		fail_msg("%.2f %%, without %.2f %%", with / 6, without / 6);
}

/* A storm as never before: as far as history goes, and no further. */
static void
test_never_beyond_history(void **state)
{
	(void)state;
	make_world(3, 15, 20, 8);
	for (int i = PAST; i < PAST + FUTURE; i++) {
		world.wind[i] = 500;
		world.warmth[i] = -90;
		world.sun[i] = 1e6;
	}
	struct lt_known all = known_until(PAST, NULL);
	add_weather(&all, PAST + FUTURE);
	fit_to(&all);
	assert_true(fit.is_fitted[LT_FIT_WITHOUT]);
	assert_true(fit.is_fitted[LT_FIT_WITH]);
	all.fit = &fit;
	const uint32_t count = lt_forecast(out, 400, &all);
	for (uint32_t i = 0; i < count; i++)
		assert_true(out[i].value >= 0 && out[i].value < 700);
}

static void
test_short_history(void **state)
{
	static const struct {
		int days;
		bool is_fitted;
	} cases[] = {
	    {0, false}, {1, false}, {LT_FIT_MIN_DAYS - 1, false}, {LT_FIT_MIN_DAYS + 1, true}};

	(void)state;
	make_world(2, 0, 20, 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_known all = known_until(PAST, NULL);
		const int skip = PAST - cases[i].days * 24;

		all.steps += skip;
		all.count -= (uint32_t)skip;
		fit_to(&all);
		assert_int_equal(fit.is_fitted[LT_FIT_WITHOUT], cases[i].is_fitted);
		if (cases[i].days < 28)
			continue;
		all.fit = &fit;
		assert_true(error_of(&all) < 100);
	}
}

static void
test_flat(void **state)
{
	static const double flats[] = {0, 42};

	(void)state;
	for (size_t k = 0; k < sizeof(flats) / sizeof(*flats); k++) {
		make_world(1, 0, 0, 0);
		for (int i = 0; i < PAST + FUTURE; i++)
			world.values[i] = flats[k];
		struct lt_known all = known_until(PAST, NULL);
		add_weather(&all, PAST + FUTURE);
		fit_to(&all);
		all.fit = &fit;
		assert_true(error_of(&all) < 1e-6);
	}
}

/* Half of all hours are of wind alone, 0 g. */
static void
test_zeros(void **state)
{
	(void)state;
	make_world(4, 0, 20, 8);
	for (int i = 0; i < PAST + FUTURE; i++)
		world.values[i] = fmax(0, world.values[i] - 300);
	struct lt_known all = known_until(PAST, NULL);
	const double without = error_of(&all);
	fit_to(&all);
	assert_true(fit.is_fitted[LT_FIT_WITHOUT]);
	all.fit = &fit;
	assert_true(error_of(&all) < 1.1 * without);
	for (int i = 0; i < FUTURE; i++)
		assert_true(out[i].value >= 0);
}

/* Steps of five minutes are the same as their hours. */
static void
test_short_steps(void **state)
{
	static struct lt_forecast_fit hourly;
	double values[FUTURE];

	(void)state;
	make_world(5, 0, 40, 8);
	struct lt_known all = known_until(PAST, NULL);
	fit_to(&all);
	hourly = fit;
	all.fit = &hourly;
	(void)lt_forecast(out, 400, &all);
	for (int i = 0; i < FUTURE; i++)
		values[i] = out[i].value;
	all.count = 0;
	for (int i = 0; i < PAST; i++)
		for (int k = 0; k < FINE; k++) {
			struct lt_rate_step *const step = &known[all.count++];

			*step = step_of(i, world.values[i], LT_QUALITY_MEASURED);
			step->start_utc_s += k * HOUR / FINE;
			step->end_utc_s = step->start_utc_s + HOUR / FINE;
		}
	fit_to(&all);
	all.fit = &fit;
	(void)lt_forecast(out, 400, &all);
	for (int i = 0; i < FUTURE - 1; i++)
		assert_true(fabs(out[i].value - values[i]) < 1e-3);
}

struct sums {
	double ours[LEADS], last[LEADS];
};

/* From many starts, each with what was known by then. */
static void
add_errors(struct sums *sums, const double *values, const bool *missing, int to, int late)
{
	const uint32_t from = (uint32_t)(to > 28 * 24 ? to - 28 * 24 : 0);
	struct lt_known now = {
	    .seasonal = true, .fit = &fit, .now_utc_s = T0 + (int64_t)(to - PAST) * HOUR - 1};

	for (int i = (int)from; i < to - late; i++)
		if (!missing[i])
			known[now.count++] = step_of(i, values[i], LT_QUALITY_MEASURED);
	now.steps = known;
	const uint32_t count = lt_forecast(out, 400, &now);
	for (int k = 0; k < LEADS; k++)
		for (uint32_t i = 0; i < count; i++) {
			const int64_t at = T0 + (int64_t)(to - PAST + leads[k] - 1) * HOUR;
			const double seen = values[to + leads[k] - 1];

			if (out[i].start_utc_s > at || out[i].end_utc_s <= at || isnan(seen))
				continue;
			sums->ours[k] += fabs(out[i].value - seen);
			sums->last[k] += fabs(known[now.count - 1].value - seen);
		}
}

static void
assert_no_worse(const struct sums *sums, const char *what, int late)
{
	for (int k = 0; k < LEADS; k++)
		if (!(sums->ours[k] <= sums->last[k]))
			fail_msg("%s, %d h late, %d h ahead: %.1f, last value "
				 "%.1f",
			    what, late, leads[k], sums->ours[k], sums->last[k]);
}

static const int lates[] = {0, 1, 3, 12, 30, 72};
enum { LATES = sizeof(lates) / sizeof(*lates) };

static void
make_gaps(bool *missing, int count, uint64_t seed)
{
	memset(missing, 0, (size_t)count * sizeof(*missing));
	for (int i = 0; i < count; i++)
		if (chance(&seed) > 0.49) {
			const int length = (int)(30 * (chance(&seed) + 0.5));

			for (int k = i; k < count && k < i + length; k++)
				missing[k] = true;
		}
}

static void
test_gaps_and_late(void **state)
{
	static bool missing[PAST + FUTURE];

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		make_world(seed, 8, 40, 25);
		make_gaps(missing, PAST + FUTURE, seed * 77);
		const int fitted = 150 * 24;
		struct lt_known all = known_until(fitted, missing);
		all.now_utc_s = T0 + (int64_t)(fitted - PAST) * HOUR - 1;
		fit_to(&all);
		assert_true(fit.is_fitted[LT_FIT_WITHOUT]);
		for (int k = 0; k < LATES; k++) {
			struct sums sums = {{0}, {0}};

			for (int to = fitted; to < PAST; to += 7)
				add_errors(&sums, world.values, missing, to, lates[k]);
			assert_no_worse(&sums, "random", lates[k]);
		}
	}
}

/* The recorded weeks of Great Britain, holes and all; too short for a fit. */
static void
test_gaps_and_late_recorded(void **state)
{
	static struct carbon_zone zone = {
	    .name = "GB", .file = "gb-2021.csv", .column = "carbon_intensity_avg"};
	static bool missing[70 * 24];

	(void)state;
	assert_true(zone_load(&zone, "tests/fixtures/carbon"));
	assert_int_equal(zone.hours, 70 * 24);
	memset(&fit, 0, sizeof(fit));
	for (int gaps = 0; gaps < 2; gaps++)
		for (int k = 0; k < LATES; k++) {
			struct sums sums = {{0}, {0}};

			make_gaps(missing, zone.hours, 5);
			for (int i = 0; i < zone.hours; i++)
				missing[i] = (gaps > 0 && missing[i]) || isnan(zone.values[i]);
			for (int to = 30 * 24; to + 168 < zone.hours; to += 7)
				add_errors(&sums, zone.values, missing, to, lates[k]);
			assert_no_worse(&sums, gaps > 0 ? "GB with more gaps" : "GB", lates[k]);
		}
	free(zone.values);
}

static void
test_not_asked(void **state)
{
	(void)state;
	make_world(1, 0, 0, 8);
	struct lt_known all = known_until(PAST, NULL);
	all.seasonal = false;
	fit_to(&all);
	assert_false(fit.is_fitted[LT_FIT_WITHOUT]);
	/* All of it is still to come. */
	all.seasonal = true;
	all.now_utc_s = T0 - (int64_t)PAST * HOUR - 1;
	fit_to(&all);
	assert_false(fit.is_fitted[LT_FIT_WITHOUT]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_weekends),
	    cmocka_unit_test(test_weather),
	    cmocka_unit_test(test_little_weather),
	    cmocka_unit_test(test_operator),
	    cmocka_unit_test(test_new_operator),
	    cmocka_unit_test(test_never_beyond_history),
	    cmocka_unit_test(test_short_history),
	    cmocka_unit_test(test_flat),
	    cmocka_unit_test(test_zeros),
	    cmocka_unit_test(test_short_steps),
	    cmocka_unit_test(test_gaps_and_late),
	    cmocka_unit_test(test_gaps_and_late_recorded),
	    cmocka_unit_test(test_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
