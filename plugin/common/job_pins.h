/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that keep a job in the partition where Slurm would put it.
 */
#ifndef LT_JOB_PINS_H
#define LT_JOB_PINS_H

#include "job_from_slurm.h"

/*
 * Writes request->pins and, with LT_PIN_OTHER, the option that pins as pinned_by, from a job
 * description. Reads only the table's fields; the texts may be forged. Pure.
 */
void lt_pins_of(struct lt_request *request, const job_desc_msg_t *job);

#endif
