/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job's markers say of its interruptions: words into numbers, and lives of two runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "life.h"

static void
test_markers(void **state)
{
	static const struct {
		const char *why, *text;
		bool ok, is_saved;
		double progress;
	} cases[] = {
	    {"nothing", "", false, false, 0},
	    {"no number", "epoch", false, false, 0},
	    {"a count", "1200", true, false, 1200},
	    {"the first number counts", "epoch 3 of 90", true, false, 3},
	    {"a fraction", "0.35 of epoch 2", true, false, 0.35},
	    {"without its zero", "at .5", true, false, 0.5},
	    {"a sentence ends behind it", "step 12.", true, false, 12},
	    {"written", "1200 saved", true, true, 1200},
	    {"the word before the number is another's", "saved 1200", true, false, 1200},
	    {"below 0 is no progress", "-3", false, false, 0},
	    {"no hexadecimal", "0x1F", true, false, 0},
	    {"exactly countable", "1000000000000000", true, false, 1e15},
	    {"no more than that", "1000000000000001", false, false, 0},
	    {"longer than a marker",
		"00000000000000000000000000000000000000000000000000000000000000001", false, false,
		0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_marker marker = {0};
		const bool ok = lt_marker_parse(&marker, cases[i].text);

		if (ok != cases[i].ok || (ok && (marker.progress != cases[i].progress ||
						    marker.is_saved != cases[i].is_saved)))
			fail_msg(
			    "%s: %d %.17g %d", cases[i].why, ok, marker.progress, marker.is_saved);
	}
}

static struct lt_progress
run(uint32_t restarts, double first, int64_t first_after_s)
{
	return (struct lt_progress){.restarts = restarts,
	    .first = {first, false},
	    .newest = {first, false},
	    .first_after_s = first_after_s,
	    .newest_after_s = first_after_s};
}

/* The first run tells 10 after 2 s and 500 after 100 s; then it is asked or not, tells 900, and the
 * next run begins. */
static void
test_outcomes(void **state)
{
	static const struct {
		const char *why;
		bool asked;
		double first;
		int64_t first_after_s;
		enum lt_outcome outcome;
	} cases[] = {
	    {"from the checkpoint that it was asked for", true, 501, 20, LT_OUTCOME_SURVIVED},
	    {"where it was when it was asked", true, 500, 20, LT_OUTCOME_SURVIVED},
	    {"before that", true, 499, 20, LT_OUTCOME_FAILED},
	    {"from 0", true, 1, 2, LT_OUTCOME_FAILED},
	    {"that far, but no sooner than at first", true, 600, 96, LT_OUTCOME_UNKNOWN},
	    {"just sooner", true, 600, 95, LT_OUTCOME_SURVIVED},
	    {"not asked, from its end", false, 900, 20, LT_OUTCOME_SURVIVED},
	    {"not asked, from an older checkpoint", false, 400, 20, LT_OUTCOME_UNKNOWN},
	    {"not asked, from where it began", false, 10, 2, LT_OUTCOME_FAILED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_life life = {.job_id = 1, .uid = 2};
		struct lt_progress first = run(0, 10, 2);

		assert_false(lt_life_tell(&life, &first, 1000));
		first.newest.progress = 500;
		first.newest_after_s = 100;
		assert_false(lt_life_tell(&life, &first, 1100));
		if (cases[i].asked)
			lt_life_ask(&life, 1101);
		first.newest.progress = 900;
		first.newest_after_s = 180;
		assert_false(lt_life_tell(&life, &first, 1200));
		const struct lt_progress next = run(1, cases[i].first, cases[i].first_after_s);
		assert_true(lt_life_tell(&life, &next, 1300));
		if (life.outcome != cases[i].outcome)
			fail_msg("%s: outcome %d, want %d", cases[i].why, life.outcome,
			    cases[i].outcome);
		/* Said once, and not again by what it tells later. */
		assert_false(lt_life_tell(&life, &next, 1310));
		assert_int_equal(life.outcome, cases[i].outcome);
		/* Late words of the run before say nothing any more. */
		assert_false(lt_life_tell(&life, &first, 1320));
		assert_int_equal(life.now.restarts, 1);
		assert_true(life.now.newest.progress == cases[i].first);
	}
}

/* What came first of a run stays, and older news are none. */
static void
test_first_stays(void **state)
{
	struct lt_life life = {0};
	struct lt_progress told = run(0, 10, 2);

	(void)state;
	lt_life_tell(&life, &told, 1000);
	told = run(0, 50, 9);
	lt_life_tell(&life, &told, 1010);
	assert_true(life.now.first.progress == 10);
	assert_true(life.now.newest.progress == 50);
	told = run(0, 30, 5);
	lt_life_tell(&life, &told, 1020);
	assert_true(life.now.newest.progress == 50);
}

static void
test_write_time(void **state)
{
	struct lt_life life = {0};
	struct lt_progress told = run(0, 10, 2);

	(void)state;
	/* Asked before it told anything: there is nothing to measure. */
	lt_life_ask(&life, 990);
	assert_int_equal(life.asked_utc_s, 0);
	lt_life_tell(&life, &told, 1000);
	lt_life_ask(&life, 1010);
	told.newest = (struct lt_marker){11, false};
	told.newest_after_s = 14;
	lt_life_tell(&life, &told, 1015);
	assert_int_equal(life.write_s, 0);
	told.newest = (struct lt_marker){12, true};
	told.newest_after_s = 40;
	lt_life_tell(&life, &told, 1045);
	assert_int_equal(life.write_s, 35);
	/* The next one is no answer to that. */
	told.newest_after_s = 90;
	lt_life_tell(&life, &told, 1095);
	assert_int_equal(life.write_s, 35);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_markers),
	    cmocka_unit_test(test_outcomes),
	    cmocka_unit_test(test_first_stays),
	    cmocka_unit_test(test_write_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
