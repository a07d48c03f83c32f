/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which nodes of preemptible partitions are there: counted, kept, and what is learned of it.
 */
#include "ledger_fixture.h"
#include "nodes_there.h"
#include "units.h"

enum { NODES = 4, NOW = NOVEMBER + 20 * LT_DAY_S };

static struct lt_partition partitions[] = {
    {.name = "other"}, {.name = "spot", .node_count = NODES}};
static struct lt_node_range ranges[] = {{0, 0, 5}, {1, 1, 3}, {1, 5, 5}};
static bool are_there[6], are_away[6];
static const struct lt_tables tables = {.partitions = partitions,
    .partition_count = 2,
    .read_utc_s = 1,
    .nodes = {.ranges = ranges,
	.are_there = are_there,
	.are_away = are_away,
	.range_count = 3,
	.count = 6}};
static struct lt_batch_job job;
static struct lt_batch_jobs jobs = {.jobs = &job};
static struct lt_policy_partition managed[] = {
    {.name = "other"}, {.name = "spot", .preemptible = true}};
static const struct lt_policy policy = {.partitions = managed, .partition_count = 2};

static struct lt_there_now
at(int64_t now_utc_s)
{
	return (struct lt_there_now){&policy, &tables, &jobs, 1, now_utc_s};
}

static void
set_nodes(int there, int away)
{
	for (int i = 0; i < 6; i++) {
		are_there[i] = i < there || i == 5;
		are_away[i] = i < away;
	}
}

static void
test_count(void **state)
{
	static const struct {
		const char *why, *partition, *reason;
		int there, away; /* of nodes 0 to 4; node 5 is there */
		int64_t waits_s; /* 0: nobody */
		uint32_t count;
	} cases[] = {
	    {"all", "spot", "Resources", 5, 0, 0, 4},
	    {"two of its four are down", "spot", "Resources", 5, 3, 0, 2},
	    {"two are powered down: they would come", "spot", "Resources", 2, 0, 0, 4},
	    {"one waits for them: they boot", "spot", "Resources", 2, 0, 600, 4},
	    {"for too long", "spot", "Resources", 2, 0, 601, 2},
	    {"for another reason", "spot", "Priority", 2, 0, 601, 4},
	    {"elsewhere", "other", "Resources", 2, 0, 601, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_there_now now = at(NOW);

		set_nodes(cases[i].there, cases[i].away);
		jobs.count = cases[i].waits_s > 0;
		job = (struct lt_batch_job){.state = LT_JOB_PENDING,
		    .partition = cases[i].partition,
		    .reason_text = cases[i].reason,
		    .submit_utc_s = NOW - LT_DAY_S,
		    .eligible_utc_s = NOW - cases[i].waits_s};
		const uint32_t count = lt_there_count(&now, 1, 360);
		if (count != cases[i].count)
			fail_msg("%s: %u", cases[i].why, count);
	}
	jobs.count = 0;
}

/* Each day two of three hours with nodes, for ten days; then a restart of lowtided that learns. */
static void
test_learned(void **state)
{
	struct fixture *const f = *state;
	struct lt_there *there = NULL;
	const int64_t first = NOW - 10 * LT_DAY_S;

	for (int64_t t = first; t < NOW; t += LT_HOUR_S / 2) {
		const struct lt_there_now now = at(t);
		const int64_t hour = (t - first) / LT_HOUR_S;

		set_nodes(5, hour % 3 == 2 ? 6 : 0);
		must(f, lt_there_record(&there, f->ledger, &now, &f->err));
	}
	lt_there_free(there);
	there = NULL;
	const struct lt_availability *const seen =
	    lt_there_learned(&there, f->ledger, &partitions[1], NOW);
	assert_non_null(seen);
	assert_int_equal(seen->seen_s, 10 * LT_DAY_S);
	assert_int_equal(seen->there_ppm, 666667);
	/* 80 times in 160 h with nodes, but the last is now's. */
	assert_int_equal(seen->taken_ppm, 500000);
	/* All four or none. */
	assert_int_equal(seen->together_ppm, 1000000);
	/* Every third start waits for an hour; 4 h of work for one, two and two. */
	assert_in_range(seen->waits[0][0][0].mean_s, 1180, 1220);
	assert_int_equal(seen->waits[0][0][0].passed_s[3], 3600);
	assert_in_range(seen->waits[0][0][3].mean_s, 5950, 6050);
	/* Of another partition nothing is recorded. */
	assert_int_equal(lt_there_learned(&there, f->ledger, &partitions[0], NOW)->seen_s, 0);
	lt_there_free(there);
}

/* The newest step. */
static double
value_at(struct fixture *f, int64_t utc_s, uint32_t *steps)
{
	const struct lt_rates_asked asked = {"spot", LT_RATE_THERE, {NOW, utc_s + 1}};
	struct lt_rate_step *list = NULL;

	must(f, lt_ledger_rates(f->ledger, &asked, &list, steps, &f->err));
	assert_true(*steps > 0);
	const double value = list[*steps - 1].value;

	free(list);
	return value;
}

/* By a later policy it is not preemptible, after a restart neither, and then it is again: the time
 * between is no outage. */
static void
test_end(void **state)
{
	struct fixture *const f = *state;
	static struct lt_policy_partition plain[] = {{.name = "other"}, {.name = "spot"}};
	const struct lt_policy later = {.partitions = plain, .partition_count = 2};
	struct lt_there *there = NULL;
	struct lt_there_now now = at(NOW);
	uint32_t steps;

	set_nodes(5, 0);
	must(f, lt_there_record(&there, f->ledger, &now, &f->err));
	assert_int_equal(value_at(f, NOW, &steps), NODES);
	now.policy = &later;
	for (int hour = 1; hour <= 3; hour++) {
		now.now_utc_s = NOW + hour * LT_HOUR_S;
		now.policy_utc_s = 1 + hour;
		if (hour == 2) {
			lt_there_free(there);
			there = NULL;
		}
		must(f, lt_there_record(&there, f->ledger, &now, &f->err));
	}
	assert_true(value_at(f, NOW + 4 * LT_HOUR_S, &steps) == LT_RATE_ENDED);
	assert_int_equal(steps, 2);
	now = at(NOW + 5 * LT_HOUR_S);
	now.policy_utc_s = 9;
	must(f, lt_there_record(&there, f->ledger, &now, &f->err));
	assert_int_equal(value_at(f, NOW + 5 * LT_HOUR_S, &steps), NODES);
	assert_int_equal(steps, 3);
	/* One hour with all nodes, and the last. */
	const struct lt_availability *const seen =
	    lt_there_learned(&there, f->ledger, &partitions[1], NOW + 6 * LT_HOUR_S);
	assert_int_equal(seen->seen_s, 2 * LT_HOUR_S);
	assert_int_equal(seen->there_ppm, 1000000);
	lt_there_free(there);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_count),
	    cmocka_unit_test_setup_teardown(test_learned, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
