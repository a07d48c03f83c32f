/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Day-ahead prices of European bidding zones by ENTSO-E's Transparency Platform (A44), as a tariff.
 * docs/sources/entsoe_price.md.
 *
 * Missing: of curve A01 a position that is not there; of A03 that means the price before it. 0 and
 * less are prices.
 */
#include <stdio.h>
#include <string.h>

#include "entsoe.h"
#include "source.h"
#include "prices.h"
#include "units.h"

enum {
	PRICE_MAX = 100000,	/* per MWh; exchanges end at some thousands */
	PAST_S = 2 * LT_DAY_S,	/* with what is known, always */
	AHEAD_S = 2 * LT_DAY_S, /* tomorrow's end, of any time zone */
	CURRENCY_SIZE = 4,
};

#define AHEAD_CONTRACT "A01" /* daily; A07 is within the day */
#define FIRST_SEQUENCE "1"

static const struct lt_adapter_option price_options[] = {
    {"area", true, "EIC code of a bidding zone, or short as DE-LU, FR, NO1", NULL},
    {"token_file", false, "file with the security token, mode 0600", NULL},
    {"token_env", false, "or the environment variable that has it", NULL},
    {"sequence", false, "of a zone with two auctions the one, 1 or 2", FIRST_SEQUENCE},
    {"currency", false, "of the zone's prices", "EUR"},
    LT_TARIFF_TERMS_OPTIONS,
    {"url", false, "base URL of a mirror", LT_ENTSOE_URL},
    {"timeout", false, "how long it may be silent before it fails", "90s"},
    {NULL, false, NULL, NULL},
};

static const char *
price_currency(const struct lt_source_options *options)
{
	return lt_source_option(options, "currency", "EUR");
}

struct sink {
	const char *eic, *sequence;
	struct lt_tariff_terms terms;
	int64_t now_utc_s;
	struct lt_points points;
	int others;		 /* series of another auction */
	int refused;		 /* series, periods, points */
	struct lt_error refusal; /* the first: lt_fail() keeps it */
	int code;		 /* out of memory or room: the end */
};

static int
sink_start(struct sink *sink, const struct lt_source_options *options, int64_t now_utc_s,
    struct lt_error *err)
{
	int code = lt_entsoe_area_option(options, &sink->eic, err);

	sink->sequence = lt_source_option(options, "sequence", FIRST_SEQUENCE);
	sink->now_utc_s = now_utc_s;
	sink->points.quantity = LT_QUANTITY_TARIFF;
	strcpy(sink->points.currency, "EUR");
	if (code == LT_OK)
		code = lt_currency_option(&sink->points, options, err);
	if (code == LT_OK)
		code = lt_tariff_terms_read(options, sink->points.currency, &sink->terms, err);
	return code;
}

static const struct lt_option_choice price_choices[] = {
    {"sequence", {FIRST_SEQUENCE, "2"}, "1 or 2"},
    {NULL, {NULL}, NULL},
};

static int
price_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct sink sink = {0};
	int code = sink_start(&sink, options, 0, err);

	if (code == LT_OK)
		code = lt_secret_check(options, "token", true, err);
	return code;
}

/* ---- a document ---- */

static void
refuse(void *context, const char *what)
{
	struct sink *const sink = context;

	sink->refused++;
	lt_fail(&sink->refusal, LT_EINPUT, "%s", what);
}

/* True for the zone's own price, of the auction that was asked for. Auctions within the day are
 * passed over, and so is a second one of the day before: of DE-LU and AT, EXAA's of 10:15, with
 * other prices than the coupled market's. */
static bool
is_wanted(void *context, const struct lt_entsoe_series *series)
{
	struct sink *const sink = context;
	const char *const currency = sink->points.currency;
	char what[120];

	if (series->contract[0] != '\0' && strcmp(series->contract, AHEAD_CONTRACT) != 0)
		return false;
	if (strcmp(series->sequence[0] == '\0' ? FIRST_SEQUENCE : series->sequence,
		sink->sequence) != 0) {
		sink->others++;
		return false;
	}
	if (strcmp(series->in_eic, sink->eic) != 0 || strcmp(series->out_eic, sink->eic) != 0)
		snprintf(what, sizeof(what), "zone: got %s to %s, want %s", series->out_eic,
		    series->in_eic, sink->eic);
	else if (strcmp(series->unit, "MWH") != 0)
		snprintf(what, sizeof(what), "unit: got \"%s\", want MWH", series->unit);
	else if (strcmp(series->currency, currency) != 0)
		snprintf(what, sizeof(what), "currency: got \"%s\", want %s", series->currency,
		    currency);
	else
		return true;
	refuse(sink, what);
	return false;
}

