/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One submission as slurmctld would make it, and what the ring has after it:
 * for fake_submit.c and fake_ring.c.
 */
#include "fake.h"

#include "files.h"

void
fake_send(struct submission *out, const struct wish *wish)
{
	job_desc_msg_t job;
	char *message = NULL, *env[1] = {NULL};

	fake_job_defaults(&job);
	job.account = slurm_xstrdup(wish->account);
	job.array_inx = slurm_xstrdup(wish->array);
	job.tres_per_job = slurm_xstrdup(wish->gres);
	job.admin_comment = slurm_xstrdup(wish->comment);
	job.partition = slurm_xstrdup(wish->partition);
	job.dependency = slurm_xstrdup(wish->dependency);
	job.script = wish->interactive ? NULL : strdup("#!/bin/sh\n");
	if (wish->uid)
		job.user_id = wish->uid;
	if (wish->minutes)
		job.time_limit = wish->minutes;
	if (wish->cron)
		job.bitflags |= CRON_JOB;
	if (wish->held)
		job.priority = 0;
	env[0] = slurm_xstrdup(wish->option);
	job.spank_job_env = env;
	job.spank_job_env_size = wish->option != NULL ? 1 : 0;
	memset(out, 0, sizeof(*out));
	out->code = fake_submit(&job, job.user_id, &message);
	snprintf(out->message, sizeof(out->message), "%s", message != NULL ? message : "");
	snprintf(out->comment, sizeof(out->comment), "%s",
	    job.admin_comment != NULL ? job.admin_comment : "");
	snprintf(out->partition, sizeof(out->partition), "%s",
	    job.partition != NULL ? job.partition : "");
	out->priority = job.priority;
	out->time_limit = job.time_limit;
	out->begin_utc_s = job.begin_time;
	free(job.account);
	free(job.array_inx);
	free(job.tres_per_job);
	free(job.admin_comment);
	free(job.partition);
	free(job.dependency);
	free(job.script);
	free(env[0]);
	free(message);
}

void
fake_restart(void)
{
	fake_again();
}

/* A change for which nothing more is held, or a job that was refused. */
static bool
is_nothing(const struct lt_ring_record *record)
{
	return (record->flags & (LT_QUOTE_MODIFY | LT_QUOTE_REFUSED)) &&
	       !(record->flags & LT_QUOTE_WHOLE) && record->per_task.money_micros == 0 &&
	       record->per_task.carbon_mg == 0;
}

/* By the ring's own reader. */
static uint32_t
count_records(struct lt_ring_record *out, bool all_of_them)
{
	struct lt_ring_record *const all = calloc(LT_RING_SLOTS, sizeof(*all));
	uint64_t generation, highest, contiguous;
	uint32_t count = 0, bad = 0;
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_RING_FILE);
	fd = lt_ring_open(path, false, &generation, NULL);
	assert_true(fd >= 0);
	assert_int_equal(
	    lt_ring_read(fd, generation, 0, all, &count, &highest, &contiguous, &bad, NULL), LT_OK);
	close(fd);
	assert_int_equal(bad, 0);
	assert_int_equal(highest, contiguous);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++)
		if (all_of_them || !is_nothing(&all[i]))
			all[kept++] = all[i];
	if (out != NULL && kept > 0)
		*out = all[kept - 1];
	free(all);
	return kept;
}

uint32_t
fake_records(struct lt_ring_record *out)
{
	return count_records(out, true);
}

uint32_t
fake_holds(struct lt_ring_record *out)
{
	return count_records(out, false);
}
