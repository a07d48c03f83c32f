/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the progress that nodes report into proof of which jobs resume. Written to the ledger as it
 * is learned: an interruption outlives lowtided. A report that can't be judged yet is asked for
 * again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "budget_state.h"
#include "charges.h"
#include "grow.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "lookup.h"
#include "poll_schedule.h"
#include "proof.h"

void
lt_proof_free(struct lt_proof_state *state)
{
	free(state->lives);
	*state = (struct lt_proof_state){0};
}

static int
read_ledger(struct lt_ledger *ledger, struct lt_proof_state *proof, struct lt_error *err)
{
	if (proof->is_read)
		return LT_OK;
	const int code = lt_ledger_lives(ledger, &proof->lives, &proof->life_count, err);
	proof->life_capacity = proof->life_count;
	proof->is_read = code == LT_OK;
	return code;
}

bool
lt_proof_of_job(struct lt_proof_job *whose, const struct lt_batch_job *job)
{
	struct lt_quote *const quote = &whose->quote;

	if (job->admin_comment == NULL ||
	    lt_quote_unpack(quote, job->admin_comment, strlen(job->admin_comment), NULL) != LT_OK ||
	    !quote->wish.known || !quote->wish.checkpoint || quote->wish.script_hash == 0)
		return false;
	whose->of = (struct lt_proof_of){
	    .account = quote->account, .name = job->name, .script_hash = quote->wish.script_hash};
	const struct lt_run_kind kind = {
	    .uid = job->uid, .account = whose->of.account, .name = whose->of.name};
	whose->of.key = lt_history_proof_key(&kind, whose->of.script_hash);
	return true;
}

static struct lt_life *
find_life(const struct lt_proof_state *state, uint32_t job_id)
{
	for (uint32_t i = 0; i < state->life_count; i++)
		if (state->lives[i].job_id == job_id)
			return &state->lives[i];
	return NULL;
}

const struct lt_life *
lt_proof_life(const struct lt_proof_state *state, uint32_t job_id)
{
	return find_life(state, job_id);
}

/* NULL: no memory. */
static struct lt_life *
life_of(struct lt_proof_state *state, const struct lt_batch_job *job)
{
	struct lt_life *life = find_life(state, job->job_id);

	if (life == NULL) {
		struct lt_life *const grown = lt_items_grow(
		    state->lives, &state->life_capacity, state->life_count, sizeof(*grown));

		if (grown == NULL)
			return NULL;
		state->lives = grown;
		life = &grown[state->life_count++];
		*life = (struct lt_life){.uid = job->uid + 1};
	}
	/* Slurm gives ids again. */
	if (life->uid != job->uid)
		*life = (struct lt_life){.job_id = job->job_id, .uid = job->uid};
	return life;
}

/* Puts the outcome of an interruption into the proof. */
static int
conclude(struct lt_ledger *ledger, struct lt_charges *charges, const struct lt_batch_job *job,
    struct lt_life *life, int64_t now_utc_s)
{
	static const char *const words[LT_OUTCOME_COUNT] = {[LT_OUTCOME_OPEN] = "open",
	    [LT_OUTCOME_SURVIVED] = "survived",
	    [LT_OUTCOME_FAILED] = "failed",
	    [LT_OUTCOME_UNKNOWN] = "unknown"};
	struct lt_proof_job whose;
	struct lt_proof_row row;
	struct lt_error err = {0};

	lt_log("proof", "job=%u outcome=%s was=%.15g first=%.15g after_s=%lld", job->job_id,
	    LT_WORD(words, life->outcome), life->before_progress, life->now.first.progress,
	    (long long)life->now.first_after_s);
	if (!lt_proof_of_job(&whose, job) || life->outcome == LT_OUTCOME_UNKNOWN)
		return LT_OK;
	int code = lt_ledger_proof(ledger, &whose.of.key, &row, &err);
	if (code != LT_OK)
		return code;
	row.last_utc_s = now_utc_s;
	if (life->outcome == LT_OUTCOME_SURVIVED) {
		row.proven_utc_s = now_utc_s;
		row.survived++;
		row.restart_s = life->now.first_after_s > 0 ? life->now.first_after_s : 1;
		if (life->write_s > 0)
			row.write_s = life->write_s;
	} else {
		row.survived = 0;
		row.failed++;
	}
	code = lt_ledger_put_proof(ledger, &whose.of, &row, &err);
	if (code == LT_OK) {
		charges->history_written = false;
		charges->next.history = now_utc_s;
	}
	return code;
}

/* Decides whether that node may report for this job. */
static enum lt_proof_taken
may_tell(const struct lt_batch_job *job, const struct lt_proof_told *told)
{
	const uint32_t restarts = told->progress.restarts;

	if (job == NULL)
		return LT_PROOF_LATER;
	if (job->uid != told->uid || restarts < job->restarts || job->state == LT_JOB_FINISHED)
		return LT_PROOF_REFUSED;
	return restarts == job->restarts && job->state != LT_JOB_PENDING &&
		       lt_batch_has_node(job->node_list, told->node)
		   ? LT_PROOF_TAKEN
		   : LT_PROOF_LATER;
}

enum lt_proof_taken
lt_proof_tell(struct lt_ledger *ledger, struct lt_charges *charges, struct lt_jobs_state *jobs,
    struct lt_proof_state *proof, const struct lt_proof_told *told, int64_t now_utc_s)
{
	const struct lt_batch_job *const job = lt_jobs_find(&jobs->list, told->job_id);
	const enum lt_proof_taken taken = may_tell(job, told);

	if (taken != LT_PROOF_TAKEN) {
		if (taken == LT_PROOF_LATER)
			lt_poll_again(jobs, told->job_id);
		return taken;
	}
	struct lt_life *const life =
	    read_ledger(ledger, proof, NULL) == LT_OK ? life_of(proof, job) : NULL;
	if (life == NULL)
		return LT_PROOF_LATER;
	const struct lt_life before = *life;
	const bool is_decided = lt_life_tell(life, &told->progress, now_utc_s);
	if (lt_ledger_put_life(ledger, life, NULL) == LT_OK &&
	    (!is_decided || conclude(ledger, charges, job, life, now_utc_s) == LT_OK))
		return LT_PROOF_TAKEN;
	*life = before; /* the node reports it again */
	return LT_PROOF_LATER;
}

void
lt_proof_ask(
    struct lt_ledger *ledger, struct lt_proof_state *proof, uint32_t job_id, int64_t now_utc_s)
{
	struct lt_life *const life =
	    read_ledger(ledger, proof, NULL) == LT_OK ? find_life(proof, job_id) : NULL;

	if (life == NULL)
		return;
	lt_life_ask(life, now_utc_s);
	(void)lt_ledger_put_life(ledger, life, NULL);
}

int
lt_proof_run(struct lt_ledger *ledger, const struct lt_batch_jobs *list,
    struct lt_proof_state *proof, int64_t now_utc_s, struct lt_error *err)
{
	const int code = read_ledger(ledger, proof, err);
	uint32_t kept = 0;

	(void)now_utc_s;
	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; i < proof->life_count; i++) {
		const struct lt_life life = proof->lives[i];
		const struct lt_batch_job *const job = lt_jobs_find(list, life.job_id);

		if (job != NULL && job->uid == life.uid && job->state != LT_JOB_FINISHED)
			proof->lives[kept++] = life;
		else
			(void)lt_ledger_drop_life(ledger, life.job_id, NULL);
	}
	proof->life_count = kept;
	return LT_OK;
}
