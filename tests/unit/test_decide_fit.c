/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The share of a node that a job takes, and the cost of one partition and start: what quotes and
 * holds are made from.
 */
#include "decide_fixture.h"

static void
test_shares(void **state)
{
	static const struct {
		const char *why;
		uint32_t nodes, cpus, gpus;
		uint64_t per_node, per_cpu;
		bool exclusive, whole_memory;
		int64_t numerator, denominator;
	} cases[] = {
	    {"one CPU of 64", 1, 1, 0, 0, 0, false, false, 1, 64},
	    {"nothing said is one CPU", 1, 0, 0, 0, 0, false, false, 1, 64},
	    {"GPUs dominate", 1, 1, 2, 0, 0, false, false, 1, 4},
	    {"CPUs dominate", 1, 32, 2, 0, 0, false, false, 1, 2},
	    {"memory dominates", 1, 1, 1, 192000, 0, false, false, 3, 4},
	    {"memory per CPU", 1, 32, 0, 0, 6000, false, false, 3, 4},
	    {"of two nodes together", 2, 3, 0, 0, 0, false, false, 3, 128},
	    {"exclusive", 1, 1, 0, 0, 0, true, false, 1, 1},
	    {"--mem=0", 1, 1, 0, 0, 0, false, true, 1, 1},
	    {"more than any node is the whole", 1, 65, 0, 0, 0, false, false, 1, 1},
	    {"so is more memory than there is", 1, 1, 0, UINT64_MAX, 0, false, false, 1, 1},
	    {"and than can be counted", 1, 4, 0, 0, UINT64_MAX / 2, false, false, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_share share;

		request.min_nodes = request.max_nodes = cases[i].nodes;
		request.cpus = cases[i].cpus;
		request.gpus = cases[i].gpus;
		request.memory_mib_per_node = cases[i].per_node;
		request.memory_mib_per_cpu = cases[i].per_cpu;
		request.exclusive = cases[i].exclusive;
		request.whole_memory = cases[i].whole_memory;
		share = lt_share_likely(&request, &market, HOME);
		if (share.numerator != cases[i].numerator ||
		    share.denominator != cases[i].denominator || share.nodes != cases[i].nodes)
			fail_msg("%s: %lld / %lld", cases[i].why, (long long)share.numerator,
			    (long long)share.denominator);
	}
}

/* SelectTypeParameters=CR_Core: memory is nobody's part. */
static void
test_memory_ignored(void **state)
{
	struct lt_share share;

	(void)state;
	market.memory_ignored = true;
	request.cpus = 16;
	request.memory_mib_per_node = 192000;
	request.whole_memory = true;
	share = lt_share_likely(&request, &market, HOME);
	assert_int_equal(share.numerator, 1);
	assert_int_equal(share.denominator, 4);
}

static void
test_estimate_at(void **state)
{
	struct lt_estimate estimate;
	enum lt_reject reject;

	(void)state;
	assert_true(lt_estimate_at(&estimate, &reject, &request, &market, CHEAP, NOW + 8 * HOUR));
	assert_int_equal(estimate.cost_micros, 2000000);
	assert_int_equal(estimate.carbon_mg, 200000);
	assert_int_equal(estimate.end_utc_s, NOW + 10 * HOUR);
	request.cpus = 65;
	assert_false(lt_estimate_at(&estimate, &reject, &request, &market, CHEAP, NOW));
	assert_int_equal(reject, LT_REJECT_CPUS);
}

/* Checkpoints are paid for by size and number, and take their time to write. */
static void
test_checkpoints(void **state)
{
	static const struct {
		const char *why;
		struct lt_checkpoint checkpoint;
		double gib_per_s, write_s, kept_gib;
	} cases[] = {
	    {"nothing said", {true, 0, 0, 0, 0, 0}, 2, 60, 0},
	    {"by size", {true, 0, 0, 40, 3, 0}, 2, 20, 120},
	    {"a time said wins", {true, 300, 0, 40, 3, 0}, 2, 300, 120},
	    {"as fast as who knows", {true, 0, 0, 40, 1, 0}, 0, 60, 40},
	    {"no faster than a second", {true, 0, 0, 0.5, 1, 0}, 2, 1, 0.5},
	    {"none at all", {false, 0, 0, 40, 3, 0}, 2, 0, 0},
	};
	struct lt_estimate estimate;
	enum lt_reject reject;

	(void)state;
	market.max_restart_risk_ppm = 1000000;
	partitions[CHEAP].hazard_per_node_hour = 0.1;
	partitions[CHEAP].restart_s = 360;
	partitions[CHEAP].storage_micros_per_gib_month = 730000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		partitions[CHEAP].storage_gib_per_s = cases[i].gib_per_s;
		request.checkpoint = cases[i].checkpoint;
		print_message("%s\n", cases[i].why);
		assert_true(lt_estimate_at(&estimate, &reject, &request, &market, CHEAP, NOW));
		assert_true(
		    estimate.interval_s ==
		    (cases[i].write_s > 0 ? lt_checkpoint_interval_s(cases[i].write_s, 0.1) : 0));
		/* 1,000 micros for a GiB and an hour, of whole seconds. */
		assert_true(fabs(estimate.expected_storage_micros -
				 cases[i].kept_gib * 1000 * (double)(estimate.end_utc_s - NOW) /
				     HOUR) < 1e-6);
		assert_true(estimate.cost_micros == llround(estimate.expected_compute_micros +
							    estimate.expected_storage_micros));
	}
}

