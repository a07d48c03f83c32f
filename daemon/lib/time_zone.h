/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The site's time zone, from the system's zone files.
 */
#ifndef LT_TIME_ZONE_H
#define LT_TIME_ZONE_H

#include "calendar.h"

/* Set TZ to the policy's zone ("" = leave the system's); LT_EINPUT when the system has no such
 * zone. Not thread safe: before any thread, or in the one thread that prints local time. */
int lt_time_zone_set(const char *zone, struct lt_error *err);

/* All steps of the process's zone, 1970 to 2200. Takes some 20 ms. */
void lt_time_zone_offsets(struct lt_offsets *offsets);

#endif
