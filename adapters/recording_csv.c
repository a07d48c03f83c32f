/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CSV (RFC 4180, with comma, semicolon or tab) to rows of a recording: the
 * header names the columns, every error has line and column of its cell.
 */
#include <string.h>

#include "recording.h"

struct reader {
	const char *at, *end, *line_start;
	char separator;
	int line;
	/* The cell that was read last. */
	char cell[LT_RECORDING_CELL_SIZE];
	int cell_line, cell_column;
	bool last_of_row, too_long, unclosed;
};

struct columns { /* indexes; -1 = not there */
	int time, value, end;
};

static void
next_line(struct reader *reader)
{
	reader->line++;
	reader->line_start = reader->at;
}

/* Skip the separator or the end of the line that ends a cell. */
static void
cell_end(struct reader *reader)
{
	reader->last_of_row = true;
	if (reader->at == reader->end)
		return;
	if (*reader->at == reader->separator) {
		reader->at++;
		reader->last_of_row = false;
		return;
	}
	if (*reader->at == '\r')
		reader->at++;
	if (reader->at < reader->end && *reader->at == '\n')
		reader->at++;
	next_line(reader);
}

static bool
is_cell_end(const struct reader *reader)
{
	return reader->at == reader->end || *reader->at == reader->separator ||
	       *reader->at == '\r' || *reader->at == '\n';
}

static void
cell_put(struct reader *reader, size_t *length, char byte)
{
	if (*length + 1 < sizeof(reader->cell)) /* NUL would hide the rest */
		reader->cell[(*length)++] = byte == '\0' ? '?' : byte;
	else
		reader->too_long = true;
}

/* The quoted part of a cell; "" inside is one quote. */
static void
quoted(struct reader *reader, size_t *length)
{
	reader->at++;
	while (reader->at < reader->end) {
		const char byte = *reader->at++;

		if (byte == '"' &&
		    (reader->at == reader->end || *reader->at != '"'))
			return;
		if (byte == '"')
			reader->at++;
		if (byte == '\n')
			next_line(reader);
		cell_put(reader, length, byte);
	}
	reader->unclosed = true;
}

/* Blanks around a cell are not part of it. */
static void
cell_next(struct reader *reader)
{
	size_t length = 0;

	reader->too_long = false;
	while (reader->at < reader->end && *reader->at == ' ')
		reader->at++;
	reader->cell_line = reader->line;
	reader->cell_column = (int)(reader->at - reader->line_start) + 1;
	while (!is_cell_end(reader)) {
		if (*reader->at == '"') {
			quoted(reader, &length);
			continue;
		}
		cell_put(reader, &length, *reader->at++);
	}
	while (length > 0 && reader->cell[length - 1] == ' ')
		length--;
	reader->cell[length] = '\0';
	cell_end(reader);
}

/* Of comma, semicolon and tab, the one that the header has most of. */
static char
find_separator(const struct reader *reader)
{
	static const char separators[] = ",;\t";
	int counts[sizeof(separators)] = {0}, best = 0;

	for (const char *at = reader->at;
	     at < reader->end && *at != '\n' && *at != '\r'; at++)
		for (int i = 0; separators[i] != '\0'; i++)
			counts[i] += *at == separators[i];
	for (int i = 1; separators[i] != '\0'; i++)
		if (counts[i] > counts[best])
			best = i;
	return separators[best];
}

/* Where the cell stands that was read last. */
static int
fail_at(const struct reader *reader, int code, struct lt_error *err)
{
	lt_error_at(err, reader->cell_line, reader->cell_column);
	return code;
}

/* It would hide all that follows. */
static int
unclosed_fail(const struct reader *reader, struct lt_error *err)
{
	lt_fail(err, LT_EINPUT, "a quote that is never closed");
	return fail_at(reader, LT_EINPUT, err);
}

/* One header cell: is it a column that we want? */
static int
header_cell(const struct reader *reader, const char *want, int index,
    int *column, struct lt_error *err)
{
	if (want == NULL || reader->too_long || strcmp(reader->cell, want) != 0)
		return LT_OK;
	if (*column >= 0) {
		lt_fail(err, LT_EINPUT, "two columns \"%s\"", want);
		return fail_at(reader, LT_EINPUT, err);
	}
	*column = index;
	return LT_OK;
}

