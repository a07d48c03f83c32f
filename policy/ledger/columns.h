/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table's columns in one list: a row has the name of a column and where the C record has its
 * value. What is put, read and compared of a record goes by its list, so that a column more is one
 * row here, beside its migration and its member. The types are taken from the members. Pure;
 * ledger_db.c binds and reads.
 */
#ifndef LT_LEDGER_COLUMNS_H
#define LT_LEDGER_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lookup.h"

enum lt_db_column_type {
	LT_DB_COLUMN_BOOL,
	LT_DB_COLUMN_INT,
	LT_DB_COLUMN_UINT32, /* enums, too */
	LT_DB_COLUMN_INT64,
	LT_DB_COLUMN_UINT64, /* stored as int64 */
	LT_DB_COLUMN_REAL,
	LT_DB_COLUMN_TEXT, /* char[size], cut where it is longer */
};

struct lt_db_column {
	const char *name;
	enum lt_db_column_type type;
	size_t at, size;  /* of the value in the record */
	bool is_optional; /* NULL unless the bool at has_at is true */
	size_t has_at;
	unsigned int parts; /* bits that the list's owner gives a meaning */
};

struct lt_db_columns { /* of a list those that have one of the parts */
	const struct lt_db_column *list;
	int count;
	unsigned int parts; /* 0: all of them */
	size_t record_size;
};

/* A row of a list: {LT_DB_COLUMN(struct lt_x, "name", member), ...}. */
#define LT_DB_COLUMN(record, column, member)                                                       \
	.name = (column), .type = LT_DB_COLUMN_TYPE(((record *)NULL)->member),                     \
	.at = offsetof(record, member), .size = sizeof(((record *)NULL)->member)
#define LT_DB_COLUMN_HAS(record, member) .is_optional = true, .has_at = offsetof(record, member)
#define LT_DB_COLUMN_TYPE(value)                                                                   \
	_Generic((value),                                                      \
	    bool: LT_DB_COLUMN_BOOL,                                              \
	    int: LT_DB_COLUMN_INT,                                                \
	    uint32_t: LT_DB_COLUMN_UINT32,                                        \
	    int64_t: LT_DB_COLUMN_INT64,                                          \
	    uint64_t: LT_DB_COLUMN_UINT64,                                        \
	    double: LT_DB_COLUMN_REAL,                                            \
	    char *: LT_DB_COLUMN_TEXT)
#define LT_DB_COLUMNS(record, rows)                                                                \
	.list = (rows), .count = (int)LT_ROWS_OF(rows), .record_size = sizeof(record)

/* The next column after that one, the first after NULL; NULL: no more. */
static inline const struct lt_db_column *
lt_db_column_next(const struct lt_db_columns *columns, const struct lt_db_column *column)
{
	const struct lt_db_column *const end = columns->list + columns->count;

	column = column == NULL ? columns->list : column + 1;
	while (column < end && columns->parts != 0 && (column->parts & columns->parts) == 0)
		column++;
	return column < end ? column : NULL;
}

/* True if both records have the same in all these columns. */
bool lt_db_columns_equal(const struct lt_db_columns *columns, const void *a, const void *b);

#endif
