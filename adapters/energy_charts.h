/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two Energy-Charts adapters share: answers in columns, one of times
 * and one or two of values, and the requests for them.
 */
#ifndef LT_ENERGY_CHARTS_H
#define LT_ENERGY_CHARTS_H

#include "source.h"
#include "tariff_terms.h"

#define LT_CHARTS_URL "https://api.energy-charts.info"

enum { LT_CHARTS_COLUMNS_MAX = 2 };

struct lt_charts { /* one endpoint */
	enum lt_quantity quantity;
	const char *currency; /* "" = no money */
	const char *path;     /* "co2eq" */
	const char *zone_key; /* of the query */
	const char *zone_option;
	/* Without start and end it answers with today and tomorrow; else both
	 * are sent always. */
	bool default_is_present;
	struct { /* more of the query; NULL = none */
		const char *key, *value;
	} query[2];
	const char *columns[LT_CHARTS_COLUMNS_MAX]; /* NULL = no second */
	lt_parse_fn *parse;			    /* the adapter's */
	/* Is the answer in our unit? May be NULL. */
	int (*begin)(const struct lt_source_options *options,
	    const json_t *json, struct lt_tariff_terms *terms,
	    struct lt_error *err);
	/* Value and quality of a point that has its times, from its cells (NULL
	 * = no such column). False: a gap. NAN: a cell that is no number. */
	bool (*value)(const json_t *const cells[LT_CHARTS_COLUMNS_MAX],
	    const struct lt_tariff_terms *terms, int64_t now_utc_s,
	    struct lt_point *point);
};

/* As an adapter's parse and fetch. */
int lt_charts_parse(const struct lt_charts *charts,
    const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err);
int lt_charts_fetch(const struct lt_charts *charts,
    const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err);

/* The options country and url. */
int lt_charts_check_country(
    const struct lt_source_options *options, struct lt_error *err);

/* A number, or NAN for what is none. */
double lt_charts_number(const json_t *cell);

#endif
