/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lt_decide() refuses, leaves alone and finds sensible, one rule at a time; that its figures
 * are the best ones is test_decide_brute.c's matter.
 */
#include "decide_fixture.h"

static void
test_no_home(void **state)
{
	static const int homes[] = {-1, PARTITIONS, INT32_MAX};
	struct lt_error err;

	(void)state;
	for (int i = 0; i < 3; i++) {
		request.home = homes[i];
		err = (struct lt_error){0};
		assert_int_equal(
		    lt_decide(&plan, &request, &market, NULL, 0, NOW, &err), LT_EINPUT);
		assert_string_not_equal(err.text, "");
		assert_false(plan.moved);
		assert_int_equal(plan.chosen.partition, -1);
	}
}

/* A job that did not ask is priced where it goes, and that is all. */
static void
test_off(void **state)
{
	(void)state;
	request.objective = LT_OBJECTIVE_OFF;
	decide();
	assert_false(plan.moved);
	assert_true(plan.fits);
	assert_int_equal(plan.home.cost_micros, 8000000);
	/* 1 kW for 2 h at 500 g/kWh */
	assert_int_equal(plan.home.carbon_mg, 1000000);
	assert_memory_equal(&plan.chosen, &plan.home, sizeof(plan.home));
}

static const char *const deny_vision = "nlp,VISION";
static const char *const allow_others = "nlp,visions";

/* Why the cheap partition may not be taken, one change at a time. */
static void
spoil(int what)
{
	struct lt_partition *const cheap = &partitions[CHEAP];

	switch (what) {
	case LT_REJECT_MAX_TIME:
		cheap->max_time_s = 2 * HOUR - 1;
		break;
	case LT_REJECT_NODES:
		cheap->max_nodes = 0;
		break;
	case LT_REJECT_GPU_COUNT:
		request.gpus = 8;
		shapes[CHEAP].gpus = 7;
		break;
	case LT_REJECT_GPU_TYPE:
		request.gpus = 1;
		snprintf(request.gpu_type, LT_GPU_NAME_SIZE, "v100");
		shapes[HOME].kinds[0] = (struct lt_gpu_kind){"v100", 8, 0, 0};
		break;
	case LT_REJECT_GPU_MEMORY:
		request.gpus = 1;
		request.gpu_memory_mib = 16384;
		shapes[CHEAP].gpu_index = -1;
		break;
	case LT_REJECT_PRECISION:
		request.gpus = 1;
		request.precision = LT_PRECISION_FP16;
		shapes[CHEAP].gpu_index = -1;
		break;
	case LT_REJECT_CPUS:
		shapes[CHEAP].cpus = 63;
		break;
	case LT_REJECT_MEMORY:
		request.memory_mib_per_node = 256000;
		shapes[CHEAP].memory_mib = 255999;
		break;
	case LT_REJECT_ATTRIBUTES:
		strcpy(request.features, "ib");
		break;
	case LT_REJECT_DEFAULTS:
		request.gpus = 1;
		cheap->default_cpus_per_gpu = 8;
		break;
	case LT_REJECT_STATE:
		cheap->flags &= ~(uint32_t)LT_PARTITION_UP;
		break;
	case LT_REJECT_ACCOUNT:
		cheap->deny_accounts = deny_vision;
		break;
	case LT_REJECT_QOS:
		cheap->allow_qos = allow_others;
		break;
	case LT_REJECT_GROUPS:
		cheap->flags |= LT_PARTITION_GROUPS;
		break;
	case LT_REJECT_CANCELS:
		cheap->flags |= LT_PARTITION_CANCELS;
		break;
	case LT_REJECT_UNMANAGED:
		cheap->flags &= ~(uint32_t)LT_PARTITION_MANAGED;
		break;
	case LT_REJECT_NO_PRICE:
		cheap->price_series = LT_NO_SERIES;
		break;
	case LT_REJECT_NO_CARBON:
		cheap->carbon_series = LT_NO_SERIES;
		break;
	case LT_REJECT_STALE:
		series[PRICE_CHEAP].issued_utc_s = NOW - 3 * HOUR - 1;
		break;
	case LT_REJECT_RISK:
		cheap->hazard_per_node_hour = 0.0527; /* 10.01 % in 2 h */
		break;
	case LT_REJECT_CAPACITY:
		shapes[CHEAP].node_count = 8;
		cheap->occupancy_series = PRICE_CHEAP; /* a million nodes busy */
		break;
	case LT_REJECT_BUDGET:
		request.has_available = true;
		request.available_micros = 1999999;
		request.available_mg = INT64_MAX;
		break;
	case LT_REJECT_PINNED:
		request.pins = LT_PIN_PARTITION;
		break;
	default:
		fail_msg("no way to bring about %d", what);
	}
}

