/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How job_submit knows lowtided's question whether a job can start. Slurm calls job_submit for it
 * as for a submission, and tells it by nothing. It is one if and only if the description names a
 * job, has this name, and is SlurmUser's own, which slurmctld has from the credential: no user can
 * forge that. As it gets a partition that can't be there, no job can come of it either.
 */
#ifndef LT_CAN_START_H
#define LT_CAN_START_H

#define LT_CAN_START_NAME "lowtide:can-start"
#define LT_CAN_START_PARTITION "lowtide asks, and submits nothing"

#endif
