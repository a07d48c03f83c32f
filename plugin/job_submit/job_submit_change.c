/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of jobs: the request of a job by its terms, and its request after the change. The second
 * is derived anew, so a field per node counts on all nodes and a field per task for all tasks. A
 * value that can't be derived is taken as the larger one. Changes that are newer than the terms
 * file are kept here.
 */
#include "job_change.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"

enum { CHANGES_KEPT = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int64_t made_utc_s; /* 0 = unused */
	struct lt_terms terms;
} kept[CHANGES_KEPT];
static uint32_t next_kept;

static int
partition_by_hash(const struct lt_market *market, uint32_t hash)
{
	for (uint32_t i = 0; i < market->partition_count; i++)
		if (lt_name_hash(market->partitions[i].name) == hash)
			return (int)i;
	return -1;
}

static int
partitions_from_terms(struct lt_request *request, const struct lt_terms *terms,
    const struct lt_market *market, struct lt_error *err)
{
	request->home = -1;
	if (terms->partition_count > LT_TERMS_PARTITIONS)
		return lt_fail(
		    err, LT_ENOENT, "the job names more than %d partitions", LT_TERMS_PARTITIONS);
	for (uint32_t i = 0; i < terms->partition_count; i++) {
		const int index = partition_by_hash(market, terms->partition_hash[i]);

		if (index < 0)
			break;
		request->named[request->named_count++] = (uint16_t)index;
	}
	if (request->named_count == 0 || request->named_count < terms->partition_count)
		return lt_fail(err, LT_ENOENT, "the job's partition is not known to lowtide");
	request->home = request->named[0];
	return LT_OK;
}

static void
bound_nodes(struct lt_request *request, uint32_t least, uint32_t most)
{
	request->min_nodes = larger(least, 1);
	request->nodes_open = most == 0;
	request->max_nodes = larger(most, request->min_nodes);
}

int
lt_request_from_terms(struct lt_request *request, const struct lt_terms *terms,
    const struct lt_market *market, struct lt_error *err)
{
	const struct lt_terms_asked *const asked = &terms->asked;
	const uint32_t flags = terms->flags;

	memset(request, 0, sizeof(*request));
#define FIELD(name) request->name = asked->name;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	bound_nodes(request, asked->min_nodes, asked->max_nodes);
	request->memory_mib_per_node = asked->memory_mib_per_node;
	request->memory_mib_per_cpu = asked->memory_mib_per_cpu;
	request->memory_mib_per_gpu = asked->memory_mib_per_gpu;
	request->exclusive = flags & LT_TERMS_EXCLUSIVE;
	request->spread = flags & LT_TERMS_SPREAD;
	request->tasks_implied = flags & LT_TERMS_TASKS_IMPLIED;
	request->bind_gpus = flags & LT_TERMS_BIND_GPUS;
	request->overcommit = flags & LT_TERMS_OVERCOMMIT;
	request->whole_memory = flags & LT_TERMS_WHOLE_MEMORY;
	request->plane = flags & LT_TERMS_PLANE;
	request->uid = terms->uid;
	request->limit_s =
	    terms->limit_s == UINT32_MAX ? (int64_t)LT_UNSET_64 : (int64_t)terms->limit_s;
	lt_request_unset(request);
	request->available_micros = request->available_mg = INT64_MAX;
	request->array_tasks = 1;
	return partitions_from_terms(request, terms, market, err);
}

/* Fewer nodes than the maximum that was: the maximum stays. */
static void
lay_nodes(struct lt_request *request, const job_desc_msg_t *job, const struct lt_request *changed)
{
	const uint32_t was_most = request->nodes_open ? 0 : request->max_nodes;
	uint32_t least = request->min_nodes, most = was_most;

	if (job->min_nodes != NO_VAL)
		least = changed->min_nodes;
	if (any(job->req_nodes))
		least = larger(least, changed->min_nodes);
	if (job->max_nodes != NO_VAL)
		most = changed->nodes_open ? 0 : changed->max_nodes;
	bound_nodes(request, least, most);
}

/* Replaces the fields that the change sets: fewer tasks per node are more nodes. */
static void
lay_size(struct lt_request *request, const job_desc_msg_t *job, const struct lt_request *changed)
{
	const struct lt_request was = *request;

#define FIELD(name)                                                                                \
	if (changed->name > 0)                                                                     \
		request->name = changed->name;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	request->min_nodes = was.min_nodes;
	request->max_nodes = was.max_nodes;
	/* Slurm's own sums, ReqTRES, are in these. */
	request->cpus = larger(was.cpus, changed->cpus);
	request->gpus = larger(was.gpus, changed->gpus);
	lay_nodes(request, job, changed);
	if (job->pn_min_memory != NO_VAL64) {
		request->memory_mib_per_node = changed->memory_mib_per_node;
		request->memory_mib_per_cpu = changed->memory_mib_per_cpu;
		request->whole_memory = changed->whole_memory;
	}
	if (changed->memory_mib_per_gpu > 0)
		request->memory_mib_per_gpu = changed->memory_mib_per_gpu;
	request->exclusive |= changed->exclusive;
}

/*
 * A job's record shows 1 CPU per task where nobody said how many, and since its first test the
 * defaults of its partition as if they were asked. With other partitions or GPUs Slurm takes those
 * defaults anew; the job's own wish can't be distinguished from them, so the larger counts.
 */
