/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lengths of runs of which some are only known to be longer: a published example, cases by hand,
 * and random ones against another way to count them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "error.h"
#include "run_lengths.h"

enum { PPM95 = 950000 };

/* Weeks in remission of 21 children with leukaemia on 6-MP; minus: still in remission then.
 * Freireich et al., Blood 21 (1963) 699, as in Cox and Oakes, Analysis of Survival Data, 1984:
 * remaining 0.857 after 6 weeks, 0.807 (7), 0.753 (10), 0.690 (13), 0.627 (16), 0.538 (22), 0.448
 * (23). */
static const int remission[] = {
    6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35};
/* The placebo group: all are known. */
static const int placebo[] = {
    1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23};

static uint32_t
fill(struct lt_length_value *values, const int *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (struct lt_length_value){abs(from[i]), from[i] < 0};
	return (uint32_t)count;
}

static void
published_remission_times(void **state)
{
	static const struct {
		double part, weeks; /* 0: beyond what is known */
	} cases[] = {{0.14, 6}, {0.15, 7}, {0.24, 10}, {0.25, 13}, {0.37, 16}, {0.46, 22},
	    {0.5, 23}, {0.55, 23}, {0.56, 0}, {1, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_length_value values[21];
		const uint32_t count = fill(values, remission, 21);
		double got = 0;

		assert_int_equal(
		    lt_length_quantile(&got, values, count, cases[i].part), cases[i].weeks > 0);
		assert_true(got == cases[i].weeks);
	}
	struct lt_length_value values[21];
	double median;
	assert_true(lt_length_quantile(&median, values, fill(values, placebo, 21), 0.5));
	assert_true(median == 8);
}

static void
small_groups_by_hand(void **state)
{
	static const struct {
		const char *why;
		int values[5];
		uint32_t count;
		double median; /* 0: not known */
	} cases[] = {
	    {"none", {0}, 0, 0},
	    {"one", {7}, 1, 7},
	    {"an even number: the middle", {4, 1, 3, 2}, 4, 2.5},
	    {"two", {10, 20}, 2, 15},
	    {"one that is longer than all", {1, 2, -9}, 3, 2},
	    {"half are longer", {1, -2, -2}, 3, 0},
	    {"one that is at least as long as the shortest", {-1, 2, 3}, 3, 2.5},
	    {"ends come before what goes on at the same time", {-5, 5, 5}, 3, 5},
	    {"all are longer", {-1, -2, -3}, 3, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_length_value values[5];
		double got = 0;

		print_message("%s\n", cases[i].why);
		fill(values, cases[i].values, 5);
		assert_int_equal(
		    lt_length_quantile(&got, values, cases[i].count, 0.5), cases[i].median > 0);
		assert_true(got == cases[i].median);
	}
}

/* Efron 1967: the mass of one that goes on is given to those beyond it. True:
 * so much of all has ended by t. */
static bool
has_ended(const struct lt_length_value *values, uint32_t count, double part, double t)
{
	double mass[64], ended = 0;

	for (uint32_t i = 0; i < count; i++)
		mass[i] = 1;
	for (double at = 0; at <= 40; at++)
		for (uint32_t i = 0; i < count; i++) {
			uint32_t beyond = 0;

			if (!values[i].at_least || values[i].value != at)
				continue;
			/* Those of this time share with later ones only. */
			for (uint32_t k = 0; k < count; k++)
				beyond += values[k].value > at ||
					  (values[k].value == at && values[k].at_least && k > i);
			for (uint32_t k = 0; k < count; k++)
				if (values[k].value > at ||
				    (values[k].value == at && values[k].at_least && k > i))
					mass[k] += mass[i] / beyond;
			mass[i] = 0;
		}
	for (uint32_t i = 0; i < count; i++)
		if (!values[i].at_least && values[i].value <= t)
			ended += mass[i];
	return ended >= part * count - 1e-6;
}

static void
random_ones_by_mass_to_the_right(void **state)
{
	uint32_t known = 0;

	(void)state;
	srand(4);
	for (int round = 0; round < 20000; round++) {
		struct lt_length_value values[64], sorted[64];
		const uint32_t count = 1 + (uint32_t)rand() % 30;
		/* No sum of masses meets it, so that no middle is taken. */
		const double part = (1 + rand() % 96) / 97.0;
		double got = 0;

		for (uint32_t i = 0; i < count; i++)
			values[i] = (struct lt_length_value){1 + rand() % 12, rand() % 4 == 0};
		memcpy(sorted, values, sizeof(values));
		const bool has = lt_length_quantile(&got, sorted, count, part);

		assert_int_equal(has, has_ended(values, count, part, 40));
		if (!has)
			continue;
		known++;
		assert_true(has_ended(values, count, part, got));
		assert_false(has_ended(values, count, part, got - 1));
	}
	assert_true(known > 10000);
}

static struct lt_history_figures
figures_of(uint32_t count, uint32_t confidence_ppm)
{
	struct lt_run_length runs[100];

	for (uint32_t i = 0; i < count; i++)
		runs[i] = (struct lt_run_length){count - i, 1000, false};
	return lt_run_figures(runs, count, LT_HISTORY_NAME, confidence_ppm, NULL);
}

static void
upper_counts_the_next_run_too(void **state)
{
	static const struct {
		const char *why;
		uint32_t count, confidence_ppm, upper;
		bool longest;
	} cases[] = {
	    {"no 95 % of 18 runs and the next", 18, PPM95, 18, true},
	    {"19 of 20 are below the longest of 19", 19, PPM95, 19, false},
	    {"38 of 40", 39, PPM95, 38, false},
	    {"95 of 100", 99, PPM95, 95, false},
	    {"half: the middle one", 11, 500000, 6, false},
	    {"of ten the sixth is beyond half", 10, 500000, 6, false},
	    {"of fewer than ten nothing is sure", 9, 500000, 9, true},
	    {"99 % takes 99 runs", 98, 990000, 98, true},
	    {"and there it is the longest", 99, 990000, 99, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_history_figures got =
		    figures_of(cases[i].count, cases[i].confidence_ppm);

		print_message("%s\n", cases[i].why);
		assert_int_equal(got.runs, cases[i].count);
		assert_int_equal(got.upper, cases[i].upper);
		assert_int_equal(got.upper_is_longest, cases[i].longest);
	}
}

static void
a_sixth_from_either_end(void **state)
{
	const struct lt_run_length ended[] = {
	    {100, 1000, false}, {200, 1000, false}, {300, 1000, true}, {400, 1000, true}};
	struct lt_history_figures got = figures_of(9, PPM95);

	(void)state;
	/* 1.5 of nine runs: the second; 7.5 of them: the eighth. */
	assert_int_equal(got.low, 2);
	assert_int_equal(got.median, 5);
	assert_int_equal(got.high, 8);
	/* An even part: between two. */
	got = figures_of(6, PPM95);
	assert_int_equal(got.low, 2);
	assert_int_equal(got.high, 6);
	got = figures_of(1, PPM95);
	assert_int_equal(got.low, 1);
	assert_int_equal(got.high, 1);
	/* Two of four met their limit: five sixths are beyond it. */
	got = lt_run_figures(ended, 4, LT_HISTORY_NAME, PPM95, NULL);
	assert_int_equal(got.low, 100);
	assert_int_equal(got.high, LT_HISTORY_NEVER);
}

static void
wider_groups_go_by_the_limit(void **state)
{
	const struct lt_run_length runs[] = {
	    {900, 3600, false},	 /* 0.25 */
	    {1800, 3600, false}, /* 0.5 */
	    {100, 1000, false},	 /* 0.1 */
	    {50, 0, false},	 /* no limit: not one of them */
	    {1000, 1000, true},	 /* all of it, at least */
	    {0, 1000, false},	 /* as one second: 0.001 */
	};
	uint32_t ratio_ppm = 0;

	(void)state;
	struct lt_history_figures got =
	    lt_run_figures(runs, 6, LT_HISTORY_ACCOUNT, PPM95, &ratio_ppm);
	assert_int_equal(got.runs, 5);
	assert_int_equal(got.median, 250000);
	assert_int_equal(ratio_ppm, 250000);
	assert_int_equal(got.upper, 1000000);
	assert_true(got.upper_is_longest);

	got = lt_run_figures(runs, 6, LT_HISTORY_NAME, PPM95, &ratio_ppm);
	assert_int_equal(got.runs, 6);
	/* 1, 50, 100, 900, at least 1000, 1800 */
	assert_int_equal(got.median, 500);
	assert_int_equal(ratio_ppm, 250000);

	/* Most were ended by their limit: nothing below it can be said. */
	got = lt_run_figures(&runs[4], 1, LT_HISTORY_NAME, 500000, &ratio_ppm);
	assert_int_equal(got.median, LT_HISTORY_NEVER);
	assert_true(got.upper_is_longest);
	assert_int_equal(ratio_ppm, LT_HISTORY_NEVER);
	got = lt_run_figures(NULL, 0, LT_HISTORY_NAME, PPM95, &ratio_ppm);
	assert_int_equal(got.runs, 0);
	assert_int_equal(ratio_ppm, LT_HISTORY_NEVER);
}

static void
only_some_ends_are_lengths(void **state)
{
	static const char *const nothing[] = {"FAILED", "CANCELLED", "NODE_FAIL", "PREEMPTED",
	    "OUT_OF_MEMORY", "DEADLINE", "REQUEUED", "BOOT_FAIL", "RESIZING", "COMPLETING", ""};

	(void)state;
	assert_int_equal(lt_run_says("COMPLETED"), LT_RUN_SAYS_LENGTH);
	assert_int_equal(lt_run_says("TIMEOUT"), LT_RUN_SAYS_LEAST);
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		assert_int_equal(lt_run_says(nothing[i]), LT_RUN_SAYS_NOTHING);
}

static void
add(struct lt_lengths *lengths, const struct lt_run_kind *kind, int64_t length_s)
{
	assert_int_equal(
	    lt_lengths_add(lengths, kind, &(struct lt_run_length){length_s, 3600, false}), LT_OK);
}

static struct lt_run_kind
kind_of(const char *name)
{
	return (struct lt_run_kind){
	    .uid = 1000, .account = "vision", .name = name, .nodes = 1, .cpus = 8, .limit_s = 3600};
}

static void
the_table_learns_run_by_run(void **state)
{
	struct lt_lengths *const lengths = lt_lengths_new(PPM95);
	const struct lt_run_kind train = kind_of("train_1"), next = kind_of("train_2"),
				 other = kind_of("eval"), *const asked = &train;
	struct lt_run_kind mate = train, stranger = train, longer = train, talk = train;

	(void)state;
	mate.uid = stranger.uid = 1001;
	stranger.account = "bio";
	longer.limit_s = 3601;
	talk.is_interactive = true;
	assert_non_null(lengths);
	assert_int_equal(lt_lengths_ask(lengths, asked, 3600).from, LT_HISTORY_NONE);
	add(lengths, &train, 360);
	add(lengths, &train, 720);
	/* Under a minute: nothing. */
	add(lengths, &train, 59);
	assert_int_equal(lt_lengths_ask(lengths, asked, 3600).from, LT_HISTORY_NONE);
	add(lengths, &train, 540);
	struct lt_expected got = lt_lengths_ask(lengths, &next, 3600);
	assert_int_equal(got.from, LT_HISTORY_NAME);
	assert_int_equal(got.runs, 3);
	assert_int_equal(got.expected_s, 540);
	assert_int_equal(got.upper_s, 3600);
	assert_int_equal(lt_lengths_ask(lengths, &longer, 3601).from, LT_HISTORY_NONE);
	assert_int_equal(lt_lengths_ask(lengths, &talk, 3600).from, LT_HISTORY_NONE);
	/* One name is one run to others, however often it ran. */
	assert_int_equal(lt_lengths_ask(lengths, &other, 3600).from, LT_HISTORY_NONE);
	const struct lt_run_kind second = kind_of("b"), third = kind_of("c");
	add(lengths, &second, 900);
	add(lengths, &third, 1800);
	got = lt_lengths_ask(lengths, &other, 2700);
	assert_int_equal(got.from, LT_HISTORY_USER);
	assert_int_equal(got.runs, 3);
	assert_int_equal(got.expected_s, 675);
	got = lt_lengths_ask(lengths, &mate, 3600);
	assert_int_equal(got.from, LT_HISTORY_ACCOUNT);
	assert_int_equal(got.expected_s, 900);
	assert_int_equal(lt_lengths_ask(lengths, &stranger, 3600).from, LT_HISTORY_NONE);
	lt_lengths_free(lengths);
	lt_lengths_free(NULL);
}

static void
the_newest_count_and_none_speaks_for_all(void **state)
{
	struct lt_lengths *const lengths = lt_lengths_new(PPM95);
	const struct lt_run_kind array = kind_of("array"), train = kind_of("train");

	(void)state;
	for (int i = 0; i < 180; i++) {
		char name[] = "kind_aa";

		name[5] = (char)('a' + i / 20);
		name[6] = (char)('a' + i % 20);
		const struct lt_run_kind one = kind_of(name);
		add(lengths, &one, 1800);
	}
	for (int i = 0; i < 5000; i++)
		add(lengths, &array, 72);
	for (int i = 0; i < 64; i++)
		add(lengths, &array, 144);
	struct lt_expected got = lt_lengths_ask(lengths, &array, 3600);
	assert_int_equal(got.runs, 64);
	assert_int_equal(got.expected_s, 144);
	assert_int_equal(got.upper_s, 144);
	got = lt_lengths_ask(lengths, &train, 3600);
	assert_int_equal(got.from, LT_HISTORY_USER);
	assert_int_equal(got.runs, 181);
	assert_int_equal(got.expected_s, 1800);
	assert_int_equal(got.upper_s, 1800);
	lt_lengths_free(lengths);
}

/* A hundred of one name, however short: a new name is not sure to be so. */
static void
a_name_that_ran_often_says_nothing_of_another(void **state)
{
	struct lt_lengths *const lengths = lt_lengths_new(PPM95);
	const struct lt_run_kind prepare = kind_of("prepare"), train = kind_of("train");

	(void)state;
	for (int i = 0; i < 100; i++)
		add(lengths, &prepare, 120);
	assert_int_equal(lt_lengths_ask(lengths, &prepare, 3600).upper_s, 120);
	assert_int_equal(lt_lengths_ask(lengths, &train, 3600).from, LT_HISTORY_NONE);
	lt_lengths_free(lengths);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(published_remission_times),
	    cmocka_unit_test(small_groups_by_hand),
	    cmocka_unit_test(random_ones_by_mass_to_the_right),
	    cmocka_unit_test(upper_counts_the_next_run_too),
	    cmocka_unit_test(a_sixth_from_either_end),
	    cmocka_unit_test(wider_groups_go_by_the_limit),
	    cmocka_unit_test(only_some_ends_are_lengths),
	    cmocka_unit_test(the_table_learns_run_by_run),
	    cmocka_unit_test(the_newest_count_and_none_speaks_for_all),
	    cmocka_unit_test(a_name_that_ran_often_says_nothing_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
