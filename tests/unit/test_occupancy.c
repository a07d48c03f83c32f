/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long nodes are booked: by limits, by what quotes expect, and by what remains of a job
 * that has outlived that.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "occupancy.h"
#include "quote.h"
#include "request.h"
#include "units.h"

enum { NOW = 1795176000, HOUR = LT_HOUR_S }; /* a whole hour */

/* Expected 2 h, surely 4 h, of a limit of 10 h. */
static void
quote_text(char text[LT_QUOTE_TEXT_SIZE], const char *partition, enum lt_history_group from,
    uint32_t ratio_ppm)
{
	struct lt_quote quote = {.id = 7, .tasks = 1};
	struct lt_quote_run run = {.kind = 9, .expected = {.from = from}, .ratio_ppm = ratio_ppm};

	if (from != LT_HISTORY_NONE)
		run.expected = (struct lt_expected){from, 20, 2 * HOUR, 4 * HOUR, 0, 0};
	strcpy(quote.account, "vision");
	strcpy(quote.partition, partition);
	strcpy(quote.home, "home");
	assert_int_equal(lt_quote_run_pack(quote.run, sizeof(quote.run), &run), LT_OK);
	assert_int_equal(lt_quote_pack(text, LT_QUOTE_TEXT_SIZE, &quote), LT_OK);
}

static double
nodes_at(const struct lt_occupancy *got, int64_t utc_s)
{
	uint32_t i = 0;

	if (got->count == 0 || utc_s < got->start_utc_s[0])
		return 0;
	while (i + 1 < got->count && got->start_utc_s[i + 1] <= utc_s)
		i++;
	return got->nodes[i];
}

static void
booked_as_long_as_expected(void **state)
{
	static const struct {
		const char *why;
		enum lt_history_group from;
		const char *planned;
		uint32_t ratio_ppm;
		int64_t ran_h, suspended_h; /* ran -1: it waits, from now + 1 h */
		int first, last;	    /* hours that are booked */
	} cases[] = {
	    {"nothing is expected: to its limit", LT_HISTORY_NONE, "home", LT_MICROS, 1, 0, 0, 8},
	    {"to what is expected", LT_HISTORY_NAME, "home", LT_MICROS, 1, 0, 0, 0},
	    {"outlived: to the upper quantile", LT_HISTORY_NAME, "home", LT_MICROS, 2, 0, 0, 1},
	    {"outlived that: to its limit", LT_HISTORY_NAME, "home", LT_MICROS, 4, 0, 0, 5},
	    {"suspended time is none that it worked", LT_HISTORY_NAME, "home", LT_MICROS, 3, 2, 0,
		0},
	    {"of a slower node", LT_HISTORY_NAME, "there", 1500000, 1, 0, 0, 1},
	    {"that it is not on", LT_HISTORY_NAME, "other", 1500000, 1, 0, 0, 0},
	    {"it waits for its begin", LT_HISTORY_USER, "home", LT_MICROS, -1, 0, 1, 2},
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
		struct lt_batch_job job = {.partition = "home",
		    .admin_comment = text,
		    .state = runs ? LT_JOB_RUNNING : LT_JOB_PENDING,
		    .nodes = 1,
		    .cpus = 64,
		    .array_pending = 1,
		    .limit_s = 10 * HOUR,
		    .start_utc_s = runs ? NOW - cases[i].ran_h * HOUR : 0,
		    .suspended_s = cases[i].suspended_h * HOUR,
		    .eligible_utc_s = runs ? 0 : NOW + HOUR};
		const struct lt_batch_jobs jobs = {.count = 1, .jobs = &job, .begun_utc_s = 0};
		static struct lt_occupancy got;

		print_message("%s\n", cases[i].why);
		if (strcmp(cases[i].planned, "there") == 0)
			job.partition = "there";
		strcpy(partition.name, job.partition);
		quote_text(text, cases[i].planned, cases[i].from, cases[i].ratio_ppm);
		lt_occupancy_count(&got, &jobs, &market, 0, NOW);
		assert_false(got.queued);
		for (int h = 0; h <= cases[i].last + 4; h++)
			assert_int_equal(nodes_at(&got, NOW + h * HOUR + HOUR / 2) > 0,
			    h >= cases[i].first && h <= cases[i].last);
	}
}

