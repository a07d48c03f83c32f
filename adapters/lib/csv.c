/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes to cells, cells to rows of the columns that are wanted. Between a file or an answer and an
 * adapter's parse; nothing is allocated.
 */
#include <string.h>
#include <strings.h>

#include "csv.h"
#include "text_mend.h"

static void
next_line(struct lt_csv *csv)
{
	csv->line++;
	csv->line_start = csv->at;
}

/* Skips the separator or the end of the line that ends a cell. */
static void
cell_end(struct lt_csv *csv)
{
	csv->last_of_row = true;
	if (csv->at == csv->end)
		return;
	if (*csv->at == csv->separator) {
		csv->at++;
		csv->last_of_row = false;
		return;
	}
	if (*csv->at == '\r')
		csv->at++;
	if (csv->at < csv->end && *csv->at == '\n')
		csv->at++;
	next_line(csv);
}

static bool
is_cell_end(const struct lt_csv *csv)
{
	return csv->at == csv->end || *csv->at == csv->separator || *csv->at == '\r' ||
	       *csv->at == '\n';
}

static void
cell_put(struct lt_csv *csv, size_t *length, char byte)
{
	if (*length + 1 < sizeof(csv->cell)) /* NUL would hide the rest */
		csv->cell[(*length)++] = byte == '\0' ? '?' : byte;
	else
		csv->too_long = true;
}

/* Reads the quoted part of a cell; "" inside is one quote. */
static void
quoted(struct lt_csv *csv, size_t *length)
{
	csv->at++;
	while (csv->at < csv->end) {
		const char byte = *csv->at++;

		if (byte == '"' && (csv->at == csv->end || *csv->at != '"'))
			return;
		if (byte == '"')
			csv->at++;
		if (byte == '\n')
			next_line(csv);
		cell_put(csv, length, byte);
	}
	csv->unclosed = true;
}

/* Reads a cell, without blanks around it. A quote within it is a letter: 5" and a 6" further down
 * must not make one cell of two rows. */
static void
cell_next(struct lt_csv *csv)
{
	size_t length = 0;

	csv->too_long = false;
	while (csv->at < csv->end && *csv->at == ' ')
		csv->at++;
	csv->cell_line = csv->line;
	csv->cell_column = (int)(csv->at - csv->line_start) + 1;
	if (csv->at < csv->end && *csv->at == '"')
		quoted(csv, &length);
	while (!is_cell_end(csv))
		cell_put(csv, &length, *csv->at++);
	while (length > 0 && csv->cell[length - 1] == ' ')
		length--;
	csv->cell[length] = '\0';
	cell_end(csv);
}

/* Returns the separator that is most frequent in the header: comma, semicolon or tab. */
static char
find_separator(const struct lt_csv *csv)
{
	static const char separators[] = ",;\t";
	int counts[sizeof(separators)] = {0}, best = 0;

	for (const char *at = csv->at; at < csv->end && *at != '\n' && *at != '\r'; at++)
		for (int i = 0; separators[i] != '\0'; i++)
			counts[i] += *at == separators[i];
	for (int i = 1; separators[i] != '\0'; i++)
		if (counts[i] > counts[best])
			best = i;
	return separators[best];
}

/* Fails at the place of the cell that was read last. */
static int
fail_at(const struct lt_csv *csv, int code, struct lt_error *err)
{
	lt_error_at(err, csv->cell_line, csv->cell_column);
	return code;
}

/* Fails for a quote that is not closed: it would hide all that follows. */
static int
unclosed_fail(const struct lt_csv *csv, struct lt_error *err)
{
	lt_fail(err, LT_EINPUT, "a quote that is never closed");
	return fail_at(csv, LT_EINPUT, err);
}

/* Takes one header cell, if it is a column that we want. */
static int
header_cell(struct lt_csv *csv, const struct lt_csv_column *columns, struct lt_error *err)
{
	csv->first[csv->column_count] = -1;
	for (int i = csv->wanted_count - 1; i >= 0; i--) {
		if (columns[i].name == NULL || csv->too_long ||
		    (csv->any_case ? strcasecmp(csv->cell, columns[i].name)
				   : strcmp(csv->cell, columns[i].name)) != 0)
			continue;
		if (csv->index[i] >= 0) {
			lt_fail(err, LT_EINPUT, "two columns \"%s\"", columns[i].name);
			return fail_at(csv, LT_EINPUT, err);
		}
		csv->index[i] = csv->column_count;
		csv->next[i] = csv->first[csv->column_count];
		csv->first[csv->column_count] = (signed char)i;
	}
	return LT_OK;
}

