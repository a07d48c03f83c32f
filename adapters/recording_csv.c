/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CSV to rows of a recording: the columns that the options name, every error
 * with the line and column of its cell.
 */
#include "csv.h"
#include "recording.h"

enum { COLUMN_TIME, COLUMN_VALUE, COLUMN_END, COLUMN_COUNT };

static int
row_check(const struct lt_csv *csv, const struct lt_csv_row *row,
    struct lt_error *err)
{
	if (row->long_line != 0) {
		lt_fail(err, LT_ELIMIT, "a cell of more than %d bytes",
		    LT_CSV_CELL_SIZE - 1);
		lt_error_at(err, row->long_line, row->long_column);
		return LT_ELIMIT;
	}
	if (row->cell_count > csv->index[COLUMN_TIME] &&
	    row->cell_count > csv->index[COLUMN_VALUE])
		return LT_OK;
	lt_fail(err, LT_EINPUT, "a row of %d cells, the header has more",
	    row->cell_count);
	lt_error_at(err, row->line, 1);
	return LT_EINPUT;
}

static int
read_rows(struct lt_csv *csv, const struct lt_recording *recording,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_csv_row row;

	for (;;) {
		int code = lt_csv_row(csv, &row, err);

		if (code != LT_OK || row.cell_count == 0)
			return code;
		code = row_check(csv, &row, err);
		if (code != LT_OK)
			return code;
		code = lt_recording_row(recording,
		    &(struct lt_recording_row){row.cells[COLUMN_TIME],
			row.cells[COLUMN_VALUE], row.cells[COLUMN_END]},
		    points, err);
		if (code != LT_OK) {
			lt_error_at(err, row.line, 1);
			return code;
		}
	}
}

int
lt_recording_csv(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err)
{
	const struct lt_csv_column columns[COLUMN_COUNT] = {
	    [COLUMN_TIME] = {recording->time, true},
	    [COLUMN_VALUE] = {recording->value, true},
	    [COLUMN_END] = {recording->end, recording->end != NULL},
	};
	struct lt_csv csv;
	int code;

	lt_csv_start(&csv, bytes, byte_count);
	code = lt_csv_skip(&csv, recording->skip, err);
	if (code == LT_OK)
		code = lt_csv_header(&csv, columns, COLUMN_COUNT, err);
	return code != LT_OK ? code : read_rows(&csv, recording, points, err);
}
