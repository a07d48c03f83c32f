/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows nodes that their owners take back, and the jobs on them: drain, checkpoint, requeue, and
 * the next start.
 *
 * The ledger has each step before it is done, so that a restart continues and does nothing twice.
 * slurmctld gets the drain with lowtide's reason; another's drain or reason is left alone. The
 * drain ends when Slurm has powered the node down, when another machine of its name has registered,
 * or on a withdrawal. If slurmctld is away the step is tried again when it is back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "batch.h"
#include "books.h"
#include "breath.h"
#include "budget_state.h"
#include "fits.h"
#include "grow.h"
#include "interrupted.h"
#include "interruption.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "lookup.h"
#include "notice.h"
#include "poll_schedule.h"
#include "proof.h"
#include "quote.h"
#include "requeue_gate.h"
#include "site.h"
#include "units.h"

enum {
	REASON_SIZE = 96,
	/* Nodes that are gone: so many are asked for, so often. */
	LOOK_MAX = 32,
	LOOK_EVERY_S = 10,
};

static const char *
reason_text(char out[REASON_SIZE], int64_t end_utc_s)
{
	char end[32];

	snprintf(
	    out, REASON_SIZE, LT_NOTICE_REASON " at %s", lt_utc_text(end, sizeof(end), end_utc_s));
	return out;
}

/* True if the text is ours. An admin who changed it has taken the node over. */
static bool
is_our_reason(const char *reason)
{
	static const char start[] = LT_NOTICE_REASON " at ";
	char text[REASON_SIZE];
	int64_t end_utc_s;

	return strncmp(reason, start, sizeof(start) - 1) == 0 &&
	       lt_utc_parse(reason + sizeof(start) - 1, &end_utc_s, NULL) == LT_OK &&
	       strcmp(reason, reason_text(text, end_utc_s)) == 0;
}

static bool
is_drained_by_other(const struct lt_batch_node *at)
{
	return at->is_drained && !is_our_reason(at->reason);
}

int
lt_drained_check(const char *node, struct lt_error *err)
{
	struct lt_batch_node at = {0};
	const int code = lt_batch_node(&at, node, err);

	return code != LT_OK ? code
	       : at.is_drained && is_our_reason(at.reason)
		   ? LT_OK
		   : lt_fail(err, LT_ENOENT, "node %s: not drained by lowtide", node);
}

/* True if it is another machine than the one that was taken, or gone. */
static bool
is_back(const struct lt_batch_node *at, const struct lt_notice *notice)
{
	return at->is_powered_down || (at->responds && at->boot_utc_s > notice->end_utc_s);
}

/* Written before it is done. */
int
lt_drained_put(struct lt_ledger *ledger, struct lt_notice_state *notices, struct lt_notice *notice,
    enum lt_notice_stage stage, struct lt_error *err)
{
	notice->stage = stage;
	notices->look_utc_s = 0;
	return lt_ledger_put_notice(ledger, notice, err);
}

/* A drain of somebody else's keeps its reason. */
int
lt_drained_drain(const struct lt_notice *notice, struct lt_error *err)
{
	struct lt_batch_node at = {0};
	char reason[REASON_SIZE];
	const int code = lt_batch_node(&at, notice->node, err);

	if (code != LT_OK || is_drained_by_other(&at))
		return code;
	return lt_batch_drain(notice->node, reason_text(reason, notice->end_utc_s), err);
}

/* Drains the nodes that were not drained because slurmctld was away, or before lowtided ended. A
 * node whose end passed meanwhile may be a new machine: it and its jobs are left alone. */
