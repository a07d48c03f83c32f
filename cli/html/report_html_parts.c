/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's cost by what it is for, where that is more than nodes.
 */
#include "cli.h"
#include "report.h"
#include "report_html.h"

static const struct {
	const char *key, *name;
	bool taken_off;
} parts[] = {
    {"nodes_micros", "Nodes", false},
    {"carbon_charge_micros", "Carbon charge", false},
    {"discount_micros", "Discount for having waited", true},
    {"adjustments_micros", "Adjustments", false},
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

void
lt_html_parts(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {
	    {"Amount", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_row rows[PARTS] = {0}, total = {.name = "Total"};
	struct lt_html_table table = {.caption = "Cost of the period",
	    .first = "For",
	    .columns = columns,
	    .rows = rows,
	    .total = &total,
	    .look = "few"};
	char charge[LT_CHARGE_TEXT_SIZE];

	for (int i = 0; i < PARTS; i++) {
		int64_t value = 0;

		lt_json_int(statement->total, parts[i].key, &value);
		if (value != 0)
			rows[table.row_count++] = (struct lt_html_row){
			    .name = parts[i].name,
			    .has = {true},
			    .values = {parts[i].taken_off ? -value : value}};
	}
	total.has[0] =
	    lt_json_int(statement->total, "cost_micros", &total.values[0]);
	lt_html_table(statement, &table);
	if (lt_carbon_charge_text(charge, sizeof(charge), statement->report)) {
		fputs("<p class=\"note\">Carbon charge: ", statement->out);
		lt_html_text(statement->out, charge);
		fputs(".</p>\n", statement->out);
	}
}
