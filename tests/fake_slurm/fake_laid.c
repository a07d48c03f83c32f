/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_modify of job_submit_lowtide.so: changes of what a job asked, laid over its terms and over
 * each other.
 */
#include "fake.h"

#include <time.h>

#include "terms.h"
#include "units.h"

enum { NODE_MICROS = 3600000 };

/* An hour of `gpus` GPUs on each of `nodes` nodes of eight. */
static struct lt_terms
terms_of_gpus(uint32_t nodes, uint32_t gpus, uint32_t partitions)
{
	struct lt_terms one = {.job_id = 7,
	    .uid = getuid(),
	    .quote_id = 5,
	    .hold_money_micros = NODE_MICROS / 8 * (int64_t)(nodes * gpus) + 1,
	    .hold_carbon_mg = 100000000,
	    .account_hash = lt_name_hash("team0000"),
	    .limit_s = 3600,
	    .tasks = 1,
	    .flags =
		LT_TERMS_PENDING | LT_TERMS_BUDGETED | LT_TERMS_HAS_MONEY | LT_TERMS_HAS_CARBON,
	    .start_utc_s = (int64_t)time(NULL),
	    .end_utc_s = (int64_t)time(NULL) + 3600,
	    .seen_utc_s = (int64_t)time(NULL) - 1,
	    .partition_count = partitions,
	    .partition_hash = {lt_name_hash("ondemand"), lt_name_hash("spot")},
	    .asked = {.min_nodes = nodes,
		.max_nodes = nodes,
		.gpus = nodes * gpus,
		.gpus_per_node = gpus}};

	return one;
}

static int
change_of(const char *id, const char *gres, const char *features, uint32_t minutes)
{
	job_desc_msg_t job;
	int code;

	fake_job_defaults(&job);
	job.job_id_str = slurm_xstrdup(id);
	job.tres_per_node = slurm_xstrdup(gres);
	job.features = slurm_xstrdup(features);
	job.time_limit = minutes;
	code = fake_job_modify(&job, getuid());
	free(job.job_id_str);
	free(job.tres_per_node);
	free(job.features);
	return code;
}

static int
change(const char *gres, const char *features, uint32_t minutes)
{
	return change_of("7", gres, features, minutes);
}

