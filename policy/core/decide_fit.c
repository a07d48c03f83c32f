/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which partitions can run a job: the first step of lt_decide(). May the
 * policy, the job's own settings and the partition's attributes let the job
 * move there? Do the partition's nodes fit it? And would Slurm start it
 * there, or would a limit of QOS or association, or a reservation, keep it
 * waiting for ever? Where only the kind of a limit is known, the job may be
 * given no more there than at home.
 *
 * Reads the request and the market; writes the reason into each candidate,
 * and the share of a node that every later step uses. Never fails: a
 * partition that does not fit is rejected with a reason.
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "counts.h"
#include "decide_internal.h"
#include "gpu_kinds.h"
#include "lookup.h"
#include "size.h"

/* ---- May it be moved there? ---- */

static bool
allowed(const char *allow, const char *deny, const char *word)
{
	if (allow != NULL && allow[0] != '\0' && !lt_listed(allow, word, strlen(word)))
		return false;
	/* A word that is not known may be one of those. */
	return deny == NULL || deny[0] == '\0' ||
	       (word[0] != '\0' && !lt_listed(deny, word, strlen(word)));
}

/* Without --qos Slurm gives the job its association's default. */
static bool
qos_allowed(const struct lt_partition *part, const struct lt_request *request)
{
	if (request->qos[0] == '\0' && part->qos_accounts != NULL &&
	    lt_listed(part->qos_accounts, request->account, strlen(request->account)))
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
	static const uint32_t stays = LT_PIN_HET | LT_PIN_RESERVATION | LT_PIN_DEPENDENCY |
				      LT_PIN_LICENSES | LT_PIN_BURST_BUFFER | LT_PIN_CRON |
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
	const bool wants_gpus = lt_request_wants_gpus(request) || request->shards_per_node > 0;

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
gpu_defaults_differ(const struct lt_request *request, const struct lt_partition *part,
    const struct lt_partition *home)
{
	if (!lt_request_wants_gpus(request))
		return false;
	return lt_cpus_per_gpu(request, part) != lt_cpus_per_gpu(request, home) ||
	       (!lt_memory_said(request) &&
		   part->default_memory_mib_per_gpu != home->default_memory_mib_per_gpu);
}

/* True if MaxMemPerCPU there makes the memory that it asks into more CPUs than at home. */
static bool
cpus_differ(const struct job *job, int partition)
{
	const struct lt_request *const request = job->request;
	const struct lt_partition *const part = &job->market->partitions[partition];

	/* Nothing there adds any, as mostly. */
	if (request->named_count == 0 &&
	    !(part->max_memory_is_per_cpu && part->max_memory_mib > 0) &&
	    !(request->cpus_per_task == 0 && request->gpus_per_task > 0 &&
		part->default_cpus_per_gpu > 0))
		return false;
	const struct lt_need there = lt_need_of(&job->asked, job->market, partition);
	const struct lt_need home = lt_need_of(&job->asked, job->market, job->request->home);

	return there.cpus_per_task > home.cpus_per_task || there.cpus_per_node > home.cpus_per_node;
}

/* Returns the reject if Slurm would not let the job use it: its state, lists and groups. */
static enum lt_reject
access_reject(const struct lt_request *request, const struct lt_partition *part,
    const struct lt_partition *home)
{
	if (!(part->flags & LT_PARTITION_UP) || part->flags & LT_PARTITION_ROOT_ONLY)
		return LT_REJECT_STATE;
	if (part->flags & LT_PARTITION_CLOSED ||
	    (part->flags & LT_PARTITION_NO_ROOT && request->uid == 0))
		return LT_REJECT_CLOSED;
	/* Home's own list: accounts that have associations of home alone. */
	if (!allowed(part->allow_accounts, part->deny_accounts, request->account) ||
	    !allowed(NULL, home->deny_accounts, request->account))
		return LT_REJECT_ACCOUNT;
	if (!qos_allowed(part, request))
		return LT_REJECT_QOS;
	if (part->flags & LT_PARTITION_GROUPS &&
	    (!(home->flags & LT_PARTITION_GROUPS) || part->unlike_hash != home->unlike_hash))
		return LT_REJECT_GROUPS;
	if (part->unlike_hash != home->unlike_hash)
		return LT_REJECT_CLOSED;
	return LT_REJECT_NONE;
}

enum lt_reject
lt_move_reject(const struct job *job, int partition)
{
	assert(partition >= 0 && (uint32_t)partition < job->market->partition_count);

	const struct lt_request *request = job->request;
	const struct lt_partition *part = &job->market->partitions[partition];
	const struct lt_partition *home;

	const bool is_preemptible = part->flags & LT_PARTITION_PREEMPTIBLE;

	if (request->closed != NULL && request->closed[partition])
		return partition != request->home &&
			       (part->flags & LT_PARTITION_NO_NODES || part->shape_count == 0)
			   ? LT_REJECT_NO_NODES
			   : LT_REJECT_NO_PLACE;
	if (partition == request->home)
		return is_preemptible && request->is_on_demand ? LT_REJECT_ON_DEMAND
							       : LT_REJECT_NONE;
	home = &job->market->partitions[request->home];
	if (!(part->flags & LT_PARTITION_MANAGED))
		return LT_REJECT_UNMANAGED;
	if (is_preemptible &&
	    (request->is_on_demand || (job->class != NULL && job->class->on_demand_only)))
		return LT_REJECT_ON_DEMAND;
	/* Home's nodes are not known, so neither is whether it can run there. */
	if (bound_elsewhere(job, partition) || home->shape_count == 0)
		return LT_REJECT_PINNED;
	if (!is_named(request, partition) && policy_reject(request, part) != LT_REJECT_NONE)
		return policy_reject(request, part);
	const enum lt_reject no_access = access_reject(request, part, home);

	if (no_access != LT_REJECT_NONE)
		return no_access;
	if (part->flags & LT_PARTITION_CANCELS && !(home->flags & LT_PARTITION_CANCELS))
		return LT_REJECT_CANCELS;
	/* A whole node in place of a part changes what programs see. */
	if (gpu_defaults_differ(request, part, home) || cpus_differ(job, partition) ||
	    (!request->exclusive && (part->flags ^ home->flags) & LT_PARTITION_EXCLUSIVE))
		return LT_REJECT_DEFAULTS;
	return lt_market_bars(job->market, request->asked, partition) ? LT_REJECT_CANNOT_START
								      : LT_REJECT_NONE;
}

/* ---- Would Slurm start it there? ---- */

static bool
passes(struct layout *layout, uint64_t given, uint64_t most)
{
	layout->wanted = (double)given;
	layout->found = (double)most;
	return most > 0 && given > most;
}

/* The limits of the partition's own QOS, in numbers. */
static bool
breaks_qos(struct layout *layout, const struct job *job, const struct lt_limits *limits)
{
	const uint64_t nodes = layout->share.nodes > 0 ? layout->share.nodes : 1;

	if (limits->others || (limits->most_s > 0 && job->limit_s > limits->most_s))
		return true;
	for (int i = 0; i < LT_LIMITED_COUNT; i++) {
		const uint64_t given = layout->given[i];
		const uint64_t on_one = nodes == 1 ? given : (given + nodes - 1) / nodes;

		if (passes(layout, given, limits->most[i]) ||
		    passes(layout, on_one, limits->most_per_node[i]))
			return true;
	}
	/* Slurm counts the amounts asked: less than it gives. */
	const uint64_t asked[LT_LIMITED_COUNT] = {[LT_LIMITED_CPU] = job->request->cpus,
	    [LT_LIMITED_NODE] = job->request->min_nodes,
	    [LT_LIMITED_GPU] = layout->given[LT_LIMITED_GPU]};

	for (int i = 0; i < LT_LIMITED_COUNT; i++)
		if (asked[i] < limits->least[i]) {
			layout->wanted = (double)limits->least[i];
			layout->found = (double)asked[i];
			return true;
		}
	return false;
}

/* Limits that only their kind is known of: of its own QOS, its account, its user. */
static bool
may_break_others(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_market *const market = job->market;
	const struct lt_partition *const part = &market->partitions[partition];
	const struct lt_partition *const home = &market->partitions[job->request->home];

	for (int i = 0; market->job_limits & LT_LIMITS_AMOUNTS && i < LT_LIMITED_COUNT; i++)
		if (layout->given[i] > job->given_at_home[i]) {
			layout->wanted = (double)layout->given[i];
			layout->found = (double)job->given_at_home[i];
			return true;
		}
	if (!(market->job_limits & LT_LIMITS_OTHERS))
		return false;
	return part->billing_hash != home->billing_hash ||
	       (lt_request_wants_gpus(job->request) &&
		   market->shapes[layout->shape].gpu_index !=
		       (job->home_gpu != NULL ? (int)(job->home_gpu - market->gpus) : -1));
}

/* Memory per node that Slurm compares with MaxMemPerNode, MiB: the default though --mem-per-gpu
 * says less, and the whole node's where there is no default or the user asks for it. */
static uint64_t
memory_compared(const struct layout *layout, const struct job *job, const struct lt_partition *part)
{
	const bool by_default =
	    job->request->memory_mib_per_gpu > 0 && !part->default_memory_is_per_cpu;
	const uint64_t most = job->market->shapes[layout->shape].memory_mib;

	if (job->request->whole_memory || (by_default && part->default_memory_mib == 0))
		return most;
	return by_default ? part->default_memory_mib : layout->memory_mib;
}

/* Returns the reject if a limit or a reservation would keep the job from starting there with what
 * the layout gives it. */
static enum lt_reject
limit_reject(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_partition *const part = &job->market->partitions[partition];
	const uint64_t memory_mib = memory_compared(layout, job, part);

	if (!part->max_memory_is_per_cpu && passes(layout, memory_mib, part->max_memory_mib))
		return LT_REJECT_MEMORY;
	/* MinNodes gives the job more nodes than it asks for; Slurm 26.05 refuses it with
	 * --use-min-nodes. */
	if (part->min_nodes > 1 && part->min_nodes > job->request->min_nodes) {
		layout->wanted = job->request->min_nodes;
		layout->found = part->min_nodes;
		return LT_REJECT_LIMITS;
	}
	return breaks_qos(layout, job, &part->limits) || may_break_others(layout, job, partition)
		   ? LT_REJECT_LIMITS
		   : LT_REJECT_NONE;
}

/* Returns the limit of a job without --time where the partition has no DefaultTime; LT_UNSET_64 =
 * none. MaxWall comes before MaxTime, and a job that is longer than that does not start. */
static int64_t
unsaid_limit_s(const struct lt_request *request, const struct lt_market *market,
    const struct lt_partition *part)
{
	const int64_t here_s = part->limits.most_s;
	const int64_t wall_s = here_s > request->wall_s ? here_s : request->wall_s;
	const int64_t else_s =
	    part->max_time_s != INT64_MAX ? part->max_time_s : market->assume_time_s;

	if (here_s > 0 || request->wall_always)
		return wall_s < part->max_time_s ? wall_s : part->max_time_s;
	if (else_s > 0 && wall_s > else_s && part->max_time_s == INT64_MAX)
		return wall_s;
	return else_s > 0 ? else_s : LT_UNSET_64;
}

/* ---- Can it run there? ---- */

static const double least_left_s = 60; /* of work: Slurm's grain */

static bool
has_home(const struct lt_request *request, const struct lt_market *market)
{
	return request->home >= 0 && (uint32_t)request->home < market->partition_count;
}

/* Returns what is left of a run time when so much is done. */
static double
left_of(double work_s, double done_s)
{
	return work_s > least_left_s ? fmax(work_s - done_s, least_left_s) : work_s;
}

int64_t
lt_limit_of(const struct lt_request *request, const struct lt_market *market, int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);

	const struct lt_partition *part = &market->partitions[partition];
	int64_t default_s = part->default_time_s;

	/* A deadline leaves time for the work that is left: in the minutes that Slurm counts, or it
	 * would be late by the last of them. */
	if (request->limit_s > 0 && request->deadline_utc_s != LT_UNSET_64 &&
	    request->done_s > request->cut_s)
		return (int64_t)ceil(left_of((double)request->limit_s,
					 (double)(request->done_s - request->cut_s)) /
				     LT_MINUTE_S) *
		       LT_MINUTE_S;
	if (request->limit_s > 0)
		return request->limit_s;
	/* With several partitions, Slurm takes the first one's for all. */
	for (uint32_t i = 0; default_s > 0 && i < request->named_count; i++)
		default_s = (int64_t)larger((uint64_t)default_s,
		    (uint64_t)market->partitions[request->named[i]].default_time_s);
	if (default_s > 0)
		return default_s < part->max_time_s ? default_s : part->max_time_s;
	return unsaid_limit_s(request, market, part);
}

