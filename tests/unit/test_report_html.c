/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the HTML statement writes of others, and how it words figures: the corpus of hostile names
 * through the one escape, shares, days and periods. Whole statements are
 * tests/golden/statement.sh's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"

static char *
escaped(const char *text)
{
	char *out = NULL;
	size_t length;
	FILE *const stream = open_memstream(&out, &length);

	assert_non_null(stream);
	lt_html_text(stream, text);
	fclose(stream);
	return out;
}

#define BAD "\ufffd"

static void
test_hostile(void **state)
{
	static const struct {
		const char *why, *text, *want;
	} cases[] = {
	    {"nothing", "", ""},
	    {"an ordinary name", "train_v2.sh", "train_v2.sh"},
	    {"a script", "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
	    {"the end of an attribute", "\"><img src=x onerror=alert(1)>",
		"&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"},
	    {"the end of another", "' onmouseover='alert(1)", "&#39; onmouseover=&#39;alert(1)"},
	    {"an entity stays the text that it was", "&lt;b&gt; &amp; &#60;",
		"&amp;lt;b&amp;gt; &amp;amp; &amp;#60;"},
	    {"the end of the style", "</style></title>]]>-->",
		"&lt;/style&gt;&lt;/title&gt;]]&gt;--&gt;"},
	    {"controls",
		"a\tb\nc\rd\x01"
		"e\x1b[31m\x7f",
		"a" BAD "b" BAD "c" BAD "d" BAD "e" BAD "[31m" BAD},
	    {"C1 controls",
		"a\xc2\x85"
		"b\xc2\x9b"
		"c",
		"a" BAD "b" BAD "c"},
	    {"what turns the direction", "evil\u202egnp.exe\u2066x\u2069",
		"evil" BAD "gnp.exe" BAD "x" BAD},
	    {"marks of direction", "\u200e\u200f\u061c", BAD BAD BAD},
	    {"what has no width",
		"a\u200bb\u200dc\u2060d\ufeff"
		"e\u00ad",
		"a" BAD "b" BAD "c" BAD "d" BAD "e" BAD},
	    {"separators of lines", "a\u2028b\u2029c", "a" BAD "b" BAD "c"},
	    {"tags", "a\U000e0041b", "a" BAD "b"},
	    {"no characters", "\uffff\ufffe", BAD BAD},
	    {"letters of others stay", "\u4e2d\u6587 \u05e2\u05d1 \u00fc \U0001f4b8",
		"\u4e2d\u6587 \u05e2\u05d1 \u00fc \U0001f4b8"},
	    {"a byte alone", "a\x80z", "a" BAD "z"},
	    {"a character that is cut", "a\xe4\xb8", "a" BAD BAD},
	    {"a lead byte before markup", "\xe4<b>", BAD "&lt;b&gt;"},
	    {"half a surrogate", "\xed\xa0\x80", BAD},
	    {"above Unicode", "\xf5\x80\x80\x80", BAD},
	    {"no lead byte at all", "\xff<", BAD "&lt;"},
	    {"a long way to write <", "\xc0\xbc", BAD BAD},
	    {"a longer one", "\xe0\x80\xbc", BAD BAD BAD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *const got = escaped(cases[i].text);

		if (strcmp(got, cases[i].want) != 0)
			fail_msg("%s: got %s, want %s", cases[i].why, got, cases[i].want);
		free(got);
	}
}

/* By characters, not bytes, and none is cut. */
static void
test_long(void **state)
{
	enum { LONG = 10240 };
	static const struct {
		int characters;
		bool cut;
	} cases[] = {{LT_HTML_TEXT_MAX, false}, {LT_HTML_TEXT_MAX + 1, true}, {LONG, true}};
	char text[2 * LONG + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int bytes = 2 * cases[i].characters;
		const int kept = cases[i].cut ? LT_HTML_TEXT_MAX : cases[i].characters;

		for (int at = 0; at < bytes; at += 2)
			memcpy(text + at, "\u00fc", 2);
		text[bytes] = '\0';
		char *const got = escaped(text);

		assert_int_equal(strlen(got), (size_t)(2 * kept) + (cases[i].cut ? 3 : 0));
		assert_memory_equal(got, text, (size_t)(2 * kept));
		if (cases[i].cut)
			assert_string_equal(got + 2 * kept, "\u2026");
		free(got);
	}
}

static void
test_figures(void **state)
{
	static const struct {
		const char *why;
		enum lt_unit unit;
		int64_t value;
		const char *want, *change;
	} cases[] = {
	    {"a cent", LT_UNIT_MONEY, 10000, "\u00a30.01", "+\u00a30.01"},
	    {"half a cent rounds away", LT_UNIT_MONEY, -5000, "-\u00a30.01", "-\u00a30.01"},
	    {"less than half has no sign", LT_UNIT_MONEY, 4999, "\u00a30.00", "\u00a30.00"},
	    {"none has no minus", LT_UNIT_MONEY, -4999, "\u00a30.00", "\u00a30.00"},
	    {"kilograms", LT_UNIT_CARBON, 1234567890, "1,234.6", "+1,234.6"},
	    {"none of them", LT_UNIT_CARBON, 0, "0.0", "0.0"},
	    {"hours", LT_UNIT_HOURS, 5400, "1.5", "+1.5"},
	    {"kWh", LT_UNIT_ENERGY, 999950, "1,000.0", "+1,000.0"},
	    {"a count", LT_UNIT_COUNT, -1234567, "-1,234,567", "-1,234,567"},
	    {"per cent", LT_UNIT_SHARE, 71234, "7.1 %", "+7.1 %"},
	    {"more than all", LT_UNIT_SHARE, 2080000, "208.0 %", "+208.0 %"},
	    {"the most", LT_UNIT_COUNT, INT64_MAX, "9,223,372,036,854,775,807",
		"+9,223,372,036,854,775,807"},
	    {"the least", LT_UNIT_COUNT, INT64_MIN, "-9,223,372,036,854,775,808",
		"-9,223,372,036,854,775,808"},
	};
	const struct lt_statement statement = {
	    .currency = "GBP", .has_money = true, .carbon_unit_mg = 100000, .energy_unit_wh = 100};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char figure[LT_FIGURE_SIZE], change[LT_FIGURE_SIZE];

		lt_figure_text(figure, &statement, cases[i].value, cases[i].unit);
		lt_change_text(change, &statement, cases[i].value, cases[i].unit);
		if (strcmp(figure, cases[i].want) != 0 || strcmp(change, cases[i].change) != 0)
			fail_msg("%s: got %s, %s", cases[i].why, figure, change);
	}
}

static void
test_decimals(void **state)
{
	static const struct {
		const char *currency;
		int64_t value;
		const char *want, *change;
	} cases[] = {
	    {"JPY", 1234500000, "\u00a51,235", "+\u00a51,235"},
	    {"JPY", -499999, "\u00a50", "\u00a50"},
	    {"KRW", 1000000, "1 KRW", "+1 KRW"},
	    {"KWD", 1234567890, "1,234.568 KWD", "+1,234.568 KWD"},
	    {"KWD", -1500, "-0.002 KWD", "-0.002 KWD"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_statement statement = {
		    .currency = cases[i].currency, .has_money = true};
		char text[LT_FIGURE_SIZE];

		assert_string_equal(
		    lt_figure_text(text, &statement, cases[i].value, LT_UNIT_MONEY), cases[i].want);
		assert_string_equal(lt_change_text(text, &statement, cases[i].value, LT_UNIT_MONEY),
		    cases[i].change);
	}
}

static void
test_small_figures(void **state)
{
	const struct lt_statement statement = {
	    .currency = "", .carbon_unit_mg = 1000, .energy_unit_wh = 1};
	char text[LT_FIGURE_SIZE];

	(void)state;
	assert_string_equal(lt_figure_text(text, &statement, 1499, LT_UNIT_CARBON), "0.001");
	assert_string_equal(lt_figure_text(text, &statement, 9, LT_UNIT_ENERGY), "0.009");
}

static void
test_ppm(void **state)
{
	int64_t ppm = 7;

	(void)state;
	assert_true(lt_ppm(&ppm, 1, 3));
	assert_int_equal(ppm, 333333);
	assert_true(lt_ppm(&ppm, -2, 3));
	assert_int_equal(ppm, -666667);
	assert_true(lt_ppm(&ppm, INT64_MAX, INT64_MAX));
	assert_int_equal(ppm, 1000000);
	ppm = 7;
	assert_false(lt_ppm(&ppm, 5, 0));
	assert_false(lt_ppm(&ppm, 5, -1));
	assert_false(lt_ppm(&ppm, INT64_MAX, 1));
	assert_int_equal(ppm, 7);
}

static void
test_days(void **state)
{
	char text[64];
	int64_t day;

	(void)state;
	assert_string_equal(
	    lt_day_text(text, sizeof(text), "2026-10-05", LT_DAY_LONG), "5 October 2026");
	assert_string_equal(lt_day_text(text, sizeof(text), "2028-02-29", LT_DAY_SHORT), "29 Feb");
	assert_string_equal(lt_day_text(text, sizeof(text), "<b>", LT_DAY_SHORT), "<b>");
	assert_string_equal(
	    lt_period_name(text, sizeof(text), "2026-10", LT_DAY_LONG), "October 2026");
	assert_string_equal(
	    lt_period_name(text, sizeof(text), "2026-10", LT_DAY_SHORT), "Oct 2026");
	assert_string_equal(lt_period_name(text, sizeof(text), "2026-Q4", LT_DAY_LONG), "Q4 2026");
	assert_string_equal(lt_period_name(text, sizeof(text), "2026", LT_DAY_LONG), "2026");
	assert_string_equal(
	    lt_period_name(text, sizeof(text), "2026-10-05 to 2026-10-11", LT_DAY_LONG),
	    "2026-10-05 to 2026-10-11");
	assert_true(lt_day_number("1970-01-02", &day));
	assert_int_equal(day, 1);
	assert_false(lt_day_number("2026-13-01", &day));
	assert_false(lt_day_number("", &day));
}

/* ---- a table by itself ---- */

static char *
draw(struct lt_html_table *table)
{
	char *out = NULL;
	size_t length;
	FILE *const stream = open_memstream(&out, &length);
	const struct lt_statement statement = {.out = stream,
	    .currency = "USD",
	    .has_money = true,
	    .carbon_unit_mg = 1000,
	    .energy_unit_wh = 1};

	assert_non_null(stream);
	lt_html_table(&statement, table);
	fclose(stream);
	return out;
}

static void
assert_row(const char *html, const char *want)
{
	if (strstr(html, want) == NULL)
		fail_msg("no %s in\n%s", want, html);
}

/* Three times a third of 10 cents, and what is left of budgets: 0.033, 0.033 and 0.034 are 0.03
 * each, here as in every table. What came until a row is rounded once. */
static void
test_rounded_once(void **state)
{
	static const struct lt_html_column columns[] = {
	    {"Cost", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {"Share", LT_UNIT_SHARE, LT_COLUMN_SHARE, NULL, NULL, false},
	    {"Budget", LT_UNIT_MONEY, LT_COLUMN_ALONE, NULL, NULL, false},
	    {"Left", LT_UNIT_MONEY, LT_COLUMN_BALANCE, NULL, NULL, false},
	    {"So far", LT_UNIT_MONEY, LT_COLUMN_SO_FAR, NULL, NULL, false},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_row rows[] = {
	    {.name = "a", .has = {true, false, true, true}, .values = {33333, 0, 100000, 66667}},
	    {.name = "b",
		.has = {true, false, true, true},
		.values = {33333, 0, 100000, 16667}}, /* 0.05 is held */
	    {.name = "c<", .has = {true}, .values = {33334}},
	};
	const struct lt_html_row total = {.name = "Total", .has = {true}, .values = {100000}};
	struct lt_html_table table = {.caption = "T",
	    .first = "N",
	    .columns = columns,
	    .row_count = 3,
	    .rows = rows,
	    .total = &total};
	char *const html = draw(&table);

	(void)state;
	assert_row(html,
	    "a</bdi></th><td>$0.03</td><td>33.3 %</td><td>$0.10</td><td>$0.07</td><td>$0.03</td>");
	assert_row(html, "<td>$0.10</td><td>$0.02</td><td>$0.07</td>");
	assert_row(html,
	    "c&lt;</bdi></th><td>$0.03</td><td>33.3 %</td><td><span class=\"none\">\u2013</span></td>");
	assert_row(html, "Total</bdi></th><td>$0.10</td><td>100.0 %</td>");
	free(html);
}

/* What was given back makes a total below zero: no shares of that. */
static void
test_negative(void **state)
{
	static const struct lt_html_column columns[] = {
	    {"Cost", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {"Share", LT_UNIT_SHARE, LT_COLUMN_SHARE, NULL, NULL, false},
	    {"So far", LT_UNIT_MONEY, LT_COLUMN_SO_FAR, NULL, NULL, false},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_row rows[] = {
	    {.name = "a", .has = {true}, .values = {1000000}},
	    {.name = "b", .has = {true}, .values = {-3000000}},
	};
	const struct lt_html_row total = {.name = "Total", .has = {true}, .values = {-2000000}};
	struct lt_html_table table = {.caption = "T",
	    .first = "N",
	    .columns = columns,
	    .row_count = 2,
	    .rows = rows,
	    .total = &total,
	    .bars = true};
	char *const html = draw(&table);

	(void)state;
	assert_row(
	    html, "<td>-$3.00</td><td><span class=\"none\">\u2013</span></td><td>-$2.00</td>");
	assert_row(html, "<rect class=\"mark\" width=\"1000\"");
	assert_null(strstr(html, "width=\"-"));
	free(html);
}

/* ---- a whole one ---- */

static int
print_cost(json_int_t cost, struct lt_error *err)
{
	json_t *const report = json_pack(
	    "{s:s, s:{s:I}, s:[]}", "currency", "USD", "total", "cost_micros", cost, "teams");
	FILE *const out = fopen("/dev/null", "w");

	assert_non_null(report);
	assert_non_null(out);
	*err = (struct lt_error){0};
	lt_report_html(out, report, NULL, err);
	fclose(out);
	json_decref(report);
	return err->code;
}

/* What may pass 64 bits when it is added up is refused, not shown wrongly. */
static void
test_limit(void **state)
{
	const json_int_t limit = 10000000000000000;
	struct lt_error err;

	(void)state;
	assert_int_equal(print_cost(limit, &err), LT_OK);
	assert_int_equal(print_cost(-limit, &err), LT_OK);
	assert_int_equal(print_cost(limit + 1, &err), LT_ELIMIT);
	assert_non_null(strstr(err.text, "csv and json have it"));
	assert_int_equal(print_cost(-limit - 1, &err), LT_ELIMIT);
	assert_int_equal(print_cost(INT64_MIN, &err), LT_ELIMIT);
}

/* An answer that lacks everything is a statement of nothing. */
static void
test_nothing(void **state)
{
	json_t *const report = json_object();
	char *html = NULL;
	size_t length;
	FILE *const out = open_memstream(&html, &length);
	struct lt_error err = {0};

	(void)state;
	assert_non_null(out);
	assert_int_equal(lt_report_html(out, report, NULL, &err), LT_OK);
	fclose(out);
	assert_non_null(strstr(html, "Not complete"));
	assert_non_null(strstr(html, "</html>"));
	free(html);
	json_decref(report);
}

/* ---- where it goes ---- */

static void
test_output(void **state)
{
	char folder[] = "/tmp/test_report_html.XXXXXX", path[64], line[16] = "";
	struct lt_output output;
	struct lt_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s.html", folder);
	assert_int_equal(lt_output_open(&output, path, &err), LT_OK);
	fputs("one", output.out);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(lt_output_close(&output, &err), LT_OK);

	/* What failed leaves the one that was there, and nothing beside it. */
	assert_int_equal(lt_output_open(&output, path, &err), LT_OK);
	fputs("two", output.out);
	lt_fail(&err, LT_EIO, "lowtided is gone");
	assert_int_equal(lt_output_close(&output, &err), LT_EIO);
	assert_string_equal(err.text, "lowtided is gone");
	FILE *const in = fopen(path, "r");

	assert_non_null(in);
	assert_non_null(fgets(line, sizeof(line), in));
	fclose(in);
	assert_string_equal(line, "one");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);

	err = (struct lt_error){0};
	assert_int_equal(lt_output_open(&output, path, &err), LT_EIO);
	assert_non_null(strstr(err.text, path));
	err = (struct lt_error){0};
	assert_int_equal(lt_output_open(&output, "-", &err), LT_OK);
	assert_ptr_equal(output.out, stdout);
	assert_int_equal(lt_output_close(&output, &err), LT_OK);
}

/* What is there stays: the same is nothing new, all else is refused. */
static void
test_output_that_stays(void **state)
{
	static const struct {
		const char *why, *there, *fresh;
		bool failed;
		enum lt_code code;
		const char *after;
	} cases[] = {
	    {"nothing there", NULL, "one", false, LT_OK, "one"},
	    {"the same", "one", "one", false, LT_OK, "one"},
	    {"another byte", "one", "onf", false, LT_EINPUT, "one"},
	    {"it is longer", "one", "one\n", false, LT_EINPUT, "one"},
	    {"it is shorter", "one", "on", false, LT_EINPUT, "one"},
	    {"an empty one is there", "", "one", false, LT_EINPUT, ""},
	    {"the report failed", "one", "on", true, LT_ENET, "one"},
	    {"and nothing is there", NULL, "on", true, LT_ENET, NULL},
	};
	char folder[] = "/tmp/test_report_html.XXXXXX", path[64], line[16];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/runs.csv", folder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_output output;
		struct lt_error err = {0};

		if (cases[i].there != NULL) {
			FILE *const there = fopen(path, "w");

			assert_non_null(there);
			fputs(cases[i].there, there);
			fclose(there);
		}
		assert_int_equal(lt_output_open(&output, path, &err), LT_OK);
		fputs(cases[i].fresh, output.out);
		if (cases[i].failed)
			lt_fail(&err, LT_ENET, "lowtided is gone");
		if (lt_output_keep(&output, &err) != (int)cases[i].code)
			fail_msg("%s: %d %s", cases[i].why, err.code, err.text);
		if (cases[i].code == LT_EINPUT)
			assert_non_null(strstr(err.text, path));
		FILE *const in = fopen(path, "r");

		assert_int_equal(in != NULL, cases[i].after != NULL);
		memset(line, 0, sizeof(line));
		if (in != NULL) {
			(void)!fread(line, 1, sizeof(line) - 1, in);
			fclose(in);
			assert_string_equal(line, cases[i].after);
			assert_int_equal(unlink(path), 0);
		}
		assert_int_equal(rmdir(folder), 0); /* nothing beside it */
		assert_int_equal(mkdir(folder, 0700), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

static void
test_short_option(void **state)
{
	static const struct lt_cli_option with[] = {{"format", "F", ""}, {"output", "FILE", ""},
	    {NULL, NULL, NULL}},
					  without[] = {{"team", "T", ""}, {NULL, NULL, NULL}};
	struct lt_cli_command command = {.name = "x", .options = with};
	struct lt_cli cli = {.command = &command};
	char *argv[] = {(char *)"-o", (char *)"a.html", NULL};
	struct lt_error err = {0};
	bool help = false;

	(void)state;
	assert_int_equal(lt_cli_parse(&cli, &help, 2, argv, &err), LT_OK);
	assert_string_equal(lt_cli_value(&cli, "output"), "a.html");
	command.options = without;
	assert_int_equal(lt_cli_parse(&cli, &help, 2, argv, &err), LT_EINPUT);
	assert_string_equal(err.text, "no option -o");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_long),
	    cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_decimals),
	    cmocka_unit_test(test_small_figures),
	    cmocka_unit_test(test_ppm),
	    cmocka_unit_test(test_days),
	    cmocka_unit_test(test_rounded_once),
	    cmocka_unit_test(test_negative),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_output),
	    cmocka_unit_test(test_output_that_stays),
	    cmocka_unit_test(test_short_option),
	};

	return cmocka_run_group_tests_name("report_html", tests, NULL, NULL);
}