/* An auction's result: what is to come is settled too, but has not been. */
static void
put_price(void *context, const struct lt_entsoe_series *series, const struct lt_entsoe_step *step)
{
	struct sink *const sink = context;
	const struct lt_point point = {.start_utc_s = step->start_utc_s,
	    .end_utc_s = step->end_utc_s,
	    .value = lt_tariff_micros(&sink->terms, step->value),
	    .quality =
		step->start_utc_s <= sink->now_utc_s ? LT_QUALITY_MEASURED : LT_QUALITY_FORECAST};

	(void)series;
	if (sink->code != LT_OK)
		return;
	sink->code = lt_points_add(&sink->points, &point, &sink->refusal);
	if (sink->code == LT_EINPUT) {
		sink->refused++;
		sink->code = LT_OK;
	}
}

static const struct lt_entsoe_document prices = {
    .root = "Publication_MarketDocument",
    .type = "A44",
    .title = "prices",
    .value = "price.amount",
    .value_max = PRICE_MAX,
    .wanted = is_wanted,
    .put = put_price,
    .refuse = refuse,
};

/* Copies the points that were read, of [from, to), with their notes. */
static int
sink_give(struct sink *sink, const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	int code = sink->code;

	if (code != LT_OK)
		return lt_error_give(err, code, &sink->refusal);
	lt_points_sort(&sink->points);
	code = lt_points_copy(points, &sink->points, window->from_utc_s, window->to_utc_s, err);
	if (code != LT_OK)
		return code;
	if (points->count == 0 && sink->refused > 0)
		return lt_fail(err, LT_EINPUT, "no price: %s", sink->refusal.text);
	if (points->count == 0 && sink->others > 0)
		return lt_fail(err, LT_EINPUT, "no price of sequence %s, only of another auction",
		    sink->sequence);
	if (points->count == 0)
		return lt_fail(err, LT_EINPUT, "no price");
	points->note[0] = '\0'; /* of an answer before this one */
	if (sink->refused > 0)
		lt_note_add(points, "%d refused: %.100s", sink->refused, sink->refusal.text);
	lt_points_date(points, window->now_utc_s);
	return LT_OK;
}

static int
price_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_window all = {INT64_MIN, INT64_MAX, answer->now_utc_s};
	struct lt_entsoe_answer said;
	struct sink sink = {0};
	int code = sink_start(&sink, options, answer->now_utc_s, err);

	if (code == LT_OK)
		code = lt_entsoe_read(answer, &prices, &sink, &said, err);
	if (code == LT_OK && said.kind != LT_ENTSOE_DATA)
		code = lt_entsoe_refused(&said, err);
	if (code == LT_OK)
		code = sink_give(&sink, &all, points, err);
	lt_points_free(&sink.points);
	return lt_error_mend(err, code);
}

/* The window, and at least yesterday: a time without any price is an error, also today before
 * tomorrow's are there. */
static int
request(struct lt_entsoe_job *job, const struct sink *sink, const struct lt_window *window,
    struct lt_error *err)
{
	const struct lt_query query[] = {{"documentType", "A44"}, {"in_Domain", sink->eic},
	    {"out_Domain", sink->eic}, {NULL, NULL}};
	const int64_t past_utc_s = window->now_utc_s - PAST_S;
	const int64_t ahead_utc_s = window->now_utc_s + AHEAD_S;
	const int64_t from_utc_s =
	    window->from_utc_s < past_utc_s ? window->from_utc_s : past_utc_s;

	job->query = query;
	return lt_entsoe_fetch(
	    job, from_utc_s - from_utc_s % LT_HOUR_S, ahead_utc_s - ahead_utc_s % LT_HOUR_S, err);
}

static int
price_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct sink sink = {0};
	struct lt_entsoe_job job = {.document = &prices, .sink = &sink};
	int code = sink_start(&sink, options, window->now_utc_s, err);

	points->quantity = LT_QUANTITY_TARIFF;
	lt_web_start(&job.web, options, points);
	if (code == LT_OK)
		code = request(&job, &sink, window, err);
	if (code == LT_OK) {
		struct lt_error inner = {0};

		code = sink_give(&sink, window, points, &inner);
		if (code != LT_OK)
			lt_web_refuse(lt_source_option(options, "url", LT_ENTSOE_URL), &inner);
		lt_error_give(err, code, &inner);
	}
	if (code == LT_OK && job.missing[0] != '\0')
		lt_note_add(points, "%s", job.missing);
	lt_points_free(&sink.points);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_entsoe_price = {
    .name = "entsoe_price",
    .usage = "ENTSO-E: day-ahead price of a European bidding zone",
    .options = price_options,
    .choices = price_choices,
    .interval_s = LT_HOUR_S,
    .timeout_s = LT_ENTSOE_TIMEOUT_S,
    .gives = LT_QUANTITY_TARIFF,
    .currency = price_currency,
    .check = price_check,
    .fetch = price_fetch,
    .parse = price_parse,
};
