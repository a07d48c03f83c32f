/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the API server gives a pod at its creation, beside what its template
 * says: requests by LimitRanges, overhead and node labels by RuntimeClasses.
 */
#ifndef LT_KUBE_GIVEN_H
#define LT_KUBE_GIVEN_H

#include "kube_facts.h"

/* From a list's items: requests by namespace, the most of each; RuntimeClasses
 * by name. New references. Pure. */
json_t *lt_kube_given_requests(const json_t *limit_ranges);
json_t *lt_kube_given_classes(const json_t *runtime_classes);

/* A Job's pod spec as its pods will have it: new reference. *is_unsized: what
 * they are given is not known. Pure. */
json_t *lt_kube_given_spec(
    const json_t *job, const struct lt_kube_given *given, bool *is_unsized);

#endif
