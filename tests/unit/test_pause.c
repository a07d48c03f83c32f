/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a job that runs stands still, until when and what that saves, by hand; and over random hours
 * no pause of its own makes it better.
 */
#include <math.h>
#include <stdlib.h>

#include "decide_fixture.h"
#include "pause.h"

static struct lt_pause_course course;
static struct lt_pause_of of;

/* 2 kW, of which 0.5 kW idle, on nodes of the site's own without a price. */
static int
begin(void **state)
{
	setup(state);
	market.min_saving_ppm = 50000;
	request.objective = LT_OBJECTIVE_CARBON;
	for (int i = 0; i < PARTITIONS; i++) {
		partitions[i].flags |= LT_PARTITION_OWNED | LT_PARTITION_STAYS_ON;
		partitions[i].price_series = LT_NO_SERIES;
		partitions[i].node_cpu_w = 1500;
	}
	of = (struct lt_pause_of){.request = &request,
	    .market = &market,
	    .partition = HOME,
	    .kept_share = 1,
	    .left_s = 2 * HOUR,
	    .most_s = 20 * HOUR,
	    .now_utc_s = NOW};
	return 0;
}

static void
plan_it(void)
{
	memset(&course, 0x5a, sizeof(course));
	assert_int_equal(lt_pause_plan(&course, &of, NULL), LT_OK);
}

/* 8 hours each of 500, 100 and 500 g. */
static void
test_figures(void **state)
{
	static const struct {
		const char *why;
		double first, second, third;
		int64_t left_h, most_h;
		int64_t until_h, end_h;
		double saved_g; /* 1.5 kW of it */
	} cases[] = {
	    {"to the clean hours", 500, 100, 500, 2, 20, 8, 10, 1200},
	    {"it is clean now", 100, 500, 500, 2, 20, 0, 2, 0},
	    {"as much as fits there, the rest before", 500, 100, 500, 10, 20, 6, 16, 3600},
	    {"not as long as that was promised", 500, 100, 500, 2, 7, 7, 9, 600},
	    {"nothing was", 500, 100, 500, 2, 0, 0, 2, 0},
	    {"all the same", 500, 500, 500, 2, 20, 0, 2, 0},
	    {"4 % is not enough", 500, 480, 500, 2, 20, 0, 2, 0},
	    {"nobody knows its last hour", 500, 100, 500, 25, 20, 0, 25, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(state);
		set_series(CARBON, cases[i].first, cases[i].second, cases[i].third);
		of.left_s = cases[i].left_h * HOUR;
		of.most_s = cases[i].most_h * HOUR;
		plan_it();
		const int64_t until_s = course.until_utc_s == 0 ? 0 : course.until_utc_s - NOW;
		if (until_s != cases[i].until_h * HOUR)
			fail_msg("%s: until %g h", cases[i].why, (double)until_s / HOUR);
		assert_int_equal(course.end_utc_s, NOW + cases[i].end_h * HOUR);
		assert_float_equal(course.saved_mg, cases[i].saved_g * 1000, 1e-3);
	}
}

/* What runs on until its hours are dirty says when. */
static void
test_again(void **state)
{
	begin(state);
	set_series(CARBON, 100, 500, 100);
	of.left_s = 12 * HOUR;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	assert_int_equal(course.again_utc_s, NOW + 8 * HOUR);
	assert_int_equal(course.end_utc_s, NOW + 20 * HOUR);
	assert_float_equal(course.saved_mg, 4 * 1.5 * 400 * 1000, 1e-3);
	/* And is then asked for 4 hours' work. */
	of.now_utc_s = series[CARBON].issued_utc_s = NOW + 8 * HOUR;
	of.left_s = 4 * HOUR;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 16 * HOUR);
	assert_int_equal(course.again_utc_s, NOW + 16 * HOUR);
}

/* Nodes that would be powered down draw their idle power for it alone. */
static void
test_idle(void **state)
{
	begin(state);
	partitions[HOME].flags &= ~(uint32_t)LT_PARTITION_STAYS_ON;
	plan_it(); /* 4 kWh at 400 g saved, 8 h of 0.5 kW at 500 g for it */
	assert_int_equal(course.until_utc_s, 0);
	partitions[HOME].node_idle_w = 100;
	partitions[HOME].node_cpu_w = 1900;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	assert_float_equal(course.saved_mg, (1600 - 400) * 1000., 1e-3);
	/* Half of its power or more is idle. */
	begin(state);
	partitions[HOME].node_cpu_w = 500;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	partitions[HOME].node_cpu_w = 501;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
}

