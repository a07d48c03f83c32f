/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's table of what lowtide did in twelve months, for good and
 * ill.
 */
#include "cli.h"
#include "report.h"
#include "report_html.h"

enum { MONTHS_MAX = 24 };

static const struct lt_html_column all[] = {
    {"Moved", LT_UNIT_COUNT, LT_COLUMN_ALONE, "moved_runs", NULL, false},
    {"Saved", LT_UNIT_MONEY, LT_COLUMN_ALONE, "saved_micros", NULL, false},
    {"Measured", LT_UNIT_MONEY, LT_COLUMN_ALONE, "measured_micros", NULL,
	false},
    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ALONE, "saved_mg", NULL, false},
    {"Measured", LT_UNIT_CARBON, LT_COLUMN_ALONE, "measured_mg", NULL, false},
    {"Hours", LT_UNIT_HOURS, LT_COLUMN_ALONE, "waited_s", NULL, false},
    {"Worse", LT_UNIT_COUNT, LT_COLUMN_ALONE, "worse_jobs", NULL, false},
    {"Refused", LT_UNIT_COUNT, LT_COLUMN_ALONE, "refused_jobs", NULL, false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};

static void
fill_row(struct lt_html_row *row, const json_t *from,
    const struct lt_html_column *columns)
{
	for (int k = 0; columns[k].title != NULL; k++)
		row->has[k] =
		    lt_json_int(from, columns[k].key, &row->values[k]);
}

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
	    .columns = lt_html_columns(statement, shown, all),
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
		fill_row(&rows[index], month, table.columns);
		table.row_count++;
	}
	fill_row(&total, json_object_get(balance, "total"), table.columns);
	lt_html_table(statement, &table);
	fputs("<p>", statement->out);
	lt_html_text(statement->out, lt_report_balance_note);
	fputs("</p>\n", statement->out);
}
