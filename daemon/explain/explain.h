/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The story of a job as text: its decision, its plans, its hold and its runs.
 */
#ifndef LT_EXPLAIN_H
#define LT_EXPLAIN_H

#include "ledger.h"
#include "batch.h"

struct lt_daemon;
struct lt_text;

/* All that a job id has been: Slurm reuses ids after a while. */
struct lt_story {
	uint32_t job_id;
	bool formulas;			/* with the numbers of equations */
	const char *name;		/* as it was asked for; "": by its id */
	const struct lt_batch_job *job; /* NULL = not in slurmctld */
	bool has_hold;
	struct lt_ledger_hold hold;
	uint32_t count;
	struct lt_run *runs;	    /* malloc'd */
	uint32_t plan_count;	    /* 0 = it was decided once */
	struct lt_plan_made *plans; /* malloc'd */
};
void lt_explain_text(
    char *out, size_t size, struct lt_daemon *d, const struct lt_story *story, int64_t now_utc_s);

/* ---- explain_run.c ---- */

/* Appends the paragraph of one run: what it was charged, and by which rates. */
void lt_explain_run(
    struct lt_text *t, const struct lt_daemon *d, const struct lt_run *run, int64_t now_utc_s);

#endif
