/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What writing and reading a quote's text have in common.
 */
#ifndef LT_QUOTE_INTERNAL_H
#define LT_QUOTE_INTERNAL_H

#include <stdbool.h>

struct lt_amount;
struct lt_text;

#define LT_QUOTE_VERSION "lowtide:1 "

/* Bytes of a name that stand for themselves. */
static inline bool
lt_quote_is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/* "<micros>,<mg>", "-" for what is not known. */
void lt_quote_put_amount(struct lt_text *text, const struct lt_amount *amount);

#endif
