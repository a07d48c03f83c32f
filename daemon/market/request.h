/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job record as a request.
 */
#ifndef LT_REQUEST_H
#define LT_REQUEST_H

#include "decide.h"
#include "batch.h"

struct lt_job_request { /* home is its first partition */
	struct lt_request request;
	int partition_count;
	int partitions[LT_PARTITIONS_MAX];
	struct lt_batch_places places; /* lent to its request */
};

/* False: the job names no partition of the market. */
bool lt_request_of_job(struct lt_job_request *made, const struct lt_batch_job *job,
    const struct lt_market *market, int64_t now_utc_s);

/* Does no node take it where this decision puts it? Then it stays as it is. */
static inline bool
lt_request_has_no_place(const struct lt_job_request *made, const struct lt_plan *plan)
{
	return made->request.closed != NULL && plan->chosen.partition >= 0 &&
	       made->request.closed[plan->chosen.partition];
}
/* Asks where it finds a node, for its request. */
void lt_request_look(
    struct lt_job_request *made, const struct lt_batch_job *job, const struct lt_market *market);
/* Partitions that have no room for it just now, as windows of a quarter of an hour; at most `most`.
 * Returns how many. */
uint32_t lt_request_full(struct lt_planned *windows, uint32_t most,
    const struct lt_job_request *made, const struct lt_market *market, int64_t now_utc_s);

#endif
