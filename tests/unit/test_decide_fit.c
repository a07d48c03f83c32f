/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The share of a node that a job takes, and the cost of one partition and
 * start: what quotes and holds are made from.
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
	    {"spread and rounded up", 2, 3, 0, 0, 0, false, false, 1, 32},
	    {"exclusive", 1, 1, 0, 0, 0, true, false, 1, 1},
	    {"--mem=0", 1, 1, 0, 0, 0, false, true, 1, 1},
	    {"more than any node is the whole", 1, 65, 0, 0, 0, false, false, 1,
		1},
	    {"so is more memory than there is", 1, 1, 0, UINT64_MAX, 0, false,
		false, 1, 1},
	    {"and than can be counted", 1, 4, 0, 0, UINT64_MAX / 2, false,
		false, 1, 1},
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
		    share.denominator != cases[i].denominator ||
		    share.nodes != cases[i].nodes)
			fail_msg("%s: %lld / %lld", cases[i].why,
			    (long long)share.numerator,
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
	assert_true(lt_estimate_at(
	    &estimate, &reject, &request, &market, CHEAP, NOW + 8 * HOUR));
	assert_int_equal(estimate.cost_micros, 2000000);
	assert_int_equal(estimate.carbon_mg, 200000);
	assert_int_equal(estimate.end_utc_s, NOW + 10 * HOUR);
	request.cpus = 65;
	assert_false(
	    lt_estimate_at(&estimate, &reject, &request, &market, CHEAP, NOW));
	assert_int_equal(reject, LT_REJECT_CPUS);
}

/* Bad figures come out as no plan, never as a crash or a moved job. */

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_shares, setup),
	    cmocka_unit_test_setup(test_memory_ignored, setup),
	    cmocka_unit_test_setup(test_estimate_at, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
