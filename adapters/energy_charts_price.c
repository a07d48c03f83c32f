/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Day-ahead prices of European power exchanges by Energy-Charts (Fraunhofer
 * ISE; no key), as a tariff. docs/sources/energy_charts_price.md.
 */
#include <stdio.h>
#include <string.h>

#include "energy_charts.h"
#include "units.h"
#include "web.h"

#define UNIT "EUR / MWh"

static const struct lt_adapter_option price_options[] = {
    {"bidding_zone", true, "as DE-LU, FR, SE4", NULL},
    LT_TARIFF_TERMS_OPTIONS,
    {"url", false, "base URL of a mirror", LT_CHARTS_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const char *
price_currency(const struct lt_source_options *options)
{
	(void)options;
	return "EUR";
}

static int
price_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const zone = lt_source_option(options, "bidding_zone", "");
	const size_t length = strlen(zone);
	struct lt_tariff_terms terms;
	const int code = lt_tariff_terms_read(options, "EUR", &terms, err);

	if (code != LT_OK)
		return code;
	if (length < 2 || length > 24 ||
	    strspn(zone,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-()") !=
		length)
		return lt_option_fail(options, "bidding_zone", err,
		    "%s: bidding_zone: got \"%s\", want one such as DE-LU",
		    options->name, zone);
	return lt_url_check(options, "url", err);
}

static int
price_begin(const struct lt_source_options *options, const json_t *json,
    struct lt_tariff_terms *terms, struct lt_error *err)
{
	const char *const unit =
	    json_string_value(json_object_get(json, "unit"));

	if (unit == NULL || strcmp(unit, UNIT) != 0)
		return lt_fail(err, LT_EINPUT,
		    "unit: got \"%.40s\", want \"" UNIT "\"",
		    unit == NULL ? "" : unit);
	return lt_tariff_terms_read(options, "EUR", terms, err);
}

/* An auction's result: what is to come is settled too, but has not been. */
static bool
price_value(const json_t *const cells[LT_CHARTS_COLUMNS_MAX],
    const struct lt_tariff_terms *terms, int64_t now_utc_s,
    struct lt_point *point)
{
	if (json_is_null(cells[0]))
		return false;
	point->value = lt_tariff_micros(terms, lt_charts_number(cells[0]));
	point->quality = point->start_utc_s <= now_utc_s ? LT_QUALITY_MEASURED
							 : LT_QUALITY_FORECAST;
	return true;
}

static lt_parse_fn price_parse;

static const struct lt_charts price_charts = {
    .quantity = LT_QUANTITY_TARIFF,
    .currency = "EUR",
    .path = "price",
    .zone_key = "bzn",
    .zone_option = "bidding_zone",
    .columns = {"price"},
    .begin = price_begin,
    .parse = price_parse,
    .value = price_value,
};

static int
price_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	return lt_charts_parse(&price_charts, options, answer, points, err);
}

static int
price_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	return lt_charts_fetch(&price_charts, options, window, points, err);
}

const struct lt_adapter lt_adapter_energy_charts_price = {
    .name = "energy_charts_price",
    .usage =
	"day-ahead price of a European bidding zone, by Energy-Charts; no key",
    .options = price_options,
    .interval_s = LT_HOUR_S,
    .gives = LT_QUANTITY_TARIFF,
    .currency = price_currency,
    .check = price_check,
    .fetch = price_fetch,
    .parse = price_parse,
};
