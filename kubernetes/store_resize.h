/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods that are resized while they run: each stretch of time is a row of
 * kube.db by the size that the pod had then.
 */
#ifndef LT_KUBE_STORE_RESIZE_H
#define LT_KUBE_STORE_RESIZE_H

#include "store.h"

struct sqlite3;

/*
 * Ends the stretch of a pod that is a row and runs, and goes on with the size
 * that it has now. What it has more counts from when its node says that it is
 * at work on it, or from when the watch told it; what was found by a list, or
 * after nobody watched, from when it was watched last. What it has less counts
 * from now. Where its node does not say what it has, it never has less; with a
 * resize that is pending, nothing changes.
 */
int lt_kube_resize(
    struct sqlite3 *db, const struct lt_kube_run *run, struct lt_error *err);

/* The most CPUs and memory that a pod of this Job had. */
int lt_kube_resize_most(struct sqlite3 *db, uint32_t job_id,
    struct lt_exact *most, struct lt_error *err);

#endif
