/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a decision, for people and for files: why a partition lost, and what kept a job from
 * moving. Reads numbers of enums, returns constant texts. Nothing fails.
 */
#include "decide.h"
#include "lookup.h"

static const char *const reject_names[LT_REJECT_COUNT] = {
    [LT_REJECT_NONE] = "best",
    [LT_REJECT_DEARER] = "no better",
    [LT_REJECT_MAX_TIME] = "time limit",
    [LT_REJECT_NODES] = "too few nodes",
    [LT_REJECT_GPU_COUNT] = "too few GPUs on a node",
    [LT_REJECT_GPU_TYPE] = "another GPU type",
    [LT_REJECT_GPU_MEMORY] = "too little GPU memory",
    [LT_REJECT_PRECISION] = "GPU lacks the precision",
    [LT_REJECT_CPUS] = "too few CPUs on a node",
    [LT_REJECT_MEMORY] = "too little memory on a node",
    [LT_REJECT_ATTRIBUTES] = "nodes lack what it asks for",
    [LT_REJECT_DEFAULTS] = "other defaults would change the job",
    [LT_REJECT_STATE] = "not up",
    [LT_REJECT_ACCOUNT] = "account not allowed",
    [LT_REJECT_QOS] = "QOS not allowed",
    [LT_REJECT_GROUPS] = "limited to groups",
    [LT_REJECT_CANCELS] = "preempted jobs are cancelled there",
    [LT_REJECT_UNMANAGED] = "not in the policy file",
    [LT_REJECT_NO_PRICE] = "no price to compare",
    [LT_REJECT_NO_CARBON] = "no carbon known to compare",
    [LT_REJECT_STALE] = "signals too old",
    [LT_REJECT_RISK] = "likely to be interrupted",
    [LT_REJECT_ON_DEMAND] = "preemptible",
    [LT_REJECT_DEADLINE] = "deadline too near",
    [LT_REJECT_CAPACITY] = "no room in time",
    [LT_REJECT_BUDGET] = "over the team's budget",
    [LT_REJECT_MAX_COST] = "over --max-cost",
    [LT_REJECT_MAX_PRICE] = "a node-hour is too dear",
    [LT_REJECT_PINNED] = "the job is bound elsewhere",
    [LT_REJECT_HOLDOUT] = "better, but kept for comparison",
    [LT_REJECT_CLOSED] = "not open to every job",
    [LT_REJECT_LIMITS] = "limits of Slurm may refuse it there",
    [LT_REJECT_GPU_JOBS] = "for jobs with GPUs",
    [LT_REJECT_CPU_JOBS] = "for jobs without GPUs",
    [LT_REJECT_NO_TARGET] = "target: no",
    [LT_REJECT_CANNOT_START] = "Slurm could not start it there",
    [LT_REJECT_NO_NODES] = "no node there now",
    [LT_REJECT_NO_LIMIT] = "no time limit",
    [LT_REJECT_NO_PLACE] = "no node there takes it",
};

const char *
lt_reject_name(enum lt_reject reject)
{
	return LT_WORD(reject_names, reject);
}

const char *
lt_reject_word(enum lt_reject reject)
{
	static const char *const words[LT_REJECT_COUNT] = {
	    [LT_REJECT_NONE] = "best",
	    [LT_REJECT_DEARER] = "dearer",
	    [LT_REJECT_MAX_TIME] = "max_time",
	    [LT_REJECT_NODES] = "nodes",
	    [LT_REJECT_GPU_COUNT] = "gpu_count",
	    [LT_REJECT_GPU_TYPE] = "gpu_type",
	    [LT_REJECT_GPU_MEMORY] = "gpu_memory",
	    [LT_REJECT_PRECISION] = "precision",
	    [LT_REJECT_CPUS] = "cpus",
	    [LT_REJECT_MEMORY] = "memory",
	    [LT_REJECT_ATTRIBUTES] = "attributes",
	    [LT_REJECT_DEFAULTS] = "defaults",
	    [LT_REJECT_STATE] = "state",
	    [LT_REJECT_ACCOUNT] = "account",
	    [LT_REJECT_QOS] = "qos",
	    [LT_REJECT_GROUPS] = "groups",
	    [LT_REJECT_CANCELS] = "cancels",
	    [LT_REJECT_UNMANAGED] = "unmanaged",
	    [LT_REJECT_NO_PRICE] = "no_price",
	    [LT_REJECT_NO_CARBON] = "no_carbon",
	    [LT_REJECT_STALE] = "stale",
	    [LT_REJECT_RISK] = "risk",
	    [LT_REJECT_ON_DEMAND] = "on_demand",
	    [LT_REJECT_DEADLINE] = "deadline",
	    [LT_REJECT_CAPACITY] = "capacity",
	    [LT_REJECT_BUDGET] = "budget",
	    [LT_REJECT_MAX_COST] = "max_cost",
	    [LT_REJECT_MAX_PRICE] = "max_price",
	    [LT_REJECT_PINNED] = "pinned",
	    [LT_REJECT_HOLDOUT] = "holdout",
	    [LT_REJECT_CLOSED] = "closed",
	    [LT_REJECT_LIMITS] = "limits",
	    [LT_REJECT_GPU_JOBS] = "gpu_jobs",
	    [LT_REJECT_CPU_JOBS] = "cpu_jobs",
	    [LT_REJECT_NO_TARGET] = "no_target",
	    [LT_REJECT_CANNOT_START] = "cannot_start",
	    [LT_REJECT_NO_NODES] = "no_nodes",
	    [LT_REJECT_NO_LIMIT] = "no_limit",
	    [LT_REJECT_NO_PLACE] = "no_place",
	};

	return LT_WORD(words, reject);
}

const char *
lt_pin_name(enum lt_pin pin)
{
	static const struct {
		enum lt_pin pin;
		const char *name;
	} names[] = {{LT_PIN_PARTITION, "--partition"}, {LT_PIN_BEGIN, "--begin"},
	    {LT_PIN_HET, "het job"}, {LT_PIN_RESERVATION, "--reservation"},
	    {LT_PIN_DEPENDENCY, "--dependency"}, {LT_PIN_LICENSES, "--licenses"},
	    {LT_PIN_BURST_BUFFER, "--bb"}, {LT_PIN_CRON, "scrontab"},
	    {LT_PIN_INTERACTIVE, "interactive"}, {LT_PIN_NODELIST, "--nodelist"},
	    {LT_PIN_FREQUENCY, "--gpu-freq"},
	    {LT_PIN_OTHER, "an option that lowtide does not know elsewhere"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].pin == pin)
			return names[i].name;
	return "unknown";
}