/* Nodes that take nothing now are no room for an hour, and then who knows. */
static void
test_away(void **state)
{
	static struct lt_occupancy got = {.away = 3};
	const struct lt_batch_jobs none = {0};

	(void)state;
	struct lt_partition partition = {.name = "there", .node_count = 8};
	const struct lt_market market = {.partition_count = 1, .partitions = &partition};

	lt_occupancy_count(&got, &none, &market, 0, NOW);
	assert_true(nodes_at(&got, NOW) == 3);
	assert_true(nodes_at(&got, NOW + HOUR - 60) == 3);
	assert_true(nodes_at(&got, NOW + HOUR + 900) == 0);
	assert_false(got.queued);
}

enum { NODES = 40, MANY = 60, WORLDS = 200, DAY = 24 * HOUR };

static uint32_t
below(uint32_t count)
{
	static uint64_t seed = 11;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
}

/* Does the job take its nodes in a part of that step? */
static bool
meets(const struct lt_batch_job *job, int64_t now, int64_t from, int64_t to)
{
	const bool runs = job->state == LT_JOB_RUNNING;
	const int64_t start = runs ? now : job->eligible_utc_s;
	const int64_t end = (runs ? job->start_utc_s : job->eligible_utc_s) + job->limit_s;

	if (!runs && job->eligible_utc_s <= now)
		return false; /* it is in line */
	return start < to && end > from;
}

/* Each step of the week against all jobs, and the work of those in line. */
static void
same_as_job_by_job(void **state)
{
	static struct lt_occupancy got;
	static struct lt_batch_job all[MANY];

	(void)state;
	for (int world = 0; world < WORLDS; world++) {
		const int64_t now = NOW + below(HOUR);
		const int64_t first = now - now % 900;
		struct lt_shape shape = {.node_count = NODES, .cpus = 64};
		struct lt_partition partition = {
		    .name = "home", .shape_count = 1, .node_count = NODES};
		const struct lt_market market = {.partition_count = 1,
		    .shape_count = 1,
		    .partitions = &partition,
		    .shapes = &shape};
		const struct lt_batch_jobs jobs = {
		    .count = below(MANY), .jobs = all, .begun_utc_s = 0};
		struct lt_planned windows[MANY] = {0};
		double in_line = 0, filled = 0;
		bool was_full = true;

		got.windows = windows;

		for (uint32_t i = 0; i < jobs.count; i++) {
			const uint32_t kind = below(4);

			all[i] = (struct lt_batch_job){.partition = "home",
			    .admin_comment = "",
			    .reason_text = kind < 2 ? "Resources" : "Dependency",
			    .state = kind == 0 ? LT_JOB_RUNNING : LT_JOB_PENDING,
			    .nodes = 1,
			    .cpus = 64,
			    .array_pending = 1,
			    .limit_s = 60 * (1 + below(60 * 40)),
			    .start_utc_s = kind == 0 ? now - below(DAY) : 0,
			    .eligible_utc_s = kind == 2 ? now + 1 + below(8 * DAY) : 0};
			if (kind == 1)
				in_line += (double)all[i].limit_s;
		}
		lt_occupancy_count(&got, &jobs, &market, 0, now);
		assert_int_equal(got.queued, in_line > 0);
		for (int64_t at = 0; at < 7 * DAY;) {
			const int64_t step = at < DAY ? 900 : HOUR;
			const double nodes = nodes_at(&got, first + at);
			double booked = 0, kept = 0;

			for (uint32_t i = 0; i < jobs.count; i++) {
				booked += meets(&all[i], now, first + at, first + at + step);
				kept += windows[i].start_utc_s < first + at + step &&
					windows[i].end_utc_s > first + at;
			}
			/* An hour's step may hold a quarter that is taken. */
			assert_true(step == HOUR || kept == booked);
			assert_true(nodes > booked - 1e-6);
			/* No node is left while somebody is in line. */
			if (nodes > booked + 1e-6)
				assert_true(was_full);
			was_full = nodes >= NODES - 1e-6;
			filled += (nodes - booked) * (double)step;
			at += step;
		}
		if (fabs(filled - in_line) > 1 + 1e-9 * in_line)
			fail_msg("world %d: %f of %f node-seconds", world, filled, in_line);
	}
}

