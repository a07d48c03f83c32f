/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long slurmctld waits for one job_submit(), its locks held: the plugin in
 * this process, a market and a snapshot of the promised size, a ring on disk.
 * In processor time, so that what else runs here counts little. Prints "WHAT:
 * median, 99th percentile" in microseconds; tests/bench/run.sh has the target.
 */
#include "fake.h"

#include <time.h>

#include "files.h"
#include "history_file.h"

/* lowtided ingests what was held, each few seconds. */
enum { CALLS = 4000, WARM_UP = 200, ABSORBED_EACH = 100 };

static double times_us[CALLS];
static int held;

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int
by_size(const void *a, const void *b)
{
	const double *const x = a, *const y = b;

	return (*x > *y) - (*x < *y);
}

/* Sizes of all kinds, so that no branch is learned by heart. */
static void
fill(job_desc_msg_t *job, int i, char *account, char *gpus, char *script)
{
	fake_job_defaults(job);
	job->account = slurm_xstrdup(account);
	job->script = script;
	job->time_limit = 10;
	job->num_tasks = 1 + (uint32_t)i % 97;
	job->min_cpus = job->num_tasks;
	job->min_nodes = 1;
	if (i % 3 == 0)
		job->pn_min_memory = 1000 + (uint64_t)i;
	if (i % 4 == 0)
		job->tres_per_node = slurm_xstrdup(gpus);
	if (i % 5 == 0)
		job->ntasks_per_node = 8;
}

static void
ingest(int partitions)
{
	char text[120];

	snprintf(text, sizeof(text),
	    "--partitions %d --shapes 4 --days 7 --teams 1000 --absorbed %d",
	    partitions, held);
	fake_snapshots(text);
	fake_restart();
}

static void
measure(int partitions, const char *with, char *option)
{
	static char account[] = "team0000", gpus[] = "gres:gpu:2",
		    script[] = "#!/bin/sh\n";
	char *env[1] = {option};

	for (int i = -WARM_UP; i < CALLS; i++) {
		job_desc_msg_t job;
		char *message = NULL;

		if ((i + WARM_UP) % ABSORBED_EACH == 0)
			ingest(partitions);
		fill(&job, i + WARM_UP, account, gpus, script);
		job.spank_job_env = env;
		job.spank_job_env_size = option != NULL ? 1 : 0;
		const double start = now_us();
		const int code = fake_submit(&job, job.user_id, &message);

		if (i >= 0)
			times_us[i] = now_us() - start;
		if (code != SLURM_SUCCESS || job.admin_comment == NULL) {
			fprintf(stderr, "fake_slurm: %s\n",
			    message != NULL ? message : "no quote");
			exit(1);
		}
		held++;
		free(job.account);
		free(job.admin_comment);
		free(job.partition);
		free(job.tres_per_node);
		free(message);
	}
	qsort(times_us, CALLS, sizeof(times_us[0]), by_size);
	printf("%d partitions%s: %.1f, %.1f\n", partitions, with,
	    times_us[CALLS / 2], times_us[CALLS / 100 * 99]);
}

/* Other users' groups, and none of the jobs': each look-up goes all the way. */
static void
write_history(uint32_t count)
{
	struct lt_history_record *const records =
	    calloc(count, sizeof(*records));
	char path[600];

	for (uint32_t i = 0; records != NULL && i < count; i++)
		records[i] = (struct lt_history_record){
		    .key = lt_history_key(&(struct lt_run_kind){i, "team0000",
					      "train", 1, 8, 0, 0, 0, false},
			LT_HISTORY_NAME),
		    .figures = {20, 7800, 9000, false, 0, 0}};
	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_HISTORY_FILE);
	if (records == NULL ||
	    lt_history_write(path, records, count, 1764000000, NULL) != LT_OK) {
		fprintf(stderr, "fake_slurm: no history\n");
		exit(1);
	}
	free(records);
}

void
fake_bench(void)
{
	static char carbon[] =
	    "_SLURM_SPANK_OPTION_lowtide_carbon_aware=balanced";
	static const int sizes[] = {64, 256};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fake_fresh(NULL);
		held = 0;
		measure(sizes[i], "", NULL);
		measure(sizes[i], ", --carbon-aware", carbon);
		write_history(100000);
		measure(sizes[i], ", 100000 groups of runs", NULL);
		fake_done(NULL);
	}
}