static void
lay_defaults(struct lt_request *request, const job_desc_msg_t *job, const struct lt_market *market)
{
	const bool moves = any(job->partition);

	if (!moves && !any_tres(job))
		return;
	const bool said = job->cpus_per_task != NO_VAL16 || any(job->cpus_per_tres) ||
			  (request->cpus_per_task > 1 &&
			      (request->cpus_per_gpu == 0 || request->gpus_per_task == 0));

	if (!said && request->cpus_per_task == 1)
		request->cpus_per_task = 0;
	for (uint32_t i = 0; i < request->named_count; i++) {
		const struct lt_partition *const to = &market->partitions[request->named[i]];
		const uint64_t per_task =
		    (uint64_t)request->gpus_per_task * to->default_cpus_per_gpu;

		if (!said)
			request->cpus_per_task = larger(request->cpus_per_task,
			    per_task < UINT32_MAX ? (uint32_t)per_task : UINT32_MAX);
		if (!moves)
			continue;
		if (!said && per_task == 0)
			request->cpus_per_gpu =
			    larger(request->cpus_per_gpu, to->default_cpus_per_gpu);
		if (request->memory_mib_per_gpu > 0 && !any(job->mem_per_tres) &&
		    request->memory_mib_per_gpu < to->default_memory_mib_per_gpu)
			request->memory_mib_per_gpu = to->default_memory_mib_per_gpu;
	}
}

int
lt_request_lay(struct lt_request *request, const job_desc_msg_t *job,
    const struct lt_market *market, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_request changed;
	const int code = lt_request_from_desc(&changed, job, market, now_utc_s, err);

	if (any(job->partition)) {
		if (code != LT_OK)
			return code;
		request->exclusive |= lt_stays_whole(request, market);
		request->home = changed.home;
		request->named_count = changed.named_count;
		memcpy(request->named, changed.named, sizeof(request->named));
	}
	if (job->time_limit != NO_VAL)
		request->limit_s = changed.limit_s;
	/* A running job's end: it ran no longer than its limit until now. */
	if ((int64_t)job->end_time > now_utc_s && request->limit_s != LT_UNSET_64)
		request->limit_s += (int64_t)job->end_time - now_utc_s;
	lay_size(request, job, &changed);
	lay_defaults(request, job, market);
	return LT_OK;
}

void
lt_terms_lay(
    struct lt_terms *terms, const struct lt_request *request, const struct lt_market *market)
{
	struct lt_terms_asked *const asked = &terms->asked;

#define FIELD(name) asked->name = request->name;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	if (request->nodes_open)
		asked->max_nodes = 0;
	asked->memory_mib_per_node = request->memory_mib_per_node;
	asked->memory_mib_per_cpu = request->memory_mib_per_cpu;
	asked->memory_mib_per_gpu = request->memory_mib_per_gpu;
	terms->flags &= ~(uint32_t)LT_TERMS_WHOLE_MEMORY;
	terms->flags |= (request->whole_memory ? (uint32_t)LT_TERMS_WHOLE_MEMORY : 0) |
			(request->exclusive ? (uint32_t)LT_TERMS_EXCLUSIVE : 0);
	terms->limit_s = request->limit_s < 0 || request->limit_s > UINT32_MAX
			     ? UINT32_MAX
			     : (uint32_t)request->limit_s;
	terms->partition_count = request->named_count;
	for (uint32_t i = 0; i < request->named_count && i < LT_TERMS_PARTITIONS; i++)
		terms->partition_hash[i] = lt_name_hash(market->partitions[request->named[i]].name);
	if (request->named_count == 0 && request->home >= 0) {
		terms->partition_count = 1;
		terms->partition_hash[0] = lt_name_hash(market->partitions[request->home].name);
	}
}

void
lt_changes_keep(const struct lt_terms *terms, int64_t now_utc_s)
{
	uint32_t at = CHANGES_KEPT;

	pthread_mutex_lock(&mutex);
	for (uint32_t i = 0; i < CHANGES_KEPT; i++)
		if (kept[i].terms.job_id == terms->job_id)
			at = i;
	if (at == CHANGES_KEPT)
		at = next_kept++ % CHANGES_KEPT;
	kept[at].made_utc_s = now_utc_s;
	kept[at].terms = *terms;
	pthread_mutex_unlock(&mutex);
}

bool
lt_changes_find(struct lt_terms *changed, const struct lt_terms *terms)
{
	bool found = false;

	pthread_mutex_lock(&mutex);
	for (uint32_t i = 0; i < CHANGES_KEPT && !found; i++) {
		if (kept[i].made_utc_s == 0 || kept[i].terms.job_id != terms->job_id)
			continue;
		found = kept[i].terms.quote_id == terms->quote_id &&
			kept[i].made_utc_s >= terms->seen_utc_s;
		if (found)
			*changed = kept[i].terms;
		else
			kept[i].made_utc_s = 0;
	}
	pthread_mutex_unlock(&mutex);
	return found;
}

void
lt_changes_forget(void)
{
	pthread_mutex_lock(&mutex);
	memset(kept, 0, sizeof(kept));
	pthread_mutex_unlock(&mutex);
}

uint32_t
lt_changed_job_id(const job_desc_msg_t *job)
{
	const char *const text = job->job_id_str;
	char *end;
	long id, offset = 0;

	if (lt_job_desc_sluid(job) != 0)
		return 0;
	if (text == NULL)
		return lt_job_desc_id(job);
	id = strtol(text, &end, 10);
	if (*end == '+')
		offset = strtol(end + 1, NULL, 10);
	return id > 0 ? (uint32_t)id + (uint32_t)offset : 0;
}