/* Home's default is written into the job when it moves. */
static void
set_default_memory(struct lt_request *asked, const struct lt_partition *home)
{
	if (lt_memory_said(asked) || lt_memory_by_gpu(asked, home))
		return;
	if (home->default_memory_is_per_cpu)
		asked->memory_mib_per_cpu = home->default_memory_mib;
	else
		asked->memory_mib_per_node = home->default_memory_mib;
}

/* How long it will run: as the user says, else as such jobs did. */
static void
set_expected(struct job *job)
{
	const double done_s = (double)job->request->done_s;
	const struct lt_request *const request = job->request;
	const double limit_s = (double)job->limit_s;

	if (request->expected_run_s > 0) {
		job->expected_s = left_of((double)request->expected_run_s, done_s);
	} else if (request->learned.expected_s > 0) {
		const struct lt_expected *const is = &request->learned;

		job->expected_s = left_of((double)is->expected_s, done_s);
		job->upper_s = left_of((double)is->upper_s, done_s);
		job->low_s = left_of((double)is->low_s, done_s);
		job->high_s = left_of((double)is->high_s, done_s);
	}
	/* Long runs were learned with the site's confidence: a class that wants more goes by the
	 * limit. */
	if (lt_class_confidence_ppm(job->class, job->market) > job->market->deadline_confidence_ppm)
		job->upper_s = 0;
	job->expected_known = job->expected_s > 0;
	job->bound_s = job->upper_s > 0 ? job->upper_s : job->high_s;
	if (job->limit_s > 0) {
		/* A limit made from a deadline covers only the work that is left already. */
		const double left_s =
		    request->deadline_utc_s != LT_UNSET_64 ? limit_s : left_of(limit_s, done_s);

		if (!job->expected_known)
			job->expected_s = left_s;
		job->bound_s = job->upper_s > 0 ? job->upper_s : left_s;
		job->bound_s = fmin(job->bound_s, limit_s);
		job->expected_s = fmin(job->expected_s, limit_s);
		job->upper_s = fmin(job->upper_s, limit_s);
		job->high_s = fmin(job->high_s, limit_s);
	}
	if (request->expected_run_s > 0)
		job->bound_s = job->expected_s;
	if (!(job->low_s > 0 && job->high_s > 0))
		job->low_s = job->high_s = 0;
	job->low_s = fmin(job->low_s, job->expected_s);
	job->high_s = fmax(job->high_s, job->expected_s);
	job->bound_s = fmax(job->bound_s, job->high_s);
}

