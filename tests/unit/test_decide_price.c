/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classes and --max-price in lt_decide(): what they rule out, told apart from what has no room, and
 * against a look at every second. docs/model.md, (22a).
 */
#include "decide_fixture.h"

#include "refusal.h"
#include "replan.h"

static struct lt_class class;

/* With all words of why. */
static bool
is_refused(char text[LT_BRIEF_TEXT_SIZE])
{
	struct lt_brief why = {.count = 0};
	const bool is = lt_plan_refusal(&why, &plan, &request, &market);

	lt_brief_text(text, LT_BRIEF_TEXT_SIZE, &why, LT_BRIEF_ALL);
	return is;
}

static int
begin(void **state)
{
	class = (struct lt_class){
	    .name = "big", .qos = "batch", .max_interruptions = LT_INTERRUPTIONS_ANY};
	setup(state);
	snprintf(partitions[HOME].name, sizeof(partitions[HOME].name), "gpu");
	market.classes = &class;
	market.class_count = 1;
	snprintf(request.qos, sizeof(request.qos), "batch");
	request.objective = LT_OBJECTIVE_COST;
	return 0;
}

/* Home at 8, then 2, then 4; the cheap one out of the way. */
static void
only_home(void)
{
	market.partition_count = 1;
	set_series(PRICE_HOME, 8e6, 2e6, 4e6);
}

static void
test_window(void **state)
{
	static const struct {
		const char *why;
		int64_t most, by_class;
		int64_t start_h;
	} cases[] = {
	    {"any price: carbon is least wanted, and it starts at once", 0, 0, 0},
	    {"as dear as it is now", 8000000, 0, 0},
	    {"one micro less: a second later it ends in the cheap hours", 7999999, 0, 7},
	    {"half and half", 5000000, 0, 7},
	    {"only the cheap hours", 2000000, 0, 8},
	    {"the class says less", 8000000, 2000000, 8},
	    {"the user says less", 2000000, 8000000, 8},
	    {"the class alone", 0, 2000000, 8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(state);
		only_home();
		print_message("%s\n", cases[i].why);
		/* Nothing is saved by waiting, but for the price. */
		request.objective = LT_OBJECTIVE_FAST;
		request.max_price_micros = cases[i].most;
		class.max_price_micros = cases[i].by_class;
		decide();
		assert_int_equal(plan.chosen.partition, HOME);
		assert_int_equal(plan.home_was_dear, cases[i].start_h > 0);
		assert_int_equal(plan.chosen.start_utc_s / HOUR - NOW / HOUR,
		    cases[i].most == 7999999 ? 6 : cases[i].start_h);
	}
}

static void
test_refused(void **state)
{
	char text[LT_BRIEF_TEXT_SIZE];

	begin(state);
	only_home();
	market.max_delay_s = 4 * HOUR;
	request.max_price_micros = 2000000;
	decide();
	assert_false(plan.moved);
	assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_MAX_PRICE);
	assert_true(plan.candidates[HOME].found == 8000000);
	assert_true(is_refused(text));
	assert_string_equal(text,
	    "--max-price: $2.00 a node-hour is the most, and on gpu it is $8.00 at least, and no other partition will do");
	/* Nobody asked to be placed: its class bounds it all the same. */
	request.max_price_micros = 0;
	request.objective = LT_OBJECTIVE_OFF;
	class.max_price_micros = 7000000;
	decide();
	assert_true(plan.fits);
	assert_true(is_refused(text));
	assert_string_equal(text,
	    "max_price of class big: $7.00 a node-hour is the most, and on gpu it is $8.00; --carbon-aware looks for another partition or hour");
	class.max_price_micros = 8000000;
	decide();
	assert_false(is_refused(text));
	/* Nor does it start there because nothing is known of the hours. */
	request.objective = LT_OBJECTIVE_COST;
	class.max_price_micros = 0;
	request.max_price_micros = 2000000;
	market.stale_after_s = 1;
	series[PRICE_HOME].issued_utc_s = NOW - HOUR;
	series[PRICE_HOME].quality = LT_QUALITY_FORECAST;
	decide();
	assert_true(is_refused(text));
	request.objective = LT_OBJECTIVE_OFF;
	request.max_price_micros = 0;
	/* What is not known is not too dear. */
	partitions[HOME].price_series = LT_NO_SERIES;
	class.max_price_micros = 1;
	decide();
	assert_false(is_refused(text));
}