void
lt_drained_all(struct lt_ledger *ledger, struct lt_notice_state *notices, int64_t now_utc_s,
    struct lt_error *err)
{
	notices->is_undrained = false;
	for (uint32_t i = 0; i < notices->notice_count; i++) {
		struct lt_notice *const notice = &notices->notices[i];
		struct lt_batch_node at = {0};
		struct lt_error failed = {0};

		if (notice->stage != LT_NOTICE_LEAVES)
			continue;
		int code = lt_batch_node(&at, notice->node, &failed);
		if (code == LT_ENOENT ||
		    (code == LT_OK && now_utc_s >= notice->end_utc_s && is_back(&at, notice)))
			code = lt_drained_put(ledger, notices, notice, LT_NOTICE_GONE, &failed);
		else if (code == LT_OK)
			code = lt_drained_drain(notice, &failed);
		if (code == LT_OK)
			continue;
		*err = failed;
		notices->is_undrained = true;
		if (code == LT_ENET)
			return;
	}
}

/* *is_done: lowtide has nothing to do with it any more. Killed after the
 * resume, the next one finds no drain and forgets it. */
int
lt_drained_give_back(struct lt_site *site, struct lt_ledger *ledger, const struct lt_notice *notice,
    bool *is_done, struct lt_error *err)
{
	struct lt_batch_node at = {0};
	const char *why = "not ours";
	int code = lt_batch_node(&at, notice->node, err);

	*is_done = false;
	if (code == LT_ENOENT) {
		*err = (struct lt_error){0};
		why = "no such node";
	} else if (code != LT_OK) {
		return code;
	} else if (at.is_drained && is_our_reason(at.reason)) {
		if (notice->stage != LT_NOTICE_STAYS && !is_back(&at, notice))
			return LT_OK;
		code = lt_batch_resume(notice->node, err);
		if (code != LT_OK)
			return code;
		why = notice->stage == LT_NOTICE_STAYS ? "withdrawn" : "back";
		site->next.tables = site->next.market = 0;
	}
	code = lt_ledger_drop_notice(ledger, notice->node, err);
	*is_done = code == LT_OK;
	if (*is_done)
		lt_log("notice_done", "node=%s why=\"%s\"", notice->node, why);
	return code;
}

/* A few at a time, in turn: a thousand nodes are asked for within minutes. */
bool
lt_drained_look(struct lt_site *site, struct lt_ledger *ledger, struct lt_notice_state *notices,
    int64_t now_utc_s, struct lt_error *err)
{
	uint32_t asked = 0;
	bool any_done = false;

	if (now_utc_s < notices->look_utc_s)
		return false;
	notices->look_utc_s = now_utc_s + LOOK_EVERY_S;
	for (uint32_t i = 0; i < notices->notice_count && asked < LOOK_MAX; i++) {
		const struct lt_notice *const notice =
		    &notices->notices[notices->look_next++ % notices->notice_count];
		struct lt_error failed = {0};
		bool is_done;

		if (notice->stage == LT_NOTICE_LEAVES)
			continue;
		asked++;
		if (lt_drained_give_back(site, ledger, notice, &is_done, &failed) != LT_OK)
			*err = failed;
		any_done |= is_done;
		if (failed.code == LT_ENET)
			break;
	}
	return any_done;
}

/* Sets the node down: a job that is still there at the end would hang until SlurmdTimeout. LT_ENET:
 * slurmctld is away, and gets it later. */
int
lt_drained_down(const struct lt_notice *notice)
{
	struct lt_batch_node at = {0};
	struct lt_error failed = {0};
	char reason[REASON_SIZE];
	const int code = lt_batch_node(&at, notice->node, &failed);

	return code != LT_OK
		   ? code
		   : lt_batch_down(notice->node,
			 is_drained_by_other(&at) ? NULL : reason_text(reason, notice->end_utc_s),
			 &failed);
}

enum {
	SEEN_S = 2,  /* a record so much newer than a step shows what it did */
	LATE_S = 10, /* slurmdbd may hear of a start so late */
};

int64_t
lt_notice_requeue_utc_s(const struct lt_tables *tables, int64_t end_utc_s)
{
	return end_utc_s - tables->conf.kill_wait_s - LT_NOTICE_MARGIN_S;
}

