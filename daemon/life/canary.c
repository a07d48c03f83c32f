/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the jobs that may be interrupted to see whether they resume: asked for by the user, or
 * once by the class. notice.c interrupts them.
 *
 * Reads the job list and the proofs; writes the interruption's row by notice.c. A refusal is a text
 * for the user.
 */
#include <string.h>

#include "batch.h"
#include "books.h"
#include "canary.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "notice.h"
#include "proof.h"
#include "site.h"
#include "units.h"

enum {
	LOOK_EVERY_S = 5,
	WAIT_LEAST_S = 10,  /* between signal and requeue */
	WAIT_MOST_S = 120,  /* as a cloud's notice */
	AFTER_MOST_S = 600, /* by class: it has run so long, or an interval */
	AGAIN_S = 180,	    /* from the requeue to the next start, with margin */
};

/* Twice what it says that it takes: it may be slower than it thinks. */
static int64_t
wait_s(const struct lt_wish *wish)
{
	const int64_t s = WAIT_LEAST_S + 2 * wish->write_s;

	return s < WAIT_MOST_S ? s : WAIT_MOST_S;
}

/* True if there is time: Slurm gives its next run the whole limit, and lets it begin only where
 * that ends before the deadline. */
static bool
is_in_time(const struct lt_site *site, const struct lt_batch_job *job, const struct lt_wish *wish,
    int64_t now_utc_s)
{
	int64_t deadline_utc_s = job->deadline_utc_s;

	if (wish->deadline_utc_s > 0 &&
	    (deadline_utc_s <= 0 || wish->deadline_utc_s < deadline_utc_s))
		deadline_utc_s = wish->deadline_utc_s;
	if (deadline_utc_s <= 0)
		return true;
	return job->limit_s < deadline_utc_s &&
	       now_utc_s + wait_s(wish) + site->tables.conf.kill_wait_s + AGAIN_S + job->limit_s <=
		   deadline_utc_s - site->policy->deadline_slack_s;
}

/* "" = it may be. */
static const char *
why_not(const struct lt_site *site, const struct lt_notice_state *notices,
    const struct lt_proof_state *proof, const struct lt_batch_job *job, const struct lt_wish *wish,
    int64_t now_utc_s)
{
	const struct lt_life *const life = lt_proof_life(proof, job->job_id);

	if (!lt_site_may(site, LT_MAY_HOLD))
		return "the policy's mode is not enforce";
	if (job->state != LT_JOB_RUNNING || job->completing)
		return "it does not run";
	if (!job->is_batch || job->het_job_id != 0)
		return "only batch jobs of one component are started again";
	if (!job->requeue_allowed)
		return "it may not be requeued (--no-requeue)";
	if (wish->signal == 0)
		return "it named no signal for a checkpoint (--checkpoint=signal=)";
	if (life == NULL || life->now.restarts != job->restarts)
		return "it has told no progress yet (LOWTIDE_PROGRESS_FILE, by lowtide-node)";
	/* Only a job that is back sooner than it was at first has resumed. */
	if (life->now.newest_after_s < 2 * life->now.first_after_s + 2 * LT_LIFE_BLUR_S)
		return "it has told its progress for too short a time to show anything";
	if (!is_in_time(site, job, wish, now_utc_s))
		return "starting over could miss its deadline";
	return lt_notice_has(notices, job->job_id) ? "it is being interrupted just now" : "";
}

/* Interrupts a job for which that is asked and known to be allowed. */
static int
begin_canary(struct lt_ledger *ledger, struct lt_notice_state *notices,
    const struct lt_batch_job *job, const struct lt_wish *wish, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_canary canary = {.job_id = job->job_id,
	    .start_utc_s = job->start_utc_s,
	    .requeue_utc_s = now_utc_s + wait_s(wish)};
	const int code = lt_notice_interrupt(ledger, notices, &canary, err);

	if (code == LT_OK)
		lt_log("canary", "job=%u requeue_in_s=%lld", job->job_id, (long long)wait_s(wish));
	return code;
}

int
lt_canary_begin(const struct lt_books *books, struct lt_notice_state *notices,
    struct lt_proof_state *proof, const struct lt_batch_job *job, int64_t now_utc_s,
    int64_t *requeue_in_s, struct lt_error *err)
{
	struct lt_proof_job whose;

	if (!lt_proof_of_job(&whose, job))
		return lt_fail(err, LT_EDENIED,
		    "it has no --checkpoint, or its script is not known to lowtide");
	const struct lt_wish *const wish = &whose.quote.wish;
	const char *const why = why_not(books->site, notices, proof, job, wish, now_utc_s);

	if (why[0] != '\0')
		return lt_fail(err, LT_EDENIED, "%s", why);
	*requeue_in_s = wait_s(wish);
	return begin_canary(books->ledger, notices, job, wish, now_utc_s, err);
}

/* Has it run for long enough to have something to lose, and not for long? */
static bool
is_time(const struct lt_batch_job *job, const struct lt_wish *wish, int64_t now_utc_s)
{
	const int64_t every_s = wish->every_s > 0 ? wish->every_s : AFTER_MOST_S;

	return now_utc_s - job->start_utc_s >= (every_s < AFTER_MOST_S ? every_s : AFTER_MOST_S);
}

static bool
has_canary(
    const struct lt_market *market, const struct lt_batch_job *job, const struct lt_quote *quote)
{
	const struct lt_class *const class =
	    lt_market_class(market, &(struct lt_class_of){.account = quote->account,
					.qos = job->qos,
					.name = job->name,
					.partition = lt_market_partition(market, quote->home)});

	return class != NULL && class->canary;
}

/* Interrupts by class: once for each script, whatever comes of it. */
static int
by_class(const struct lt_site *site, struct lt_ledger *ledger, struct lt_notice_state *notices,
    struct lt_proof_state *proof, const struct lt_batch_job *job, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_proof_job whose;
	struct lt_proof_row row;

	if (!lt_proof_of_job(&whose, job) || !has_canary(&site->market, job, &whose.quote) ||
	    !is_time(job, &whose.quote.wish, now_utc_s) ||
	    why_not(site, notices, proof, job, &whose.quote.wish, now_utc_s)[0] != '\0')
		return LT_OK;
	int code = lt_ledger_proof(ledger, &whose.of.key, &row, err);
	if (code != LT_OK || row.survived > 0 || row.failed > 0 || row.canary_utc_s > 0)
		return code;
	row.canary_utc_s = row.last_utc_s = now_utc_s;
	code = lt_ledger_put_proof(ledger, &whose.of, &row, err);
	return code == LT_OK ? begin_canary(ledger, notices, job, &whose.quote.wish, now_utc_s, err)
			     : code;
}

int
lt_canary_run(const struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_batch_jobs *list, struct lt_notice_state *notices, struct lt_proof_state *proof,
    int64_t now_utc_s, struct lt_error *err)
{
	bool has_any = false;

	if (now_utc_s < proof->looked_utc_s + LOOK_EVERY_S && now_utc_s >= proof->looked_utc_s)
		return LT_OK;
	proof->looked_utc_s = now_utc_s;
	for (uint32_t i = 0; i < site->market.class_count; i++)
		has_any |= site->market.classes[i].canary;
	/* Jobs without progress could show nothing. */
	for (uint32_t i = 0; has_any && i < proof->life_count; i++) {
		const struct lt_batch_job *const job = lt_jobs_find(list, proof->lives[i].job_id);
		const int code = job != NULL
				     ? by_class(site, ledger, notices, proof, job, now_utc_s, err)
				     : LT_OK;

		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}