/* Where others wait in line it would stay in it, and start when it is its turn:
 * not before that is cheap enough. */
static void
test_in_line(void **state)
{
	int64_t when[3] = {NOW, NOW + 3 * HOUR, NOW + 3 * DAY};
	double nodes[2] = {8, 0}, integral[3];
	struct lt_series busy[SERIES + 1];

	begin(state);
	only_home();
	memcpy(busy, series, sizeof(series));
	busy[SERIES] = (struct lt_series){.count = 2,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW,
	    .start_utc_s = when,
	    .value = nodes,
	    .integral = integral};
	assert_int_equal(lt_series_prepare(&busy[SERIES], NULL), LT_OK);
	market.series = busy;
	market.series_count = SERIES + 1;
	partitions[HOME].occupancy_series = SERIES;
	partitions[HOME].flags |= LT_PARTITION_QUEUED;
	request.objective = LT_OBJECTIVE_FAST;
	decide();
	assert_false(plan.moved);
	request.max_price_micros = 2000000;
	decide();
	assert_true(plan.home_was_dear && plan.moved);
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
}

/* A partition of which each node-hour is cheap, and that needs so many more of them that the job
 * costs more there, is the only one left. */
static void
test_slow_and_cheap(void **state)
{
	begin(state);
	set_series(PRICE_CHEAP, 3e6, 3e6, 3e6);
	shapes[HOME].gpu_index = 1;
	shapes[CHEAP].gpu_index = 0;
	request.gpus_per_node = 8;
	decide();
	assert_int_equal(plan.chosen.partition, HOME);
	request.max_price_micros = 3500000;
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_MAX_PRICE);
	assert_true(plan.fits && plan.home.has_cost);
}

static void
test_class_over_site(void **state)
{
	begin(state);
	only_home();
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
	class.has_max_delay = true;
	class.max_delay_s = 3 * HOUR;
	decide();
	assert_in_range(plan.chosen.start_utc_s, NOW, NOW + 3 * HOUR);
	class.max_delay_s = 0;
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW);
	/* Another QOS is no member. */
	request.qos[0] = '\0';
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
}

/* Latest start on preemptible nodes that keeps a deadline: the surer, the sooner. */
static int64_t
latest_start(uint32_t confidence_ppm)
{
	class.deadline_confidence_ppm = confidence_ppm;
	for (int64_t start_s = 20 * HOUR; start_s >= 0; start_s -= 60) {
		request.earliest_utc_s = NOW + start_s;
		decide();
		if (plan.candidates[CHEAP].reject != LT_REJECT_DEADLINE)
			return start_s;
	}
	return -1;
}

static void
test_confidence(void **state)
{
	begin(state);
	request.deadline_utc_s = NOW + 20 * HOUR;
	request.checkpoint.enabled = true;
	market.max_restart_risk_ppm = 1000000;
	partitions[CHEAP].flags |= LT_PARTITION_PREEMPTIBLE;
	partitions[CHEAP].hazard_per_node_hour = 0.2;
	partitions[CHEAP].restart_s = 1800;
	const int64_t by_site = latest_start(0);

	assert_int_equal(latest_start(market.deadline_confidence_ppm), by_site);
	assert_true(latest_start(999000) < by_site);
	assert_true(latest_start(500000) > by_site);
}

static void
test_words(void **state)
{
	char text[512];

	begin(state);
	lt_class_text(text, sizeof(text), &request, &market);
	assert_string_equal(text, "class big (QOS batch)");
	class.default_objective = LT_OBJECTIVE_CARBON;
	class.has_max_delay = true;
	class.max_delay_s = 3 * HOUR;
	class.deadline_confidence_ppm = 999000;
	class.max_price_micros = 12500000;
	class.assume_time_s = 8 * HOUR;
	class.on_demand_only = true;
	class.max_interruptions = 1;
	class.pause = LT_PAUSE_SUSPEND;
	snprintf(class.account, sizeof(class.account), "%s", request.account);
	lt_class_text(text, sizeof(text), &request, &market);
	assert_string_equal(text,
	    "class big (QOS batch, account vision): placed without asking (carbon), at most 3h of delay, deadlines kept in 99.9 %, at most $12.50 a node-hour, held for 8h at a time without a limit, never moved to preemptible nodes, at most 1 interruption, pauses by suspend");
	market.class_count = 0;
	lt_class_text(text, sizeof(text), &request, &market);
	assert_string_equal(text, "");
}

