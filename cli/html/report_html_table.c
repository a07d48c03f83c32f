/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of the HTML statement. Each amount is rounded once, so that it is the same in all tables.
 * Rows after the twentieth become one, and the difference between the rows and the report's total
 * is a row of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"
#include "units.h"

enum { ROWS_SHOWN = 20 };

__extension__ typedef __int128 wide;

/* ---- exact values as they are shown ---- */

/* Makes shares of the first column in ppm that add up, each less than 1 ppm off. */
static void
fill_shares(struct lt_html_table *table, int column, struct lt_html_row *total)
{
	wide so_far = 0;
	const int64_t whole = total->values[0];
	int64_t before = 0;

	total->has[column] = whole > 0 && total->has[0];
	total->values[column] = LT_MICROS;
	for (int i = 0; i < table->row_count; i++) {
		struct lt_html_row *const row = &table->rows[i];

		row->has[column] = total->has[column] && row->has[0];
		if (!row->has[column])
			continue;
		so_far += (wide)row->values[0] * LT_MICROS;
		const int64_t until = (int64_t)(so_far / whole);

		row->values[column] = until - before;
		before = until;
	}
}

/* Computes a cell from the shown values of others. */
static void
derive_cell(struct lt_html_row *row, int column, enum lt_column_rule rule)
{
	int64_t *const values = row->values;

	switch (rule) {
	case LT_COLUMN_DIFFERENCE:
		row->has[column] = row->has[column - 1] && row->has[column - 2];
		values[column] = values[column - 1] - values[column - 2];
		break;
	case LT_COLUMN_LEFT:
		row->has[column] = row->has[column] && row->has[column - 1];
		values[column] -= values[column - 1];
		break;
	case LT_COLUMN_BALANCE:
		if (row->balanced)
			values[column] = values[column - 1] - values[0];
		break;
	case LT_COLUMN_ALONE:
	case LT_COLUMN_ADDS_UP:
	case LT_COLUMN_SHARE:
	case LT_COLUMN_SO_FAR:
		break;
	}
}

static void
fill_column(const struct lt_statement *statement, struct lt_html_table *table, int index,
    struct lt_html_row *total)
{
	const struct lt_html_column *const column = &table->columns[index];
	const int64_t unit = lt_unit_shown(statement, column->unit);

	for (int i = 0; i < table->row_count; i++) {
		lt_round_each(NULL, 0, &table->rows[i].values[index], unit);
		derive_cell(&table->rows[i], index, column->rule);
	}
	lt_round_each(NULL, 0, &total->values[index], unit);
	derive_cell(total, index, column->rule);
}

/* Fills a column with the sum of the first one up to each row. */
static void
fill_so_far(struct lt_html_table *table, int column, struct lt_html_row *total)
{
	int64_t so_far = 0;

	for (int i = 0; i < table->row_count; i++) {
		struct lt_html_row *const row = &table->rows[i];

		so_far += row->has[0] ? row->values[0] : 0;
		row->has[column] = row->has[0];
		row->values[column] = so_far;
	}
	total->has[column] = total->has[0];
	total->values[column] = total->values[0];
}

static void
note_balance(struct lt_html_row *row, const struct lt_html_column *columns)
{
	const int64_t *const values = row->values;

	for (int i = 2;
	     columns[0].title != NULL && columns[i - 1].title != NULL && columns[i].title != NULL;
	     i++)
		if (columns[i].rule == LT_COLUMN_BALANCE)
			row->balanced = row->has[i] && row->has[i - 1] && row->has[0] &&
					values[i - 1] - values[0] == values[i];
}

/* Computes the columns that need exact figures, before any is rounded. */
static void
take_exact(struct lt_html_table *table, struct lt_html_row *total)
{
	note_balance(total, table->columns);
	for (int i = 0; i < table->row_count; i++)
		note_balance(&table->rows[i], table->columns);
	for (int i = 0; table->columns[i].title != NULL; i++)
		if (table->columns[i].rule == LT_COLUMN_SHARE)
			fill_shares(table, i, total);
		else if (table->columns[i].rule == LT_COLUMN_SO_FAR)
			fill_so_far(table, i, total);
}

