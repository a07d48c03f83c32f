/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns finished runs of slurmdbd into charges, at the prices and intensities that held then. Each
 * run is charged once, however often it is read: a run that is in the ledger with the same facts is
 * left alone. The run's cost is also kept beside what its job was quoted.
 *
 * Reads rows, the market and the ledger's rates; writes runs, entries and holds in the ledger, in
 * transactions. On failure the rows are read again later.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "batch_child.h"
#include "booking.h"
#include "breath.h"
#include "budget_state.h"
#include "dbd_row.h"
#include "ended.h"
#include "facts.h"
#include "interrupted.h"
#include "jobs.h"
#include "ledger.h"
#include "lengths.h"
#include "log.h"
#include "market.h"
#include "periods.h"
#include "posterior.h"
#include "price.h"
#include "quoted.h"
#include "rates.h"
#include "retention.h"
#include "settle.h"
#include "signals.h"
#include "site.h"
#include "units.h"
#include "utilisation.h"

struct quoted_of {
	const struct lt_run *run; /* as settled */
	const struct lt_quote *quote;
	const struct lt_batch_run *row; /* has what the user asked */
	int64_t open_since_utc_s;	/* what ended before stays as it is */
};

static struct lt_amount
of_one_task(const struct lt_quote *quote, const struct lt_amount *all)
{
	const int64_t tasks = quote->tasks > 0 ? quote->tasks : 1;

	return (struct lt_amount){
	    all->has_money, all->has_carbon, all->money_micros / tasks, all->carbon_mg / tasks};
}

static enum lt_compared
compared(const struct lt_quote *quote)
{
	return quote->flags & LT_QUOTE_HELD_OUT	  ? LT_COMPARED_KEPT
	       : quote->flags & LT_QUOTE_COMPARED ? LT_COMPARED_MOVED
						  : LT_COMPARED_NOT;
}

static enum lt_quoted_end
end_of(const char *state)
{
	if (strcmp(state, "COMPLETED") == 0)
		return LT_QUOTED_COMPLETED;
	return strcmp(state, "DEADLINE") == 0 || strcmp(state, "TIMEOUT") == 0
		   ? LT_QUOTED_OUT_OF_TIME
		   : LT_QUOTED_OTHER;
}

/* The ledger has no wishes: they stand on the job. 0 = none. */
static int64_t
deadline_of(const struct quoted_of *of)
{
	const char *const text = of->row->admin_comment;
	struct lt_wish wish = of->quote->wish;
	struct lt_quote told;

	if (!wish.known && text != NULL &&
	    lt_quote_unpack(&told, text, strlen(text), NULL) == LT_OK && told.id == of->quote->id)
		wish = told.wish;
	return wish.known && wish.deadline_utc_s != LT_UNSET_64 ? wish.deadline_utc_s : 0;
}

/* Returns the expected cost at home; not known where it is another partition's:
 * (30) does not know that one. */
static struct lt_amount
expected_at_home(const struct lt_quote *quote)
{
	return quote->flags & LT_QUOTE_NOT_HOME ? (struct lt_amount){.has_money = false}
						: of_one_task(quote, &quote->home_expected);
}

/* Keeps a quoted run in the ledger, if its job asked and lowtide may move it. */
static int
keep_quoted_run(const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_budget_state *budget, const struct quoted_of *of, struct lt_error *err)
{
	const struct lt_run *const run = of->run;
	const struct lt_quote *const quote = of->quote;
	const bool has_base = lt_baseline_known(run);

	if (quote->objective == LT_OBJECTIVE_OFF || !lt_mode_may(quote->mode, LT_MAY_EDIT) ||
	    run->end_utc_s < of->open_since_utc_s)
		return LT_OK;
	struct lt_quoted quoted = {.run = run->key,
	    .quote_id = quote->id,
	    .compared = compared(quote),
	    .draw = lt_holdout_draw(&budget->snapshot.holdout, run->uid, run->key.submit_utc_s),
	    .plan = of_one_task(quote, &quote->plan_expected),
	    .home = expected_at_home(quote),
	    .charged = {run->priced, run->has_carbon,
		lt_before_discount(run->money_micros, &run->parts), run->carbon_mg},
	    .base = {run->priced && has_base, run->has_carbon && has_base,
		run->baseline_money_micros, run->baseline_carbon_mg},
	    .end_utc_s = run->end_utc_s,
	    .end = end_of(run->state_text),
	    .deadline_utc_s = deadline_of(of)};

	(void)lt_work_at_home(&quoted.work, run, quote, market, ledger);
	memcpy(quoted.account, run->account, sizeof(quoted.account));
	quoted.left =
	    quoted.compared == LT_COMPARED_KEPT && strcmp(run->partition, quote->home) != 0;
	if (quoted.deadline_utc_s != 0)
		quoted.stated_ppm = lt_class_confidence_ppm(
		    lt_market_class(
			market, &(struct lt_class_of){.account = run->account,
				    .qos = of->row->qos,
				    .name = of->row->name,
				    .partition = lt_market_partition(market, quote->home)}),
		    market);
	return lt_ledger_put_quoted(ledger, &quoted, err);
}

