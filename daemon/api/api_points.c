/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/signals/export: the stored points of a source in pages; GET /v1/signals/errors: how far
 * its forecasts were off. Both read signals.db by the ledger. An unknown source gets 404, a span
 * that is malformed or too long 400.
 */
#include <stdlib.h>
#include <string.h>

#include "api_signals.h"
#include "daemon.h"
#include "forecast_learn.h"
#include "min_max.h"
#include "out.h"
#include "units.h"

enum {
	PAGE_POINTS = 4000, /* of some 110 bytes: below LT_API_REPLY_MAX */
	PAGE_SOURCES = 100, /* of at most 5000 bytes of errors: the same */
	/* Read at once: 4032 points of five minutes, 400 KiB. */
	WINDOW_S = 14 * LT_DAY_S,
};

const struct lt_source *
lt_api_source(const struct lt_signals_state *signals, const char *name)
{
	for (int i = 0; i < signals->source_count; i++)
		if (strcmp(signals->sources[i].policy->name, name) == 0)
			return &signals->sources[i];
	return NULL;
}

enum lt_quantity
lt_api_quantity(const struct lt_source *source)
{
	return source->step_count ? source->quantity
				  : lt_adapter_quantity(source->adapter, &source->options);
}

int
lt_api_offset(int *offset, const struct lt_signals_state *signals,
    const struct lt_api_request *request, json_t **reply)
{
	const char *const name = lt_api_value(request, "source");
	const char *const text = lt_api_value(request, "offset");
	int64_t value = 0;
	struct lt_error err = {0};

	if (name != NULL && lt_api_source(signals, name) == NULL)
		return lt_api_error(reply, 404, "no source \"%s\"", name);
	if (text != NULL && lt_int64_parse(text, 0, LT_SOURCES_MAX, &value, &err) != LT_OK)
		return lt_api_error(reply, 400, "offset: %s", err.text);
	*offset = (int)value;
	return 200;
}

struct page {
	json_t *points;
	int64_t after_utc_s; /* begins its last point, or the page before's */
};

static bool
is_full(const struct page *page)
{
	return json_array_size(page->points) >= PAGE_POINTS;
}

static int
take_window(struct page *page, struct lt_ledger *ledger, const struct lt_points_asked *window,
    struct lt_error *err)
{
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_points(ledger, window, &steps, &count, err);

	for (uint32_t i = 0; i < count && !is_full(page); i++) {
		const struct lt_rate_step *const step = &steps[i];

		/* One that touches two windows came with the first. */
		if (step->start_utc_s <= page->after_utc_s)
			continue;
		page->after_utc_s = step->start_utc_s;
		json_array_append_new(page->points,
		    json_pack("{s:o,s:o,s:f,s:s}", "start", lt_api_time(step->start_utc_s), "end",
			lt_api_time(step->end_utc_s), "value", step->value, "quality",
			lt_quality_name(step->quality)));
	}
	free(steps);
	return code;
}

/* A time of the query; *utc_s stays as it is when that is not there. */
static int
time_of(int64_t *utc_s, const struct lt_offsets *offsets, const struct lt_api_request *request,
    const char *key, struct lt_error *err)
{
	const char *const text = lt_api_value(request, key);

	if (text == NULL || lt_calendar_time(utc_s, offsets, text, err) == LT_OK)
		return LT_OK;
	return lt_context(err, "%s", key);
}

struct export_work {
	struct lt_api_work work;
	char name[LT_NAME_SIZE], key[LT_NAME_SIZE], currency[8];
	enum lt_quantity quantity;
	int64_t after_utc_s, from_utc_s, to_utc_s;
};

/* The points that touch [from, to), begin after `after` and have room. */
static int
fill_page(
    struct page *page, struct lt_ledger *ledger, const struct export_work *w, struct lt_error *err)
{
	int code = LT_OK;

	for (int64_t from = w->from_utc_s; code == LT_OK && from < w->to_utc_s && !is_full(page);
	     from += WINDOW_S) {
		const int64_t end = w->to_utc_s - from < WINDOW_S ? w->to_utc_s : from + WINDOW_S;

		code = take_window(page, ledger,
		    &(struct lt_points_asked){.source = w->key, .span = {from, end}}, err);
	}
	return code;
}

static int
write_export(const struct lt_api_work *work, struct lt_ledger *ledger, struct lt_out *out)
{
	const struct export_work *const w = (const void *)work;
	struct page page = {json_array(), w->after_utc_s};
	struct lt_error err = {0};

	if (page.points == NULL || fill_page(&page, ledger, w, &err) != LT_OK) {
		json_decref(page.points);
		return lt_out_error(out, 503, err.text);
	}
	const int64_t next_utc_s = is_full(&page) ? page.after_utc_s : 0;
	lt_out_json(out, json_pack("{s:s,s:s,s:s,s:f,s:s,s:o,s:o}", "source", w->name, "quantity",
			     lt_quantity_name(w->quantity), "unit", lt_quantity_unit(w->quantity),
			     "scale", lt_quantity_scale(w->quantity), "currency", w->currency,
			     "points", page.points, "next", lt_api_time(next_utc_s)));
	return 200;
}

int
lt_api_signals_export(struct lt_daemon *d, const struct lt_api_request *request,
    struct lt_api_work **work, json_t **reply)
{
	const int64_t now = request->now_utc_s;
	const char *const name = lt_api_value(request, "source");
	const struct lt_source *const source =
	    name != NULL ? lt_api_source(&d->signals, name) : NULL;
	struct lt_error err = {0};

