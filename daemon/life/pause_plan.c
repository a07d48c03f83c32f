/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether a job may be paused, and what its record shows of a pause. Makes the question for
 * lt_pause_plan(): the job's class and wish, its hold, the room that others wait for, and the
 * hours.
 *
 * Reads the job list, the market and the ledger; writes only the caller's struct. If something is
 * not known the job is not paused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "books.h"
#include "budget_state.h"
#include "interrupted.h"
#include "jobs.h"
#include "ledger.h"
#include "notice.h"
#include "occupancy.h"
#include "pause_plan.h"
#include "ledger_jobs.h"
#include "price.h"
#include "replan.h"
#include "replanning.h"
#include "site.h"
#include "suspension.h"
#include "units.h"

enum {
	SEEN_S = 2,  /* a record so much newer than a step shows what it did */
	CLOCK_S = 1, /* Slurm's times are whole seconds */
	LOST_S = 30, /* what nobody heard the answer of may come so late */
};

bool
lt_pausing_is_newer(const struct lt_batch_job *job, const struct lt_paused *row)
{
	return job->seen_utc_s > row->at_utc_s + SEEN_S;
}

/* True if the record shows what we asked for: another's change is older, or has another time. */
static bool
is_ours(const struct lt_batch_job *job, const struct lt_paused *row)
{
	return row->changed_utc_s != 0 ? job->changed_utc_s == row->changed_utc_s
				       : job->changed_utc_s >= row->at_utc_s - CLOCK_S;
}

enum lt_pause_step
lt_pausing_seen(const struct lt_batch_job *job, const struct lt_paused *row)
{
	const bool is_still = job->state == LT_JOB_SUSPENDED;
	const bool is_again =
	    row->changed_utc_s == 0 && job->changed_utc_s >= row->at_utc_s - CLOCK_S;

	switch (row->step) {
	case LT_PAUSE_SUSPENDING:
		if (is_still)
			return is_ours(job, row) ? LT_PAUSE_PAUSED : LT_PAUSE_LEFT;
		/* It never was suspended, or somebody resumed it at once. */
		return !lt_pausing_is_newer(job, row) ? row->step
		       : is_again		      ? LT_PAUSE_LEFT
						      : LT_PAUSE_RESUMING;
	case LT_PAUSE_PAUSED:
		return is_still && is_ours(job, row) ? row->step : LT_PAUSE_LEFT;
	case LT_PAUSE_RESUMING_FOR_GOOD:
		return is_still && is_ours(job, row) ? row->step : LT_PAUSE_LEFT;
	case LT_PAUSE_RESUMING:
		return is_still && !is_ours(job, row) ? LT_PAUSE_LEFT : row->step;
	default:
		return row->step;
	}
}

bool
lt_pausing_is_over(const struct lt_batch_job *job, const struct lt_paused *row)
{
	return row->step == LT_PAUSE_RESUMING && job->state == LT_JOB_RUNNING &&
	       (row->changed_utc_s != 0 || job->seen_utc_s > row->at_utc_s + LOST_S);
}

enum {
	LEFT_MAX_S = 400 * LT_DAY_S, /* nobody knows the hours of more */
	AWAY_WITHIN_S = 180,	     /* requeued and placed so long after its checkpoint */
};

bool
lt_pausing_any_class(const struct lt_market *market)
{
	for (uint32_t i = 0; i < market->class_count; i++)
		if (market->classes[i].pause != LT_PAUSE_NEVER)
			return true;
	return false;
}

static int
table_of(const struct lt_tables *tables, const char *name, size_t length)
{
	for (uint32_t i = 0; i < tables->partition_count; i++)
		if (strlen(tables->partitions[i].name) == length &&
		    memcmp(tables->partitions[i].name, name, length) == 0)
			return (int)i;
	return -1;
}

/* Jobs that wait in one partition wait for the nodes of all that share them. */
static void
spread(struct lt_pausing_lines *lines, const struct lt_batch_nodes *nodes)
{
	const struct lt_pausing_lines own = *lines;

	for (uint32_t i = 0; i < nodes->range_count; i++)
		for (uint32_t k = 0; k < nodes->range_count; k++) {
			const struct lt_node_range *const a = &nodes->ranges[i];
			const struct lt_node_range *const b = &nodes->ranges[k];

			if (own.waits[a->partition] && a->first <= b->last && b->first <= a->last)
				lines->waits[b->partition] = true;
		}
}