/* ---- markup ---- */

static void
print_cell(const struct lt_statement *statement, const struct lt_html_column *column,
    const struct lt_html_row *row, int index)
{
	char text[LT_FIGURE_SIZE];

	fputs("<td>", statement->out);
	if (!row->has[index])
		fputs("<span class=\"none\">\u2013</span>", statement->out);
	else
		lt_html_text(statement->out,
		    (column->signs && !row->plain ? lt_change_text : lt_figure_text)(
			text, statement, row->values[index], column->unit));
	fputs("</td>", statement->out);
}

static void
print_labels(FILE *out, const json_t *labels)
{
	const char *key, *separator = "";
	json_t *value;

	if (json_object_size(labels) == 0)
		return;
	fputs("<small>", out);
	json_object_foreach((json_t *)labels, key, value) {
		fputs(separator, out);
		fputs("<bdi>", out);
		lt_html_text(out, key);
		fputs(": ", out);
		lt_html_text(out, json_is_string(value) ? json_string_value(value) : "");
		fputs("</bdi>", out);
		separator = ", ";
	}
	fputs("</small>", out);
}

/* Prints the bar of a figure; hidden from screen readers, which read the figure. */
static void
print_bar(FILE *out, int64_t value, int64_t most)
{
	int64_t ppm = 0;

	if (value <= 0 || !lt_ppm(&ppm, value, most))
		return;
	fprintf(out,
	    "<svg class=\"bar\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\" focusable=\"false\">"
	    "<rect class=\"track\" width=\"1000\" height=\"8\"/>"
	    "<rect class=\"mark\" width=\"%d\" height=\"8\"/></svg>",
	    (int)(ppm / 1000));
}

static void
print_row(const struct lt_statement *statement, const struct lt_html_table *table,
    const struct lt_html_row *row, int64_t most)
{
	FILE *const out = statement->out;

	fputs("<tr><th scope=\"row\"", out);
	if (row->level > 0)
		fprintf(out, " class=\"in%d\"",
		    row->level < LT_HTML_LEVELS ? row->level : LT_HTML_LEVELS);
	fputs(row->ours ? " class=\"ours\"><bdi>" : "><bdi>", out);
	lt_html_text(out, row->name);
	fputs("</bdi>", out);
	print_labels(out, row->labels);
	if (table->bars && row != table->total)
		print_bar(out, row->has[0] ? row->values[0] : 0, most);
	fputs("</th>", out);
	for (int i = 0; table->columns[i].title != NULL; i++)
		print_cell(statement, &table->columns[i], row, i);
	fputs("</tr>\n", out);
}

