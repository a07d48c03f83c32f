/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --by: the groups of lowtided's answer as a table or CSV, whose columns add up to
 * the statement. Columns that no group has are left out of the table.
 */
#include <ctype.h>
#include <string.h>

#include "columns.h"
#include "lookup.h"
#include "report.h"
#include "units.h"

enum { DIMENSIONS_MAX = 4, NAME_SIZE = 80, TEXT_SIZE = 288 };
#define LABEL "label:"

const json_t *
lt_report_groups(const json_t *report, const char **by)
{
	json_t *const all = json_object_get(report, "by");
	void *const first = json_object_iter(all);

	if (first == NULL)
		return NULL;
	*by = json_object_iter_key(first);
	return json_object_iter_value(first);
}

/* Splits "team,partition" into its names; returns how many. */
static int
split_names(char names[DIMENSIONS_MAX][NAME_SIZE], const char *by)
{
	int count = 0;

	while (*by && count < DIMENSIONS_MAX) {
		const size_t length = strcspn(by, ",");

		snprintf(names[count++], NAME_SIZE, "%.*s", (int)length, by);
		by += length + (by[length] == ',');
	}
	return count;
}

bool
lt_group_is_unpriced(const json_t *group)
{
	int64_t runs = 0, unpriced = 0, cost = 0;

	(void)lt_json_int(group, "runs", &runs);
	(void)lt_json_int(group, "unpriced_runs", &unpriced);
	(void)lt_json_int(group, "cost_micros", &cost);
	return unpriced > 0 && unpriced >= runs && cost == 0;
}

/* Returns a group's name: "(none)" such as for runs without a WCKey; adjustments have a name of
 * their own. */
static const char *
name_of(char out[TEXT_SIZE], const json_t *group, const char *dimension)
{
	const char *const text = lt_json_text(group, dimension, "");
	const bool is_adjustment = json_is_true(json_object_get(group, "adjustment"));

	if (is_adjustment && strncmp(dimension, LABEL, strlen(LABEL)) == 0) {
		snprintf(out, TEXT_SIZE, "%s (adjustments)", text[0] ? text : "(none)");
		return out;
	}
	return text[0] ? text : is_adjustment ? "(adjustments)" : "(none)";
}

/* ---- the table ---- */

struct by { /* the groups and columns to show */
	const json_t *groups;
	const char *currency;
	char names[DIMENSIONS_MAX][NAME_SIZE];
	int dimensions, count;
	const struct lt_figure_kind *figures[LT_GROUP_COLUMNS];
	int64_t sums[LT_GROUP_COLUMNS]; /* of the rows so far */
};

/* Writes a figure as a cell, with whole hours. */
static const char *
figure_cell(char out[LT_FIGURE_SIZE], int64_t value, const struct lt_figure_kind *figure,
    const char *currency)
{
	return lt_cell_alone(
	    out, value, figure->unit == LT_UNIT_HOURS ? LT_UNIT_COUNT : figure->unit, currency);
}

static void
add_group(struct lt_table *table, struct by *b, const json_t *group)
{
	const bool is_unpriced = lt_group_is_unpriced(group);
	const char *cells[DIMENSIONS_MAX + LT_GROUP_COLUMNS];
	char names[DIMENSIONS_MAX][TEXT_SIZE];
	char texts[LT_GROUP_COLUMNS][LT_FIGURE_SIZE];

	for (int i = 0; i < b->dimensions; i++)
		cells[i] = name_of(names[i], group, b->names[i]);
	for (int i = 0; i < b->count; i++) {
		const struct lt_figure_kind *const figure = b->figures[i];
		int64_t value = 0;

		(void)lt_json_int(group, figure->key, &value);
		if (figure->unit == LT_UNIT_HOURS)
			value /= LT_HOUR_S;
		b->sums[i] += value;
		cells[b->dimensions + i] = figure->unit == LT_UNIT_MONEY && is_unpriced
					       ? "-"
					       : figure_cell(texts[i], value, figure, b->currency);
	}
	lt_table_row(table, cells);
}

static void
add_total(struct lt_table *table, const struct by *b)
{
	const char *cells[DIMENSIONS_MAX + LT_GROUP_COLUMNS] = {"TOTAL"};
	char texts[LT_GROUP_COLUMNS][LT_FIGURE_SIZE];

	for (int i = 1; i < b->dimensions; i++)
		cells[i] = "";
	for (int i = 0; i < b->count; i++)
		cells[b->dimensions + i] =
		    figure_cell(texts[i], b->sums[i], b->figures[i], b->currency);
	lt_table_rule(table);
	lt_table_row(table, cells);
}

/* True if a group has the figure, or its column is always shown. */
static bool
is_needed(const json_t *groups, enum lt_group_figure figure)
{
	size_t index;
	const json_t *group;

	if (figure == LT_GROUP_FIGURES)
		return true;
	json_array_foreach(groups, index, group) {
		int64_t value;

		if (lt_json_int(group, LT_ROW(lt_group_figures, figure).key, &value) && value != 0)
			return true;
	}
	return false;
}

