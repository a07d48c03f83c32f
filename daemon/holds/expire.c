/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends holds, or shares of them, that no job needs any more. Only here, and only when all three
 * agree: a complete job list begun at least 60 s after the hold lacks it, slurmctld's queue for
 * slurmdbd is empty, and slurmdbd lacks it too (what it has is settled first).
 *
 * A hold that was never seen with a job (--test-only, which Slurm does not show to job_submit, or a
 * job refused behind it) ends by the first complete list begun more than 2 s after it: slurmctld
 * makes the job in the call that made the hold. If a job comes later all the same, it opens the
 * hold again (reconcile.c).
 *
 * Writes the ledger; on failure the next pass tries again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "batch_child.h"
#include "breath.h"
#include "expire.h"
#include "grow.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "poll_schedule.h"
#include "settle.h"
#include "site.h"

enum {
	LOOK_S = 300, /* slurmdbd's rows from this long before the hold */
	/* Questions to slurmdbd a pass, each for many jobs: a client who waits meanwhile waits no
	 * longer than for all of them. */
	ASKED_MAX = 4,
};

static uint32_t
live_shares(const struct lt_jobs_state *jobs, uint64_t quote_id)
{
	const struct lt_live *const live = lt_live_find(jobs, quote_id);

	return live != NULL ? live->live : 0;
}

/* Does a row carry this quote that is to be settled yet? What was settled before the hold was
 * ingested ends it no more. */
static bool
in_slurmdbd(struct lt_ledger *ledger, const struct lt_batch_runs *rows, uint64_t quote_id)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct lt_batch_run *const row = &rows->runs[i];
		const struct lt_run_key key = {row->job_id, row->submit_utc_s};
		const char *const text = row->admin_comment;
		struct lt_quote quote;
		struct lt_run known;

		if (text != NULL && lt_quote_unpack(&quote, text, strlen(text), NULL) == LT_OK &&
		    quote.id == quote_id && lt_ledger_run(ledger, key, &known, NULL) != LT_OK)
			return true;
	}
	return false;
}

int
lt_expire_hold(struct lt_budget_state *budget, struct lt_ledger *ledger,
    const struct lt_ledger_hold *hold, const char *why, struct lt_error *err)
{
	lt_log("void", "quote=%016" PRIx64 " account=%s job=%u why=\"%s\"", hold->quote.id,
	    hold->quote.account, hold->job_id, why);
	budget->dirty = true;
	return lt_ledger_end_hold(ledger, hold->quote.id, LT_HOLD_VOID, why, err);
}

struct window { /* of slurmdbd: one serves all holds */
	struct lt_span span;
	bool is_loaded;
	struct lt_batch_runs rows;
};

/* Ends holds that were never on a job: --test-only, refused later, a het job undone. */
static int
check_unseen(struct lt_ledger *ledger, struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, struct window *window, struct lt_error *err)
{
	if (!window->is_loaded) {
		const int code = lt_child_rows(&window->rows, lt_batch_runs,
		    window->span.from_utc_s, window->span.to_utc_s, err);

		if (code != LT_OK)
			return code;
		window->is_loaded = true;
	}
	if (in_slurmdbd(ledger, &window->rows, hold->quote.id))
		return LT_OK; /* settle.c ends it */
	return lt_expire_hold(budget, ledger, hold, "no job has this quote", err);
}

/* Runs of it whose rows have not come: settle.c charges each, in a day at last. A run that
 * slurmctld still lists is among the live shares, too. */
static uint32_t
awaited_shares(const struct lt_jobs_state *jobs, const struct lt_ledger_hold *hold)
{
	uint32_t count = 0;

	for (uint32_t i = 0; hold->job_id != 0 && i < jobs->ended_count; i++) {
		const struct lt_batch_run *const run = &jobs->ended[i].run;

		if (run->start_utc_s > 0 && run->end_utc_s > run->start_utc_s &&
		    (run->job_id == hold->job_id || run->array_job_id == hold->job_id))
			count++;
	}
	return count;
}