static void
test_rejects(void **state)
{
	static const enum lt_reject rejects[] = {LT_REJECT_MAX_TIME, LT_REJECT_NODES,
	    LT_REJECT_GPU_COUNT, LT_REJECT_GPU_TYPE, LT_REJECT_GPU_MEMORY, LT_REJECT_PRECISION,
	    LT_REJECT_CPUS, LT_REJECT_MEMORY, LT_REJECT_ATTRIBUTES, LT_REJECT_DEFAULTS,
	    LT_REJECT_STATE, LT_REJECT_ACCOUNT, LT_REJECT_QOS, LT_REJECT_GROUPS, LT_REJECT_CANCELS,
	    LT_REJECT_UNMANAGED, LT_REJECT_NO_PRICE, LT_REJECT_NO_CARBON, LT_REJECT_STALE,
	    LT_REJECT_RISK, LT_REJECT_CAPACITY, LT_REJECT_BUDGET, LT_REJECT_PINNED};

	decide();
	assert_true(plan.moved);
	assert_int_equal(plan.chosen.partition, CHEAP);
	for (size_t i = 0; i < sizeof(rejects) / sizeof(rejects[0]); i++) {
		setup(state);
		spoil((int)rejects[i]);
		decide();
		if (plan.chosen.partition != HOME || plan.candidates[CHEAP].reject != rejects[i])
			fail_msg("%s: goes to %d, says %s", lt_reject_name(rejects[i]),
			    plan.chosen.partition, lt_reject_name(plan.candidates[CHEAP].reject));
	}
}

