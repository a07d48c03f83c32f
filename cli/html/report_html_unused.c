/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's owned nodes: what was paid whether they were used or
 * not.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lookup.h"
#include "report.h"
#include "report_html.h"

enum { NAME_SIZE = 160 };

/* The rest is what the two before it leave as shown. */
static void
choose_columns(
    struct lt_html_column *shown, const struct lt_statement *statement)
{
	static const enum lt_unused_figure order[] = {LT_UNUSED_USED_S,
	    LT_UNUSED_PAID_S, LT_UNUSED_REST_S, LT_UNUSED_USED, LT_UNUSED_PAID,
	    LT_UNUSED_REST};
	struct lt_html_column all[LT_UNUSED_FIGURES + 1] = {0};

	for (int i = 0; i < LT_UNUSED_FIGURES; i++) {
		const struct lt_figure_kind *const figure =
		    &LT_ROW(lt_unused_figures, order[i]);

		all[i] = (struct lt_html_column){.title = figure->html,
		    .unit = figure->unit,
		    .rule =
			i % 3 == 2 ? LT_COLUMN_DIFFERENCE : LT_COLUMN_ADDS_UP,
		    .key = figure->key};
	}
	lt_html_columns(statement, shown, all);
}

static void
print_rows(const struct lt_statement *statement, const json_t *list)
{
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row *const rows =
	    calloc(LT_HTML_ROWS_MAX, sizeof(*rows));
	char(*const names)[NAME_SIZE] = calloc(LT_HTML_ROWS_MAX, NAME_SIZE);
	struct lt_html_row total = {.name = "Total"};
	struct lt_html_table table = {
	    .caption = "Partitions that the site owns",
	    .first = "Partition",
	    .columns = shown,
	    .rows = rows,
	    .total = &total};

	choose_columns(shown, statement);
	if (rows == NULL || names == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
	} else {
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *const row = json_array_get(list, i);

			lt_report_unused_name(
			    names[i], NAME_SIZE, statement->report, row);
			rows[i].name = names[i];
			lt_html_row_fill(&rows[i], row, shown);
			table.row_count++;
		}
		lt_html_row_fill(&total,
		    json_object_get(
			json_object_get(statement->report, "unused"), "total"),
		    shown);
		lt_html_table(statement, &table);
	}
	free(rows);
	free(names);
}

void
lt_html_unused(const struct lt_statement *statement)
{
	const json_t *const list = lt_report_unused_rows(statement->report);

	if (json_array_size(list) > LT_HTML_ROWS_MAX)
		fputs(
		    "<p>Too many rows for a page: the table and JSON have them.</p>\n",
		    statement->out);
	else
		print_rows(statement, list);
	fputs(
	    "<p class=\"note\">Paid is what the nodes of these partitions cost by the hour, drained and down ones too. Used is what is booked for runs there, which the teams have above. Not used is no team's, and in no other sum of this statement.</p>\n",
	    statement->out);
	if (lt_report_unused_note(statement->report) != NULL)
		fprintf(statement->out, "<p class=\"note\">%s</p>\n",
		    lt_report_unused_note(statement->report));
}