/* On nodes that are taken back the word counts where it is proven, or where the site believes it;
 * else the job is priced as one that starts over. */
static void
test_proof(void **state)
{
	static const struct {
		const char *why;
		bool preemptible, required, said;
		struct lt_proof proof;
		bool counts;
		double write_s, restart_s;
	} cases[] = {
	    {"said, and believed", true, false, true, {0}, true, 120, 360},
	    {"said, not proven", true, true, true, {0}, false, 120, 360},
	    {"said, and these nodes stay", false, true, true, {0}, true, 120, 360},
	    {"proven, nothing measured", true, true, true, {1, 0, 0}, true, 120, 360},
	    {"measured before said", true, true, true, {2, 300, 600}, true, 300, 600},
	    {"a restart has the node's boot in it", true, true, true, {2, 30, 20}, true, 30, 360},
	    {"proven, but off today", true, true, false, {2, 0, 0}, false, 120, 360},
	};
	struct lt_estimate estimate;
	enum lt_reject reject;

	(void)state;
	partitions[CHEAP].hazard_per_node_hour = 0.5;
	partitions[CHEAP].restart_s = 360;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_exposure exposure = {.work_s = 2 * HOUR,
		    .hazard_per_h = 0.5,
		    .restart_s = cases[i].restart_s,
		    .checkpoint = {.enabled = cases[i].counts, .write_s = cases[i].write_s}};
		const double active_s = lt_active_time(&exposure).active_s;

		partitions[CHEAP].flags = LT_PARTITION_UP | LT_PARTITION_MANAGED |
					  (cases[i].preemptible ? LT_PARTITION_PREEMPTIBLE : 0);
		market.proof_required = cases[i].required;
		market.max_restart_risk_ppm = 1000000;
		request.checkpoint =
		    (struct lt_checkpoint){.enabled = cases[i].said, .write_s = 120};
		request.proof = cases[i].proof;
		assert_true(lt_estimate_at(&estimate, &reject, &request, &market, CHEAP, NOW));
		if (fabs(estimate.expected_active_s - active_s) > 1e-6)
			fail_msg("%s: %.3f s, want %.3f s", cases[i].why,
			    estimate.expected_active_s, active_s);
		/* What the job is told of the interval stays the same. */
		assert_true((estimate.interval_s > 0) == cases[i].said);
		/* A chance of 63 % to start over is too much. */
		market.max_restart_risk_ppm = 100000;
		assert_int_equal(lt_estimate_at(&estimate, &reject, &request, &market, CHEAP, NOW),
		    cases[i].counts);
		if (!cases[i].counts)
			assert_int_equal(reject, LT_REJECT_RISK);
	}
}

