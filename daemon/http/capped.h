/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power cap of a plan, as its quote has it.
 */
#ifndef LT_SERVE_CAPPED_H
#define LT_SERVE_CAPPED_H

#include <jansson.h>

#include "quote.h"

/* A line of `lowtide explain`; "" without a cap. Returns out. */
const char *lt_capped_line(char *out, size_t size, const struct lt_quote *quote,
    const struct lt_zone *zone, int64_t now_utc_s);

/* {"gpu_freq", "cpu_freq", "until", "slow_down", "less_wh", "above_g",
 * "mean_g"}; null without a cap. */
json_t *lt_capped_json(const struct lt_quote *quote);

#endif
