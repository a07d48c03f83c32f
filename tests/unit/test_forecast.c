/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our own forecast: the daily shape comes back, the anomaly decays, holes and short steps do no
 * harm, and where history is short the last value goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast.h"

enum { T0 = 1795219200, HOUR = 3600, DAYS = 28 };

static double
shape(int64_t utc_s)
{
	return 200 + 100 * sin((double)(utc_s / HOUR % 24) * 0.2617993878);
}

/* Hours of history up to T0, the last ones `extra` above the shape. */
static uint32_t
history(struct lt_rate_step *steps, int days, double extra)
{
	const uint32_t n = (uint32_t)days * 24;

	for (uint32_t i = 0; i < n; i++) {
		steps[i] = (struct lt_rate_step){.start_utc_s = T0 - (int64_t)(n - i) * HOUR,
		    .end_utc_s = T0 - (int64_t)(n - i - 1) * HOUR,
		    .quality = LT_QUALITY_MEASURED,
		    .source = "s"};
		steps[i].value = shape(steps[i].start_utc_s) + (i + 1 == n ? extra : 0);
	}
	return n;
}

static struct lt_rate_step known[DAYS * 24], out[400];

static void
test_shape_returns(void **state)
{
	(void)state;
	const uint32_t n = history(known, DAYS, 0);
	const uint32_t got = lt_forecast(out, 400,
	    &(struct lt_known){.steps = known, .count = n, .seasonal = true, .now_utc_s = T0 - 1});
	assert_true(got > LT_FORECAST_HOURS - 2);
	for (uint32_t i = 0; i < got; i++) {
		assert_true(fabs(out[i].value - shape(out[i].start_utc_s)) < 1e-6);
		assert_int_equal(out[i].quality, LT_QUALITY_CLIMATOLOGY);
		assert_string_equal(out[i].source, "s");
		assert_true(out[i].start_utc_s == (i == 0 ? T0 : out[i - 1].end_utc_s));
	}
}

/* Anomalies that lose 5 % an hour, as on a real grid; the last hour's is `extra`. */
static uint32_t
weather(int days, double extra)
{
	const uint32_t n = history(known, days, 0);
	uint64_t seed = 1;
	double anomaly = 0;

	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		anomaly = 0.95 * anomaly + 20 * ((double)(seed >> 11) * 0x1p-53 - 0.5);
		known[i].value += i + 1 == n ? extra : anomaly;
	}
	return n;
}

static void
test_anomaly_decays(void **state)
{
	(void)state;
	const uint32_t n = weather(DAYS, 50);
	const uint32_t got = lt_forecast(out, 400,
	    &(struct lt_known){.steps = known, .count = n, .seasonal = true, .now_utc_s = T0 - 1});
	const double first = out[0].value - shape(out[0].start_utc_s);
	const double later = out[35].value - shape(out[35].start_utc_s);
	const double last = out[180].value - shape(out[180].start_utc_s);
	assert_true(got > 180);
	assert_true(first > 35 && first < 55);
	assert_true(later > -5 && later < 25);
	assert_true(fabs(last) < 20);
}

/* Five-minute steps, and a third of them missing, give much the same. */
static void
test_holes_and_short_steps(void **state)
{
	static struct lt_rate_step fine[DAYS * 24 * 12], plain[400];
	const uint32_t n = weather(DAYS, 50);
	uint32_t count = 0;

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		for (int k = 0; k < 12; k++) {
			if ((i * 12 + (uint32_t)k) * 7 % 3 == 2 || (i % 13 == 5 && i + 12 < n))
				continue;
			fine[count] = known[i];
			fine[count].start_utc_s += (int64_t)k * HOUR / 12;
			fine[count].end_utc_s = fine[count].start_utc_s + HOUR / 12;
			count++;
		}
	const uint32_t got = lt_forecast(plain, 400,
	    &(struct lt_known){.steps = known, .count = n, .seasonal = true, .now_utc_s = T0 - 1});
	assert_int_equal(
	    lt_forecast(out, 400,
		&(struct lt_known){
		    .steps = fine, .count = count, .seasonal = true, .now_utc_s = T0 - 1}),
	    got + 1);
	/* The rest of the present hour is the last value. */
	assert_true(out[0].end_utc_s == T0);
	assert_true(out[0].value == fine[count - 1].value);
	for (uint32_t i = 0; i < got; i++)
		assert_true(fabs(out[i + 1].value - plain[i].value) < 15);
}

static void
test_short_history(void **state)
{
	(void)state;
	const uint32_t n = history(known, 6, 0);
	assert_int_equal(
	    lt_forecast(out, 400,
		&(struct lt_known){.steps = known, .count = n, .seasonal = true, .now_utc_s = T0}),
	    1);
	assert_int_equal(out[0].quality, LT_QUALITY_LAST_VALUE);
	assert_true(out[0].value == known[n - 1].value);
	assert_true(out[0].start_utc_s == T0);
}

static void
test_not_seasonal(void **state)
{
	(void)state;
	const uint32_t n = history(known, DAYS, 0);
	assert_int_equal(
	    lt_forecast(out, 400,
		&(struct lt_known){.steps = known, .count = n, .seasonal = false, .now_utc_s = T0}),
	    1);
	assert_int_equal(out[0].quality, LT_QUALITY_LAST_VALUE);
}

/* Nights of wind alone: where history was 0, so is what is to come. */
static void
test_zeros_return(void **state)
{
	(void)state;
	const uint32_t n = history(known, DAYS, 0);
	for (uint32_t i = 0; i < n; i++)
		known[i].value = fmax(0, known[i].value - 200);
	const uint32_t got = lt_forecast(out, 400,
	    &(struct lt_known){.steps = known, .count = n, .seasonal = true, .now_utc_s = T0 - 1});
	assert_true(got > LT_FORECAST_HOURS - 2);
	for (uint32_t i = 0; i < got; i++)
		assert_true(fabs(out[i].value - fmax(0, shape(out[i].start_utc_s) - 200)) < 1e-6);
}

static void
test_bounds(void **state)
{
	(void)state;
	const uint32_t n = history(known, DAYS, -1000);
	assert_int_equal(
	    lt_forecast(out, 400,
		&(struct lt_known){.steps = known, .count = 0, .seasonal = true, .now_utc_s = T0}),
	    0);
	assert_int_equal(
	    lt_forecast(out, 0,
		&(struct lt_known){.steps = known, .count = n, .seasonal = true, .now_utc_s = T0}),
	    0);
	assert_int_equal(
	    lt_forecast(out, 5,
		&(struct lt_known){
		    .steps = known, .count = n, .seasonal = true, .now_utc_s = T0 - 1}),
	    5);
	for (int i = 0; i < 5; i++)
		assert_true(out[i].value >= 0); /* never below the floor */
	/* The provider's own forecast reaches further than ours. */
	known[n - 1].end_utc_s = T0 + 400 * (int64_t)HOUR;
	assert_int_equal(
	    lt_forecast(out, 400,
		&(struct lt_known){.steps = known, .count = n, .seasonal = true, .now_utc_s = T0}),
	    0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_shape_returns),
	    cmocka_unit_test(test_anomaly_decays),
	    cmocka_unit_test(test_holes_and_short_steps),
	    cmocka_unit_test(test_short_history),
	    cmocka_unit_test(test_not_seasonal),
	    cmocka_unit_test(test_zeros_return),
	    cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
