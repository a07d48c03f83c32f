/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity of electricity consumed in Denmark by Energi Data Service
 * (Energinet; no key), measured and ahead. docs/sources/energi_data_service.md.
 *
 * Missing: null, or no record. A 0 is taken for missing, too: Denmark burns
 * something in every hour, and no recorded answer has one.
 */
#include <string.h>

#include "energi_data_service.h"
#include "fetch_parts.h"
#include "units.h"
#include "web.h"

enum { STEP_S = 300 };

static const struct lt_adapter_option co2_options[] = {
    {"area", true, "DK1 (west) or DK2 (east)", NULL},
    {"url", false, "base URL of a mirror", LT_EDS_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

enum { PAST, AHEAD }; /* of datasets */

static const struct lt_eds_dataset datasets[] = {
    {"CO2Emis", "Minutes5UTC", "CO2Emission", STEP_S, false},
    {"CO2EmisProg", "Minutes5UTC", "CO2Emission", STEP_S, true},
    {NULL, NULL, NULL, 0, false},
};

static int
co2_check(const struct lt_source_options *options, struct lt_error *err)
{
	const int code = lt_eds_area_check(options, err);

	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

static int
co2_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_eds_wanted wanted = {datasets, NULL};

	points->quantity = LT_QUANTITY_CARBON;
	return lt_eds_read(options, &wanted, answer, points, err);
}

static void
request(struct lt_web *web, const struct lt_eds_dataset *dataset,
    const struct lt_window *window, struct lt_fetch_part *part)
{
	part->asked = true;
	web->points = &part->points;
	part->code =
	    lt_eds_request(web, dataset, co2_parse, window, &part->err);
}

/* What its forecast says of a time that is over, what was measured says. */
static void
drop_past(struct lt_points *points, int64_t now_utc_s)
{
	size_t kept = 0;

	for (size_t i = 0; i < points->count; i++)
		if (points->points[i].end_utc_s > now_utc_s)
			points->points[kept++] = points->points[i];
	points->count = kept;
}

static int
co2_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const int64_t now_utc_s = window->now_utc_s;
	struct lt_fetch_parts parts = {0};
	struct lt_web web;

	lt_web_start(&web, options, points);
	if (window->to_utc_s > now_utc_s)
		request(&web, &datasets[AHEAD],
		    &(struct lt_window){now_utc_s, 0, now_utc_s}, &parts.ahead);
	drop_past(&parts.ahead.points, now_utc_s);
	if (window->from_utc_s < now_utc_s)
		request(&web, &datasets[PAST],
		    &(struct lt_window){window->from_utc_s,
			window->to_utc_s < now_utc_s ? window->to_utc_s : 0,
			now_utc_s},
		    &parts.past);
	points->quantity = LT_QUANTITY_CARBON;
	const int code =
	    lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

const struct lt_adapter lt_adapter_energi_data_service = {
    .name = "energi_data_service",
    .usage = "carbon intensity of Denmark, by Energi Data Service; no key",
    .options = co2_options,
    .interval_s = LT_HOUR_S / 2,
    .basis = LT_BASIS_DIRECT,
    .version = "CO2Emis, CO2EmisProg; 125 % method for heat",
    .gives = LT_QUANTITY_CARBON,
    .check = co2_check,
    .fetch = co2_fetch,
    .parse = co2_parse,
};
