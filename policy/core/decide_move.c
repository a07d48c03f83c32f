/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May the job be moved to a partition at all? What the policy, the job's own
 * settings and the partition's attributes say, before anything is computed.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "decide_internal.h"
#include "size.h"

/* Is the word in a comma list? Case counts for neither accounts nor QOS. */
bool
lt_listed(const char *list, const char *word, size_t length)
{
	for (const char *at = list; length > 0 && *at != '\0';) {
		const size_t item = strcspn(at, ",");

		if (item == length && strncasecmp(at, word, length) == 0)
			return true;
		at += item + (at[item] == ',' ? 1 : 0);
	}
	return false;
}

static bool
allowed(const char *allow, const char *deny, const char *word)
{
	if (allow != NULL && allow[0] != '\0' &&
	    !lt_listed(allow, word, strlen(word)))
		return false;
	/* Whose it is is not known: one of those, perhaps. */
	return deny == NULL || deny[0] == '\0' ||
	       (word[0] != '\0' && !lt_listed(deny, word, strlen(word)));
}

/* Without --qos Slurm gives the job its association's default. */
static bool
qos_allowed(const struct lt_partition *part, const struct lt_request *request)
{
	if (request->qos[0] == '\0' && part->qos_accounts != NULL &&
	    lt_listed(
		part->qos_accounts, request->account, strlen(request->account)))
		return true;
	return allowed(part->allow_qos, part->deny_qos, request->qos);
}

static bool
is_named(const struct lt_request *request, int partition)
{
	for (uint32_t i = 0; i < request->named_count; i++)
		if (request->named[i] == partition)
			return true;
	return false;
}

static bool
bound_elsewhere(const struct job *job, int partition)
{
	static const uint32_t stays = LT_PIN_HET | LT_PIN_RESERVATION |
				      LT_PIN_DEPENDENCY | LT_PIN_LICENSES |
				      LT_PIN_BURST_BUFFER | LT_PIN_CRON |
				      LT_PIN_NODELIST | LT_PIN_OTHER;
	const struct lt_request *request = job->request;

	if (request->pins & stays || request->objective == LT_OBJECTIVE_OFF)
		return true;
	return !is_named(request, partition) &&
	       (request->named_count > 0 || request->pins & LT_PIN_PARTITION);
}

/* The policy's word on which jobs are moved there: accepts, target. */
static enum lt_reject
policy_reject(const struct lt_request *request, const struct lt_partition *part)
{
	const bool wants_gpus =
	    lt_request_wants_gpus(request) || request->shards_per_node > 0;

	if (part->flags & LT_PARTITION_NO_TARGET)
		return LT_REJECT_NO_TARGET;
	if (part->flags & LT_PARTITION_NO_NODES)
		return LT_REJECT_NO_NODES;
	if (part->flags & LT_PARTITION_NO_CPU_JOBS && !wants_gpus)
		return LT_REJECT_GPU_JOBS;
	if (part->flags & LT_PARTITION_NO_GPU_JOBS && wants_gpus)
		return LT_REJECT_CPU_JOBS;
	return LT_REJECT_NONE;
}

/* True if JobDefaults of the two give the job's GPUs other CPUs or memory. */
static bool
gpu_defaults_differ(const struct lt_request *request,
    const struct lt_partition *part, const struct lt_partition *home)
{
	if (!lt_request_wants_gpus(request))
		return false;
	return lt_cpus_per_gpu(request, part) !=
		   lt_cpus_per_gpu(request, home) ||
	       (!lt_memory_said(request) &&
		   part->default_memory_mib_per_gpu !=
		       home->default_memory_mib_per_gpu);
}

/* True if MaxMemPerCPU there makes the memory that it asks into more CPUs than
 * at home. */
