/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source for sites that no signal reaches: what a grid's carbon intensity
 * is on average at this hour of the day in this month, from the table that
 * the project ships. Nothing is fetched.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "climatology.h"
#include "source.h"
#include "points.h"
#include "units.h"

/* Written by a script, whose rows no formatter is to break. */
const struct lt_climatology lt_climatologies_lifecycle[] = {
#include "climatology_lifecycle.inc"
    {"", 0, 0, "", {{0}}},
};

const struct lt_climatology lt_climatologies_direct[] = {
#include "climatology_direct.inc"
    {"", 0, 0, "", {{0}}},
};

static const struct lt_adapter_option climatology_options[] = {
    {"zone", true, "of Electricity Maps: DE, FR, US-CAL-CISO, ...", NULL},
    {"emission_factors", false, "lifecycle or direct", "lifecycle"},
    {NULL, false, NULL, NULL},
};

static enum lt_basis
basis_of(const struct lt_source_options *options)
{
	return lt_basis_of_option(options, LT_BASIS_LIFECYCLE);
}

static int
same_letters(const char *zone, const char *written)
{
	int count = 0;

	while (zone[count] != '\0' && zone[count] == toupper((unsigned char)written[count]))
		count++;
	return count;
}

static int
find_zone(const struct lt_source_options *options, const struct lt_climatology **found,
    struct lt_error *err)
{
	const char *const zone = lt_source_option(options, "zone", "");
	const struct lt_climatology *item = basis_of(options) == LT_BASIS_DIRECT
						? lt_climatologies_direct
						: lt_climatologies_lifecycle;
	const struct lt_climatology *nearest = item;
	int count = 0;

	for (; item->zone[0] != '\0' && strcmp(item->zone, zone) != 0; item++) {
		if (same_letters(item->zone, zone) > same_letters(nearest->zone, zone))
			nearest = item;
		count++;
	}
	*found = item;
	if (item->zone[0] != '\0')
		return LT_OK;
	/* One letter is chance: Iceland is no guess for Ireland. */
	const bool near = same_letters(nearest->zone, zone) > 1;
	return lt_option_fail(options, "zone", err,
	    "%s: zone: got \"%.60s\", want one of the %d of docs/sources/climatology.md%s%s",
	    options->name, zone, count, near ? "; the nearest is " : "", near ? nearest->zone : "");
}

static int
climatology_year(const struct lt_source_options *options)
{
	const struct lt_climatology *item;

	return find_zone(options, &item, NULL) == LT_OK ? item->last_year : 0;
}

static int
climatology_check(const struct lt_source_options *options, struct lt_error *err)
{
	const struct lt_climatology *item;

	return find_zone(options, &item, err);
}

static int
climatology_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_climatology *item;
	int code = find_zone(options, &item, err);

	if (code != LT_OK)
		return code;
	points->quantity = LT_QUANTITY_CARBON;
	points->zero_is_data = true; /* water alone, to whole grams */
	(void)snprintf(points->note, sizeof(points->note),
	    "mean of %d to %d, %s (%s), not a measurement", item->first_year, item->last_year,
	    basis_of(options) == LT_BASIS_DIRECT ? "direct" : "life-cycle", item->origin);
	lt_table_age_note(points, item->last_year, window->now_utc_s);
	for (int64_t hour = window->from_utc_s / LT_HOUR_S;
	     hour * LT_HOUR_S < window->to_utc_s && code == LT_OK; hour++) {
		const time_t at = hour * LT_HOUR_S;
		struct tm parts;

		(void)gmtime_r(&at, &parts);
		const struct lt_point point = {.start_utc_s = at,
		    .end_utc_s = at + LT_HOUR_S,
		    .value = item->g_per_kwh[parts.tm_mon][parts.tm_hour],
		    .quality = LT_QUALITY_CLIMATOLOGY};
		code = lt_points_add(points, &point, err);
	}
	return code;
}

const struct lt_adapter lt_adapter_climatology = {
    .name = "climatology",
    .usage = "mean carbon intensity of a grid by month and hour, shipped",
    .options = climatology_options,
    .interval_s = LT_DAY_S,
    .gives = LT_QUANTITY_CARBON,
    .basis = LT_BASIS_LIFECYCLE,
    .version = "mean of 2023 and 2024, CarbonX 47723d3, imports counted",
    .check = climatology_check,
    .table_year = climatology_year,
    .fetch = climatology_fetch,
};
