/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What job_submit_lowtide.so writes into a job and says of it.
 */
#include "fake.h"

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
		assert_int_equal(
		    fake_submit(&job, job.user_id, NULL), SLURM_SUCCESS);
		assert_int_equal(job.warn_signal, cases[i].signal);
		assert_int_equal(job.warn_time, cases[i].before_s);
		free(job.account);
		free(job.admin_comment);
	}
}

int
fake_edits_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_signal),
	};

	return cmocka_run_group_tests_name("edits", tests, NULL, NULL);
}