/* ---- every second ---- */

enum { STEPS = 12, WORLDS = 400 };

static uint64_t seed;

static int64_t
among(int64_t low, int64_t high)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return low + (int64_t)((seed >> 33) % (uint64_t)(high - low + 1));
}

static int64_t many_starts[STEPS + 1];
static double many[STEPS], many_integrals[STEPS + 1];

static void
random_prices(void)
{
	many_starts[0] = NOW - 100;
	for (int i = 0; i < STEPS; i++) {
		many_starts[i + 1] = many_starts[i] + among(1, 400);
		many[i] = (double)among(-5, 20) * 1e6;
	}
	series[PRICE_HOME] = (struct lt_series){.count = STEPS,
	    .quality = LT_QUALITY_CONSTANT,
	    .issued_utc_s = NOW,
	    .start_utc_s = many_starts,
	    .value = many,
	    .integral = many_integrals};
	assert_int_equal(lt_series_prepare(&series[PRICE_HOME], NULL), LT_OK);
}

/* By adding up its seconds. */
static double
mean_of(int64_t start_utc_s, int64_t length_s)
{
	double sum = 0;

	for (int64_t s = 0; s < length_s; s++)
		sum += lt_series_at(&series[PRICE_HOME], start_utc_s + s);
	return sum / (double)length_s;
}

/* With --carbon-aware=fast it starts in the first second that is not too dear, and nowhere else. */
static void
test_every_second(void **state)
{
	uint32_t none = 0, later = 0;

	(void)state;
	for (uint64_t world = 1; world <= WORLDS; world++) {
		begin(state);
		seed = world;
		random_prices();
		market.partition_count = 1;
		market.max_delay_s = among(0, 2000);
		request.objective = LT_OBJECTIVE_FAST;
		request.limit_s = request.expected_run_s = among(1, 700);
		request.max_price_micros = among(1, 15) * 1000000;
		decide();
		int64_t first = -1;
		bool is_close = false;

		for (int64_t s = 0; s <= market.max_delay_s && first < 0; s++) {
			const double over = mean_of(NOW + s, request.limit_s) -
					    (double)request.max_price_micros - 0.5;

			/* Sums of doubles may differ there. */
			is_close |= fabs(over) < 0.01;
			if (over <= 0)
				first = s;
		}
		if (is_close)
			continue;
		none += first < 0;
		later += first > 0;
		if (first < 0)
			assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_MAX_PRICE);
		else
			assert_int_equal(plan.chosen.start_utc_s, NOW + first);
	}
	assert_true(none > WORLDS / 20 && later > WORLDS / 10);
}

static void
test_replan(void **state)
{
	static struct lt_replanned out;
	struct lt_replan of = {.request = &request,
	    .market = &market,
	    .now_utc_s = NOW,
	    .partition = HOME,
	    .start_utc_s = NOW + 8 * HOUR};

	begin(state);
	only_home();
	request.latest_utc_s = NOW + 20 * HOUR;
	request.max_price_micros = 2000000;
	assert_int_equal(lt_replan(&out, &of, NULL), LT_OK);
	assert_int_equal(out.why, LT_REPLAN_KEEP);
	/* Its hour has become too dear: to another one. */
	set_series(PRICE_HOME, 8e6, 3e6, 1e6);
	assert_int_equal(lt_replan(&out, &of, NULL), LT_OK);
	assert_int_equal(out.why, LT_REPLAN_NO_ROOM);
	assert_int_equal(out.plan.chosen.start_utc_s, NOW + 16 * HOUR);
	/* All have: it was promised its own. */
	set_series(PRICE_HOME, 8e6, 3e6, 4e6);
	assert_int_equal(lt_replan(&out, &of, NULL), LT_OK);
	assert_int_equal(out.why, LT_REPLAN_KEEP);
}

