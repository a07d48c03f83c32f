/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of slurmctld's stack one call takes at most: the stack of a thread is painted, and what
 * is still paint after the call was not used. Of a job that asks for nothing, and is told nothing,
 * it is much less: in slurmctld each page of it is a fault.
 */
#include "fake.h"

#include <pthread.h>

#include "files.h"
#include "terms.h"
#include "units.h"

enum { STACK_BYTES = 1 << 20, PLAIN_BYTES = 24 * 1024, PAINT = 0xa5 };

struct call {
	const char *why, *arguments;
	const char *option; /* NULL: a change of job 7 */
	uint32_t minutes;
	size_t most_bytes;
	char *message;
};

static void
submit(struct call *call)
{
	char gpus[] = "gres:gpu:8", account[] = "team0000", script[] = "#!\n", option[120],
	     *env[] = {option};
	job_desc_msg_t job;

	snprintf(option, sizeof(option), "%s", call->option);
	fake_job_defaults(&job);
	job.account = account;
	job.tres_per_job = gpus;
	job.script = script;
	job.time_limit = call->minutes;
	job.spank_job_env = env;
	job.spank_job_env_size = 1;
	job.partition = NULL;
	fake_submit(&job, job.user_id, &call->message);
	free(job.admin_comment);
	free(job.partition);
}

static void *
run(void *argument)
{
	struct call *const call = argument;
	job_desc_msg_t job;

	if (call->option != NULL) {
		submit(call);
		return NULL;
	}
	fake_job_defaults(&job);
	job.job_id_str = strdup("7");
	job.time_limit = call->minutes;
	fake_job_modify(&job, getuid());
	free(job.job_id_str);
	return NULL;
}

/* Bytes of the stack that a call needs, in a thread of its own. */
static size_t
used_by(struct call *call)
{
	unsigned char *const stack = aligned_alloc(1 << 16, STACK_BYTES);
	pthread_attr_t attributes;
	pthread_t thread;
	size_t left = 0;

	assert_non_null(stack);
	memset(stack, PAINT, STACK_BYTES);
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attributes, run, call), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
	while (left < STACK_BYTES && stack[left] == PAINT)
		left++;
	free(stack);
	return STACK_BYTES - left;
}

static void
test_stack(void **state)
{
	static const char carbon[] = "_SLURM_SPANK_OPTION_lowtide_carbon_aware=balanced";
	static const char plan[] = "_SLURM_SPANK_OPTION_lowtide_carbon_aware=plan";
	struct call calls[] = {
	    {"a plan of 256 partitions as a table", "--limit 1000 --partitions 256 --shapes 4",
		plan, 60, LT_STACK_BYTES_MAX, NULL},
	    {"one of them is chosen", "--limit 1000 --partitions 256 --shapes 4", carbon, 60,
		LT_STACK_BYTES_MAX, NULL},
	    {"nothing is asked", "--limit 1000", "", 60, PLAIN_BYTES, NULL},
	    {"refused, with what would fit", "--limit 0.5 --partitions 256 --shapes 4", "", 60,
		LT_STACK_BYTES_MAX, NULL},
	    {"a raise that is refused", "--limit 1", NULL, 1500, LT_STACK_BYTES_MAX, NULL},
	};
	struct lt_terms terms = {.job_id = 7,
	    .uid = getuid(),
	    .quote_id = 5,
	    .account_hash = lt_name_hash("team0000"),
	    .partition_count = 1,
	    .partition_hash = {lt_name_hash("ondemand")},
	    .limit_s = 3600,
	    .tasks = 1,
	    .asked = {.min_nodes = 1, .max_nodes = 1, .cpus = 64},
	    .end_utc_s = 3600,
	    .flags = LT_TERMS_HAS_MONEY | LT_TERMS_HAS_CARBON | LT_TERMS_BUDGETED};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		size_t used;

		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(calls[i].arguments);
		fake_terms(&terms, 1);
		assert_int_equal(fake_fini(), SLURM_SUCCESS);
		assert_int_equal(fake_init(), SLURM_SUCCESS);
		used = used_by(&calls[i]);
		print_message("# %s: %zu bytes\n", calls[i].why, used);
#ifndef __SANITIZE_ADDRESS__ /* its frames are larger */
		assert_true(used <= calls[i].most_bytes);
#endif
		free(calls[i].message);
	}
}

int
fake_stack_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_stack),
	};

	return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
