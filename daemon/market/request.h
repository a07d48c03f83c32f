/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job record as a request.
 */
#ifndef LT_REQUEST_H
#define LT_REQUEST_H

#include "decide.h"
#include "slurm.h"

/* Home is its first partition. */
bool lt_request_of_job(struct lt_request *request, int *partitions,
    int *partition_count, const struct lt_slurm_job *job,
    const struct lt_market *market, int64_t now_utc_s);

#endif