bool
lt_notice_waits(const struct lt_notice_state *notices, int64_t now_utc_s)
{
	for (uint32_t i = 0; i < notices->notice_count; i++)
		if (notices->notices[i].stage == LT_NOTICE_LEAVES)
			return true;
	return notices->job_count > 0 || notices->canary_count > 0 ||
	       (notices->notice_count > 0 && now_utc_s >= notices->look_utc_s);
}

void
lt_notice_free(struct lt_notice_state *state)
{
	free(state->notices);
	free(state->jobs);
	free(state->canaries);
	*state = (struct lt_notice_state){0};
}

/* Reads the rows of the ledger, which count, after a start and after each notice. */
static int
read_ledger(struct lt_ledger *ledger, struct lt_notice_state *notices, struct lt_error *err)
{
	/* At a start: who knows how far the last one came. */
	const bool is_undrained = notices->is_undrained || !notices->is_read;

	const int64_t look_utc_s = notices->look_utc_s;
	const uint32_t look_next = notices->look_next;

	lt_notice_free(notices);
	notices->is_undrained = is_undrained;
	notices->look_utc_s = look_utc_s;
	notices->look_next = look_next;
	int code = lt_ledger_notices(ledger, &notices->notices, &notices->notice_count, err);
	if (code == LT_OK)
		code = lt_ledger_reclaimed(ledger, &notices->jobs, &notices->job_count, err);
	if (code == LT_OK)
		code = lt_ledger_canaries(ledger, &notices->canaries, &notices->canary_count, err);
	notices->job_capacity = notices->job_count;
	notices->is_read = code == LT_OK;
	return code;
}

int
lt_notice_know(struct lt_ledger *ledger, struct lt_notice_state *notices, struct lt_error *err)
{
	return notices->is_read ? LT_OK : read_ledger(ledger, notices, err);
}

static const struct lt_notice *
find_notice(const struct lt_notice_state *state, const char *node)
{
	for (uint32_t i = 0; i < state->notice_count; i++)
		if (strcmp(state->notices[i].node, node) == 0)
			return &state->notices[i];
	return NULL;
}

int
lt_notice_take(struct lt_site *site, const struct lt_books *books, struct lt_notice_state *notices,
    const char *node, int64_t end_utc_s, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_notice notice = {.told_utc_s = now_utc_s, .end_utc_s = end_utc_s};

	if (strlen(node) >= sizeof(notice.node))
		return lt_fail(
		    err, LT_EINPUT, "node: longer than %zu bytes", sizeof(notice.node) - 1);
	snprintf(notice.node, sizeof(notice.node), "%s", node);
	int code = lt_notice_know(books->ledger, notices, err);
	const bool is_new = find_notice(notices, node) == NULL;
	/* Before anything is done, so that it is gone on with. */
	if (code == LT_OK)
		code = lt_ledger_put_notice(books->ledger, &notice, err);
	if (code != LT_OK)
		return code;
	code = lt_drained_drain(&notice, err);
	if (code != LT_OK && code != LT_ENET) {
		if (is_new)
			(void)lt_ledger_drop_notice(books->ledger, node, NULL);
		return code;
	}
	/* slurmctld is away: the drain is sent when it is back. */
	notices->is_undrained |= code == LT_ENET;
	if (code == LT_ENET)
		*err = (struct lt_error){0};
	lt_log("notice", "node=%s end=%lld", node, (long long)end_utc_s);
	/* Ask for the jobs that run there, and where there is room. */
	lt_poll_running(books->jobs);
	site->next.tables = site->next.market = 0;
	return read_ledger(books->ledger, notices, err);
}

