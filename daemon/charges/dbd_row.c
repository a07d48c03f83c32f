/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completes rows of slurmdbd. It loses the start of a run that ends before the start was written:
 * the end alone then makes a row without partition, name, limit, uid and array. A restarted
 * slurmctld gives slurmdbd all partitions that a running job named. Also finds which quote a row's
 * run had.
 *
 * Reads the job list, the ledger and, for a node's partition, the batch system; writes the caller's
 * row. A row that cannot be completed stays as it is.
 */
#include <stdio.h>
#include <string.h>

#include "jobs.h"
#include "dbd_row.h"

static bool
is_one_name(const char *partition)
{
	return partition[0] != '\0' && strchr(partition, ',') == NULL;
}

struct start { /* what is lost with it */
	const char *partition, *user, *name;
	uint32_t uid, array_job_id, array_task;
	int64_t limit_s;
};

static void
copy_start(struct lt_batch_run *row, const struct start *start)
{
	if (row->partition[0] == '\0') { /* then all of the start is lost */
		row->uid = start->uid;
		row->array_job_id = start->array_job_id;
		row->array_task = start->array_task;
		row->limit_s = start->limit_s;
		/* "allocation" is slurmdbd's word for none. */
		snprintf(row->name, sizeof(row->name), "%s", start->name);
		if (start->user != row->user)
			snprintf(row->user, sizeof(row->user), "%s", start->user);
	}
	snprintf(row->partition, sizeof(row->partition), "%.*s", (int)sizeof(row->partition) - 1,
	    start->partition);
}

/* Takes the start from slurmctld's record; false: it has none of this run. */
static bool
take_listed(struct lt_batch_run *row, const struct lt_jobs_state *jobs)
{
	for (uint32_t i = 0; i < jobs->list.count; i++) {
		const struct lt_batch_job *const job = &jobs->list.jobs[i];

		if (job->job_id != row->job_id || job->submit_utc_s != row->submit_utc_s ||
		    job->state == LT_JOB_PENDING || !is_one_name(job->partition))
			continue;
		copy_start(row, &(struct start){.partition = job->partition,
				    .user = job->user,
				    .name = job->name,
				    .uid = job->uid,
				    .array_job_id = job->array_job_id,
				    .array_task = job->array_task,
				    .limit_s = job->limit_s});
		return true;
	}
	return false;
}

/* Takes it from the runs that ended and wait for their rows. */
static bool
take_ended(struct lt_batch_run *row, const struct lt_jobs_state *jobs)
{
	for (uint32_t i = 0; i < jobs->ended_count; i++) {
		const struct lt_batch_run *const run = &jobs->ended[i].run;

		if (run->job_id != row->job_id || run->submit_utc_s != row->submit_utc_s ||
		    !is_one_name(run->partition))
			continue;
		copy_start(row, &(struct start){.partition = run->partition,
				    .user = run->user,
				    .name = run->name,
				    .uid = run->uid,
				    .array_job_id = run->array_job_id,
				    .array_task = run->array_task,
				    .limit_s = run->limit_s});
		return true;
	}
	return false;
}

/* Takes what its record said when the run was settled. */
static bool
take_settled(struct lt_batch_run *row, struct lt_ledger *ledger)
{
	const struct lt_run_key key = {row->job_id, row->submit_utc_s};
	struct lt_run run;

	if (row->partition[0] != '\0' || lt_ledger_run(ledger, key, &run, NULL) != LT_OK ||
	    !is_one_name(run.partition))
		return false;
	copy_start(row, &(struct start){.partition = run.partition,
			    .user = run.user,
			    .name = "",
			    .uid = run.uid,
			    .array_job_id = run.array_job_id,
			    .array_task = run.array_task,
			    .limit_s = row->limit_s});
	return true;
}

void
lt_dbd_row_fill(
    struct lt_batch_run *row, const struct lt_jobs_state *jobs, struct lt_ledger *ledger)
{
	struct lt_ledger_hold hold = {0};
	char partition[LT_NAME_SIZE];

	if (is_one_name(row->partition) || row->start_utc_s == 0 || take_listed(row, jobs) ||
	    take_ended(row, jobs) || take_settled(row, ledger))
		return;
	const uint32_t id = row->array_job_id ? row->array_job_id : row->job_id;
	const bool has_hold = lt_ledger_hold_of_job(ledger, id, &hold, NULL) == LT_OK;
	if (lt_batch_partition_of(partition, row->first_node, row->partition,
		has_hold ? hold.quote.partition : "", NULL) != LT_OK)
		return;
	copy_start(row, &(struct start){.partition = partition,
			    .user = row->user,
			    .name = "",
			    .uid = has_hold ? hold.uid : row->uid,
			    .array_job_id = row->array_job_id,
			    .array_task = row->array_task,
			    .limit_s = row->limit_s});
}

int
lt_run_keys_compare(const void *a, const void *b)
{
	const struct lt_run_key *const x = a, *const y = b;

	if (x->job_id != y->job_id)
		return x->job_id < y->job_id ? -1 : 1;
	return x->submit_utc_s < y->submit_utc_s ? -1 : x->submit_utc_s > y->submit_utc_s;
}

bool
lt_dbd_row_quote(struct lt_quote *quote, struct lt_ledger *ledger, const struct lt_batch_run *row,
    const struct lt_run *known)
{
	struct lt_ledger_hold hold;
	const char *const text = row->admin_comment;

	if (known != NULL && known->quote_id != 0 &&
	    lt_ledger_hold(ledger, known->quote_id, &hold, NULL) == LT_OK) {
		*quote = hold.quote;
		return true;
	}
	const bool has_text =
	    text != NULL && lt_quote_unpack(quote, text, strlen(text), NULL) == LT_OK;
	if (has_text && lt_ledger_hold(ledger, quote->id, &hold, NULL) == LT_OK) {
		if (hold.uid != row->uid)
			return false; /* another user's, who must not end it */
		if (hold.quote.home[0] != '\0')
			*quote = hold.quote;
		return true;
	}
	if (has_text)
		return true;
	if (!lt_hold_by_id(ledger, row->array_job_id, row->job_id, row->uid, &hold))
		return false;
	*quote = hold.quote;
	return true;
}
