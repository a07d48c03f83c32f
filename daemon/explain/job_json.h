/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job as its user follows it: its state, its plan, and what it costs.
 */
#ifndef LT_JOB_JSON_H
#define LT_JOB_JSON_H

#include <jansson.h>

#include "batch.h"
#include "ledger.h"

struct lt_daemon;

/* One record of the list, with its hold. docs/api.md has the fields. */
json_t *lt_job_json(struct lt_daemon *d, const struct lt_batch_job *job,
    const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* A run that the system's list has no more; the same fields. */
json_t *lt_job_json_of_run(const struct lt_run *run);

#endif