int
lt_notice_withdraw(struct lt_site *site, struct lt_ledger *ledger, struct lt_notice_state *notices,
    const char *node, struct lt_error *err)
{
	struct lt_notice notice = {.stage = LT_NOTICE_STAYS};
	bool is_done;
	int code = lt_notice_know(ledger, notices, err);

	if (code != LT_OK)
		return code;
	const struct lt_notice *const known = find_notice(notices, node);
	if (known != NULL) {
		notice = *known;
	} else {
		/* A ledger that was restored may lack what an earlier one had:
		 * its drain shows. */
		code = strlen(node) < sizeof(notice.node) ? lt_drained_check(node, err) : LT_ENOENT;
		if (code == LT_ENET)
			return code;
		if (code != LT_OK) {
			*err = (struct lt_error){0};
			return lt_fail(err, LT_ENOENT, "node %s: no notice of it", node);
		}
		snprintf(notice.node, sizeof(notice.node), "%s", node);
	}
	code = lt_drained_put(ledger, notices, &notice, LT_NOTICE_STAYS, err);
	if (code != LT_OK)
		return code;
	lt_log("notice_withdrawn", "node=%s", node);
	/* slurmctld is away: it is resumed when it is back. */
	code = lt_drained_give_back(site, ledger, &notice, &is_done, err);
	if (code == LT_ENET) {
		*err = (struct lt_error){0};
		code = LT_OK;
	}
	return code == LT_OK ? read_ledger(ledger, notices, err) : code;
}

/* ---- each job of such a node ---- */

const char *
lt_notice_awaited(const struct lt_notice_state *notices, const struct lt_batch_job *job)
{
	if (job->state != LT_JOB_PENDING || job->req_nodes == NULL)
		return NULL;
	for (uint32_t i = 0; i < notices->notice_count; i++)
		if (lt_batch_has_node(job->req_nodes, notices->notices[i].node))
			return notices->notices[i].node;
	return NULL;
}

static struct lt_reclaimed *
find_row(struct lt_notice_state *state, uint32_t job_id)
{
	for (uint32_t i = 0; i < state->job_count; i++)
		if (state->jobs[i].job_id == job_id)
			return &state->jobs[i];
	return NULL;
}

/* Its row; one of an earlier run begins anew. NULL: no memory. */
static struct lt_reclaimed *
row_of(struct lt_notice_state *state, const struct lt_batch_job *job)
{
	struct lt_reclaimed *row = find_row(state, job->job_id);

	if (row == NULL) {
		struct lt_reclaimed *const grown = lt_items_grow(
		    state->jobs, &state->job_capacity, state->job_count, sizeof(*grown));

		if (grown == NULL)
			return NULL;
		state->jobs = grown;
		row = &grown[state->job_count++];
		row->job_id = 0;
	}
	if (row->job_id != job->job_id || row->start_utc_s != job->start_utc_s)
		*row =
		    (struct lt_reclaimed){.job_id = job->job_id, .start_utc_s = job->start_utc_s};
	row->is_leaving = true;
	return row;
}

/* Puts the step before it is done: after a crash in between it is not done twice. */
static int
put_step(struct lt_ledger *ledger, struct lt_reclaimed *row, enum lt_notice_step next,
    int64_t now_utc_s, struct lt_error *err)
{
	static const char *const words[LT_NOTICE_STEP_COUNT] = {[LT_NOTICE_SEEN] = "seen",
	    [LT_NOTICE_SIGNALLED] = "signalled",
	    [LT_NOTICE_REQUEUED] = "requeued",
	    [LT_NOTICE_STARTED] = "started"};

	row->step = next;
	row->at_utc_s = now_utc_s;
	const int code = lt_ledger_put_reclaimed(ledger, row, err);
	if (code == LT_OK)
		lt_log("reclaimed", "job=%u step=%s", row->job_id, LT_WORD(words, next));
	return code;
}

