/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CSV (RFC 4180, with comma, semicolon or tab), row by row over the bytes:
 * the header names the columns. For the adapters of files and price lists, and for invoices.
 */
#ifndef LT_CSV_H
#define LT_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum {
	LT_CSV_CELL_SIZE = 2048,   /* of a wanted cell; longer: cut, and said */
	LT_CSV_COLUMNS_MAX = 1024, /* refused; an AWS bill has some hundreds */
	LT_CSV_WANTED_MAX = 32,
};

struct lt_csv_column {
	const char *name; /* NULL = not wanted */
	bool required;
};

struct lt_csv { /* lt_csv_start() */
	const char *at, *end, *line_start;
	char separator;
	bool any_case; /* of columns' names; set after lt_csv_start() */
	int line;
	int column_count;	      /* of the header */
	int wanted_count;	      /* of lt_csv_header() */
	int index[LT_CSV_WANTED_MAX]; /* of a wanted column; -1 = none */
	/* The first wanted one of a column, and the next of the same; -1. */
	signed char first[LT_CSV_COLUMNS_MAX], next[LT_CSV_WANTED_MAX];
	/* The cell that was read last. */
	char cell[LT_CSV_CELL_SIZE];
	int cell_line, cell_column;
	bool last_of_row, too_long, unclosed;
};

struct lt_csv_row {
	char cells[LT_CSV_WANTED_MAX][LT_CSV_CELL_SIZE]; /* "" = not there */
	int line, cell_count;				 /* 0 cells: the file has ended */
	int long_line, long_column; /* of a wanted cell that is cut; 0 = none */
};

/* A UTF-8 BOM is skipped. The bytes must outlive csv. */
void lt_csv_start(struct lt_csv *csv, const char *bytes, size_t byte_count);
/* Lines before the header. */
int lt_csv_skip(struct lt_csv *csv, int line_count, struct lt_error *err);
/* Find the wanted columns; of all else the cells may be of any length. An error of these two has
 * line and column. */
int lt_csv_header(struct lt_csv *csv, const struct lt_csv_column *columns, int column_count,
    struct lt_error *err);
/* The next row that is not blank. */
int lt_csv_row(struct lt_csv *csv, struct lt_csv_row *row, struct lt_error *err);
/* Between two rows: go on in these bytes, which begin with the next row. For a file that is read
 * piece by piece. */
void lt_csv_move(struct lt_csv *csv, const char *bytes, size_t byte_count);

#endif
