/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decided again: what changes a plan, what does not, and what is never
 * broken, over random forecasts too.
 */
#include "decide_fixture.h"

#include "replan.h"
#include "units.h"

static struct lt_replanned again;
static struct lt_replan of;

static void
replan_at(int partition, int64_t start_utc_s)
{
	of.request = &request;
	of.market = &market;
	of.partition = partition;
	of.start_utc_s = start_utc_s;
	if (of.now_utc_s == 0)
		of.now_utc_s = NOW;
	assert_int_equal(lt_replan(&again, &of, NULL), LT_OK);
}

static int
begin(void **state)
{
	memset(&of, 0, sizeof(of));
	setup(state);
	market.partition_count = 1;
	market.min_saving_ppm = 50000;
	request.objective = LT_OBJECTIVE_CARBON;
	return 0;
}

/* 2 kWh for 2 h at 500, 100 and 500 g/kWh: 8 h is the place to be. */
static void
test_figures(void **state)
{
	static const struct {
		const char *why;
		double first, second, third;
		int64_t start_s;
		enum lt_replan_why want;
		int64_t to_s;
	} cases[] = {
	    {"where it should be", 500, 100, 500, 8 * HOUR, LT_REPLAN_KEEP, 0},
	    {"the clean hours come later than was said", 500, 500, 100, 8 * HOUR, LT_REPLAN_BETTER,
		16 * HOUR},
	    {"they are here already", 100, 500, 500, 8 * HOUR, LT_REPLAN_BETTER, 0},
	    {"later is better by 1 %: no, nor is the wait", 500, 500, 495, 8 * HOUR,
		LT_REPLAN_BETTER, 0},
	    {"where it is, is better by 1 % than now", 500, 495, 500, 8 * HOUR, LT_REPLAN_KEEP, 0},
	    {"nor by as little as 5 % of now, later still", 500, 100, 94.9, 8 * HOUR,
		LT_REPLAN_KEEP, 0},
	    {"all the same: it waits for nothing", 500, 500, 500, 8 * HOUR, LT_REPLAN_BETTER, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(state);
		set_series(CARBON, cases[i].first, cases[i].second, cases[i].third);
		replan_at(HOME, NOW + cases[i].start_s);
		if (again.why != cases[i].want)
			fail_msg("%s: %s", cases[i].why, lt_replan_word(again.why));
		assert_int_equal(again.standing.partition, HOME);
		assert_int_equal(again.standing.start_utc_s, NOW + cases[i].start_s);
		if (again.why == LT_REPLAN_BETTER)
			assert_int_equal(again.plan.chosen.start_utc_s, NOW + cases[i].to_s);
	}
}

/* What was chosen is told as it was decided; another place by its own figures, against the same
 * home. */
static void
test_standing(void **state)
{
	static struct lt_plan decided, told;

	begin(state);
	market.partition_count = 2;
	set_series(CARBON, 500, 100, 500);
	of = (struct lt_replan){.request = &request, .market = &market, .now_utc_s = NOW};
	assert_int_equal(lt_decide(&decided, &request, &market, NULL, 0, NOW, NULL), LT_OK);
	of.partition = decided.chosen.partition;
	of.start_utc_s = decided.chosen.start_utc_s;
	assert_int_equal(lt_replan_standing(&told, &of, NULL), LT_OK);
	assert_memory_equal(&told, &decided, sizeof(told));
	of.start_utc_s += 4 * HOUR;
	assert_int_equal(lt_replan_standing(&told, &of, NULL), LT_OK);
	assert_true(told.moved);
	assert_int_equal(told.chosen.start_utc_s, of.start_utc_s);
	assert_int_equal(told.candidates[of.partition].reject, LT_REJECT_NONE);
	assert_memory_equal(&told.home, &decided.home, sizeof(told.home));
	assert_int_equal(told.home_then.start_utc_s, of.start_utc_s);
	/* At home at once it is no move, whoever says so. */
	of.partition = HOME;
	of.start_utc_s = NOW;
	assert_int_equal(lt_replan_standing(&told, &of, NULL), LT_OK);
	assert_false(told.moved);
	assert_int_equal(told.chosen.cost_micros, decided.home.cost_micros);
	of.partition = (int)market.partition_count;
	assert_int_equal(lt_replan_standing(&told, &of, NULL), LT_ENOENT);
}

/* What waiting is worth is counted from now, not from the submission. */
static void
test_waiting_counts(void **state)
{
	begin(state);
	set_series(CARBON, 110, 100, 500);
	market.min_saving_ppm = 0;
	replan_at(HOME, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_KEEP);
	market.waiting_mg_per_hour = 10000; /* 80 g for 20 */
	replan_at(HOME, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_BETTER);
	assert_int_equal(again.plan.chosen.start_utc_s, NOW);
	assert_false(again.plan.moved);
}

/* Never later than was promised at the submission. */
static void
test_latest(void **state)
{
	begin(state);
	set_series(CARBON, 500, 500, 100);
	request.latest_utc_s = NOW + 12 * HOUR;
	replan_at(HOME, NOW + 8 * HOUR);
	assert_true(
	    again.why == LT_REPLAN_KEEP || again.plan.chosen.start_utc_s <= NOW + 12 * HOUR);
	request.latest_utc_s = NOW + 16 * HOUR;
	replan_at(HOME, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_BETTER);
	assert_int_equal(again.plan.chosen.start_utc_s, NOW + 16 * HOUR);
	/* A deadline moves for nobody. */
	set_series(CARBON, 510, 500, 100);
	request.latest_utc_s = 0;
	request.deadline_utc_s = NOW + 16 * HOUR + 1800;
	replan_at(HOME, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_KEEP);
}

static void
test_room(void **state)
{
	struct lt_planned all = {HOME, 8, NOW + 8 * HOUR, NOW + 16 * HOUR};

	begin(state);
	of.planned = &all;
	of.planned_count = 1;
	replan_at(HOME, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_NO_ROOM);
	assert_int_not_equal(again.plan.chosen.start_utc_s, NOW + 8 * HOUR);
	/* Of eight nodes seven are taken. */
	all.nodes = 7;
	replan_at(HOME, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_KEEP);
}

static void
test_partition_is_gone(void **state)
{
	begin(state);
	setup(state);
	request.objective = LT_OBJECTIVE_COST;
	set_series(CARBON, 500, 500, 500);
	replan_at(CHEAP, NOW + 8 * HOUR);
	assert_int_equal(again.standing.partition, CHEAP);
	partitions[CHEAP].flags &= ~(uint32_t)LT_PARTITION_UP;
	replan_at(CHEAP, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_CANNOT_RUN);
	assert_int_equal(again.plan.chosen.partition, HOME);
	replan_at(-1, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_CANNOT_RUN);
	partitions[CHEAP].flags |= LT_PARTITION_UP;
	/* The cheap one is the dear one by now. */
	set_series(PRICE_CHEAP, 9e6, 9e6, 9e6);
	replan_at(CHEAP, NOW + 8 * HOUR);
	assert_int_equal(again.why, LT_REPLAN_BETTER);
	assert_int_equal(again.plan.chosen.partition, HOME);
	assert_false(again.plan.moved);
}

static void
test_errors(void **state)
{
	struct lt_error err = {0};

	begin(state);
	request.home = -1;
	of = (struct lt_replan){&request, &market, NULL, 0, HOME, NOW, NOW};
	assert_int_equal(lt_replan(&again, &of, &err), LT_EINPUT);
	assert_int_equal(again.why, LT_REPLAN_KEEP);
	assert_int_equal(again.standing.partition, -1);
}

static void
test_words(void **state)
{
	(void)state;
	for (int i = 0; i < LT_REPLAN_WHY_COUNT; i++)
		assert_int_equal(lt_replan_find(lt_replan_word((enum lt_replan_why)i)), i);
	assert_int_equal(lt_replan_find("else"), -1);
}

/* An hour after hour follows forecasts that err by some 3 %: plans hardly change, each change is of
 * use by what is then known, and none breaks the promise. */
static void
test_hour_by_hour(void **state)
{
	enum { HOURS = 24, JOBS = 300 };
	static int64_t times[HOURS * 2 + 1];
	static double hourly[HOURS * 2], sums[HOURS * 2 + 1];
	int changes = 0, jobs = 0;
	uint64_t seed = 7;

	for (int job = 0; job < JOBS; job++) {
		begin(state);
		request.latest_utc_s = NOW + 20 * HOUR;
		int64_t start = NOW + 20 * HOUR;
		for (int hour = 0; start > NOW + hour * HOUR; hour++) {
			for (int i = 0; i <= HOURS * 2; i++)
				times[i] = NOW + i * HOUR;
			for (int i = 0; i < HOURS * 2; i++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				hourly[i] = (300 + 150 * sin((i + job) * 0.2618)) *
					    (0.97 + 0.06 * (double)(seed >> 40) / 0x1p24);
			}
			series[CARBON] = (struct lt_series){.count = HOURS * 2,
			    .quality = LT_QUALITY_FORECAST,
			    .issued_utc_s = NOW + hour * HOUR,
			    .start_utc_s = times,
			    .value = hourly,
			    .integral = sums};
			assert_int_equal(lt_series_prepare(&series[CARBON], NULL), LT_OK);
			series[PRICE_HOME].issued_utc_s = NOW + hour * HOUR;
			series[PRICE_HOME].quality = LT_QUALITY_CONSTANT;
			of.now_utc_s = NOW + hour * HOUR;
			replan_at(HOME, start);
			assert_true(again.why <= LT_REPLAN_BETTER);
			if (again.why != LT_REPLAN_BETTER)
				continue;
			assert_true(again.plan.chosen.carbon_mg < again.standing.carbon_mg ||
				    (again.plan.chosen.start_utc_s < start &&
					again.plan.chosen.carbon_mg == again.standing.carbon_mg));
			assert_true(again.plan.chosen.start_utc_s <= request.latest_utc_s);
			start = again.plan.chosen.start_utc_s;
			changes++;
		}
		jobs++;
	}
	/* One to leave the worst start that there is, and little more. */
	print_message("# %d changes of %d jobs\n", changes, jobs);
	assert_true(changes >= jobs / 2 && changes < 3 * jobs);
}

/* On spot, which costs a quarter, after interruptions: it goes on there until it was taken as often
 * as may be, by its user or its class. */
static void
test_interrupted(void **state)
{
	static struct lt_class class = {
	    .name = "batch", .qos = "normal", .max_interruptions = LT_INTERRUPTIONS_ANY};
	static const struct {
		uint32_t interruptions, by_user, by_class;
		bool stays;
	} cases[] = {
	    {0, 0, 1, true},
	    {1, 0, 1, false},
	    {2, 3, LT_INTERRUPTIONS_ANY, true},
	    {3, 3, LT_INTERRUPTIONS_ANY, false},
	    {2, 3, 2, false},
	    {900, 0, LT_INTERRUPTIONS_ANY, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(state);
		market.partition_count = 2;
		partitions[CHEAP].flags |= LT_PARTITION_PREEMPTIBLE;
		market.classes = &class;
		market.class_count = 1;
		class.max_interruptions = cases[i].by_class;
		request.objective = LT_OBJECTIVE_COST;
		request.interruptions = cases[i].interruptions;
		request.max_interruptions = cases[i].by_user;
		replan_at(CHEAP, NOW);
		assert_int_equal(
		    again.why, cases[i].stays ? LT_REPLAN_KEEP : LT_REPLAN_INTERRUPTED);
		if (cases[i].stays)
			continue;
		assert_int_equal(again.plan.chosen.partition, HOME);
		assert_int_equal(again.plan.candidates[CHEAP].reject, LT_REJECT_ON_DEMAND);
		/* Nor back, however cheap. */
		replan_at(HOME, NOW + HOUR);
		assert_int_not_equal(again.plan.chosen.partition, CHEAP);
		/* Where it named spot alone, that is its user's word. */
		request.pins = LT_PIN_PARTITION;
		request.home = CHEAP;
		replan_at(CHEAP, NOW);
		assert_int_equal(again.why, LT_REPLAN_KEEP);
	}
	/* A class that is never to be there is not moved there. */
	class.on_demand_only = true;
	begin(state);
	market.partition_count = 2;
	partitions[CHEAP].flags |= LT_PARTITION_PREEMPTIBLE;
	market.classes = &class;
	market.class_count = 1;
	request.objective = LT_OBJECTIVE_COST;
	replan_at(HOME, NOW);
	assert_int_equal(again.plan.chosen.partition, HOME);
	assert_int_equal(again.plan.candidates[CHEAP].reject, LT_REJECT_ON_DEMAND);
}

/* Waits for spot nodes with 2 h to run, 30 min of slack and a deadline: it leaves 2.5 h before it,
 * a minute early; what it has done gives it longer, and what it may lose there once more, and 2 min
 * until Slurm starts it again, less. */
static void
test_deadline(void **state)
{
	static const struct {
		int64_t before_s, done_s, start_s;
		enum lt_replan_why want;
		double every_s; /* by its word; a minute to write */
		int64_t risk_s;
		bool may_return;
	} cases[] = {
	    {2 * HOUR + 1800 + 61, 0, 0, LT_REPLAN_KEEP, 0, 0, false},
	    {2 * HOUR + 1800 + 60, 0, 0, LT_REPLAN_DEADLINE, 0, 0, false},
	    {HOUR + 1800 + 61, HOUR, 0, LT_REPLAN_KEEP, 0, 0, false},
	    {HOUR + 1800 + 60, HOUR, 0, LT_REPLAN_DEADLINE, 0, 0, false},
	    /* too late already: all the more */
	    {HOUR, 0, 0, LT_REPLAN_DEADLINE, 0, 0, false},
	    /* it waits for its hour, not for nodes */
	    {2 * HOUR + 1800 + 30, 0, 20, LT_REPLAN_KEEP, 0, 0, false},
	    {2 * HOUR + 1800 + 840 + 61, 0, 0, LT_REPLAN_KEEP, 600, 840, false},
	    {2 * HOUR + 1800 + 840 + 60, 0, 0, LT_REPLAN_DEADLINE, 600, 840, false},
	    /* no run loses more than its limit */
	    {4 * HOUR + 1980 + 61, 0, 0, LT_REPLAN_KEEP, DAY, 2 * HOUR + 180, false},
	    {4 * HOUR + 1980 + 60, 0, 0, LT_REPLAN_DEADLINE, DAY, 2 * HOUR + 180, false},
	    /* two requeues and a tenth sooner, by the slack rule */
	    {2 * HOUR + 1800 + 840 + 960 + 61, 0, 0, LT_REPLAN_KEEP, 600, 840, true},
	    {2 * HOUR + 1800 + 840 + 960 + 60, 0, 0, LT_REPLAN_DEADLINE, 600, 840, true},
	};
	static struct lt_class class = {.name = "rover",
	    .qos = "normal",
	    .max_interruptions = LT_INTERRUPTIONS_ANY,
	    .pause = LT_PAUSE_REQUEUE};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(state);
		market.partition_count = 2;
		partitions[CHEAP].flags |= LT_PARTITION_PREEMPTIBLE;
		request.objective = LT_OBJECTIVE_COST;
		request.deadline_utc_s = NOW + cases[i].before_s;
		request.done_s = cases[i].done_s;
		market.classes = &class;
		market.class_count = cases[i].may_return;
		request.checkpoint = (struct lt_checkpoint){.enabled = cases[i].every_s > 0,
		    .every_s = cases[i].every_s,
		    .write_s = 60,
		    .signal = 10};
		assert_int_equal(lt_replan_leave_utc_s(&request, &market),
		    NOW + cases[i].before_s - 1800 - 2 * HOUR + cases[i].done_s - cases[i].risk_s);
		/* Where its word does not count, it starts over anyway. */
		market.proof_required = true;
		assert_int_equal(lt_replan_leave_utc_s(&request, &market),
		    NOW + cases[i].before_s - 1800 - 2 * HOUR + cases[i].done_s);
		market.proof_required = false;
		replan_at(CHEAP, NOW + cases[i].start_s);
		if (again.why != cases[i].want)
			fail_msg("%zu: %s", i, lt_replan_word(again.why));
		if (again.why == LT_REPLAN_DEADLINE) {
			assert_int_equal(again.plan.chosen.partition, HOME);
			assert_true(again.plan.chosen.start_utc_s <= NOW + 60);
		}
	}
	/* With no deadline, what was promised at the submission. */
	begin(state);
	market.partition_count = 2;
	partitions[CHEAP].flags |= LT_PARTITION_PREEMPTIBLE;
	request.objective = LT_OBJECTIVE_COST;
	assert_int_equal(lt_replan_leave_utc_s(&request, &market), INT64_MAX);
	request.latest_utc_s = NOW + 61;
	replan_at(CHEAP, NOW - HOUR);
	assert_int_equal(again.why, LT_REPLAN_KEEP);
	request.latest_utc_s = NOW + 60;
	replan_at(CHEAP, NOW - HOUR);
	assert_int_equal(again.why, LT_REPLAN_DEADLINE);
	/* One that came back this minute starts there if it can. */
	replan_at(CHEAP, NOW - 59);
	assert_int_equal(again.why, LT_REPLAN_KEEP);
}

/* Before it starts again, whatever Slurm's wait is. */
static void
test_back(void **state)
{
	static const struct {
		const char *why;
		int64_t eligible_s, at_s;
	} cases[] = {
	    {"22.05 to 25.05: 121 s", 121, 31},
	    {"requeue_delay=30", 30, 8},
	    {"requeue_delay=5", 5, 2},
	    {"none: at once", 0, 0},
	    {"cred_expire=600", 601, 511},
	    {"its user's begin time", LT_DAY_S, LT_DAY_S - 90},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		assert_int_equal(
		    lt_replan_back_utc_s(NOW, NOW + cases[i].eligible_s), NOW + cases[i].at_s);
	}
}

/*
 * 10 h at 4 an hour on nodes that stay, 4 h done; 10 minutes of that are done again after a
 * requeue. Staying costs 6 x 4 = 24, going 6 1/6 times the price there: below 24 less a tenth from
 * 3.5027 down.
 */
static void
test_return(void **state)
{
	static struct lt_class class = {
	    .name = "batch", .qos = "normal", .max_interruptions = LT_INTERRUPTIONS_ANY};
	static const struct {
		const char *why;
		double price;
		int64_t worked_s, most_s, deadline_s;
		uint32_t interruptions, allowed;
		bool is_cheap_stable, goes;
	} cases[] = {
	    {"a quarter", 1, 4 * HOUR, DAY, 0, 0, 9, false, true},
	    {"by just enough", 3.50, 4 * HOUR, DAY, 0, 0, 9, false, true},
	    {"not by a tenth", 3.51, 4 * HOUR, DAY, 0, 0, 9, false, false},
	    {"cheaper nodes that stay", 1, 4 * HOUR, DAY, 0, 0, 9, true, false},
	    {"no more waiting was promised", 1, 4 * HOUR, 719, 0, 0, 9, false, false},
	    {"it has done less than it would lose", 1, 599, DAY, 0, 0, 9, false, false},
	    {"it was taken too often", 1, 4 * HOUR, DAY, 0, 2, 2, false, false},
	    {"its deadline has room", 1, 4 * HOUR, DAY, 8 * HOUR, 0, 9, false, true},
	    {"6 h 10 and 2 min of wait: it would have to leave at once", 1, 4 * HOUR, DAY,
		6 * HOUR + 12 * 60 + 30, 0, 9, false, false},
	};
	struct lt_return back;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		begin(state);
		market.partition_count = 2;
		if (!cases[i].is_cheap_stable)
			partitions[CHEAP].flags |= LT_PARTITION_PREEMPTIBLE;
		const double micros = cases[i].price * 1e6;
		set_series(PRICE_CHEAP, micros, micros, micros);
		class.max_interruptions = cases[i].allowed;
		market.classes = &class;
		market.class_count = 1;
		market.deadline_slack_s = 0;
		request.objective = LT_OBJECTIVE_COST;
		request.limit_s = 10 * HOUR;
		request.interruptions = cases[i].interruptions;
		if (cases[i].deadline_s > 0)
			request.deadline_utc_s = NOW + cases[i].deadline_s;
		assert_int_equal(lt_replan_return(&back,
				     &(struct lt_return_of){.request = &request,
					 .market = &market,
					 .worked_s = cases[i].worked_s,
					 .requeue_s = 600,
					 .most_s = cases[i].most_s,
					 .now_utc_s = NOW},
				     NULL),
		    LT_OK);
		assert_int_equal(back.partition, cases[i].goes ? CHEAP : -1);
		if (cases[i].goes)
			assert_true(fabs(back.saved_micros - 24e6 + micros * (6 + 1. / 6)) <= 2);
	}
	/* 2 min in line and 10 of work again: a fifth of an hour's worth. Of 24 - 18.5 at 3 an hour
	 * 2.4 are to be left. */
	for (int dear = 0; dear <= 1; dear++) {
		set_series(PRICE_CHEAP, 3e6, 3e6, 3e6);
		request.deadline_utc_s = LT_UNSET_64;
		request.interruptions = 0;
		market.waiting_micros_per_hour = dear ? 16000000 : 15000000;
		assert_int_equal(lt_replan_return(&back,
				     &(struct lt_return_of){.request = &request,
					 .market = &market,
					 .worked_s = 4 * HOUR,
					 .requeue_s = 600,
					 .most_s = DAY,
					 .now_utc_s = NOW},
				     NULL),
		    LT_OK);
		assert_int_equal(back.partition, dear ? -1 : CHEAP);
	}
	request.home = PARTITIONS;
	assert_int_equal(lt_replan_return(&back,
			     &(struct lt_return_of){.request = &request,
				 .market = &market,
				 .worked_s = 4 * HOUR,
				 .most_s = DAY,
				 .now_utc_s = NOW},
			     NULL),
	    LT_EINPUT);
	assert_int_equal(back.partition, -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_interrupted),
	    cmocka_unit_test(test_deadline),
	    cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_standing),
	    cmocka_unit_test(test_waiting_counts),
	    cmocka_unit_test(test_latest),
	    cmocka_unit_test(test_room),
	    cmocka_unit_test(test_partition_is_gone),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_back),
	    cmocka_unit_test(test_return),
	    cmocka_unit_test(test_hour_by_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
