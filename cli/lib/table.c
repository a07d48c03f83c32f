/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text tables with aligned columns, CSV cells, and rounding of a column to whole cents. The texts
 * came from elsewhere: nothing in them may steer a terminal or a spreadsheet. A table without
 * memory for a row says so below its rows.
 *
 * Not libsmartcols: it has no rule above a total and no mark where it cuts, and writes UTF-8 as
 * "\xc3" in the C locale.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "currency.h"
#include "text.h"
#include "units.h"

enum { ROWS_MAX = 65536, CELL_MAX = 512, CUT_MIN = 8, PROSE_MIN = 16 };

__extension__ typedef __int128 wide;

struct lt_table {
	const struct lt_table_column *columns;
	int column_count, row_count, row_capacity;
	int rule_before;  /* row index; -1 = none */
	int fit;	  /* columns of a line; 0 = any */
	unsigned gives;	  /* bits of the columns that may be cut */
	const int *drops; /* columns that may be left out, in order */
	bool prose;	  /* the last column may take several lines */
	bool failed;	  /* a row was lost: printed below */
	char **cells;	  /* row_count * column_count */
};

void
lt_print_safe(FILE *out, const char *text)
{
	char *const safe = strdup(text);

	if (safe == NULL)
		return; /* never print it unchecked */
	lt_text_lines(safe);
	fputs(safe, out);
	free(safe);
}

struct lt_table *
lt_table_new(const struct lt_table_column *columns)
{
	struct lt_table *const table = calloc(1, sizeof(*table));

	if (table == NULL)
		return NULL;
	table->columns = columns;
	table->rule_before = -1;
	while (table->column_count < LT_TABLE_COLUMNS_MAX &&
	       columns[table->column_count].title != NULL)
		table->column_count++;
	return table;
}

static bool
make_room(struct lt_table *table)
{
	if (table->row_count < table->row_capacity)
		return true;
	if (table->row_count >= ROWS_MAX)
		return false;
	const int capacity = table->row_capacity ? table->row_capacity * 2 : 16;
	char **const cells =
	    realloc(table->cells, (size_t)capacity * (size_t)table->column_count * sizeof(*cells));

	if (cells == NULL)
		return false;
	table->cells = cells;
	table->row_capacity = capacity;
	return true;
}

void
lt_table_row(struct lt_table *table, const char *const *cells)
{
	if (table->failed || !make_room(table)) {
		table->failed = true;
		return;
	}
	char **const row = table->cells + (size_t)table->row_count * (size_t)table->column_count;

	for (int i = 0; i < table->column_count; i++) {
		row[i] = strndup(cells[i] != NULL ? cells[i] : "-", CELL_MAX);
		if (row[i] == NULL) {
			while (i-- > 0)
				free(row[i]);
			table->failed = true;
			return;
		}
		lt_text_line(row[i]);
	}
	table->row_count++;
}

void
lt_table_rule(struct lt_table *table)
{
	table->rule_before = table->row_count;
}

/* Prints the first width code points; if that cuts the text, three fewer and "...". */
static void
print_cut(FILE *out, const char *text, int width)
{
	const bool cut = lt_text_width(text) > width;
	const char *at = text;

	for (int left = cut ? width - 3 : width; *at; at++) {
		left -= ((unsigned char)*at & 0xc0) != 0x80;
		if (left < 0)
			break;
		fputc(*at, out);
	}
	fputs(cut ? "..." : "", out);
}

static void
print_cell(FILE *out, const char *text, int width, bool right, bool last)
{
	const int left = width - lt_text_width(text);
	const int padding = left > 0 ? left : 0; /* none where it is cut */

	if (right)
		fprintf(out, "%*s", padding, "");
	print_cut(out, text, width);
	if (!right && !last)
		fprintf(out, "%*s", padding, "");
	fputs(last ? "\n" : "  ", out);
}

static void
print_rule(FILE *out, const int *widths, int count)
{
	bool first = true;

	for (int i = 0; i < count; i++) {
		fputs(widths[i] > 0 && !first ? "  " : "", out);
		first = first && widths[i] == 0;
		for (int j = 0; j < widths[i]; j++)
			fputc('-', out);
	}
	fputc('\n', out);
}

void
lt_table_fit(struct lt_table *table, int columns, unsigned gives)
{
	table->fit = columns;
	table->gives = gives;
}