/* The newest job that was found, by its id, or when the list was made. */
static void
complete_until(void **state)
{
	struct lt_batch_job jobs[] = {
	    {.job_id = 1, .submit_utc_s = 500}, /* requeued */
	    {.job_id = 2, .submit_utc_s = 300},
	};
	struct lt_batch_jobs list = {.jobs = jobs};

	(void)state;
	assert_int_equal(lt_occupancy_until(&list), 0);
	list.count = 2;
	assert_int_equal(lt_occupancy_until(&list), 300);
	list.begun_utc_s = 400;
	assert_int_equal(lt_occupancy_until(&list), 400);
	list.count = 0;
	assert_int_equal(lt_occupancy_until(&list), 400);
}

/* What is no job's is taken at each hour that is looked at, beside the jobs. */
static void
taken_by_others(void **state)
{
	struct lt_partition partition = {
	    .name = "home", .node_count = 4, .shape_count = 1, .max_time_s = INT64_MAX};
	struct lt_shape shape = {.node_count = 4, .cpus = 64};
	const struct lt_market market = {
	    .partitions = &partition, .partition_count = 1, .shapes = &shape, .shape_count = 1};
	struct lt_batch_job job = {.partition = "home",
	    .state = LT_JOB_RUNNING,
	    .nodes = 1,
	    .cpus = 64,
	    .start_utc_s = NOW,
	    .limit_s = 2 * HOUR};
	const struct lt_batch_jobs list = {.jobs = &job, .count = 1};
	struct lt_occupancy got = {.others = 1.5};

	(void)state;
	lt_occupancy_count(&got, &list, &market, 0, NOW);
	assert_true(fabs(nodes_at(&got, NOW) - 2.5) < 1e-9);
	assert_true(fabs(nodes_at(&got, NOW + 3 * HOUR) - 1.5) < 1e-9);
	assert_true(fabs(nodes_at(&got, NOW + 6 * (int64_t)LT_DAY_S) - 1.5) < 1e-9);
}

/* A partition that has no room just now has some in a quarter of an hour. */
static void
full_for_a_while(void **state)
{
	struct lt_partition partitions[] = {
	    {.node_count = 3}, {.node_count = 5}, {.node_count = 7}};
	const struct lt_market market = {.partitions = partitions, .partition_count = 3};
	static struct lt_job_request made;
	struct lt_planned windows[3];

	(void)state;
	made.places.full[1] = made.places.full[2] = true;
	assert_int_equal(lt_request_full(windows, 3, &made, &market, NOW), 2);
	assert_int_equal(windows[0].partition, 1);
	assert_true(windows[0].nodes == 5 && windows[1].nodes == 7);
	assert_int_equal(windows[1].start_utc_s, NOW);
	assert_int_equal(windows[1].end_utc_s, NOW + 900);
	assert_int_equal(lt_request_full(windows, 1, &made, &market, NOW), 1);
	assert_int_equal(lt_request_full(windows, 0, &made, &market, NOW), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_away),
	    cmocka_unit_test(booked_as_long_as_expected),
	    cmocka_unit_test(same_as_job_by_job),
	    cmocka_unit_test(complete_until),
	    cmocka_unit_test(taken_by_others),
	    cmocka_unit_test(full_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
