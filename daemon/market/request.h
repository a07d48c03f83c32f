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
};

/* False: the job names no partition of the market. */
bool lt_request_of_job(struct lt_job_request *made,
    const struct lt_batch_job *job, const struct lt_market *market,
    int64_t now_utc_s);

#endif
