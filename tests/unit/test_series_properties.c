/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties: whatever is done to a step function, what a window of it costs stays the same.
 * Thousands of random cases (gaps, negative tariffs, revisions) from a fixed seed, against a walk
 * second by second.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exchange_rates.h"
#include "points.h"
#include "source.h"
#include "units.h"

enum {
	CASES = 4000,
	STEPS = 40,
	T0 = 1683244800, /* on the hour */
	LENGTH_S = 6 * LT_HOUR_S,
	VALUE_MAX = 900000, /* a tariff in micros, to both sides of 0 */
};

/* xorshift64*: the same cases on every machine. */
static uint64_t random_state;

static int64_t
random_to(int64_t count)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (int64_t)((random_state * 0x2545F4914F6CDD1Dull >> 33) % (uint64_t)count);
}

static double
random_value(void)
{
	return (double)(random_to(2 * VALUE_MAX + 1) - VALUE_MAX);
}

/* ---- series ---- */

struct steps { /* a series and its arrays */
	struct lt_series series;
	int64_t start_utc_s[LT_STEPS_MAX + 1];
	double value[LT_STEPS_MAX], integral[LT_STEPS_MAX + 1];
};

static void
prepare(struct steps *steps, uint32_t count)
{
	steps->series = (struct lt_series){.count = count,
	    .start_utc_s = steps->start_utc_s,
	    .value = steps->value,
	    .integral = steps->integral};
	assert_int_equal(lt_series_prepare(&steps->series, NULL), LT_OK);
}

/* Steps of equal or odd lengths, often of equal values. */
static void
random_steps(struct steps *steps)
{
	const uint32_t count = (uint32_t)random_to(STEPS) + 1;
	const int64_t regular_s = random_to(2) == 0 ? (random_to(8) + 1) * 900 : 0;

	steps->start_utc_s[0] = T0;
	for (uint32_t i = 0; i < count; i++) {
		steps->start_utc_s[i + 1] =
		    steps->start_utc_s[i] + (regular_s > 0 ? regular_s : random_to(5000) + 1);
		steps->value[i] = i > 0 && random_to(4) == 0 ? steps->value[i - 1] : random_value();
	}
	prepare(steps, count);
}

/* Unit-seconds by walking the steps; exact, since all are integers. */
static double
walk(const struct lt_series *series, int64_t from_utc_s, int64_t to_utc_s)
{
	double sum = 0;

	for (uint32_t i = 0; i < series->count; i++) {
		int64_t start = i == 0 ? from_utc_s : series->start_utc_s[i];
		int64_t end = i + 1 == series->count ? to_utc_s : series->start_utc_s[i + 1];

		if (start < from_utc_s)
			start = from_utc_s;
		if (end > to_utc_s)
			end = to_utc_s;
		if (end > start)
			sum += series->value[i] * (double)(end - start);
	}
	return sum;
}

/* As exact as prefix sums of this size can be. */
static void
assert_close(const char *why, int number, double got, double wanted)
{
	if (!(fabs(got - wanted) <= 1e-6 + 1e-12 * fabs(wanted)))
		fail_msg("%s, case %d: got %.12g, want %.12g", why, number, got, wanted);
}

static void
random_window(const struct lt_series *series, int64_t window[3])
{
	const int64_t length_s = series->start_utc_s[series->count] - series->start_utc_s[0];

	for (int i = 0; i < 3; i++) {
		int at = i;
		const int64_t t = random_to(4) == 0
				      ? series->start_utc_s[random_to((int64_t)series->count + 1)]
				      : T0 - 3600 + random_to(length_s + 7200);

		for (; at > 0 && window[at - 1] > t; at--)
			window[at] = window[at - 1];
		window[at] = t;
	}
}

static void
test_series_split(void **state)
{
	static struct steps steps;

	(void)state;
	random_state = 1;
	for (int i = 0; i < CASES; i++) {
		const struct lt_series *const series = &steps.series;
		int64_t at[3];

		random_steps(&steps);
		random_window(series, at);
		const double all = lt_series_integral(series, at[0], at[2]);
		assert_close("walk", i, all * LT_HOUR_S, walk(series, at[0], at[2]));
		assert_close("split", i,
		    lt_series_integral(series, at[0], at[1]) +
			lt_series_integral(series, at[1], at[2]),
		    all);
		assert_true(lt_series_integral(series, at[1], at[1]) == 0);
	}
}