void
lt_pausing_lines(struct lt_pausing_lines *lines, const struct lt_tables *tables,
    const struct lt_batch_jobs *list, int64_t now_utc_s)
{

	memset(lines, 0, sizeof(*lines));
	for (uint32_t i = 0; i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];

		if (!lt_occupancy_in_line(job, now_utc_s))
			continue;
		for (const char *name = job->partition; *name != '\0';) {
			const size_t length = strcspn(name, ",");
			const int at = table_of(tables, name, length);

			if (at >= 0 && at < LT_PARTITIONS_MAX)
				lines->waits[at] = true;
			name += length + (name[length] == ',');
		}
	}
	spread(lines, &tables->nodes);
}

bool
lt_pausing_is_waited_for(const struct lt_pausing_lines *lines, const struct lt_tables *tables,
    const struct lt_batch_job *job)
{
	const int at = table_of(tables, job->partition, strlen(job->partition));

	return at < 0 || at >= LT_PARTITIONS_MAX || lines->waits[at];
}

bool
lt_pausing_is_urgent(struct lt_ledger *ledger, uint64_t quote_id)
{
	struct lt_plan_made *plans = NULL;
	uint32_t count = 0;
	const bool is_now = lt_ledger_plans(ledger, quote_id, &plans, &count, NULL) == LT_OK &&
			    count > 0 &&
			    strcmp(plans[count - 1].why, lt_replan_word(LT_REPLAN_NOW)) == 0;

	free(plans);
	return is_now;
}

/* True if it may be requeued: it resumes where it was, by its word, and where that counts. Its
 * user's begin time is not lowtide's to change. */
static bool
may_be_requeued(const struct lt_batch_job *job, const struct lt_standing *at,
    const struct lt_market *market, const struct lt_notice_state *notices)
{
	return job->state == LT_JOB_RUNNING && job->requeue_allowed && at->quote.wish.signal != 0 &&
	       !(at->quote.wish.pins & LT_PIN_BEGIN) &&
	       lt_resume_counts(&at->made.request, market) && !lt_notice_has(notices, job->job_id);
}

/* True if it may be paused by itself, whatever the hours are. */
static bool
may(struct lt_pausing *s, const struct lt_site *site, struct lt_ledger *ledger,
    struct lt_notice_state *notices, const struct lt_batch_job *job, int64_t now_utc_s)
{
	static const uint32_t held_back = LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN | LT_QUOTE_LOCK |
					  LT_QUOTE_FREEING | LT_QUOTE_HELD_OUT;
	struct lt_standing *const at = &s->standing;

	if (!site->tables.conf.suspends ||
	    (job->state != LT_JOB_RUNNING && job->state != LT_JOB_SUSPENDED) || job->completing ||
	    !job->is_batch || job->is_cron || job->het_job_id != 0 || job->array_job_id != 0 ||
	    job->start_utc_s == 0 || job->admin_comment == NULL ||
	    lt_quote_unpack(&at->quote, job->admin_comment, strlen(job->admin_comment), NULL) !=
		LT_OK ||
	    !at->quote.wish.known || at->quote.objective == LT_OBJECTIVE_OFF ||
	    !lt_mode_may(at->quote.mode, LT_MAY_EDIT) ||
	    lt_ledger_hold(ledger, at->quote.id, &at->hold, NULL) != LT_OK ||
	    at->hold.uid != job->uid || at->hold.state != LT_HOLD_OPEN ||
	    at->hold.live_tasks != 1 || (at->hold.quote.flags & held_back))
		return false;
	at->job = job;
	at->now_utc_s = now_utc_s;
	if (!lt_standing_ask(at, &site->market))
		return false;
	const struct lt_class *const class = lt_request_class(&at->made.request, &site->market);

	if (class == NULL || class->pause == LT_PAUSE_NEVER ||
	    lt_pausing_is_urgent(ledger, at->quote.id))
		return false;
	lt_standing_learn(at, &site->market, ledger);
	s->requeues = class->pause == LT_PAUSE_REQUEUE;
	return !s->requeues || may_be_requeued(job, at, &site->market, notices);
}

/* Returns the part of its nodes that it keeps: if it keeps all of them, nobody starts on the CPUs
 * that Slurm takes from it, which it would share once it resumes. */
