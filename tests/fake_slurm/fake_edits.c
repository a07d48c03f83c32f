/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What job_submit_lowtide.so writes into a job and says of it.
 */
#include <string.h>

#include "fake.h"

/* What is left is told of the period that it will run in. */
static void
test_left_then(void **state)
{
	static const struct {
		const char *arguments, *option, *left;
	} cases[] = {
	    {"--limit 100 --next 50 --ends 3700", "carbon", "; leaves $49.10"},
	    /* Less what the first holds, too. */
	    {"--limit 100 --next 5000", "carbon", "; leaves $98.20"},
	    {"--limit 100 --next 50 --ends 60", "fast", "; leaves $4"},
	    {"--limit 100 --mode observe", "carbon", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct submission s;
		char option[80];

		print_message("# %s, %s\n", cases[i].arguments, cases[i].option);
		snprintf(option, sizeof(option), "_SLURM_SPANK_OPTION_lowtide_carbon_aware=%s",
		    cases[i].option);
		fake_snapshots(cases[i].arguments);
		fake_restart();
		fake_send(
		    &s, &(struct wish){.account = "team0000", .gres = "gpu:8", .option = option});
		assert_int_equal(s.code, SLURM_SUCCESS);
		print_message("# %s\n", s.message);
		if (cases[i].left != NULL)
			assert_non_null(strstr(s.message, cases[i].left));
	}
}

/* Half an hour is what it is to cost, wherever it goes; its limit of an hour is what is held, and
 * gone from what is left. */
static void
test_left_behind_the_hold(void **state)
{
	char carbon[] = "_SLURM_SPANK_OPTION_lowtide_carbon_aware=carbon",
	     expected[] = "_SLURM_SPANK_OPTION_lowtide_expected_time=30", script[] = "#!/bin/sh\n",
	     gres[] = "gpu:8", *env[] = {carbon, expected}, *message = NULL;
	int dollars, cents, left_dollars, left_cents;
	job_desc_msg_t job;

	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	fake_job_defaults(&job);
	job.account = slurm_xstrdup("team0000");
	job.script = script;
	job.tres_per_job = gres;
	job.time_limit = 60;
	job.spank_job_env = env;
	job.spank_job_env_size = 2;
	assert_int_equal(fake_submit(&job, job.user_id, &message), SLURM_SUCCESS);
	assert_non_null(message);
	print_message("# %s\n", message);
	assert_non_null(strstr(message, ": $"));
	assert_int_equal(sscanf(strstr(message, ": $"), ": $%d.%2d, ", &dollars, &cents), 2);
	assert_non_null(strstr(message, "; leaves $"));
	assert_int_equal(
	    sscanf(strstr(message, "; leaves $"), "; leaves $%d.%2d", &left_dollars, &left_cents),
	    2);
	assert_in_range(dollars * 100 + cents, 1, 180);
	assert_int_equal(left_dollars * 100 + left_cents, 10000 - 2 * (dollars * 100 + cents));
	free(message);
	free(job.account);
	free(job.admin_comment);
	free(job.partition);
}

/* The signal that the user names for a checkpoint is a change of the job. */
static void
test_signal(void **state)
{
	static const struct {
		const char *arguments;
		uint16_t theirs, signal, before_s;
	} cases[] = {
	    {"--limit 100", 0, 10, 120},
	    {"--limit 100", 12, 12, 0},
	    {"--limit 100 --mode advise", 0, 0, 0},
	    {"--limit 100 --mode observe", 0, 0, 0},
	};
	char option[] = "_SLURM_SPANK_OPTION_lowtide_checkpoint="
			"write=1m,signal=USR1@120",
	     script[] = "#!/bin/sh\n", *env[] = {option};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;

		print_message("# %s\n", cases[i].arguments);
		fake_snapshots(cases[i].arguments);
		fake_restart();
		fake_job_defaults(&job);
		job.script = script;
		job.time_limit = 60;
		job.warn_signal = cases[i].theirs;
		job.spank_job_env = env;
		job.spank_job_env_size = 1;
		assert_int_equal(fake_submit(&job, job.user_id, NULL), SLURM_SUCCESS);
		assert_int_equal(job.warn_signal, cases[i].signal);
		assert_int_equal(job.warn_time, cases[i].before_s);
		free(job.account);
		free(job.admin_comment);
	}
}

/* A maximum of nodes that slurmctld will lower to the GPUs is held for as lowered. */
static void
test_maximum_of_gpus(void **state)
{
	static const struct {
		const char *why, *gpus;
		uint32_t min_nodes, max_nodes;
		int64_t nodes;
	} cases[] = {
	    {"lowered to one", "gres:gpu:1", 1, 2, 1},
	    {"as many as are asked for", "gres:gpu:2", 1, 2, 2},
	    {"none: as many as it can get", NULL, 1, 2, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		struct lt_quote quote = {0};

		print_message("# %s\n", cases[i].why);
		fake_snapshots("--limit 100");
		fake_restart();
		fake_job_defaults(&job);
		job.account = slurm_xstrdup("team0000");
		job.script = strdup("#!/bin/sh\n");
		job.tres_per_job = slurm_xstrdup(cases[i].gpus);
		job.min_nodes = cases[i].min_nodes;
		job.max_nodes = cases[i].max_nodes;
		job.shared = 0; /* whole nodes */
		job.time_limit = 60;
		assert_int_equal(fake_submit(&job, job.user_id, NULL), SLURM_SUCCESS);
		assert_int_equal(job.max_nodes, cases[i].max_nodes);
		assert_int_equal(
		    lt_quote_unpack(&quote, job.admin_comment, strlen(job.admin_comment), NULL),
		    LT_OK);
		assert_int_equal(quote.hold_per_task.money_micros, 3600000 * cases[i].nodes + 1);
		free(job.account);
		free(job.script);
		free(job.tres_per_job);
		free(job.admin_comment);
	}
}

/* Of two nodes each takes one, for the same hour: the third has another one, also beside a market
 * that was made before the first two came. */
static void
test_booked_between_markets(void **state)
{
	static const struct {
		const char *arguments; /* a new market; NULL = the same */
		bool with_first;
	} cases[] = {
	    {NULL, true}, {NULL, true}, {NULL, false}, {"--limit 1000", false},
	    {"--limit 1000 --partitions 3", false},
	    {"--limit 1000 --seen 60", true}, /* their jobs are elsewhere now */
	};
	int64_t first_utc_s = 0;

	(void)state;
	fake_snapshots("--limit 1000");
	fake_restart();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct submission s;

		if (cases[i].arguments != NULL) {
			fake_snapshots(cases[i].arguments);
			usleep(250000); /* it is looked for in a while */
		}
		fake_send(&s, &(struct wish){.account = "team0000",
				  .gres = "gpu:8",
				  .minutes = 60,
				  .option = "_SLURM_SPANK_OPTION_lowtide_carbon_aware=carbon"});
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_true(s.begin_utc_s > 0);
		if (i == 0)
			first_utc_s = s.begin_utc_s;
		print_message("# %zu\n", i);
		assert_int_equal(s.begin_utc_s == first_utc_s, cases[i].with_first);
	}
}

int
fake_edits_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_booked_between_markets),
	    FAKE_TEST(test_left_then),
	    FAKE_TEST(test_left_behind_the_hold),
	    FAKE_TEST(test_signal),
	    FAKE_TEST(test_maximum_of_gpus),
	};

	return cmocka_run_group_tests_name("edits", tests, NULL, NULL);
}