/* What a tonne is charged with is in the money: it weighs no second time. */
static void
test_worth_beyond_the_charge(void **state)
{
	static const struct {
		int64_t worth, charge;
		double beyond;
	} cases[] = {{100, 0, 100}, {100, 80, 20}, {100, 100, 0}, {100, 120, 0}, {0, 80, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		market.carbon_price_micros_per_tonne = cases[i].worth * INT64_C(1000000000);
		market.charge_micros_per_tonne = cases[i].charge * INT64_C(1000000000);
		assert_true(lt_worth_per_mg(&market) == cases[i].beyond);
	}
}

/* Of eight hours two are expected, and that is not sure: what may be lost, what it may cost and
 * when it is done go by the eight, or by what is sure. */
static void
test_bounds(void **state)
{
	static const struct {
		const char *why;
		int64_t said_s, upper_s;
		int64_t bound_s;
	} cases[] = {
	    {"nothing is sure but the limit", 0, 0, 8 * HOUR},
	    {"the limit", 0, 8 * HOUR, 8 * HOUR},
	    {"ten runs and more", 0, 3 * HOUR, 3 * HOUR},
	    {"its user's word", 2 * HOUR, 0, 2 * HOUR},
	};

	(void)state;
	/* A third of eight hours: 33 %, of two 10 %. */
	partitions[CHEAP].hazard_per_node_hour = 0.05;
	market.max_restart_risk_ppm = 100000;
	request.limit_s = 8 * HOUR;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double hours = (double)cases[i].bound_s / HOUR;
		const double risk = 1 - exp(-0.05 * hours);
		struct lt_estimate at;
		enum lt_reject reject;
		char text[LT_BRIEF_TEXT_SIZE];

		request.expected_run_s = cases[i].said_s > 0 ? cases[i].said_s : LT_UNSET_64;
		request.learned = (struct lt_expected){.from = LT_HISTORY_NAME,
		    .runs = 3,
		    .expected_s = 2 * HOUR,
		    .upper_s = cases[i].upper_s};
		market.max_restart_risk_ppm = (uint32_t)(risk * 1e6) - 1;
		request.max_cost_micros = LT_UNSET_64;
		decide();
		if (plan.candidates[CHEAP].reject != LT_REJECT_RISK ||
		    fabs(plan.candidates[CHEAP].found - risk * 1e6) > 1)
			fail_msg("%s: risk %.0f", cases[i].why, plan.candidates[CHEAP].found);
		market.max_restart_risk_ppm = (uint32_t)(risk * 1e6) + 1;
		decide();
		assert_int_equal(plan.chosen.partition, CHEAP);
		assert_int_equal(plan.home.end_utc_s, NOW + cases[i].bound_s);
		assert_int_equal(plan.home.free_utc_s, NOW + 2 * HOUR);
		assert_true(lt_estimate_at(&at, &reject, &request, &market, CHEAP, NOW));
		/* What it is expected to cost where it takes so long. */
		struct lt_request longest = request;
		struct lt_estimate most;

		longest.expected_run_s = cases[i].bound_s;
		assert_true(lt_estimate_at(&most, &reject, &longest, &market, CHEAP, NOW));
		assert_int_equal(at.most_micros, most.cost_micros);
		/* Not a micro less than it may cost. */
		request.max_cost_micros = at.most_micros;
		decide();
		assert_int_equal(plan.chosen.partition, CHEAP);
		assert_false(is_refused(text));
		request.max_cost_micros--;
		decide();
		assert_int_equal(plan.candidates[CHEAP].reject, LT_REJECT_MAX_COST);
		assert_int_equal(plan.chosen.partition, HOME);
		assert_true(is_refused(text));
	}
}

/* The least saving is a cent of a dollar, in what the site pays with: a later start that saves a
 * micro less is not taken. Two hours at the price. */
static void
test_cent(void **state)
{
	static const struct {
		const char *currency;
		double least;
	} cases[] = {{"USD", 10000}, {"", 10000}, {"JPY", 1.5e6}, {"KWD", 3000}, {"KRW", 15e6}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int more = -1; more <= 1; more += 2) {
			begin(state);
			strcpy(market.currency, cases[i].currency);
			market.partition_count = 1;
			set_series(PRICE_HOME, 40e6, 40e6 - cases[i].least / 2 - more, 40e6);
			set_series(CARBON, 500, 500, 500);
			decide();
			if (plan.moved != (more > 0))
				fail_msg("%s: %d", cases[i].currency, more);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_worth_beyond_the_charge, setup),
	    cmocka_unit_test(test_cent),
	    cmocka_unit_test(test_window),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_in_line),
	    cmocka_unit_test(test_slow_and_cheap),
	    cmocka_unit_test(test_class_over_site),
	    cmocka_unit_test(test_confidence),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_every_second),
	    cmocka_unit_test(test_replan),
	    cmocka_unit_test_setup(test_bounds, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