/* Of windows within the series, of all that begin or end with a step, the least is that of
 * window_min[]; of a shorter series nothing is. */
static void
test_series_least_window(void **state)
{
	static struct steps steps;
	int within = 0;

	(void)state;
	random_state = 10;
	for (int i = 0; i < CASES; i++) {
		const struct lt_series *const series = &steps.series;

		random_steps(&steps);
		const int64_t end_utc_s = series->start_utc_s[series->count];
		const int64_t *const step_utc_s = series->start_utc_s;

		for (int w = 0; w < LT_SERIES_WINDOWS; w++) {
			const int64_t length_s = LT_DAY_S >> w;
			double least = INFINITY;

			for (uint32_t k = 0; k <= 2 * series->count + 1; k++) {
				const int64_t from_utc_s =
				    step_utc_s[k / 2] - (k % 2 == 0 ? 0 : length_s);

				if (from_utc_s >= T0 && from_utc_s + length_s <= end_utc_s)
					least = fmin(
					    least, walk(series, from_utc_s, from_utc_s + length_s));
			}
			within += isfinite(least);
			if (!isfinite(least))
				least = (double)length_s * series->min_value;
			assert_close("least window", i, series->window_min[w] * LT_HOUR_S, least);
		}
	}
	assert_true(within > CASES);
}

/* Steps that are cut in two of the same value are merged again, and nothing
 * of the sums is another by a single bit. */
static void
test_series_merge(void **state)
{
	static struct steps whole, cut;

	(void)state;
	random_state = 2;
	for (int i = 0; i < CASES; i++) {
		const struct lt_series *const series = &whole.series;
		uint32_t count = 0;

		random_steps(&whole);
		for (uint32_t j = 0; j < series->count; j++) {
			int64_t at = series->start_utc_s[j];
			const int64_t end = series->start_utc_s[j + 1];

			for (int parts = 0; at < end && parts < 5; parts++) {
				cut.start_utc_s[count] = at;
				cut.value[count++] = series->value[j];
				at += random_to(end - at) + 1;
			}
		}
		cut.start_utc_s[count] = series->start_utc_s[series->count];
		prepare(&cut, count);
		assert_int_equal(cut.series.count, series->count);
		for (uint32_t j = 0; j <= series->count; j++) {
			assert_int_equal(cut.series.start_utc_s[j], series->start_utc_s[j]);
			assert_true(cut.series.integral[j] == series->integral[j]);
		}
	}
}

/* Another unit is a factor; a fee per kWh on top is a constant. */
static void
test_series_unit(void **state)
{
	static const double factors[] = {0.001, 1000, -1, 0.8617, 1.0 / 3};
	static struct steps steps, other;

	(void)state;
	random_state = 3;
	for (int i = 0; i < CASES; i++) {
		const double factor = factors[random_to(5)];
		const double fee = random_value();
		const struct lt_series *const series = &steps.series;
		int64_t at[3];

		random_steps(&steps);
		for (uint32_t j = 0; j < series->count; j++)
			other.value[j] = series->value[j] * factor + fee;
		memcpy(other.start_utc_s, series->start_utc_s,
		    (series->count + 1) * sizeof(*series->start_utc_s));
		prepare(&other, series->count);
		random_window(series, at);
		assert_close("unit", i, lt_series_integral(&other.series, at[0], at[2]),
		    lt_series_integral(series, at[0], at[2]) * factor +
			fee * (double)(at[2] - at[0]) / LT_HOUR_S);
	}
}

/* Means of equal or odd bins, as a series: windows of whole bins cost the same. */
static void
test_series_resample(void **state)
{
	static struct steps steps, bins;

	(void)state;
	random_state = 4;
	for (int i = 0; i < CASES; i++) {
		const struct lt_series *const series = &steps.series;
		const int64_t bin_s =
		    random_to(2) == 0 ? (random_to(8) + 1) * 900 : random_to(4000) + 100;
		const uint32_t count = (uint32_t)random_to(STEPS) + 1;

		random_steps(&steps);
		for (uint32_t j = 0; j <= count; j++)
			bins.start_utc_s[j] = T0 - bin_s + j * bin_s;
		for (uint32_t j = 0; j < count; j++)
			bins.value[j] = lt_series_integral(
					    series, bins.start_utc_s[j], bins.start_utc_s[j + 1]) *
					LT_HOUR_S / (double)bin_s;
		const int64_t first = random_to(count);
		const int64_t last = first + random_to((int64_t)count - first) + 1;
		const int64_t from_utc_s = T0 - bin_s + first * bin_s;
		const int64_t to_utc_s = T0 - bin_s + last * bin_s;
		prepare(&bins, count);
		assert_close("resample", i, lt_series_integral(&bins.series, from_utc_s, to_utc_s),
		    lt_series_integral(series, from_utc_s, to_utc_s));
	}
}

