/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON from outside, bounded before jansson builds anything: size, depth and number of values.
 * Between http.c or a file and an adapter's parse.
 */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "text_mend.h"
#include "units.h"

struct place { /* 1-based, of the byte that is looked at */
	int line, column;
};

static void
place_step(struct place *place, char byte)
{
	if (byte == '\n') {
		place->line++;
		place->column = 0;
	}
	place->column++;
}

static int
too_much(struct lt_error *err, struct place place, const char *what, int limit)
{
	lt_fail(err, LT_ELIMIT, "JSON with more than %d %s", limit, what);
	lt_error_at(err, place.line, place.column);
	return LT_ELIMIT;
}

/* Only counts; whether it is JSON at all, jansson says. */
static int
json_bounds(const char *bytes, size_t byte_count, struct lt_error *err)
{
	struct place place = {1, 1};
	int depth = 0, containers = 0, commas = 0;
	bool in_text = false;

	for (size_t i = 0; i < byte_count; place_step(&place, bytes[i]), i++) {
		if (in_text && bytes[i] == '\\' && i + 1 < byte_count)
			place_step(&place, bytes[i++]);
		else if (bytes[i] == '"')
			in_text = !in_text;
		else if (in_text)
			continue;
		else if (bytes[i] == ',')
			commas++;
		else if (bytes[i] == ']' || bytes[i] == '}')
			depth--;
		else if (bytes[i] == '[' || bytes[i] == '{') {
			depth++;
			containers++;
		}
		if (depth > LT_JSON_DEPTH_MAX)
			return too_much(err, place, "levels", LT_JSON_DEPTH_MAX);
		if (containers > LT_JSON_CONTAINERS_MAX)
			return too_much(err, place, "objects and lists", LT_JSON_CONTAINERS_MAX);
		if (commas > LT_JSON_COMMAS_MAX)
			return too_much(err, place, "values", LT_JSON_COMMAS_MAX);
	}
	return LT_OK;
}

static int
load_json(json_t **json, const char *bytes, size_t byte_count, size_t flags, struct lt_error *err)
{
	json_error_t json_error;
	json_t *loaded;
	int code;

	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
		bytes += 3;
		byte_count -= 3;
	}
	if (byte_count > LT_JSON_BYTES_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "JSON of %zu bytes, limit %d", byte_count, LT_JSON_BYTES_MAX);
	if (byte_count == 0)
		return lt_fail(err, LT_EINPUT, "empty, want JSON");
	code = json_bounds(bytes, byte_count, err);
	if (code != LT_OK)
		return code;
	loaded = json_loadb(bytes, byte_count, flags, &json_error);
	if (loaded == NULL) {
		lt_fail(err, LT_EINPUT, "not JSON: %s", json_error.text);
		lt_error_at(err, json_error.line, json_error.column);
		return LT_EINPUT;
	}
	*json = loaded;
	return LT_OK;
}

int
lt_json_load(json_t **json, const char *bytes, size_t byte_count, struct lt_error *err)
{
	return load_json(json, bytes, byte_count, 0, err);
}

int
lt_json_load_nul(json_t **json, const char *bytes, size_t byte_count, struct lt_error *err)
{
	return load_json(json, bytes, byte_count, JSON_ALLOW_NUL, err);
}

int
lt_json_parse(lt_json_read_fn *read, const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points, struct lt_error *err)
{
	json_t *json = NULL;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code == LT_OK)
		code = read(options, json, answer->now_utc_s, points, err);
	json_decref(json);
	return lt_error_mend(err, code);
}

bool
lt_json_number(const json_t *json, double *value)
{
	if (json_is_number(json)) {
		*value = json_number_value(json);
		return true;
	}
	return json_is_string(json) &&
	       lt_double_parse(json_string_value(json), value, NULL) == LT_OK;
}

void
lt_json_error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json = NULL;
	const json_t *error;
	const char *status, *message;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	error = json_object_get(json, "error");
	if (!json_is_object(error))
		error = json;
	status = json_string_value(json_object_get(error, "status"));
	message = json_string_value(json_object_get(error, "message"));
	if (message != NULL)
		snprintf(out, size, "%.40s%s%s", status == NULL ? "" : status,
		    status == NULL ? "" : ": ", message);
	json_decref(json);
}
