/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time within a pass.
 */
#ifndef LT_PASS_TIME_H
#define LT_PASS_TIME_H

#include <stdint.h>

#include "http.h"

struct lt_pass_time {
	int64_t utc_s, began_ms; /* when this pass began, by both clocks */
};

/* Returns the time now, however long this pass has been at work. */
static inline int64_t
lt_pass_now(const struct lt_pass_time *pass)
{
	return pass->utc_s + (lt_monotonic_ms() - pass->began_ms) / 1000;
}

#endif
