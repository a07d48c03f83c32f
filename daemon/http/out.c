/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes text and JSON into a struct lt_out: numbers, quoted strings, times, and keys with their
 * values. Ten million rows pass here, so there is no printf() on their way. Without memory, beyond
 * the bound, or if the reader is gone, out->failed is set and what follows is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "date.h"
#include "out.h"
#include "text.h"
#include "units.h"

void
lt_out_flush(struct lt_out *out)
{
	if (out->take == NULL || out->failed || out->length == 0)
		return;
	out->failed = !out->take(out->context, out->bytes, out->length);
	out->taken = true;
	out->length = 0;
}

/* Makes room for length more bytes; false beyond the bound or without memory. */
static bool
grow(struct lt_out *out, size_t length)
{
	const size_t most = out->take != NULL ? LT_OUT_PIECE : out->most;
	size_t capacity = out->capacity > 0 ? out->capacity : 4096;

	while (capacity < out->length + length)
		capacity *= 2;
	if (out->length + length > most)
		return false;
	char *const grown = realloc(out->bytes, capacity < most ? capacity : most);

	if (grown == NULL)
		return false;
	out->bytes = grown;
	out->capacity = capacity < most ? capacity : most;
	return true;
}

void
lt_out_bytes(struct lt_out *out, const char *bytes, size_t length)
{
	while (length > 0 && !out->failed) {
		size_t part = length;

		if (out->take != NULL && out->length == LT_OUT_PIECE)
			lt_out_flush(out);
		if (out->take != NULL && part > LT_OUT_PIECE - out->length)
			part = LT_OUT_PIECE - out->length;
		if (part > out->capacity - out->length && !grow(out, part)) {
			out->failed = true;
			return;
		}
		memcpy(out->bytes + out->length, bytes, part);
		out->length += part;
		bytes += part;
		length -= part;
	}
}

void
lt_out_text(struct lt_out *out, const char *text)
{
	lt_out_bytes(out, text, strlen(text));
}

void
lt_out_int(struct lt_out *out, int64_t value)
{
	char text[24], *at = text + sizeof(text);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (value < 0)
		*--at = '-';
	lt_out_bytes(out, at, (size_t)(text + sizeof(text) - at));
}

static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text > '~' || *text == '"' ||
		    *text == '\\')
			return false;
	return true;
}

/* Writes '?' for controls and bytes that are not UTF-8, as on a terminal. */
void
lt_out_quoted(struct lt_out *out, const char *text)
{
	char line[256];

	lt_out_bytes(out, "\"", 1);
	if (is_plain(text)) {
		lt_out_text(out, text);
	} else {
		(void)snprintf(line, sizeof(line), "%s", text);
		lt_text_line(line);
		for (const char *at = line; *at != '\0'; at++) {
			if (*at == '"' || *at == '\\')
				lt_out_bytes(out, "\\", 1);
			lt_out_bytes(out, at, 1);
		}
	}
	lt_out_bytes(out, "\"", 1);
}

static void
put_digits(char *to, int count, int64_t value)
{
	while (count-- > 0) {
		to[count] = (char)('0' + value % 10);
		value /= 10;
	}
}

void
lt_out_time(struct lt_out *out, int64_t utc_s)
{
	char text[] = "\"0000-00-00T00:00:00Z\"";

	if (utc_s <= 0) { /* no run has ended before 1970 */
		lt_out_text(out, "null");
		return;
	}
	const int64_t day = lt_day_of_second(utc_s);
	const int64_t of_day = utc_s - day * LT_DAY_S;
	const struct lt_date date = lt_date_of_day(day);
	put_digits(text + 1, 4, date.year);
	put_digits(text + 6, 2, date.month);
	put_digits(text + 9, 2, date.day);
	put_digits(text + 12, 2, of_day / 3600);
	put_digits(text + 15, 2, of_day / 60 % 60);
	put_digits(text + 18, 2, of_day % 60);
	lt_out_bytes(out, text, sizeof(text) - 1);
}

void
lt_out_put_int(struct lt_out *out, const char *key, bool has, int64_t value)
{
	lt_out_text(out, key);
	if (has)
		lt_out_int(out, value);
	else
		lt_out_text(out, "null");
}

void
lt_out_put_text(struct lt_out *out, const char *key, const char *text)
{
	lt_out_text(out, key);
	lt_out_quoted(out, text);
}

void
lt_out_put_known(struct lt_out *out, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0') {
		lt_out_put_text(out, key, text);
	} else {
		lt_out_text(out, key);
		lt_out_text(out, "null");
	}
}

void
lt_out_put_time(struct lt_out *out, const char *key, int64_t utc_s)
{
	lt_out_text(out, key);
	lt_out_time(out, utc_s);
}

void
lt_out_json(struct lt_out *out, json_t *json)
{
	char *const text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	if (text != NULL)
		lt_out_text(out, text);
	else
		out->failed = true;
	free(text);
	json_decref(json);
}

int
lt_out_error(struct lt_out *out, int status, const char *text)
{
	json_t *json = NULL;

	out->length = 0;
	out->failed = false;
	(void)lt_api_error(&json, status, "%s", text);
	lt_out_json(out, json);
	return status;
}

void
lt_out_free(struct lt_out *out)
{
	free(out->bytes);
	out->bytes = NULL;
	out->length = out->capacity = 0;
}
