/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's budgets: first of all whose are over or expected to be
 * and what lowtide did, further down each budget with its own period.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_html.h"

enum { FIRST_LINES = 6, NAME_SIZE = 160 };

/* A number and its % stay on one line. */
static void
print_unbroken(FILE *out, const char *text)
{
	for (const char *at; (at = strstr(text, " %")) != NULL; text = at + 2) {
		char before[LT_OVER_SIZE];

		snprintf(
		    before, sizeof(before), "%.*s", (int)(at - text), text);
		lt_html_text(out, before);
		fputs("\u00a0%", out);
	}
	lt_html_text(out, text);
}

static void
say_over(const struct lt_statement *statement, const struct lt_budget_row *row)
{
	FILE *const out = statement->out;
	struct lt_budget_row named = *row;
	char text[LT_OVER_SIZE], period[48];

	named.label =
	    lt_period_name(period, sizeof(period), row->label, LT_DAY_LONG);
	fprintf(out, "<li class=\"%s\"><strong><bdi>",
	    lt_budget_is_over(row) ? "bad" : "due");
	lt_html_text(out, row->team);
	fputs("</bdi></strong>", out);
	print_unbroken(out, lt_budget_said(text, &named, statement->currency));
	fputs("</li>\n", out);
}

void
lt_html_over(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	char balance[LT_BALANCE_SIZE];
	struct lt_budget_row *rows;
	const int count = lt_budget_rows(&rows, statement->report);
	int over = 0;

	if (count < 0) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	while (over < count && (lt_budget_is_over(&rows[over]) ||
				   lt_budget_will_be_over(&rows[over])))
		over++;
	if (over > 0)
		fputs("<ul class=\"who\">\n", out);
	for (int i = 0; i < over && i < FIRST_LINES; i++)
		say_over(statement, &rows[i]);
	if (over > FIRST_LINES)
		fprintf(out,
		    "<li>and %d more, under <a href=\"#budgets\">Budgets</a></li>\n",
		    over - FIRST_LINES);
	if (over > 0)
		fputs("</ul>\n", out);
	else
		fprintf(out, "<p>%s</p>\n",
		    count > 0 ? lt_none_over_text(rows, count)
			      : "No team has a budget for this period.");
	if (lt_balance_text(balance, statement->report)) {
		fputs("<p class=\"note\">", out);
		lt_html_text(out, balance);
		fputs("</p>\n", out);
	}
	free(rows);
}

/* ---- the table ---- */

enum { BUDGET, SPENT, HELD, LEFT, USED, EXPECTED, END, COLUMNS };

static void
fill_row(struct lt_html_row *row, const struct lt_statement *statement,
    const struct lt_budget_row *of, enum lt_unit unit)
{
	const int64_t spent =
	    lt_shown_difference(statement, of->actual, 0, unit);
	const int64_t left = lt_shown_difference(statement,
	    lt_shown_difference(statement, of->budget, spent, unit), of->held,
	    unit);
	const int64_t values[COLUMNS] = {[BUDGET] = of->budget,
	    [SPENT] = spent,
	    [HELD] = of->held,
	    [LEFT] = left};

	for (int i = 0; i < END; i++) {
		row->has[i] = i < USED;
		row->values[i] = values[i];
	}
	row->has[USED] = lt_ppm(&row->values[USED], of->actual, of->budget);
	row->has[EXPECTED] = of->has_expected && lt_ppm(&row->values[EXPECTED],
						     of->expected, of->budget);
}

static void
print_budgets(const struct lt_statement *statement,
    const struct lt_budget_row *budgets, int count, bool is_carbon)
{
	const enum lt_unit unit = is_carbon ? LT_UNIT_CARBON : LT_UNIT_MONEY;
	const struct lt_html_column columns[COLUMNS] = {
	    [BUDGET] = {"Budget", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [SPENT] = {"Spent", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [HELD] = {"Held", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [LEFT] = {"Left", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [USED] = {"Spent of it", LT_UNIT_SHARE, LT_COLUMN_ALONE, NULL, NULL,
		false},
	    [EXPECTED] = {"Expected", LT_UNIT_SHARE, LT_COLUMN_ALONE, NULL,
		NULL, false},
	    [END] = {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_row rows[LT_HTML_ROWS_MAX] = {0};
	char names[LT_HTML_ROWS_MAX][NAME_SIZE];
	struct lt_html_table table = {
	    .caption = is_carbon
			   ? "Carbon budgets in kg CO2e, the fullest first"
			   : "Budgets, the fullest first",
	    .first = "Team and period",
	    .columns = columns,
	    .rows = rows};
	int all = 0;

	for (int i = 0; i < count; i++) {
		if (budgets[i].is_carbon != is_carbon ||
		    ++all > LT_HTML_ROWS_MAX)
			continue;
		char *const name = names[table.row_count];

		char period[48];
		snprintf(name, NAME_SIZE, "%s, %s", budgets[i].team,
		    lt_period_name(period, sizeof(period), budgets[i].label,
			LT_DAY_SHORT));
		rows[table.row_count].name = name;
		fill_row(
		    &rows[table.row_count++], statement, &budgets[i], unit);
	}
	if (table.row_count > 0)
		lt_html_table(statement, &table);
	if (all > LT_HTML_ROWS_MAX)
		fprintf(statement->out,
		    "<p class=\"note\">%d more are less full; lowtide budget has all.</p>\n",
		    all - LT_HTML_ROWS_MAX);
}

void
lt_html_budgets(const struct lt_statement *statement)
{
	struct lt_budget_row *rows;
	const int count = lt_budget_rows(&rows, statement->report);

	if (count < 0) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	print_budgets(statement, rows, count, false);
	print_budgets(statement, rows, count, true);
	fputs(
	    count > 0
		? "<p class=\"note\">Each budget has its own period, and covers its team and all below it. Held is for jobs that wait or run.</p>\n"
		: "<p>No team has a budget.</p>\n",
	    statement->out);
	free(rows);
}
