/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quote of a job that slurmctld has: made, and written onto the job.
 */
#ifndef LT_JOB_QUOTE_H
#define LT_JOB_QUOTE_H

#include "quote.h"
#include "batch.h"

struct lt_ledger;
struct lt_site;

/* Updates the job in slurmctld, in one step: the quote's text in its admin_comment (left as it is
 * where it has no room), action, and a begin time, 0 = as it is. LT_OK: done, or there was nothing
 * to do. What fails is logged. */
int lt_quote_publish(const struct lt_batch_job *job, const struct lt_quote *quote,
    enum lt_batch_hold action, int64_t begin_utc_s, struct lt_error *err);
/* Does the same, with the quote's own partition and start as the job's, and a time limit,
 * LT_UNSET_64 = as it is. Only for this record, if it is of a task. */
int lt_quote_publish_place(const struct lt_batch_job *job, const struct lt_quote *quote,
    enum lt_batch_hold action, int64_t limit_s, struct lt_error *err);
/* Writes the quote and a begin time to one task, "23_1", of those that wait by the record. */
int lt_quote_publish_task(const struct lt_batch_job *job, const char *task,
    const struct lt_quote *quote, int64_t begin_utc_s, struct lt_error *err);
/* Returns the run of a quote, by what its job's request expects now; its kind is 0 where the quote
 * has none. */
struct lt_quote_run lt_quote_run_again(
    const struct lt_quote *quote, const struct lt_request *request);
/* Returns an id that no quote has; never 0. */
uint64_t lt_quote_new_id(void);
/* Takes the larger hold in each currency, and the hours of both. */
void lt_quote_most(struct lt_quote *most, const struct lt_quote *a, const struct lt_quote *b);
/* Makes a fresh quote at the job's limit; false: it can't be priced. */
bool lt_quote_of_job(struct lt_quote *quote, const struct lt_batch_job *job,
    const struct lt_site *site, struct lt_ledger *ledger, int64_t now_utc_s);

#endif
