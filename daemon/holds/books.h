/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The books of holds: where they are kept, what they are kept by, and the ring that new ones come
 * from. Whoever wants to know them as of now reads the ring and compiles the budgets (ingest.h,
 * compile_budget.h).
 */
#ifndef LT_BOOKS_H
#define LT_BOOKS_H

struct lt_budget_state;
struct lt_counters;
struct lt_jobs_state;
struct lt_ledger;
struct lt_paths;
struct lt_ring_state;
struct lt_site;

struct lt_books { /* all lent */
	const struct lt_site *site;
	const struct lt_paths *paths;
	struct lt_ledger *ledger;
	struct lt_jobs_state *jobs;
	struct lt_budget_state *budget;
	struct lt_ring_state *ring;
	struct lt_counters *tally;
};

#endif
