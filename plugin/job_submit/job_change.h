/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job before and after a change, as requests that can be priced; and the changes that are newer
 * than the terms file.
 */
#ifndef LT_JOB_CHANGE_H
#define LT_JOB_CHANGE_H

#include "job_from_slurm.h"
#include "terms.h"

/*
 * Reads the job's number from its text exactly as slurmctld does: otherwise the change would be
 * judged by another job's terms. "12", "12_3", "12_[1-9]", "12+1" for 13 (components of a het job
 * have ids in a row); all tasks of an array have the terms of their record. 0: only Slurm knows.
 */
uint32_t lt_changed_job_id(const job_desc_msg_t *job);

/* The job by its terms, as a request. LT_ENOENT: its partitions are not
 * known, or not all of them; the rest is usable. */
int lt_request_from_terms(struct lt_request *request, const struct lt_terms *terms,
    const struct lt_market *market, struct lt_error *err);

/* Lay what the change sets over what the job asked. LT_ENOENT and the like:
 * as lt_request_from_desc() says of a partition that is set. */
int lt_request_lay(struct lt_request *request, const job_desc_msg_t *job,
    const struct lt_market *market, int64_t now_utc_s, struct lt_error *err);

/* The size, time limit and partitions of these terms become the request's. */
void lt_terms_lay(
    struct lt_terms *terms, const struct lt_request *request, const struct lt_market *market);

/*
 * The terms file is written a pass later. Until then a change is kept here,
 * so that the next one of the same job is laid over both. The oldest is
 * forgotten for a new one: lowtided's own look finds what got by.
 */
void lt_changes_keep(const struct lt_terms *terms, int64_t now_utc_s);
bool lt_changes_find(struct lt_terms *changed, const struct lt_terms *terms);
void lt_changes_forget(void);

#endif
