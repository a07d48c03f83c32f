/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that lowtide put on preemptible nodes, decided again when they lost those nodes, and before
 * they have waited too long for some.
 */
#ifndef LT_LIFE_AGAIN_H
#define LT_LIFE_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct lt_batch_job;
struct lt_books;
struct lt_budget_state;
struct lt_ledger;
struct lt_replan_state;
struct lt_site;

struct lt_again_state {	      /* start as { 0 } */
	int64_t looked_utc_s; /* who was due until then was decided */
};

/* Decides where it resumes: *moved if it was changed to start somewhere else, or later. It never
 * goes where its team's budget has no room for it. job: from the list. */
int lt_again(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_batch_job *job, int64_t now_utc_s, bool *moved, struct lt_error *err);
/* Starts a requeued job now, where that fits. Slurm makes it wait for two minutes otherwise, and
 * the hold covers these. */
int lt_again_now(const struct lt_site *site, struct lt_ledger *ledger,
    struct lt_budget_state *budget, const struct lt_batch_job *job, int64_t now_utc_s,
    struct lt_error *err);
/* Decides all that are due. */
int lt_again_run(const struct lt_books *books, struct lt_replan_state *replan,
    struct lt_again_state *again, int64_t now_utc_s, struct lt_error *err);

#endif