/* Moved only where the nodes surely have what the job names. */
static void
test_attributes(void **state)
{
	static const struct {
		const char *why, *wanted, *had;
		uint64_t tmp_wanted, tmp_had;
		uint32_t sockets, cores, threads, excluded;
		bool moved;
	} rows[] = {
	    {"nothing named", "", "", 0, 0, 0, 0, 0, 0, true},
	    {"one feature", "ib", "v5,ib", 0, 0, 0, 0, 0, 0, true},
	    {"both of two", "ib&fast", "fast,ib", 0, 0, 0, 0, 0, 0, true},
	    {"one of two", "ib&fast", "ib", 0, 0, 0, 0, 0, 0, false},
	    {"part of a name", "ib", "ibx,xib", 0, 0, 0, 0, 0, 0, false},
	    {"either: Slurm's to judge", "ib|fast", "ib,fast", 0, 0, 0, 0, 0, 0, false},
	    {"counts too", "[ib*2]", "ib", 0, 0, 0, 0, 0, 0, false},
	    {"enough disk", "", "", 500, 500, 0, 0, 0, 0, true},
	    {"too little disk", "", "", 501, 500, 0, 0, 0, 0, false},
	    {"two sockets of 32", "", "", 0, 0, 2, 32, 1, 0, true},
	    {"three sockets", "", "", 0, 0, 3, 0, 0, 0, false},
	    {"33 cores a socket", "", "", 0, 0, 0, 33, 0, 0, false},
	    {"two threads", "", "", 0, 0, 0, 0, 2, 0, false},
	    {"a node is left", "", "", 0, 0, 0, 0, 0, 7, true},
	    {"all may be excluded", "", "", 0, 0, 0, 0, 0, 8, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		setup(state);
		shapes[CHEAP].cpus = 64;
		shapes[CHEAP].sockets = 2;
		shapes[CHEAP].node_count = 8;
		strcpy(request.features, rows[i].wanted);
		strcpy(shapes[CHEAP].features, rows[i].had);
		request.tmp_disk_mib = rows[i].tmp_wanted;
		shapes[CHEAP].tmp_disk_mib = rows[i].tmp_had;
		request.sockets_per_node = rows[i].sockets;
		request.cores_per_socket = rows[i].cores;
		request.threads_per_core = rows[i].threads;
		request.excluded_nodes = rows[i].excluded;
		decide();
		if ((plan.chosen.partition == CHEAP) != rows[i].moved)
			fail_msg("%s", rows[i].why);
	}
}

static void
test_limits_are_kept(void **state)
{
	(void)state;
	/* Each at its limit, where it is still allowed. */
	partitions[CHEAP].max_time_s = 2 * HOUR;
	shapes[CHEAP].memory_mib = request.memory_mib_per_node = 256000;
	partitions[CHEAP].hazard_per_node_hour = 0.0526;
	series[PRICE_CHEAP].issued_utc_s = NOW - 3 * HOUR;
	partitions[CHEAP].allow_accounts = "nlp,Vision";
	request.has_available = true;
	request.available_micros = 2000000;
	request.available_mg = INT64_MAX;
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
}

/* Old figures of home make every comparison old. */
static void
test_stale_home(void **state)
{
	(void)state;
	series[PRICE_HOME].issued_utc_s = NOW - 3 * HOUR - 1;
	decide();
	assert_false(plan.moved);
	assert_int_equal(plan.candidates[CHEAP].reject, LT_REJECT_STALE);
	assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_STALE);
}

