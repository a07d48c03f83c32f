/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals: a day as blocks, values and units for people, and golden texts of
 * tests/golden/signals (an answer of lowtided in, what a file and what a terminal of 120 columns
 * gets out). UPDATE=1 writes the texts anew:
 * read the difference.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "signals.h"

#define FOLDER "tests/golden/signals/"

enum { NONE = -9999 }; /* an hour that is not known */

static const struct {
	const char *why;
	double values[6];
	const char *blocks, *range;
} days[] = {
    {"nothing is known", {NONE, NONE, NONE, NONE, NONE, NONE}, "", "-"},
    {"all the same", {5, 5, 5, 5, 5, 5}, "▄▄▄▄▄▄", "5"},
    {"all the same, and gaps", {NONE, 5, NONE, 5, 5, NONE}, " ▄ ▄▄ ", "5"},
    {"all zero", {0, 0, 0, 0, 0, 0}, "▄▄▄▄▄▄", "0"},
    {"from least to most", {0, 20, 40, 60, 80, 100}, "▁▂▄▅▇█", "0..100"},
    {"a gap is a space", {0, NONE, 40, 60, NONE, 100}, "▁ ▄▅ █", "0..100"},
    {"below zero", {-10, 0, 10, -10, 0, 10}, "▁▅█▁▅█", "-10..10"},
    {"nearly equal", {1, 1, 1, 1, 1, 1.0000001}, "▁▁▁▁▁█", "1"},
    {"as far apart as can be", {-1e308, 1e308, 0, 0, 0, 0}, "▁█▅▅▅▅", "-1e+308..1e+308"},
};

static void
test_days(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
		struct lt_hour hours[6];
		char blocks[LT_BLOCKS_SIZE], range[64];

		for (int k = 0; k < 6; k++) {
			hours[k].known = days[i].values[k] != NONE;
			hours[k].value = days[i].values[k];
		}
		lt_blocks_text(blocks, hours, 6);
		lt_range_text(range, sizeof(range), hours, 6, LT_QUANTITY_CARBON);
		if (strcmp(blocks, days[i].blocks) != 0 || strcmp(range, days[i].range) != 0)
			fail_msg("%s: got \"%s\", %s", days[i].why, blocks, range);
	}
}

static const struct {
	const char *why;
	enum lt_quantity quantity;
	double value;
	const char *text, *unit;
} values[] = {
    {"an intensity: three figures", LT_QUANTITY_CARBON, 231.4, "231", "g CO2e/kWh"},
    {"a small one", LT_QUANTITY_CARBON, 8.25, "8.25", "g CO2e/kWh"},
    {"marginal is another thing", LT_QUANTITY_MARGINAL, 420, "420", "g/kWh marginal"},
    {"a price, to the cent", LT_QUANTITY_PRICE, 32.77e6, "32.77", "USD/node-h"},
    {"below one, as tariffs are", LT_QUANTITY_TARIFF, 215000, "0.2150", "USD/kWh"},
    {"a negative tariff", LT_QUANTITY_TARIFF, -20500, "-0.0205", "USD/kWh"},
    {"less than a tenth of a cent", LT_QUANTITY_PRICE, 123, "0.000123", "USD/node-h"},
    {"nothing", LT_QUANTITY_TARIFF, 0, "0", "USD/kWh"},
    {"a rate", LT_QUANTITY_HAZARD, 0.0000731, "7.31e-05", "interr./node-h"},
    {"a score", LT_QUANTITY_SCORE, 9, "9", "score of 10"},
    {"a quantity of a newer lowtided", LT_QUANTITY_COUNT, 3, "3", "?"},
};

static void
test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char text[64], unit[64];

		lt_value_text(text, sizeof(text), values[i].value, values[i].quantity);
		lt_unit_text(unit, sizeof(unit), values[i].quantity, "USD");
		if (strcmp(text, values[i].text) != 0 || strcmp(unit, values[i].unit) != 0)
			fail_msg("%s: got \"%s %s\"", values[i].why, text, unit);
	}
}

static const struct {
	const char *why, *name;
	void (*print)(FILE *out, const json_t *answer, const struct lt_signals_look *look);
} cases[] = {
    {"fresh, stale, failing, never fetched; each quantity", "whole", lt_signals_print},
    {"a policy of numbers", "none", lt_signals_print},
    {"words that would steer a terminal, wrong types", "hostile", lt_signals_print},
    {"errors by lead time", "errors", lt_signals_print_errors},
};

static const struct {
	const char *suffix;
	struct lt_signals_look look;
} looks[] = {
    {"table", {false, false, 0}},
    {"terminal", {false, true, 120}},
};

static char *
render(size_t index, size_t look)
{
	char path[256], *text = NULL;
	size_t length = 0;
	json_error_t problem;

	snprintf(path, sizeof(path), FOLDER "%s.json", cases[index].name);
	json_t *const answer = json_load_file(path, 0, &problem);

	if (answer == NULL)
		fail_msg("%s: %s", path, problem.text);
	FILE *const out = open_memstream(&text, &length);

	assert_non_null(out);
	cases[index].print(out, answer, &looks[look].look);
	fclose(out);
	json_decref(answer);
	return text;
}

static void
compare(size_t index, size_t look)
{
	char path[256];
	char *const text = render(index, look);

	snprintf(path, sizeof(path), FOLDER "%s.%s", cases[index].name, looks[look].suffix);
	golden_compare(cases[index].why, path, text);
	free(text);
}

static void
test_golden(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t k = 0; k < sizeof(looks) / sizeof(looks[0]); k++)
			compare(i, k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_days),
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