static void
print_head(FILE *out, const struct lt_html_table *table)
{
	fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
	lt_html_text(out, table->caption);
	fprintf(out, "\">\n<table class=\"%s\">\n<caption>",
	    table->look != NULL ? table->look : "full");
	lt_html_text(out, table->caption);
	fputs("</caption>\n<thead><tr><th scope=\"col\">", out);
	lt_html_text(out, table->first);
	fputs("</th>", out);
	for (int i = 0; table->columns[i].title != NULL; i++) {
		fputs("<th scope=\"col\">", out);
		lt_html_text(out, table->columns[i].title);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
}

void
lt_html_table(const struct lt_statement *statement, struct lt_html_table *table)
{
	FILE *const out = statement->out;
	struct lt_html_row total = {0};
	int64_t most = 0;

	if (table->total != NULL)
		total = *table->total;
	take_exact(table, &total);
	for (int i = 0; table->columns[i].title != NULL; i++)
		fill_column(statement, table, i, &total);
	for (int i = 0; i < table->row_count; i++)
		if (table->rows[i].has[0] && table->rows[i].values[0] > most)
			most = table->rows[i].values[0];
	print_head(out, table);
	for (int i = 0; i < table->row_count; i++)
		print_row(statement, table, &table->rows[i], most);
	fputs("</tbody>\n", out);
	if (table->total != NULL) {
		struct lt_html_table plain = *table;

		plain.bars = false;
		fputs("<tfoot>", out);
		print_row(statement, &plain, &total, most);
		fputs("</tfoot>\n", out);
	}
	fputs("</table></div>\n", out);
}

const struct lt_html_column *
lt_html_columns(const struct lt_statement *statement, struct lt_html_column *shown,
    const struct lt_html_column *all)
{
	int count = 0;

	for (; all->title != NULL; all++)
		if (statement->has_money || all->unit != LT_UNIT_MONEY)
			shown[count++] = *all;
	shown[count] = (struct lt_html_column){0};
	return shown;
}

const struct lt_html_column *
lt_html_figure_columns(const struct lt_statement *statement, struct lt_html_column *shown,
    const struct lt_figure_kind *figures, int count)
{
	int used = 0;

	for (int i = 0; i < count; i++)
		if (figures[i].html != NULL &&
		    lt_unit_is_shown(figures[i].unit, statement->currency))
			shown[used++] = (struct lt_html_column){.title = figures[i].html,
			    .unit = figures[i].unit,
			    .rule = LT_COLUMN_ALONE,
			    .key = figures[i].key};
	shown[used] = (struct lt_html_column){0};
	return shown;
}

void
lt_html_row_fill(struct lt_html_row *row, const json_t *from, const struct lt_html_column *columns)
{
	for (int i = 0; columns[i].title != NULL; i++)
		row->has[i] = lt_json_int(from, columns[i].key, &row->values[i]);
}

/* ---- groups ---- */

struct pile { /* sums of one group or several, by column */
	bool has[LT_HTML_COLUMNS_MAX];
	int64_t sums[LT_HTML_COLUMNS_MAX], over[LT_HTML_COLUMNS_MAX];
};

static void
add_to_pile(struct pile *pile, const json_t *group, const struct lt_html_column *columns)
{
	const bool is_unpriced = lt_group_is_unpriced(group);

	for (int i = 0; columns[i].title != NULL; i++) {
		int64_t value, over = 0;

		if (columns[i].key == NULL ||
		    (is_unpriced && columns[i].unit == LT_UNIT_MONEY &&
			(columns[i].rule == LT_COLUMN_ADDS_UP || columns[i].over != NULL)) ||
		    !lt_json_int(group, columns[i].key, &value) ||
		    (columns[i].over != NULL && !lt_json_int(group, columns[i].over, &over)))
			continue;
		pile->has[i] = lt_add(&pile->sums[i], value) && lt_add(&pile->over[i], over);
	}
}

static void
fill_row(struct lt_html_row *row, const struct pile *pile, const struct lt_html_column *columns)
{
	for (int i = 0; columns[i].title != NULL; i++) {
		row->has[i] = pile->has[i] && (columns[i].over == NULL || pile->over[i] > 0);
		if (!row->has[i])
			continue;
		row->values[i] = pile->sums[i];
		if (columns[i].over != NULL)
			row->values[i] = (int64_t)((wide)pile->sums[i] * LT_HOUR_S / pile->over[i]);
	}
}

/* Fills the total with the report's own figures, else with the sum of all. */
static void
fill_total(struct lt_html_row *total, const struct lt_statement *statement, const struct pile *all,
    const struct lt_html_column *columns)
{
	struct pile pile = *all;

	for (int i = 0; columns[i].title != NULL; i++) {
		int64_t value;

		if (columns[i].over == NULL && columns[i].key != NULL &&
		    lt_json_int(statement->total, columns[i].key, &value)) {
			pile.sums[i] = value;
			pile.has[i] = true;
		} else if (columns[i].rule != LT_COLUMN_ADDS_UP && columns[i].over == NULL) {
			pile.has[i] = false;
		}
	}
	total->name = "Total";
	fill_row(total, &pile, columns);
}

/* Fills the difference between the rows and the total: runs that the caller may not see. */
static bool
fill_lack(struct lt_html_row *lack, const struct lt_html_row *total, const struct pile *all,
    const struct lt_html_column *columns)
{
	bool any = false;

	lack->name = "Not in this list";
	lack->ours = true;
	for (int i = 0; columns[i].title != NULL; i++) {
		lack->has[i] = columns[i].rule == LT_COLUMN_ADDS_UP && total->has[i];
		lack->values[i] = total->values[i] - all->sums[i];
		any = any || (lack->has[i] && lack->values[i] != 0);
	}
	return any;
}

struct ranked {
	const json_t *group;
	uint64_t size;
	size_t index;
};

static int
compare_ranked(const void *left, const void *right)
{
	const struct ranked *const one = left, *const two = right;

	if (one->size != two->size)
		return one->size > two->size ? -1 : 1;
	return one->index < two->index ? -1 : 1;
}

/* Sorts groups by the first column, whatever its sign: a large refund stays a row of its own. The
 * caller's; NULL: no memory. */
static struct ranked *
rank_groups(const json_t *groups, const char *key)
{
	const size_t count = json_array_size(groups);
	struct ranked *const ranked = calloc(count + 1, sizeof(*ranked));

	if (ranked == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		int64_t value = 0;

		ranked[i].group = json_array_get(groups, i);
		ranked[i].index = i;
		lt_json_int(ranked[i].group, key, &value);
		ranked[i].size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	}
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	return ranked;
}

static void
name_row(struct lt_html_row *row, const struct lt_html_groups *groups, const json_t *group)
{
	const char *const name = lt_json_text(group, groups->key, "");

	row->name = name;
	row->labels = json_object_get(group, "labels");
	if (name[0] != '\0')
		return;
	row->ours = true;
	row->name =
	    json_is_true(json_object_get(group, "adjustment")) ? "Adjustments" : groups->absent;
}

void
lt_html_groups(const struct lt_statement *statement, const struct lt_html_groups *groups)
{
	const struct lt_html_column *const columns = groups->columns;
	const int count = (int)json_array_size(groups->groups);
	/* A row "1 other" would save no row. */
	const int shown = count <= ROWS_SHOWN + 1 ? count : ROWS_SHOWN;
	struct lt_html_row rows[LT_HTML_ROWS_MAX] = {0}, total = {0};
	struct ranked *const ranked = rank_groups(groups->groups, columns[0].key);
	struct pile all = {0}, rest = {0};
	char others[64];
	int row_count = shown;

	if (ranked == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	for (int i = 0; i < count; i++) {
		struct pile one = {0};

		add_to_pile(&all, ranked[i].group, columns);
		add_to_pile(i < shown ? &one : &rest, ranked[i].group, columns);
		if (i >= shown)
			continue;
		name_row(&rows[i], groups, ranked[i].group);
		fill_row(&rows[i], &one, columns);
	}
	if (shown < count) {
		snprintf(others, sizeof(others), "%d %s", count - shown, groups->others);
		rows[row_count].name = others;
		rows[row_count].ours = true;
		fill_row(&rows[row_count++], &rest, columns);
	}
	free(ranked);
	fill_total(&total, statement, &all, columns);
	if (fill_lack(&rows[row_count], &total, &all, columns))
		row_count++;
	struct lt_html_table table = {.caption = groups->caption,
	    .first = groups->first,
	    .columns = columns,
	    .row_count = row_count,
	    .rows = rows,
	    .total = &total,
	    .bars = true};

	lt_html_table(statement, &table);
}
