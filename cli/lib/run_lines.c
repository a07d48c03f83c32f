/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs in an answer of lowtided, taken one by one as the bytes come, and the members of each.
 *
 * The answer up to the first line end is its head. Each line after it is a run, perhaps with a
 * comma, up to the line that begins with the bracket that ends them. Head and tail together are the
 * answer without its runs. A run's JSON is flat, and its members are read where they stand: jansson
 * alone needs 7.5 microseconds for a run, and there may be a million. A line that is no run, or a
 * head above 16 MiB, ends the answer with an error.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "grow.h"
#include "run_lines.h"
#include "units.h"

enum { REST_MAX = 16 * 1024 * 1024 }; /* also of one line */

static bool
put_bytes(struct lt_run_lines *lines, struct lt_bytes *to, const char *bytes, size_t length)
{
	if (length > REST_MAX - to->length) {
		lt_fail(&lines->err, LT_ELIMIT,
		    "lowtided's answer has more than %d bytes beside the runs", REST_MAX);
		return false;
	}
	while (to->length + length >= to->capacity) {
		char *const grown = lt_items_grow(to->bytes, &to->capacity, to->capacity, 1);

		if (grown == NULL) {
			lt_fail(&lines->err, LT_ENOMEM, "no memory");
			return false;
		}
		to->bytes = grown;
	}
	memcpy(to->bytes + to->length, bytes, length);
	to->length += length;
	to->bytes[to->length] = '\0';
	return true;
}

/* Takes a whole line, without its end. */
static bool
take_line(struct lt_run_lines *lines, const char *line, size_t length)
{
	if (!lines->in_runs || (length > 0 && line[0] == ']')) {
		lines->in_runs = true;
		return put_bytes(lines, &lines->rest, line, length);
	}
	if (length > 0 && line[length - 1] == ',')
		length--;
	if (lines->take(lines->context, line, length, &lines->err) != LT_OK)
		return false;
	lines->count++;
	return true;
}

bool
lt_run_lines_feed(struct lt_run_lines *lines, const char *bytes, size_t length)
{
	struct lt_bytes *const line = &lines->line;
	const char *const end = bytes + length;
	const char *eol;

	while ((eol = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL) {
		const size_t count = (size_t)(eol - bytes);

		if (line->length == 0) {
			if (!take_line(lines, bytes, count))
				return false;
		} else if (!put_bytes(lines, line, bytes, count) ||
			   !take_line(lines, line->bytes, line->length)) {
			return false;
		}
		line->length = 0;
		bytes = eol + 1;
	}
	return put_bytes(lines, line, bytes, (size_t)(end - bytes));
}

json_t *
lt_run_lines_head(const struct lt_run_lines *lines)
{
	const size_t length = lines->rest.length;
	char *const text = malloc(length + sizeof("]}"));

	if (text == NULL)
		return NULL;
	memcpy(text, lines->rest.bytes, length);
	memcpy(text + length, "]}", sizeof("]}"));
	json_t *const head = json_loads(text, 0, NULL);

	free(text);
	return head;
}

const char *
lt_run_lines_rest(struct lt_run_lines *lines)
{
	const struct lt_bytes *const line = &lines->line;

	return put_bytes(lines, &lines->rest, line->length > 0 ? line->bytes : "", line->length)
		   ? lines->rest.bytes
		   : NULL;
}

void
lt_run_lines_free(struct lt_run_lines *lines)
{
	free(lines->rest.bytes);
	free(lines->line.bytes);
	*lines = (struct lt_run_lines){0};
}

/* True for a character of a number or a word. */
static bool
is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '+' || c == '.';
}

/* Returns the end of the token that begins at at; NULL if it does not end. */
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
	for (at = text; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++) {
		const char *first = at; /* of the backslashes before it */

		while (first > text && first[-1] == '\\')
			first--;
		if ((at - first) % 2 == 0)
			return at + 1;
	}
	return NULL;
}

/* Returns the key's index, most likely the one after the last; -1: not asked for. */
static int
index_of(const struct lt_field_keys *keys, const char *key, size_t length, int last)
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
read_fields(
    struct lt_field *fields, const struct lt_field_keys *keys, const char *json, size_t length)
{
	const char *const end = json + length;
	int last = -1;

	memset(fields, 0, (size_t)keys->count * sizeof(*fields));
	for (const char *at = json; at < end && *at == (at == json ? '{' : ',');) {
		const char *const key = at + 1;
		const char *const colon = token_end(key, end);

		if (colon == NULL || *key != '"' || colon == end || *colon != ':' ||
		    (at = token_end(colon + 1, end)) == NULL)
			return false;
		const int found = index_of(keys, key + 1, (size_t)(colon - key) - 2, last);

		if (found >= 0) {
			last = found;
			fields[found] = (struct lt_field){colon + 1, (size_t)(at - colon) - 1};
		}
		if (at + 1 == end && *at == '}')
			return true;
	}
	return false;
}

int
lt_run_fields(struct lt_field *fields, const struct lt_field_keys *keys, const char *json,
    size_t length, struct lt_error *err)
{
	if (read_fields(fields, keys, json, length))
		return LT_OK;
	return lt_fail(
	    err, LT_EINPUT, "not a run: \"%.*s\"", (int)(length < 40 ? length : 40), json);
}

bool
lt_field_is(const struct lt_field *field, const char *word)
{
	return field->length == strlen(word) && memcmp(field->at, word, field->length) == 0;
}

bool
lt_field_int(const struct lt_field *field, int64_t *value)
{
	char digits[24];

	if (field->length == 0 || field->length >= sizeof(digits))
		return false;
	memcpy(digits, field->at, field->length);
	digits[field->length] = '\0';
	return lt_int64_parse(digits, INT64_MIN, INT64_MAX, value, NULL) == LT_OK;
}

const char *
lt_field_text(const struct lt_field *field, struct lt_field_room *room)
{
	const size_t length = field->length < 2 ? 0 : field->length - 2;

	if (field->length < 2 || *field->at != '"')
		return "";
	if (length < sizeof(room->text) && memchr(field->at, '\\', field->length) == NULL) {
		memcpy(room->text, field->at + 1, length);
		room->text[length] = '\0';
		return room->text;
	}
	json_decref(room->large);
	room->large = json_loadb(field->at, field->length, JSON_DECODE_ANY, NULL);
	return json_is_string(room->large) ? json_string_value(room->large) : "";
}

/* True if the JSON text can stand as a cell of CSV unchanged. */
static bool
is_cell(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < '0' && text[i] != ' ' &&
		    (i == 0 || (text[i] != '-' && text[i] != '.')))
			return false;
	return memchr(text, '\\', length) == NULL && !lt_csv_seems_missing(text, length) &&
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
