/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs used of what they had, by the steps of slurmdbd: behind what is
 * charged, and at little of its time.
 */
#ifndef LT_UTILISATION_H
#define LT_UTILISATION_H

#include <stdint.h>

#include "error.h"

struct lt_daemon;

/* The next span of time. */
int lt_utilisation_read(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* A run came in that ended then: it is looked at, too, by the next lowtided
 * where this one ends before. */
int lt_utilisation_came(
    struct lt_daemon *d, int64_t end_utc_s, struct lt_error *err);

#endif