void
lt_job_resolve(struct job *job, const struct lt_request *request, const struct lt_market *market,
    int64_t now_utc_s)
{
	struct layout layout;

	*job = (struct job){.request = request,
	    .market = market,
	    .now_utc_s = now_utc_s,
	    .class = lt_request_class(request, market),
	    .max_price_micros = lt_max_price_micros(request, market),
	    .limit_s = LT_UNSET_64,
	    .standing = -1,
	    .asked = *request};
	job->earliest_utc_s =
	    request->earliest_utc_s > now_utc_s ? request->earliest_utc_s : now_utc_s;
	if (!has_home(request, market))
		return;
	set_default_memory(&job->asked, &market->partitions[request->home]);
	job->limit_s = lt_limit_of(request, market, request->home);
	set_expected(job);
	lt_lay_out(&job->at_home, job, request->home);
	lt_layout_of(&layout, job, request->home);
	if (layout.shape >= 0)
		memcpy(job->given_at_home, layout.given, sizeof(job->given_at_home));
	if (lt_request_wants_gpus(request)) {
		const struct lt_partition *home = &market->partitions[request->home];

		/* Where the job fits; a job that asks for more than home has was still measured on
		 * home's GPU. */
		if (layout.shape < 0 && home->shape_count > 0)
			layout.shape = (int)home->first_shape;
		if (layout.shape >= 0)
			job->home_gpu =
			    lt_layout_gpu(market, &market->shapes[layout.shape], request->gpu_type);
	}
}

