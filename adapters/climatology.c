/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source for sites that no signal reaches: what a grid's carbon intensity
 * is on average at this hour of the day in this month, from the table that
 * the project ships. Nothing is fetched.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "climatology.h"
#include "source.h"
#include "units.h"

static const struct lt_adapter_option climatology_options[] = {
    {"zone", true, "AU-SA, DE, ES, FR, GB or US-CAL-CISO", NULL},
    {NULL, false, NULL, NULL},
};

static enum lt_quantity
climatology_quantity(const struct lt_source_options *options)
{
	(void)options;
	return LT_QUANTITY_CARBON;
}

static int
find_zone(const struct lt_source_options *options,
    const struct lt_climatology **found, struct lt_error *err)
{
	const char *const zone = lt_source_option(options, "zone", "");
	const struct lt_climatology *item = lt_climatologies;

	while (item->zone != NULL && strcmp(item->zone, zone) != 0)
		item++;
	*found = item;
	if (item->zone == NULL)
		return lt_option_fail(options, "zone", err,
		    "%s: zone: got \"%s\", want %s", options->name, zone,
		    climatology_options[0].usage);
	return LT_OK;
}

static int
climatology_check(const struct lt_source_options *options, struct lt_error *err)
{
	const struct lt_climatology *item;

	return find_zone(options, &item, err);
}

static int
climatology_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_climatology *item;
	int code = find_zone(options, &item, err);

	if (code != LT_OK)
		return code;
	points->quantity = LT_QUANTITY_CARBON;
	(void)snprintf(points->note, sizeof(points->note),
	    "mean of %s, not a measurement", item->years);
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
    .quantity = climatology_quantity,
    .check = climatology_check,
    .fetch = climatology_fetch,
};
