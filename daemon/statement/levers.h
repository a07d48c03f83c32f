/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plan was to save, by lever: when, where, and how fast it is there.
 */
#ifndef LT_LEVERS_H
#define LT_LEVERS_H

#include <jansson.h>

#include "quote.h"

/* Lines of `lowtide explain`; "" where the quote does not have it. Returns
 * out. */
const char *lt_levers_text(
    char *out, size_t size, const struct lt_quote *quote, const char *currency);

/* {"time", "place", "gpu": amounts; "home_then", "there_now": amounts}; null
 * where the quote does not have it. */
json_t *lt_levers_json(const struct lt_quote *quote);

#endif