/* Returns the signal that it wants, if it named one. */
static uint32_t
signal_of(const struct lt_batch_job *job)
{
	struct lt_quote quote;

	return job->admin_comment != NULL &&
		       lt_quote_unpack(
			   &quote, job->admin_comment, strlen(job->admin_comment), NULL) == LT_OK &&
		       quote.wish.known
		   ? quote.wish.signal
		   : 0;
}

/* True if this record was made after that step had shown. */
static bool
is_newer(const struct lt_batch_job *job, const struct lt_reclaimed *row)
{
	return job->seen_utc_s > row->at_utc_s + SEEN_S;
}

/* Does one of its nodes leave? Else it is interrupted to see what it does. */
static bool
is_taken(const struct lt_notice_state *state, const struct lt_batch_job *job)
{
	for (uint32_t i = 0; i < state->notice_count; i++)
		if (state->notices[i].stage == LT_NOTICE_LEAVES &&
		    lt_notice_is_there(job, state->notices[i].node))
			return true;
	return job->het_job_id != 0;
}

/* Takes the steps for a job whose node leaves. job: a heterogeneous job's leader. */
static int
leave(const struct lt_books *books, struct lt_notice_state *notices, struct lt_proof_state *proof,
    const struct lt_batch_job *job, int64_t requeue_utc_s, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_reclaimed *const row = row_of(notices, job);
	int code = LT_OK;

	if (row == NULL)
		return lt_fail(err, LT_ENOMEM, "notice: out of memory");
	const uint32_t signal = signal_of(job);
	if (signal != 0 && row->step < LT_NOTICE_SIGNALLED) {
		code = put_step(books->ledger, row, LT_NOTICE_SIGNALLED, now_utc_s, err);
		/* One that has no step just then hears nothing. */
		if (code == LT_OK) {
			lt_proof_ask(books->ledger, proof, job->job_id, now_utc_s);
			(void)lt_batch_signal(job, signal, NULL);
		}
	}
	/* Its user's own word, or it can't be requeued: the signal, and no more. */
	if (code != LT_OK || now_utc_s < requeue_utc_s || !job->requeue_allowed || !job->is_batch)
		return code;
	/* One that still runs was not: it failed, or we ended before it. */
	if (row->step >= LT_NOTICE_REQUEUED && !is_newer(job, row))
		return LT_OK;
	const int64_t asked_utc_s = row->step == LT_NOTICE_SIGNALLED ? row->at_utc_s : 0;
	code = lt_interrupted_note(&books->site->market, books->ledger, job,
	    &(struct lt_ended_by_us){.at_utc_s = now_utc_s,
		.asked_utc_s = asked_utc_s,
		.counts = is_taken(notices, job)},
	    err);
	if (code == LT_OK)
		code = put_step(books->ledger, row, LT_NOTICE_REQUEUED, now_utc_s, err);
	if (code == LT_OK)
		code = lt_batch_requeue(job, err);
	lt_poll_again(books->jobs, job->job_id);
	return code;
}

bool
lt_notice_is_there(const struct lt_batch_job *job, const char *node)
{
	return (job->state == LT_JOB_RUNNING || job->state == LT_JOB_SUSPENDED ||
		   job->completing) &&
	       lt_batch_has_node(job->node_list, node);
}

/* Returns the time by which a requeued job has ended. If its node goes down before, Slurm calls the
 * job one that can never run. */
static int64_t
ended_utc_s(const struct lt_tables *tables, const struct lt_reclaimed *row)
{
	return row != NULL && row->step == LT_NOTICE_REQUEUED
		   ? row->at_utc_s + tables->conf.kill_wait_s + LT_NOTICE_MARGIN_S
		   : 0;
}

