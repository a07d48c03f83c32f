/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * require_smoke: whether a class wants a smoke run of that name first, whether there was one, and
 * the command that makes it. Stands between the class and the front-ends. Reads the request and
 * figures of past runs, writes text. Pure.
 */
#include "smoke.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "min_max.h"
#include "size.h"
#include "text.h"
#include "units.h"

uint32_t
lt_smoke_name_hash(const char *name)
{
	char cut[LT_NAME_SIZE], folded[LT_NAME_SIZE];

	snprintf(cut, sizeof(cut), "%s", name);
	lt_history_fold(folded, sizeof(folded), cut);
	return lt_name_hash(folded);
}

/* Returns the time of one task on one partition. */
static int64_t
node_s_on(const struct lt_request *request, const struct lt_market *market, int partition)
{
	const struct lt_share share = lt_share_most(request, market, partition);
	const int64_t limit_s = lt_limit_of(request, market, partition);
	int64_t nodes_s, all_s;

	if (limit_s <= 0 || share.denominator <= 0 ||
	    __builtin_mul_overflow(
		limit_s, (int64_t)(share.nodes > 0 ? share.nodes : 1), &nodes_s) ||
	    !lt_scale_up(nodes_s, share.numerator, share.denominator, &all_s))
		return INT64_MAX;
	return all_s;
}

int64_t
lt_smoke_node_s(const struct lt_request *request, const struct lt_market *market)
{
	const int64_t tasks = request->array_tasks > 0 ? request->array_tasks : 1;
	int64_t most_s = 0, all_s;

	if (request->named_count == 0 && request->home >= 0)
		most_s = node_s_on(request, market, request->home);
	for (uint32_t i = 0; i < request->named_count; i++) {
		const int64_t here_s = node_s_on(request, market, request->named[i]);

		most_s = here_s > most_s ? here_s : most_s;
	}
	return __builtin_mul_overflow(most_s, tasks, &all_s) ? INT64_MAX : all_s;
}

enum lt_smoke
lt_smoke_judge(const struct lt_class *class, int64_t node_s,
    const struct lt_history_figures *figures, int64_t now_utc_s)
{
	if (class == NULL || class->smoke_within_s == 0 || node_s <= class->smoke_above_node_s)
		return LT_SMOKE_FREE;
	if (figures == NULL)
		return LT_SMOKE_UNKNOWN;
	return figures->runs > 0 && now_utc_s - (int64_t)figures->median <= class->smoke_within_s
		   ? LT_SMOKE_DONE
		   : LT_SMOKE_MISSING;
}

/* As one word of a shell. */
static void
put_word(struct lt_text *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./=:,+@%";

	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		lt_text_put(text, "%s", word);
		return;
	}
	lt_text_put(text, "'");
	for (const char *c = word; *c != '\0' && !text->full; c++)
		lt_text_put(text, *c == '\'' ? "'\\''" : "%c", *c);
	lt_text_put(text, "'");
}

/* So that the smoke run needs none itself: its nodes and its time. */
static int64_t
time_of(const struct lt_smoke_job *job, uint32_t nodes)
{
	int64_t time_s = LT_SMOKE_TIME_S;

	if (job->request->limit_s > 0)
		time_s = lt_min_i64(time_s, job->request->limit_s);
	time_s = lt_min_i64(time_s, job->class->smoke_above_node_s / nodes);
	return time_s >= 60 ? time_s / 60 * 60 : 60;
}

/* Writes the part of a job-wide option that falls to that many of its nodes. */
static void
put_part(struct lt_text *text, const char *option, uint32_t all, uint32_t nodes, uint32_t of_nodes)
{
	const uint64_t part = ((uint64_t)all * nodes + of_nodes - 1) / of_nodes;

	if (all > 0 && part < all)
		lt_text_put(text, " --%s=%" PRIu64, option, part);
}

static void
put_given(struct lt_text *text, const char *option, uint32_t value)
{
	if (value > 0)
		lt_text_put(text, " --%s=%u", option, value);
}

static void
put_command(struct lt_text *text, const struct lt_smoke_job *job)
{
	const struct lt_request *const request = job->request;
	const uint32_t all = job->nodes > 0 ? job->nodes : 1;
	const uint32_t nodes = all < LT_SMOKE_NODES_MAX ? all : LT_SMOKE_NODES_MAX;
	char time[48];

	lt_text_put(text, job->command_count > 0 ? "sbatch" : "the same command with");
	lt_text_put(text, " --job-name=");
	put_word(text, job->name);
	if (request->account[0] != '\0')
		lt_text_put(text, " --account=%s", request->account);
	if (request->qos[0] != '\0')
		lt_text_put(text, " --qos=%s", request->qos);
	lt_text_put(text, " --nodes=%u", nodes);
	put_given(text, "ntasks-per-node", request->tasks_per_node);
	put_given(text, "cpus-per-task", request->cpus_per_task);
	put_given(text, "gpus-per-node", request->gpus_per_node);
	if (!request->tasks_implied)
		put_part(text, "ntasks", request->tasks, nodes, all);
	put_part(text, "gpus", request->gpus, nodes, all);
	if (request->array_tasks > 1)
		lt_text_put(text, " --array=0");
	lt_text_put(
	    text, " --time=%s", lt_slurm_time_text(time, sizeof(time), time_of(job, nodes)));
	/* A client of its own may leave words out. */
	for (uint32_t i = 0; i < job->command_count && !text->full; i++) {
		lt_text_put(text, " ");
		put_word(text, job->command[i] != NULL ? job->command[i] : "");
	}
}

void
lt_smoke_text(char *out, size_t size, const struct lt_smoke_job *job)
{
	struct lt_text text = {.out = out, .size = size};
	char within[48];

	if (size > 0)
		out[0] = '\0';
	lt_text_put(&text,
	    "class %s: above %g node-hours a job needs a "
	    "COMPLETED run of its name on at most %d nodes "
	    "within %s, and ",
	    job->class->name, (double)job->class->smoke_above_node_s / LT_HOUR_S,
	    LT_SMOKE_NODES_MAX,
	    lt_duration_text(within, sizeof(within), job->class->smoke_within_s));
	if (job->name == NULL) {
		lt_text_put(&text, "this one has none.");
		return;
	}
	lt_text_put(&text, "%s has none", job->name);
	if (job->node_s != INT64_MAX)
		lt_text_put(
		    &text, " (this one asks for up to %.4g)", (double)job->node_s / LT_HOUR_S);
	lt_text_put(&text, ".\nFirst: ");
	put_command(&text, job);
}
