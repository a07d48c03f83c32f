/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What closes a cheaper partition to a job that Slurm would take at home:
 * flags, states of nodes, reservations, limits of QOS and associations.
 */
#include "decide_fixture.h"

/* The job: one node, 64 CPUs, two hours, from home's nodes of 64 CPUs and 8 GPUs. One thing of the
 * cheap partition or the job differs. */
struct row {
	const char *why;
	uint32_t flags, home_flags, uid, closed_count, cpus_there, gpus_asked;
	uint64_t unlike_hash, billing_hash;
	int64_t reserved_h;
	uint32_t job_limits, pins;
	struct lt_limits limits;
	bool nodes_asked_open; /* as many as it needs; MaxNodes=1 there */
	uint32_t min_nodes_there;
	bool exclusive_asked;  /* and one CPU */
	uint32_t tasks_spread; /* of a CPU each */
	uint32_t max_cpus_per_node, gpu_cores;
	uint64_t memory_asked, max_memory_mib;
	bool whole_memory_asked, memory_is_ignored, max_memory_is_per_cpu;
	uint64_t memory_by_node, memory_by_gpu, memory_by_cpu;
	const char *account, *deny;
	const char *qos, *allow_qos, *qos_accounts;
	enum lt_reject reject;
};

#define MOST(what, count)                                                                          \
	{                                                                                          \
		.most = { [LT_LIMITED_##what] = (count) }                                          \
	}
#define LEAST(what, count)                                                                         \
	{                                                                                          \
		.least = { [LT_LIMITED_##what] = (count) }                                         \
	}
#define PER_NODE(what, count)                                                                      \
	{                                                                                          \
		.most_per_node = { [LT_LIMITED_##what] = (count) }                                 \
	}

static const struct row rows[] = {
    {.why = "nothing"},
    {.why = "hidden, or not understood", .flags = LT_PARTITION_CLOSED, .reject = LT_REJECT_CLOSED},
    {.why = "may be cancelled there, and not at home",
	.flags = LT_PARTITION_CANCELS,
	.reject = LT_REJECT_CANCELS},
    {.why = "may be cancelled at home, too",
	.flags = LT_PARTITION_CANCELS,
	.home_flags = LT_PARTITION_CANCELS},
    {.why = "root's job where root may not",
	.flags = LT_PARTITION_NO_ROOT,
	.reject = LT_REJECT_CLOSED},
    {.why = "another's there", .flags = LT_PARTITION_NO_ROOT, .uid = 1000},
    {.why = "submitted from where it may not be", .unlike_hash = 1, .reject = LT_REJECT_CLOSED},
    {.why = "an option that nothing checks", .pins = LT_PIN_OTHER, .reject = LT_REJECT_PINNED},
    {.why = "seven nodes of eight are drained", .closed_count = 7},
    {.why = "all are", .closed_count = 8, .reject = LT_REJECT_NODES},
    {.why = "reserved when it ends", .reserved_h = 2},
    {.why = "reserved before", .reserved_h = 1, .reject = LT_REJECT_CLOSED},
    {.why = "as many CPUs as its QOS lets", .limits = MOST(CPU, 64)},
    {.why = "more", .limits = MOST(CPU, 63), .reject = LT_REJECT_LIMITS},
    {.why = "more of a node", .limits = PER_NODE(CPU, 63), .reject = LT_REJECT_LIMITS},
    {.why = "more nodes", .limits = MOST(NODE, 1)},
    {.why = "GPUs of a job without", .limits = MOST(GPU, 1)},
    {.why = "a QOS for GPU jobs", .limits = LEAST(GPU, 1), .reject = LT_REJECT_LIMITS},
    {.why = "one with a GPU", .limits = LEAST(GPU, 1), .gpus_asked = 1},
    {.why = "a QOS for large jobs", .limits = LEAST(NODE, 2), .reject = LT_REJECT_LIMITS},
    {.why = "MaxWall", .limits = {.most_s = 2 * HOUR}},
    {.why = "a shorter one", .limits = {.most_s = 2 * HOUR - 60}, .reject = LT_REJECT_LIMITS},
    {.why = "a limit that is not understood",
	.limits = {.others = true},
	.reject = LT_REJECT_LIMITS},
    {.why = "amounts are limited: as much as at home", .job_limits = LT_LIMITS_AMOUNTS},
    {.why = "whole nodes there", .flags = LT_PARTITION_EXCLUSIVE, .reject = LT_REJECT_DEFAULTS},
    {.why = "other limits: the same billing", .job_limits = LT_LIMITS_OTHERS},
    {.why = "another",
	.job_limits = LT_LIMITS_OTHERS,
	.billing_hash = 7,
	.reject = LT_REJECT_LIMITS},
    {.why = "another, and no such limit", .billing_hash = 7},
    {.why = "another GPU where types may be limited",
	.job_limits = LT_LIMITS_OTHERS,
	.gpus_asked = 1,
	.reject = LT_REJECT_LIMITS},
    {.why = "two nodes where one is the most",
	.nodes_asked_open = true,
	.gpus_asked = 16,
	.reject = LT_REJECT_NODES},
    {.why = "a task a node where one node is the most",
	.tasks_spread = 2,
	.nodes_asked_open = true,
	.reject = LT_REJECT_NODES},
    {.why = "one task", .tasks_spread = 1, .nodes_asked_open = true},
    {.why = "MinNodes above the nodes that it asks for",
	.min_nodes_there = 2,
	.nodes_asked_open = true,
	.reject = LT_REJECT_LIMITS},
    {.why = "MinNodes as it asks for", .min_nodes_there = 1},
    {.why = "MaxCPUsPerNode", .max_cpus_per_node = 63, .reject = LT_REJECT_CPUS},
    {.why = "MaxCPUsPerNode of a whole node",
	.max_cpus_per_node = 63,
	.exclusive_asked = true,
	.reject = LT_REJECT_CPUS},
    {.why = "cores kept for GPU jobs", .gpu_cores = 1, .reject = LT_REJECT_CPUS},
    {.why = "asked memory counts where it is not consumed",
	.memory_asked = 256001,
	.reject = LT_REJECT_MEMORY},
    {.why = "a limit of memory where none is asked or consumed",
	.limits = MOST(MEMORY, 255999),
	.memory_is_ignored = true,
	.reject = LT_REJECT_LIMITS},
    {.why = "--mem=0 beyond MaxMemPerNode",
	.whole_memory_asked = true,
	.max_memory_mib = 255999,
	.reject = LT_REJECT_MEMORY},
    {.why = "memory by CPU of a whole node",
	.exclusive_asked = true,
	.memory_by_cpu = 4001,
	.reject = LT_REJECT_MEMORY},
    {.why = "--mem-per-gpu there, and no default",
	.memory_by_gpu = 500,
	.gpus_asked = 1,
	.max_memory_mib = 255999,
	.reject = LT_REJECT_MEMORY},
    {.why = "MaxMemPerCPU makes more CPUs of it",
	.memory_by_node = 65,
	.max_memory_mib = 1,
	.max_memory_is_per_cpu = true,
	.reject = LT_REJECT_DEFAULTS},
    {.why = "a denied account",
	.account = "vision",
	.deny = ",vision",
	.reject = LT_REJECT_ACCOUNT},
    {.why = "nobody knows whose job it is",
	.account = "",
	.deny = ",speech",
	.reject = LT_REJECT_ACCOUNT},
    {.why = "another account is denied", .deny = ",speech"},
    {.why = "AllowQos, and no default is known",
	.account = "vision",
	.allow_qos = "normal",
	.reject = LT_REJECT_QOS},
    {.why = "AllowQos has its account's default",
	.account = "vision",
	.allow_qos = "normal",
	.qos_accounts = "speech,vision,"},
    {.why = "AllowQos has another account's default",
	.account = "vision",
	.allow_qos = "normal",
	.qos_accounts = "speech,",
	.reject = LT_REJECT_QOS},
    {.why = "nobody knows whose default counts",
	.account = "",
	.allow_qos = "normal",
	.qos_accounts = "speech,",
	.reject = LT_REJECT_QOS},
    {.why = "--qos counts in place of the default",
	.account = "vision",
	.qos = "long",
	.allow_qos = "normal",
	.qos_accounts = "vision,",
	.reject = LT_REJECT_QOS},
};

static void
lay(const struct row *row)
{
	struct lt_partition *const cheap = &partitions[CHEAP];

	cheap->flags |= row->flags;
	partitions[request.home].flags |= row->home_flags;
	cheap->unlike_hash = row->unlike_hash;
	cheap->billing_hash = row->billing_hash;
	cheap->limits = row->limits;
	cheap->max_cpus_per_node = row->max_cpus_per_node;
	if (row->reserved_h > 0)
		cheap->reserved_utc_s = NOW + row->reserved_h * HOUR;
	if (row->deny != NULL)
		cheap->deny_accounts = row->deny;
	if (row->allow_qos != NULL)
		cheap->allow_qos = row->allow_qos;
	cheap->qos_accounts = row->qos_accounts;
	snprintf(request.qos, sizeof(request.qos), "%s", row->qos != NULL ? row->qos : "");
	shapes[CHEAP].closed_count = row->closed_count;
	shapes[CHEAP].gpu_cores = row->gpu_cores;
	market.job_limits = row->job_limits;
	request.uid = row->uid;
	request.pins = row->pins;
	request.gpus = row->gpus_asked;
	request.exclusive = row->exclusive_asked;
	if (row->exclusive_asked)
		request.cpus = request.tasks = 1;
	request.spread = row->tasks_spread > 0;
	if (request.spread)
		request.cpus = request.tasks = row->tasks_spread;
	request.nodes_open = row->nodes_asked_open;
	if (row->nodes_asked_open)
		cheap->max_nodes = 1;
	if (row->min_nodes_there > 0) {
		cheap->min_nodes = row->min_nodes_there;
		cheap->max_nodes = 8;
	}
	cheap->max_memory_mib = row->max_memory_mib;
	cheap->max_memory_is_per_cpu = row->max_memory_is_per_cpu;
	request.memory_mib_per_node = row->memory_by_node;
	request.memory_mib_per_gpu = row->memory_by_gpu;
	request.memory_mib_per_cpu = row->memory_by_cpu;
	request.whole_memory = row->whole_memory_asked;
	market.memory_ignored = row->memory_is_ignored;
	if (row->memory_asked > 0) {
		market.memory_ignored = true;
		request.memory_mib_per_node = row->memory_asked;
		shapes[HOME].memory_mib = 2 * row->memory_asked;
	}
	if (row->account != NULL)
		(void)snprintf(request.account, sizeof(request.account), "%s", row->account);
}

static void
test_closed(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const int there = rows[i].reject == LT_REJECT_NONE ? CHEAP : HOME;

		setup(state);
		request.objective = LT_OBJECTIVE_COST;
		lay(&rows[i]);
		decide();
		if (plan.chosen.partition != there ||
		    plan.candidates[CHEAP].reject != rows[i].reject)
			fail_msg("%s: goes to %d, says %s", rows[i].why, plan.chosen.partition,
			    lt_reject_name(plan.candidates[CHEAP].reject));
	}
}

/* At home a later start ends before a reservation, too: the cleanest hours are from the eighth on,
 * and the nodes are taken in the ninth. */
static void
test_home_before_reservation(void **state)
{
	setup(state);
	request.objective = LT_OBJECTIVE_CARBON;
	partitions[CHEAP].flags |= LT_PARTITION_CLOSED;
	decide();
	assert_true(plan.chosen.start_utc_s >= NOW + 8 * HOUR);
	partitions[HOME].reserved_utc_s = NOW + 9 * HOUR;
	decide();
	assert_true(plan.chosen.end_utc_s <= NOW + 9 * HOUR);
}

/* DefCpuPerGPU of 4 and DefMemPerGPU of 1000 at home. */
static void
test_gpu_defaults(void **state)
{
	static const struct {
		const char *why;
		uint32_t gpus, cpus_per_task, cpus_per_gpu;
		uint64_t memory_per_node, memory_per_gpu;
		uint32_t cpus_there;
		uint64_t memory_there;
		uint64_t memory_per_cpu_there;
		enum lt_reject reject;
	} cases[] = {
	    {"the same", 1, 0, 0, 0, 0, 4, 1000, 0, LT_REJECT_NONE},
	    {"no GPU", 0, 0, 0, 0, 0, 8, 2000, 0, LT_REJECT_NONE},
	    {"more CPUs", 1, 0, 0, 0, 0, 8, 1000, 0, LT_REJECT_DEFAULTS},
	    {"no CPUs", 1, 0, 0, 0, 0, 0, 1000, 0, LT_REJECT_DEFAULTS},
	    {"-c says them", 1, 2, 0, 0, 0, 8, 1000, 0, LT_REJECT_NONE},
	    {"--cpus-per-gpu says", 1, 0, 2, 0, 0, 8, 1000, 0, LT_REJECT_NONE},
	    {"more memory", 1, 0, 0, 0, 0, 4, 2000, 0, LT_REJECT_DEFAULTS},
	    {"no memory", 1, 0, 0, 0, 0, 4, 0, 0, LT_REJECT_DEFAULTS},
	    {"--mem says it", 1, 0, 0, 500, 0, 4, 2000, 0, LT_REJECT_NONE},
	    {"--mem says less than fits", 8, 0, 0, 500, 0, 4, 32001, 0, LT_REJECT_MEMORY},
	    {"DefMemPerCPU beyond --mem-per-gpu", 1, 0, 0, 0, 500, 4, 0, 300000, LT_REJECT_MEMORY},
	    {"--mem-per-gpu says", 1, 0, 0, 0, 500, 4, 0, 0, LT_REJECT_NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		request.objective = LT_OBJECTIVE_COST;
		partitions[HOME].default_cpus_per_gpu = 4;
		partitions[HOME].default_memory_mib_per_gpu = 1000;
		partitions[CHEAP].default_cpus_per_gpu = cases[i].cpus_there;
		partitions[CHEAP].default_memory_mib_per_gpu = cases[i].memory_there;
		partitions[CHEAP].default_memory_mib = cases[i].memory_per_cpu_there;
		partitions[CHEAP].default_memory_is_per_cpu = true;
		request.gpus = cases[i].gpus;
		request.cpus_per_task = cases[i].cpus_per_task;
		request.cpus_per_gpu = cases[i].cpus_per_gpu;
		request.memory_mib_per_node = cases[i].memory_per_node;
		request.memory_mib_per_gpu = cases[i].memory_per_gpu;
		decide();
		if (plan.candidates[CHEAP].reject != cases[i].reject)
			fail_msg(
			    "%s: %s", cases[i].why, lt_reject_name(plan.candidates[CHEAP].reject));
	}
}

/* Whole sockets are given: no more than a node has, whatever is asked. */
static void
test_sockets(void **state)
{
	static const struct {
		const char *why;
		uint32_t tasks, cpus_per_task;
		bool is_open;
		uint32_t cores;
		enum lt_reject reject;
	} cases[] = {
	    {"a task of a whole node", 1, 32, true, 16, LT_REJECT_NONE},
	    {"a task of more", 1, 33, true, 16, LT_REJECT_CPUS},
	    {"tasks of a whole node", 32, 1, false, 16, LT_REJECT_NONE},
	    {"more of them on one node", 33, 1, false, 16, LT_REJECT_CPUS},
	    {"more of them", 33, 1, true, 16, LT_REJECT_NONE},
	    {"cores of the system", 1, 1, true, 17, LT_REJECT_CPUS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		request.objective = LT_OBJECTIVE_COST;
		partitions[CHEAP].flags |= LT_PARTITION_BY_SOCKET;
		shapes[CHEAP].cpus = 32;
		shapes[CHEAP].sockets = 2;
		shapes[CHEAP].socket_cores = cases[i].cores;
		request.nodes_open = cases[i].is_open;
		request.tasks = cases[i].tasks;
		request.cpus_per_task = cases[i].cpus_per_task;
		request.cpus = cases[i].tasks * cases[i].cpus_per_task;
		decide();
		if (plan.candidates[CHEAP].reject != cases[i].reject)
			fail_msg(
			    "%s: %s", cases[i].why, lt_reject_name(plan.candidates[CHEAP].reject));
	}
}

/* Of a job that says no time, where the partition has no default. */
static void
test_limit_unsaid(void **state)
{
	static const struct {
		const char *why;
		int64_t max_time_s, here_s, wall_s;
		bool always;
		int64_t assume_time_s, limit_s;
	} unsaid[] = {
	    {"nothing known", INT64_MAX, 0, 0, false, 0, LT_UNSET_64},
	    {"assume_time", INT64_MAX, 0, 0, false, 600, 600},
	    {"MaxTime", HOUR, 0, 0, false, 600, HOUR},
	    {"a QOS may give more", INT64_MAX, 0, HOUR, false, 600, HOUR},
	    {"or less", INT64_MAX, 0, 300, false, 600, 600},
	    {"less, by each", INT64_MAX, 0, 300, true, 600, 300},
	    {"by each, without a word of the policy", INT64_MAX, 0, 300, true, 0, 300},
	    {"less than MaxTime, by each", HOUR, 0, 300, true, 0, 300},
	    {"less than MaxTime, by some", HOUR, 0, 300, false, 0, HOUR},
	    {"more than MaxTime does not start", HOUR, 0, 2 * HOUR, true, 0, HOUR},
	    {"of the partition's own QOS", 9 * HOUR, HOUR, 0, false, 0, HOUR},
	    {"and of the job's", 9 * HOUR, HOUR, 2 * HOUR, false, 0, 2 * HOUR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(unsaid) / sizeof(unsaid[0]); i++) {
		struct lt_partition part = {
		    .max_time_s = unsaid[i].max_time_s, .limits.most_s = unsaid[i].here_s};
		const struct lt_market here = {.partition_count = 1,
		    .partitions = &part,
		    .assume_time_s = unsaid[i].assume_time_s};
		const struct lt_request asked = {.limit_s = LT_UNSET_64,
		    .deadline_utc_s = LT_UNSET_64,
		    .wall_s = unsaid[i].wall_s,
		    .wall_always = unsaid[i].always};

		if (lt_limit_of(&asked, &here, 0) != unsaid[i].limit_s)
			fail_msg("%s", unsaid[i].why);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_closed),
	    cmocka_unit_test(test_home_before_reservation),
	    cmocka_unit_test(test_gpu_defaults),
	    cmocka_unit_test(test_sockets),
	    cmocka_unit_test(test_limit_unsaid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
