/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ENTSO-E's Transparency Platform: what the operator of a European area
 * expects of wind, sun (A69) and load (A65), as published the day before.
 * docs/sources/entsoe_day_ahead.md.
 */
#include <string.h>

#include "entsoe.h"
#include "fuel_mix.h"
#include "source.h"

enum {
	AHEAD_S = 2 * LT_DAY_S,
	PAST_S = LT_DAY_S, /* a time without any is an error: at least this */
};

static const struct lt_adapter_option ahead_options[] = {
    {"area", true, "EIC code, or short as DE, FR, NO1", NULL},
    {"series", true, "wind, solar or load", NULL},
    {"token_file", false, "file with the security token, mode 0600", NULL},
    {"token_env", false, "or the environment variable that has it", NULL},
    {"url", false, "base URL of a mirror", LT_ENTSOE_URL},
    {"timeout", false, "how long it may be silent before it fails", "90s"},
    {NULL, false, NULL, NULL},
};

static const struct lt_mix_code winds[] = {
    {"B18", LT_FUEL_WIND_OFFSHORE}, {"B19", LT_FUEL_WIND}, {NULL, 0}};
static const struct lt_mix_code suns[] = {{"B16", LT_FUEL_SOLAR}, {NULL, 0}};
static const struct lt_mix_code loads[] = {{"", LT_FUEL_OTHER}, {NULL, 0}};

static const struct series {
	const char *name, *document, *domain; /* of the query */
	enum lt_quantity quantity;
	const struct lt_mix_code *codes; /* psrType of its time series */
} all_series[] = {
    {"wind", "A69", "in_Domain", LT_QUANTITY_WIND_POWER, winds},
    {"solar", "A69", "in_Domain", LT_QUANTITY_SOLAR_POWER, suns},
    {"load", "A65", "outBiddingZone_Domain", LT_QUANTITY_LOAD, loads},
    {NULL, NULL, NULL, LT_QUANTITY_COUNT, NULL},
};

static const struct series *
series_of(const struct lt_source_options *options)
{
	const char *const name = lt_source_option(options, "series", "");
	const struct series *series = all_series;

	while (series->name != NULL && strcmp(series->name, name) != 0)
		series++;
	return series;
}

static enum lt_quantity
ahead_quantity(const struct lt_source_options *options)
{
	return series_of(options)->quantity;
}

static int
ahead_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *eic;
	int code = lt_entsoe_area_option(options, &eic, err);

	if (code == LT_OK && series_of(options)->name == NULL)
		code = lt_option_fail(options, "series", err,
		    "%s: series: got \"%s\", want wind, solar or load",
		    options->name, lt_source_option(options, "series", ""));
	if (code == LT_OK)
		code = lt_secret_check(options, "token", true, err);
	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

struct sink {
	struct lt_entsoe_mix of;
	const struct series *series;
};

static bool
is_wanted(void *context, const struct lt_entsoe_series *series)
{
	struct sink *const sink = context;
	const bool is_load = sink->series->quantity == LT_QUANTITY_LOAD;
	const char *const eic = is_load ? series->out_eic : series->in_eic;

	if (strcmp(eic, sink->of.eic) != 0)
		lt_mix_refuse(
		    &sink->of.mix, "zone: got %s, want %s", eic, sink->of.eic);
	else if (strcmp(series->unit, "MAW") != 0)
		lt_mix_refuse(
		    &sink->of.mix, "unit: got \"%s\", want MAW", series->unit);
	else
		for (const struct lt_mix_code *code = sink->series->codes;
		     code->code != NULL; code++)
			if (strcmp(code->code, series->fuel) == 0)
				return true;
	return false;
}

static struct lt_entsoe_document
document_of(const struct series *series)
{
	return (struct lt_entsoe_document){
	    .root = "GL_MarketDocument",
	    .type = series->document,
	    .title = "day-ahead forecast",
	    .value = "quantity",
	    .value_max = LT_MIX_MW_MAX,
	    .wanted = is_wanted,
	    .put = lt_entsoe_mix_put,
	    .refuse = lt_entsoe_mix_refuse,
	};
}

static int
sink_start(struct sink *sink, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_error *err)
{
	const int64_t past_utc_s = window->now_utc_s - PAST_S;
	const int code = lt_entsoe_area_option(options, &sink->of.eic, err);

	sink->series = series_of(options);
	return code != LT_OK
		   ? code
		   : lt_mix_start(&sink->of.mix, sink->series->codes,
			 window->from_utc_s < past_utc_s ? window->from_utc_s
							 : past_utc_s,
			 window->now_utc_s + AHEAD_S, err);
}

static int
ahead_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_window window = {answer->now_utc_s - LT_MIX_SPAN_S,
	    answer->now_utc_s, answer->now_utc_s};
	const struct lt_entsoe_document document =
	    document_of(series_of(options));
	struct lt_entsoe_answer said;
	struct sink sink = {0};
	int code = sink_start(&sink, options, &window, err);

	if (code == LT_OK)
		code = lt_entsoe_read(answer, &document, &sink, &said, err);
	if (code == LT_OK && said.kind != LT_ENTSOE_DATA)
		code = lt_entsoe_refused(&said, err);
	if (code == LT_OK)
		code = lt_mix_power(
		    &sink.of.mix, sink.series->quantity, points, err);
	lt_mix_free(&sink.of.mix);
	return lt_error_mend(err, code);
}

static int
ahead_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_entsoe_document document =
	    document_of(series_of(options));
	struct sink sink = {0};
	struct lt_entsoe_job job = {.document = &document, .sink = &sink};
	int code = sink_start(&sink, options, window, err);
	const struct lt_entsoe_query query[] = {{"documentType", document.type},
	    {"processType", "A01"}, {sink.series->domain, sink.of.eic},
	    {NULL, NULL}};
	const int64_t start_utc_s = sink.of.mix.start_utc_s;

	job.query = query;
	points->quantity = sink.series->quantity;
	lt_web_start(&job.web, options, points);
	if (code == LT_OK)
		code = lt_entsoe_fetch(&job, start_utc_s,
		    start_utc_s + (int64_t)sink.of.mix.hour_count * LT_HOUR_S,
		    err);
	if (code == LT_OK)
		code = lt_mix_power(
		    &sink.of.mix, sink.series->quantity, points, err);
	if (code == LT_OK && job.missing[0] != '\0')
		lt_note_add(points, "%s", job.missing);
	lt_mix_free(&sink.of.mix);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_entsoe_day_ahead = {
    .name = "entsoe_day_ahead",
    .usage = "ENTSO-E: what a European area's operator expects for tomorrow",
    .options = ahead_options,
    .interval_s = LT_HOUR_S,
    .timeout_s = LT_ENTSOE_TIMEOUT_S,
    .quantity = ahead_quantity,
    .check = ahead_check,
    .fetch = ahead_fetch,
    .parse = ahead_parse,
};
