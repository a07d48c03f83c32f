/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ENTSO-E's Transparency Platform, two of its adapters: actual generation per type of a European
 * area, as an average intensity; and what the operator of the area expects of wind, sun (A69) and
 * load (A65), as published the day before. entsoe_xml.c reads the answers, entsoe_request.c asks
 * for them. docs/sources/entsoe.md, entsoe_day_ahead.md.
 */
#include <string.h>

#include "entsoe.h"
#include "fuel_mix.h"
#include "source.h"

/* ---- generation ---- */

enum {
	LATE_S = 16 * LT_HOUR_S, /* measured by others: 12 to 16 hours */
	/* To ask for: that a type comes later than the others shows only beside enough hours that
	 * have it. */
	LEAST_S = 3 * LT_DAY_S,
};

static const struct lt_adapter_option entsoe_options[] = {
    {"area", true, "EIC code, or short as DE, FR, NO1", NULL},
    {"token_file", false, "file with the security token, mode 0600", NULL},
    {"token_env", false, "or the environment variable that has it", NULL},
    {"emission_factors", false, "lifecycle or direct", "lifecycle"},
    {"url", false, "base URL of a mirror", LT_ENTSOE_URL},
    {"timeout", false, "how long it may be silent before it fails", "90s"},
    {NULL, false, NULL, NULL},
};

/* psrType, parts B01 to B25; B21 to B24 are grid assets and generate
 * nothing. */
static const struct lt_mix_code fuels[] = {
    {"B01", LT_FUEL_BIOMASS},
    {"B02", LT_FUEL_LIGNITE},
    {"B03", LT_FUEL_COAL}, /* gas made of coal: coal's carbon */
    {"B04", LT_FUEL_GAS},
    {"B05", LT_FUEL_COAL},
    {"B06", LT_FUEL_OIL},
    {"B07", LT_FUEL_OIL_SHALE},
    {"B08", LT_FUEL_PEAT},
    {"B09", LT_FUEL_GEOTHERMAL},
    {"B10", LT_FUEL_STORAGE}, /* pumped */
    {"B11", LT_FUEL_HYDRO},
    {"B12", LT_FUEL_HYDRO},
    {"B13", LT_FUEL_MARINE},
    {"B14", LT_FUEL_NUCLEAR},
    {"B15", LT_FUEL_BIOMASS}, /* other renewable: mostly gas of waste */
    {"B16", LT_FUEL_SOLAR},
    {"B17", LT_FUEL_WASTE},
    {"B18", LT_FUEL_WIND_OFFSHORE},
    {"B19", LT_FUEL_WIND},
    {"B20", LT_FUEL_OTHER},
    {"B25", LT_FUEL_STORAGE},
    {NULL, LT_FUEL_OTHER},
};

static int
entsoe_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *eic;
	int code = lt_entsoe_area_option(options, &eic, err);

	if (code == LT_OK)
		code = lt_secret_check(options, "token", true, err);
	return code;
}

/* ---- a document ---- */

/* Production of the area that was asked for, in MW? What pumps draw (outBiddingZone) is passed
 * over: it is no generation. */
static bool
is_wanted(void *context, const struct lt_entsoe_series *series)
{
	struct lt_entsoe_mix *const sink = context;
	const bool consumption = series->out_eic[0] != '\0';
	const char *const eic = consumption ? series->out_eic : series->in_eic;

	if (strcmp(eic, sink->eic) != 0)
		lt_mix_refuse(&sink->mix, "zone: got %s, want %s", eic, sink->eic);
	else if (consumption)
		return false;
	else if (strcmp(series->unit, "MAW") != 0)
		lt_mix_refuse(&sink->mix, "unit: got \"%s\", want MAW", series->unit);
	else if (series->fuel[0] == '\0')
		lt_mix_refuse(&sink->mix, "a series without psrType");
	else
		return true;
	return false;
}

void
lt_entsoe_mix_put(
    void *context, const struct lt_entsoe_series *series, const struct lt_entsoe_step *step)
{
	struct lt_entsoe_mix *const sink = context;

	lt_mix_put(&sink->mix, lt_mix_column(&sink->mix, series->fuel), step->start_utc_s,
	    step->end_utc_s, step->value);
}

void
lt_entsoe_mix_refuse(void *context, const char *what)
{
	struct lt_entsoe_mix *const sink = context;

	lt_mix_refuse(&sink->mix, "%s", what);
}

static const struct lt_entsoe_document generation = {
    .root = "GL_MarketDocument",
    .type = "A75",
    .title = "actual generation per type",
    .value = "quantity",
    .value_max = LT_MIX_MW_MAX,
    .wanted = is_wanted,
    .put = lt_entsoe_mix_put,
    .refuse = lt_entsoe_mix_refuse,
};

static int
entsoe_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_entsoe_answer said;
	struct lt_entsoe_mix sink = {0};
	int code = lt_entsoe_area_option(options, &sink.eic, err);

	if (code == LT_OK)
		code = lt_mix_start(
		    &sink.mix, fuels, answer->now_utc_s - LT_MIX_SPAN_S, answer->now_utc_s, err);
	if (code == LT_OK)
		code = lt_entsoe_read(answer, &generation, &sink, &said, err);
	if (code == LT_OK && said.kind != LT_ENTSOE_DATA)
		code = lt_entsoe_refused(&said, err);
	if (code == LT_OK)
		code = lt_mix_points(&sink.mix, options, answer->now_utc_s, points, err);
	lt_mix_free(&sink.mix);
	return lt_error_mend(err, code);
}

