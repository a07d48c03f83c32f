/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables, CSV cells, the rounding of columns, periods and the words that the command understands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"
#include "plan.h"

static void
test_csv_text(void **state)
{
	static const struct {
		const char *why, *text, *cell;
	} cases[] = {
	    {"plain", "vision", "vision"},
	    {"empty", "", ""},
	    {"a comma is quoted", "a,b", "\"a,b\""},
	    {"quotes double", "a\"b", "\"a\"\"b\""},
	    {"a line end is quoted", "a\nb", "\"a\nb\""},
	    {"= is a formula", "=1+1", "'=1+1"},
	    {"+ is a formula", "+1", "'+1"},
	    {"- is a formula", "-x", "'-x"},
	    {"@ is a formula", "@SUM(A1)", "'@SUM(A1)"},
	    {"a tab hides a formula", "\t=1", "\"'\t=1\""},
	    {"a tab stays a tab", "a\tb", "\"a\tb\""},
	    {"a job called NULL is no missing cell", "NULL", "\"NULL\""},
	    {"a user called nan", "nan", "\"nan\""},
	    {"MySQL's word", "\\N", "\"\\N\""},
	    {"a word with more of it", "NULLs", "NULLs"},
	    {"another script", "\u8a13\u7df4", "\u8a13\u7df4"},
	    {"CR hides a formula", "\r=1", "\"'\r=1\""},
	    {"guarded and quoted", "=\"a\",1", "\"'=\"\"a\"\",1\""},
	    {"inside is no start", "a=1", "a=1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *cell = NULL;
		size_t length = 0;
		FILE *const out = open_memstream(&cell, &length);

		lt_csv_text(out, cases[i].text);
		fclose(out);
		if (strcmp(cell, cases[i].cell) != 0)
			fail_msg("%s: got <%s>", cases[i].why, cell);
		free(cell);
	}
}

static void
test_drop(void **state)
{
	static const struct lt_table_column columns[] = {
	    {"A", false}, {"NAME", false}, {"B", true}, {"C", false}, {NULL, false}};
	static const char *const cells[] = {"aaaa", "long name here", "bbbb", "cccc"};
	static const int order[] = {3, 0, -1};
	static const struct {
		const char *why;
		int fit;
		const char *text;
	} cases[] = {
	    {"any width", 0,
		"A     NAME               B  C\n"
		"aaaa  long name here  bbbb  cccc\n"},
	    {"it fits to the column", 32,
		"A     NAME               B  C\n"
		"aaaa  long name here  bbbb  cccc\n"},
	    {"one less: the name is cut", 31,
		"A     NAME              B  C\n"
		"aaaa  long name ...  bbbb  cccc\n"},
	    {"as far as it can be", 26,
		"A     NAME         B  C\n"
		"aaaa  long ...  bbbb  cccc\n"},
	    {"then the first of the list is left out, and the name is whole again", 25,
		"A     NAME              B\n"
		"aaaa  long name ...  bbbb\n"},
	    {"the second, at the beginning", 19, "NAME              B\nlong name ...  bbbb\n"},
	    {"to its end", 14, "NAME         B\nlong ...  bbbb\n"},
	    {"no more may be left out: a line for each cell", 13,
		"A     aaaa\nNAME  long name here\nB     bbbb\nC     cccc\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_table *const table = lt_table_new(columns);
		char *text = NULL;
		size_t length = 0;
		FILE *const out = open_memstream(&text, &length);

		lt_table_row(table, cells);
		lt_table_fit(table, cases[i].fit, 1 << 1);
		lt_table_drop(table, order);
		lt_table_print(out, table, false);
		fclose(out);
		if (strcmp(text, cases[i].text) != 0)
			fail_msg("%s: got\n%s", cases[i].why, text);
		free(text);
		lt_table_free(table);
	}
}

static void
test_prose(void **state)
{
	static const struct lt_table_column columns[] = {
	    {"", false}, {"NAME", false}, {"WHY", false}, {NULL, false}};
	static const struct {
		int fit;
		const char *text;
	} cases[] = {
	    {0, "   NAME  WHY\n*  one   it is the best of all\n"},
	    {25, "   NAME  WHY\n*  one   it is the best\n         of all\n"},
	    {24, "* NAME  one\nWHY   it is the best of all\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_table *const table = lt_table_new(columns);
		char *text = NULL;
		size_t length = 0;
		FILE *const out = open_memstream(&text, &length);

		lt_table_row(table, (const char *const[]){"*", "one", "it is the best of all"});
		lt_table_fit(table, cases[i].fit, 0);
		lt_table_prose(table);
		lt_table_print(out, table, false);
		fclose(out);
		assert_string_equal(text, cases[i].text);
		free(text);
		lt_table_free(table);
	}
}

static void
test_round_column(void **state)
{
	static const struct {
		const char *why;
		int count;
		int64_t values[4], total, unit, rounded[4], rounded_total;
	} cases[] = {
	    {"nothing", 0, {0}, 0, 100, {0}, 0},
	    {"whole already", 2, {100, 200}, 300, 100, {100, 200}, 300},
	    {"halves: the first gets it", 2, {50, 50}, 100, 100, {100, 0}, 100},
	    {"the largest remainder gets it", 3, {30, 40, 30}, 100, 100, {0, 100, 0}, 100},
	    {"the total rounds down", 3, {10, 10, 10}, 30, 100, {0, 0, 0}, 0},
	    {"half of the total rounds away from zero", 2, {25, 25}, 50, 100, {100, 0}, 100},
	    {"below zero alike", 2, {-25, -25}, -50, 100, {0, -100}, -100},
	    {"mixed signs", 3, {-250, 170, 80}, 0, 100, {-300, 200, 100}, 0},
	    {"rows that are no parts of the total round alone", 2, {50, 50}, 50, 100, {100, 100},
		100},
	    {"a unit of 1 changes nothing", 2, {1, -1}, 0, 1, {1, -1}, 0},
	    {"sums beyond int64_t don't add up: alone", 2, {INT64_MAX, INT64_MAX}, INT64_MAX, 1,
		{INT64_MAX, INT64_MAX}, INT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t got[4], total = cases[i].total;

		memcpy(got, cases[i].values, sizeof(got));
		lt_round_column(got, cases[i].count, &total, cases[i].unit);
		for (int j = 0; j < cases[i].count; j++)
			if (got[j] != cases[i].rounded[j])
				fail_msg("%s: row %d is %lld", cases[i].why, j, (long long)got[j]);
		if (total != cases[i].rounded_total)
			fail_msg("%s: total %lld", cases[i].why, (long long)total);
	}
}

/* An amount is rounded alike beside whatever others, below one unit off; rows and total differ by
 * half a unit each at most. */
static void
test_round_each(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		int64_t values[12], alone[12], total = 0, none = 0, sum = 0;
		const int count = 1 + round % 12;

		for (int i = 0; i < count; i++) {
			seed = seed * 6364136223846793005U + 1442695040888963407U;
			values[i] = (int64_t)(seed >> 30) % 40000000001 - INT64_C(20000000000);
			alone[i] = values[i];
			total += values[i];
		}
		const int64_t exact = total;
		lt_round_each(values, count, &total, 10000);
		for (int i = 0; i < count; i++) {
			const int64_t want = alone[i];

			lt_round_each(&alone[i], 1, &none, 10000);
			assert_int_equal(values[i], alone[i]);
			assert_int_equal(values[i] % 10000, 0);
			assert_true(llabs(values[i] - want) <= 5000);
			sum += values[i];
		}
		assert_true(llabs(total - exact) <= 5000);
		assert_true(llabs(sum - total) <= 5000 * (count + 1));
	}
}

/* Any rows that add up still do when rounded, each less than a unit off. */
static void
test_round_property(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		int64_t values[12], got[12], total = 0, sum = 0;
		const int count = 1 + round % 12;

		for (int i = 0; i < count; i++) {
			seed = seed * 6364136223846793005U + 1442695040888963407U;
			values[i] = (int64_t)(seed >> 40) % 40001 - 20000;
			total += values[i];
			got[i] = values[i];
		}
		lt_round_column(got, count, &total, 10000);
		for (int i = 0; i < count; i++) {
			assert_int_equal(got[i] % 10000, 0);
			assert_true(llabs((long long)(got[i] - values[i])) < 10000);
			sum += got[i];
		}
		assert_int_equal(sum, total);
	}
}

static void
test_table(void **state)
{
	static const struct lt_table_column columns[] = {
	    {"TEAM", false}, {"SPENT", true}, {"WHY", false}, {NULL, false}};
	static const char *const rows[][3] = {
	    {"vision", "$1.00", ""},
	    {"größe", "$1,000.00", "a\nb\033[31m\x7f\xc2\x9bx"},
	    {NULL, "n/a", "x"},
	};
	char *text = NULL;
	size_t length = 0;
	struct lt_table *const table = lt_table_new(columns);
	FILE *const out = open_memstream(&text, &length);

	(void)state;
	for (int i = 0; i < 3; i++) {
		if (i == 2)
			lt_table_rule(table);
		lt_table_row(table, rows[i]);
	}
	lt_table_print(out, table, false);
	fclose(out);
	assert_string_equal(text, "TEAM        SPENT  WHY\n"
				  "vision      $1.00  \n"
				  "größe   $1,000.00  a?b?[31m??x\n"
				  "------  ---------  -----------\n"
				  "-             n/a  x\n");
	lt_table_free(table);
	free(text);
}

static void
test_period(void **state)
{
	static const struct {
		const char *why, *text;
		bool ok;
	} cases[] = {
	    {"a month", "2026-11", true},
	    {"a quarter", "2026-Q4", true},
	    {"a year", "2026", true},
	    {"empty", "", false},
	    {"month 0", "2026-00", false},
	    {"month 13", "2026-13", false},
	    {"quarter 5", "2026-Q5", false},
	    {"quarter 0", "2026-Q0", false},
	    {"a digit short", "2026-1", false},
	    {"something after it", "2026-11x", false},
	    {"a space before it", " 2026-11", false},
	    {"a word", "november", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_error err = {0};

		if ((lt_period_check(cases[i].text, &err) == LT_OK) != cases[i].ok)
			fail_msg("%s: %s", cases[i].why, err.text);
		if (!cases[i].ok)
			assert_non_null(strstr(err.text, "2026-Q4"));
	}
}

static void
test_plan_extract(void **state)
{
	static const struct {
		const char *why, *text, *shown; /* NULL = no plan there */
	} cases[] = {
	    {"the table, without prefixes and sbatch's last words",
		"sbatch: error: lowtide: plan: balanced\n"
		"sbatch: error: lowtide:   PARTITION START\n"
		"sbatch: error: lowtide: * spot now\n"
		"sbatch: error: Batch job submission failed: Unspecified "
		"error\n",
		"plan: balanced\n  PARTITION START\n* spot now\n"},
	    {"another refusal", "sbatch: error: lowtide: vision has $1\n", NULL},
	    {"no lowtide here", "sbatch: unrecognized option '--carbon-plan'\n", NULL},
	    {"nothing at all", "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *shown = NULL;
		size_t length = 0;
		FILE *const out = open_memstream(&shown, &length);
		char *const text = strdup(cases[i].text);
		const bool found = lt_plan_extract(out, text);

		fclose(out);
		if (found != (cases[i].shown != NULL) ||
		    strcmp(shown, found ? cases[i].shown : "") != 0)
			fail_msg("%s: got <%s>", cases[i].why, shown);
		free(text);
		free(shown);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_csv_text),
	    cmocka_unit_test(test_round_each),
	    cmocka_unit_test(test_drop),
	    cmocka_unit_test(test_prose),
	    cmocka_unit_test(test_round_column),
	    cmocka_unit_test(test_round_property),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_period),
	    cmocka_unit_test(test_plan_extract),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