enum {
	NO_ROW_S = 120,
	PROVISIONAL_AFTER_S = LT_DAY_S,
	ROWS_AT_ONCE = 1000, /* in a transaction */
};

/* True if the ledger has this run with these facts: nothing to price again (that would use the
 * carry again). */
static bool
is_same(const struct lt_run *known, const struct lt_run *run)
{
	return !known->provisional && known->priced &&
	       lt_db_columns_equal(&lt_run_facts, known, run);
}

enum manner {
	AS_ROW,
	AS_RECORD, /* of slurmctld: until a row comes */
	AGAIN,	   /* rows that the ledger has are priced again too */
};

struct charged {
	uint32_t job_id;
	char account[LT_ACCOUNT_SIZE];
	int64_t money_micros, carbon_mg;
	bool provisional, interrupted;
};

struct batch { /* the rows of a transaction */
	const struct lt_batch_run *rows;
	uint32_t count;
	enum manner manner;
	int64_t open_since_utc_s;
	struct charged *charged; /* logged once it is on disk */
	uint32_t charged_count;
};

struct settling { /* a row, and what it becomes */
	const struct lt_batch_run *row;
	const struct lt_run *known;   /* as the ledger has it; NULL = not */
	bool is_new;		      /* it has not, and could be read */
	const struct lt_quote *quote; /* NULL = none */
	struct lt_run run;
	struct lt_charge charge;
};

/* Remembers a row's quote. After a rebuild the ledger has no holds: the quote comes back as an
 * ended one, so that explain still has the job's story. */
static int
remember_quote(
    struct lt_ledger *ledger, const struct settling *s, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_batch_run *const row = s->row;
	const struct lt_quote *const quote = s->quote;
	struct lt_ledger_hold hold;

	if (lt_ledger_hold(ledger, quote->id, &hold, NULL) != LT_ENOENT)
		return LT_OK;
	hold = (struct lt_ledger_hold){.quote = *quote,
	    .uid = s->run.uid,
	    .state = LT_HOLD_SETTLED,
	    .made_utc_s = now_utc_s,
	    .job_id = row->array_job_id ? row->array_job_id : row->job_id,
	    .submit_utc_s = row->submit_utc_s};
	return lt_ledger_put_hold(ledger, &hold, err);
}

static void
note_charged(struct batch *batch, const struct lt_run *run)
{
	struct charged *const c = &batch->charged[batch->charged_count++];

	*c = (struct charged){.job_id = run->key.job_id,
	    .money_micros = run->money_micros,
	    .carbon_mg = run->carbon_mg,
	    .provisional = run->provisional,
	    .interrupted = lt_is_interruption(run->state_text)};
	memcpy(c->account, run->account, sizeof(c->account));
}

