/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On ten weeks of a real grid, holes and doubles and all, no simple forecast is as good as ours at
 * any lead. make bench does the same with six grids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/forecast_score.h"

enum { EVERY_HOURS = 7, START_DAYS = 40 };

static struct carbon_zone zone = {
    .name = "GB", .file = "gb-2021.csv", .column = "carbon_intensity_avg"};

static void
test_feed_as_it_is(void **state)
{
	int missing = 0;

	(void)state;
	for (int i = 0; i < zone.hours; i++)
		missing += isnan(zone_at(&zone, i)) ? 1 : 0;
	assert_int_equal(zone.hours, 70 * 24);
	assert_int_equal(missing, 288);
	assert_true(zone.first_hour * LT_HOUR_S == 1634270400);
	/* 2021-10-16T23:00Z stands twice, first with 265. */
	assert_true(zone_at(&zone, 43) == 240);
}

static void
test_least_error(void **state)
{
	struct forecast_scores scores;

	(void)state;
	score_zone(&zone, EVERY_HOURS, &scores);
	assert_true(scores.starts * EVERY_HOURS >= START_DAYS * 24);
	for (int i = 0; i < SCORE_LEADS; i++)
		for (int model = 1; model < SCORE_MODELS; model++)
			if (!(score_of(&scores, SCORE_OURS, i) < score_of(&scores, model, i)))
				fail_msg("%d h ahead: ours %.2f, %s %.2f", score_leads[i],
				    score_of(&scores, SCORE_OURS, i), score_names[model],
				    score_of(&scores, model, i));
	assert_int_equal(score_beaten(&scores), 0);
}

static int
set_up(void **state)
{
	(void)state;
	return zone_load(&zone, "tests/fixtures/carbon") ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	free(zone.values);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_feed_as_it_is),
	    cmocka_unit_test(test_least_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