/* Returns whether something of a job is still there, and when the node may be set down. */
static bool
leave_node(const struct lt_books *books, struct lt_notice_state *notices,
    struct lt_proof_state *proof, const struct lt_notice *notice, int64_t now_utc_s,
    int64_t *down_utc_s, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &books->jobs->list;
	const int64_t requeue_utc_s =
	    lt_notice_requeue_utc_s(&books->site->tables, notice->end_utc_s);
	/* A requeue that fails again and again does not keep it. */
	const int64_t latest_utc_s =
	    notice->end_utc_s + 2 * (books->site->tables.conf.kill_wait_s + LT_NOTICE_MARGIN_S);
	bool is_used = false;

	*down_utc_s = notice->end_utc_s;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct lt_batch_job *const part = &list->jobs[i];
		struct lt_error failed = {0};

		if (!lt_notice_is_there(part, notice->node))
			continue;
		lt_breath(LT_TURN_READ);
		is_used = true;
		/* No row says when a node is free of it. */
		if (part->completing)
			lt_poll_at(books->jobs, part->job_id);
		else
			lt_poll_ahead(books->jobs, part->job_id);
		const struct lt_batch_job *job =
		    part->het_job_id != 0 ? lt_jobs_find(list, part->het_job_id) : part;
		if (job == NULL)
			job = part;
		/* One that fails keeps nobody. */
		if (!part->completing && !job->completing &&
		    leave(books, notices, proof, job, requeue_utc_s, now_utc_s, &failed) != LT_OK)
			*err = failed;
		const int64_t at_utc_s =
		    ended_utc_s(&books->site->tables, find_row(notices, job->job_id));
		if (at_utc_s > *down_utc_s)
			*down_utc_s = at_utc_s < latest_utc_s ? at_utc_s : latest_utc_s;
	}
	return is_used;
}

bool
lt_notice_has(const struct lt_notice_state *state, uint32_t job_id)
{
	for (uint32_t i = 0; i < state->job_count; i++)
		if (state->jobs[i].job_id == job_id)
			return true;
	for (uint32_t i = 0; i < state->canary_count; i++)
		if (state->canaries[i].job_id == job_id)
			return true;
	return false;
}

int
lt_notice_interrupt(struct lt_ledger *ledger, struct lt_notice_state *notices,
    const struct lt_canary *canary, struct lt_error *err)
{
	int code = lt_notice_know(ledger, notices, err);

	if (code == LT_OK)
		code = lt_ledger_put_canary(ledger, canary, err);
	return code == LT_OK ? read_ledger(ledger, notices, err) : code;
}

/* Returns when it is requeued. A job that says that its checkpoint is written need not be waited
 * for. */
static int64_t
requeue_utc_s_of(
    const struct lt_proof_state *proof, const struct lt_canary *canary, int64_t now_utc_s)
{
	const struct lt_life *const life = lt_proof_life(proof, canary->job_id);

	return life != NULL && life->asked_utc_s != 0 && life->write_s > 0 ? now_utc_s
									   : canary->requeue_utc_s;
}

/* Treats each canary as if its node were taken back, until that run is over. */
static void
leave_canaries(const struct lt_books *books, struct lt_notice_state *notices,
    struct lt_proof_state *proof, int64_t now_utc_s, struct lt_error *err)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < notices->canary_count; i++) {
		const struct lt_canary canary = notices->canaries[i];
		const struct lt_batch_job *const job =
		    lt_jobs_find(&books->jobs->list, canary.job_id);
		struct lt_error failed = {0};

		if (job == NULL || job->completing || job->state != LT_JOB_RUNNING ||
		    job->start_utc_s != canary.start_utc_s) {
			(void)lt_ledger_drop_canary(books->ledger, canary.job_id, NULL);
			continue;
		}
		lt_poll_at(books->jobs, canary.job_id);
		if (leave(books, notices, proof, job, requeue_utc_s_of(proof, &canary, now_utc_s),
			now_utc_s, &failed) != LT_OK)
			*err = failed;
		notices->canaries[kept++] = canary;
	}
	notices->canary_count = kept;
}

/* Starts all parts of a heterogeneous job, which follow their leader in the list, once each is
 * admitted. */
