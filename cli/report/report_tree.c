/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --tree: each team with all teams below it, as a table or CSV.
 * What is a team's own adds up to the statement; so do the teams on top.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_tables.h"

enum { INDENT = 2, LEVELS_MAX = 64 };

static const struct figure {
	const char *key, *title;
	enum lt_unit unit;
	const char *total; /* of the report; NULL: budgets have no sum */
} figures[] = {
    {"own_micros", "OWN", LT_UNIT_MONEY, "cost_micros"},
    {"cost_micros", "WITH BELOW", LT_UNIT_MONEY, "cost_micros"},
    {"budget_micros", "BUDGET", LT_UNIT_MONEY, NULL},
    {"available_micros", "AVAILABLE", LT_UNIT_MONEY, NULL},
    {"own_mg", "OWN CO2e kg", LT_UNIT_CARBON, "carbon_mg"},
    {"carbon_mg", "WITH BELOW", LT_UNIT_CARBON, "carbon_mg"},
    {"own_runs", "OWN RUNS", LT_UNIT_COUNT, "runs"},
    {"runs", "WITH BELOW", LT_UNIT_COUNT, "runs"},
};
enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

int
lt_report_tree_check(const json_t *report, struct lt_error *err)
{
	const json_t *const tree = json_object_get(report, "tree");
	size_t index;
	const json_t *row;

	if (!json_is_array(tree))
		return lt_fail(err, LT_EVERSION,
		    "lowtided's answer has no tree: it may be an older one");
	json_array_foreach(tree, index, row)
		for (int i = 0; i < FIGURES; i++) {
			const json_t *const value =
			    json_object_get(row, figures[i].key);

			if (!json_is_integer(value) && !json_is_null(value))
				return lt_fail(err, LT_EINPUT,
				    "the report's %s of the tree is no integer",
				    figures[i].key);
		}
	return LT_OK;
}

static void
fill_cell(char out[LT_FIGURE_SIZE], const json_t *row, const char *key,
    const struct figure *figure, const char *currency)
{
	int64_t value;

	if (key == NULL || !lt_json_int(row, key, &value)) {
		snprintf(out, LT_FIGURE_SIZE, "%s",
		    figure->total == NULL && key != NULL ? "none" : "-");
		return;
	}
	lt_cell_alone(out, value, figure->unit, currency);
}

/* Without money those of it are left out. row NULL: the total. */
static void
add_row(struct lt_table *table, const json_t *report, const json_t *row,
    const char *currency)
{
	char texts[FIGURES][LT_FIGURE_SIZE],
	    name[LEVELS_MAX * INDENT + 128] = "TOTAL";
	const char *cells[1 + FIGURES] = {name};
	int64_t level = 0;
	int count = 1;

	if (row != NULL) {
		(void)lt_json_int(row, "level", &level);
		snprintf(name, sizeof(name), "%*s%s",
		    (int)(level < 0	       ? 0
			  : level > LEVELS_MAX ? LEVELS_MAX
					       : level) *
			INDENT,
		    "", lt_json_text(row, "team", "?"));
	}
	for (int i = 0; i < FIGURES; i++) {
		if (figures[i].unit == LT_UNIT_MONEY && !currency[0])
			continue;
		fill_cell(texts[i],
		    row != NULL ? row : json_object_get(report, "total"),
		    row != NULL ? figures[i].key : figures[i].total,
		    &figures[i], currency);
		cells[count++] = texts[i];
	}
	lt_table_row(table, cells);
}

int
lt_report_tree_table(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column columns[FIGURES + 2] = {{"TEAM", false}};
	size_t index;
	const json_t *row;
	int count = 1;

	for (int i = 0; i < FIGURES; i++)
		if (figures[i].unit != LT_UNIT_MONEY || currency[0])
			columns[count++] =
			    (struct lt_table_column){figures[i].title, true};
	struct lt_table *const table = lt_table_new(columns);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(report, "tree"), index, row)
		add_row(table, report, row, currency);
	lt_table_rule(table);
	add_row(table, report, NULL, currency);
	lt_report_section(
	    out, table, "Teams with all teams below them", currency, look);
	lt_table_free(table);
	return LT_OK;
}

void
lt_report_tree_csv(FILE *out, const json_t *report)
{
	static const struct lt_column columns[] = {
	    {"parent", "parent", LT_COLUMN_ANY},
	    {"level", "level", LT_COLUMN_ANY},
	    {"own_cost", "own_micros", LT_COLUMN_MONEY},
	    {"cost_with_below", "cost_micros", LT_COLUMN_MONEY},
	    {"budget", "budget_micros", LT_COLUMN_MONEY},
	    {"available", "available_micros", LT_COLUMN_MONEY},
	    {"saved_with_below", "saved_micros", LT_COLUMN_MONEY},
	    {"own_kg_co2e", "own_mg", LT_COLUMN_CARBON},
	    {"kg_co2e_with_below", "carbon_mg", LT_COLUMN_CARBON},
	    {"budget_kg_co2e", "budget_mg", LT_COLUMN_CARBON},
	    {"available_kg_co2e", "available_mg", LT_COLUMN_CARBON},
	    {"energy_wh_with_below", "energy_wh", LT_COLUMN_ANY},
	    {"own_runs", "own_runs", LT_COLUMN_ANY},
	    {"runs_with_below", "runs", LT_COLUMN_ANY},
	    {NULL, NULL, LT_COLUMN_ANY},
	};
	size_t index;
	const json_t *row;

	fputs("team" LT_PERIOD_HEADERS("state"), out);
	for (const struct lt_column *c = columns; c->key != NULL; c++)
		fprintf(out, ",%s", c->header);
	fputs("\r\n", out);
	json_array_foreach(json_object_get(report, "tree"), index, row) {
		lt_csv_text(out, lt_json_text(row, "team", ""));
		lt_period_cells(out, report);
		lt_csv_cells(out, report, row, columns);
		fputs("\r\n", out);
	}
}