/* Ends the rest of a hold: settled, if runs of the job are charged but none was known to be the
 * last; void, if it never ran. */
static int
end_rest(struct lt_ledger *ledger, struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct lt_run *runs = NULL;
	uint32_t count = 0;
	bool ran = false;
	const int code = lt_ledger_runs_of_job(ledger, hold->job_id, &runs, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		ran |= runs[i].quote_id == hold->quote.id;
	free(runs);
	if (code != LT_OK)
		return code;
	if (!ran)
		return lt_expire_hold(budget, ledger, hold, LT_VOID_UNUSED, err);
	budget->dirty = true;
	return lt_ledger_end_hold(ledger, hold->quote.id, LT_HOLD_SETTLED, "", err);
}

/* Ends the rest of a hold once slurmdbd has answered. */
static int
end_seen(struct lt_ledger *ledger, const struct lt_jobs_state *jobs, struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct lt_ledger_hold after;
	const int code = lt_ledger_hold(ledger, hold->quote.id, &after, err);

	if (code != LT_OK || after.state != LT_HOLD_OPEN)
		return code;
	const uint32_t live = live_shares(jobs, hold->quote.id) + awaited_shares(jobs, &after);
	if (live >= after.live_tasks)
		return LT_OK;
	if (live == 0)
		return end_rest(ledger, budget, &after, err);
	after.live_tasks = live;
	budget->dirty = true;
	lt_log("shares_freed", "quote=%016" PRIx64 " job=%u live=%u", after.quote.id, after.job_id,
	    live);
	return lt_ledger_put_hold(ledger, &after, err);
}

struct seen { /* holds of jobs that are gone, or have fewer tasks left */
	const struct lt_ledger_hold *holds[LT_BATCH_RUNS_OF_MAX];
	uint32_t job_ids[LT_BATCH_RUNS_OF_MAX];
	uint32_t count;
};

/* Settles what slurmdbd has of them, then ends what is left. */
static int
check_seen(const struct lt_settler *by, struct seen *seen, struct lt_error *err)
{
	if (seen->count == 0)
		return LT_OK;
	int code = lt_settle_jobs(by, seen->job_ids, seen->count, err);
	if (code == LT_OK)
		code = lt_ledger_begin(by->ledger, err);
	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; code == LT_OK && i < seen->count; i++) {
		lt_breath(LT_TURN_READ);
		code = end_seen(by->ledger, by->jobs, by->budget, seen->holds[i], err);
	}
	if (code == LT_OK)
		code = lt_ledger_commit(by->ledger, err);
	if (code != LT_OK)
		lt_ledger_rollback(by->ledger);
	seen->count = 0;
	return code;
}

/* Returns when a list, or a look at its job, has to begin to prove something about it. */
static int64_t
proof_from_utc_s(const struct lt_ledger_hold *hold)
{
	return hold->made_utc_s + (hold->job_id == 0 ? LT_VOID_UNSEEN_S + 1 : LT_VOID_AFTER_S);
}

/* Was it as old as the proof wants when all of its job was seen last, by its id or in a list, and
 * were shares of it missing? */
static bool
is_suspect(const struct lt_jobs_state *jobs, const struct lt_ledger_hold *hold)
{
	const struct lt_live *const live = lt_live_find(jobs, hold->quote.id);
	int64_t seen_utc_s = jobs->list.begun_utc_s;

	if (live != NULL && live->seen_utc_s > seen_utc_s)
		seen_utc_s = live->seen_utc_s;
	return proof_from_utc_s(hold) <= seen_utc_s &&
	       live_shares(jobs, hold->quote.id) < hold->live_tasks;
}

/* Its job was seen once, and the last list, though too early to prove it, has no record of it:
 * slurmctld was killed and forgot it. */
