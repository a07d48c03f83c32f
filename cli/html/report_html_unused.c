/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's owned nodes: what was paid whether they were used or
 * not.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"

enum { NAME_SIZE = 160 };

static const struct lt_html_column columns[] = {
    {"Used h", LT_UNIT_HOURS, LT_COLUMN_ADDS_UP, "used_node_s", NULL, false},
    {"Paid h", LT_UNIT_HOURS, LT_COLUMN_ADDS_UP, "paid_node_s", NULL, false},
    {"Not used h", LT_UNIT_HOURS, LT_COLUMN_DIFFERENCE, "unused_node_s", NULL,
	false},
    {"Used", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "used_micros", NULL, false},
    {"Paid", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "paid_micros", NULL, false},
    {"Not used", LT_UNIT_MONEY, LT_COLUMN_DIFFERENCE, "unused_micros", NULL,
	false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false},
};

static void
fill(struct lt_html_row *row, const json_t *from,
    const struct lt_html_column *shown)
{
	for (int i = 0; shown[i].title != NULL; i++)
		row->has[i] = lt_json_int(from, shown[i].key, &row->values[i]);
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
	    .columns = lt_html_columns(statement, shown, columns),
	    .rows = rows,
	    .total = &total};

	if (rows == NULL || names == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
	} else {
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *const row = json_array_get(list, i);

			lt_report_unused_name(
			    names[i], NAME_SIZE, statement->report, row);
			rows[i].name = names[i];
			fill(&rows[i], row, table.columns);
			table.row_count++;
		}
		fill(&total,
		    json_object_get(
			json_object_get(statement->report, "unused"), "total"),
		    table.columns);
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
