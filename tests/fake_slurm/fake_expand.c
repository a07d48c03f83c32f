/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --dependency=expand: Slurm gives the job the time limit, and the whole nodes,
 * of the job that it expands, so that much is held.
 */
#include "fake.h"

#include "quote.h"
#include "ring.h"
#include "terms.h"
#include "units.h"

/* A node costs 3.6 an hour. */
enum { NODE_MICROS_PER_S = 1000, CPUS = 64, MINUTE = 60 };

/* The other job, by the terms: 10 minutes of a CPU. */
static struct lt_terms
other_job(uint32_t flags, uint32_t tasks)
{
	return (struct lt_terms){.job_id = 7,
	    .uid = getuid(),
	    .quote_id = 5,
	    .account_hash = lt_name_hash("free"),
	    .limit_s = 10 * MINUTE,
	    .tasks = tasks,
	    .flags = flags,
	    .seen_utc_s = 1000,
	    .partition_count = 1,
	    .partition_hash = {lt_name_hash("ondemand")},
	    .asked = {.min_nodes = 1, .max_nodes = 1, .cpus = 1}};
}

static int64_t
held_for(const char *dependency)
{
	struct lt_ring_record record = {0};
	struct submission s;

	fake_send(
	    &s, &(struct wish){.account = "team0000", .minutes = 1, .dependency = dependency});
	assert_int_equal(s.code, SLURM_SUCCESS);
	fake_records(&record);
	return record.per_task.money_micros;
}

static void
test_takes_what_the_other_has(void **state)
{
	static const struct {
		const char *why, *dependency;
		uint32_t flags, tasks;
		bool whole, longest; /* all of a node, for the MaxTime */
	} cases[] = {
	    {"a CPU for 10 minutes", "expand:7", 0, 1, false, false},
	    {"beside another", "afterok:6,expand:7", 0, 1, false, false},
	    {"whole nodes", "expand:7", LT_TERMS_EXCLUSIVE, 1, true, false},
	    {"no terms", "expand:8", 0, 1, true, true},
	    {"an array", "expand:7", 0, 3, true, true},
	    {"one that ran", "expand:7", LT_TERMS_ARRAY_RAN, 1, true, true},
	    {"a task of it", "expand:7_2", 0, 1, true, true},
	    {"two jobs", "expand:8,expand:7", 0, 1, true, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms other = other_job(cases[i].flags, cases[i].tasks);
		const int64_t node = NODE_MICROS_PER_S * 10 * MINUTE;

		print_message("# %s\n", cases[i].why);
		fake_snapshots("");
		fake_terms(&other, 1);
		fake_restart();
		const int64_t held = held_for(cases[i].dependency);

		print_message("# held %lld\n", (long long)held);
		if (cases[i].longest)
			assert_true(held > 10 * node);
		else if (cases[i].whole)
			assert_true(held >= node && held <= node + node / 10);
		else
			assert_true(held >= node / CPUS && held < node / 10);
	}
}

int
fake_expand_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_takes_what_the_other_has),
	};

	return cmocka_run_group_tests_name("expand", tests, NULL, NULL);
}