/* On the site's own nodes that stay on, waiting moves what is above idle: half of these 2 kWh. What
 * is shown and charged is all of it. */
static void
test_idle_power_stays(void **state)
{
	static const struct {
		const char *why;
		uint32_t flags;
		int64_t waiting_mg_per_hour;
		bool waits;
	} cases[] = {
	    {"800 g for eight hours", LT_PARTITION_OWNED, 80000, true},
	    {"of nodes of others alike", LT_PARTITION_STAYS_ON, 80000, true},
	    {"400 g are too little", LT_PARTITION_OWNED | LT_PARTITION_STAYS_ON, 80000, false},
	    {"enough at less than half the price", LT_PARTITION_OWNED | LT_PARTITION_STAYS_ON,
		30000, true},
	};

	(void)state;
	request.objective = LT_OBJECTIVE_CARBON;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].why);
		market.waiting_mg_per_hour = cases[i].waiting_mg_per_hour;
		for (int p = 0; p < PARTITIONS; p++) {
			partitions[p].flags =
			    LT_PARTITION_UP | LT_PARTITION_MANAGED | cases[i].flags;
			partitions[p].price_series = LT_NO_SERIES;
		}
		assert_int_equal(lt_decide(&plan, &request, &market, NULL, 0, NOW, NULL), LT_OK);
		assert_int_equal(plan.home.carbon_mg, 1000000);
		assert_int_equal(plan.chosen.start_utc_s, cases[i].waits ? NOW + 8 * HOUR : NOW);
		assert_int_equal(plan.chosen.carbon_mg, cases[i].waits ? 200000 : 1000000);
	}
}

/* What divides the choice from home, one step after the other. */
static void
test_levers(void **state)
{
	(void)state;
	request.gpus = 8;
	request.precision = LT_PRECISION_FP32;
	set_series(PRICE_CHEAP, 2e6, 1e6, 2e6);
	assert_int_equal(lt_decide(&plan, &request, &market, NULL, 0, NOW, NULL), LT_OK);
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
	assert_true(plan.chosen.time_ratio < 0.9);
	assert_int_equal(plan.home.cost_micros, 8000000);
	assert_int_equal(plan.home_then.cost_micros, 8000000);
	assert_int_equal(plan.home_then.carbon_mg, plan.home.carbon_mg / 5);
	assert_int_equal(plan.there_slow.cost_micros, 2000000);
	assert_int_equal(plan.there_now.cost_micros, 2 * plan.chosen.cost_micros);
	assert_true(plan.chosen.cost_micros < 1800000);
	assert_int_equal(plan.there_slow.carbon_mg, plan.home_then.carbon_mg);
	assert_true(plan.home.task_nodes == 1 && plan.home.task_w == 4000);
}

/*
 * Both on one grid, so that every start is as clean on either; --max-cost hides all of home's,
 * which is looked at first for its free last hours. What home has not, the cheap one may have all
 * the same.
 */
static void
test_cap_of_a_twin(void **state)
{
	(void)state;
	request.objective = LT_OBJECTIVE_CARBON;
	request.limit_s = 16 * HOUR;
	request.max_cost_micros = 20000000;
	market.max_delay_s = 8 * HOUR;
	set_series(CARBON, 500, 100, 100);
	set_series(PRICE_HOME, 4e6, 6e6, 0);
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
}

/* A grid of 0 g/kWh is the best there is, and no error where all is 0. */
static void
test_zero_intensity(void **state)
{
	static const enum lt_objective objectives[] = {LT_OBJECTIVE_CARBON, LT_OBJECTIVE_BALANCED};

	for (size_t i = 0; i < sizeof(objectives) / sizeof(*objectives); i++) {
		setup(state);
		market.partition_count = 1;
		request.objective = objectives[i];
		set_series(CARBON, 40, 0, 20);
		decide();
		assert_int_equal(plan.chosen.start_utc_s, NOW + 8 * HOUR);
		assert_true(plan.chosen.has_carbon);
		assert_int_equal(plan.chosen.carbon_mg, 0);
		set_series(CARBON, 0, 0, 0);
		decide();
		assert_int_equal(plan.chosen.start_utc_s, NOW);
		assert_false(plan.moved);
	}
}

