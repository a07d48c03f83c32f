/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity of European countries by Energy-Charts (Fraunhofer ISE; no
 * key, CC BY 4.0), measured and forecast. docs/sources/energy_charts.md.
 */
#include <string.h>

#include "energy_charts.h"
#include "units.h"
#include "web.h"

static const struct lt_adapter_option co2_options[] = {
    {"country", true, "as de, fr, ch, or eu", NULL},
    LT_BASIS_OPTION,
    {"url", false, "base URL of a mirror", LT_CHARTS_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

/* Measured where there is a measured value of a time that has begun. */
static bool
co2_value(const json_t *const cells[LT_CHARTS_COLUMNS_MAX],
    const struct lt_tariff_terms *terms, int64_t now_utc_s,
    struct lt_point *point)
{
	(void)terms;
	if (cells[0] != NULL && !json_is_null(cells[0]) &&
	    point->start_utc_s <= now_utc_s) {
		point->value = lt_charts_number(cells[0]);
		point->quality = LT_QUALITY_MEASURED;
		return true;
	}
	if (cells[1] == NULL || json_is_null(cells[1]))
		return false;
	point->value = lt_charts_number(cells[1]);
	point->quality = point->end_utc_s <= now_utc_s ? LT_QUALITY_ESTIMATED
						       : LT_QUALITY_FORECAST;
	return true;
}

static lt_parse_fn co2_parse;

static const struct lt_charts co2_charts = {
    .quantity = LT_QUANTITY_CARBON,
    .currency = "",
    .path = "co2eq",
    .zone_key = "country",
    .zone_option = "country",
    .default_is_present = true,
    .columns = {"co2eq", "co2eq_forecast"},
    .parse = co2_parse,
    .value = co2_value,
};

static int
co2_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	return lt_charts_parse(&co2_charts, options, answer, points, err);
}

static int
co2_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	return lt_charts_fetch(&co2_charts, options, window, points, err);
}

const struct lt_adapter lt_adapter_energy_charts = {
    .name = "energy_charts",
    .usage = "carbon intensity of a European country, by Energy-Charts; no key",
    .options = co2_options,
    .interval_s = LT_HOUR_S / 2,
    .gives = LT_QUANTITY_CARBON,
    .check = lt_charts_check_country,
    .fetch = co2_fetch,
    .parse = co2_parse,
};
