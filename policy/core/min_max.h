/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smaller and the larger of two times, amounts or counts. Pure; doubles have fmin() and fmax(),
 * which mind NAN.
 */
#ifndef LT_MIN_MAX_H
#define LT_MIN_MAX_H

#include <stdint.h>

static inline int64_t
lt_min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t
lt_max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
