/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Day-ahead prices of Denmark's two bidding zones by Energi Data Service
 * (Energinet; no key), as a tariff. docs/sources/energi_data_service_price.md.
 *
 * Missing: null, or no record. 0 and less are prices.
 */
#include <string.h>

#include "energi_data_service.h"
#include "units.h"
#include "web.h"

enum {
	/* Since October 2025; hours before that are three quarters short. */
	STEP_S = 900,
	PAST_S = 2 * LT_DAY_S,
};

static const struct lt_adapter_option price_options[] = {
    {"area", true, "DK1 (west) or DK2 (east)", NULL},
    {"currency", false, "EUR or DKK", "EUR"},
    LT_TARIFF_TERMS_OPTIONS,
    {"url", false, "base URL of a mirror", LT_EDS_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct lt_eds_dataset in_eur[] = {
    {"DayAheadPrices", "TimeUTC", "DayAheadPriceEUR", STEP_S, false},
    {NULL, NULL, NULL, 0, false},
};
static const struct lt_eds_dataset in_dkk[] = {
    {"DayAheadPrices", "TimeUTC", "DayAheadPriceDKK", STEP_S, false},
    {NULL, NULL, NULL, 0, false},
};

static const char *
price_currency(const struct lt_source_options *options)
{
	return lt_source_option(options, "currency", "EUR");
}

static const struct lt_eds_dataset *
dataset_of(const struct lt_source_options *options)
{
	return strcmp(price_currency(options), "DKK") == 0 ? in_dkk : in_eur;
}

static int
price_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const currency = price_currency(options);
	struct lt_tariff_terms terms;
	int code = lt_eds_area_check(options, err);

	if (code == LT_OK && strcmp(currency, "EUR") != 0 &&
	    strcmp(currency, "DKK") != 0)
		code = lt_option_fail(options, "currency", err,
		    "%s: currency: got \"%s\", want EUR or DKK", options->name,
		    currency);
	if (code == LT_OK)
		code = lt_tariff_terms_read(options, currency, &terms, err);
	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

static int
price_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_tariff_terms terms;
	const struct lt_eds_wanted wanted = {dataset_of(options), &terms};
	const int code =
	    lt_tariff_terms_read(options, price_currency(options), &terms, err);

	if (code != LT_OK)
		return lt_error_mend(err, code);
	points->quantity = LT_QUANTITY_TARIFF;
	memcpy(points->currency, dataset_of(options) == in_dkk ? "DKK" : "EUR",
	    sizeof(points->currency));
	return lt_eds_read(options, &wanted, answer, points, err);
}

/* With yesterday, so that there are prices before today's are. */
static int
price_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const int64_t past_utc_s = window->now_utc_s - PAST_S;
	const int64_t from_utc_s =
	    window->from_utc_s < past_utc_s ? window->from_utc_s : past_utc_s;
	struct lt_points all = {0};
	struct lt_web web;
	int code;

	points->quantity = LT_QUANTITY_TARIFF;
	lt_web_start(&web, options, &all);
	code = lt_eds_request(&web, dataset_of(options), price_parse,
	    &(struct lt_window){from_utc_s, 0, window->now_utc_s}, err);
	points->retry_after_s = all.retry_after_s;
	if (code == LT_OK)
		code = lt_points_copy(
		    points, &all, window->from_utc_s, window->to_utc_s, err);
	memcpy(points->note, all.note, sizeof(points->note));
	if (code == LT_OK && points->count == 0)
		code = lt_fail(err, LT_EINPUT,
		    "%s: nothing of the time that was asked for",
		    options->name);
	lt_points_free(&all);
	return code;
}

const struct lt_adapter lt_adapter_energi_data_service_price = {
    .name = "energi_data_service_price",
    .usage = "day-ahead price of DK1 or DK2, by Energi Data Service; no key",
    .options = price_options,
    .interval_s = LT_HOUR_S,
    .gives = LT_QUANTITY_TARIFF,
    .currency = price_currency,
    .check = price_check,
    .fetch = price_fetch,
    .parse = price_parse,
};