	if (name == NULL)
		return lt_api_error(reply, 400, "source: missing");
	if (source == NULL)
		return lt_api_error(reply, 404, "no source \"%s\"", name);
	/* Nothing is stored outside of these: the loop is bounded by them. */
	const int64_t first = now - LT_POINTS_KEEP_S - LT_DAY_S;
	const int64_t end = now + LT_HORIZON_S + LT_DAY_S;
	int64_t from = first, to = end, after = INT64_MIN;

	if (time_of(&from, &d->site.offsets, request, "from", &err) != LT_OK ||
	    time_of(&to, &d->site.offsets, request, "to", &err) != LT_OK ||
	    time_of(&after, &d->site.offsets, request, "after", &err) != LT_OK)
		return lt_api_error(reply, 400, "%s", err.text);
	if (lt_api_value(request, "from") != NULL && lt_api_value(request, "to") != NULL &&
	    from >= to)
		return lt_api_error(reply, 400, "to: want a time after from");
	from = lt_max_i64(from, first);
	struct export_work *const w = calloc(1, sizeof(*w));
	if (w == NULL)
		return lt_api_error(reply, 503, "export: out of memory");
	w->work.write = write_export;
	snprintf(w->name, sizeof(w->name), "%s", name);
	snprintf(w->key, sizeof(w->key), "%s", source->key);
	snprintf(w->currency, sizeof(w->currency), "%s", d->site.policy->currency);
	w->quantity = lt_api_quantity(source);
	w->after_utc_s = after;
	w->from_utc_s = lt_max_i64(from, after);
	w->to_utc_s = lt_min_i64(to, end);
	*work = &w->work;
	return 200;
}

void
lt_api_bands_load(
    struct lt_api_bands *bands, struct lt_ledger *ledger, const struct lt_source *source)
{
	struct lt_error err = {0};

	*bands = (struct lt_api_bands){.quantity = lt_api_quantity(source)};
	if (lt_forecast_bands(ledger, source->key, bands->bands, &err) != LT_OK)
		memset(bands->bands, 0, sizeof(bands->bands));
}

bool
lt_api_band(double *low, double *high, const struct lt_api_bands *bands, const struct lt_hour *hour,
    int64_t lead_s)
{
	static const struct {
		enum lt_quality quality;
		enum lt_forecast_kind kind;
	} kinds[] = {
	    {LT_QUALITY_FORECAST, LT_FORECAST_PROVIDER},
	    {LT_QUALITY_CLIMATOLOGY, LT_FORECAST_OWN},
	    {LT_QUALITY_LAST_VALUE, LT_FORECAST_LAST_VALUE},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct lt_forecast_band *const band =
		    &bands->bands[kinds[i].kind][lt_forecast_bucket(lead_s)];

		if (hour->quality != kinds[i].quality || !band->has_interval)
			continue;
		*low = hour->value - band->half_width;
		*high = hour->value + band->half_width;
		/* Only tariffs go below zero. */
		if (bands->quantity != LT_QUANTITY_TARIFF && *low < 0)
			*low = 0;
		return true;
	}
	return false;
}

static json_t *
buckets_json(const struct lt_forecast_band bands[LT_FORECAST_BUCKET_COUNT])
{
	json_t *const list = json_array();

	for (int i = 0; i < LT_FORECAST_BUCKET_COUNT; i++) {
		const struct lt_forecast_band *const band = &bands[i];
		const bool scored = band->count > 0;

		json_array_append_new(list,
		    json_pack("{s:i,s:i,s:I,s:o,s:o,s:o,s:o}", "from_h",
			lt_forecast_bucket_hours[i], "to_h", lt_forecast_bucket_hours[i + 1],
			"count", (json_int_t)band->count, "bias",
			scored ? json_real(band->mean) : json_null(), "mae",
			scored ? json_real(band->mean_abs) : json_null(), "low",
			band->has_interval ? json_real(-band->half_width) : json_null(), "high",
			band->has_interval ? json_real(band->half_width) : json_null()));
	}
	return list;
}

static json_t *
errors_json(struct lt_ledger *ledger, const struct lt_source *source)
{
	struct lt_api_bands bands;
	json_t *const models = json_array();

	lt_api_bands_load(&bands, ledger, source);
	for (int kind = 0; kind < LT_FORECAST_KIND_COUNT; kind++)
		json_array_append_new(
		    models, json_pack("{s:s,s:o}", "model",
				lt_forecast_kind_name((enum lt_forecast_kind)kind), "buckets",
				buckets_json(bands.bands[kind])));
	return json_pack("{s:s,s:s,s:s,s:f,s:o}", "name", source->policy->name, "quantity",
	    lt_quantity_name(bands.quantity), "unit", lt_quantity_unit(bands.quantity), "scale",
	    lt_quantity_scale(bands.quantity), "models", models);
}

int
lt_api_signals_errors(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *const name = lt_api_value(request, "source");
	int next = 0;
	const int code = lt_api_offset(&next, &d->signals, request, reply);

	if (code != 200)
		return code;
	json_t *const list = json_array();
	for (; next < d->signals.source_count && json_array_size(list) < PAGE_SOURCES; next++) {
		const struct lt_source *const source = &d->signals.sources[next];

		if (name == NULL || strcmp(source->policy->name, name) == 0)
			json_array_append_new(list, errors_json(d->ledger, source));
	}
	*reply = json_pack("{s:s,s:o,s:o}", "currency", d->site.policy->currency, "sources", list,
	    "next", lt_api_optional(next < d->signals.source_count, next));
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "errors: out of memory");
}