enum lt_reject
lt_fit_reject(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_partition *part = &job->market->partitions[partition];
	const enum lt_reject reject = lt_layout_of(layout, job, partition);
	const uint32_t nodes = layout->share.nodes;
	const bool moves = partition != job->request->home;

	if (job->limit_s > part->max_time_s) {
		layout->wanted = (double)job->limit_s;
		layout->found = (double)part->max_time_s;
		return LT_REJECT_MAX_TIME;
	}
	if (reject != LT_REJECT_NONE)
		return reject;
	layout->wanted = nodes;
	/* --spread-job asks for a node for each task. */
	if (job->request->min_nodes > part->max_nodes ||
	    (moves && (nodes > part->max_nodes ||
			  (job->request->spread && job->request->tasks > part->max_nodes))) ||
	    nodes < part->min_nodes) {
		layout->found = nodes < part->min_nodes ? part->min_nodes : part->max_nodes;
		return LT_REJECT_NODES;
	}
	/* MaxMemPerCPU refuses nothing: Slurm gives more CPUs instead. */
	layout->wanted = (double)layout->memory_mib;
	layout->found = (double)part->max_memory_mib;
	if (part->max_memory_mib > 0 && !part->max_memory_is_per_cpu &&
	    layout->memory_mib > part->max_memory_mib)
		return LT_REJECT_MEMORY;
	return moves ? limit_reject(layout, job, partition) : LT_REJECT_NONE;
}

