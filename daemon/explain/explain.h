/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's story as text.
 */
#ifndef LT_EXPLAIN_H
#define LT_EXPLAIN_H

#include "ledger.h"
#include "batch.h"

struct lt_daemon;

/* What one job id has been: Slurm gives ids again after a while. */
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
void lt_explain_text(char *out, size_t size, struct lt_daemon *d,
    const struct lt_story *story, int64_t now_utc_s);

#endif
