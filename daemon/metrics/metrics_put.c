/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes families and samples of metrics. Money and mass are integers in memory, and are written
 * with all of their digits. Failures are those of struct lt_out.
 */
#include <stdlib.h>

#include "metrics_put.h"

/* Writes a line about the family. OpenMetrics names a counter without its suffix, the older format
 * with it. */
static void
put_about(struct lt_put *to, const char *what, const char *text)
{
	struct lt_out *const out = to->out;

	lt_out_text(out, what);
	lt_out_text(out, to->name);
	if (!to->view->is_open)
		lt_out_text(out, to->suffix);
	lt_out_text(out, " ");
	lt_out_text(out, text);
	lt_out_text(out, "\n");
}

static void
put_head(struct lt_put *to, const char *type, const char *unit, const char *help)
{
	put_about(to, "# HELP ", help);
	put_about(to, "# TYPE ", type);
	if (unit != NULL && to->view->is_open)
		put_about(to, "# UNIT ", unit);
}

void
lt_put_gauge(struct lt_put *to, const char *name, const char *unit, const char *help)
{
	to->name = name;
	to->suffix = "";
	put_head(to, "gauge", unit, help);
}

void
lt_put_counter(struct lt_put *to, const char *name, const char *unit, const char *help)
{
	to->name = name;
	to->suffix = "_total";
	put_head(to, "counter", unit, help);
}

static void
put_name(const struct lt_put *to)
{
	lt_out_text(to->out, to->name);
	if (to->suffix[0] != '\0')
		lt_out_text(to->out, to->suffix);
}

void
lt_put_label(struct lt_put *to, const char *key, const char *value)
{
	if (key[0] == '{')
		put_name(to);
	lt_out_text(to->out, key);
	lt_out_quoted(to->out, value);
}

/* Into one piece, from its end: a scrape has thousands of them. */
static void
put_value(struct lt_put *to, bool is_labelled, int64_t value, int digits)
{
	char text[32], *at = text + sizeof(text);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	*--at = '\n';
	for (int i = 0; i <= digits || left > 0; i++) {
		if (i == digits && digits > 0)
			*--at = '.';
		*--at = (char)('0' + left % 10);
		left /= 10;
	}
	if (value < 0)
		*--at = '-';
	*--at = ' ';
	if (is_labelled)
		*--at = '}';
	lt_out_bytes(to->out, at, (size_t)(text + sizeof(text) - at));
}

void
lt_put_end(struct lt_put *to, int64_t value, int digits)
{
	put_value(to, true, value, digits);
}

void
lt_put_single(struct lt_put *to, int64_t value, int digits)
{
	put_name(to);
	put_value(to, false, value, digits);
}

bool
lt_put_rows_make(
    struct lt_put_rows *rows, const struct lt_put *to, uint32_t count, lt_put_row_function *label)
{
	struct lt_put row = {.out = &rows->text, .view = to->view, .name = "", .suffix = ""};

	*rows = (struct lt_put_rows){.text = {.most = LT_METRICS_BYTES_MAX},
	    .ends = calloc((size_t)count + 1, sizeof(*rows->ends))};
	for (uint32_t i = 0; rows->ends != NULL && i < count; i++) {
		label(&row, i);
		rows->ends[i + 1] = rows->text.length;
	}
	to->out->failed |= rows->ends == NULL || rows->text.failed;
	return !to->out->failed;
}

void
lt_put_row(struct lt_put *to, const struct lt_put_rows *rows, uint32_t index)
{
	put_name(to);
	lt_out_bytes(to->out, rows->text.bytes + rows->ends[index],
	    rows->ends[index + 1] - rows->ends[index]);
}

void
lt_put_rows_free(struct lt_put_rows *rows)
{
	lt_out_free(&rows->text);
	free(rows->ends);
}