/* Returns the precision that it computes in there: what its user said, else the site's rules. */
static enum lt_precision
precision_at(const struct job *job, int partition)
{
	const struct lt_request *const request = job->request;
	const struct lt_market *const market = job->market;
	const char *const names[LT_PRECISION_OF_COUNT] = {
	    [LT_PRECISION_OF_ACCOUNT] = request->account,
	    [LT_PRECISION_OF_QOS] = request->qos,
	    [LT_PRECISION_OF_PARTITION] = partition >= 0 ? market->partitions[partition].name : ""};

	for (uint32_t i = 0; i < market->precision_rule_count && !request->precision_said; i++)
		if (strcmp(market->precision_rules[i].name,
			LT_WORD(names, market->precision_rules[i].of)) == 0)
			return market->precision_rules[i].precision;
	return request->precision;
}

double
lt_ratio_there(bool *known, const struct job *job, int partition, int gpu)
{
	const struct lt_gpu *const gpus = job->market->gpus;
	const uint32_t *const median_s = job->request->gpu_median_s;

	if (median_s != NULL && job->home_gpu != NULL && gpu >= 0 &&
	    median_s[job->home_gpu - gpus] > 0 && median_s[gpu] > 0) {
		*known = true;
		return (double)median_s[gpu] / median_s[job->home_gpu - gpus];
	}
	const struct lt_gpu_use home = {job->home_gpu, precision_at(job, job->request->home)};
	const struct lt_gpu_use there = {
	    gpu >= 0 ? &gpus[gpu] : NULL, precision_at(job, partition)};

	return lt_gpu_time_ratio(&home, &there, known);
}

struct lt_share
lt_share_likely(const struct lt_request *request, const struct lt_market *market, int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);

	struct layout layout;
	struct job job;

	lt_job_resolve(&job, request, market, 0);
	lt_layout_of(&layout, &job, partition);
	return layout.share;
}
