/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job as slurmctld has it, as a request: to price what came in without a
 * quote, or changed since.
 */
#include <stdio.h>
#include <string.h>

#include "daemon.h"

/* The partitions of "a,b" that the market knows. */
static int
partitions_of(
    int *partitions, const char *names, const struct lt_market *market)
{
	int count = 0;
	while (*names) {
		char name[LT_NAME_SIZE];
		const size_t length = strcspn(names, ",");
		if (length < sizeof(name)) {
			memcpy(name, names, length);
			name[length] = '\0';
			const int index = lt_market_partition(market, name);
			if (index >= 0 && count < LT_PARTITIONS_MAX)
				partitions[count++] = index;
		}
		names += length + (names[length] == ',');
	}
	return count;
}

bool
lt_request_of_job(struct lt_request *request, int *partitions,
    int *partition_count, const struct lt_slurm_job *job,
    const struct lt_market *market, int64_t now_utc_s)
{
	*request = (struct lt_request){.uid = job->uid};
	*partition_count = partitions_of(partitions, job->partition, market);
	if (*partition_count == 0)
		return false;
	snprintf(
	    request->account, sizeof(request->account), "%s", job->account);
	snprintf(request->qos, sizeof(request->qos), "%s", job->qos);
	request->min_nodes = request->max_nodes = job->nodes ? job->nodes : 1;
	request->cpus = job->cpus;
	request->gpus = job->gpus;
	request->memory_mib_per_node = job->memory_mib / request->min_nodes;
	request->exclusive = job->exclusive;
	request->array_tasks = job->array_pending > 0 ? job->array_pending : 1;
	request->limit_s =
	    job->limit_s == INT64_MAX ? LT_UNSET_64 : job->limit_s;
	request->expected_run_s = LT_UNSET_64;
	request->home = partitions[0];
	request->earliest_utc_s =
	    job->eligible_utc_s > now_utc_s ? job->eligible_utc_s : now_utc_s;
	if (job->start_utc_s && job->state != LT_JOB_PENDING)
		request->earliest_utc_s = job->start_utc_s;
	request->deadline_utc_s = LT_UNSET_64;
	request->max_cost_micros = LT_UNSET_64;
	request->pins = LT_PIN_PARTITION | LT_PIN_BEGIN;
	return true;
}
