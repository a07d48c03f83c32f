/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement by what teams belong to: each with all teams below it,
 * and by the labels that the policy gives them, such as a cost center.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"
#include "units.h"

enum { KEYS_SHOWN = 8 };

static const struct lt_html_column tree_columns[] = {
    {"With all below", LT_UNIT_MONEY, LT_COLUMN_ALONE, "cost_micros", NULL,
	false},
    {"Its own", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "own_micros", NULL, false},
    {"Budget", LT_UNIT_MONEY, LT_COLUMN_ALONE, "budget_micros", NULL, false},
    {"Left", LT_UNIT_MONEY, LT_COLUMN_BALANCE, "available_micros", NULL, false},
    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ALONE, "carbon_mg", NULL, false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};

static const struct lt_html_column label_columns[] = {
    {"Cost", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "cost_micros", NULL, false},
    {"Share", LT_UNIT_SHARE, LT_COLUMN_SHARE, NULL, NULL, false},
    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "carbon_mg", NULL, false},
    {"Runs", LT_UNIT_COUNT, LT_COLUMN_ALONE, "runs", NULL, false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};

/* ---- each team with those below it ---- */

static int64_t
level_of(const json_t *row)
{
	int64_t level = 0;

	(void)lt_json_int(row, "level", &level);
	return level;
}

bool
lt_html_has_tree(const json_t *report)
{
	size_t index;
	const json_t *row;

	json_array_foreach(json_object_get(report, "tree"), index, row)
		if (level_of(row) > 0)
			return true;
	return false;
}

/* The deepest level down to which there are no more rows than a table shows;
 * -1: more are on top. */
static int64_t
deepest_shown(const json_t *tree)
{
	int64_t counts[LT_HTML_ROWS_MAX] = {0}, sum = 0, level = 0;
	size_t index;
	const json_t *row;

	json_array_foreach(tree, index, row)
		if (level_of(row) >= 0 && level_of(row) < LT_HTML_ROWS_MAX)
			counts[level_of(row)]++;
	while (
	    level < LT_HTML_ROWS_MAX && sum + counts[level] <= LT_HTML_ROWS_MAX)
		sum += counts[level++];
	return level - 1;
}

/* Of all that is shown, whose own is all of it. */
static void
fill_total(struct lt_html_row *total, const struct lt_statement *statement,
    const struct lt_html_column *columns)
{
	lt_html_row_fill(total, statement->total, columns);
	total->name = "Total";
	for (int i = 0; columns[i].title != NULL; i++)
		if (strcmp(columns[i].key, "own_micros") == 0)
			total->has[i] = lt_json_int(
			    statement->total, "cost_micros", &total->values[i]);
}

void
lt_html_tree(const struct lt_statement *statement)
{
	const json_t *const tree = json_object_get(statement->report, "tree");
	const int64_t deepest = deepest_shown(tree);
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row rows[LT_HTML_ROWS_MAX] = {0}, total = {0};
	struct lt_html_table table = {
	    .caption = "Teams, each below the one that it belongs to",
	    .first = "Team",
	    .columns = lt_html_columns(statement, shown, tree_columns),
	    .rows = rows,
	    .total = &total,
	    .bars = true};
	bool any_left_out = false;
	size_t index;
	const json_t *row;

	json_array_foreach(tree, index, row) {
		struct lt_html_row *const to = &rows[table.row_count];

		any_left_out |= level_of(row) > deepest;
		if (level_of(row) > deepest || level_of(row) < 0)
			continue;
		to->name = lt_json_text(row, "team", "");
		to->level = (int)level_of(row);
		lt_html_row_fill(to, row, table.columns);
		table.row_count++;
	}
	fill_total(&total, statement, table.columns);
	if (table.row_count > 0)
		lt_html_table(statement, &table);
	fprintf(statement->out,
	    "<p class=\"note\">What is below a team is in its amount: the rows that are not indented add up to the total%s</p>\n",
	    any_left_out
		? ". Teams further down are left out here and are in the amounts of those above them; json and csv have all."
		: ", and so does what is each team\u2019s own.");
}

/* ---- by label ---- */

bool
lt_html_has_labels(const json_t *report)
{
	json_t *const keys = lt_label_keys(report);
	const bool has = json_array_size(keys) > 0;

	json_decref(keys);
	return has;
}

static void
add_figure(json_t *to, const json_t *team, const char *key)
{
	int64_t sum = 0, value;

	(void)lt_json_int(to, key, &sum);
	if (lt_json_int(team, key, &value) && lt_add(&sum, value))
		json_object_set_new(to, key, json_integer(sum));
}

/* A row for each value of the key, and one for the teams without. */
static json_t *
sums_by(const json_t *report, const char *key)
{
	static const char *const figures[] = {
	    "cost_micros", "carbon_mg", "runs"};
	json_t *const of_value = json_object();
	json_t *const rows = json_array();
	size_t index;
	const json_t *team;

	json_array_foreach(json_object_get(report, "teams"), index, team) {
		const char *const value =
		    lt_json_text(json_object_get(team, "labels"), key, "");
		json_t *row = json_object_get(of_value, value);

		if (row == NULL) {
			row = json_pack("{s:s}", "label", value);
			json_object_set(of_value, value, row);
			json_array_append_new(rows, row);
		}
		for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]);
		     i++)
			add_figure(row, team, figures[i]);
	}
	json_decref(of_value);
	return rows;
}

void
lt_html_by_label(const struct lt_statement *statement)
{
	json_t *const keys = lt_label_keys(statement->report);
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	size_t index;
	const json_t *key;

	json_array_foreach(keys, index, key) {
		const char *const name = json_string_value(key);
		char caption[128];

		if (index == KEYS_SHOWN)
			break;
		json_t *const rows = sums_by(statement->report, name);
		snprintf(
		    caption, sizeof(caption), "By %s, the largest first", name);
		lt_html_groups(statement,
		    &(struct lt_html_groups){.caption = caption,
			.first = name,
			.key = "label",
			.absent = "(none)",
			.others = "others",
			.columns =
			    lt_html_columns(statement, shown, label_columns),
			.groups = rows});
		json_decref(rows);
	}
	fprintf(statement->out,
	    "<p class=\"note\">A team has the labels of the policy, in a closed period those of when it was closed; (none) are teams without that one.%s</p>\n",
	    json_array_size(keys) > KEYS_SHOWN
		? " Labels past the eighth are in csv and json."
		: "");
	json_decref(keys);
}
