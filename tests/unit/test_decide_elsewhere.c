/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job is measured against that its home can't run: the best start now in another partition.
 */
#include "decide_fixture.h"

#include "plan_text.h"
#include "quote.h"

enum { DEAR = PARTITIONS, ALL };

static struct lt_partition three[ALL];
static struct lt_shape of_three[ALL];
static double busy_values[1], busy_integrals[2];
static int64_t busy_starts[2];
static struct lt_series four[SERIES + 1];

/* Home has no GPU; CHEAP is at 1 from 8 h on, and at 3 before; DEAR at 2. */
static void
begin(void)
{
	setup(NULL);
	set_series(PRICE_CHEAP, 3e6, 1e6, 1e6);
	set_series(PRICE_HOME, 2e6, 2e6, 2e6); /* DEAR's */
	memcpy(three, partitions, sizeof(partitions));
	memcpy(of_three, shapes, sizeof(shapes));
	memcpy(four, series, sizeof(series));
	three[DEAR] = partitions[CHEAP];
	three[DEAR].first_shape = DEAR;
	three[DEAR].price_series = PRICE_HOME;
	of_three[DEAR] = shapes[CHEAP];
	of_three[HOME].gpus = 0;
	of_three[HOME].gpu_index = -1;
	snprintf(three[HOME].name, LT_NAME_SIZE, "cpu");
	snprintf(three[CHEAP].name, LT_NAME_SIZE, "gpu");
	snprintf(three[DEAR].name, LT_NAME_SIZE, "big");
	market.partitions = three;
	market.shapes = of_three;
	market.series = four;
	market.partition_count = market.shape_count = ALL;
	market.zone = (struct lt_zone){.count = 1, .steps = {{INT64_MIN, 0, "GMT"}}};
	request.gpus_per_node = 8;
}

static void
test_best_now(void **state)
{
	struct lt_brief line;
	struct lt_quote quote = {0};
	char out[256];

	(void)state;
	begin();
	decide();
	assert_false(plan.fits);
	/* Two hours at 1, when it is cheap. */
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
	assert_int_equal(plan.chosen.cost_micros, 2000000);
	/* Now DEAR is the better: two hours at 2, not at 3. */
	assert_int_equal(plan.elsewhere.partition, DEAR);
	assert_int_equal(plan.elsewhere.start_utc_s, NOW);
	assert_int_equal(plan.elsewhere.cost_micros, 4000000);
	assert_ptr_equal(lt_plan_base(&plan), &plan.elsewhere);
	lt_plan_line(&line, &(struct lt_told){&plan, &request, &market, NOW, true});
	lt_brief_text(out, sizeof(out), &line, LT_BRIEF_ALL);
	if (strstr(out, "; saves $2.00") == NULL)
		fail_msg("%s", out);
	lt_quote_set_base(&quote, &plan);
	assert_int_equal(quote.home_expected.money_micros, 4000000);
	assert_int_equal(quote.flags, LT_QUOTE_NOT_HOME);
}

/* Where it may not wait, it is that start itself: nothing is saved. */
static void
test_itself(void **state)
{
	struct lt_brief line;
	char out[256];

	(void)state;
	begin();
	request.pins = LT_PIN_INTERACTIVE;
	decide();
	assert_int_equal(plan.chosen.partition, DEAR);
	assert_int_equal(plan.elsewhere.partition, DEAR);
	assert_int_equal(plan.elsewhere.cost_micros, plan.chosen.cost_micros);
	lt_plan_line(&line, &(struct lt_told){&plan, &request, &market, NOW, true});
	lt_brief_text(out, sizeof(out), &line, LT_BRIEF_ALL);
	assert_null(strstr(out, "saves"));
}

/* Of what has no room now, the first that has. */
static void
test_first_room(void **state)
{
	(void)state;
	begin();
	busy_starts[0] = NOW;
	busy_starts[1] = NOW + 4 * HOUR;
	busy_values[0] = 8;
	four[SERIES] = (struct lt_series){.count = 1,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW,
	    .start_utc_s = busy_starts,
	    .value = busy_values,
	    .integral = busy_integrals};
	assert_int_equal(lt_series_prepare(&four[SERIES], NULL), LT_OK);
	market.series_count = SERIES + 1;
	three[DEAR].occupancy_series = SERIES;
	decide();
	/* CHEAP is free, at 3. */
	assert_int_equal(plan.elsewhere.partition, CHEAP);
	assert_int_equal(plan.elsewhere.start_utc_s, NOW);
	assert_int_equal(plan.elsewhere.cost_micros, 6000000);
}

/* Home that can run it is what counts, and nothing is elsewhere. */
static void
test_home(void **state)
{
	struct lt_quote quote = {0};

	(void)state;
	begin();
	request.gpus_per_node = 0;
	decide();
	assert_true(plan.fits);
	assert_int_equal(plan.elsewhere.partition, -1);
	assert_ptr_equal(lt_plan_base(&plan), &plan.home);
	lt_quote_set_base(&quote, &plan);
	assert_int_equal(quote.flags, 0);
	/* Nor where nothing can. */
	request.gpus_per_node = 9;
	decide();
	assert_false(plan.fits);
	assert_int_equal(plan.elsewhere.partition, -1);
	lt_quote_set_base(&quote, &plan);
	assert_int_equal(quote.flags, 0);
	assert_false(quote.home_expected.has_money);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_best_now),
	    cmocka_unit_test(test_itself),
	    cmocka_unit_test(test_first_room),
	    cmocka_unit_test(test_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