/* Dear for eight hours, then at a quarter: a plan's cost at home, now. */
static int64_t
cost_at_home(void)
{
	set_series(PRICE_HOME, 4e6, 1e6, 1e6);
	request.pins = LT_PIN_PARTITION | LT_PIN_BEGIN;
	decide();
	assert_int_equal(plan.chosen.partition, HOME);
	assert_int_equal(plan.chosen.start_utc_s, NOW);
	return plan.chosen.cost_micros;
}

static void
test_three_lengths(void **state)
{
	struct lt_expected *const learned = &request.learned;

	(void)state;
	request.limit_s = 20 * HOUR;
	*learned = (struct lt_expected){
	    .from = LT_HISTORY_NAME, .runs = 9, .expected_s = 2 * HOUR, .upper_s = 12 * HOUR};
	assert_int_equal(cost_at_home(), 8000000);
	/* 1, 2 and 12 hours: 4, 8 and 32 + 4. */
	learned->low_s = 1 * HOUR;
	learned->high_s = 12 * HOUR;
	assert_int_equal(cost_at_home(), 16000000);
	assert_int_equal(plan.chosen.free_utc_s, NOW + 2 * HOUR);
	/* No more than the limit: 10 hours are 34. */
	request.limit_s = 10 * HOUR;
	assert_int_equal(cost_at_home(), 46000000 / 3);
	/* A half without the other tells nothing. */
	learned->high_s = 0;
	assert_int_equal(cost_at_home(), 8000000);
	/* The longest may never end: the median alone. */
	request.limit_s = 4000 * HOUR;
	learned->expected_s = 2 * HOUR;
	learned->low_s = 2 * HOUR;
	learned->high_s = 3000 * HOUR;
	partitions[HOME].hazard_per_node_hour = 0.1;
	const int64_t three = cost_at_home();
	learned->low_s = 0;
	assert_int_equal(three, cost_at_home());
}

/* Home runs a job whose precision its GPU lacks, in its best one; a move must not lose what home
 * has. */