static int
settle_priced(
    const struct lt_settler *by, struct batch *batch, struct settling *s, struct lt_error *err)
{
	struct lt_run *const run = &s->run;
	const struct lt_charge *const charge = &s->charge;
	const int64_t now_utc_s = by->now_utc_s;
	struct lt_entry *entries = NULL;
	bool changed = false;

	int code = lt_booking_make(&entries, run, charge, by->ledger, err);
	if (code == LT_OK && s->quote != NULL)
		code = remember_quote(by->ledger, s, now_utc_s, err);
	if (code == LT_OK && !run->has_baseline) {
		/* Without a plan of ours, what it cost is what it would
		 * have. A plan of ours that can't be compared saved nothing:
		 * lt_baseline_known(). */
		run->baseline_money_micros = run->money_micros;
		run->baseline_carbon_mg = run->carbon_mg;
		for (uint32_t i = 0; i < charge->hour_count; i++) {
			entries[i].baseline_money_micros = entries[i].money_micros;
			entries[i].baseline_carbon_mg = entries[i].carbon_mg;
		}
	}
	if (code == LT_OK && s->quote != NULL)
		lt_facts_of_over(run, s->quote, s->row, s->known, &by->site->market, by->ledger);
	const int64_t hour_utc_s = lt_calendar_hour(&by->site->offsets, now_utc_s);
	const struct lt_settlement settlement = {.run = run,
	    .entries = entries,
	    .count = charge->hour_count,
	    .now_utc_s = now_utc_s,
	    .hour_utc_s = hour_utc_s,
	    .is_new = s->is_new,
	    .open_since_utc_s = batch->open_since_utc_s};
	if (code == LT_OK && s->quote != NULL && !run->provisional)
		code = lt_discount_take(&(struct lt_discount_of){.run = run,
					    .quote = s->quote,
					    .known = s->known,
					    .entries = entries,
					    .count = charge->hour_count,
					    .hour_utc_s = hour_utc_s,
					    .open_since_utc_s = batch->open_since_utc_s},
		    by->site, by->ledger, err);
	if (code == LT_OK)
		code = lt_ledger_settle(by->ledger, &settlement, &changed, err);
	if (code == LT_OK && s->quote != NULL)
		code = keep_quoted_run(&by->site->market, by->ledger, by->budget,
		    &(struct quoted_of){.run = run,
			.quote = s->quote,
			.row = s->row,
			.open_since_utc_s = batch->open_since_utc_s},
		    err);
	if (code == LT_OK && changed)
		note_charged(batch, run);
	/* For a run that the ledger has by its row it is known already. */
	if (code == LT_OK && (s->known == NULL || s->known->provisional))
		code = lt_utilisation_came(by->ledger, by->charges, run->end_utc_s, err);
	free(entries);
	return code;
}

/* True if the same facts give the same charge now, but for the carry. */
static bool
is_priced_so(const struct lt_run *known, const struct lt_run *run, const struct lt_charge *charge)
{
	/* For what is rounded with it, and the charge for carbon. */
	static const double carry = 1.5 + 1e-6;
	const int64_t gross = lt_before_discount(known->money_micros, &known->parts);

	return known->priced == charge->priced && known->has_carbon == charge->has_carbon &&
	       known->has_baseline == run->has_baseline &&
	       (!run->has_baseline ||
		   (known->baseline_money_micros == run->baseline_money_micros &&
		       known->baseline_carbon_mg == run->baseline_carbon_mg &&
		       memcmp(&known->saved_by, &run->saved_by, sizeof(run->saved_by)) == 0)) &&
	       fabs(charge->money_micros - (double)gross) <= carry &&
	       fabs(charge->carbon_mg - (double)known->carbon_mg) <= carry;
}

/* Learns once from what slurmdbd itself says about it. */
static int
learn(const struct lt_settler *by, const struct settling *s, struct lt_error *err)
{
	const struct lt_ended_run ended = {s->row, &s->run, s->quote, s->is_new};

	return lt_lengths_learn(
	    by->ledger, &ended, lt_lengths_since(by->site->policy, by->now_utc_s), err);
}

static int
describe(const struct lt_settler *by, const struct batch *batch, const struct lt_run *run,
    struct lt_error *err)
{
	return lt_ledger_describe_run(by->ledger,
	    &(struct lt_settlement){.run = run,
		.now_utc_s = by->now_utc_s,
		.open_since_utc_s = batch->open_since_utc_s},
	    err);
}

static int
settle_row(const struct lt_settler *by, struct batch *batch, const struct lt_batch_run *row,
    struct lt_error *err)
{
	const enum manner manner = batch->manner;
	struct settling s = {.row = row};
	struct lt_run *const run = &s.run;
	struct lt_run found;
	struct lt_quote quote;
	const struct lt_run_key key = {row->job_id, row->submit_utc_s};