static int
request(struct lt_entsoe_job *job, const struct lt_entsoe_mix *sink, struct lt_error *err)
{
	const struct lt_query query[] = {{"documentType", "A75"}, {"processType", "A16"},
	    {"in_Domain", sink->eic}, {NULL, NULL}};
	const int64_t start_utc_s = sink->mix.start_utc_s;

	job->query = query;
	return lt_entsoe_fetch(
	    job, start_utc_s, start_utc_s + (int64_t)sink->mix.hour_count * LT_HOUR_S, err);
}

static int
entsoe_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_entsoe_mix sink = {0};
	struct lt_entsoe_job job = {.document = &generation, .sink = &sink};
	int64_t from_utc_s = window->from_utc_s;
	int code = lt_entsoe_area_option(options, &sink.eic, err);

	points->quantity = LT_QUANTITY_CARBON;
	lt_web_start(&job.web, options, points);
	if (from_utc_s > window->now_utc_s - LEAST_S)
		from_utc_s = window->now_utc_s - LEAST_S;
	if (code == LT_OK)
		code = lt_mix_start(&sink.mix, fuels, from_utc_s,
		    window->to_utc_s < window->now_utc_s ? window->to_utc_s : window->now_utc_s,
		    err);
	if (code == LT_OK)
		code = request(&job, &sink, err);
	if (code == LT_OK)
		code = lt_mix_points(&sink.mix, options, window->now_utc_s, points, err);
	if (code == LT_OK && job.missing[0] != '\0')
		memcpy(points->note, job.missing, sizeof(points->note));
	lt_mix_free(&sink.mix);
	lt_text_mend(points->note);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_entsoe = {
    .name = "entsoe",
    .usage = "ENTSO-E: generation per type of a European area",
    .options = entsoe_options,
    .interval_s = LT_HOUR_S,
    .fresh_s = LATE_S,
    .gives = LT_QUANTITY_CARBON,
    .timeout_s = LT_ENTSOE_TIMEOUT_S,
    .basis = LT_BASIS_LIFECYCLE,
    .version = "Transparency Platform, A75 A16; " LT_FUEL_MIX_VERSION,
    .check = entsoe_check,
    .fetch = entsoe_fetch,
    .parse = entsoe_parse,
};

/* ---- forecasts of the day before ---- */

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
		    "%s: series: got \"%s\", want wind, solar or load", options->name,
		    lt_source_option(options, "series", ""));
	if (code == LT_OK)
		code = lt_secret_check(options, "token", true, err);
	return code;
}

struct sink {
	struct lt_entsoe_mix of;
	const struct series *series;
};

static bool
is_wanted_series(void *context, const struct lt_entsoe_series *series)
{
	struct sink *const sink = context;
	const bool is_load = sink->series->quantity == LT_QUANTITY_LOAD;
	const char *const eic = is_load ? series->out_eic : series->in_eic;

	if (strcmp(eic, sink->of.eic) != 0)
		lt_mix_refuse(&sink->of.mix, "zone: got %s, want %s", eic, sink->of.eic);
	else if (strcmp(series->unit, "MAW") != 0)
		lt_mix_refuse(&sink->of.mix, "unit: got \"%s\", want MAW", series->unit);
	else
		for (const struct lt_mix_code *code = sink->series->codes; code->code != NULL;
		     code++)
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
	    .wanted = is_wanted_series,
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
			 window->from_utc_s < past_utc_s ? window->from_utc_s : past_utc_s,
			 window->now_utc_s + AHEAD_S, err);
}

static int
ahead_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_window window = {
	    answer->now_utc_s - LT_MIX_SPAN_S, answer->now_utc_s, answer->now_utc_s};
	const struct lt_entsoe_document document = document_of(series_of(options));
	struct lt_entsoe_answer said;
	struct sink sink = {0};
	int code = sink_start(&sink, options, &window, err);

	if (code == LT_OK)
		code = lt_entsoe_read(answer, &document, &sink, &said, err);
	if (code == LT_OK && said.kind != LT_ENTSOE_DATA)
		code = lt_entsoe_refused(&said, err);
	if (code == LT_OK)
		code = lt_mix_power(&sink.of.mix, sink.series->quantity, points, err);
	lt_mix_free(&sink.of.mix);
	return lt_error_mend(err, code);
}

static int
ahead_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_entsoe_document document = document_of(series_of(options));
	struct sink sink = {0};
	struct lt_entsoe_job job = {.document = &document, .sink = &sink};
	int code = sink_start(&sink, options, window, err);
	const struct lt_query query[] = {{"documentType", document.type}, {"processType", "A01"},
	    {sink.series->domain, sink.of.eic}, {NULL, NULL}};
	const int64_t start_utc_s = sink.of.mix.start_utc_s;

	job.query = query;
	points->quantity = sink.series->quantity;
	lt_web_start(&job.web, options, points);
	if (code == LT_OK)
		code = lt_entsoe_fetch(&job, start_utc_s,
		    start_utc_s + (int64_t)sink.of.mix.hour_count * LT_HOUR_S, err);
	if (code == LT_OK)
		code = lt_mix_power(&sink.of.mix, sink.series->quantity, points, err);
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
