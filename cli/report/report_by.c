/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --by: the groups of lowtided's answer as a table or CSV, whose
 * columns add up to the statement.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_tables.h"
#include "units.h"

enum {
	SHOWN = 13,
	DIMENSIONS_MAX = 4,
	HOUR_S = 3600,
	NAME_SIZE = 80,
	TEXT_SIZE = 288
};
#define LABEL "label:"

static const struct {
	const char *key, *title;
	enum lt_unit unit;
	int64_t divisor;	 /* of what is shown */
	const char *not_without; /* shown only where some group has that */
} shown[SHOWN] = {
    {"runs", "RUNS", LT_UNIT_COUNT, 1, NULL},
    {"cost_micros", "COST", LT_UNIT_MONEY, 1, NULL},
    {"carbon_mg", "CO2e kg", LT_UNIT_CARBON, 1, NULL},
    {"energy_wh", "ENERGY kWh", LT_UNIT_ENERGY, 1, NULL},
    {"node_s", "NODE-HOURS", LT_UNIT_COUNT, HOUR_S, NULL},
    {"gpu_s", "GPU-HOURS", LT_UNIT_COUNT, HOUR_S, NULL},
    {"failed_runs", "FAILED", LT_UNIT_COUNT, 1, NULL},
    {"failed_micros", "COST OF FAILED", LT_UNIT_MONEY, 1, NULL},
    {"idle_micros", "IDLE", LT_UNIT_MONEY, 1, "measured_micros"},
    {"measured_micros", "OF MEASURED", LT_UNIT_MONEY, 1, "measured_micros"},
    {"carbon_charge_micros", "CARBON CHARGE", LT_UNIT_MONEY, 1,
	"carbon_charge_micros"},
    {"discount_micros", "DISCOUNT", LT_UNIT_MONEY, 1, "discount_micros"},
    {"unpriced_runs", "UNPRICED", LT_UNIT_COUNT, 1, "unpriced_runs"},
};

static const struct lt_column columns[] = {
    {"runs", "runs", LT_COLUMN_ANY},
    {"cost", "cost_micros", LT_COLUMN_MONEY},
    {"kg_co2e", "carbon_mg", LT_COLUMN_CARBON},
    {"energy_wh", "energy_wh", LT_COLUMN_ANY},
    {"without_lowtide", "base_micros", LT_COLUMN_MONEY},
    {"without_lowtide_kg_co2e", "base_mg", LT_COLUMN_CARBON},
    {"node_seconds", "node_s", LT_COLUMN_ANY},
    {"cpu_seconds", "cpu_s", LT_COLUMN_ANY},
    {"gpu_seconds", "gpu_s", LT_COLUMN_ANY},
    {"failed_runs", "failed_runs", LT_COLUMN_ANY},
    {"failed_cost", "failed_micros", LT_COLUMN_MONEY},
    {"estimated_runs", "estimated_runs", LT_COLUMN_ANY},
    {"estimated_kg_co2e", "estimated_mg", LT_COLUMN_CARBON},
    {"measured_cost", "measured_micros", LT_COLUMN_MONEY},
    {"idle_cost", "idle_micros", LT_COLUMN_MONEY},
    {"carbon_charge", "carbon_charge_micros", LT_COLUMN_MONEY},
    {"discount", "discount_micros", LT_COLUMN_MONEY},
    {NULL, NULL, LT_COLUMN_ANY},
};

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

/* "team,partition" -> its names; how many. */
static int
split(char names[DIMENSIONS_MAX][NAME_SIZE], const char *by)
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

/* A column as texts, each amount rounded by itself. */
static bool
fill(char (*texts)[LT_FIGURE_SIZE], const json_t *groups, int figure,
    const char *currency)
{
	const size_t count = json_array_size(groups);
	int64_t *const values = calloc(count + 1, sizeof(*values));
	int64_t sum = 0;

	if (values == NULL)
		return false;
	for (size_t i = 0; i < count; i++) {
		(void)lt_json_int(
		    json_array_get(groups, i), shown[figure].key, &values[i]);
		values[i] /= shown[figure].divisor;
		sum += values[i];
	}
	lt_round_each(values, (int)count, &sum,
	    lt_smallest_shown(shown[figure].unit, currency));
	for (size_t i = 0; i < count; i++)
		if (shown[figure].unit == LT_UNIT_MONEY &&
		    lt_group_is_unpriced(json_array_get(groups, i)))
			snprintf(texts[i], LT_FIGURE_SIZE, "-");
		else
			lt_cell_text(texts[i], LT_FIGURE_SIZE, values[i],
			    shown[figure].unit, currency);
	lt_cell_text(
	    texts[count], LT_FIGURE_SIZE, sum, shown[figure].unit, currency);
	free(values);
	return true;
}

/* "(none)": such as runs without a WCKey; adjustments say what they are. */
static const char *
name_of(char out[TEXT_SIZE], const json_t *group, const char *dimension)
{
	const char *const text = lt_json_text(group, dimension, "");
	const bool is_adjustment =
	    json_is_true(json_object_get(group, "adjustment"));

	if (is_adjustment && strncmp(dimension, LABEL, strlen(LABEL)) == 0) {
		snprintf(out, TEXT_SIZE, "%s (adjustments)",
		    text[0] ? text : "(none)");
		return out;
	}
	return text[0] ? text : is_adjustment ? "(adjustments)" : "(none)";
}

struct by { /* what is shown of the groups */
	const json_t *groups;
	char names[DIMENSIONS_MAX][NAME_SIZE];
	int dimensions, figures[SHOWN], figure_count;
	char (*texts)[LT_FIGURE_SIZE]; /* a column of rows after the other */
};

