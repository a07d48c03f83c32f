/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a job as slurmctld has it into a request, to price a job that came without a quote or was
 * changed since. Pure but for lt_request_look(), which asks the batch system where the job finds a
 * node.
 */
#include <stdio.h>
#include <string.h>

#include "request.h"
#include "terms.h"
#include "units.h"

/* The partitions of "a,b" that the market knows. */
static int
partitions_of(int *partitions, const char *names, const struct lt_market *market)
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

/* Sets what a waiting job asks; ReqTRES is one lower bound more. */
static void
set_asked(struct lt_request *request, const struct lt_batch_job *job)
{
	const struct lt_batch_asked *const asked = lt_job_asked(job);

#define FIELD(name) request->name = asked->name;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	if (request->min_nodes == 0)
		request->min_nodes = 1;
	request->nodes_open = asked->max_nodes == 0;
	if (request->max_nodes < request->min_nodes)
		request->max_nodes = request->min_nodes;
	if (request->cpus < job->cpus)
		request->cpus = job->cpus;
	if (request->gpus < job->gpus)
		request->gpus = job->gpus;
	request->pod = asked->pod;
	request->spread = asked->spread;
	request->tasks_implied = asked->tasks_implied;
	request->bind_gpus = asked->bind_gpus;
	request->overcommit = asked->overcommit;
	request->memory_mib_per_node = asked->memory_mib_per_node;
	request->memory_mib_per_cpu = asked->memory_mib_per_cpu;
	request->memory_mib_per_gpu = asked->memory_mib_per_gpu;
	request->whole_memory = asked->whole_memory;
}

bool
lt_request_of_job(struct lt_job_request *made, const struct lt_batch_job *job,
    const struct lt_market *market, int64_t now_utc_s)
{
	struct lt_request *const request = &made->request;
	const int *const partitions = made->partitions;

	*request = (struct lt_request){.uid = job->uid};
	made->partition_count = partitions_of(made->partitions, job->partition, market);
	if (made->partition_count == 0)
		return false;
	snprintf(request->account, sizeof(request->account), "%s", job->account);
	snprintf(request->qos, sizeof(request->qos), "%s", job->qos);
	snprintf(request->name, sizeof(request->name), "%s", job->name);
	for (int i = 0; i < made->partition_count; i++)
		request->named[i] = (uint16_t)partitions[i];
	request->named_count = (uint32_t)made->partition_count;
	set_asked(request, job);
	request->exclusive = job->exclusive;
	request->array_tasks = job->array_pending > 0 ? job->array_pending : 1;
	request->limit_s = job->limit_s == INT64_MAX ? LT_UNSET_64 : job->limit_s;
	request->home = partitions[0];
	request->earliest_utc_s = job->eligible_utc_s > now_utc_s ? job->eligible_utc_s : now_utc_s;
	if (job->start_utc_s && job->state != LT_JOB_PENDING)
		request->earliest_utc_s = job->start_utc_s;
	lt_request_unset(request);
	request->pins = LT_PIN_PARTITION | LT_PIN_BEGIN | LT_PIN_FREQUENCY;
	return true;
}

void
lt_request_look(
    struct lt_job_request *made, const struct lt_batch_job *job, const struct lt_market *market)
{
	lt_batch_places(&made->places, job, market);
	made->request.closed = made->places.closed;
}

/* Lists the full partitions. How long they stay full is not known: the decision is made again
 * before the start. */
uint32_t
lt_request_full(struct lt_planned *windows, uint32_t most, const struct lt_job_request *made,
    const struct lt_market *market, int64_t now_utc_s)
{
	enum { FULL_S = 15 * LT_MINUTE_S };
	uint32_t count = 0;

	for (uint32_t i = 0; i < market->partition_count && count < most; i++)
		if (made->places.full[i])
			windows[count++] = (struct lt_planned){.partition = (uint16_t)i,
			    .nodes = (float)market->partitions[i].node_count,
			    .start_utc_s = now_utc_s,
			    .end_utc_s = now_utc_s + FULL_S};
	return count;
}
