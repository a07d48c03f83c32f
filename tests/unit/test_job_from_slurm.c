/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job description as Slurm's own libslurm makes it, and what lowtide makes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job_from_slurm.h"

enum { NOW = 1000000, NAMES_MAX = LT_PARTITIONS_MAX };

static struct lt_partition partitions[] = {
    {.name = "a", .flags = LT_PARTITION_DEFAULT},
    {.name = "b"},
};
static const struct lt_market market = {
    .partition_count = 2, .partitions = partitions, .max_array_size = 1001};

static int
read_job(struct lt_request *request, job_desc_msg_t *job)
{
	return lt_request_from_desc(request, job, &market, NOW, NULL);
}

/* Each partition once, however often it is named: what is done for each of them is done while
 * slurmctld waits. */
static void
test_partitions(void **state)
{
	static const struct {
		const char *names;
		int code;
		uint32_t count;
		uint16_t named[2];
		int home;
	} rows[] = {
	    {NULL, LT_OK, 0, {0}, 0},
	    {"b", LT_OK, 1, {1}, 1},
	    {"b,a", LT_OK, 2, {1, 0}, 1},
	    {"a,a,b,a,b", LT_OK, 2, {0, 1}, 0},
	    {"a,c", LT_ENOENT, 0, {0}, -1},
	    {",", LT_ENOENT, 0, {0}, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_request request;
		job_desc_msg_t job;

		slurm_init_job_desc_msg(&job);
		job.partition = (char *)(uintptr_t)rows[i].names;
		assert_int_equal(read_job(&request, &job), rows[i].code);
		assert_int_equal(request.home, rows[i].home);
		if (rows[i].code != LT_OK)
			continue;
		assert_int_equal(request.named_count, rows[i].count);
		assert_memory_equal(
		    request.named, rows[i].named, rows[i].count * sizeof(request.named[0]));
	}
}

/* A text of any length is bounded all the same. */
static void
test_many_names(void **state)
{
	char names[2 * (NAMES_MAX + 1)];
	struct lt_request request;
	job_desc_msg_t job;

	(void)state;
	for (int i = 0; i <= NAMES_MAX; i++)
		memcpy(names + 2 * i, "a,", 2);
	slurm_init_job_desc_msg(&job);
	job.partition = names;
	names[sizeof(names) - 1] = '\0';
	assert_int_equal(read_job(&request, &job), LT_ENOENT);
	names[2 * NAMES_MAX - 1] = '\0';
	assert_int_equal(read_job(&request, &job), LT_OK);
	assert_int_equal(request.named_count, 1);
}

/* What the user chose of the speed: an option, or what the script's srun would read. */
static void
test_frequency(void **state)
{
	static char other[] = "SLURM_GPU_FREQUENT=1",
		    gpu[] = "SLURM_GPU_FREQ=", cpu[] = "SLURM_CPU_FREQ_REQ=low",
		    freq[] = "gpu:medium";
	char *environment[] = {other, NULL, NULL};
	struct lt_request request;
	job_desc_msg_t job;

	(void)state;
	slurm_init_job_desc_msg(&job);
	job.environment = environment;
	job.env_size = 1;
#define HAS_PIN(yes)                                                                               \
	do {                                                                                       \
		assert_int_equal(read_job(&request, &job), LT_OK);                                 \
		assert_int_equal((request.pins & LT_PIN_FREQUENCY) != 0, (yes));                   \
	} while (0)
	HAS_PIN(false);
	environment[1] = gpu;
	HAS_PIN(false); /* behind the end */
	job.env_size = 2;
	HAS_PIN(true);
	environment[1] = cpu;
	HAS_PIN(true);
	job.env_size = 1;
	job.tres_freq = freq;
	HAS_PIN(true);
	job.tres_freq = NULL;
	job.cpu_freq_gov = 1;
	HAS_PIN(true);
#undef HAS_PIN
}

static uint32_t
pins_of_gres(char *per_node, char *per_task, char *by)
{
	struct lt_request request;
	job_desc_msg_t job;

	slurm_init_job_desc_msg(&job);
	job.script = (char *)(uintptr_t) "";
	job.tres_per_node = per_node;
	job.tres_per_task = per_task;
	assert_int_equal(read_job(&request, &job), LT_OK);
	memcpy(by, request.pinned_by, sizeof(request.pinned_by));
	return request.pins;
}

/* What no check of another partition knows keeps the job where it is. */
static void
test_gres_pins(void **state)
{
	static const struct {
		const char *per_node, *per_task, *by;
	} rows[] = {
	    {NULL, NULL, ""},
	    {"gres:gpu", NULL, ""},
	    {"gres:gpu:a100:2", "cpu:4", ""},
	    {"gres/gpu=2", "cpu=4", ""},
	    {"gres:shard:4,gres:mps:100", NULL, ""},
	    {"gres:tmp:10G", NULL, "--gres=tmp"},
	    {"gres:gpu:1,gres:lscratch:200", NULL, "--gres=lscratch"},
	    {"gres:gpumem:1", NULL, "--gres=gpumem"},
	    {"gres:VramPerGpu:80G", NULL, "--gres=VramPerGpu"},
	    {"gres:gp:1", NULL, "--gres=gp"},
	    {"gres:gpu:1", "license:matlab:1", "--gres=license"},
	    {":", NULL, "--gres="},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char by[LT_NAME_SIZE];
		const uint32_t pins = pins_of_gres(
		    (char *)(uintptr_t)rows[i].per_node, (char *)(uintptr_t)rows[i].per_task, by);

		assert_string_equal(by, rows[i].by);
		assert_int_equal(pins & LT_PIN_OTHER, rows[i].by[0] != '\0' ? LT_PIN_OTHER : 0);
	}
}

/* Options one at a time: what pins, and by which name the user is told. */
static void
test_options_pin(void **state)
{
	static char text[] = "x", gpu_two[] = "gres:gpu:2", two_qos[] = "normal,long",
		    long_qos[LT_ACCOUNT_SIZE + 1];
	const char *by = NULL;

	(void)state;
	memset(long_qos, 'q', LT_ACCOUNT_SIZE);
#define PINS(field, value, option)                                                                 \
	do {                                                                                       \
		struct lt_request request;                                                         \
		job_desc_msg_t job;                                                                \
		by = (option);                                                                     \
		slurm_init_job_desc_msg(&job);                                                     \
		job.script = text;                                                                 \
		job.field = (value);                                                               \
		assert_int_equal(read_job(&request, &job), LT_OK);                                 \
		assert_string_equal(request.pinned_by, by != NULL ? by : "");                      \
		assert_int_equal((request.pins & LT_PIN_OTHER) != 0, by != NULL);                  \
	} while (0)
	PINS(req_switch, 1, "--switches");
	PINS(req_switch, 0, NULL);
	PINS(req_switch, NO_VAL, NULL);
	PINS(contiguous, 1, "--contiguous");
	PINS(contiguous, 0, NULL);
	PINS(network, text, "--network");
	PINS(prefer, text, "--prefer");
	PINS(clusters, text, "--clusters");
	PINS(extra, text, "--extra");
	PINS(batch_features, text, "--batch");
	PINS(container, text, "--container");
	PINS(core_spec, 1, "--core-spec");
	PINS(reboot, 1, "--reboot");
	PINS(immediate, 1, "--immediate");
	PINS(bitflags, GRES_ENFORCE_BIND, "--gres-flags");
	PINS(bitflags, UINT64_C(1) << 62, "a flag of this Slurm");
	PINS(bitflags, SPREAD_JOB | JOB_NTASKS_SET, NULL);
	PINS(shared, JOB_SHARED_OK, NULL);
	PINS(shared, JOB_SHARED_USER, "--exclusive");
	/* Without a GPU. */
	PINS(cpus_per_tres, gpu_two, "--cpus-per-gpu");
	PINS(mem_per_tres, gpu_two, "--mem-per-gpu");
	PINS(tres_per_job, gpu_two, NULL);
	PINS(task_dist, SLURM_DIST_ARBITRARY, "--distribution");
	PINS(task_dist, SLURM_DIST_CYCLIC_CYCLIC, NULL);
	PINS(qos, long_qos, "--qos");
	PINS(qos, two_qos, "--qos");
	PINS(qos, text, NULL);
	PINS(features, text, NULL);
	PINS(wckey, text, NULL);
#undef PINS
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_partitions),
	    cmocka_unit_test(test_many_names),
	    cmocka_unit_test(test_frequency),
	    cmocka_unit_test(test_gres_pins),
	    cmocka_unit_test(test_options_pin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
