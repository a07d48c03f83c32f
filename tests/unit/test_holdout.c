/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is held out, what of a job can't change that, and what stays out of it.
 */
#include "decide_fixture.h"

#include "holdout.h"
#include "plan_text.h"
#include "quote.h"

enum { USERS = 400, DAYS = 250 };

static const struct lt_holdout site = {20000, {0x0706050403020100, 0x0f0e0d0c0b0a0908}};

/* OpenSSL 3.0: openssl mac -macopt size:8 SIPHASH, of the bytes 0 to 15. */
static void
test_siphash(void **state)
{
	static const uint64_t other[2] = {
	    UINT64_C(0x8899aabbccddeeff), UINT64_C(0x0011223344556677)};

	(void)state;
	assert_int_equal(
	    lt_siphash(site.key, 0x0706050403020100, 0x0f0e0d0c0b0a0908), 0x3f2acc7f57c29bdb);
	assert_int_equal(
	    lt_siphash(other, 0x0706050403020100, 0x0f0e0d0c0b0a0908), 0xdc9f5b333db98c55);
}

static bool
is_drawn(uint32_t uid, int64_t now_utc_s)
{
	struct lt_request of = {.uid = uid};

	lt_holdout_lay(&of, &site, now_utc_s);
	assert_int_equal(of.holdout_ppm, 20000);
	return of.is_held_out;
}

/* Of 100,000 user-days 2 %: 2,000, give or take 5 standard deviations. */
static void
test_share(void **state)
{
	int drawn = 0;

	(void)state;
	for (uint32_t u = 0; u < USERS; u++)
		for (int day = 0; day < DAYS; day++)
			drawn += is_drawn(1000 + u, NOW + (int64_t)day * DAY);
	assert_in_range(drawn, 2000 - 222, 2000 + 222);
}

/* Within a day of any start the draw changes once, at a second that differs from user to user. */
static void
test_period(void **state)
{
	int64_t changes[USERS];
	int same = 0;

	(void)state;
	for (uint32_t u = 0; u < USERS; u++) {
		uint64_t was = lt_holdout_draw(&site, u, NOW);
		int count = 0;

		for (int64_t t = NOW + 60; t < NOW + DAY; t += 60) {
			const uint64_t is = lt_holdout_draw(&site, u, t);

			if (is != was) {
				changes[u] = t;
				count++;
			}
			was = is;
		}
		assert_in_range(count, 0, 1);
		if (count == 0)
			changes[u] = NOW;
		same += u > 0 && changes[u] == changes[u - 1];
	}
	assert_in_range(same, 0, 5);
}

static void
test_nothing_of_the_job(void **state)
{
	struct lt_request first = request, again = request;

	(void)state;
	again.limit_s = 17;
	again.min_nodes = again.max_nodes = 4;
	again.cpus = 3;
	again.script_hash = 12345;
	again.deadline_utc_s = NOW + DAY;
	snprintf(again.account, sizeof(again.account), "other");
	for (uint32_t uid = 0; uid < 3000; uid++) {
		first.uid = again.uid = uid;
		lt_holdout_lay(&first, &site, NOW);
		lt_holdout_lay(&again, &site, NOW);
		assert_int_equal(first.is_held_out, again.is_held_out);
	}
}

static int
setup_drawn(void **state)
{
	(void)setup(state);
	market.mode = LT_MODE_ENFORCE;
	request.holdout_ppm = 20000;
	request.is_held_out = true;
	return 0;
}

static void
test_kept(void **state)
{
	struct lt_quote quote = {.flags = LT_QUOTE_CHECKPOINT};
	struct lt_brief line;
	char text[1024];

	(void)state;
	decide();
	assert_int_equal(plan.compared, LT_COMPARED_KEPT);
	assert_false(plan.moved);
	assert_int_equal(plan.chosen.partition, HOME);
	assert_int_equal(plan.chosen.start_utc_s, NOW);
	assert_int_equal(plan.chosen.cost_micros, 8000000); /* 2 h at 4 */
	assert_int_equal(plan.home.cost_micros, 8000000);
	assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_NONE);
	assert_int_equal(plan.candidates[CHEAP].reject, LT_REJECT_HOLDOUT);
	lt_plan_line(&line, &(struct lt_told){&plan, &request, &market, NOW, true});
	lt_brief_text(text, sizeof(text), &line, LT_BRIEF_COLUMNS);
	assert_non_null(strstr(text, "Kept for comparison, as one of 2 % (holdout)"));
	lt_quote_set_compared(&quote, &plan);
	assert_int_equal(quote.flags, LT_QUOTE_CHECKPOINT | LT_QUOTE_HELD_OUT);
}

static void
test_moved(void **state)
{
	struct lt_quote quote = {0};

	(void)state;
	request.is_held_out = false;
	decide();
	assert_int_equal(plan.compared, LT_COMPARED_MOVED);
	assert_true(plan.moved);
	assert_int_equal(plan.chosen.partition, CHEAP);
	lt_quote_set_compared(&quote, &plan);
	assert_int_equal(quote.flags, LT_QUOTE_COMPARED);
}

