/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_DBD_USED_H
#define LT_DBD_USED_H

#include "compat.h"
#include "batch.h"

/* What the steps of a run say that it used. gpu_use_id: of gres/gpuutil in
 * slurmdbd, 0 = it has none. */
void lt_copy_used(struct lt_batch_run *to, const slurmdb_job_rec_t *from,
    uint32_t gpu_use_id);

#endif