static void
test_pins(void **state)
{
	static const struct {
		const char *why;
		uint32_t pins;
		int partition;
		bool waits;
	} cases[] = {
	    {"free: waiting would save next to nothing more", 0, CHEAP, false},
	    {"interactive moves in place", LT_PIN_INTERACTIVE, CHEAP, false},
	    {"and does not wait", LT_PIN_INTERACTIVE | LT_PIN_PARTITION, HOME, false},
	    {"--begin", LT_PIN_BEGIN, CHEAP, false},
	    {"--partition waits", LT_PIN_PARTITION, HOME, true},
	    {"--nodelist waits", LT_PIN_NODELIST, HOME, true},
	    {"het job", LT_PIN_HET, HOME, false},
	    {"--reservation", LT_PIN_RESERVATION, HOME, false},
	    {"--dependency", LT_PIN_DEPENDENCY, HOME, false},
	    {"--licenses", LT_PIN_LICENSES, HOME, false},
	    {"--bb", LT_PIN_BURST_BUFFER, HOME, false},
	    {"scrontab", LT_PIN_CRON, HOME, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		request.objective = LT_OBJECTIVE_BALANCED;
		request.pins = cases[i].pins;
		decide();
		if (plan.chosen.partition != cases[i].partition ||
		    (plan.chosen.start_utc_s > NOW) != cases[i].waits)
			fail_msg("%s: %d at +%lld", cases[i].why, plan.chosen.partition,
			    (long long)plan.chosen.start_utc_s - NOW);
	}
}

static void
test_deadline(void **state)
{
	static const struct {
		const char *why;
		int64_t deadline_s; /* from now */
		int64_t start_s;
	} cases[] = {
	    {"none: the clean hours", -1, 8 * HOUR},
	    {"far enough", 8 * HOUR + 2 * HOUR + 1800, 8 * HOUR},
	    {"a second less: as late as may be", 10 * HOUR + 1799, 8 * HOUR - 1},
	    {"no time to wait", 2 * HOUR + 1800, 0},
	    {"not even that", 2 * HOUR, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		request.objective = LT_OBJECTIVE_BALANCED;
		request.pins = LT_PIN_PARTITION;
		if (cases[i].deadline_s >= 0)
			request.deadline_utc_s = NOW + cases[i].deadline_s;
		decide();
		if (plan.chosen.start_utc_s != NOW + cases[i].start_s)
			fail_msg(
			    "%s: +%lld", cases[i].why, (long long)plan.chosen.start_utc_s - NOW);
	}
	assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_DEADLINE);
}

/* A day of waiting must be worth what figures show, or what the site says. */
static void
test_small_savings(void **state)
{
	static const struct {
		const char *why;
		enum lt_objective objective;
		bool money;
		double now, later; /* g/kWh, or micros, until 8 h and then */
		bool waits;
		int64_t micros_per_hour, mg_per_hour;
		uint32_t min_saving_ppm;
	} cases[] = {
	    /* 2 kWh; 8 of money. */
	    {"a gram", LT_OBJECTIVE_CARBON, false, 499, 498.49, true, 0, 0, 0},
	    {"less", LT_OBJECTIVE_CARBON, false, 499, 498.51, false, 0, 0, 0},
	    {"a tenth of 1.0 kg", LT_OBJECTIVE_CARBON, false, 500, 449.9, true, 0, 0, 0},
	    {"less than that", LT_OBJECTIVE_CARBON, false, 500, 450.1, false, 0, 0, 0},
	    {"a gram, money equal", LT_OBJECTIVE_BALANCED, true, 499, 498.49, true, 0, 0, 0},
	    {"less, money equal", LT_OBJECTIVE_BALANCED, true, 499, 498.51, false, 0, 0, 0},
	    {"a cent", LT_OBJECTIVE_COST, true, 4e6, 4e6 - 5001, true, 0, 0, 0},
	    {"less than a cent", LT_OBJECTIVE_COST, true, 4e6, 4e6 - 4999, false, 0, 0, 0},
	    /* 8 hours at 10 g are 80 g of waiting. */
	    {"81 g for 8 hours", LT_OBJECTIVE_CARBON, false, 499, 458, true, 0, 10000, 0},
	    {"80 g for 8 hours", LT_OBJECTIVE_CARBON, false, 499, 459.01, false, 0, 10000, 0},
	    {"the same, money equal", LT_OBJECTIVE_BALANCED, true, 499, 459.01, false, 5000, 10000,
		0},
	    {"money waits by money", LT_OBJECTIVE_COST, true, 4e6, 4e6 - 45001 / 2.0, false, 5000,
		0, 0},
	    {"5 cents for 8 hours at half a cent", LT_OBJECTIVE_COST, true, 4e6, 4e6 - 50001 / 2.0,
		true, 5000, 0, 0},
	    {"5 %", LT_OBJECTIVE_COST, true, 4e6, 3.8e6 - 1, true, 0, 0, 50000},
	    {"less than 5 %", LT_OBJECTIVE_COST, true, 4e6, 3.8e6 + 1, false, 0, 0, 50000},
	    {"less than 5 % of carbon", LT_OBJECTIVE_BALANCED, true, 499, 475, false, 0, 0, 50000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool cost = cases[i].objective == LT_OBJECTIVE_COST;

		setup(state);
		market.partition_count = 1;
		market.waiting_micros_per_hour = cases[i].micros_per_hour;
		market.waiting_mg_per_hour = cases[i].mg_per_hour;
		market.min_saving_ppm = cases[i].min_saving_ppm;
		request.objective = cases[i].objective;
		if (cost) {
			set_series(CARBON, 500, 500, 500);
			set_series(PRICE_HOME, cases[i].now, cases[i].later, 5e6);
		} else {
			set_series(CARBON, cases[i].now, cases[i].later, 600);
		}
		if (!cases[i].money)
			partitions[HOME].price_series = LT_NO_SERIES;
		decide();
		if (plan.moved != cases[i].waits)
			fail_msg(
			    "%s: +%lld", cases[i].why, (long long)plan.chosen.start_utc_s - NOW);
	}
}

/* The cheap partition is as cheap at 8 h, and the grid is cleaner then. */
static void
test_cleaner_among_equals(void **state)
{
	static const enum lt_objective objectives[] = {LT_OBJECTIVE_COST, LT_OBJECTIVE_BALANCED};

	for (size_t i = 0; i < sizeof(objectives) / sizeof(*objectives); i++) {
		setup(state);
		market.carbon_price_micros_per_tonne = 0;
		request.objective = objectives[i];
		decide();
		assert_int_equal(plan.chosen.partition, CHEAP);
		assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
		/* A cent dearer then: no. */
		set_series(PRICE_CHEAP, 1e6, 1e6 + 5001, 1e6);
		decide();
		assert_int_equal(plan.chosen.partition, CHEAP);
		assert_int_equal(plan.chosen.start_utc_s, NOW);
		/* Where its clean hours are worth less than the wait: no. */
		setup(state);
		market.carbon_price_micros_per_tonne = 0;
		request.objective = objectives[i];
		market.waiting_mg_per_hour = 101000; /* 800 g in 8 h */
		decide();
		assert_int_equal(plan.chosen.partition, CHEAP);
		assert_int_equal(plan.chosen.start_utc_s, NOW);
	}
}

/* The last forecast hour is no promise for the hours after it. */
static void
test_forecasts_end(void **state)
{
	setup(state);
	market.partition_count = 1;
	request.objective = LT_OBJECTIVE_CARBON;
	request.limit_s = 2 * HOUR;
	request.deadline_utc_s = NOW + 10 * DAY;
	set_series(CARBON, 500, 400, 100);
	decide();
	assert_true(plan.chosen.start_utc_s >= NOW + 16 * HOUR);
	assert_true(plan.chosen.end_utc_s <= NOW + 24 * HOUR);
	/* Longer than what is known: at once, whatever comes after. */
	request.limit_s = 25 * HOUR;
	decide();
	assert_false(plan.moved);
}

/* 96 % of the saving at 8 h, all of it at 16 h: not worth another 8 h. */
static void
test_keeps_most_of_the_saving(void **state)
{
	(void)state;
	market.partition_count = 1;
	set_series(PRICE_HOME, 4e6, 2.08e6, 2e6);
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
	set_series(PRICE_HOME, 4e6, 2.12e6, 2e6);
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW + 16 * HOUR);
}

/* From 8 h on cleaner and dearer: of its 2 h at 4 an hour as many seconds are there at 4.84 as 5 %
 * more pay for, 0.4 of 0.84 an hour. */
static void
test_just_within_the_extra_cost(void **state)
{
	(void)state;
	market.partition_count = 1;
	request.objective = LT_OBJECTIVE_CARBON;
	set_series(PRICE_HOME, 4e6, 4.84e6, 4e6);
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW + 6 * HOUR + 1714);
	assert_in_range(plan.chosen.cost_micros, 8399600, 8400000);
}

