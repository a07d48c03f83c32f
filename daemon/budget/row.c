/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmdbd loses the start of a run when it ends before it has written it: the
 * end alone then makes a row without partition, limit, uid and array. And
 * slurmctld that starts again tells slurmdbd all partitions that a running job
 * named.
 */
#include <stdio.h>
#include <string.h>

#include "row.h"

static bool
is_one_name(const char *partition)
{
	return partition[0] != '\0' && strchr(partition, ',') == NULL;
}

enum { START_LATE_S = 60 }; /* slurmctld tells starts again every 5 s */

static void
take_array(struct lt_slurm_run *row, uint32_t array_job_id, uint32_t task)
{
	if (row->partition[0] != '\0')
		return;
	row->array_job_id = array_job_id;
	row->array_task = task;
}

static void
take(struct lt_slurm_run *row, const char *partition, uint32_t uid,
    const char *user, int64_t limit_s)
{
	if (row->partition[0] == '\0') { /* then all of the start is lost */
		row->uid = uid;
		row->limit_s = limit_s;
		if (user != row->user)
			snprintf(row->user, sizeof(row->user), "%s", user);
	}
	snprintf(row->partition, sizeof(row->partition), "%.*s",
	    (int)sizeof(row->partition) - 1, partition);
}

static bool
take_record(struct lt_slurm_run *row, const struct lt_jobs_state *jobs)
{
	for (uint32_t i = 0; i < jobs->list.count; i++) {
		const struct lt_slurm_job *const job = &jobs->list.jobs[i];

		if (job->job_id != row->job_id ||
		    job->submit_utc_s != row->submit_utc_s ||
		    job->state == LT_JOB_PENDING ||
		    !is_one_name(job->partition))
			continue;
		take_array(row, job->array_job_id, job->array_task);
		take(row, job->partition, job->uid, job->user, job->limit_s);
		return true;
	}
	for (uint32_t i = 0; i < jobs->ended_count; i++) {
		const struct lt_slurm_run *const run = &jobs->ended[i].run;

		if (run->job_id != row->job_id ||
		    run->submit_utc_s != row->submit_utc_s ||
		    !is_one_name(run->partition))
			continue;
		take_array(row, run->array_job_id, run->array_task);
		take(row, run->partition, run->uid, run->user, run->limit_s);
		return true;
	}
	return false;
}

void
lt_row_mend(struct lt_slurm_run *row, const struct lt_jobs_state *jobs,
    struct lt_ledger *ledger, int64_t now_utc_s)
{
	struct lt_ledger_hold hold = {0};
	char partition[LT_NAME_SIZE];

	if (is_one_name(row->partition) || row->start_utc_s == 0 ||
	    take_record(row, jobs) || lt_row_is_early(row, now_utc_s))
		return;
	const uint32_t id = row->array_job_id ? row->array_job_id : row->job_id;
	const bool has_hold =
	    lt_ledger_hold_of_job(ledger, id, &hold, NULL) == LT_OK;
	if (lt_slurm_partition_of(partition, row->node_list, row->partition,
		has_hold ? hold.quote.partition : "", NULL) != LT_OK)
		return;
	take(row, partition, has_hold ? hold.uid : row->uid, row->user,
	    row->limit_s);
}

bool
lt_row_is_early(const struct lt_slurm_run *row, int64_t now_utc_s)
{
	return row->partition[0] == '\0' && row->start_utc_s != 0 &&
	       now_utc_s - row->end_utc_s < START_LATE_S;
}

int
lt_run_keys_compare(const void *a, const void *b)
{
	const struct lt_run_key *const x = a, *const y = b;

	if (x->job_id != y->job_id)
		return x->job_id < y->job_id ? -1 : 1;
	return x->submit_utc_s < y->submit_utc_s
		   ? -1
		   : x->submit_utc_s > y->submit_utc_s;
}