static void
fill_heads(struct lt_table_column *heads, char titles[DIMENSIONS_MAX][NAME_SIZE], struct by *b)
{
	for (int i = 0; i < b->dimensions; i++) {
		const char *const name = strncmp(b->names[i], LABEL, strlen(LABEL)) == 0
					     ? b->names[i] + strlen(LABEL)
					     : b->names[i];

		for (int k = 0; k == 0 || name[k - 1] != '\0'; k++)
			titles[i][k] = (char)toupper((unsigned char)name[k]);
		heads[i] = (struct lt_table_column){titles[i], false};
	}
	for (int i = 0; i < LT_GROUP_COLUMNS; i++) {
		const struct lt_group_column *const column = &lt_group_columns[i];
		const struct lt_figure_kind *const figure =
		    &LT_ROW(lt_group_figures, column->figure);

		if (!lt_unit_is_shown(figure->unit, b->currency) ||
		    !is_needed(b->groups, column->needs))
			continue;
		heads[b->dimensions + b->count] = (struct lt_table_column){figure->title, true};
		b->figures[b->count++] = figure;
	}
}

int
lt_report_by_table(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	const char *by = "";
	struct by b = {.groups = lt_report_groups(report, &by),
	    .currency = lt_json_text(report, "currency", "")};
	struct lt_table_column heads[DIMENSIONS_MAX + LT_GROUP_COLUMNS + 1] = {0};
	char titles[DIMENSIONS_MAX][NAME_SIZE];
	size_t index;
	const json_t *group;

	b.dimensions = split_names(b.names, by);
	fill_heads(heads, titles, &b);
	struct lt_table *const table = lt_table_new(heads);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(b.groups, index, group)
		add_group(table, &b, group);
	add_total(table, &b);
	fprintf(out, "\nBy %s\n", by);
	lt_table_fit(table, look->columns, (1u << (unsigned)b.dimensions) - 1);
	lt_table_print(out, table, look->color);
	lt_table_free(table);
	return LT_OK;
}

/* ---- CSV ---- */

static void
put_headers(FILE *out, const enum lt_group_figure *list)
{
	for (; *list != LT_GROUP_FIGURES; list++)
		fprintf(out, ",%s", LT_ROW(lt_group_figures, *list).csv);
}

/* Prints the figures as cells; absent: for those that the group lacks. */
static void
put_figures(FILE *out, const json_t *report, const json_t *group, const enum lt_group_figure *list,
    const char *absent)
{
	for (; *list != LT_GROUP_FIGURES; list++) {
		const struct lt_figure_kind *const figure = &LT_ROW(lt_group_figures, *list);

		fputc(',', out);
		if (json_object_get(group, figure->key) == NULL)
			fputs(absent, out);
		else
			lt_csv_figure(out, report, group, figure);
	}
}

/* Returns the labels of each team, by its name. */
static json_t *
labels_by_team(const json_t *report)
{
	json_t *const all = json_object();
	size_t i;
	const json_t *team;

	json_array_foreach(json_object_get(report, "teams"), i, team)
		json_object_set(
		    all, lt_json_text(team, "team", ""), json_object_get(team, "labels"));
	return all;
}

int
lt_report_by_csv(FILE *out, const json_t *report, struct lt_error *err)
{
	const char *by = "";
	const json_t *const groups = lt_report_groups(report, &by);
	char names[DIMENSIONS_MAX][NAME_SIZE];
	const int dimensions = split_names(names, by);
	bool by_team = false;
	size_t i;
	const json_t *group;

	for (int k = 0; k < dimensions; k++)
		by_team |= strcmp(names[k], "team") == 0;
	json_t *const labels = labels_by_team(report);
	json_t *const keys = by_team ? lt_label_keys(report) : NULL;

	fputs("row", out);
	for (int k = 0; k < dimensions; k++)
		fprintf(out, ",%s", names[k]);
	fputs(LT_PERIOD_HEADERS("period_state"), out);
	put_headers(out, lt_group_csv);
	lt_label_headers(out, keys);
	put_headers(out, lt_group_more_csv);
	fputs("\r\n", out);
	json_array_foreach(groups, i, group) {
		fputs(json_is_true(json_object_get(group, "adjustment")) ? "adjustment" : "runs",
		    out);
		for (int k = 0; k < dimensions; k++) {
			fputc(',', out);
			lt_csv_text(out, lt_json_text(group, names[k], ""));
		}
		lt_period_cells(out, report);
		put_figures(out, report, group, lt_group_csv, "");
		lt_label_cells(out, keys, json_object_get(labels, lt_json_text(group, "team", "")));
		put_figures(out, report, group, lt_group_more_csv, "0");
		fputs("\r\n", out);
	}
	json_decref(keys);
	json_decref(labels);
	return ferror(out) ? lt_fail(err, LT_EIO, "can't write the report") : LT_OK;
}
