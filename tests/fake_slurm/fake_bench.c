/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long slurmctld waits for one job_submit(), its locks held: the plugin in this process, a
 * market and a snapshot of the promised size, a ring on disk. In processor time, so that what else
 * runs here counts little. Prints lines "PARTITIONS KIND MEDIAN P99 MEAN" in microseconds, for
 * tests/bench/submit.sh, which also counts the instructions of calls that are made for it.
 */
#include "fake.h"

#include <time.h>

#include "files.h"
#include "history_file.h"

/* lowtided ingests what was held, each few seconds. */
enum { CALLS = 4000, ABSORBED_EACH = 100, WARM_UP = 2 * ABSORBED_EACH };

struct kind { /* of submissions */
	const char *name;
	bool asks;   /* --carbon-aware */
	bool unlike; /* no partition has the nodes of another */
	double times_us[CALLS];
	int count;
};

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
fill(job_desc_msg_t *job, int i)
{
	static char account[] = "team0000", gpus[] = "gres:gpu:2", script[] = "#!/bin/sh\n";

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
ingest(int partitions, bool unlike)
{
	char text[120];

	snprintf(text, sizeof(text),
	    "--partitions %d --shapes 4 --kinds %d --days 7 --teams 1000 "
	    "--absorbed %d",
	    partitions, unlike ? partitions : 1, held);
	fake_snapshots(text);
	fake_restart();
}

/* One submission; the microseconds of its call. */
static double
submit_us(int number, bool asks)
{
	static char carbon[] = "_SLURM_SPANK_OPTION_lowtide_carbon_aware=balanced";
	char *env[1] = {carbon};
	job_desc_msg_t job;
	char *message = NULL;

	fill(&job, number);
	job.spank_job_env = env;
	job.spank_job_env_size = asks ? 1 : 0;
	const double start = now_us();
	const int code = fake_submit(&job, job.user_id, &message);
	const double took = now_us() - start;

	if (code != SLURM_SUCCESS || job.admin_comment == NULL) {
		fprintf(stderr, "fake_slurm: %s\n", message != NULL ? message : "no quote");
		exit(1);
	}
	held++;
	free(job.account);
	free(job.admin_comment);
	free(job.partition);
	free(job.tres_per_node);
	free(message);
	return took;
}

/* Kinds take turns, each for as long as a snapshot stays, so that what else the machine does falls
 * on all of them. */
static void
measure(int partitions, struct kind *kinds, int kind_count)
{
	for (int i = 0; i < kind_count; i++)
		kinds[i].count = -WARM_UP;
	for (int turn = 0; kinds[kind_count - 1].count < CALLS; turn++) {
		struct kind *const kind = &kinds[turn % kind_count];

		ingest(partitions, kind->unlike);
		for (int i = 0; i < ABSORBED_EACH; i++, kind->count++) {
			const double us = submit_us(held, kind->asks);

			if (kind->count >= 0)
				kind->times_us[kind->count] = us;
		}
	}
	for (int i = 0; i < kind_count; i++) {
		double *const us = kinds[i].times_us;
		double sum = 0;

		qsort(us, CALLS, sizeof(us[0]), by_size);
		for (int k = 0; k < CALLS; k++)
			sum += us[k];
		printf("%d %s %.1f %.1f %.1f\n", partitions, kinds[i].name, us[CALLS / 2],
		    us[CALLS / 100 * 99], sum / CALLS);
	}
}

/* Other users' groups, and none of the jobs': each look-up goes all the way. */
static void
write_history(uint32_t count)
{
	struct lt_history_record *const records = calloc(count, sizeof(*records));
	char path[600];

	for (uint32_t i = 0; records != NULL && i < count; i++)
		records[i] = (struct lt_history_record){
		    .key = lt_history_key(
			&(struct lt_run_kind){i, "team0000", "train", 1, 8, 0, 0, 0, false},
			LT_HISTORY_NAME),
		    .figures = {20, 7800, 9000, false, 0, 0}};
	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_HISTORY_FILE);
	if (records == NULL || lt_history_write(path, records, count, 1764000000, NULL) != LT_OK) {
		fprintf(stderr, "fake_slurm: no history\n");
		exit(1);
	}
	free(records);
}

void
fake_bench(void)
{
	static struct kind kinds[] = {{.name = "plain"}, {.name = "carbon-aware", .asks = true},
	    {.name = "carbon-aware-unlike", .asks = true, .unlike = true}};
	static struct kind learned[] = {{.name = "plain-100000-groups"}};
	static const int sizes[] = {64, 256};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fake_fresh(NULL);
		held = 0;
		measure(sizes[i], kinds, 3);
		write_history(100000);
		measure(sizes[i], learned, 1);
		fake_done(NULL);
	}
}

void
fake_bench_calls(int partitions, bool asks, int calls)
{
	fake_fresh(NULL);
	held = 0;
	ingest(partitions, false);
	for (int i = 0; i < calls; i++)
		submit_us(i, asks);
	fake_done(NULL);
}
