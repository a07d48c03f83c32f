/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of explain: how many of a preemptible partition's nodes were there.
 */
#ifndef LT_EXPLAIN_AVAILABILITY_H
#define LT_EXPLAIN_AVAILABILITY_H

#include <stddef.h>

#include "market.h"

/* A line: as lowtided saw them, and what that makes of eight hours of work;
 * "" of nodes that nobody takes. */
const char *lt_explain_availability(
    char *out, size_t size, const struct lt_partition *partition);

#endif