static bool
is_forgotten(const struct lt_jobs_state *jobs, const struct lt_ledger_hold *hold)
{
	return hold->job_id != 0 && hold->made_utc_s <= jobs->list.begun_utc_s &&
	       lt_live_find(jobs, hold->quote.id) == NULL;
}

struct suspects {
	const struct lt_jobs_state *jobs;
	struct lt_ledger_hold *holds; /* malloc'd */
	uint32_t count;
	size_t capacity;
	int64_t oldest_utc_s; /* of holds that no job is known for */
	int64_t list_utc_s;   /* when one is to prove the next; INT64_MAX */
	bool awaited;	      /* there is one whose row has not come */
};

static int
suspect(void *context, const struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct suspects *const s = context;

	lt_breath(LT_TURN_READ);
	if (hold->job_id == 0 && hold->made_utc_s < s->oldest_utc_s)
		s->oldest_utc_s = hold->made_utc_s;
	if (!is_suspect(s->jobs, hold)) {
		if (is_forgotten(s->jobs, hold) && proof_from_utc_s(hold) < s->list_utc_s)
			s->list_utc_s = proof_from_utc_s(hold);
		return LT_OK;
	}
	const uint32_t awaited = awaited_shares(s->jobs, hold);
	if (awaited > 0) {
		s->awaited = true;
		if (live_shares(s->jobs, hold->quote.id) + awaited >= hold->live_tasks)
			return LT_OK;
	}
	struct lt_ledger_hold *const grown =
	    lt_items_grow(s->holds, &s->capacity, s->count, sizeof(*s->holds));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "void: out of memory");
	s->holds = grown;
	s->holds[s->count++] = *hold;
	return LT_OK;
}

int
lt_expire(const struct lt_settler *by, struct lt_error *err)
{
	struct suspects suspects = {
	    .jobs = by->jobs, .oldest_utc_s = by->now_utc_s, .list_utc_s = INT64_MAX};
	struct window window = {.is_loaded = false};
	uint32_t asked = 0;
	struct seen seen = {.count = 0};
	const bool has_dbd = lt_batch_has_dbd(&by->site->tables.conf);

	if (!by->jobs->void_due)
		return LT_OK;
	if (!has_dbd)
		window.is_loaded = true; /* no rows there, ever */
	else if (lt_batch_dbd_queue(&by->charges->dbd_queue, err) != LT_OK)
		return err->code;
	if (by->charges->dbd_queue > 0)
		return LT_OK;
	int code = lt_ledger_each_open(by->ledger, suspect, &suspects, err);
	/* Where jobs are many the next one would come in ten minutes. */
	if (suspects.list_utc_s != INT64_MAX)
		lt_poll_list(by->jobs, suspects.list_utc_s);
	by->jobs->void_due = code != LT_OK || suspects.count > 0 || suspects.awaited;
	for (uint32_t i = 0; code == LT_OK && i < suspects.count; i++) {
		const struct lt_ledger_hold *const h = &suspects.holds[i];

		if (h->job_id == 0)
			continue;
		if (asked == ASKED_MAX)
			break; /* the rest the next time */
		seen.holds[seen.count] = h;
		seen.job_ids[seen.count++] = h->job_id;
		if (seen.count == LT_BATCH_RUNS_OF_MAX) {
			asked++;
			code = check_seen(by, &seen, err);
		}
	}
	if (code == LT_OK)
		code = check_seen(by, &seen, err);
	window.span = (struct lt_span){suspects.oldest_utc_s - LOOK_S, by->now_utc_s + LOOK_S};
	for (uint32_t i = 0; code == LT_OK && i < suspects.count; i++)
		if (suspects.holds[i].job_id == 0)
			code =
			    check_unseen(by->ledger, by->budget, &suspects.holds[i], &window, err);
	free(suspects.holds);
	lt_batch_runs_free(&window.rows);
	return code;
}