static bool
begin_now(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &books->jobs->list;
	const struct lt_batch_job *end = job + 1;

	while (job->het_job_id != 0 && end < &list->jobs[list->count] &&
	       end->het_job_id == job->job_id)
		end++;
	for (const struct lt_batch_job *part = job; part < end; part++)
		if (part->completing || part->held || part->state != LT_JOB_PENDING ||
		    lt_gate_holds_back(books->ledger, books->jobs, part))
			return false;
	for (const struct lt_batch_job *part = job; part < end; part++) {
		bool moved;

		if (lt_again(books, replan, part, now_utc_s, &moved, err) != LT_OK ||
		    (!moved && lt_again_now(books->site, books->ledger, books->budget, part,
				   now_utc_s, err) != LT_OK))
			return false;
	}
	return true;
}

/* True if something is still to be done for it: not if it has ended, resumes elsewhere, or its node
 * stays after all. */
static bool
is_open(const struct lt_reclaimed *row, const struct lt_batch_job *job)
{
	if (job == NULL || job->state == LT_JOB_FINISHED || row->step == LT_NOTICE_STARTED)
		return false;
	return row->is_leaving || (row->step == LT_NOTICE_REQUEUED &&
				      (job->state == LT_JOB_PENDING || !is_newer(job, row)));
}

static void
start_again(const struct lt_books *books, struct lt_replan_state *replan,
    struct lt_notice_state *notices, int64_t now_utc_s, struct lt_error *err)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < notices->job_count; i++) {
		struct lt_reclaimed row = notices->jobs[i];
		const struct lt_batch_job *const job = lt_jobs_find(&books->jobs->list, row.job_id);

		if (row.step == LT_NOTICE_REQUEUED && job != NULL) {
			if (begin_now(books, replan, job, now_utc_s, err))
				(void)put_step(
				    books->ledger, &row, LT_NOTICE_STARTED, now_utc_s, err);
			lt_poll_again(books->jobs, row.job_id);
		}
		if (is_open(&row, job))
			notices->jobs[kept++] = row;
		else
			(void)lt_ledger_drop_reclaimed(books->ledger, row.job_id, NULL);
	}
	notices->job_count = kept;
}

int
lt_notice_run(struct lt_site *site, const struct lt_books *books, struct lt_replan_state *replan,
    struct lt_notice_state *notices, struct lt_proof_state *proof, int64_t now_utc_s,
    struct lt_error *err)
{
	const int code = lt_notice_know(books->ledger, notices, err);
	struct lt_error failed = {0};

	if (code != LT_OK)
		return code;
	if (notices->is_undrained)
		lt_drained_all(books->ledger, notices, now_utc_s, err);
	for (uint32_t i = 0; i < notices->job_count; i++)
		notices->jobs[i].is_leaving = false;
	for (uint32_t i = 0; i < notices->notice_count; i++) {
		struct lt_notice *const notice = &notices->notices[i];
		int64_t down_utc_s;

		if (notice->stage != LT_NOTICE_LEAVES)
			continue;
		const bool is_used =
		    leave_node(books, notices, proof, notice, now_utc_s, &down_utc_s, err);

		if (now_utc_s - notice->told_utc_s < LATE_S)
			books->jobs->next.started = 0;
		if (now_utc_s < down_utc_s || (is_used && lt_drained_down(notice) == LT_ENET))
			continue;
		if (lt_drained_put(books->ledger, notices, notice, LT_NOTICE_GONE, &failed) !=
		    LT_OK)
			*err = failed;
		lt_log("notice_over", "node=%s down=%d", notice->node, is_used);
	}
	leave_canaries(books, notices, proof, now_utc_s, err);
	start_again(books, replan, notices, now_utc_s, err);
	if (lt_drained_look(site, books->ledger, notices, now_utc_s, err) &&
	    read_ledger(books->ledger, notices, &failed) != LT_OK)
		*err = failed;
	return err->code;
}