/* GPUs that stay paid make it dearer than carbon may be. */
static void
test_price(void **state)
{
	begin(state);
	partitions[HOME].price_series = PRICE_HOME; /* 4 an hour */
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	/* Nothing is kept: nothing is paid. */
	of.kept_share = 0;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	assert_float_equal(course.saved_micros, 0, 1e-3);
	/* At 1,000,000 a tonne 1.2 kg are 1,200, 8 hours of 4 are 32. */
	of.kept_share = 1;
	request.objective = LT_OBJECTIVE_BALANCED;
	market.carbon_price_micros_per_tonne = 1000000 * INT64_C(1000000);
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	assert_float_equal(course.saved_micros, -32e6, 1);
	market.carbon_price_micros_per_tonne = 100 * INT64_C(1000000);
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	/* Cheap hours, and half of the node is kept: 8 for 2 x (4 - 0.5) and
	 * 8 x 2. */
	set_series(PRICE_HOME, 4e6, 5e5, 4e6);
	request.objective = LT_OBJECTIVE_COST;
	of.kept_share = 0.5;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	of.kept_share = 0.1;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	assert_float_equal(course.saved_micros, 7e6 - 8 * 4e5, 1);
	/* Nor may it cost more than its user said. */
	request.objective = LT_OBJECTIVE_BALANCED;
	market.carbon_price_micros_per_tonne = 1000000 * INT64_C(1000000);
	set_series(PRICE_HOME, 4e6, 4e6, 4e6);
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	request.max_cost_micros = 100000000;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
}

/* Waiting has its price, stale signals move nothing, and what began goes on where it would not
 * begin. */
static void
test_conditions(void **state)
{
	begin(state);
	/* 8 hours of it, of 1,200 g; of kilograms 100 g are shown. */
	market.waiting_mg_per_hour = 135000;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	market.waiting_mg_per_hour = 140000;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	begin(state);
	series[CARBON].issued_utc_s = NOW - market.stale_after_s;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	series[CARBON].issued_utc_s--;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	begin(state);
	set_series(CARBON, 500, 480, 500);
	of.is_paused = true;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	begin(state);
	request.objective = LT_OBJECTIVE_FAST;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	of.partition = (int)market.partition_count;
	assert_int_equal(lt_pause_plan(&course, &of, NULL), LT_EINPUT);
	assert_int_equal(course.until_utc_s, 0);
}

/* Carbon of a job that stands still from now on, works and never stops. */
static double
one_pause_mg(int64_t pause_s)
{
	const int64_t from = NOW + pause_s;

	return 1.5 * 1000 * lt_series_integral(&series[CARBON], from, from + of.left_s);
}

static void
test_random(void **state)
{
	int paused = 0;

	srand(11);
	for (int round = 0; round < 500; round++) {
		begin(state);
		set_series(CARBON, 50 + rand() % 600, 50 + rand() % 600, 50 + rand() % 600);
		of.left_s = (1 + rand() % 40) * 900;
		of.most_s = (rand() % 60) * 900;
		plan_it();
		const double best_mg = one_pause_mg(0) - course.saved_mg + 1e-3;
		assert_true(course.end_utc_s - NOW - of.left_s <= of.most_s);
		paused += course.until_utc_s != 0;
		if (course.saved_mg == 0)
			continue; /* too little: test_figures() */
		for (int64_t s = 0; s <= of.most_s; s += 900)
			if (s + of.left_s <= DAY)
				assert_true(best_mg <= one_pause_mg(s) + 1);
	}
	assert_in_range(paused, 50, 450);
}