/* ---- points ---- */

static void
add(struct lt_points *points, int64_t start_utc_s, int64_t end_utc_s, double value)
{
	const struct lt_point point = {start_utc_s, end_utc_s, value, LT_QUALITY_FORECAST};

	assert_int_equal(lt_points_add(points, &point, NULL), LT_OK);
}

/* Value of each second; NAN in gaps. */
static void
paint(double seconds[LENGTH_S], const struct lt_points *points)
{
	for (int i = 0; i < LENGTH_S; i++)
		seconds[i] = NAN;
	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const p = &points->points[i];

		for (int64_t t = p->start_utc_s; t < p->end_utc_s; t++)
			if (t >= T0 && t < T0 + LENGTH_S)
				seconds[t - T0] = p->value;
	}
}

static void
assert_painted(
    const char *why, int number, const struct lt_points *points, const double wanted[LENGTH_S])
{
	static double seconds[LENGTH_S];

	for (size_t i = 1; i < points->count; i++)
		if (points->points[i].start_utc_s < points->points[i - 1].end_utc_s)
			fail_msg("%s, case %d: overlap", why, number);
	paint(seconds, points);
	for (int i = 0; i < LENGTH_S; i++)
		if (seconds[i] != wanted[i] && !(isnan(seconds[i]) && isnan(wanted[i])))
			fail_msg("%s, case %d, second %d: %g, want %g", why, number, i, seconds[i],
			    wanted[i]);
}

/* In order and apart, with gaps; at most 30. */
static void
random_points(struct lt_points *points)
{
	int64_t at = T0;

	*points = (struct lt_points){.quantity = LT_QUANTITY_TARIFF};
	for (int i = 0; i < 30; i++) {
		const int64_t start = at + (random_to(3) == 0 ? random_to(2000) : 0);

		at = start + random_to(1800) + 1;
		if (at > T0 + LENGTH_S)
			return;
		add(points, start, at, random_value());
	}
}

static void
shuffle(struct lt_points *points)
{
	for (size_t i = points->count; i > 1; i--) {
		const size_t j = (size_t)random_to((int64_t)i);
		const struct lt_point kept = points->points[i - 1];

		points->points[i - 1] = points->points[j];
		points->points[j] = kept;
	}
}

enum { POINT_CASES = 1000 }; /* each of 21,600 seconds */

static void
test_points_sort(void **state)
{
	static double wanted[LENGTH_S];

	(void)state;
	random_state = 5;
	for (int i = 0; i < POINT_CASES; i++) {
		struct lt_points points;

		random_points(&points);
		paint(wanted, &points);
		shuffle(&points);
		lt_points_sort(&points);
		assert_painted("sort", i, &points, wanted);
		lt_points_free(&points);
	}
}

/* Overlaps and revisions: of those with one start the last added, and at each second the one that
 * began last, if it still lasts. */
static void
test_points_revisions(void **state)
{
	static double wanted[LENGTH_S];

	(void)state;
	random_state = 6;
	for (int i = 0; i < POINT_CASES; i++) {
		struct lt_points points = {.quantity = LT_QUANTITY_TARIFF};
		const int64_t grid_s = random_to(2) == 0 ? 900 : 60;
		const int count = (int)random_to(60) + 1;

		for (int j = 0; j < count; j++) {
			const int64_t start = T0 + random_to(LENGTH_S / grid_s) * grid_s;

			add(&points, start, start + (random_to(4) + 1) * grid_s, random_value());
		}
		for (int t = 0; t < LENGTH_S; t++) {
			const struct lt_point *last = NULL;

			for (int j = 0; t % grid_s == 0 && j < count; j++) {
				const struct lt_point *const p = &points.points[j];

				if (p->start_utc_s <= T0 + t &&
				    (last == NULL || p->start_utc_s >= last->start_utc_s))
					last = p;
			}
			if (t % grid_s != 0)
				wanted[t] = wanted[t - 1];
			else
				wanted[t] =
				    last != NULL && last->end_utc_s > T0 + t ? last->value : NAN;
		}
		lt_points_sort(&points);
		assert_painted("revisions", i, &points, wanted);
		lt_points_free(&points);
	}
}

