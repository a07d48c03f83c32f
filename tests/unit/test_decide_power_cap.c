/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power cap of a plan, against figures that were worked out by hand: a node of 500 W idle, 500
 * W of CPUs and 3000 W of GPUs for an hour at 500 g/kWh and 4 an hour is 4 kWh, 2 kg and 4. With
 * GPUs at 0.6 of their power, and 1.25 times as long, it is 2.8 kW x 1.25 h = 3.5 kWh, 1.75 kg and
 * 5.
 */
#include "decide_fixture.h"

static struct lt_power_cap rules[2];

static int
capped(void **state)
{
	(void)setup(state);
	snprintf(partitions[HOME].name, LT_NAME_SIZE, "home");
	rules[0] = (struct lt_power_cap){
	    .gpu = "V100-SXM2", .gpu_freq = "1200", .slow_down = 1.25, .power = 0.6};
	market.power_caps = rules;
	market.power_cap_count = 1;
	market.power_cap_above = 310;
	request.gpus = 8;
	request.expected_run_s = HOUR;
	request.objective = LT_OBJECTIVE_OFF;
	return 0;
}

static void
by_hand(void **state)
{
	(void)state;
	decide();
	assert_false(plan.moved);
	assert_string_equal(plan.capped.gpu_freq, "1200");
	assert_string_equal(plan.capped.cpu_freq, "");
	assert_int_equal(plan.capped.longer_ppm, 250000);
	assert_int_equal(plan.capped.less_wh, 500);
	assert_int_equal(plan.capped.above_g, 310);
	assert_int_equal(plan.capped.mean_g, 500);
	/* The window of 7:30 has half an hour of 500 and of 100: 300. */
	assert_int_equal(plan.capped.until_utc_s - NOW, 15 * HOUR / 2);
	assert_int_equal(llround(plan.chosen.energy_wh), 3500);
	assert_int_equal(plan.chosen.carbon_mg, 1750000);
	assert_int_equal(plan.chosen.cost_micros, 5000000);
	assert_int_equal(plan.chosen.end_utc_s - NOW, 5 * HOUR / 4);
	/* Without lowtide nothing would slow it. */
	assert_int_equal(llround(plan.home.energy_wh), 4000);
	assert_int_equal(plan.home.carbon_mg, 2000000);
	assert_int_equal(plan.home.cost_micros, 4000000);
	/* The GPU is as fast as home's: runs are learned as they were. */
	assert_true(plan.chosen.time_ratio == 1);
}

/* CPUs and GPUs: (500 + 500 x 0.6 + 3000 x 0.6) W x 1.25 h = 3.25 kWh. */
static void
both_are_slowed(void **state)
{
	(void)state;
	strcpy(rules[0].cpu_freq, "low");
	decide();
	assert_string_equal(plan.capped.cpu_freq, "low");
	assert_int_equal(plan.capped.less_wh, 750);
}

/* Without GPUs: (500 + 500 x 0.6) W x 1.25 h = 1 kWh, as much as before. */
static void
without_gpus(void **state)
{
	(void)state;
	request.gpus = 0;
	rules[0] = (struct lt_power_cap){
	    .gpu_freq = "1200", .cpu_freq = "1800000", .slow_down = 1.25, .power = 0.6};
	decide();
	assert_string_equal(plan.capped.gpu_freq, "");
	assert_string_equal(plan.capped.cpu_freq, "1800000");
	assert_int_equal(plan.capped.less_wh, 0);
	assert_int_equal(llround(plan.chosen.energy_wh), 1000);
}

enum change {
	NONE,
	TIME_ENOUGH,
	TIME_SHORT,
	TIME_NOT_KNOWN,
	DEADLINE_MET,
	DEADLINE_IN_DOUBT,
	MONEY_ENOUGH,
	MONEY_SHORT,
	CLEAN,
	AS_DIRTY_AS_THE_BOUND,
	OF_ITS_OWN,
	INTERACTIVE,
	HET,
	STALE,
	NO_CARBON,
	NO_GPUS,
	OTHER_GPU,
	OTHER_ACCOUNT,
	OTHER_QOS,
	OTHER_PARTITION,
	ITS_ALL,
	SECOND_RULE,
	FIRST_COUNTS,
};

