/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of a group of finished runs, docs/model.md (43) to (45); and a table of groups in memory,
 * fed a run at a time, for callers without a ledger.
 * history.h makes expectations from them.
 */
#ifndef LT_RUN_LENGTHS_H
#define LT_RUN_LENGTHS_H

#include "history.h"

/* The newest are kept. In the wider groups the newest of each name and shape counts, so that what
 * ran often says no more of a new name than what ran once. */
enum {
	LT_RUNS_OF_NAME = 64,
	LT_RUNS_OF_USER = 256,
	LT_RUNS_OF_ACCOUNT = 1024,
	LT_RUNS_MOST = LT_RUNS_OF_ACCOUNT
};

/* Meaning of a run's end, in Slurm's word, for the length. */
enum lt_run_says { LT_RUN_SAYS_NOTHING, LT_RUN_SAYS_LENGTH, LT_RUN_SAYS_LEAST };
enum lt_run_says lt_run_says(const char *state_text);

struct lt_run_length {
	int64_t length_s; /* that it worked; below 1 counts as 1 */
	int64_t limit_s;  /* <= 0: none, and it says nothing of the limit */
	bool at_least;	  /* it was ended by its limit */
};

/*
 * Finds the time by which `part` (0 to 1) of all runs have ended, by Kaplan and Meier (JASA 1958)
 * from values of which some are at least so long; of two times that are both right, as of an even
 * number, the middle. False: it is beyond what is known. values is sorted. Pure; count may be 0.
 */
struct lt_length_value {
	double value;
	bool at_least;
};
bool lt_length_quantile(
    double *quantile, struct lt_length_value *values, uint32_t count, double part);

/* Computes figures of at most LT_RUNS_MOST runs of a group; upper for confidence_ppm of the runs to
 * come, 1 to 999999. *ratio_ppm: the median part of the limit, LT_HISTORY_NEVER where it is not
 * known; may be NULL. Pure. */
struct lt_history_figures lt_run_figures(const struct lt_run_length *runs, uint32_t count,
    enum lt_history_group group, uint32_t confidence_ppm, uint32_t *ratio_ppm);

/* ---- a table in memory ---- */
struct lt_lengths; /* opaque; one thread at a time */

/* NULL: no memory. */
struct lt_lengths *lt_lengths_new(uint32_t confidence_ppm);
void lt_lengths_free(struct lt_lengths *lengths);
/* Adds a run that ended, in the order of their ends. LT_ENOMEM: some of its groups are without
 * it. */
int lt_lengths_add(
    struct lt_lengths *lengths, const struct lt_run_kind *kind, const struct lt_run_length *run);
/* Expects the next run of its kind. Figures of groups of more than 16 runs are made anew when a
 * sixteenth of them is. */
struct lt_expected lt_lengths_ask(
    struct lt_lengths *lengths, const struct lt_run_kind *kind, int64_t limit_s);

#endif
