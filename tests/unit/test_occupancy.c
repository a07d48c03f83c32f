/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long nodes are booked: by limits, by what quotes expect, and by what
 * remains of a job that has outlived that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "occupancy.h"
#include "quote.h"
#include "units.h"

enum { NOW = 1795176000, HOUR = LT_HOUR_S }; /* a whole hour */

/* Expected 2 h, surely 4 h, of a limit of 10 h. */
static void
quote_text(char text[LT_QUOTE_TEXT_SIZE], const char *partition,
    enum lt_history_group from, uint32_t ratio_ppm)
{
	struct lt_quote quote = {.id = 7, .tasks = 1};
	struct lt_quote_run run = {
	    .kind = 9, .expected = {.from = from}, .ratio_ppm = ratio_ppm};

	if (from != LT_HISTORY_NONE)
		run.expected =
		    (struct lt_expected){from, 20, 2 * HOUR, 4 * HOUR};
	strcpy(quote.account, "vision");
	strcpy(quote.partition, partition);
	strcpy(quote.home, "home");
	assert_int_equal(
	    lt_quote_run_pack(quote.run, sizeof(quote.run), &run), LT_OK);
	assert_int_equal(
	    lt_quote_pack(text, LT_QUOTE_TEXT_SIZE, &quote), LT_OK);
}

static void
booked_as_long_as_expected(void **state)
{
	static const struct {
		const char *why;
		enum lt_history_group from;
		const char *planned;
		uint32_t ratio_ppm;
		int64_t ran_h,
		    suspended_h; /* ran -1: it waits, from now + 1 h */
		int first, last; /* hours that are booked */
	} cases[] = {
	    {"nothing is expected: to its limit", LT_HISTORY_NONE, "home",
		LT_MICROS, 1, 0, 0, 8},
	    {"to what is expected", LT_HISTORY_NAME, "home", LT_MICROS, 1, 0, 0,
		0},
	    {"outlived: to the upper quantile", LT_HISTORY_NAME, "home",
		LT_MICROS, 2, 0, 0, 1},
	    {"outlived that: to its limit", LT_HISTORY_NAME, "home", LT_MICROS,
		4, 0, 0, 5},
	    {"suspended time is none that it worked", LT_HISTORY_NAME, "home",
		LT_MICROS, 3, 2, 0, 0},
	    {"of a slower node", LT_HISTORY_NAME, "there", 1500000, 1, 0, 0, 1},
	    {"that it is not on", LT_HISTORY_NAME, "other", 1500000, 1, 0, 0,
		0},
	    {"it waits for its begin", LT_HISTORY_USER, "home", LT_MICROS, -1,
		0, 1, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool runs = cases[i].ran_h >= 0;
		char text[LT_QUOTE_TEXT_SIZE];
		struct lt_shape shape = {.node_count = 2, .cpus = 64};
		struct lt_partition partition = {.shape_count = 1};
		const struct lt_market market = {.partition_count = 1,
		    .shape_count = 1,
		    .partitions = &partition,
		    .shapes = &shape};
		struct lt_slurm_job job = {.partition = "home",
		    .admin_comment = text,
		    .state = runs ? LT_JOB_RUNNING : LT_JOB_PENDING,
		    .nodes = 1,
		    .cpus = 64,
		    .array_pending = 1,
		    .limit_s = 10 * HOUR,
		    .start_utc_s = runs ? NOW - cases[i].ran_h * HOUR : 0,
		    .suspended_s = cases[i].suspended_h * HOUR,
		    .eligible_utc_s = runs ? 0 : NOW + HOUR};
		const struct lt_slurm_jobs jobs = {1, &job, 0};
		static struct lt_occupancy got;

		print_message("%s\n", cases[i].why);
		if (strcmp(cases[i].planned, "there") == 0)
			job.partition = "there";
		strcpy(partition.name, job.partition);
		quote_text(
		    text, cases[i].planned, cases[i].from, cases[i].ratio_ppm);
		lt_occupancy_count(&got, &jobs, &market, 0, NOW);
		assert_int_equal(got.count, cases[i].last + 2);
		for (int h = 0; h <= cases[i].last + 1; h++)
			assert_int_equal(got.nodes[h] > 0,
			    h >= cases[i].first && h <= cases[i].last);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(booked_as_long_as_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
