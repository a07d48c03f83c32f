/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs may be moved to a partition by the policy: accepts:, target:.
 */
#include "decide_fixture.h"

/* Which jobs a partition accepts by the policy; one that the user names is theirs, whatever the
 * policy says. */
static void
test_accepts(void **state)
{
	static const struct {
		const char *why;
		uint32_t flags, gpus, shards;
		bool named, moved;
	} rows[] = {
	    {"no GPUs, from nodes with GPUs", LT_PARTITION_NO_CPU_JOBS, 0, 0, false, false},
	    {"GPUs", LT_PARTITION_NO_CPU_JOBS, 1, 0, false, true},
	    {"shards of GPUs are GPUs", LT_PARTITION_NO_CPU_JOBS, 0, 1, false, true},
	    {"no GPUs, named", LT_PARTITION_NO_CPU_JOBS, 0, 0, true, true},
	    {"GPUs where none are wanted", LT_PARTITION_NO_GPU_JOBS, 1, 0, false, false},
	    {"no GPUs there", LT_PARTITION_NO_GPU_JOBS, 0, 0, false, true},
	    {"no target", LT_PARTITION_NO_TARGET, 1, 0, false, false},
	    {"no target, named", LT_PARTITION_NO_TARGET, 1, 0, true, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		setup(state);
		partitions[CHEAP].flags |= rows[i].flags;
		shapes[HOME].shards = shapes[CHEAP].shards = 8;
		request.gpus = rows[i].gpus;
		request.shards_per_node = rows[i].shards;
		if (rows[i].named) {
			request.pins |= LT_PIN_PARTITION;
			request.named_count = 2;
			request.named[0] = HOME;
			request.named[1] = CHEAP;
		}
		decide();
		if ((plan.chosen.partition == CHEAP) != rows[i].moved)
			fail_msg(
			    "%s: %s", rows[i].why, lt_reject_name(plan.candidates[CHEAP].reject));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_accepts, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