static void
test_precision(void **state)
{
	static const struct {
		const char *why, *home, *cheap; /* NULL = not known */
		enum lt_precision wanted;
		bool moved;
	} rows[] = {
	    {"both have it", "H100-SXM5", "H100-SXM5", LT_PRECISION_FP8, true},
	    {"only home has it", "H100-SXM5", "A100-SXM4-80GB", LT_PRECISION_FP8, false},
	    {"only the other has it", "A100-SXM4-80GB", "H100-SXM5", LT_PRECISION_FP8, true},
	    {"neither has it", "A100-SXM4-80GB", "A100-SXM4-80GB", LT_PRECISION_FP8, true},
	    {"home may have it", NULL, "A100-SXM4-80GB", LT_PRECISION_FP8, false},
	    {"the other may not have it", "H100-SXM5", NULL, LT_PRECISION_FP8, false},
	    {"bf16, which neither has", "V100-SXM2", "V100-SXM2", LT_PRECISION_BF16, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		setup(state);
		memset(gpus, 0, sizeof(gpus));
		market.gpus = gpus;
		market.gpu_count = PARTITIONS;
		request.gpus = 1;
		request.precision = rows[i].wanted;
		shapes[HOME].gpu_index = rows[i].home != NULL ? HOME : -1;
		shapes[CHEAP].gpu_index = rows[i].cheap != NULL ? CHEAP : -1;
		if (rows[i].home != NULL)
			gpus[HOME] = *lt_gpu_find(&(struct lt_gpu){.name = ""}, rows[i].home);
		if (rows[i].cheap != NULL)
			gpus[CHEAP] = *lt_gpu_find(&(struct lt_gpu){.name = ""}, rows[i].cheap);
		decide();
		if (!plan.fits || (plan.chosen.partition == CHEAP) != rows[i].moved)
			fail_msg("%s: goes to %d, says %s", rows[i].why, plan.chosen.partition,
			    lt_reject_name(plan.candidates[CHEAP].reject));
	}
}

/* What Slurm could not start there is not moved there; others are. */
static void
test_barred(void **state)
{
	struct lt_bar bars[] = {{41, CHEAP}, {42, CHEAP}};

	for (uint64_t asked = 0; asked < 50; asked++) {
		setup(state);
		market.bars = bars;
		market.bar_count = 2;
		request.asked = asked;
		assert_int_equal(lt_decide(&plan, &request, &market, NULL, 0, NOW, NULL), LT_OK);
		assert_int_equal(plan.candidates[CHEAP].reject == LT_REJECT_CANNOT_START,
		    asked == 41 || asked == 42);
		/* It may always stay where it goes by itself. */
		bars[0].partition = bars[1].partition = HOME;
		assert_int_equal(lt_decide(&plan, &request, &market, NULL, 0, NOW, NULL), LT_OK);
		assert_true(plan.fits);
		bars[0].partition = bars[1].partition = CHEAP;
	}
}

/* How much faster the A100 is for a job of the V100: by the vendors' TFLOPS (FP32 15.7 and 19.5,
 * FP16 125 and 312) and bandwidth (900 and 1555 GB/s). */
static void
test_precision_rules(void **state)
{
	static const struct {
		const char *why;
		enum lt_precision said; /* COUNT: nothing */
		struct lt_precision_rule rules[2];
		double ratio;
	} cases[] = {
	    {"nothing said: FP32 may be the bound", LT_PRECISION_COUNT, {{0}}, 15.7 / 19.5},
	    {"its account", LT_PRECISION_COUNT,
		{{LT_PRECISION_OF_ACCOUNT, "vision", LT_PRECISION_FP16}}, 900 / 1555.0},
	    {"another account", LT_PRECISION_COUNT,
		{{LT_PRECISION_OF_ACCOUNT, "nlp", LT_PRECISION_FP16}}, 15.7 / 19.5},
	    {"its QOS, after another's", LT_PRECISION_COUNT,
		{{LT_PRECISION_OF_QOS, "long", LT_PRECISION_OFF},
		    {LT_PRECISION_OF_QOS, "normal", LT_PRECISION_FP16}},
		900 / 1555.0},
	    {"the first counts", LT_PRECISION_COUNT,
		{{LT_PRECISION_OF_QOS, "normal", LT_PRECISION_OFF},
		    {LT_PRECISION_OF_ACCOUNT, "vision", LT_PRECISION_FP16}},
		15.7 / 19.5},
	    {"there: mixed at last", LT_PRECISION_COUNT,
		{{LT_PRECISION_OF_PARTITION, "cheap", LT_PRECISION_FP16}}, 900 / 1555.0},
	    {"at home: there it may be none", LT_PRECISION_COUNT,
		{{LT_PRECISION_OF_PARTITION, "home", LT_PRECISION_FP16}}, 125 / 19.5},
	    {"its user said off", LT_PRECISION_OFF,
		{{LT_PRECISION_OF_ACCOUNT, "vision", LT_PRECISION_FP16}}, 15.7 / 19.5},
	    {"its user said auto", LT_PRECISION_AUTO,
		{{LT_PRECISION_OF_PARTITION, "home", LT_PRECISION_FP16}}, 15.7 / 19.5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_precision_rule rules[2];
		struct lt_estimate at;
		enum lt_reject reject;

		setup(state);
		snprintf(partitions[HOME].name, LT_NAME_SIZE, "home");
		snprintf(partitions[CHEAP].name, LT_NAME_SIZE, "cheap");
		memcpy(rules, cases[i].rules, sizeof(rules));
		market.precision_rules = rules;
		market.precision_rule_count = rules[1].name[0] ? 2 : rules[0].name[0] != '\0';
		request.gpus = 1;
		request.precision_said = cases[i].said != LT_PRECISION_COUNT;
		if (request.precision_said)
			request.precision = cases[i].said;
		request.expected_run_s = 60;
		assert_true(lt_estimate_at(&at, &reject, &request, &market, CHEAP, NOW));
		if (fabs(at.time_ratio - cases[i].ratio) > 1e-12)
			fail_msg("%s: %f", cases[i].why, at.time_ratio);
	}
}

/* Of spot nodes that were looked at for long: all work waits an hour on average, and longer than
 * five with one in twenty. */
static void
test_nodes_that_are_not_there(void **state)
{
	struct lt_availability *const seen = &partitions[CHEAP].availability;
	struct lt_wait *const waits = &seen->waits[0][0][0];

	(void)state;
	seen->seen_s = 400 * DAY;
	seen->together_ppm = 1000000;
	for (int i = 0; i < LT_WAIT_NEEDS * LT_WAIT_COSTS * LT_WAIT_WORKS; i++) {
		waits[i].mean_s = HOUR;
		for (int k = 0; k < LT_WAIT_CHANCES; k++)
			waits[i].passed_s[k] = lt_wait_chances[k] > 0.05 ? 0 : 5 * HOUR;
	}
	/* Two hours of work, five of waiting, and the slack. */
	request.deadline_utc_s = NOW + 7 * HOUR + 1800;
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.chosen.start_utc_s, NOW);
	assert_int_equal(plan.chosen.end_utc_s, NOW + 3 * HOUR);
	assert_int_equal(plan.chosen.free_utc_s, NOW + 2 * HOUR);
	request.deadline_utc_s--;
	decide();
	assert_int_equal(plan.chosen.partition, HOME);
	assert_int_equal(plan.candidates[CHEAP].reject, LT_REJECT_DEADLINE);
	/* With less of a history nodes are taken to be there. */
	seen->seen_s = LT_WAIT_SEEN_S - 1;
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.chosen.end_utc_s, NOW + 2 * HOUR);
	/* Longer than was ever seen: never in time. */
	seen->seen_s = 400 * DAY;
	for (int i = 0; i < LT_WAIT_NEEDS * LT_WAIT_COSTS * LT_WAIT_WORKS; i++)
		waits[i].passed_s[3] = LT_WAIT_UNKNOWN;
	request.deadline_utc_s = NOW + 20 * DAY;
	decide();
	assert_int_equal(plan.chosen.partition, HOME);
}

