/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * URLs of sources, percent-encoded. A result that does not fit is LT_ELIMIT.
 */
#ifndef LT_URL_H
#define LT_URL_H

#include "option.h"

enum { LT_URL_SIZE = 2048 };

/* Check the option `url`: http or https, no query, at most LT_URL_SIZE / 4. */
int lt_url_check(const struct lt_source_options *options, const char *key, struct lt_error *err);
/* A base URL (a source's option) and a path, "/" between. */
int lt_url_start(char out[LT_URL_SIZE], const char *base, const char *path, struct lt_error *err);
/* "?key=value" or "&key=value", both percent-encoded (RFC 3986). */
int lt_url_add(char out[LT_URL_SIZE], const char *key, const char *value, struct lt_error *err);
struct lt_query {
	const char *key, *value; /* NULL or "": left out */
};
/* lt_url_add() of each; ended by key NULL. */
int lt_url_query(char out[LT_URL_SIZE], const struct lt_query *query, struct lt_error *err);
/* One text percent-encoded, for a path's part or a form. */
int lt_url_escape(char *out, size_t size, const char *text, struct lt_error *err);

#endif
