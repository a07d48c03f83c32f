/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batch submissions a second through libslurm: N jobs to the cluster that SLURM_CONF names, from
 * one process; far in the future, or with an objective to be placed by, as by --carbon-aware.
 * tests/bench/run.sh alternates two clusters, one with the plugin, one without.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
submit(char *account, const char *objective)
{
	char wish[64], *wishes[] = {wish, NULL};
	static char script[] = "#!/bin/sh\nexit 0\n", directory[] = "/tmp",
		    path[] = "PATH=/usr/bin:/bin", output[] = "/dev/null", name[] = "bench";
	static char *environment[] = {path, NULL};
	submit_response_msg_t *response = NULL;
	job_desc_msg_t job;

	slurm_init_job_desc_msg(&job);
	job.script = script;
	job.environment = environment;
	job.env_size = 1;
	job.work_dir = directory;
	job.std_out = output;
	job.name = name;
	job.account = account;
	job.min_nodes = 1;
	job.num_tasks = 1;
	job.time_limit = 10;
	job.user_id = getuid();
	job.group_id = getgid();
	/* Far away, so that the scheduler and slurmd stay out of it. */
	if (objective == NULL) {
		job.begin_time = time(NULL) + 30 * 86400;
	} else {
		snprintf(
		    wish, sizeof(wish), "_SLURM_SPANK_OPTION_lowtide_carbon_aware=%s", objective);
		job.spank_job_env = wishes;
		job.spank_job_env_size = 1;
	}
	if (slurm_submit_batch_job(&job, &response) != SLURM_SUCCESS)
		return -1;
	slurm_free_submit_response_response_msg(response);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: bench_submit COUNT ACCOUNT [OBJECTIVE]\n");
		return 2;
	}
	const int count = atoi(argv[1]);
	const double start = seconds();

	for (int i = 0; i < count; i++) {
		if (submit(argv[2], argc > 3 ? argv[3] : NULL) != 0) {
			fprintf(stderr, "bench_submit: job %d: %s\n", i, slurm_strerror(errno));
			return 1;
		}
	}
	printf("%.3f\n", count / (seconds() - start));
	return 0;
}
