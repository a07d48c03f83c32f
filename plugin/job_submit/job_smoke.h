/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * require_smoke, for submissions and for changes of jobs.
 */
#ifndef LT_JOB_SMOKE_H
#define LT_JOB_SMOKE_H

#include "job_submit.h"
#include "terms.h"

/* Into s->smoke, by the request as it is before lowtide's own edits. */
void lt_submission_smoke(struct lt_submission *submission);
/* Says so, and whether the job is refused for it. */
bool lt_submission_smoke_refuses(struct lt_submission *submission);

struct lt_smoke_change { /* of a job; lent */
	const job_desc_msg_t *job;
	const struct lt_view *view;
	/* The terms that the job may have now, oldest first; none: it is not known yet. */
	const struct lt_terms *before;
	int before_count;
	int64_t now_utc_s;
};
/* Could a class want a smoke run for what this changes? */
bool lt_smoke_may_matter(const struct lt_market *market, const job_desc_msg_t *job);
/* Why the change is refused: written at most size bytes, ended; false: it is not. */
bool lt_change_lacks_smoke(char *out, size_t size, const struct lt_smoke_change *change);

#endif