/* Nodes of home fail, too: what is no riskier is no risk. */
static void
test_risk_of_home(void **state)
{
	(void)state;
	partitions[CHEAP].hazard_per_node_hour = 0.1;
	partitions[HOME].hazard_per_node_hour = 0.0999;
	decide();
	assert_int_equal(plan.candidates[CHEAP].reject, LT_REJECT_RISK);
	partitions[HOME].hazard_per_node_hour = 0.1;
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_precision, setup),
	    cmocka_unit_test_setup(test_cap_of_a_twin, setup),
	    cmocka_unit_test_setup(test_three_lengths, setup),
	    cmocka_unit_test_setup(test_zero_intensity, setup),
	    cmocka_unit_test_setup(test_shares, setup),
	    cmocka_unit_test_setup(test_memory_ignored, setup),
	    cmocka_unit_test_setup(test_estimate_at, setup),
	    cmocka_unit_test_setup(test_checkpoints, setup),
	    cmocka_unit_test_setup(test_proof, setup),
	    cmocka_unit_test_setup(test_idle_power_stays, setup),
	    cmocka_unit_test_setup(test_levers, setup),
	    cmocka_unit_test(test_precision_rules),
	    cmocka_unit_test(test_barred),
	    cmocka_unit_test_setup(test_nodes_that_are_not_there, setup),
	    cmocka_unit_test_setup(test_risk_of_home, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
