/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frees lists of a batch system and looks users up in them: the part that is the same for every
 * system. Pure; nothing fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "decide.h"

void
lt_batch_jobs_free(struct lt_batch_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++)
		free(jobs->jobs[i].texts);
	free(jobs->jobs);
	lt_pool_free(jobs->pool);
	*jobs = (struct lt_batch_jobs){0};
}

void
lt_batch_runs_free(struct lt_batch_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++)
		free(runs->runs[i].admin_comment);
	free(runs->runs);
	*runs = (struct lt_batch_runs){0};
}

void
lt_batch_nodes_free(struct lt_batch_nodes *nodes)
{
	free(nodes->ranges);
	free(nodes->are_there);
	free(nodes->are_away);
	*nodes = (struct lt_batch_nodes){0};
}

void
lt_batch_partitions_free(struct lt_batch_partitions *read)
{
	free(read->partitions);
	free(read->shapes);
	free(read->strings);
	lt_batch_nodes_free(&read->nodes);
	*read = (struct lt_batch_partitions){0};
}

void
lt_batch_associations_free(struct lt_batch_associations *all)
{
	free(all->accounts);
	free(all->pairs);
	free(all->ties);
	*all = (struct lt_batch_associations){0};
}

static int
compare_uid(const void *key, const void *item)
{
	const uint32_t uid = *(const uint32_t *)key;
	const struct lt_batch_pair *const pair = item;

	return uid < pair->uid ? -1 : uid > pair->uid;
}

const char *
lt_pairs_user(const struct lt_batch_pair *pairs, uint32_t count, uint32_t uid)
{
	const struct lt_batch_pair *const pair =
	    count > 0 ? bsearch(&uid, pairs, count, sizeof(*pairs), compare_uid) : NULL;

	return pair != NULL ? pair->user : NULL;
}

bool
lt_pairs_uid(const struct lt_batch_pair *pairs, uint32_t count, const char *name, uint32_t *uid)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(pairs[i].user, name) == 0) {
			*uid = pairs[i].uid;
			return true;
		}
	return false;
}

void
lt_batch_update_init(struct lt_batch_update *update, uint32_t job_id)
{
	*update = (struct lt_batch_update){
	    .job_id = job_id, .begin_utc_s = LT_UNSET_64, .limit_s = LT_UNSET_64, .hold = LT_LEAVE};
}

const char *
lt_job_address(char out[LT_JOB_ADDRESS_SIZE], const struct lt_batch_job *job)
{
	if (job->array_task != UINT32_MAX)
		(void)snprintf(
		    out, LT_JOB_ADDRESS_SIZE, "%u_%u", job->array_job_id, job->array_task);
	else
		(void)snprintf(out, LT_JOB_ADDRESS_SIZE, "%u",
		    job->het_job_id != 0 ? job->het_job_id : job->job_id);
	return out;
}
