/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates Slurm's job description into lowtide's request. Every field may be unset, NULL or
 * forged: each is checked, nothing is trusted, and of two possible readings the larger counts.
 * Nothing fails here: a field that can't be read is left at the value that costs most, or pins the
 * job.
 */
#include "job_from_slurm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_text.h"
#include "ask_text.h"
#include "job_fields.h"
#include "job_pins.h"
#include "lookup.h"
#include "units.h"

static uint32_t
known32(uint32_t value)
{
	return value == NO_VAL || value == INFINITE ? 0 : value;
}

static uint32_t
known16(uint16_t value)
{
	return value == NO_VAL16 || value == INFINITE16 ? 0 : value;
}

bool
lt_lower_copy(char *out, size_t size, const char *text)
{
	size_t i = 0;

	for (; text != NULL && text[i] && i + 1 < size; i++)
		out[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
	out[i] = '\0';
	return text == NULL || !text[i];
}

int64_t
lt_limit_from_minutes(uint32_t minutes)
{
	if (minutes == NO_VAL)
		return LT_UNSET_64;
	if (minutes == INFINITE || minutes > LT_UNLIMITED_S / 60)
		return LT_UNLIMITED_S;
	return (int64_t)minutes * 60;
}

uint16_t
lt_signal_number(const char *name)
{
	static const struct {
		const char *name;
		uint16_t number;
	} table[] = {
	    {"HUP", SIGHUP},
	    {"INT", SIGINT},
	    {"QUIT", SIGQUIT},
	    {"USR1", SIGUSR1},
	    {"USR2", SIGUSR2},
	    {"TERM", SIGTERM},
	    {"CONT", SIGCONT},
	    {"TSTP", SIGTSTP},
	    {"URG", SIGURG},
	    {"XCPU", SIGXCPU},
	};

	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(name, table[i].name) == 0)
			return table[i].number;

	const unsigned long number = strtoul(name, NULL, 10);

	return number < 65 ? (uint16_t)number : 0;
}

/* named[], each once, and home. All named partitions must be known: a bound over only some of them
 * would be none. */
static int
partitions_of(struct lt_request *request, const char *text, const struct lt_market *market,
    struct lt_error *err)
{
	if (!any(text)) {
		request->home = lt_market_default_partition(market);
		if (request->home < 0)
			return lt_fail(
			    err, LT_ENOENT, "the default partition is not known to lowtide");
		return LT_OK;
	}
	bool seen[LT_PARTITIONS_MAX] = {false};
	uint32_t names = 0;

	request->home = -1;
	while (*text) {
		const size_t length = strcspn(text, ",");
		char name[LT_NAME_SIZE];
		int index = -1;

		if (length > 0 && length < sizeof(name)) {
			memcpy(name, text, length);
			name[length] = '\0';
			index = lt_market_partition(market, name);
		}
		if (index < 0 || names++ == LT_PARTITIONS_MAX) {
			request->home = -1;
			return lt_fail(err, LT_ENOENT, "partition %.*s is not known to lowtide",
			    length < 64 ? (int)length : 64, text);
		}
		if (request->home < 0)
			request->home = index;
		if (!seen[index])
			request->named[request->named_count++] = (uint16_t)index;
		seen[index] = true;
		text += length;
		text += *text != '\0';
	}
	return request->home < 0 ? lt_fail(err, LT_ENOENT, "no partition") : LT_OK;
}

/* Named nodes are all given; with --contiguous those between two too, and
 * how many those are only slurmctld knows. */
static uint32_t
nodes_named(
    const struct lt_request *request, const job_desc_msg_t *job, const struct lt_market *market)
{
	uint32_t nodes = lt_hosts_count(job->req_nodes);

	if (nodes < 2 || known16(job->contiguous) == 0)
		return nodes;
	for (uint32_t i = 0; i < request->named_count; i++)
		nodes = larger(nodes, market->partitions[request->named[i]].node_count);
	if (request->named_count == 0 && request->home >= 0)
		nodes = larger(nodes, market->partitions[request->home].node_count);
	return nodes;
}

static bool
is_exclusive(const job_desc_msg_t *job, const struct lt_market *market)
{
	return job->shared == JOB_SHARED_NONE || known16(job->reboot) > 0 ||
	       /* Cores kept for the system: Slurm gives whole nodes, where users may ask for it at
		* all. */
	       (market->core_spec_counts && job->core_spec != NO_VAL16);
}