static void
add_rows(struct lt_table *table, const struct by *b)
{
	const json_t *const groups = b->groups;
	const int dimensions = b->dimensions;
	const size_t count = json_array_size(groups);
	const char *cells[DIMENSIONS_MAX + SHOWN];
	char names[DIMENSIONS_MAX][TEXT_SIZE];

	for (size_t row = 0; row <= count; row++) {
		const json_t *const group = json_array_get(groups, row);

		for (int i = 0; i < dimensions; i++)
			cells[i] = row < count
				       ? name_of(names[i], group, b->names[i])
				   : i == 0 ? "TOTAL"
					    : "";
		for (int i = 0; i < b->figure_count; i++)
			cells[dimensions + i] =
			    b->texts[(size_t)b->figures[i] * (count + 1) + row];
		if (row == count)
			lt_table_rule(table);
		lt_table_row(table, cells);
	}
}

static bool
has_any(const json_t *groups, const char *key)
{
	size_t index;
	const json_t *group;

	json_array_foreach(groups, index, group) {
		int64_t value;

		if (lt_json_int(group, key, &value) && value != 0)
			return true;
	}
	return false;
}

static void
fill_heads(struct lt_table_column *heads,
    char titles[DIMENSIONS_MAX][NAME_SIZE], struct by *b, bool has_money)
{
	for (int i = 0; i < b->dimensions; i++) {
		const char *const name =
		    strncmp(b->names[i], LABEL, strlen(LABEL)) == 0
			? b->names[i] + strlen(LABEL)
			: b->names[i];

		for (int k = 0; k == 0 || name[k - 1] != '\0'; k++)
			titles[i][k] = (char)toupper((unsigned char)name[k]);
		heads[i] = (struct lt_table_column){titles[i], false};
	}
	for (int i = 0; i < SHOWN; i++) {
		const char *const key = shown[i].not_without;

		if ((shown[i].unit == LT_UNIT_MONEY && !has_money) ||
		    (key != NULL && !has_any(b->groups, key)))
			continue;
		heads[b->dimensions + b->figure_count] =
		    (struct lt_table_column){shown[i].title, true};
		b->figures[b->figure_count++] = i;
	}
}

int
lt_report_by_table(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	const char *by = "";
	struct by b = {.groups = lt_report_groups(report, &by)};
	const size_t rows = json_array_size(b.groups) + 1;
	struct lt_table_column heads[DIMENSIONS_MAX + SHOWN + 1] = {0};
	char titles[DIMENSIONS_MAX][NAME_SIZE];

	b.dimensions = split(b.names, by);
	fill_heads(heads, titles, &b, currency[0]);
	b.texts = calloc(rows * SHOWN, sizeof(*b.texts));
	bool ok = b.texts != NULL;
	for (int i = 0; ok && i < SHOWN; i++)
		ok = fill(b.texts + (size_t)i * rows, b.groups, i, currency);
	struct lt_table *const table = ok ? lt_table_new(heads) : NULL;
	if (table != NULL) {
		add_rows(table, &b);
		fprintf(out, "\nBy %s\n", by);
		lt_table_fit(
		    table, look->columns, (1u << (unsigned)b.dimensions) - 1);
		lt_table_print(out, table, look->color);
	} else {
		lt_fail(err, LT_ENOMEM, "no memory");
	}
	lt_table_free(table);
	free(b.texts);
	return err->code;
}

static void
put_csv_figures(FILE *out, const json_t *group, bool has_money)
{
	for (const struct lt_column *c = columns; c->key != NULL; c++) {
		int64_t value;

		fputc(',', out);
		if (!lt_json_int(group, c->key, &value) ||
		    (c->kind == LT_COLUMN_MONEY && !has_money))
			continue;
		if (c->kind == LT_COLUMN_ANY)
			fprintf(out, "%lld", (long long)value);
		else
			lt_csv_amount(out, c->kind, value);
	}
}

/* The labels of each team, by its name. */
static json_t *
labels_by_team(const json_t *report)
{
	json_t *const all = json_object();
	size_t i;
	const json_t *team;

	json_array_foreach(json_object_get(report, "teams"), i, team)
		json_object_set(all, lt_json_text(team, "team", ""),
		    json_object_get(team, "labels"));
	return all;
}

int
lt_report_by_csv(FILE *out, const json_t *report, struct lt_error *err)
{
	const bool has_money = lt_json_text(report, "currency", "")[0];
	const char *by = "";
	const json_t *const groups = lt_report_groups(report, &by);
	char names[DIMENSIONS_MAX][NAME_SIZE];
	const int dimensions = split(names, by);
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
	for (const struct lt_column *c = columns; c->key != NULL; c++)
		fprintf(out, ",%s", c->header);
	lt_label_headers(out, keys);
	fputs(",unpriced_runs\r\n", out);
	json_array_foreach(groups, i, group) {
		int64_t unpriced = 0;

		fputs(json_is_true(json_object_get(group, "adjustment"))
			  ? "adjustment"
			  : "runs",
		    out);
		for (int k = 0; k < dimensions; k++) {
			fputc(',', out);
			lt_csv_text(out, lt_json_text(group, names[k], ""));
		}
		lt_period_cells(out, report);
		put_csv_figures(out, group, has_money);
		lt_label_cells(out, keys,
		    json_object_get(labels, lt_json_text(group, "team", "")));
		(void)lt_json_int(group, "unpriced_runs", &unpriced);
		fprintf(out, ",%lld\r\n", (long long)unpriced);
	}
	json_decref(keys);
	json_decref(labels);
	return ferror(out) ? lt_fail(err, LT_EIO, "can't write the report")
			   : LT_OK;
}
