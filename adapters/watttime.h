/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of watttime.c that its tests and its fuzzer call.
 */
#ifndef LT_WATTTIME_H
#define LT_WATTTIME_H

#include "source.h"

/* An answer of /v3/forecast, /v3/forecast/historical or /v3/historical. The
 * option `region` must be the answer's; without it, any is right. */
lt_parse_fn lt_watttime_parse;
/* A text of an answer of /login or /v3/region-from-loc. */
int lt_watttime_text(char *out, size_t size, const struct lt_answer *answer,
    const char *key, struct lt_error *err);
/* The message of an error body, "" = none. */
void lt_watttime_error(char *out, size_t size, const char *body, size_t length);

#endif