void
lt_table_drop(struct lt_table *table, const int *order)
{
	table->drops = order;
}

void
lt_table_prose(struct lt_table *table)
{
	table->prose = true;
	table->gives |= 1u << (unsigned)(table->column_count - 1);
}

/* Returns by how much lines are too long; below 0: by how much shorter. */
static int
excess_of(const struct lt_table *table, const int *widths)
{
	int excess = -2 - table->fit;

	for (int i = 0; i < table->column_count; i++)
		excess += widths[i] > 0 ? widths[i] + 2 : 0;
	return excess;
}

/* Cuts the columns that may be cut from the last to the first, down to their titles. Returns the
 * excess that is left. */
static int
cut_columns(const struct lt_table *table, int *widths)
{
	int excess = excess_of(table, widths);

	for (int i = table->column_count - 1; i >= 0; i--) {
		const int title = lt_text_width(table->columns[i].title);
		const int shortest =
		    table->prose && i == table->column_count - 1 ? PROSE_MIN : CUT_MIN;
		const int least = title < shortest ? shortest : title;
		const int room = widths[i] > least ? widths[i] - least : 0;
		const int taken = excess < room ? excess : room;

		if (!(table->gives >> i & 1) || taken <= 0)
			continue;
		widths[i] -= taken;
		excess -= taken;
	}
	return excess;
}

/* Cuts and leaves out columns until lines fit; one that is left out has the width 0. False: that is
 * impossible. */
static bool
fit_columns(const struct lt_table *table, int *widths)
{
	int whole[LT_TABLE_COLUMNS_MAX];
	const int *next = table->drops;
	const size_t bytes = (size_t)table->column_count * sizeof(*widths);

	if (table->fit == 0)
		return true;
	memcpy(whole, widths, bytes);
	while (cut_columns(table, widths) > 0) {
		if (next == NULL || *next < 0)
			return false;
		whole[*next++] = 0;
		memcpy(widths, whole, bytes);
	}
	return true;
}

/* Prints each row as lines of a title and its whole cell. */
static void
print_records(FILE *out, const struct lt_table *table, bool color)
{
	const int count = table->column_count;
	int width = 0;

	for (int i = 0; i < count; i++)
		if (lt_text_width(table->columns[i].title) > width)
			width = lt_text_width(table->columns[i].title);
	for (int at = 0; at < table->row_count * count; at++) {
		const char *const title = table->columns[at % count].title;

		if (at > 0 && at % count == 0)
			fputc('\n', out);
		if (table->cells[at][0] == '\0')
			continue;
		if (title[0] == '\0') { /* the mark of a row */
			fprintf(out, "%s ", table->cells[at]);
			continue;
		}
		fprintf(out, "%s%s%s%*s  %s\n", color ? "\033[1m" : "", title,
		    color ? "\033[0m" : "", width - lt_text_width(title), "", table->cells[at]);
	}
}

/* Prints a cell that begins at this column of the terminal, line by line. */
static void
print_prose(FILE *out, const char *text, int width, int at)
{
	for (;;) {
		const size_t bytes = lt_text_words(text, width);

		fprintf(out, "%.*s\n", (int)bytes, text);
		text += bytes;
		text += strspn(text, " ");
		if (*text == '\0')
			break;
		fprintf(out, "%*s", at, "");
	}
}

static void
print_line(FILE *out, const struct lt_table *table, const int *widths, int row)
{
	const int count = table->column_count;
	int last = count - 1, at = 0;

	while (last > 0 && widths[last] == 0)
		last--;
	for (int i = 0; i < count; i++) {
		const char *const text =
		    row < 0 ? table->columns[i].title : table->cells[row * count + i];

		if (widths[i] > 0 && table->prose && i == count - 1)
			print_prose(out, text, widths[i], at);
		else if (widths[i] > 0)
			print_cell(out, text, widths[i], table->columns[i].right, i == last);
		at += widths[i] > 0 ? widths[i] + 2 : 0;
	}
}

static void
print_lines(FILE *out, const struct lt_table *table, const int *widths, bool color)
{
	fputs(color ? "\033[1m" : "", out);
	print_line(out, table, widths, -1);
	fputs(color ? "\033[0m" : "", out);
	for (int r = 0; r < table->row_count; r++) {
		if (r == table->rule_before)
			print_rule(out, widths, table->column_count);
		print_line(out, table, widths, r);
	}
}