static int
header_missing(const char *want, const char *names, int line, struct lt_error *err)
{
	lt_fail(err, LT_EINPUT, "no column \"%s\", the header has: %s", want, names);
	lt_error_at(err, line, 1);
	return LT_EINPUT;
}

static void
names_add(char *names, size_t size, const char *name)
{
	const size_t length = strlen(names);

	if (length + strlen(name) + sizeof(", ") > size)
		return;
	if (length > 0)
		strcat(names, ", ");
	strcat(names, name);
}

void
lt_csv_start(struct lt_csv *csv, const char *bytes, size_t byte_count)
{
	*csv =
	    (struct lt_csv){.at = bytes, .end = bytes + byte_count, .line_start = bytes, .line = 1};
	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		csv->at = csv->line_start = bytes + 3;
}

int
lt_csv_skip(struct lt_csv *csv, int line_count, struct lt_error *err)
{
	for (int i = 0; i < line_count; i++) {
		const char *const newline = memchr(csv->at, '\n', (size_t)(csv->end - csv->at));

		if (newline == NULL)
			return lt_fail(err, LT_EINPUT, "%d lines, want more than the %d to skip",
			    i + 1, line_count);
		csv->at = newline + 1;
		next_line(csv);
	}
	return LT_OK;
}

int
lt_csv_header(
    struct lt_csv *csv, const struct lt_csv_column *columns, int column_count, struct lt_error *err)
{
	const int line = csv->line;
	char names[256] = "";

	csv->wanted_count = column_count;
	memset(csv->index, -1, sizeof(csv->index));
	csv->separator = find_separator(csv);
	do {
		if (csv->column_count == LT_CSV_COLUMNS_MAX)
			return lt_fail(err, LT_ELIMIT, "more than %d columns", LT_CSV_COLUMNS_MAX);
		cell_next(csv);
		names_add(names, sizeof(names), csv->cell);
		if (header_cell(csv, columns, err) != LT_OK)
			return LT_EINPUT;
		csv->column_count++;
	} while (!csv->last_of_row);
	if (csv->unclosed)
		return unclosed_fail(csv, err);
	for (int i = 0; i < column_count; i++)
		if (columns[i].required && csv->index[i] < 0)
			return header_missing(columns[i].name, names, line, err);
	return LT_OK;
}

/* Keeps the cell that was read last, if it is wanted. */
static void
keep_cell(const struct lt_csv *csv, struct lt_csv_row *row)
{
	if (row->cell_count >= csv->column_count)
		return;
	for (int i = csv->first[row->cell_count]; i >= 0; i = csv->next[i]) {
		strcpy(row->cells[i], csv->cell);
		if (csv->too_long && row->long_line == 0) {
			row->long_line = csv->cell_line;
			row->long_column = csv->cell_column;
		}
	}
}

static int
read_row(struct lt_csv *csv, struct lt_csv_row *row, struct lt_error *err)
{
	for (int i = 0; i < csv->wanted_count; i++)
		row->cells[i][0] = '\0';
	row->cell_count = row->long_line = row->long_column = 0;
	row->line = csv->line;
	do {
		cell_next(csv);
		if (csv->unclosed)
			return unclosed_fail(csv, err);
		keep_cell(csv, row);
		if (row->cell_count++ == LT_CSV_COLUMNS_MAX) {
			lt_fail(err, LT_ELIMIT, "more than %d cells", LT_CSV_COLUMNS_MAX);
			return fail_at(csv, LT_ELIMIT, err);
		}
	} while (!csv->last_of_row);
	return LT_OK;
}

int
lt_csv_row(struct lt_csv *csv, struct lt_csv_row *row, struct lt_error *err)
{
	while (csv->at < csv->end) {
		const int code = read_row(csv, row, err);

		if (code != LT_OK || row->cell_count > 1 || csv->cell[0] != '\0')
			return code;
	}
	row->cell_count = 0;
	return LT_OK;
}

void
lt_csv_move(struct lt_csv *csv, const char *bytes, size_t byte_count)
{
	csv->at = csv->line_start = bytes;
	csv->end = bytes + byte_count;
}
