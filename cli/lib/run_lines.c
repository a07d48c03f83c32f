/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs out of an answer: all up to the first line end is its head; then each
 * line is a run and perhaps a comma, but the one that begins with the bracket
 * that ends them. Head and tail together are the answer without its runs.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "run_lines.h"

enum { REST_MAX = 16 * 1024 * 1024 }; /* also of one line */

static bool
put(struct lt_run_lines *lines, struct lt_bytes *to, const char *bytes,
    size_t length)
{
	if (length > REST_MAX - to->length) {
		lt_fail(&lines->err, LT_ELIMIT,
		    "lowtided's answer has more than %d bytes beside the runs",
		    REST_MAX);
		return false;
	}
	while (to->length + length >= to->capacity) {
		char *const grown =
		    lt_items_grow(to->bytes, &to->capacity, to->capacity, 1);

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

/* A whole line, without its end. */
static bool
take_line(struct lt_run_lines *lines, const char *line, size_t length)
{
	if (!lines->in_runs || (length > 0 && line[0] == ']')) {
		lines->in_runs = true;
		return put(lines, &lines->rest, line, length);
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
		} else if (!put(lines, line, bytes, count) ||
			   !take_line(lines, line->bytes, line->length)) {
			return false;
		}
		line->length = 0;
		bytes = eol + 1;
	}
	return put(lines, line, bytes, (size_t)(end - bytes));
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

	return put(lines, &lines->rest, line->length > 0 ? line->bytes : "",
		   line->length)
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
