/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Job or Pod that a user has written and nobody created: checked as far as
 * lowtide reads it, as the API server would.
 */
#ifndef LT_KUBE_MANIFEST_CHECK_H
#define LT_KUBE_MANIFEST_CHECK_H

#include "kube_facts.h"

/*
 * Make of a manifest what the API server would have: a namespace, a uid, and
 * nothing that only lowtide or the cluster writes. now_utc_s: when it was
 * created. LT_EINPUT: it names what is wrong, what it has and what it wants.
 * Pure but for object.
 */
int lt_kube_manifest_complete(
    json_t *object, int64_t now_utc_s, struct lt_error *err);

#endif
