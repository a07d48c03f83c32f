/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares two records by a list of columns, as they would be stored. Reads both records. Pure;
 * nothing fails.
 */
#include <string.h>

#include "columns.h"

static bool
is_equal(const struct lt_db_column *column, const char *a, const char *b)
{
	if (column->is_optional) {
		const bool has = *(const bool *)(a + column->has_at);

		if (has != *(const bool *)(b + column->has_at))
			return false;
		if (!has)
			return true;
	}
	return column->type == LT_DB_COLUMN_TEXT
		   ? strcmp(a + column->at, b + column->at) == 0
		   : memcmp(a + column->at, b + column->at, column->size) == 0;
}

bool
lt_db_columns_equal(const struct lt_db_columns *columns, const void *a, const void *b)
{
	const struct lt_db_column *column = NULL;

	while ((column = lt_db_column_next(columns, column)) != NULL)
		if (!is_equal(column, a, b))
			return false;
	return true;
}
