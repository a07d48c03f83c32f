/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job description as Slurm's own libslurm makes it, and what lowtide makes
 * of it.
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

/* Each partition once, however often it is named: what is done for each of
 * them is done while slurmctld waits. */
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
		assert_memory_equal(request.named, rows[i].named,
		    rows[i].count * sizeof(request.named[0]));
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

/* What the user chose of the speed: an option, or what the script's srun would
 * read. */
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
#define HAS_PIN(yes)                                                           \
	do {                                                                   \
		assert_int_equal(read_job(&request, &job), LT_OK);             \
		assert_int_equal(                                              \
		    (request.pins & LT_PIN_FREQUENCY) != 0, (yes));            \
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_partitions),
	    cmocka_unit_test(test_many_names),
	    cmocka_unit_test(test_frequency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