static int
header_missing(
    const char *want, const char *names, int line, struct lt_error *err)
{
	lt_fail(err, LT_EINPUT, "no column \"%s\", the header has: %s", want,
	    names);
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

static int
read_header(struct reader *reader, const struct lt_recording *recording,
    struct columns *columns, struct lt_error *err)
{
	const int line = reader->line;
	char names[256] = "";

	*columns = (struct columns){-1, -1, -1};
	for (int i = 0; i == 0 || !reader->last_of_row; i++) {
		if (i == LT_RECORDING_COLUMNS_MAX)
			return lt_fail(err, LT_ELIMIT, "more than %d columns",
			    LT_RECORDING_COLUMNS_MAX);
		cell_next(reader);
		names_add(names, sizeof(names), reader->cell);
		if (header_cell(reader, recording->time, i, &columns->time,
			err) != LT_OK ||
		    header_cell(reader, recording->value, i, &columns->value,
			err) != LT_OK ||
		    header_cell(
			reader, recording->end, i, &columns->end, err) != LT_OK)
			return LT_EINPUT;
	}
	if (reader->unclosed)
		return unclosed_fail(reader, err);
	if (columns->time < 0)
		return header_missing(recording->time, names, line, err);
	if (columns->value < 0)
		return header_missing(recording->value, names, line, err);
	if (recording->end != NULL && columns->end < 0)
		return header_missing(recording->end, names, line, err);
	return LT_OK;
}

struct row { /* the cells that we want, and where they stand */
	char cells[3][LT_RECORDING_CELL_SIZE];
	int line, cell_count;
};

/* Cells that are not ours may be of any length. */
static int
read_row(struct reader *reader, const int wanted[3], struct row *row,
    struct lt_error *err)
{
	memset(row, 0, sizeof(*row));
	row->line = reader->line;
	do {
		cell_next(reader);
		if (reader->unclosed)
			return unclosed_fail(reader, err);
		for (int i = 0; i < 3; i++) {
			if (row->cell_count != wanted[i])
				continue;
			if (reader->too_long) {
				lt_fail(err, LT_ELIMIT,
				    "a cell of more than %d bytes",
				    LT_RECORDING_CELL_SIZE - 1);
				return fail_at(reader, LT_ELIMIT, err);
			}
			strcpy(row->cells[i], reader->cell);
		}
		if (row->cell_count++ == LT_RECORDING_COLUMNS_MAX) {
			lt_fail(err, LT_ELIMIT, "more than %d cells",
			    LT_RECORDING_COLUMNS_MAX);
			return fail_at(reader, LT_ELIMIT, err);
		}
	} while (!reader->last_of_row);
	return LT_OK;
}

static int
read_rows(struct reader *reader, const struct lt_recording *recording,
    const struct columns *columns, struct lt_points *points,
    struct lt_error *err)
{
	const int wanted[3] = {columns->time, columns->value, columns->end};
	struct row row;

	while (reader->at < reader->end) {
		int code = read_row(reader, wanted, &row, err);

		if (code != LT_OK)
			return code;
		if (row.cell_count == 1 && reader->cell[0] == '\0')
			continue; /* a blank line */
		if (row.cell_count <= columns->time ||
		    row.cell_count <= columns->value) {
			lt_fail(err, LT_EINPUT,
			    "a row of %d cells, the header has more",
			    row.cell_count);
			lt_error_at(err, row.line, 1);
			return LT_EINPUT;
		}
		code = lt_recording_row(recording, row.cells[0], row.cells[1],
		    row.cells[2], points, err);
		if (code != LT_OK) {
			lt_error_at(err, row.line, 1);
			return code;
		}
	}
	return LT_OK;
}

int
lt_recording_csv(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err)
{
	struct reader reader = {.at = bytes,
	    .end = bytes + byte_count,
	    .line_start = bytes,
	    .line = 1};
	struct columns columns;

	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		reader.at = reader.line_start = bytes + 3;
	for (int i = 0; i < recording->skip; i++) {
		const char *const newline =
		    memchr(reader.at, '\n', (size_t)(reader.end - reader.at));

		if (newline == NULL)
			return lt_fail(err, LT_EINPUT,
			    "%d lines, want more than the %d to skip", i + 1,
			    recording->skip);
		reader.at = newline + 1;
		next_line(&reader);
	}
	reader.separator = find_separator(&reader);
	const int code = read_header(&reader, recording, &columns, err);
	return code != LT_OK
		   ? code
		   : read_rows(&reader, recording, &columns, points, err);
}