	if (!row->finished || row->submit_utc_s == 0)
		return LT_OK;
	const int known = lt_ledger_run(by->ledger, key, &found, NULL);
	if (known == LT_OK)
		s.known = &found;
	s.is_new = known == LT_ENOENT;
	if (lt_dbd_row_quote(&quote, by->ledger, row, s.known))
		s.quote = &quote;
	lt_facts_of_row(run, row, s.quote);
	lt_retention_keep(run, s.known, by->site->policy, by->budget, by->now_utc_s);
	lt_facts_complete(run, row, s.known, by->site, by->ledger);
	const bool same = s.known != NULL && is_same(s.known, run);
	if (s.known != NULL && manner == AS_RECORD)
		return LT_OK;
	/* If a clock was wrong a run may end in the future: less is known about these hours than
	 * when it was charged. */
	if (same && (manner != AGAIN || row->end_utc_s > by->now_utc_s))
		return lt_facts_are_told(s.known, run) ? LT_OK : describe(by, batch, run, err);
	run->provisional = manner == AS_RECORD;
	int code = run->provisional ? LT_OK : learn(by, &s, err);
	if (code == LT_OK && !run->provisional && s.known == NULL)
		code = lt_interrupted_row(&by->site->market, by->ledger, row, err);
	if (code == LT_OK)
		code = lt_price_run(&s.charge, run,
		    &(struct lt_priced_by){.market = &by->site->market,
			.ledger = by->ledger,
			.offsets = &by->site->offsets},
		    err);
	if (code != LT_OK)
		return code;
	if (run->gpus_from == LT_GPUS_UNKNOWN && s.known == NULL)
		lt_log("gpus_unknown",
		    "job=%u account=%s: AccountingStorageTRES has no gres/gpu, and slurmctld's record was not seen: no price",
		    run->key.job_id, run->account);
	if (s.quote != NULL)
		lt_baseline_of_run(run, s.quote, &by->site->market, by->ledger);
	/* Still no price known, or still this one? */
	if (!(s.known != NULL && !s.known->priced && !run->priced) &&
	    !(same && is_priced_so(s.known, run, &s.charge)))
		code = settle_priced(by, batch, &s, err);
	else if (!lt_facts_are_told(s.known, run))
		code = describe(by, batch, run, err);
	lt_charge_free(&s.charge);
	if (code == LT_OK)
		lt_lengths_ended(by->site->policy, by->charges, run);
	return code;
}

static int
by_end(const void *a, const void *b)
{
	const struct lt_batch_run *const x = a, *const y = b;

	if (x->end_utc_s != y->end_utc_s)
		return x->end_utc_s < y->end_utc_s ? -1 : 1;
	const struct lt_run_key p = {x->job_id, x->submit_utc_s};
	const struct lt_run_key q = {y->job_id, y->submit_utc_s};
	return lt_run_keys_compare(&p, &q);
}

static void
tell_charged(const struct lt_settler *by, const struct batch *batch)
{
	lt_log_gather();
	for (uint32_t i = 0; i < batch->charged_count; i++) {
		const struct charged *const c = &batch->charged[i];

		by->budget->dirty = true;
		if (c->interrupted)
			by->signals->seen_dirty = by->signals->changed = true;
		lt_log("settled",
		    "job=%u account=%s money_micros=%" PRId64 " carbon_mg=%" PRId64
		    " provisional=%d",
		    c->job_id, c->account, c->money_micros, c->carbon_mg, c->provisional);
	}
	lt_log_flush();
}

/* Settles some in one transaction: each waits for the disk. */
static int
settle_some(const struct lt_settler *by, struct batch *batch, struct lt_error *err)
{
	batch->charged_count = 0;
	batch->charged = calloc(batch->count, sizeof(*batch->charged));
	if (batch->charged == NULL)
		return lt_fail(err, LT_ENOMEM, "settle: out of memory");
	int code = lt_ledger_begin(by->ledger, err);
	if (code == LT_OK) {
		batch->open_since_utc_s = lt_ledger_closed_until(by->ledger);
		for (uint32_t i = 0; code == LT_OK && i < batch->count; i++) {
			lt_breath(LT_TURN_READ);
			code = settle_row(by, batch, &batch->rows[i], err);
		}
		if (code == LT_OK)
			code = lt_ledger_commit(by->ledger, err);
		if (code == LT_OK)
			tell_charged(by, batch);
		else
			lt_ledger_rollback(by->ledger);
	}
	free(batch->charged);
	return code;
}