/* As its runs have shown, where they were on both; else by the table. */
static void
test_gpus_as_runs_have_shown(void **state)
{
	uint32_t median_s[] = {1000, 1250};
	double by_table;

	(void)state;
	request.gpus = 8;
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
	by_table = plan.chosen.time_ratio;
	assert_true(by_table < 1);
	request.gpu_median_s = median_s;
	decide();
	assert_true(plan.chosen.time_ratio == 1.25);
	median_s[HOME] = 0;
	decide();
	assert_true(plan.chosen.time_ratio == by_table);
}

/* Home's GPU is too small: it goes where it fits, now, unless waiting there saves something. */
static void
test_home_cant_run_it(void **state)
{
	request.gpus = 1;
	request.gpu_memory_mib = 40000;
	request.cpus = 8;
	set_series(CARBON, 500, 500, 500);
	decide();
	assert_false(plan.fits);
	assert_true(plan.moved);
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.chosen.start_utc_s, NOW);
	assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_GPU_MEMORY);
	/* A cent on the day: not for that. */
	set_series(PRICE_CHEAP, 1e6, 1e6 - 10000, 1e6);
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW);
	/* The other has no intensity: the job can still run there. */
	setup(state);
	request.gpus = 1;
	request.gpu_memory_mib = 40000;
	partitions[CHEAP].carbon_series = LT_NO_SERIES;
	request.objective = LT_OBJECTIVE_BALANCED;
	decide();
	assert_true(plan.moved);
	/* Nothing has that much: it stays, and Slurm will say what it does. */
	request.gpu_memory_mib = 400000;
	decide();
	assert_false(plan.fits);
	assert_false(plan.moved);
	assert_int_equal(plan.chosen.partition, HOME);
}

