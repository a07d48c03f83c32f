/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a table that an enum indexes. The table is sized by the enum's count, so that the compiler
 * sees a row too many and tests/tables.pl one too few; a value out of range, which is our bug or
 * damaged memory, is not read behind its end. Pure.
 */
#ifndef LT_LOOKUP_H
#define LT_LOOKUP_H

#include <stddef.h>

/* The word at value, otherwise where the table has none. */
static inline const char *
lt_word_of(const char *const words[], size_t count, size_t value, const char *otherwise)
{
	return value < count && words[value] != NULL ? words[value] : otherwise;
}

/* Where to read: value, or the last row if there is no row for value. */
static inline size_t
lt_row_of(size_t count, size_t value)
{
	return value < count ? value : count - 1;
}

#define LT_ROWS_OF(table) (sizeof(table) / sizeof((table)[0]))
#define LT_WORD_OR(table, value, otherwise)                                                        \
	lt_word_of(table, LT_ROWS_OF(table), (size_t)(value), otherwise)
#define LT_WORD(table, value) LT_WORD_OR(table, value, "unknown")
#define LT_ROW(table, value) ((table)[lt_row_of(LT_ROWS_OF(table), (size_t)(value))])

#endif