/* Settles rows in order of their ends, so that a rebuild gives the same carries. */
static int
settle_rows(const struct lt_settler *by, struct lt_batch_runs *rows, enum manner manner,
    struct lt_error *err)
{
	int code = LT_OK;

	if (rows->count > 1)
		qsort(rows->runs, rows->count, sizeof(*rows->runs), by_end);
	for (uint32_t i = 0; i < rows->count; i++)
		lt_dbd_row_fill(&rows->runs[i], by->jobs, by->ledger);
	for (uint32_t at = 0; code == LT_OK && at < rows->count; at += ROWS_AT_ONCE) {
		const uint32_t count =
		    rows->count - at < ROWS_AT_ONCE ? rows->count - at : ROWS_AT_ONCE;
		struct batch some = {.rows = rows->runs + at, .count = count, .manner = manner};

		if (settle_some(by, &some, NULL) == LT_OK)
			continue;
		/* One of them fails: those before it are charged. */
		some.count = 1;
		for (uint32_t i = 0; code == LT_OK && i < count; i++) {
			some.rows = &rows->runs[at + i];
			code = settle_some(by, &some, err);
		}
	}
	return code;
}

static int
settle_span(
    const struct lt_settler *by, struct lt_span span, enum manner manner, struct lt_error *err)
{
	int64_t window_s = lt_settle_first_window(by->charges->rows_an_hour);
	int64_t count = 0;
	int code = LT_OK;

	for (int64_t at = span.from_utc_s; code == LT_OK && at < span.to_utc_s;) {
		struct lt_batch_runs rows = {0};
		const int64_t end = at + window_s < span.to_utc_s ? at + window_s : span.to_utc_s;

		code = lt_child_rows(&rows, lt_batch_runs, at, end, err);
		if (code == LT_OK)
			code = settle_rows(by, &rows, manner, err);
		window_s = lt_settle_window(window_s, rows.count, LT_SETTLE_ROWS);
		count += rows.count;
		lt_batch_runs_free(&rows);
		at = end;
	}
	lt_settle_counted(by->charges, count, by->now_utc_s - span.from_utc_s);
	return code;
}

int
lt_settle(const struct lt_settler *by, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	const int code =
	    lt_rates_record(by->site, by->signals, by->ledger, &by->jobs->list, by->now_utc_s, err);

	return code == LT_OK ? settle_span(by, (struct lt_span){from_utc_s, to_utc_s}, AS_ROW, err)
			     : code;
}

/* Runs that were priced by guesses, by what is known of their hours now. */
static int
settle_righted(const struct lt_settler *by, struct lt_error *err)
{
	struct lt_span span = {by->site->rates.righted_utc_s, by->now_utc_s + LT_SETTLE_OVERLAP_S};

	if (by->site->rates.righted_utc_s == 0)
		return LT_OK;
	if (span.from_utc_s < lt_settle_since(by->ledger, span.from_utc_s))
		span.from_utc_s = lt_settle_since(by->ledger, span.from_utc_s);
	const int code = settle_span(by, span, AGAIN, err);
	if (code == LT_OK)
		by->site->rates.righted_utc_s = 0;
	return code;
}

int
lt_settle_again(const struct lt_settler *by, struct lt_batch_runs *rows, struct lt_error *err)
{
	return settle_rows(by, rows, AGAIN, err);
}

int
lt_settle_jobs(
    const struct lt_settler *by, const uint32_t *job_ids, uint32_t count, struct lt_error *err)
{
	struct lt_batch_runs rows = {0};

	if (!lt_batch_has_dbd(&by->site->tables.conf))
		return LT_OK;
	int code = lt_child_runs_of_jobs(&rows, job_ids, count, err);
	if (code != LT_OK)
		return code;
	code = settle_rows(by, &rows, AS_ROW, err);
	lt_batch_runs_free(&rows);
	return code;
}

/* Forgets what the ledger has; charges provisionally what has waited a day, or at once at a site
 * without slurmdbd. *oldest: start of the rest. */