/* What others were promised counts. */
static void
test_no_herds(void **state)
{
	struct lt_planned planned[8];

	(void)state;
	market.partition_count = 1;
	request.objective = LT_OBJECTIVE_CARBON;
	request.pins = 0;
	request.limit_s = 8 * HOUR;
	for (int i = 0; i < 8; i++)
		planned[i] = (struct lt_planned){HOME, 1, NOW + 8 * HOUR, NOW + 16 * HOUR};
	assert_int_equal(lt_decide(&plan, &request, &market, planned, 7, NOW, NULL), LT_OK);
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
	assert_int_equal(lt_decide(&plan, &request, &market, planned, 8, NOW, NULL), LT_OK);
	assert_int_not_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
}

static void
test_extremes(void **state)
{
	request.limit_s = INT64_MAX / 2;
	request.expected_run_s = INT64_MAX / 4;
	decide();
	assert_false(plan.moved);
	setup(state);
	request.limit_s = LT_UNSET_64; /* and no default anywhere */
	decide();
	assert_false(plan.moved);
	setup(state);
	request.array_tasks = LT_ARRAY_TASKS_MAX;
	request.max_nodes = UINT32_MAX;
	decide();
	assert_false(plan.moved);
	setup(state);
	request.deadline_utc_s = 0;
	decide();
	assert_false(plan.moved);
	setup(state);
	request.deadline_utc_s = INT64_MAX;
	request.limit_s = INT64_MAX;
	request.expected_run_s = 1;
	request.array_tasks = 1000;
	set_series(CARBON, 500, 500, 500);
	decide();
	assert_int_equal(plan.chosen.start_utc_s, NOW);
	setup(state);
	request.earliest_utc_s = INT64_MAX / 2;
	decide();
	assert_true(plan.home.start_utc_s == INT64_MAX / 2);
	setup(state);
	partitions[CHEAP].hazard_per_node_hour = 1e30;
	request.checkpoint.enabled = true;
	decide();
	assert_false(plan.chosen.partition == CHEAP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_no_home, setup),
	    cmocka_unit_test_setup(test_off, setup),
	    cmocka_unit_test_setup(test_rejects, setup),
	    cmocka_unit_test_setup(test_attributes, setup),
	    cmocka_unit_test_setup(test_limits_are_kept, setup),
	    cmocka_unit_test_setup(test_stale_home, setup),
	    cmocka_unit_test_setup(test_pins, setup),
	    cmocka_unit_test_setup(test_deadline, setup),
	    cmocka_unit_test_setup(test_small_savings, setup),
	    cmocka_unit_test_setup(test_cleaner_among_equals, setup),
	    cmocka_unit_test_setup(test_forecasts_end, setup),
	    cmocka_unit_test_setup(test_keeps_most_of_the_saving, setup),
	    cmocka_unit_test_setup(test_just_within_the_extra_cost, setup),
	    cmocka_unit_test_setup(test_gpus_as_runs_have_shown, setup),
	    cmocka_unit_test_setup(test_home_cant_run_it, setup),
	    cmocka_unit_test_setup(test_no_herds, setup),
	    cmocka_unit_test_setup(test_extremes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