/* A change is laid over what the job asked; two at once, one over another. */
static void
test_laid_over(void **state)
{
	static const struct {
		const char *why, *limit;
		uint32_t nodes, gpus, partitions;

		struct {
			const char *gres, *features;
			uint32_t minutes;
			int code;
		} changes[3];
	} cases[] = {
	    {"eight GPUs on one node, 3.15 more", "--limit 3.2", 1, 1, 1,
		{{"gres:gpu:8", NULL, NO_VAL, SLURM_SUCCESS}}},
	    {"eight GPUs on each of two nodes, 6.30 more", "--limit 6.2", 2, 1, 1,
		{{"gres:gpu:8", NULL, NO_VAL, ESLURM_ACCOUNTING_POLICY}}},
	    {"which fit", "--limit 6.4", 2, 1, 1, {{"gres:gpu:8", NULL, NO_VAL, SLURM_SUCCESS}}},
	    {"four hours, then eight GPUs for them, 13.95 more in all", "--limit 13.9", 1, 1, 1,
		{{NULL, NULL, 240, SLURM_SUCCESS},
		    {"gres:gpu:8", NULL, NO_VAL, ESLURM_ACCOUNTING_POLICY}}},
	    {"which fit, once", "--limit 14", 1, 1, 1,
		{{NULL, NULL, 240, SLURM_SUCCESS}, {"gres:gpu:8", NULL, NO_VAL, SLURM_SUCCESS},
		    {"gres:gpu:8", NULL, 300, ESLURM_ACCOUNTING_POLICY}}},
	    {"shorter, with more GPUs, then as long as before", "--limit 3", 1, 1, 1,
		{{"gres:gpu:8", NULL, 7, SLURM_SUCCESS},
		    {NULL, NULL, 60, ESLURM_ACCOUNTING_POLICY}}},
	    {"no money, no rise", "--limit 0", 1, 1, 1,
		{{NULL, "ib", NO_VAL, SLURM_SUCCESS}, {NULL, NULL, 30, SLURM_SUCCESS},
		    {NULL, NULL, 61, ESLURM_ACCOUNTING_POLICY}}},
	    {"two partitions: down, up", "--limit 10", 1, 1, 2,
		{{NULL, NULL, 30, SLURM_SUCCESS}, {NULL, NULL, 120, SLURM_SUCCESS},
		    {NULL, NULL, 15000, ESLURM_ACCOUNTING_POLICY}}},
	    {"more partitions than are known", "--limit 10", 1, 1, LT_TERMS_PARTITIONS + 1,
		{{NULL, NULL, 30, SLURM_SUCCESS}, {NULL, NULL, 61, ESLURM_ACCOUNTING_POLICY}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one =
		    terms_of_gpus(cases[i].nodes, cases[i].gpus, cases[i].partitions);

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(cases[i].limit);
		fake_terms(&one, 1);
		fake_restart();
		for (int k = 0; k < 3 && cases[i].changes[k].minutes; k++)
			assert_int_equal(
			    change(cases[i].changes[k].gres, cases[i].changes[k].features,
				cases[i].changes[k].minutes),
			    cases[i].changes[k].code);
	}
}

/* A GPU on each node, two tasks: what changes the nodes changes the price. */
static void
test_nodes(void **state)
{
	static const struct {
		const char *why, *limit;
		uint32_t held_nodes, most; /* 0 = any number */
		uint32_t min_nodes, max_nodes, minutes;
		int code;
	} cases[] = {
	    {"two at least: 0.45 more", "--limit 0.4", 1, 1, 2, NO_VAL, NO_VAL,
		ESLURM_ACCOUNTING_POLICY},
	    {"which fit", "--limit 0.5", 1, 1, 2, NO_VAL, NO_VAL, SLURM_SUCCESS},
	    {"two at most", "--limit 0.4", 1, 1, NO_VAL, 2, NO_VAL, ESLURM_ACCOUNTING_POLICY},
	    {"no maximum any more", "--limit 0.4", 1, 1, NO_VAL, 0, NO_VAL,
		ESLURM_ACCOUNTING_POLICY},
	    {"one at most, of two that are paid for", "--limit 0", 2, 0, NO_VAL, 1, NO_VAL,
		SLURM_SUCCESS},
	    {"no maximum, twice as long: 0.90 more", "--limit 0.8", 2, 0, NO_VAL, NO_VAL, 120,
		ESLURM_ACCOUNTING_POLICY},
	    {"which fit", "--limit 1", 2, 0, NO_VAL, NO_VAL, 120, SLURM_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = terms_of_gpus(cases[i].held_nodes, 1, 1);
		job_desc_msg_t job;

		print_message("# %s\n", cases[i].why);
		one.asked = (struct lt_terms_asked){
		    .min_nodes = 1, .max_nodes = cases[i].most, .tasks = 2, .gpus_per_node = 1};
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(cases[i].limit);
		fake_terms(&one, 1);
		fake_restart();
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.min_nodes = cases[i].min_nodes;
		job.max_nodes = cases[i].max_nodes;
		job.time_limit = cases[i].minutes;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		free(job.job_id_str);
	}
}

/* Of a node with 8 GPUs: all its memory, or it alone, is 3.15 more than one. */
static void
test_whole_nodes(void **state)
{
	static const struct {
		const char *limit;
		uint64_t memory_mib;
		uint16_t shared;
		int code;
	} cases[] = {
	    {"--limit 3.1", 512000, (uint16_t)NO_VAL, ESLURM_ACCOUNTING_POLICY},
	    {"--limit 3.2", 512000, (uint16_t)NO_VAL, SLURM_SUCCESS},
	    {"--limit 3.1", NO_VAL64, JOB_SHARED_NONE, ESLURM_ACCOUNTING_POLICY},
	    {"--limit 3.2", NO_VAL64, JOB_SHARED_NONE, SLURM_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = terms_of_gpus(1, 1, 1);
		job_desc_msg_t job;

		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(cases[i].limit);
		fake_terms(&one, 1);
		fake_restart();
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.pn_min_memory = cases[i].memory_mib;
		job.shared = cases[i].shared;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		free(job.job_id_str);
	}
}

/* Terms that have seen the job since the change know better. */
static void
test_terms_that_are_newer(void **state)
{
	struct lt_terms one = terms_of_gpus(1, 1, 1);

	(void)state;
	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots("--limit 5");
	fake_terms(&one, 1);
	fake_restart();
	assert_int_equal(change(NULL, NULL, 240), SLURM_SUCCESS);
	assert_int_equal(change("gres:gpu:8", NULL, NO_VAL), ESLURM_ACCOUNTING_POLICY);
	one.seen_utc_s = (int64_t)time(NULL) + 10; /* Slurm had refused it */
	fake_terms(&one, 1);
	assert_int_equal(change("gres:gpu:8", NULL, NO_VAL), SLURM_SUCCESS);
}

/* Of each job its own changes, and of another job under the same id none. */
static void
test_each_its_own(void **state)
{
	struct lt_terms jobs[2] = {terms_of_gpus(1, 1, 1), terms_of_gpus(1, 1, 1)};

	(void)state;
	jobs[1].job_id = 8;
	jobs[1].quote_id = 6;
	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots("--limit 7");
	fake_terms(jobs, 2);
	fake_restart();
	/* 1.35 more each; then 3.15 of an hour are there, not 12.60 of four. */
	assert_int_equal(change_of("7", NULL, NULL, 240), SLURM_SUCCESS);
	assert_int_equal(change_of("8", NULL, NULL, 240), SLURM_SUCCESS);
	assert_int_equal(change_of("7", "gres:gpu:8", NULL, NO_VAL), ESLURM_ACCOUNTING_POLICY);
	assert_int_equal(change_of("8", "gres:gpu:8", NULL, NO_VAL), ESLURM_ACCOUNTING_POLICY);
	jobs[1].quote_id = 9; /* ids began again */
	fake_terms(jobs, 2);
	assert_int_equal(change_of("8", "gres:gpu:8", NULL, NO_VAL), SLURM_SUCCESS);
}

/* What is held already, of each live task: only more than that is asked for, and nothing for a
 * change that makes the job no dearer. */
static void
test_what_is_held(void **state)
{
	static const struct {
		const char *why, *limit;
		uint32_t tasks, minutes;
		int64_t held_micros;
		int code;
	} cases[] = {
	    {"ten tasks, 0.45 more each", "--limit 4.4", 10, 120, 450001, ESLURM_ACCOUNTING_POLICY},
	    {"which fit", "--limit 4.6", 10, 120, 450001, SLURM_SUCCESS},
	    {"prices rose since: a feature is free", "--limit 0", 1, NO_VAL, 100, SLURM_SUCCESS},
	    {"and an hour more is from what is held", "--limit 0.8", 1, 120, 100,
		ESLURM_ACCOUNTING_POLICY},
	    {"prices fell since: the hold has room for it", "--limit 0", 1, 120, 900001,
		SLURM_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = terms_of_gpus(1, 1, 1);

		print_message("# %s\n", cases[i].why);
		one.tasks = cases[i].tasks;
		one.hold_money_micros = cases[i].held_micros;
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(cases[i].limit);
		fake_terms(&one, 1);
		fake_restart();
		assert_int_equal(change(NULL, "ib", cases[i].minutes), cases[i].code);
	}
}

/* It may run in a partition that has no price: nobody knows what a change comes to. */
static void
test_partition_that_left(void **state)
{
	struct lt_terms one = terms_of_gpus(1, 1, 2);

	(void)state;
	one.partition_hash[1] = lt_name_hash("gone");
	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots("--limit 100");
	fake_terms(&one, 1);
	fake_restart();
	assert_int_equal(change(NULL, NULL, 30), SLURM_SUCCESS);
	assert_int_equal(change(NULL, NULL, 61), ESLURM_ACCOUNTING_POLICY);
}

/* What no record of Slurm's shows is noted in the quote, for changes. */
static void
test_quote_notes_planes(void **state)
{
	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	for (int i = 0; i < 2; i++) {
		job_desc_msg_t job;
		char *message = NULL;

		fake_job_defaults(&job);
		job.account = slurm_xstrdup("team0000");
		job.script = slurm_xstrdup("#!/bin/sh\n");
		job.task_dist = i == 0 ? SLURM_DIST_PLANE : SLURM_DIST_CYCLIC;
		assert_int_equal(fake_submit(&job, job.user_id, &message), SLURM_SUCCESS);
		assert_non_null(job.admin_comment);
		assert_non_null(strstr(job.admin_comment, i == 0 ? " f=512 run=" : " f=0 run="));
		free(job.admin_comment);
		free(job.account);
		free(job.script);
		free(job.partition);
		free(message);
	}
}

int
fake_laid_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_laid_over),
	    FAKE_TEST(test_nodes),
	    FAKE_TEST(test_whole_nodes),
	    FAKE_TEST(test_terms_that_are_newer),
	    FAKE_TEST(test_each_its_own),
	    FAKE_TEST(test_what_is_held),
	    FAKE_TEST(test_partition_that_left),
	    FAKE_TEST(test_quote_notes_planes),
	};

	return cmocka_run_group_tests_name("laid over", tests, NULL, NULL);
}