static int
check_ended(const struct lt_settler *by, int64_t *oldest, struct lt_error *err)
{
	const bool has_dbd = lt_batch_has_dbd(&by->site->tables.conf);
	const int64_t wait = has_dbd ? PROVISIONAL_AFTER_S : 0;
	const uint32_t before = by->jobs->ended_count;
	uint32_t kept = 0;
	const int64_t first = lt_settle_since(by->ledger, 0);
	bool waited = false;
	int code = LT_OK;

	*oldest = INT64_MAX;
	for (uint32_t i = 0; i < by->jobs->ended_count; i++) {
		struct lt_ended *const e = &by->jobs->ended[i];
		struct lt_run known;
		const struct lt_run_key key = {e->run.job_id, e->run.submit_utc_s};

		waited |= by->now_utc_s - e->seen_utc_s > LT_SETTLE_EVERY_S;
		if (code == LT_OK && by->now_utc_s - e->seen_utc_s >= wait &&
		    e->run.end_utc_s >= first)
			code = settle_some(by,
			    &(struct batch){.rows = &e->run,
				.count = 1,
				.manner = has_dbd ? AS_RECORD : AS_ROW},
			    err);
		/* A task cancelled while it waited leaves no row at all. */
		const bool ran = e->run.start_utc_s > 0 && e->run.end_utc_s > e->run.start_utc_s;

		if (lt_ledger_run(by->ledger, key, &known, NULL) == LT_OK ||
		    e->run.end_utc_s < first ||
		    (!ran && by->now_utc_s - e->seen_utc_s > NO_ROW_S)) {
			free(e->run.admin_comment);
			continue;
		}
		if (e->run.end_utc_s && e->run.end_utc_s < *oldest)
			*oldest = e->run.end_utc_s;
		by->jobs->ended[kept++] = *e;
	}
	by->jobs->ended_count = kept;
	if (code == LT_OK && (waited || (before > 0 && kept == 0)))
		code = lt_ended_save(by->jobs, by->ledger, err);
	return code;
}

int
lt_settle_due(const struct lt_settler *by, struct lt_error *err)
{
	int64_t oldest = INT64_MAX;
	int code = lt_settle_load_until(by->charges, by->jobs, by->ledger, by->now_utc_s, err);

	if (code == LT_OK)
		code = lt_rates_record(
		    by->site, by->signals, by->ledger, &by->jobs->list, by->now_utc_s, err);
	if (code == LT_OK)
		code = check_ended(by, &oldest, err);
	if (code != LT_OK || !lt_batch_has_dbd(&by->site->tables.conf))
		return code;
	if (by->jobs->rows_from_utc_s != 0 && by->jobs->rows_from_utc_s < oldest)
		oldest = by->jobs->rows_from_utc_s;
	by->jobs->rows_from_utc_s = 0;
	const bool full =
	    by->now_utc_s >= by->charges->next.settle || by->site->rates.righted_utc_s != 0;
	if (!full && oldest == INT64_MAX)
		return LT_OK;
	int64_t from = by->charges->settled_until_utc_s - LT_SETTLE_OVERLAP_S;
	/* After a clock was set back all of this is in the future. */
	if (from > by->now_utc_s - LT_SETTLE_OVERLAP_S)
		from = by->now_utc_s - LT_SETTLE_OVERLAP_S;
	int64_t to = by->now_utc_s + LT_SETTLE_OVERLAP_S;
	if (oldest != INT64_MAX && oldest > to)
		to = oldest;
	/* Never before the first start: what ended then was not ours. */
	if (from < lt_settle_since(by->ledger, from))
		from = lt_settle_since(by->ledger, from);
	if (!full && oldest - 1 > from)
		from = oldest - 1;
	code = lt_settle(by, from, to, err);
	if (code == LT_OK)
		code = settle_righted(by, err);
	if (code != LT_OK)
		return code;
	if (full) {
		by->charges->next.settle = by->now_utc_s + lt_settle_every_s();
		code = check_ended(by, &oldest, err);
		/* Rows still in slurmctld's queue come later: go back to before the oldest that we
		 * wait for. */
		if (code == LT_OK && lt_batch_dbd_queue(&by->charges->dbd_queue, NULL) == LT_OK &&
		    by->charges->dbd_queue == 0)
			code = lt_settle_save_until(by->charges, by->ledger, by->now_utc_s, err);
	}
	return code == LT_OK ? check_ended(by, &oldest, err) : code;
}
