/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weather between the ledger and the fits: what was forecast of an hour
 * stays, three series come with a source's history, and a process of its own
 * fits with them.
 */
#include "ledger_fixture.h"

#include <math.h>

#include "fitting.h"
#include "points.h"
#include "forecast_learn.h"

enum { NOW = NOVEMBER, DAYS = 120 };

static const struct lt_weather_keys keys = {"grid#1", {"wind#1", "sun#1", "warmth#1"}};

static double
noise(int64_t hour, int64_t salt)
{
	return (double)((hour * 7919 + salt * 104729) % 1009) / 1009;
}

/* Fronts come each three days or so. */
static double
wind_at(int64_t hour)
{
	return 6 + 4 * sin((double)hour / 11) + 2 * noise(hour / 5, 1);
}

static double
value_at(int series, int64_t hour)
{
	switch (series) {
	case LT_WEATHER_WIND:
		return wind_at(hour);
	case LT_WEATHER_SUN:
		return fmax(0, 400 * sin((double)(hour % 24 - 6) * 0.2618));
	case LT_WEATHER_WARMTH:
		return 10 + 5 * sin((double)(hour % 24) * 0.2618);
	default: /* intensity: wind takes 20 g for each m/s */
		return 400 - 20 * wind_at(hour) + 10 * noise(hour, 2);
	}
}

static void
put_series(struct fixture *f, int series, int64_t to_utc_s)
{
	const char *const key = series < LT_WEATHER_COUNT ? keys.weather[series] : keys.source;
	const int64_t from = NOW - DAYS * LT_DAY_S;
	const uint32_t count = (uint32_t)((to_utc_s - from) / HOUR);
	struct lt_rate_step *const steps = calloc(count, sizeof(*steps));

	for (uint32_t i = 0; i < count; i++) {
		const int64_t start = from + (int64_t)i * HOUR;

		steps[i] = (struct lt_rate_step){.start_utc_s = start,
		    .end_utc_s = start + HOUR,
		    .value = value_at(series, start / HOUR),
		    .quality =
			series < LT_WEATHER_COUNT ? LT_QUALITY_FORECAST : LT_QUALITY_MEASURED,
		    .source = "s"};
	}
	must(f, lt_ledger_put_points(f->ledger, key, steps, count, &f->err));
	free(steps);
}

static void
test_forecasts_stay(void **state)
{
	struct fixture *const f = *state;
	struct lt_points points = {.quantity = LT_QUANTITY_WIND};
	const int64_t from = NOW - 2 * LT_DAY_S;

	/* Known: hours 0 to 9 and 12 on; now is half past hour 47. */
	for (int i = 0; i < 60; i++) {
		const struct lt_rate_step step = {
		    from + i * HOUR, from + (i + 1) * HOUR, 1, LT_QUALITY_FORECAST, "s", 0};

		if (i != 10 && i != 11)
			must(f, lt_ledger_put_points(f->ledger, "wind#1", &step, 1, &f->err));
	}
	for (int i = 0; i < 72; i++)
		must(f, lt_points_add(&points,
			    &(struct lt_point){
				from + i * HOUR, from + (i + 1) * HOUR, 2, LT_QUALITY_FORECAST},
			    &f->err));
	must(f, lt_weather_keep_forecasts(
		    f->ledger, "wind#1", &points, from + 47 * HOUR + 1800, &f->err));
	/* The two that were missing, and what has not begun. */
	assert_int_equal(points.count, 2 + 24);
	assert_int_equal(points.points[0].start_utc_s, from + 10 * HOUR);
	assert_int_equal(points.points[1].start_utc_s, from + 11 * HOUR);
	assert_int_equal(points.points[2].start_utc_s, from + 48 * HOUR);
	lt_points_free(&points);
	must(f, lt_weather_keep_forecasts(f->ledger, "none#1", &points, NOW, &f->err));
	assert_int_equal(points.count, 0);
}

static void
test_load(void **state)
{
	struct fixture *const f = *state;
	struct lt_known known = {.now_utc_s = NOW};
	const int64_t span[] = {NOW - LT_DAY_S, NOW + LT_DAY_S};

	put_series(f, LT_WEATHER_SUN, NOW + LT_DAY_S);
	must(f, lt_weather_load(&known, f->ledger,
		    &(struct lt_weather_keys){"grid#1", {NULL, "sun#1", ""}}, span, &f->err));
	assert_int_equal(known.weather[LT_WEATHER_WIND].count, 0);
	assert_int_equal(known.weather[LT_WEATHER_SUN].count, 48);
	assert_int_equal(known.weather[LT_WEATHER_WARMTH].count, 0);
	assert_true(known.weather[LT_WEATHER_SUN].steps[0].start_utc_s == NOW - LT_DAY_S);
	lt_weather_free(&known);
	assert_null(known.weather[LT_WEATHER_SUN].steps);
}

/* The wind explains what its history does not. */
static void
test_fit(void **state)
{
	struct fixture *const f = *state;
	const struct lt_known now = {.seasonal = true, .now_utc_s = NOW};
	static struct lt_forecast_fit without, with;
	static struct lt_rate_step out[400];
	const int64_t span[] = {NOW - 28 * LT_DAY_S, NOW + 8 * LT_DAY_S};
	double errors[2] = {0, 0};

	for (int i = 0; i <= LT_WEATHER_COUNT; i++)
		put_series(f, i, i < LT_WEATHER_COUNT ? NOW + 9 * LT_DAY_S : NOW);
	must(f, lt_fitting_make(&without, f->ledger, &now,
		    &(struct lt_weather_keys){.source = "grid#1"}, &f->err));
	assert_true(without.is_fitted[LT_FIT_WITHOUT]);
	assert_false(without.is_fitted[LT_FIT_WITH]);
	must(f, lt_fitting_make(&with, f->ledger, &now, &keys, &f->err));
	assert_true(with.is_fitted[LT_FIT_WITH]);
	assert_int_equal(with.days[LT_FIT_WITH], with.days[LT_FIT_WITHOUT]);
	for (int k = 0; k < 2; k++) {
		struct lt_known known = now;
		struct lt_rate_step *steps = NULL;

		must(f, lt_ledger_points(f->ledger,
			    &(struct lt_points_asked){"grid#1", {span[0], span[1]}}, &steps,
			    &known.count, &f->err));
		known.steps = steps;
		known.fit = k == 0 ? &without : &with;
		if (k == 1)
			must(f, lt_weather_load(&known, f->ledger, &keys, span, &f->err));
		const uint32_t count = lt_forecast(out, 400, &known);
		for (uint32_t i = 0; i < count; i++)
			errors[k] += fabs(
			    out[i].value - value_at(LT_WEATHER_COUNT, out[i].start_utc_s / HOUR));
		assert_true(count > 100);
		lt_weather_free(&known);
		free(steps);
	}
	if (!(errors[1] < 0.9 * errors[0]))
		fail_msg("%.0f, without %.0f", errors[1], errors[0]);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(test_forecasts_stay),
	    EACH(test_load),
	    EACH(test_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
