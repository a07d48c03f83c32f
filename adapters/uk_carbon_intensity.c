/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Great Britain's Carbon Intensity API (NESO; no key, CC BY 4.0): half hours, national or by
 * region, two days ahead. docs/sources/uk_carbon_intensity.md.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fetch_parts.h"
#include "source.h"
#include "units.h"
#include "web.h"

enum {
	REGION_MAX = 17,
	SLOT_S = 1800,
	CHUNK_S = 10 * LT_DAY_S, /* of history; more than 14 days: refused */
};

static const struct lt_adapter_option uk_options[] = {
    {"region", false, "1 to 17, as 13 for London", "the whole of Great Britain"},
    {"postcode", false, "outward code, as OX1, instead of region", NULL},
    {"url", false, "base URL of a mirror", "https://api.carbonintensity.org.uk"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

/* Outward codes: two to four letters and digits, a letter first. A whole postcode gets an empty
 * answer from the API. */
static bool
is_outward_code(const char *text)
{
	const size_t length = strlen(text);

	if (length < 2 || length > 4 || !isalpha((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]))
			return false;
	return true;
}

static int
uk_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", NULL);
	const char *const postcode = lt_source_option(options, "postcode", NULL);
	int64_t number;

	if (region != NULL && postcode != NULL)
		return lt_option_fail(options, "postcode", err,
		    "%s: region and postcode, want one of them", options->name);
	if (region != NULL && lt_int64_parse(region, 1, REGION_MAX, &number, NULL) != LT_OK)
		return lt_option_fail(options, "region", err,
		    "%s: region: got \"%s\", want 1 to %d", options->name, region, REGION_MAX);
	if (postcode != NULL && !is_outward_code(postcode))
		return lt_option_fail(options, "postcode", err,
		    "%s: postcode: got \"%s\", want the outward code only, such as OX1",
		    options->name, postcode);
	return LT_OK;
}

/* "2018-01-20T12:01Z": a time on the half hour would bring the half hour before it first, so we ask
 * from a minute later. No seconds, or it is 400. */
static void
slot_text(char out[24], int64_t utc_s)
{
	const time_t seconds = (time_t)(utc_s - ((utc_s % SLOT_S) + SLOT_S) % SLOT_S + 60);
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(out, 24, "%Y-%m-%dT%H:%MZ", &parts);
}

/* span: "fw48h" or an end time. */
static int
make_url(char out[LT_URL_SIZE], const struct lt_source_options *options, int64_t from_utc_s,
    const char *span, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", NULL);
	const char *const postcode = lt_source_option(options, "postcode", NULL);
	char where[64] = "", from[24], path[160];

	if (region != NULL)
		snprintf(where, sizeof(where), "/regionid/%s", region);
	else if (postcode != NULL)
		snprintf(where, sizeof(where), "/postcode/%s", postcode);
	slot_text(from, from_utc_s);
	snprintf(path, sizeof(path), "%sintensity/%s/%s%s", where[0] == '\0' ? "" : "regional/",
	    from, span, where);
	return lt_url_start(
	    out, lt_source_option(options, "url", uk_options[2].fallback), path, err);
}

/* Counts of the slots of one answer. */
struct tally {
	int64_t now_utc_s;
	int slots, empty, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* The value that counts: the metered one where there is one. The regions
 * have none; forecasts of what has passed are estimates. */
static bool
slot_value(const json_t *intensity, int64_t now_utc_s, struct lt_point *point)
{
	if (point->start_utc_s <= now_utc_s &&
	    lt_json_number(json_object_get(intensity, "actual"), &point->value)) {
		point->quality = LT_QUALITY_MEASURED;
		return true;
	}
	point->quality = point->end_utc_s <= now_utc_s ? LT_QUALITY_ESTIMATED : LT_QUALITY_FORECAST;
	return lt_json_number(json_object_get(intensity, "forecast"), &point->value);
}

static int
slot_time(const json_t *slot, const char *key, int64_t *utc_s, struct lt_error *err)
{
	const char *const text = json_string_value(json_object_get(slot, key));

	if (text == NULL)
		return lt_fail(err, LT_EINPUT, "a slot without \"%s\"", key);
	if (lt_utc_parse(text, utc_s, NULL) == LT_OK)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "%s: got \"%.40s\", want a time", key, text);
}

static int
read_slot(const json_t *slot, struct lt_point *point, struct lt_error *err)
{
	int code = slot_time(slot, "from", &point->start_utc_s, err);

	if (code == LT_OK)
		code = slot_time(slot, "to", &point->end_utc_s, err);
	if (code == LT_OK && point->end_utc_s - point->start_utc_s != SLOT_S)
		code = lt_fail(err, LT_EINPUT, "a slot of %" PRId64 " s, want %d",
		    point->end_utc_s - point->start_utc_s, SLOT_S);
	return code;
}

/* A region's 0 is wind or sun alone, and its mix says so. That of an outage has no mix, or an empty
 * one. */
static bool
is_generated(const json_t *slot)
{
	const json_t *fuel;
	double percent, sum = 0;
	size_t i;

	json_array_foreach(json_object_get(slot, "generationmix"), i, fuel) {
		if (lt_json_number(json_object_get(fuel, "perc"), &percent))
			sum += percent;
	}
	return sum > 0;
}

/* A value of null is a gap; so is a slot that can't be: one bad half hour must not cost the
 * others. */
static int
add_slot(const json_t *slot, struct tally *tally, struct lt_points *points, struct lt_error *err)
{
	struct lt_point point = {0};
	int code = read_slot(slot, &point, &tally->refusal);

	tally->slots++;
	if (code == LT_OK &&
	    !slot_value(json_object_get(slot, "intensity"), tally->now_utc_s, &point)) {
		tally->empty++;
		return LT_OK;
	}
	points->zero_is_data = is_generated(slot);
	if (code == LT_OK)
		code = lt_points_add(points, &point, &tally->refusal);
	if (code == LT_OK)
		return LT_OK;
	tally->refused++;
	return code == LT_EINPUT ? LT_OK
				 : lt_fail(err, (enum lt_code)code, "no room for more points");
}

static int
add_slots(const json_t *slots, struct tally *tally, struct lt_points *points, struct lt_error *err)
{
	size_t i;
	const json_t *slot;

	json_array_foreach(slots, i, slot) {
		const int code = add_slot(slot, tally, points, err);

		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* True if this is the region that was asked for. One who asks by postcode, or for the whole
 * country, can't tell. */
static bool
is_asked(const struct lt_source_options *options, const json_t *area)
{
	const char *const region = lt_source_option(options, "region", NULL);
	const json_t *const id = json_object_get(area, "regionid");
	int64_t number;

	return region == NULL || !json_is_integer(id) ||
	       (lt_int64_parse(region, 1, REGION_MAX, &number, NULL) == LT_OK &&
		   json_integer_value(id) == number);
}

/* `data` is a list of slots (national), a region with its own `data`, or a list of such regions:
 * which, differs between the API's manual and life. */
static int
add_data(const struct lt_source_options *options, const json_t *data, struct tally *tally,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *area;
	size_t i;

	if (json_is_object(data))
		return is_asked(options, data)
			   ? add_slots(json_object_get(data, "data"), tally, points, err)
			   : LT_OK;
	json_array_foreach(data, i, area) {
		const json_t *const slots = json_object_get(area, "data");

		if (slots == NULL)
			return add_slots(data, tally, points, err);
		if (!is_asked(options, area))
			continue;
		const int code = add_slots(slots, tally, points, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* {"error": {"code": "400 Bad Request", "message": "..."}}, with any status. */
static void
error_words(char *out, size_t size, const json_t *error)
{
	const char *const code = json_string_value(json_object_get(error, "code"));
	const char *const message = json_string_value(json_object_get(error, "message"));

	snprintf(out, size, "%.60s: %.200s", code == NULL ? "error" : code,
	    message == NULL ? "no reason" : message);
}

static void
error_text(char *out, size_t size, const char *body, size_t length)
{
	const json_t *error;
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	error = json_object_get(json, "error");
	if (error != NULL)
		error_words(out, size, error);
	json_decref(json);
}

static int
parse_json(const struct lt_source_options *options, const json_t *json, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *const data = json_object_get(json, "data");
	const json_t *const error = json_object_get(json, "error");
	struct tally tally = {.now_utc_s = now_utc_s};
	char words[300];
	int code;

	if (error != NULL) {
		error_words(words, sizeof(words), error);
		return lt_fail(err, LT_ENET, "the source says: %s", words);
	}
	if (!json_is_object(data) && !json_is_array(data))
		return lt_fail(err, LT_EINPUT, "JSON without \"data\"");
	points->quantity = LT_QUANTITY_CARBON;
	code = add_data(options, data, &tally, points, err);
	points->zero_is_data = true; /* of what is left */
	if (code != LT_OK)
		return code;
	if (tally.slots == 0)
		return lt_fail(err, LT_EINPUT, "no half hour of the region that was asked for");
	if (tally.slots == tally.refused + tally.empty)
		return lt_fail(err, LT_EINPUT, "%d half hours and no usable value among them%s%s",
		    tally.slots, tally.refused > 0 ? ": " : "", tally.refusal.text);
	if (tally.refused + tally.empty > 0)
		snprintf(points->note, sizeof(points->note),
		    "%d of %d half hours have no usable value", tally.refused + tally.empty,
		    tally.slots);
	lt_points_sort(points);
	lt_points_date(points, now_utc_s);
	return LT_OK;
}

static int
uk_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}

/* One request; the answer's points go into those of the part. */
static void
request(struct lt_web *web, int64_t from_utc_s, const char *span, int64_t now_utc_s,
    struct lt_fetch_part *part)
{
	char url[LT_URL_SIZE];
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .error_text = error_text,
	};

	part->asked = true;
	part->code = make_url(url, web->options, from_utc_s, span, &part->err);
	web->points = &part->points;
	if (part->code == LT_OK)
		part->code = lt_web_points(web, &request, uk_parse, now_utc_s, &part->err);
}

/* From the half hour of from_utc_s to before that of end_utc_s, which what is newer has. The newest
 * first, so that a refusal costs the oldest. */
static void
request_past(struct lt_web *web, int64_t from_utc_s, int64_t end_utc_s, int64_t now_utc_s,
    struct lt_fetch_part *past)
{
	while (end_utc_s - end_utc_s % SLOT_S > from_utc_s && past->code == LT_OK) {
		const int64_t start_utc_s =
		    end_utc_s - CHUNK_S > from_utc_s ? end_utc_s - CHUNK_S : from_utc_s;
		char span[24];

		slot_text(span, end_utc_s);
		request(web, start_utc_s, span, now_utc_s, past);
		end_utc_s = start_utc_s;
	}
}

static int
uk_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_fetch_parts parts = {0};
	struct lt_web web;

	lt_web_start(&web, options, points);
	if (window->to_utc_s > window->now_utc_s)
		request(&web,
		    window->from_utc_s > window->now_utc_s ? window->from_utc_s : window->now_utc_s,
		    "fw48h", window->now_utc_s, &parts.ahead);
	request_past(&web, window->from_utc_s,
	    window->to_utc_s < window->now_utc_s ? window->to_utc_s : window->now_utc_s,
	    window->now_utc_s, &parts.past);
	points->quantity = LT_QUANTITY_CARBON;
	const int code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

const struct lt_adapter lt_adapter_uk_carbon_intensity = {
    .name = "uk_carbon_intensity",
    .usage = "Great Britain's Carbon Intensity API, by region; no key",
    .options = uk_options,
    .interval_s = SLOT_S,
    .gives = LT_QUANTITY_CARBON,
    .basis = LT_BASIS_DIRECT,
    .version = "Carbon Intensity API of NESO: CO2 of generation, with imports and losses",
    .check = uk_check,
    .fetch = uk_fetch,
    .parse = uk_parse,
};
