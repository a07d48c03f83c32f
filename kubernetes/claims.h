/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs by Dynamic Resource Allocation (resource.k8s.io/v1): what a pod's
 * claims ask for, which devices they got, and what nodes have.
 */
#ifndef LT_KUBE_CLAIMS_H
#define LT_KUBE_CLAIMS_H

#include "kube_facts.h"

struct lt_kube;

/* Puts the claims of a Job's pods, or of a pod, into the object, as they are
 * now; blocks. One that can't be had is left out. */
void lt_kube_claims_fetch(struct lt_kube *kube, json_t *object);

/* From a list's items: DeviceClasses by name; devices of ResourceSlices by
 * node, driver, pool and name. New references. Pure. */
json_t *lt_kube_claims_classes(const json_t *device_classes);
json_t *lt_kube_claims_devices(const json_t *resource_slices);

/* Adds what a pod of the object has by claims: the devices that were allocated,
 * else the most that it asks for. why: what of it is not understood; "" = all
 * is. Pure. */
void lt_kube_claims_add(struct lt_kube_need *need, const json_t *object,
    const struct lt_kube_given *given, char why[LT_ERROR_TEXT_SIZE]);

/* The GPUs that a node has by its ResourceSlices, beside those of its device
 * plugins. Pure. */
void lt_kube_claims_offered(
    struct lt_kube_node *node, const struct lt_kube_given *given);

#endif