/* Back in the queue for an hour of work: 8 hours each of so many g. */
static void
test_requeue(void **state)
{
	static const struct {
		const char *why;
		double first, second, third;
		int64_t left_h, most_h;
		int64_t until_h, again_h;
		double saved_g; /* 1.5 kW of it */
	} cases[] = {
	    {"to the clean hours, and an hour more", 500, 100, 500, 2, 20, 8, 8, 1050},
	    {"it is clean now", 100, 500, 500, 2, 20, 0, 8, 0},
	    {"the hour more costs what it saves", 500, 400, 500, 2, 20, 0, 8, 0},
	    {"that hour is of the time promised", 500, 100, 500, 2, 9, 8, 8, 1050},
	    {"and too much of it", 500, 100, 500, 2, 8, 0, 8, 0},
	    {"once, to the cleanest", 500, 400, 100, 2, 20, 16, 16, 1050},
	    {"after hours that are clean enough", 200, 500, 100, 10, 20, 0, 8, 0},
	    {"nobody knows its last hour", 500, 100, 500, 25, 20, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(state);
		of.requeue_s = HOUR;
		set_series(CARBON, cases[i].first, cases[i].second, cases[i].third);
		of.left_s = cases[i].left_h * HOUR;
		of.most_s = cases[i].most_h * HOUR;
		plan_it();
		const int64_t until_s = course.until_utc_s == 0 ? 0 : course.until_utc_s - NOW;
		if (until_s != cases[i].until_h * HOUR)
			fail_msg("%s: until %g h", cases[i].why, (double)until_s / HOUR);
		if (cases[i].again_h == 0)
			assert_int_equal(course.again_utc_s, INT64_MAX);
		else
			assert_int_equal(course.again_utc_s, NOW + cases[i].again_h * HOUR);
		if (until_s != 0)
			assert_float_equal(course.saved_mg, cases[i].saved_g * 1000, 1e-3);
	}
}

/* Others have its nodes: their idle power and price are not its own. */
static void
test_requeue_keeps_nothing(void **state)
{
	begin(state);
	partitions[HOME].flags &= ~(uint32_t)LT_PARTITION_STAYS_ON;
	partitions[HOME].price_series = PRICE_HOME;
	partitions[HOME].node_cpu_w = 500;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
	of.requeue_s = 60;
	plan_it();
	assert_int_equal(course.until_utc_s, NOW + 8 * HOUR);
	/* A minute more at its price, and 1 kW. */
	assert_float_equal(course.saved_micros, -4e6 / 60, 1);
	assert_float_equal(course.saved_mg, (2 * 500 - (2 + 1 / 60.) * 100) * 1000, 1);
	request.max_cost_micros = 100000000;
	plan_it();
	assert_int_equal(course.until_utc_s, 0);
}

/* No other hour that a signal's step begins in is better. */
static void
test_requeue_random(void **state)
{
	int paused = 0;

	srand(12);
	for (int round = 0; round < 500; round++) {
		begin(state);
		set_series(CARBON, 50 + rand() % 600, 50 + rand() % 600, 50 + rand() % 600);
		of.left_s = (1 + rand() % 40) * 900;
		of.most_s = (rand() % 80) * 900;
		of.requeue_s = 60 + rand() % 3600;
		plan_it();
		if (course.until_utc_s == 0)
			continue;
		paused++;
		const double best_mg = one_pause_mg(0) - course.saved_mg - 1e-3;
		const int64_t most_s = of.most_s - of.requeue_s;
		of.left_s += of.requeue_s;
		assert_true(course.until_utc_s - NOW <= most_s);
		assert_true(fabs(one_pause_mg(course.until_utc_s - NOW) - best_mg) < 1);
		for (int64_t s = 8 * HOUR; s <= most_s; s += 8 * HOUR)
			if (s + of.left_s <= DAY)
				assert_true(best_mg <= one_pause_mg(s) + 1);
	}
	assert_in_range(paused, 50, 450);
}

/* With a deadline what is left of its limit must fit; else the start that it was promised at the
 * latest moves on with each pause. */
static void
test_promise(void **state)
{
	struct lt_pause_promise p = {.latest_utc_s = NOW + 10 * HOUR,
	    .deadline_utc_s = LT_UNSET_64,
	    .start_utc_s = NOW + 2 * HOUR,
	    .limit_s = 6 * HOUR,
	    .suspended_s = HOUR,
	    .now_utc_s = NOW + 5 * HOUR};

	begin(state);
	assert_int_equal(lt_pause_most_s(&p, &market), 7 * HOUR);
	p.suspended_s = 3 * HOUR;
	assert_int_equal(lt_pause_most_s(&p, &market), 5 * HOUR);
	p.latest_utc_s = NOW + HOUR;
	assert_int_equal(lt_pause_most_s(&p, &market), 0);
	/* It ran for 2 hours of 6, half an hour before noon must do. */
	p.suspended_s = HOUR;
	p.deadline_utc_s = NOW + 12 * HOUR;
	assert_int_equal(lt_pause_most_s(&p, &market), 2 * HOUR + 1800);
	p.deadline_utc_s = NOW + 9 * HOUR + 1800;
	assert_int_equal(lt_pause_most_s(&p, &market), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_again),
	    cmocka_unit_test(test_idle),
	    cmocka_unit_test(test_price),
	    cmocka_unit_test(test_conditions),
	    cmocka_unit_test(test_random),
	    cmocka_unit_test(test_requeue),
	    cmocka_unit_test(test_requeue_keeps_nothing),
	    cmocka_unit_test(test_requeue_random),
	    cmocka_unit_test(test_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
