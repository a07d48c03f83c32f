/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs and parts of them: what pods ask for and nodes offer by the names of
 * extended resources, and what one of each is worth in whole GPUs.
 */
#ifndef LT_KUBE_GPUS_H
#define LT_KUBE_GPUS_H

#include <jansson.h>
#include <stdint.h>

#include "error.h"
#include "limits.h"

enum { LT_KUBE_GPU_KINDS = 16, LT_KUBE_WHOLE_GPU = 1000000 };

struct lt_kube_gpus {
	struct lt_kube_gpu {
		char name[LT_NAME_SIZE]; /* "nvidia.com/mig-1g.10gb" */
		int64_t count;
		uint32_t micro; /* millionths of a GPU that one is; 0 = as on
				 * its node */
	} of[LT_KUBE_GPU_KINDS];
	uint32_t kinds;
};

/* What a pod of this spec asks for. LT_EINPUT: no quantity, or more kinds than
 * are counted. Pure. */
int lt_kube_gpus_asked(
    struct lt_kube_gpus *gpus, const json_t *pod_spec, struct lt_error *err);
/* What a node offers, by status.allocatable and its labels. The same. */
int lt_kube_gpus_offered(struct lt_kube_gpus *gpus, const json_t *allocatable,
    const json_t *labels, struct lt_error *err);
/* Millionths of GPUs, on a node that offers these; NULL: on any. Pure. */
uint64_t lt_kube_gpus_micro(
    const struct lt_kube_gpus *gpus, const struct lt_kube_gpus *offered);
/* NULL: none of this name. */
const struct lt_kube_gpu *lt_kube_gpus_find(
    const struct lt_kube_gpus *gpus, const char *name);
/* LT_EINPUT: there is no room for one more kind. */
int lt_kube_gpus_add(struct lt_kube_gpus *gpus, const struct lt_kube_gpu *more,
    struct lt_error *err);
/* Millionths of a GPU that a MIG profile is: "3g.40gb", "1c.3g.40gb"; gpu: the
 * whole one's name, "" = not known. 0: no profile. Pure. */
uint32_t lt_kube_mig_micro(const char *profile, const char *gpu);

#endif