static double
kept_share(const struct lt_batch_job *job, const struct lt_market *market, struct lt_ledger *ledger,
    int partition)
{
	struct lt_run run = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .suspended_s = 1};

	memcpy(run.partition, market->partitions[partition].name, sizeof(run.partition));
	const struct lt_fraction kept = lt_suspended_share(&run, market, ledger);
	return (double)kept.numerator / (double)kept.denominator;
}

/* Returns the seconds that it works twice: it writes, and starts from that in a place where this
 * takes so long. */
static int64_t
requeue_s(const struct lt_standing *at, double restart_s)
{
	return lt_wish_write_s(&at->quote.wish) +
	       (int64_t)ceil(fmax(restart_s, at->made.request.proof.restart_s));
}

/* True if a job is on its way elsewhere. Others wait for it: there is room for one. */
static bool
any_away(const struct lt_jobs_state *jobs)
{
	for (uint32_t i = 0; i < jobs->paused_count; i++)
		if (jobs->paused[i].step >= LT_PAUSE_ASKED_AWAY)
			return true;
	return false;
}

/* Nodes that are preemptible are back, and worth a requeue. */
static void
plan_return(struct lt_pausing *s, struct lt_jobs_state *jobs, struct lt_replan_state *replan,
    const struct lt_pause_of *pause)
{
	const struct lt_market *const market = pause->market;
	struct lt_return away;

	if (market->partitions[pause->partition].flags & LT_PARTITION_PREEMPTIBLE ||
	    any_away(jobs) || !lt_replan_begin_market(market, jobs, replan))
		return;
	const struct lt_return_of of = {.request = pause->request,
	    .market = market,
	    .planned = replan->planned,
	    .planned_count = replan->planned_count,
	    .worked_s = lt_suspension_worked_s(s->standing.job, pause->now_utc_s),
	    .requeue_s = requeue_s(&s->standing, lt_market_restart_s(market)),
	    .most_s = pause->most_s,
	    .now_utc_s = pause->now_utc_s};

	if (lt_replan_return(&away, &of, NULL) != LT_OK || away.partition < 0)
		return;
	s->goes_away = true;
	s->course.until_utc_s =
	    pause->now_utc_s + lt_wish_write_s(&s->standing.quote.wish) + AWAY_WITHIN_S;
	s->course.saved_micros = away.saved_micros;
	s->course.saved_mg = away.saved_mg;
}

bool
lt_pausing_plan(struct lt_pausing *s, const struct lt_books *books, struct lt_replan_state *replan,
    struct lt_notice_state *notices, const struct lt_batch_job *job,
    const struct lt_pausing_lines *lines, int64_t now_utc_s)
{
	struct lt_standing *const at = &s->standing;
	struct lt_request *const request = &at->made.request;
	const struct lt_resources got = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .exclusive = job->exclusive};

	if (!may(s, books->site, books->ledger, notices, job, now_utc_s))
		return false;
	const double kept = kept_share(job, &books->site->market, books->ledger, at->partition);
	if (!s->requeues &&
	    (lt_pausing_is_waited_for(lines, &books->site->tables, job) || kept < 1))
		return false;
	const int64_t worked_s = lt_suspension_worked_s(job, now_utc_s);
	const int64_t left_s = lt_occupancy_length_s(job, now_utc_s) - request->done_s - worked_s;
	request->allocated = &got;
	request->home = at->partition;
	const struct lt_pause_of of = {.request = request,
	    .market = &books->site->market,
	    .partition = at->partition,
	    .kept_share = kept,
	    .left_s = left_s < LEFT_MAX_S ? left_s : LEFT_MAX_S,
	    .most_s =
		lt_pause_most_s(&(struct lt_pause_promise){.latest_utc_s = request->latest_utc_s,
				    .deadline_utc_s = request->deadline_utc_s,
				    .start_utc_s = job->start_utc_s,
				    .limit_s = job->limit_s,
				    .suspended_s = now_utc_s - job->start_utc_s - worked_s,
				    .now_utc_s = now_utc_s},
		    &books->site->market),
	    .requeue_s =
		s->requeues ? requeue_s(at, books->site->market.partitions[at->partition].restart_s)
			    : 0,
	    .is_paused = job->state == LT_JOB_SUSPENDED,
	    .now_utc_s = now_utc_s};

	s->goes_away = false;
	if (lt_pause_plan(&s->course, &of, NULL) != LT_OK)
		return false;
	if (s->requeues && s->course.until_utc_s == 0)
		plan_return(s, books->jobs, replan, &of);
	return true;
}
