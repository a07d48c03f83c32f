/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON to rows of a recording: a list of objects, or an object with one
 * member that is such a list.
 */
#include <stdio.h>
#include <string.h>

#include "recording.h"

static const json_t *
find_rows(const json_t *json, struct lt_error *err)
{
	const json_t *rows = NULL, *member;
	const char *key;

	if (json_is_array(json))
		return json;
	json_object_foreach((json_t *)json, key, member) {
		if (!json_is_array(member))
			continue;
		if (rows != NULL) {
			lt_fail(err, LT_EINPUT,
			    "an object with more than one list, want one");
			return NULL;
		}
		rows = member;
	}
	if (rows == NULL)
		lt_fail(err, LT_EINPUT, "no list of objects");
	return rows;
}

/* A member as text for lt_recording_row(). null and absence are "". */
static int
member_text(char *out, size_t size, const json_t *row, const char *key,
    struct lt_error *err)
{
	const json_t *const member = json_object_get(row, key);
	int length = 0;

	out[0] = '\0';
	if (member == NULL || json_is_null(member))
		return LT_OK;
	if (json_is_string(member))
		length = snprintf(out, size, "%s", json_string_value(member));
	else if (json_is_integer(member))
		length = snprintf(out, size, "%" JSON_INTEGER_FORMAT,
		    json_integer_value(member));
	else if (json_is_real(member))
		length = snprintf(out, size, "%.17g", json_real_value(member));
	else
		return lt_fail(
		    err, LT_EINPUT, "%s: want a text or a number", key);
	if (length < 0 || (size_t)length >= size)
		return lt_fail(
		    err, LT_ELIMIT, "%s: longer than %zu bytes", key, size - 1);
	return LT_OK;
}

static int
row_add(const struct lt_recording *recording, const json_t *row,
    struct lt_points *points, struct lt_error *err)
{
	char time[LT_RECORDING_CELL_SIZE], value[LT_RECORDING_CELL_SIZE],
	    end[LT_RECORDING_CELL_SIZE] = "";
	int code;

	if (!json_is_object(row))
		return lt_fail(err, LT_EINPUT, "not an object");
	if (json_object_get(row, recording->time) == NULL)
		return lt_fail(
		    err, LT_EINPUT, "no member \"%s\"", recording->time);
	if (json_object_get(row, recording->value) == NULL)
		return lt_fail(err, LT_EINPUT,
		    "no member \"%s\" (null where it is missing)",
		    recording->value);
	code = member_text(time, sizeof(time), row, recording->time, err);
	if (code == LT_OK)
		code = member_text(
		    value, sizeof(value), row, recording->value, err);
	if (code == LT_OK && recording->end != NULL)
		code = member_text(end, sizeof(end), row, recording->end, err);
	if (code == LT_OK)
		code = lt_recording_row(recording,
		    &(struct lt_recording_row){time, value, end}, points, err);
	return code;
}

int
lt_recording_json(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err)
{
	json_t *json;
	int code = lt_json_load(&json, bytes, byte_count, err);

	if (code != LT_OK)
		return code;
	const json_t *const rows = find_rows(json, err);
	if (rows == NULL)
		code = LT_EINPUT;
	for (size_t i = 0; code == LT_OK && i < json_array_size(rows); i++) {
		code = row_add(recording, json_array_get(rows, i), points, err);
		if (code != LT_OK)
			lt_context(err, "row %zu", i + 1);
	}
	json_decref(json);
	return code;
}
