/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What doctor --collect writes of Slurm: keys as Slurm shows them and as its
 * files have them. Included by doctor_collect.c alone.
 */
#ifndef LT_COLLECT_KEYS_H
#define LT_COLLECT_KEYS_H

#include "collect_names.h"

/* What the values of a key are, as text. */
enum values {
	PLAIN,
	NAMES,	  /* comma separated */
	LICENSES, /* name:count,... */
	GRES,	  /* name:type:count,... */
	FEATURES, /* comma separated, names of GPUs stay */
	TRES,	  /* cpu=4,gres/gpu:a100=2 */
};

struct key {
	const char *name;   /* as Slurm shows it */
	const char *as;	    /* as its files have it; NULL: the same */
	const char *usual;  /* a value that is not written; NULL: none */
	enum values values; /* which names are in it */
	enum lt_alias_kind kind;
};

static const struct key conf_keys[] = {
    {"AccountingStorageEnforce", NULL, "none", PLAIN, 0},
    {"AccountingStorageTRES", NULL, NULL, TRES, 0},
    {"AllowSpecResourcesUsage", NULL, "No", PLAIN, 0},
    {"DefMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"DefMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"DisableRootJobs", NULL, "No", PLAIN, 0},
    {"EnforcePartLimits", NULL, "NO", PLAIN, 0},
    {"JobRequeue", NULL, "1", PLAIN, 0},
    {"Licenses", NULL, "(null)", LICENSES, LT_ALIAS_LICENSE},
    {"MaxMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxTasksPerNode", NULL, "512", PLAIN, 0},
    {"OverTimeLimit", NULL, "0 min", PLAIN, 0},
    {"PreemptMode", NULL, "OFF", PLAIN, 0},
    {"PreemptType", NULL, "preempt/none", PLAIN, 0},
    {"PriorityType", NULL, "priority/basic", PLAIN, 0},
    {"PrivateData", NULL, "none", PLAIN, 0},
    {"SelectType", NULL, NULL, PLAIN, 0},
    {"SelectTypeParameters", NULL, "NONE", PLAIN, 0},
};

static const struct key partition_keys[] = {
    {"AllocNodes", NULL, "ALL", NAMES, LT_ALIAS_NODE},
    {"AllowAccounts", NULL, "ALL", NAMES, LT_ALIAS_ACCOUNT},
    {"AllowGroups", NULL, "ALL", NAMES, LT_ALIAS_GROUP},
    {"AllowQos", NULL, "ALL", NAMES, LT_ALIAS_QOS},
    {"Default", NULL, "NO", PLAIN, 0},
    {"DefaultTime", NULL, "NONE", PLAIN, 0},
    {"DefMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"DefMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"DenyAccounts", NULL, NULL, NAMES, LT_ALIAS_ACCOUNT},
    {"DenyQos", NULL, NULL, NAMES, LT_ALIAS_QOS},
    {"DisableRootJobs", NULL, "NO", PLAIN, 0},
    {"ExclusiveUser", NULL, "NO", PLAIN, 0},
    {"GraceTime", NULL, "0", PLAIN, 0},
    {"Hidden", NULL, "NO", PLAIN, 0},
    {"JobDefaults", "", "(null)", PLAIN, 0},
    {"LLN", NULL, "NO", PLAIN, 0},
    {"MaxCPUsPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxNodes", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxTime", NULL, NULL, PLAIN, 0},
    {"MinNodes", NULL, "0", PLAIN, 0},
    {"OverSubscribe", NULL, "NO", PLAIN, 0},
    {"PriorityJobFactor", NULL, "1", PLAIN, 0},
    {"PriorityTier", NULL, "1", PLAIN, 0},
    {"QoS", "QOS", "N/A", NAMES, LT_ALIAS_QOS},
    {"ReqResv", NULL, "NO", PLAIN, 0},
    {"RootOnly", NULL, "NO", PLAIN, 0},
    {"State", NULL, "UP", PLAIN, 0},
};

static const struct key node_keys[] = {
    {"CPUTot", "CPUs", NULL, PLAIN, 0},
    {"Boards", NULL, "1", PLAIN, 0},
    {"Sockets", NULL, NULL, PLAIN, 0},
    {"CoresPerSocket", NULL, NULL, PLAIN, 0},
    {"ThreadsPerCore", NULL, NULL, PLAIN, 0},
    {"RealMemory", NULL, NULL, PLAIN, 0},
    {"TmpDisk", NULL, "0", PLAIN, 0},
    {"MemSpecLimit", NULL, NULL, PLAIN, 0},
    {"CoreSpecCount", NULL, NULL, PLAIN, 0},
    {"Weight", NULL, "1", PLAIN, 0},
    {"AvailableFeatures", "Feature", "(null)", FEATURES, LT_ALIAS_FEATURE},
    {"Gres", NULL, "(null)", GRES, LT_ALIAS_GRES},
};

/* Columns of sacctmgr, and what they are set by. */
static const struct key limit_keys[] = {
    {"grpjobs", "GrpJobs", NULL, PLAIN, 0},
    {"grpsubmit", "GrpSubmitJobs", NULL, PLAIN, 0},
    {"grptres", "GrpTRES", NULL, TRES, 0},
    {"grptresmins", "GrpTRESMins", NULL, TRES, 0},
    {"grptresrunmins", "GrpTRESRunMins", NULL, TRES, 0},
    {"grpwall", "GrpWall", NULL, PLAIN, 0},
    {"maxtres", "MaxTRESPerJob", NULL, TRES, 0},
    {"maxtresmins", "MaxTRESMinsPerJob", NULL, TRES, 0},
    {"maxtrespernode", "MaxTRESPerNode", NULL, TRES, 0},
    {"maxwall", "MaxWall", NULL, PLAIN, 0},
};
static const struct key qos_keys[] = {
    {"flags", "Flags", NULL, PLAIN, 0},
    {"gracetime", "GraceTime", "00:00:00", PLAIN, 0},
    {"maxjobspa", "MaxJobsPerAccount", NULL, PLAIN, 0},
    {"maxjobspu", "MaxJobsPerUser", NULL, PLAIN, 0},
    {"maxsubmitpa", "MaxSubmitJobsPerAccount", NULL, PLAIN, 0},
    {"maxsubmitpu", "MaxSubmitJobsPerUser", NULL, PLAIN, 0},
    {"maxtrespa", "MaxTRESPerAccount", NULL, TRES, 0},
    {"maxtrespu", "MaxTRESPerUser", NULL, TRES, 0},
    {"mintres", "MinTRESPerJob", NULL, TRES, 0},
    {"priority", "Priority", "0", PLAIN, 0},
    {"usagefactor", "UsageFactor", "1.000000", PLAIN, 0},
};
static const struct key association_keys[] = {
    {"maxjobs", "MaxJobs", NULL, PLAIN, 0},
    {"maxsubmit", "MaxSubmitJobs", NULL, PLAIN, 0},
    {"qos", "QOS", NULL, NAMES, LT_ALIAS_QOS},
    {"defaultqos", "DefaultQOS", NULL, NAMES, LT_ALIAS_QOS},
};

#endif
