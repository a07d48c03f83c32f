/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static: numbers that the admin writes become one constant point.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "source_fixture.h"

static const struct {
	const char *why, *value, *unit;
	const char *says; /* NULL = good */
	int line;
	enum lt_quantity quantity;
	double points; /* the value that points have */
} cases[] = {
    {"empty", "", "per_kwh", "value: got \"\", want a number", 10, LT_QUANTITY_TARIFF, 0},
    {"words", "cheap", "per_kwh", "got \"cheap\"", 10, LT_QUANTITY_TARIFF, 0},
    {"a comma", "0,31", "per_kwh", "got \"0,31\"", 10, LT_QUANTITY_TARIFF, 0},
    {"unknown unit", "230", "g/kWh", "want g_co2_per_kwh, marginal_g_co2_per_kwh", 11,
	LT_QUANTITY_COUNT, 0},
    {"negative intensity", "-1", "g_co2_per_kwh", "want more than 0", 10, LT_QUANTITY_CARBON, 0},
    {"kilograms meant", "23000", "g_co2_per_kwh", "is the unit right?", 10, LT_QUANTITY_CARBON, 0},
    {"negative price", "-0.5", "per_node_hour", "want more than 0", 10, LT_QUANTITY_PRICE, 0},
    {"intensity stays", "230.5", "g_co2_per_kwh", NULL, 0, LT_QUANTITY_CARBON, 230.5},
    {"0 is what was written", "0", "g_co2_per_kwh", NULL, 0, LT_QUANTITY_CARBON, 0},
    {"price in micros", "32.77", "per_node_hour", NULL, 0, LT_QUANTITY_PRICE, 32770000},
    {"a tariff may be negative", "-0.31", "per_kwh", NULL, 0, LT_QUANTITY_TARIFF, -310000},
    {"whole micros", "0.0000014", "per_kwh", NULL, 0, LT_QUANTITY_TARIFF, 1},
};

static void
test_values(void **state)
{
	const struct lt_adapter *const adapter = lt_adapter_find("static");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pair pairs[] = {
		    {"value", cases[i].value}, {"unit", cases[i].unit}, {NULL, NULL}};
		const struct lt_source_options options = options_of(pairs);
		struct lt_error err = {0};
		struct lt_points points = {0};
		const int code = lt_adapter_check(adapter, &options, &err);

		assert_int_equal(lt_adapter_quantity(adapter, &options), cases[i].quantity);
		assert_int_equal(lt_adapter_fetch(adapter, &options,
				     &(struct lt_window){1000, 9000, 5000}, &points, NULL),
		    code);
		if ((code == LT_OK) != (cases[i].says == NULL) || err.line != cases[i].line)
			fail_msg("%s: %d, line %d: %s", cases[i].why, code, err.line, err.text);
		if (code != LT_OK) {
			assert_says(cases[i].why, &err, cases[i].says);
			assert_int_equal(points.count, 0);
			continue;
		}
		assert_int_equal(points.count, 1);
		assert_int_equal(points.points[0].start_utc_s, 1000);
		assert_int_equal(points.points[0].end_utc_s, 9000);
		assert_int_equal(points.points[0].quality, LT_QUALITY_CONSTANT);
		if (points.points[0].value != cases[i].points)
			fail_msg("%s: %f", cases[i].why, points.points[0].value);
		lt_points_free(&points);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
