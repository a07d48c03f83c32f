/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's cost by what it is for, where that is more than nodes.
 */
#include "cli.h"
#include "lookup.h"
#include "report.h"
#include "report_html.h"

void
lt_html_parts(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {
	    {"Amount", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	const struct lt_section *const section = &lt_sections[LT_SECTION_PARTS];
	struct lt_html_row rows[LT_SECTION_FIGURES_MAX] = {0},
			   total = {.name = "Total"};
	struct lt_html_table table = {.caption = "Cost of the period",
	    .first = "For",
	    .columns = columns,
	    .rows = rows,
	    .total = &total,
	    .look = "few"};
	char charge[LT_CHARGE_TEXT_SIZE];

	/* The last of them is the total. */
	for (int i = 0; section->columns[i + 1].title != NULL; i++) {
		const enum lt_team_figure id = section->columns[i].figure;
		const struct lt_figure_kind *const figure =
		    &LT_ROW(lt_team_figures, id);
		int64_t value = 0;

		lt_json_int(statement->total, figure->key, &value);
		if (value != 0)
			rows[table.row_count++] =
			    (struct lt_html_row){.name = figure->html,
				.has = {true},
				.values = {
				    id == LT_TEAM_DISCOUNT ? -value : value}};
	}
	total.has[0] = lt_json_int(statement->total,
	    lt_team_figures[LT_TEAM_COST].key, &total.values[0]);
	lt_html_table(statement, &table);
	if (lt_carbon_charge_text(charge, sizeof(charge), statement->report)) {
		fputs("<p class=\"note\">Carbon charge: ", statement->out);
		lt_html_text(statement->out, charge);
		fputs(".</p>\n", statement->out);
	}
}