static bool
cpus_differ(const struct job *job, int partition)
{
	const struct lt_request *const request = job->request;
	const struct lt_partition *const part =
	    &job->market->partitions[partition];

	/* Nothing there adds any, as mostly. */
	if (request->named_count == 0 &&
	    !(part->max_memory_is_per_cpu && part->max_memory_mib > 0) &&
	    !(request->cpus_per_task == 0 && request->gpus_per_task > 0 &&
		part->default_cpus_per_gpu > 0))
		return false;
	const struct lt_need there =
	    lt_need_of(&job->asked, job->market, partition);
	const struct lt_need home =
	    lt_need_of(&job->asked, job->market, job->request->home);

	return there.cpus_per_task > home.cpus_per_task ||
	       there.cpus_per_node > home.cpus_per_node;
}

/* Slurm's word on who may use it: its state, lists and groups. */
static enum lt_reject
access_reject(const struct lt_request *request, const struct lt_partition *part,
    const struct lt_partition *home)
{
	if (!(part->flags & LT_PARTITION_UP) ||
	    part->flags & LT_PARTITION_ROOT_ONLY)
		return LT_REJECT_STATE;
	if (part->flags & LT_PARTITION_CLOSED ||
	    (part->flags & LT_PARTITION_NO_ROOT && request->uid == 0))
		return LT_REJECT_CLOSED;
	/* Home's own list: accounts that have associations of home alone. */
	if (!allowed(
		part->allow_accounts, part->deny_accounts, request->account) ||
	    !allowed(NULL, home->deny_accounts, request->account))
		return LT_REJECT_ACCOUNT;
	if (!qos_allowed(part, request))
		return LT_REJECT_QOS;
	if (part->flags & LT_PARTITION_GROUPS &&
	    (!(home->flags & LT_PARTITION_GROUPS) ||
		part->unlike_hash != home->unlike_hash))
		return LT_REJECT_GROUPS;
	if (part->unlike_hash != home->unlike_hash)
		return LT_REJECT_CLOSED;
	return LT_REJECT_NONE;
}

enum lt_reject
lt_move_reject(const struct job *job, int partition)
{
	assert(partition >= 0 &&
	       (uint32_t)partition < job->market->partition_count);

	const struct lt_request *request = job->request;
	const struct lt_partition *part = &job->market->partitions[partition];
	const struct lt_partition *home;

	const bool is_preemptible = part->flags & LT_PARTITION_PREEMPTIBLE;

	if (request->closed != NULL && request->closed[partition])
		return partition != request->home &&
			       (part->flags & LT_PARTITION_NO_NODES ||
				   part->shape_count == 0)
			   ? LT_REJECT_NO_NODES
			   : LT_REJECT_NO_PLACE;
	if (partition == request->home)
		return is_preemptible && request->is_on_demand
			   ? LT_REJECT_ON_DEMAND
			   : LT_REJECT_NONE;
	home = &job->market->partitions[request->home];
	if (!(part->flags & LT_PARTITION_MANAGED))
		return LT_REJECT_UNMANAGED;
	if (is_preemptible &&
	    (request->is_on_demand ||
		(job->class != NULL && job->class->on_demand_only)))
		return LT_REJECT_ON_DEMAND;
	/* What home's nodes are is not known, so whether it can run there. */
	if (bound_elsewhere(job, partition) || home->shape_count == 0)
		return LT_REJECT_PINNED;
	if (!is_named(request, partition) &&
	    policy_reject(request, part) != LT_REJECT_NONE)
		return policy_reject(request, part);
	const enum lt_reject no_access = access_reject(request, part, home);

	if (no_access != LT_REJECT_NONE)
		return no_access;
	if (part->flags & LT_PARTITION_CANCELS &&
	    !(home->flags & LT_PARTITION_CANCELS))
		return LT_REJECT_CANCELS;
	/* A whole node in place of a part changes what programs see. */
	if (gpu_defaults_differ(request, part, home) ||
	    cpus_differ(job, partition) ||
	    (!request->exclusive &&
		(part->flags ^ home->flags) & LT_PARTITION_EXCLUSIVE))
		return LT_REJECT_DEFAULTS;
	return lt_market_bars(job->market, request->asked, partition)
		   ? LT_REJECT_CANNOT_START
		   : LT_REJECT_NONE;
}
