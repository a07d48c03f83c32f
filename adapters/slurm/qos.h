/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits of QOS that a single job meets, as slurmctld has them now.
 */
#ifndef LT_QOS_H
#define LT_QOS_H

#include "compat.h"
#include "market.h"

/* Opened once per read; closed by lt_qos_limits_close(), also after a failure. */
struct lt_qos_limits {
	assoc_mgr_info_msg_t *answer; /* NULL: slurmctld said nothing */
	bool enforced;		      /* AccountingStorageEnforce=limits */
};
void lt_qos_limits_open(struct lt_qos_limits *all, const slurm_conf_t *conf);
void lt_qos_limits_close(struct lt_qos_limits *all);

/* Returns the limits of one QOS; NULL or "" limits nothing. A name that slurmctld does not list has
 * `others`, and every name does if it said nothing. */
struct lt_limits lt_qos_limits_of(const struct lt_qos_limits *all, const char *name);

/* Returns the enum lt_job_limit of all QOS together. */
uint32_t lt_qos_limits_kinds(const struct lt_qos_limits *all);

#endif
