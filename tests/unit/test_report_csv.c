/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: golden texts of tests/golden/report (an answer of lowtided in,
 * table, csv and json out, byte for byte), totals that agree in all three,
 * and answers that are refused. UPDATE=1 writes the texts anew: read the
 * difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"
#include "golden.h"
#include "report_fixture.h"

static const struct {
	const char *why, *name;
	bool runs;
} cases[] = {
    {"money and carbon budgets, none, adjustments, unpriced", "teams", false},
    {"who is over first; budgets of a quarter and a year", "budgets", false},
    {"rows are rounded to cents one by one", "cents", false},
    {"below zero it rounds away from zero too", "negative", false},
    {"what is not known is n/a, not zero; not complete", "unknown-base", false},
    {"a replay is labelled", "replayed", false},
    {"a site without prices shows no money; marginal intensity is said", "no-money", false},
    {"nobody ran anything", "no-teams", false},
    {"names that would steer a spreadsheet or a terminal", "hostile", false},
    {"runs, one of an array, one without a price", "runs", true},
    {"runs that cross the ends of a month, corrections, adjustments", "month", true},
    {"a closed month", "closed", false},
    {"what users can choose", "names", true},
    {"a charge for carbon, discounts, and corrections of both", "charge", true},
};

static const char *const suffixes[] = {
    [LT_REPORT_TABLE] = "table",
    [LT_REPORT_CSV] = "csv",
    [LT_REPORT_JSON] = "json.out",
};

static char *
render(const json_t *report, enum lt_report_format format, bool runs)
{
	char *text = NULL;
	size_t length = 0;
	struct lt_error err = {0};
	const struct lt_report_look look = {.format = format, .runs = runs};
	FILE *const out = open_memstream(&text, &length);

	assert_non_null(out);
	if (format == LT_REPORT_CSV && runs)
		report_rows(out, report, &lt_run_csv);
	else if (lt_report_print(out, report, &look, &err))
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

static void
test_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const report = report_load(cases[i].name);

		for (int format = 0; format < 3; format++) {
			char path[256];
			char *const got =
			    render(report, (enum lt_report_format)format, cases[i].runs);

			snprintf(path, sizeof(path), REPORT_FOLDER "%s.%s", cases[i].name,
			    suffixes[format]);
			golden_compare(cases[i].why, path, got);
			free(got);
		}
		json_decref(report);
	}
}

/* The month's amounts as yen: rounded to whole ones, adding up as before, and exact in CSV. */
static void
test_yen(void **state)
{
	json_t *const report = report_load("month");

	(void)state;
	char *const pounds = render(report, LT_REPORT_CSV, true);
	json_object_set_new(report, "currency", json_string("JPY"));
	char *const text = render(report, LT_REPORT_TABLE, true);
	char *const yen = render(report, LT_REPORT_CSV, true);

	golden_compare("whole yen", REPORT_FOLDER "yen.table", text);
	for (char *at = yen; (at = strstr(at, ",JPY,")) != NULL; at++)
		memcpy(at, ",GBP,", 5);
	assert_string_equal(yen, pounds);
	free(pounds);
	free(text);
	free(yen);
	json_decref(report);
}

/* As wide as a terminal: columns that are left out are so in the order that lowtide(1) says, names
 * are cut. */
static void
test_narrow(void **state)
{
	static const struct {
		const char *why, *name;
		int columns;
	} widths[] = {
	    {"80 columns", "month", 80},
	    {"long names are cut", "names", 100},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		json_t *const report = report_load(widths[i].name);
		const struct lt_report_look look = {
		    .format = LT_REPORT_TABLE, .runs = true, .columns = widths[i].columns};
		struct lt_error err = {0};
		char path[256], *text = NULL;
		size_t length = 0;
		FILE *const out = open_memstream(&text, &length);

		assert_non_null(out);
		assert_int_equal(lt_report_print(out, report, &look, &err), LT_OK);
		fclose(out);
		snprintf(path, sizeof(path), REPORT_FOLDER "%s.table%d", widths[i].name,
		    widths[i].columns);
		golden_compare(widths[i].why, path, text);
		free(text);
		json_decref(report);
	}
}

/* Cents of "$1,234.57" or "-$0.01" in a cell. */
static long long
cents_of(const char *cell)
{
	long long cents = 0;

	for (const char *c = cell; *c && *c != ' ' && *c != '\n'; c++)
		if (*c >= '0' && *c <= '9')
			cents = cents * 10 + (*c - '0');
	return *cell == '-' ? -cents : cents;
}

/* The cost: the last cell of the line that starts with `team`, in the first table. */
static long long
cost_of(const char *table, const char *team)
{
	char key[64];

	snprintf(key, sizeof(key), "\n%s ", team);
	const char *const line = strstr(table, key);

	if (line == NULL)
		fail_msg("no row %s in\n%s", team, table);
	const char *end = strchr(line + 1, '\n');

	while (end[-1] != ' ')
		end--;
	return cents_of(end);
}

/* But for half a cent of each row and of the total, which the table says. */
static void
test_column_adds_up(void **state)
{
	static const struct {
		const char *name, *teams[4];
	} reports[] = {
	    {"cents", {"t0", "t1", "t2", NULL}},
	    {"negative", {"a", "b", NULL}},
	    {"teams", {"nlp", "vision", "Größe", NULL}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		json_t *const report = report_load(reports[i].name);
		char *const table = render(report, LT_REPORT_TABLE, false);
		long long sum = 0, rows = 0;

		for (; reports[i].teams[rows] != NULL; rows++)
			sum += cost_of(table, reports[i].teams[rows]);
		assert_true(2 * llabs(sum - cost_of(table, "TOTAL")) <= rows + 1);
		assert_non_null(
		    strstr(table, "each amount is rounded by itself, so rows may differ"));
		free(table);
		json_decref(report);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *json, *text;
	} bad[] = {
	    {"no teams", "{}", "lacks its teams"},
	    {"no total", "{\"teams\":[]}", "lacks the total"},
	    {"a fraction of a micro",
		"{\"teams\":[{\"team\":\"a\",\"charges_micros\":1.5}],"
		"\"total\":{}}",
		"charges_micros of a is no integer"},
	    {"a text for a figure", "{\"teams\":[],\"total\":{\"saved_mg\":\"1\"}}",
		"saved_mg of the total is no integer"},
	    {"a team that is no object", "{\"teams\":[7],\"total\":{}}", "lacks a team"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_error err = {0};
		json_t *const report = json_loads(bad[i].json, 0, NULL);
		FILE *const out = fopen("/dev/null", "w");

		assert_non_null(report);
		assert_non_null(out);
		assert_int_equal(lt_report_print(out, report,
				     &(struct lt_report_look){.format = LT_REPORT_TABLE}, &err),
		    LT_EINPUT);
		if (strstr(err.text, bad[i].text) == NULL)
			fail_msg("%s: got \"%s\"", bad[i].why, err.text);
		fclose(out);
		json_decref(report);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_golden),
	    cmocka_unit_test(test_yen),
	    cmocka_unit_test(test_narrow),
	    cmocka_unit_test(test_column_adds_up),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
