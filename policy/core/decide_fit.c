/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Can a partition run the job, and may the job be moved there? The first step
 * of lt_decide(); the share of a node is made here for everyone.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "counts.h"
#include "decide_internal.h"
#include "gpu_kinds.h"
#include "lookup.h"

static const double least_left_s = 60; /* of work: Slurm's grain */

static bool
has_home(const struct lt_request *request, const struct lt_market *market)
{
	return request->home >= 0 &&
	       (uint32_t)request->home < market->partition_count;
}

/* What is left of it when so much is done. */
static double
left_of(double work_s, double done_s)
{
	return work_s > least_left_s ? fmax(work_s - done_s, least_left_s)
				     : work_s;
}

int64_t
lt_limit_of(const struct lt_request *request, const struct lt_market *market,
    int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);

	const struct lt_partition *part = &market->partitions[partition];
	int64_t default_s = part->default_time_s;

	/* What a deadline leaves is for what is left to do: in the minutes
	 * that Slurm counts, or it would be late by the last of them. */
	if (request->limit_s > 0 && request->deadline_utc_s != LT_UNSET_64 &&
	    request->done_s > request->cut_s)
		return (int64_t)ceil(
			   left_of((double)request->limit_s,
			       (double)(request->done_s - request->cut_s)) /
			   LT_MINUTE_S) *
		       LT_MINUTE_S;
	if (request->limit_s > 0)
		return request->limit_s;
	/* Of several partitions Slurm takes the first one's for all. */
	for (uint32_t i = 0; default_s > 0 && i < request->named_count; i++)
		default_s = (int64_t)larger((uint64_t)default_s,
		    (uint64_t)market->partitions[request->named[i]]
			.default_time_s);
	if (default_s > 0)
		return default_s < part->max_time_s ? default_s
						    : part->max_time_s;
	return lt_limit_unsaid(request, market, part);
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
		job->expected_s =
		    left_of((double)request->expected_run_s, done_s);
	} else if (request->learned.expected_s > 0) {
		const struct lt_expected *const is = &request->learned;

		job->expected_s = left_of((double)is->expected_s, done_s);
		job->upper_s = left_of((double)is->upper_s, done_s);
		job->low_s = left_of((double)is->low_s, done_s);
		job->high_s = left_of((double)is->high_s, done_s);
	}
	/* What was learned of long runs is as sure as the site wants it: who
	 * wants more goes by the limit. */
	if (lt_class_confidence_ppm(job->class, job->market) >
	    job->market->deadline_confidence_ppm)
		job->upper_s = 0;
	job->expected_known = job->expected_s > 0;
	job->bound_s = job->upper_s > 0 ? job->upper_s : job->high_s;
	if (job->limit_s > 0) {
		/* That of a deadline is of what is left already. */
		const double left_s = request->deadline_utc_s != LT_UNSET_64
					  ? limit_s
					  : left_of(limit_s, done_s);

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
lt_job_resolve(struct job *job, const struct lt_request *request,
    const struct lt_market *market, int64_t now_utc_s)
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
	job->earliest_utc_s = request->earliest_utc_s > now_utc_s
				  ? request->earliest_utc_s
				  : now_utc_s;
	if (!has_home(request, market))
		return;
	set_default_memory(&job->asked, &market->partitions[request->home]);
	job->limit_s = lt_limit_of(request, market, request->home);
	set_expected(job);
	lt_lay_out(&job->at_home, job, request->home);
	lt_layout_of(&layout, job, request->home);
	if (layout.shape >= 0)
		memcpy(job->given_at_home, layout.given,
		    sizeof(job->given_at_home));
	if (lt_request_wants_gpus(request)) {
		const struct lt_partition *home =
		    &market->partitions[request->home];

		/* Where the job fits; a job that asks for more than home has
		 * was still measured on home's GPU. */
		if (layout.shape < 0 && home->shape_count > 0)
			layout.shape = (int)home->first_shape;
		if (layout.shape >= 0)
			job->home_gpu = lt_layout_gpu(market,
			    &market->shapes[layout.shape], request->gpu_type);
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
			  (job->request->spread &&
			      job->request->tasks > part->max_nodes))) ||
	    nodes < part->min_nodes) {
		layout->found =
		    nodes < part->min_nodes ? part->min_nodes : part->max_nodes;
		return LT_REJECT_NODES;
	}
	/* MaxMemPerCPU refuses nothing: Slurm gives more CPUs instead. */
	layout->wanted = (double)layout->memory_mib;
	layout->found = (double)part->max_memory_mib;
	if (part->max_memory_mib > 0 && !part->max_memory_is_per_cpu &&
	    layout->memory_mib > part->max_memory_mib)
		return LT_REJECT_MEMORY;
	return moves ? lt_limit_reject(layout, job, partition) : LT_REJECT_NONE;
}

/* In what it computes there: what its user said, else the site's rules. */
static enum lt_precision
precision_at(const struct job *job, int partition)
{
	const struct lt_request *const request = job->request;
	const struct lt_market *const market = job->market;
	const char *const names[LT_PRECISION_OF_COUNT] = {
	    [LT_PRECISION_OF_ACCOUNT] = request->account,
	    [LT_PRECISION_OF_QOS] = request->qos,
	    [LT_PRECISION_OF_PARTITION] =
		partition >= 0 ? market->partitions[partition].name : ""};

	for (uint32_t i = 0;
	     i < market->precision_rule_count && !request->precision_said; i++)
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
	const struct lt_gpu_use home = {
	    job->home_gpu, precision_at(job, job->request->home)};
	const struct lt_gpu_use there = {
	    gpu >= 0 ? &gpus[gpu] : NULL, precision_at(job, partition)};

	return lt_gpu_time_ratio(&home, &there, known);
}

struct lt_share
lt_share_likely(const struct lt_request *request,
    const struct lt_market *market, int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);

	struct layout layout;
	struct job job;

	lt_job_resolve(&job, request, market, 0);
	lt_layout_of(&layout, &job, partition);
	return layout.share;
}