static void
change(enum change what)
{
	switch (what) {
	case NONE:
		break;
	case TIME_ENOUGH:
		request.limit_s = 5 * HOUR / 4;
		break;
	case TIME_SHORT:
		request.limit_s = 5 * HOUR / 4 - 1;
		break;
	case TIME_NOT_KNOWN:
		request.expected_run_s = LT_UNSET_64;
		break;
	case DEADLINE_MET: /* by its limit, and the slack */
		request.deadline_utc_s = NOW + 2 * HOUR + 1800;
		break;
	case DEADLINE_IN_DOUBT:
		request.deadline_utc_s = NOW + 2 * HOUR + 1799;
		break;
	case MONEY_ENOUGH:
		request.max_cost_micros = 5000000;
		break;
	case MONEY_SHORT:
		request.max_cost_micros = 4999999;
		break;
	case CLEAN:
		set_series(CARBON, 309, 309, 309);
		break;
	case AS_DIRTY_AS_THE_BOUND:
		set_series(CARBON, 310, 310, 310);
		break;
	case OF_ITS_OWN:
		request.pins = LT_PIN_FREQUENCY;
		break;
	case INTERACTIVE:
		request.pins = LT_PIN_INTERACTIVE;
		break;
	case HET:
		request.pins = LT_PIN_HET;
		break;
	case STALE:
		series[CARBON].issued_utc_s = NOW - 3 * HOUR - 1;
		break;
	case NO_CARBON:
		partitions[HOME].carbon_series = LT_NO_SERIES;
		break;
	case NO_GPUS:
		request.gpus = 0;
		break;
	case OTHER_GPU:
		strcpy(rules[0].gpu, "A100-SXM4-40GB");
		break;
	case OTHER_ACCOUNT:
		strcpy(rules[0].account, "nlp");
		break;
	case OTHER_QOS:
		strcpy(rules[0].qos, "long");
		break;
	case OTHER_PARTITION:
		strcpy(rules[0].partition, "cheap");
		break;
	case ITS_ALL:
		strcpy(rules[0].account, "vision");
		strcpy(rules[0].qos, "normal");
		strcpy(rules[0].partition, "home");
		break;
	case SECOND_RULE:
		market.power_cap_count = 2;
		rules[1] = rules[0];
		strcpy(rules[0].account, "nlp");
		break;
	case FIRST_COUNTS:
		market.power_cap_count = 2;
		rules[1] = rules[0];
		strcpy(rules[1].gpu_freq, "low");
		break;
	}
}

static void
who_is_slowed(void **state)
{
	static const struct {
		const char *why;
		enum change change;
		bool is_slowed;
	} cases[] = {
	    {"as it is", NONE, true},
	    {"it ends with its limit", TIME_ENOUGH, true},
	    {"a second over its limit", TIME_SHORT, false},
	    {"only its limit is known", TIME_NOT_KNOWN, false},
	    {"it meets its deadline", DEADLINE_MET, true},
	    {"it may miss its deadline", DEADLINE_IN_DOUBT, false},
	    {"at its --max-cost", MONEY_ENOUGH, true},
	    {"a micro above its --max-cost", MONEY_SHORT, false},
	    {"clean hours", CLEAN, false},
	    {"not above, but at the bound", AS_DIRTY_AS_THE_BOUND, false},
	    {"a frequency of its own", OF_ITS_OWN, false},
	    {"srun, salloc", INTERACTIVE, false},
	    {"a component", HET, false},
	    {"old signals", STALE, false},
	    {"no signal", NO_CARBON, false},
	    {"no GPU to slow", NO_GPUS, false},
	    {"another GPU's rule", OTHER_GPU, false},
	    {"another account's", OTHER_ACCOUNT, false},
	    {"another QOS's", OTHER_QOS, false},
	    {"another partition's", OTHER_PARTITION, false},
	    {"one that names all of it", ITS_ALL, true},
	    {"the second of two", SECOND_RULE, true},
	    {"the first of two", FIRST_COUNTS, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)capped(state);
		change(cases[i].change);
		decide();
		if (lt_is_capped(&plan.capped) != cases[i].is_slowed)
			fail_msg("%s", cases[i].why);
		if (cases[i].is_slowed)
			assert_string_equal(plan.capped.gpu_freq, "1200");
		else
			assert_memory_equal(&plan.chosen, &plan.home, sizeof(plan.home));
	}
}

/* The start is found without: who goes to clean hours keeps its speed, who can't is slowed where it
 * is. */
static void
the_start_is_as_before(void **state)
{
	struct lt_estimate before;

	(void)state;
	partitions[CHEAP].flags &= ~(uint32_t)LT_PARTITION_MANAGED;
	request.objective = LT_OBJECTIVE_CARBON;
	decide();
	assert_true(plan.moved);
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
	assert_false(lt_is_capped(&plan.capped));

	market.power_cap_above = 99;
	market.power_cap_count = 0;
	decide();
	before = plan.chosen;
	market.power_cap_count = 1;
	decide();
	assert_true(lt_is_capped(&plan.capped));
	assert_int_equal(plan.chosen.start_utc_s, before.start_utc_s);
	assert_true(plan.chosen.score == before.score);
	assert_int_equal(plan.chosen.carbon_mg, 350000); /* 3.5 kWh of 100 g */
	assert_int_equal(plan.candidates[HOME].best.carbon_mg, plan.chosen.carbon_mg);
	/* To the end of what is known: 24 h. */
	assert_int_equal(plan.capped.until_utc_s - NOW, 24 * HOUR);
}

/* What an admin wrote has no end: as far as starts are looked at. */
static void
a_constant(void **state)
{
	(void)state;
	series[CARBON].quality = LT_QUALITY_CONSTANT;
	set_series(CARBON, 500, 500, 500);
	series[CARBON].quality = LT_QUALITY_CONSTANT;
	decide();
	assert_int_equal(plan.capped.until_utc_s - NOW, 2 * DAY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(by_hand, capped),
	    cmocka_unit_test_setup(both_are_slowed, capped),
	    cmocka_unit_test_setup(without_gpus, capped),
	    cmocka_unit_test(who_is_slowed),
	    cmocka_unit_test_setup(the_start_is_as_before, capped),
	    cmocka_unit_test_setup(a_constant, capped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
