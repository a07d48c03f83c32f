/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When Slurm is asked whether a job can start that was moved, when that one goes home, and how
 * seldom questions come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "afterwards.h"

enum { NOW = 1763690400, HERE = 3, ELSEWHERE = 4 };

static void
who_is_asked_about(void **state)
{
	static const struct {
		const char *why;
		bool is_known;
		struct lt_after known; /* asked at NOW - asked_utc_s here */
		bool begin_came, is_due;
	} cases[] = {
	    {"never asked, waits for its begin", false, {0}, false, true},
	    {"never asked, its begin came", false, {0}, true, true},
	    {"asked, it can", true, {.place = HERE, .asked_utc_s = 9000}, false, false},
	    {"asked, it could not, just now", true,
		{.place = HERE, .asked_utc_s = 299, .cannot_utc_s = NOW - 299}, false, false},
	    {"asked, it could not, five minutes ago", true,
		{.place = HERE, .asked_utc_s = 300, .cannot_utc_s = NOW - 300}, false, true},
	    {"it could not, by older tables", true,
		{.place = HERE, .asked_utc_s = 1, .cannot_utc_s = NOW - 1, .soon = true}, false,
		true},
	    {"moved since", true, {.place = ELSEWHERE, .asked_utc_s = 1}, false, true},
	    {"its begin came since", true, {.place = HERE, .asked_utc_s = 1}, true, true},
	    {"asked since its begin came", true,
		{.place = HERE, .asked_utc_s = 3599, .was_due = true}, true, false},
	    {"an hour later it still waits", true,
		{.place = HERE, .asked_utc_s = 3600, .was_due = true}, true, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_after known = cases[i].known;

		known.asked_utc_s = NOW - known.asked_utc_s;
		if (lt_after_is_due(cases[i].is_known ? &known : NULL, HERE, cases[i].begin_came,
			NOW) != cases[i].is_due)
			fail_msg("%s", cases[i].why);
	}
}

static void
who_goes_home(void **state)
{
	static const struct {
		const char *why;
		struct lt_after known;
		bool nodes_away, goes;
	} cases[] = {
	    {"it can start, or was never asked about", {0}, false, false},
	    {"it can't, and all nodes are there", {.cannot_utc_s = NOW}, false, true},
	    {"it can't while nodes are away", {.cannot_utc_s = NOW - 3599}, true, false},
	    {"they are away for an hour, but it waits for its begin", {.cannot_utc_s = NOW - 36000},
		true, false},
	    {"its begin came a moment ago, and they were away for long",
		{.cannot_utc_s = NOW - 3600, .was_due = true}, true, true},
	    {"its begin came, and they are away for less than an hour",
		{.cannot_utc_s = NOW - 3599, .was_due = true}, true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (lt_after_is_over(&cases[i].known, cases[i].nodes_away, NOW) != cases[i].goes)
			fail_msg("%s", cases[i].why);
}

static void
which_nodes_may_be_back(void **state)
{
	static const struct {
		const char *why;
		int64_t free_in_s, away_for_s; /* 0 = none is */
		bool answers_not, is_requeued, may;
	} cases[] = {
	    {.why = "reserved for an hour", .free_in_s = 3600},
	    {.why = "for less", .free_in_s = 3599, .may = true},
	    {.why = "some for a day, and one answers no more",
		.free_in_s = 86400,
		.answers_not = true,
		.may = true},
	    {.why = "drained when it was submitted", .away_for_s = 100},
	    {.why = "before", .away_for_s = 101},
	    {.why = "after", .away_for_s = 99, .may = true},
	    {.why = "after, and some are reserved for a day",
		.free_in_s = 86400,
		.away_for_s = 99,
		.may = true},
	    {.why = "drained under a job that was requeued",
		.away_for_s = 101,
		.is_requeued = true,
		.may = true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_partition partition = {
		    .free_utc_s = cases[i].free_in_s > 0 ? NOW + cases[i].free_in_s : 0,
		    .away_utc_s = cases[i].answers_not	    ? INT64_MAX
				  : cases[i].away_for_s > 0 ? NOW - cases[i].away_for_s
							    : 0};
		const struct lt_batch_job job = {
		    .submit_utc_s = NOW - 100, .requeued = cases[i].is_requeued};

		if (lt_after_may_be_back(&partition, &job, NOW) != cases[i].may)
			fail_msg("%s", cases[i].why);
	}
}

/* One a second at most; a slurmctld that is slow is left alone for twice as long each time, and
 * asked as often as before once it is not. */
static void
questions_are_seldom(void **state)
{
	int64_t pause_s = 0;

	(void)state;
	assert_int_equal(lt_after_pause_s(0, 0), 1);
	assert_int_equal(lt_after_pause_s(0, LT_AFTER_SLOW_MS), 1);
	for (int64_t wanted_s = 2; wanted_s < 3000; wanted_s *= 2) {
		pause_s = lt_after_pause_s(pause_s, LT_AFTER_SLOW_MS + 1);
		assert_int_equal(
		    pause_s, wanted_s < LT_AFTER_SLOW_MOST_S ? wanted_s : LT_AFTER_SLOW_MOST_S);
	}
	assert_int_equal(lt_after_pause_s(pause_s, 3), 1);
	/* For each second of an answer at least as long without one, up to where its time-out ends
	 * it. */
	assert_true(lt_after_pause_s(pause_s, 10000) >= 10);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_is_asked_about),
	    cmocka_unit_test(who_goes_home),
	    cmocka_unit_test(which_nodes_may_be_back),
	    cmocka_unit_test(questions_are_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
