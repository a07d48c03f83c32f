/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kubernetes' quantities: "500m", "1.5", "64Gi", "1e3".
 */
#ifndef LT_KUBE_QUANTITY_H
#define LT_KUBE_QUANTITY_H

#include <jansson.h>
#include <stdint.h>

#include "error.h"

/* A text or a number, of at least 0, in so many parts of its unit (1000: CPUs
 * as thousandths; 1: bytes), rounded up, as the API server rounds. LT_EINPUT:
 * it is none, or passes 63 bits. Source: the grammar of
 * k8s.io/apimachinery/pkg/api/resource, Quantity. */
int lt_kube_quantity(const json_t *quantity, int64_t parts, int64_t *value,
    struct lt_error *err);

#endif
