/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A dry run of a Job's first pod: the pod that the API server would store,
 * with what webhooks, LimitRanges and a RuntimeClass add to its template.
 */
#ifndef LT_KUBE_DRY_RUN_H
#define LT_KUBE_DRY_RUN_H

#include "kube_facts.h"

/* The member of a Job that has its dry run: {"sizes": text, "spec": {…}}, or
 * {"sizes": text, "why": text} where there is none. */
#define LT_KUBE_DRY_RUN "lowtideDryRun"

/* The pod that the Job controller makes first: new reference. Pure. */
json_t *lt_kube_dry_pod(const json_t *job);

/* What the answer to a dry run of this pod says of its size and place, for a
 * Job: new reference. answer NULL: there is none, and why. Pure. */
json_t *lt_kube_dry_result(
    const json_t *job, const json_t *answer, const char *why);

/* The dry run of the Job, if it is of the template that the Job has now; NULL:
 * none is. Lent. Pure. */
const json_t *lt_kube_dry_run_of(const json_t *job);

#endif
