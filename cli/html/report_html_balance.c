/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's table of what lowtide did in twelve months, for good and
 * ill.
 */
#include "cli.h"
#include "report.h"
#include "report_html.h"

enum { MONTHS_MAX = 24 };

void
lt_html_balance(const struct lt_statement *statement)
{
	const json_t *const balance =
	    json_object_get(statement->report, "balance");
	const json_t *const months = json_object_get(balance, "months");
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row rows[MONTHS_MAX] = {0}, total = {.name = "All"};
	char names[MONTHS_MAX][48];
	struct lt_html_table table = {
	    .caption = "What lowtide did, month by month",
	    .first = "Month",
	    .columns = lt_html_figure_columns(
		statement, shown, lt_balance_figures, LT_BALANCE_FIGURES),
	    .rows = rows,
	    .total = &total,
	    .look = "dense"};
	size_t index;
	const json_t *month;

	json_array_foreach(months, index, month) {
		if (index >= MONTHS_MAX)
			break;
		lt_period_name(names[index], sizeof(names[index]),
		    lt_json_text(month, "label", ""), LT_DAY_SHORT);
		rows[index].name = names[index];
		lt_html_row_fill(&rows[index], month, table.columns);
		table.row_count++;
	}
	lt_html_row_fill(
	    &total, json_object_get(balance, "total"), table.columns);
	lt_html_table(statement, &table);
	fputs("<p>", statement->out);
	lt_html_text(statement->out, lt_report_balance_note);
	fputs("</p>\n", statement->out);
}