void
lt_table_print(FILE *out, const struct lt_table *table, bool color)
{
	const int count = table->column_count;
	int widths[LT_TABLE_COLUMNS_MAX];

	for (int i = 0; i < count; i++) {
		widths[i] = lt_text_width(table->columns[i].title);
		for (int r = 0; r < table->row_count; r++) {
			const int width = lt_text_width(table->cells[r * count + i]);

			if (width > widths[i])
				widths[i] = width;
		}
	}
	if (fit_columns(table, widths))
		print_lines(out, table, widths, color);
	else
		print_records(out, table, color);
	if (table->failed)
		fputs("(more rows than can be shown; use --json)\n", out);
}

void
lt_table_free(struct lt_table *table)
{
	if (table == NULL)
		return;
	for (int i = 0; i < table->row_count * table->column_count; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

/* Knows the words of pandas, R, DuckDB, MySQL, Excel and database exports. */
bool
lt_csv_seems_missing(const char *text, size_t length)
{
	static const char *const words[] = {"null", "(null)", "<null>", "na", "n/a", "#n/a", "<na>",
	    "#na", "nan", "#nan", "none", "nil", "\\n", "nat", "not applicable"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0)
			return true;
	return false;
}

void
lt_csv_text(FILE *out, const char *text)
{
	const bool guard = text[0] && strchr("=+-@\t\r", text[0]) != NULL;
	const bool quote =
	    strpbrk(text, "\",\t\r\n") != NULL || lt_csv_seems_missing(text, strlen(text));

	if (!guard && !quote) {
		fputs(text, out);
		return;
	}

	fputs(quote ? "\"" : "", out);
	fputs(guard ? "'" : "", out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputs(quote ? "\"" : "", out);
}

/* Rounds half away from zero to a multiple of unit; never passes int64_t. */
static int64_t
round_to(int64_t value, int64_t unit)
{
	const int64_t rest = value % unit;
	const int64_t whole = value - rest;

	if (rest >= unit - rest && whole <= INT64_MAX - unit)
		return whole + unit;
	if (-rest >= unit + rest && whole >= INT64_MIN + unit)
		return whole - unit;
	return whole;
}

void
lt_round_each(int64_t *values, int count, int64_t *total, int64_t unit)
{
	*total = round_to(*total, unit);
	for (int i = 0; i < count; i++)
		values[i] = round_to(values[i], unit);
}

/* Returns value minus the multiple of unit at or below it: 0 .. unit - 1. */
static int64_t
remainder_of(int64_t value, int64_t unit)
{
	const int64_t rest = value % unit;

	return rest < 0 ? rest + unit : rest;
}

/* Returns the row that gets the next unit: the one with the largest remainder among those that got
 * none. */
static int
largest_remainder(const int64_t *values, const bool *given, int count, int64_t unit)
{
	int best = -1;

	for (int i = 0; i < count; i++) {
		if (given[i])
			continue;
		if (best < 0 || remainder_of(values[i], unit) > remainder_of(values[best], unit))
			best = i;
	}
	return best;
}

void
lt_round_column(int64_t *values, int count, int64_t *total, int64_t unit)
{
	wide sum = 0, floors = 0;
	bool *const given = calloc((size_t)count + 1, sizeof(*given));
	const int64_t exact = *total;

	*total = round_to(exact, unit);
	for (int i = 0; i < count; i++) {
		sum += values[i];
		floors += (wide)values[i] - remainder_of(values[i], unit);
	}
	int64_t missing = (int64_t)((*total - floors) / unit);

	if (given == NULL || sum != exact) {
		for (int i = 0; i < count; i++)
			values[i] = round_to(values[i], unit);
		free(given);
		return;
	}
	for (; missing > 0; missing--) {
		const int i = largest_remainder(values, given, count, unit);

		if (i < 0)
			break;
		given[i] = true;
	}
	for (int i = 0; i < count; i++)
		values[i] = (int64_t)((wide)values[i] - remainder_of(values[i], unit) +
				      (given[i] ? unit : 0));
	free(given);
}

const char *
lt_step_text(char *out, size_t size, const char *currency)
{
	const int64_t step = lt_currency_step(currency);

	if (step == LT_MICROS / 100)
		snprintf(out, size, "the cent");
	else
		lt_money_text(out, size, step, currency);
	return out;
}