/* What is on neither side is planned as without a holdout. */
static void
test_out_of_it(void **state)
{
	static const struct {
		const char *why;
		enum lt_mode mode;
		enum lt_objective objective;
		uint32_t share_ppm, interruptions;
		int64_t max_cost_micros, deadline_s, available_micros;
		bool moves;
	} cases[] = {
	    {"no share", LT_MODE_ENFORCE, LT_OBJECTIVE_COST, 0, 0, LT_UNSET_64, LT_UNSET_64,
		INT64_MAX, true},
	    {"nothing is moved anyway", LT_MODE_OBSERVE, LT_OBJECTIVE_COST, 20000, 0, LT_UNSET_64,
		LT_UNSET_64, INT64_MAX, true},
	    {"only told", LT_MODE_ADVISE, LT_OBJECTIVE_COST, 20000, 0, LT_UNSET_64, LT_UNSET_64,
		INT64_MAX, true},
	    {"it lost a node", LT_MODE_ENFORCE, LT_OBJECTIVE_COST, 20000, 1, LT_UNSET_64,
		LT_UNSET_64, INT64_MAX, true},
	    {"--max-cost needs the move", LT_MODE_ENFORCE, LT_OBJECTIVE_COST, 20000, 0, 7999999,
		LT_UNSET_64, INT64_MAX, true},
	    {"the budget needs the move", LT_MODE_ENFORCE, LT_OBJECTIVE_COST, 20000, 0, LT_UNSET_64,
		LT_UNSET_64, 7999999, true},
	    {"it did not ask", LT_MODE_ENFORCE, LT_OBJECTIVE_OFF, 20000, 0, LT_UNSET_64,
		LT_UNSET_64, INT64_MAX, false},
	    {"--max-cost allows home", LT_MODE_ENFORCE, LT_OBJECTIVE_COST, 20000, 0, 8000000,
		LT_UNSET_64, INT64_MAX, false},
	    {"the deadline allows home", LT_MODE_ENFORCE, LT_OBJECTIVE_COST, 20000, 0, LT_UNSET_64,
		3 * HOUR, INT64_MAX, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool kept = !cases[i].moves && cases[i].objective != LT_OBJECTIVE_OFF;

		market.mode = cases[i].mode;
		request.objective = cases[i].objective;
		request.holdout_ppm = cases[i].share_ppm;
		request.interruptions = cases[i].interruptions;
		request.max_cost_micros = cases[i].max_cost_micros;
		request.deadline_utc_s =
		    cases[i].deadline_s == LT_UNSET_64 ? LT_UNSET_64 : NOW + cases[i].deadline_s;
		request.has_available = true;
		request.available_micros = cases[i].available_micros;
		request.available_mg = INT64_MAX;
		decide();
		if (plan.moved != cases[i].moves ||
		    plan.compared != (kept ? LT_COMPARED_KEPT : LT_COMPARED_NOT))
			fail_msg("%s", cases[i].why);
	}
}

/* A partition that is full until after the latest start. */
static void
test_home_without_room(void **state)
{
	int64_t when[2] = {NOW, NOW + 3 * DAY};
	double nodes[1] = {8}, integral[2];
	struct lt_series busy[SERIES + 1];

	(void)state;
	memcpy(busy, series, sizeof(series));
	busy[SERIES] = (struct lt_series){.count = 1,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW,
	    .start_utc_s = when,
	    .value = nodes,
	    .integral = integral};
	assert_int_equal(lt_series_prepare(&busy[SERIES], NULL), LT_OK);
	market.series = busy;
	market.series_count = SERIES + 1;
	partitions[HOME].occupancy_series = SERIES;
	decide();
	assert_true(plan.moved);
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.compared, LT_COMPARED_NOT);
}

/* Kept, it would start at once at a price that its user ruled out. */
static void
test_home_too_dear(void **state)
{
	(void)state;
	set_series(PRICE_HOME, 8e6, 4e6, 4e6);
	request.max_price_micros = 5000000;
	decide();
	assert_true(plan.moved);
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.compared, LT_COMPARED_NOT);
	request.max_price_micros = 8000000;
	decide();
	assert_int_equal(plan.compared, LT_COMPARED_KEPT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_siphash),
	    cmocka_unit_test(test_share),
	    cmocka_unit_test(test_period),
	    cmocka_unit_test_setup(test_nothing_of_the_job, setup),
	    cmocka_unit_test_setup(test_kept, setup_drawn),
	    cmocka_unit_test_setup(test_moved, setup_drawn),
	    cmocka_unit_test_setup(test_out_of_it, setup_drawn),
	    cmocka_unit_test_setup(test_home_without_room, setup_drawn),
	    cmocka_unit_test_setup(test_home_too_dear, setup_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
