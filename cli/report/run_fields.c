/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of a run's JSON, which is flat, where they stand: jansson alone
 * needs 7.5 microseconds for a run, and there may be a million.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run_lines.h"
#include "units.h"

/* Of a number or a word. */
static bool
is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

/* Where the token that begins at at ends; NULL: none does. */
static const char *
token_end(const char *at, const char *end)
{
	if (at == end || *at != '"') {
		const char *const start = at;

		while (at < end && is_plain(*at))
			at++;
		return at > start ? at : NULL;
	}
	const char *const text = at + 1;
	for (at = text; (at = memchr(at, '"', (size_t)(end - at))) != NULL;
	     at++) {
		const char *first = at; /* of the backslashes before it */

		while (first > text && first[-1] == '\\')
			first--;
		if ((at - first) % 2 == 0)
			return at + 1;
	}
	return NULL;
}

/* The key's index, most likely the one after the last; -1: not asked for. */
static int
index_of(
    const struct lt_field_keys *keys, const char *key, size_t length, int last)
{
	for (int i = 1; i <= keys->count; i++) {
		const int index = (last + i) % keys->count;

		if (strncmp(keys->names[index], key, length) == 0 &&
		    keys->names[index][length] == '\0')
			return index;
	}
	return -1;
}

static bool
read_fields(struct lt_field *fields, const struct lt_field_keys *keys,
    const char *json, size_t length)
{
	const char *const end = json + length;
	int last = -1;

	memset(fields, 0, (size_t)keys->count * sizeof(*fields));
	for (const char *at = json;
	     at < end && *at == (at == json ? '{' : ',');) {
		const char *const key = at + 1;
		const char *const colon = token_end(key, end);

		if (colon == NULL || *key != '"' || colon == end ||
		    *colon != ':' || (at = token_end(colon + 1, end)) == NULL)
			return false;
		const int found =
		    index_of(keys, key + 1, (size_t)(colon - key) - 2, last);

		if (found >= 0) {
			last = found;
			fields[found] = (struct lt_field){
			    colon + 1, (size_t)(at - colon) - 1};
		}
		if (at + 1 == end && *at == '}')
			return true;
	}
	return false;
}

int
lt_run_fields(struct lt_field *fields, const struct lt_field_keys *keys,
    const char *json, size_t length, struct lt_error *err)
{
	if (read_fields(fields, keys, json, length))
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "not a run: \"%.*s\"",
	    (int)(length < 40 ? length : 40), json);
}

bool
lt_field_is(const struct lt_field *field, const char *word)
{
	return field->length == strlen(word) &&
	       memcmp(field->at, word, field->length) == 0;
}

bool
lt_field_int(const struct lt_field *field, int64_t *value)
{
	char digits[24];

	if (field->length == 0 || field->length >= sizeof(digits))
		return false;
	memcpy(digits, field->at, field->length);
	digits[field->length] = '\0';
	return lt_int64_parse(digits, INT64_MIN, INT64_MAX, value, NULL) ==
	       LT_OK;
}

const char *
lt_field_text(const struct lt_field *field, struct lt_field_room *room)
{
	const size_t length = field->length < 2 ? 0 : field->length - 2;

	if (field->length < 2 || *field->at != '"')
		return "";
	if (length < sizeof(room->text) &&
	    memchr(field->at, '\\', field->length) == NULL) {
		memcpy(room->text, field->at + 1, length);
		room->text[length] = '\0';
		return room->text;
	}
	json_decref(room->large);
	room->large =
	    json_loadb(field->at, field->length, JSON_DECODE_ANY, NULL);
	return json_is_string(room->large) ? json_string_value(room->large)
					   : "";
}

/* Is the text in JSON the one of a cell, as it stands? */
static bool
is_cell(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < '0' && text[i] != ' ' &&
		    (i == 0 || (text[i] != '-' && text[i] != '.')))
			return false;
	return memchr(text, '\\', length) == NULL &&
	       !lt_csv_seems_missing(text, length) &&
	       (length == 0 || strchr("=@", *text) == NULL);
}

static void
put_text(FILE *out, const struct lt_field *field)
{
	struct lt_field_room room;

	if (is_cell(field->at + 1, field->length - 2)) {
		fwrite(field->at + 1, 1, field->length - 2, out);
		return;
	}
	room.large = NULL;
	lt_csv_text(out, lt_field_text(field, &room));
	json_decref(room.large);
}

void
lt_field_csv(FILE *out, const struct lt_field *field)
{
	if (field->length == 0 || lt_field_is(field, "null"))
		return;
	if (*field->at == '"')
		put_text(out, field);
	else if (lt_field_is(field, "true"))
		fputs("yes", out);
	else if (lt_field_is(field, "false"))
		fputs("no", out);
	else
		fwrite(field->at, 1, field->length, out);
}