/* Returns the shards of one node, by all ways to ask for them, as if all came from it. */
static uint32_t
shards_of(const job_desc_msg_t *job)
{
	const uint64_t tasks = larger(known32(job->num_tasks), 1);
	const uint64_t shards = (uint64_t)lt_shards_count(job->tres_per_node) +
				lt_shards_count(job->tres_per_job) +
				tasks * ((uint64_t)lt_shards_count(job->tres_per_socket) +
					    lt_shards_count(job->tres_per_task));

	return shards < UINT32_MAX ? (uint32_t)shards : UINT32_MAX;
}

/* --segment: a maximum that is no multiple of it keeps the job from running. */
static bool
has_segments(const job_desc_msg_t *job)
{
#if LT_SLURM_AT_LEAST(24, 11)
	return known16(job->segment_size) > 0;
#else
	(void)job;
	return false;
#endif
}

static void
size_of(struct lt_request *request, const job_desc_msg_t *job, const struct lt_market *market)
{
	char *const type = request->gpu_type;
	const char *const per_node = job->tres_per_node;

	request->min_nodes =
	    larger(larger(known32(job->min_nodes), nodes_named(request, job, market)), 1);
	request->nodes_named = lt_hosts_count(job->req_nodes);
	request->nodes_counted =
	    larger(lt_features_count(job->features), lt_features_count(job->prefer));
	request->nodes_open = known32(job->max_nodes) == 0;
	request->max_nodes = larger(known32(job->max_nodes), request->min_nodes);
	request->spread = (job->bitflags & SPREAD_JOB) != 0 || has_segments(job);
	request->bind_gpus = (job->bitflags & GRES_ENFORCE_BIND) != 0;
	request->exclusive = is_exclusive(job, market);
	request->plane = job->task_dist != NO_VAL &&
			 (job->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_PLANE;
	request->overcommit = job->overcommit != NO_VAL8 && job->overcommit > 0;
	if (market->core_spec_counts && job->core_spec != NO_VAL16) {
		request->spec_cores = job->core_spec & (CORE_SPEC_THREAD - 1U);
		request->spec_threads = (job->core_spec & CORE_SPEC_THREAD) != 0;
	}

	request->tasks = known32(job->num_tasks);
	request->tasks_implied = !(job->bitflags & JOB_NTASKS_SET);
	request->cpus = known32(job->min_cpus);
	request->max_cpus = known32(job->max_cpus);
	request->cpus_per_task =
	    larger(known16(job->cpus_per_task), lt_gres_count(job->tres_per_task, "cpu", NULL));
	request->cpus_per_node = known16(job->pn_min_cpus);
	request->tasks_per_node = known16(job->ntasks_per_node);
	request->tasks_per_socket = known16(job->ntasks_per_socket);
	request->tasks_per_core = known16(job->ntasks_per_core);
	request->tasks_per_board = known16(job->ntasks_per_board);
	request->tasks_per_gpu = known16(job->ntasks_per_tres);
	request->sockets_per_node = known16(job->sockets_per_node);
	request->threads_per_core = known16(job->threads_per_core);
	request->cores_per_socket = known16(job->cores_per_socket);
	request->tmp_disk_mib = known32(job->pn_min_tmp_disk);
	request->excluded_nodes = lt_hosts_count(job->exc_nodes);
	/* A text that is cut is not known to be met anywhere else. */
	if (snprintf(request->features, sizeof(request->features), "%s",
		any(job->features) ? job->features : "") >= (int)sizeof(request->features))
		memcpy(request->features, "|", 2);

	request->gpus = lt_gres_count(job->tres_per_job, "gpu", type);
	request->gpus_per_node = lt_gres_count(per_node, "gpu", type);
	request->gpus_per_socket = lt_gres_count(job->tres_per_socket, "gpu", type);
	request->gpus_per_task = lt_gres_count(job->tres_per_task, "gpu", type);
	request->cpus_per_gpu = lt_gres_count(job->cpus_per_tres, "gpu", NULL);
	request->shards_per_node = shards_of(job);
}

static void
memory_of(struct lt_request *request, const job_desc_msg_t *job)
{
	request->memory_mib_per_gpu = lt_gres_count(job->mem_per_tres, "gpu", NULL);
	if (job->pn_min_memory == NO_VAL64 || job->pn_min_memory == INFINITE64)
		return;
	if (job->pn_min_memory & MEM_PER_CPU)
		request->memory_mib_per_cpu = job->pn_min_memory & ~MEM_PER_CPU;
	else
		request->memory_mib_per_node = job->pn_min_memory;
	request->whole_memory =
	    request->memory_mib_per_cpu == 0 && request->memory_mib_per_node == 0;
}

bool
lt_job_may_raise(const job_desc_msg_t *job)
{
#define NUMBER(field, unset, option) job->field != (unset) ||
#define TEXT(field, option) any(job->field) ||
#define TIME(field) job->field > 0 ||
#define KEEPS(field, why)
#define PINS(field, option, why)
	return LT_JOB_FIELDS(NUMBER, TEXT, TIME, KEEPS, PINS, PINS)
		   lt_expanded_job(job->dependency) > 0;
#undef NUMBER
#undef TEXT
#undef TIME
#undef KEEPS
#undef PINS
}

int
lt_request_from_desc(struct lt_request *request, const job_desc_msg_t *job,
    const struct lt_market *market, int64_t now_utc_s, struct lt_error *err)
{
	memset(request, 0, sizeof(*request));
	request->uid = job->user_id;
	request->limit_s = lt_limit_from_minutes(job->time_limit);
	lt_request_unset(request);
	if (job->deadline > 0)
		request->deadline_utc_s = (int64_t)job->deadline;
	request->available_micros = request->available_mg = INT64_MAX;
	request->earliest_utc_s =
	    (int64_t)job->begin_time > now_utc_s ? (int64_t)job->begin_time : now_utc_s;
	request->array_tasks = 1;
	request->min_nodes = request->max_nodes = 1;
	lt_pins_of(request, job);
	lt_lower_copy(request->qos, sizeof(request->qos), job->qos);
	snprintf(request->name, sizeof(request->name), "%s", job->name != NULL ? job->name : "");
	if (!lt_lower_copy(request->account, sizeof(request->account), job->account))
		return lt_fail(
		    err, LT_ELIMIT, "account: longer than %d characters", LT_ACCOUNT_SIZE - 1);

	const int code = partitions_of(request, job->partition, market, err);

	size_of(request, job, market);
	memory_of(request, job);
	if (code != LT_OK)
		return code;
	if (any(job->array_inx))
		return lt_array_count(job->array_inx, market->max_array_size, &request->array_tasks,
		    &request->array_parallel, err);
	return LT_OK;
}

uint32_t
lt_job_fixed(const job_desc_msg_t *job)
{
	return (job->time_limit != NO_VAL ? LT_FIXED_LIMIT : 0u) |
	       (job->pn_min_memory != NO_VAL64 || job->mem_per_tres != NULL ? LT_FIXED_MEMORY
									    : 0u) |
	       (job->requeue != NO_VAL16 ? LT_FIXED_REQUEUE : 0u) |
	       (job->warn_signal != 0 ? LT_FIXED_SIGNAL : 0u);
}

/* "_SLURM_SPANK_OPTION_lowtide_carbon_aware=x" -> x, NULL if it is another. */
static const char *
spank_value(const char *entry, const char *option)
{
	static const char prefix[] = "_SLURM_SPANK_OPTION_lowtide_";

	if (strncmp(entry, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	entry += sizeof(prefix) - 1;
	for (; *option; option++, entry++)
		if (*entry != (*option == '-' ? '_' : *option))
			return NULL;
	return *entry == '=' ? entry + 1 : NULL;
}

int
lt_options_from_job(struct lt_options *options, const job_desc_msg_t *job, struct lt_error *err)
{
	lt_options_init(options);
	for (uint32_t i = 0; job->spank_job_env != NULL && i < job->spank_job_env_size; i++) {
		if (job->spank_job_env[i] == NULL)
			continue;
		for (int id = 0; id < LT_OPTION_COUNT; id++) {
			const char *const value =
			    spank_value(job->spank_job_env[i], LT_ROW(lt_option_table, id).name);
			int code;

			if (value == NULL)
				continue;
			code = lt_option_parse(options, (enum lt_option_id)id, value, err);
			if (code != LT_OK)
				return code;
		}
	}
	return LT_OK;
}
