/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of slurmdbd become charges.
 */
#ifndef LT_SETTLE_H
#define LT_SETTLE_H

#include "budget_state.h"
#include "charges.h"
#include "ledger.h"

struct lt_batch_run;
struct lt_budget_state;
struct lt_market;
struct lt_signals_state;
struct lt_site;

enum {
	LT_SETTLE_EVERY_S = 60,	    /* window scan of slurmdbd */
	LT_SETTLE_NEAR_S = 10,	    /* of rows that are here */
	LT_SETTLE_OVERLAP_S = 3600, /* rows that come late or change */
	LT_SETTLE_ROWS = 16000,	    /* at once, in memory */
	LT_SETTLE_WINDOW_LEAST_S = 60,
};

static inline int64_t
lt_settle_every_s(void)
{
	return lt_batch_is_near() ? LT_SETTLE_NEAR_S : LT_SETTLE_EVERY_S;
}

struct lt_settler { /* what is settled, and by what it is priced */
	struct lt_site *site;
	struct lt_signals_state *signals;
	struct lt_ledger *ledger;
	struct lt_charges *charges;
	struct lt_jobs_state *jobs;
	struct lt_budget_state *budget;
	int64_t now_utc_s;
};

/* Rows that ended in that time. */
int lt_settle(
    const struct lt_settler *by, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);
/* Returns the length of the next window of rows, after one with so many: `most` are read at once,
 * however many a site has a day; a minute at least, and a day at most, for a quiet month says
 * nothing about the next. Each costs a child. */
int64_t lt_settle_window(int64_t window_s, uint32_t row_count, uint32_t most);
/* Notes that so many rows ended in so long a time until now. */
void lt_settle_counted(struct lt_charges *charges, int64_t rows, int64_t past_s);
/* Returns the length of the first window, if there were so many rows an hour before. */
int64_t lt_settle_first_window(int64_t rows_an_hour);
int lt_settle_due(const struct lt_settler *by, struct lt_error *err);
/* Asks the next look for the row of a run that ended since then. */
void lt_settle_await(struct lt_jobs_state *jobs, int64_t from_utc_s);
/* Settles what slurmdbd has of these jobs, 1 to LT_BATCH_RUNS_OF_MAX. */
int lt_settle_jobs(
    const struct lt_settler *by, const uint32_t *job_ids, uint32_t count, struct lt_error *err);
/* Rows that the ledger may have, priced again: what differs is corrected at its own hours. */
int lt_settle_again(const struct lt_settler *by, struct lt_batch_runs *rows, struct lt_error *err);
/* Returns lowtide's first start of all: runs that ended before are not charged. */
int64_t lt_settle_since(struct lt_ledger *ledger, int64_t fallback);
/* Loads until when all is settled: the last complete scan, or the first start of all, which is now.
 * Once, with the runs that were seen to end before. */
int lt_settle_load_until(struct lt_charges *charges, struct lt_jobs_state *jobs,
    struct lt_ledger *ledger, int64_t now_utc_s, struct lt_error *err);
/* Saves that all rows that ended before are settled. */
int lt_settle_save_until(
    struct lt_charges *charges, struct lt_ledger *ledger, int64_t until, struct lt_error *err);

#endif
