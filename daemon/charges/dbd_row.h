/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of slurmdbd: what they lack that a charge needs, and their quotes.
 */
#ifndef LT_DBD_ROW_H
#define LT_DBD_ROW_H

#include "budget_state.h"
#include "ledger.h"

/*
 * Fills in the partition of the run, where the row has none (slurmdbd lost its start) or several
 * (slurmctld started again while it ran), and what is lost with a start: from slurmctld's record,
 * else as it was settled, else by the run's nodes and its hold. Otherwise the row stays as it is.
 */
void lt_dbd_row_fill(
    struct lt_batch_run *row, const struct lt_jobs_state *jobs, struct lt_ledger *ledger);

/* Finds the quote of a run: the ledger's, else the row's text, which no longer matters for a run
 * that the ledger has (known; NULL: it has not). */
bool lt_dbd_row_quote(struct lt_quote *quote, struct lt_ledger *ledger,
    const struct lt_batch_run *row, const struct lt_run *known);

/* Compares two struct lt_run_key, for qsort() and bsearch(). */
int lt_run_keys_compare(const void *a, const void *b);

#endif
