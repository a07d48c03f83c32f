/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CSV reader: columns by name, cells of any length between those that are wanted, rows that do
 * not fit, and where an error is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "csv.h"

#define A31 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A124 A31 A31 A31 A31
#define A496 A124 A124 A124 A124
#define A2046 A496 A496 A496 A496 A31 A31

static const struct {
	const char *why, *bytes;
	int skip;
	const char *says; /* NULL = good */
	int line, column;
	/* Of the last row. */
	const char *b, *c;
	int rows, row_line, cell_count, long_line, long_column;
} cases[] = {
    {.why = "in another order, with others between",
	.bytes = "x,c,y,b\n1,2,3,4\n",
	.b = "4",
	.c = "2",
	.rows = 1,
	.row_line = 2,
	.cell_count = 4},
    {.why = "one that may be missing",
	.bytes = "b\n7\n",
	.b = "7",
	.c = "",
	.rows = 1,
	.row_line = 2,
	.cell_count = 1},
    {.why = "one that must not",
	.bytes = "a,c\n1,2\n",
	.says = "no column \"b\", the header has: a, c",
	.line = 1,
	.column = 1},
    {.why = "nothing", .bytes = "", .says = "no column \"b\"", .line = 1, .column = 1},
    {.why = "twice", .bytes = "b,c,\"b\"\n", .says = "two columns \"b\"", .line = 1, .column = 5},
    {.why = "no rows", .bytes = "b,c", .rows = 0},
    {.why = "quotes, separators and lines in cells",
	.bytes = "\xEF\xBB\xBF"
		 "b;c\r\n\"1;\"\"2\"\"\n3\"; 4 \r\n",
	.b = "1;\"2\"\n3",
	.c = "4",
	.rows = 1,
	.row_line = 2,
	.cell_count = 2},
    {.why = "rows shorter and longer than the header, blank lines",
	.bytes = "b,c\n\n1\n \n1,2,3\n\n",
	.b = "1",
	.c = "2",
	.rows = 2,
	.row_line = 5,
	.cell_count = 3},
    {.why = "lines before the header",
	.bytes = "hello\n\"\nb,c\n1,2\n",
	.skip = 2,
	.b = "1",
	.c = "2",
	.rows = 1,
	.row_line = 4,
	.cell_count = 2},
    {.why = "more of them than there are",
	.bytes = "b,c\n1,2",
	.skip = 2,
	.says = "2 lines, want more than the 2 to skip"},
    {.why = "the longest cell",
	.bytes = "b,c\n" A2046 "b,2\n",
	.b = A2046 "b",
	.c = "2",
	.rows = 1,
	.row_line = 2,
	.cell_count = 2},
    {.why = "a longer cell is cut, and said",
	.bytes = "b,c\n1," A2046 "bc\n",
	.b = "1",
	.c = A2046 "b",
	.rows = 1,
	.row_line = 2,
	.cell_count = 2,
	.long_line = 2,
	.long_column = 3},
    {.why = "where nobody wants it, it may be long",
	.bytes = "x,b\n" A2046 "bc,2\n",
	.b = "2",
	.c = "",
	.rows = 1,
	.row_line = 2,
	.cell_count = 2},
    {.why = "a quote within a cell is a letter, and hides no row",
	.bytes = "x,b\n5\" disk,1\n6\" disk,2\n",
	.b = "2",
	.c = "",
	.rows = 2,
	.row_line = 3,
	.cell_count = 2},
    {.why = "what stands after a closing quote",
	.bytes = "b,c\n\"1\"2\"3,4\n",
	.b = "12\"3",
	.c = "4",
	.rows = 1,
	.row_line = 2,
	.cell_count = 2},
    {.why = "a quote that stays open",
	.bytes = "b,c\n1,2\n3,\"4\n5,6\n",
	.says = "a quote that is never closed",
	.line = 3,
	.column = 3},
    {.why = "in the header",
	.bytes = "b,\"c\n1,2\n",
	.says = "a quote that is never closed",
	.line = 1,
	.column = 3},
};

static void
test_rows(void **state)
{
	static const struct lt_csv_column columns[] = {{"b", true}, {"c", false}, {NULL, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_csv csv;
		struct lt_csv_row row = {0}, last = {0};
		struct lt_error err = {0};
		int rows = -1, code;

		lt_csv_start(&csv, cases[i].bytes, strlen(cases[i].bytes));
		code = lt_csv_skip(&csv, cases[i].skip, &err);
		if (code == LT_OK)
			code = lt_csv_header(&csv, columns, 3, &err);
		do {
			last = row;
			rows++;
			if (code == LT_OK)
				code = lt_csv_row(&csv, &row, &err);
		} while (code == LT_OK && row.cell_count > 0);
		if (cases[i].says != NULL) {
			if (code == LT_OK || err.line != cases[i].line ||
			    err.column != cases[i].column ||
			    strstr(err.text, cases[i].says) == NULL)
				fail_msg("%s: %d, %d:%d %s", cases[i].why, code, err.line,
				    err.column, err.text);
			continue;
		}
		if (code != LT_OK || rows != cases[i].rows)
			fail_msg("%s: %d, %d rows, %s", cases[i].why, code, rows, err.text);
		if (rows > 0 &&
		    (strcmp(last.cells[0], cases[i].b) != 0 ||
			strcmp(last.cells[1], cases[i].c) != 0 || last.line != cases[i].row_line ||
			last.cell_count != cases[i].cell_count ||
			last.long_line != cases[i].long_line ||
			last.long_column != cases[i].long_column))
			fail_msg("%s: \"%s\", \"%s\", line %d, %d cells, "
				 "long %d:%d",
			    cases[i].why, last.cells[0], last.cells[1], last.line, last.cell_count,
			    last.long_line, last.long_column);
	}
}

static void
test_limits(void **state)
{
	static const struct lt_csv_column columns[] = {{"b", true}};
	char header[2 * LT_CSV_COLUMNS_MAX + 4] = "b", many[sizeof(header)];
	char bytes[2 * sizeof(header) + 4];
	struct lt_csv csv;
	struct lt_csv_row row;
	struct lt_error err = {0};

	(void)state;
	memset(many, ',', sizeof(many));
	many[LT_CSV_COLUMNS_MAX] = '\0'; /* 1025 cells */
	snprintf(bytes, sizeof(bytes), "b%s\n", many);
	lt_csv_start(&csv, bytes, strlen(bytes));
	assert_int_equal(lt_csv_header(&csv, columns, 1, &err), LT_ELIMIT);
	assert_non_null(strstr(err.text, "more than 1024 columns"));

	err = (struct lt_error){0};
	snprintf(bytes, sizeof(bytes), "b%s\n1%s\n", many + 1, many);
	lt_csv_start(&csv, bytes, strlen(bytes));
	assert_int_equal(lt_csv_header(&csv, columns, 1, &err), LT_OK);
	assert_int_equal(csv.column_count, 1024);
	assert_int_equal(lt_csv_row(&csv, &row, &err), LT_ELIMIT);
	assert_int_equal(err.line, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
