/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Step functions: what is refused, what merges, look-ups at and beyond the ends, and look-ups of
 * odd series against a walk.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "series.h"

enum { HOUR = 3600, T0 = 1000000 };

static int64_t start_utc_s[LT_STEPS_MAX + 2];
static double value[LT_STEPS_MAX + 1], integral[LT_STEPS_MAX + 2];

static struct lt_series
series_of(uint32_t count, const int64_t *starts, const double *values)
{
	memcpy(start_utc_s, starts, (count + 1) * sizeof(*starts));
	memcpy(value, values, count * sizeof(*values));
	return (struct lt_series){.count = count,
	    .source = "x",
	    .start_utc_s = start_utc_s,
	    .value = value,
	    .integral = integral};
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why;
		uint32_t count;
		int64_t starts[4];
		double values[3];
	} cases[] = {
	    {"no steps", 0, {T0, T0 + 1, 0, 0}, {1, 0, 0}},
	    {"not rising", 2, {T0, T0, T0 + 1, 0}, {1, 2, 0}},
	    {"falling", 2, {T0 + 5, T0, T0 + 9, 0}, {1, 2, 0}},
	    {"no end", 1, {T0, T0, 0, 0}, {1, 0, 0}},
	    {"longer than time", 1, {INT64_MIN, INT64_MAX, 0, 0}, {1, 0, 0}},
	    {"infinite", 1, {T0, T0 + 1, 0, 0}, {INFINITY, 0, 0}},
	    {"not a number", 2, {T0, T0 + 1, T0 + 2, 0}, {1, NAN, 0}},
	};
	struct lt_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_series series =
		    series_of(cases[i].count, cases[i].starts, cases[i].values);

		err = (struct lt_error){0};
		if (lt_series_prepare(&series, &err) != LT_EINPUT ||
		    strstr(err.text, "series x") == NULL)
			fail_msg("%s: \"%s\"", cases[i].why, err.text);
	}
	for (uint32_t i = 0; i <= LT_STEPS_MAX + 1; i++)
		start_utc_s[i] = T0 + i;
	for (uint32_t i = 0; i <= LT_STEPS_MAX; i++)
		value[i] = i;
	struct lt_series series = {.count = LT_STEPS_MAX + 1,
	    .start_utc_s = start_utc_s,
	    .value = value,
	    .integral = integral};
	assert_int_equal(lt_series_prepare(&series, NULL), LT_EINPUT);
	series.count = LT_STEPS_MAX;
	assert_int_equal(lt_series_prepare(&series, NULL), LT_OK);
}

static void
test_look_ups(void **state)
{
	static const int64_t starts[] = {
	    T0, T0 + HOUR, T0 + 2 * HOUR, T0 + 3 * HOUR, T0 + 4 * HOUR};
	/* The first two merge. */
	static const double values[] = {6, 6, -2, 4};

	static const struct {
		const char *why;
		int64_t from_s, to_s;
		double at_from, integral, most;
	} cases[] = {
	    {"nothing", 0, 0, 6, 0, 6},
	    {"within a step", 600, 4200, 6, 6, 6},
	    {"to a step's start", 0, 7200, 6, 12, 6},
	    {"over a step", 3600, 10800, 6, 4, 6},
	    {"a negative step", 7200, 10800, -2, -2, 4},
	    {"before the start the first holds", -3600, 0, 6, 6, 6},
	    {"after the end the last holds", 14400, 18000, 4, 4, 4},
	    {"from long before to long after", -7200, 18000, 6, 30, 6},
	};
	struct lt_series series = series_of(4, starts, values);

	(void)state;
	assert_int_equal(lt_series_prepare(&series, NULL), LT_OK);
	assert_int_equal(series.count, 3);
	assert_true(series.start_utc_s[3] == T0 + 4 * HOUR);
	assert_true(series.min_value == -2 && series.max_value == 6);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int64_t from = T0 + cases[i].from_s;
		const int64_t to = T0 + cases[i].to_s;

		if (lt_series_at(&series, from) != cases[i].at_from ||
		    fabs(lt_series_integral(&series, from, to) - cases[i].integral) > 1e-12 ||
		    lt_series_max(&series, from, to) != cases[i].most)
			fail_msg("%s", cases[i].why);
	}
}

/* Steps of one second and of months in one series: the guess is far off. */
static void
test_uneven_steps(void **state)
{
	enum { STEPS = 1000 };
	uint64_t random = 42;
	int64_t at = T0;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		start_utc_s[i] = at;
		value[i] = i;
		at += i < STEPS / 2 ? 1 + (int64_t)(random >> 62) : 1 + (int64_t)(random >> 42);
	}
	start_utc_s[STEPS] = at;
	struct lt_series series = {
	    .count = STEPS, .start_utc_s = start_utc_s, .value = value, .integral = integral};
	assert_int_equal(lt_series_prepare(&series, NULL), LT_OK);
	for (uint32_t i = 0; i < STEPS; i++) {
		assert_int_equal(lt_series_index(&series, start_utc_s[i]), i);
		assert_int_equal(lt_series_index(&series, start_utc_s[i + 1] - 1), i);
	}
	assert_int_equal(lt_series_index(&series, INT64_MIN), 0);
	assert_int_equal(lt_series_index(&series, INT64_MAX), STEPS - 1);
}

/* Equal prices must give equal integrals, to the last bit. */
static void
test_constant_is_exact(void **state)
{
	static const int64_t starts[] = {T0, T0 + HOUR, T0 + 9 * HOUR};
	static const double values[] = {0.1, 0.3};
	struct lt_series series = series_of(2, starts, values);

	(void)state;
	assert_int_equal(lt_series_prepare(&series, NULL), LT_OK);
	for (int64_t s = T0 + HOUR; s < T0 + 9 * HOUR; s += 777)
		assert_true(lt_series_integral(&series, s, s + 2 * HOUR) == 0.3 * 2);
}

static void
test_names(void **state)
{
	(void)state;
	for (int i = 0; i < LT_QUALITY_COUNT; i++)
		assert_string_not_equal(lt_quality_name((enum lt_quality)i), "unknown");
	assert_string_equal(lt_quality_name(LT_QUALITY_COUNT), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_look_ups),
	    cmocka_unit_test(test_uneven_steps),
	    cmocka_unit_test(test_constant_is_exact),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
