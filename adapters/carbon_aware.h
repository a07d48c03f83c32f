/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the Carbon Aware SDK says in JSON, by its WebAPI and in its data file:
 * one row of emissions data, and what its rows came to.
 */
#ifndef LT_CARBON_AWARE_H
#define LT_CARBON_AWARE_H

#include "source.h"

/* A row without a duration holds until the next one, at most as long as the
 * SDK itself took such a row to be. */
enum { LT_CARBON_OPEN_S = 8 * 3600 };

struct lt_carbon_keys {
	const char *time, *value, *duration;
};

struct lt_carbon_rows { /* of one answer or file */
	int64_t now_utc_s;
	bool is_forecast;
	const char *asked; /* only rows whose "Location" is it; NULL = all */
	const char *other; /* a location that was not asked for */
	size_t seen, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* The option `intensity`, average or marginal: what the SDK's own data source
 * is, it does not say. */
enum lt_quantity lt_carbon_quantity(const struct lt_source_options *options);
int lt_carbon_check(
    const struct lt_source_options *options, struct lt_error *err);

/* Each row of the list to points. One that can't be used is counted only. */
int lt_carbon_read(struct lt_carbon_rows *rows, const json_t *list,
    const struct lt_carbon_keys *keys, struct lt_points *points,
    struct lt_error *err);
/* What was refused as a note; LT_EINPUT where nothing is left. */
int lt_carbon_tally(const struct lt_carbon_rows *rows, struct lt_points *points,
    struct lt_error *err);
/* The message of an error body (RFC 7807, with the status that the SDK's data
 * source gave it), "" = none. */
void lt_carbon_error(char *out, size_t size, const char *body, size_t length);

#endif