/* A fetch in two parts that overlap is the fetch of the whole. */
static void
test_points_split(void **state)
{
	static double wanted[LENGTH_S];

	(void)state;
	random_state = 7;
	for (int i = 0; i < POINT_CASES; i++) {
		const int64_t middle = T0 + random_to(LENGTH_S);
		const int64_t again = middle - random_to(3) * 700;
		struct lt_points points, parts = {0};

		random_points(&points);
		paint(wanted, &points);
		assert_int_equal(lt_points_copy(&parts, &points, again, INT64_MAX, NULL), LT_OK);
		assert_int_equal(lt_points_copy(&parts, &points, INT64_MIN, middle, NULL), LT_OK);
		lt_points_sort(&parts);
		assert_int_equal(parts.count, points.count);
		assert_painted("split", i, &parts, wanted);
		lt_points_free(&parts);
		lt_points_free(&points);
	}
}

/* Hours: mean times what is known of the hour is the integral; less than
 * half of it is a gap, never 0. */
static void
test_points_hours(void **state)
{
	static double seconds[LENGTH_S];

	(void)state;
	random_state = 8;
	for (int i = 0; i < POINT_CASES; i++) {
		struct lt_hour hours[LENGTH_S / LT_HOUR_S];
		struct lt_points points;

		random_points(&points);
		paint(seconds, &points);
		lt_points_hours(hours, LENGTH_S / LT_HOUR_S, T0, points.points, points.count);
		for (int hour = 0; hour < LENGTH_S / LT_HOUR_S; hour++) {
			double sum = 0;
			int known_s = 0;

			for (int t = 0; t < LT_HOUR_S; t++) {
				const double value = seconds[hour * LT_HOUR_S + t];

				known_s += !isnan(value);
				sum += isnan(value) ? 0 : value;
			}
			assert_int_equal(hours[hour].known, known_s >= LT_HOUR_S / 2);
			if (hours[hour].known)
				assert_close("hours", i, hours[hour].value * known_s, sum);
		}
		lt_points_free(&points);
	}
}

/* Another currency: each second at the rate of its day, half away from zero; what no rate covers is
 * a gap. */
static void
test_points_currency(void **state)
{
	static double wanted[LENGTH_S];

	(void)state;
	random_state = 9;
	for (int i = 0; i < POINT_CASES; i++) {
		struct lt_policy_exchange rates[3] = {
		    {"EUR", 1.0873, T0 + random_to(9000) - 4000},
		    {"EUR", 0.5, T0 + 6000 + random_to(3000)},
		    {"EUR", 1.21, T0 + 10000 + random_to(9000)},
		};
		const struct lt_policy policy = {
		    .currency = "USD", .exchange_count = 3, .exchanges = rates};
		struct lt_points points;

		random_points(&points);
		strcpy(points.currency, "EUR");
		paint(wanted, &points);
		for (int t = 0; t < LENGTH_S; t++) {
			double rate = NAN;

			for (int j = 0; j < 3; j++)
				if (rates[j].from_utc_s <= T0 + t)
					rate = rates[j].rate;
			wanted[t] = round(wanted[t] * rate);
		}
		if (lt_points_convert(&points, &policy, NULL) == LT_OK)
			assert_painted("currency", i, &points, wanted);
		else
			for (int t = 0; t < LENGTH_S; t++)
				assert_true(isnan(wanted[t]));
		lt_points_free(&points);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_series_split),
	    cmocka_unit_test(test_series_least_window),
	    cmocka_unit_test(test_series_merge),
	    cmocka_unit_test(test_series_unit),
	    cmocka_unit_test(test_series_resample),
	    cmocka_unit_test(test_points_sort),
	    cmocka_unit_test(test_points_revisions),
	    cmocka_unit_test(test_points_split),
	    cmocka_unit_test(test_points_hours),
	    cmocka_unit_test(test_points_currency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
