/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forecasts of wind, sun and load by the grid operators of European countries,
 * as Energy-Charts publishes them the day before (Fraunhofer ISE; no key).
 * docs/sources/energy_charts_day_ahead.md.
 */
#include <string.h>

#include "energy_charts.h"
#include "units.h"
#include "web.h"

static const struct lt_adapter_option ahead_options[] = {
    {"country", true, "as de, fr, ch", NULL},
    {"series", true, "wind_onshore, wind_offshore, solar or load", NULL},
    {"url", false, "base URL of a mirror", LT_CHARTS_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct {
	const char *name;
	enum lt_quantity quantity;
} series[] = {
    {"wind_onshore", LT_QUANTITY_WIND_POWER},
    {"wind_offshore", LT_QUANTITY_WIND_POWER},
    {"solar", LT_QUANTITY_SOLAR_POWER},
    {"load", LT_QUANTITY_LOAD},
};

static enum lt_quantity
ahead_quantity(const struct lt_source_options *options)
{
	const char *const name = lt_source_option(options, "series", "");

	for (size_t i = 0; i < sizeof(series) / sizeof(*series); i++)
		if (strcmp(series[i].name, name) == 0)
			return series[i].quantity;
	return LT_QUANTITY_COUNT;
}

static int
ahead_check(const struct lt_source_options *options, struct lt_error *err)
{
	if (ahead_quantity(options) == LT_QUANTITY_COUNT)
		return lt_option_fail(options, "series", err,
		    "%s: series: got \"%s\", want wind_onshore, wind_offshore, solar or load",
		    options->name, lt_source_option(options, "series", ""));
	return lt_charts_check_country(options, err);
}

/* Is it what was asked for, and of the day before? */
static int
ahead_begin(const struct lt_source_options *options, const json_t *json,
    struct lt_tariff_terms *terms, struct lt_error *err)
{
	const struct {
		const char *key, *want;
	} says[] = {
	    {"production_type", lt_source_option(options, "series", "")},
	    {"forecast_type", "day-ahead"},
	};

	(void)terms;
	for (int i = 0; i < 2; i++) {
		const char *const got =
		    json_string_value(json_object_get(json, says[i].key));

		if (got == NULL || strcmp(got, says[i].want) != 0)
			return lt_fail(err, LT_EINPUT,
			    "%s: got \"%.40s\", want \"%s\"", says[i].key,
			    got == NULL ? "" : got, says[i].want);
	}
	return LT_OK;
}

static bool
ahead_value(const json_t *const cells[LT_CHARTS_COLUMNS_MAX],
    const struct lt_tariff_terms *terms, int64_t now_utc_s,
    struct lt_point *point)
{
	(void)terms;
	(void)now_utc_s;
	if (json_is_null(cells[0]))
		return false;
	point->value = lt_charts_number(cells[0]);
	point->quality = LT_QUALITY_FORECAST;
	return true;
}

static lt_parse_fn ahead_parse;

static struct lt_charts
charts_of(const struct lt_source_options *options)
{
	return (struct lt_charts){
	    .quantity = ahead_quantity(options),
	    .currency = "",
	    .path = "public_power_forecast",
	    .zone_key = "country",
	    .zone_option = "country",
	    .query = {{"production_type",
			  lt_source_option(options, "series", "")},
		{"forecast_type", "day-ahead"}},
	    .columns = {"forecast_values"},
	    .begin = ahead_begin,
	    .parse = ahead_parse,
	    .value = ahead_value,
	};
}

static int
ahead_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_charts charts = charts_of(options);

	return lt_charts_parse(&charts, options, answer, points, err);
}

static int
ahead_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_charts charts = charts_of(options);

	return lt_charts_fetch(&charts, options, window, points, err);
}

const struct lt_adapter lt_adapter_energy_charts_day_ahead = {
    .name = "energy_charts_day_ahead",
    .usage =
	"what a grid's operator expects for tomorrow, by Energy-Charts; no key",
    .options = ahead_options,
    .interval_s = LT_HOUR_S,
    .quantity = ahead_quantity,
    .check = ahead_check,
    .fetch = ahead_fetch,
    .parse = ahead_parse,
};
