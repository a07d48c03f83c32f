/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as RFC 4180 CSV with exact decimals: a row per team and no
 * other, so that a column adds up to the total. Absence is an empty cell, never
 * 0.
 */
#include "cli.h"
#include "report.h"
#include "report_tables.h"
#include "units.h"

static const struct lt_column team_columns[] = {
    {"charges", "charges_micros", LT_COLUMN_MONEY},
    {"corrections", "corrections_micros", LT_COLUMN_MONEY},
    {"adjustments", "adjustments_micros", LT_COLUMN_MONEY},
    {"cost", "cost_micros", LT_COLUMN_MONEY},
    {"budget", "budget_micros", LT_COLUMN_MONEY},
    {"actual", "actual_micros", LT_COLUMN_MONEY},
    {"held", "held_micros", LT_COLUMN_MONEY},
    {"available", "available_micros", LT_COLUMN_MONEY},
    {"without_lowtide", "base_micros", LT_COLUMN_MONEY},
    {"saved", "saved_micros", LT_COLUMN_MONEY},
    {"charges_kg_co2e", "charges_mg", LT_COLUMN_CARBON},
    {"corrections_kg_co2e", "corrections_mg", LT_COLUMN_CARBON},
    {"adjustments_kg_co2e", "adjustments_mg", LT_COLUMN_CARBON},
    {"kg_co2e", "carbon_mg", LT_COLUMN_CARBON},
    {"budget_kg_co2e", "budget_mg", LT_COLUMN_CARBON},
    {"actual_kg_co2e", "actual_mg", LT_COLUMN_CARBON},
    {"held_kg_co2e", "held_mg", LT_COLUMN_CARBON},
    {"available_kg_co2e", "available_mg", LT_COLUMN_CARBON},
    {"without_lowtide_kg_co2e", "base_mg", LT_COLUMN_CARBON},
    {"saved_kg_co2e", "saved_mg", LT_COLUMN_CARBON},
    {"energy_wh", "energy_wh", LT_COLUMN_ANY},
    {"runs", "runs", LT_COLUMN_ANY},
    {"moved_runs", "moved_runs", LT_COLUMN_ANY},
    {"unpriced_runs", "unpriced_runs", LT_COLUMN_ANY},
    {"replayed_signals", "replay", LT_COLUMN_ANY},
    {"nodes", "nodes_micros", LT_COLUMN_MONEY},
    {"carbon_charge", "carbon_charge_micros", LT_COLUMN_MONEY},
    {"discount", "discount_micros", LT_COLUMN_MONEY},
    {NULL, NULL, LT_COLUMN_ANY},
};

void
lt_csv_amount(FILE *out, enum lt_column_kind kind, int64_t value)
{
	char text[LT_FIGURE_SIZE];

	if (kind == LT_COLUMN_MONEY)
		lt_micros_exact(text, sizeof(text), value);
	else if (kind == LT_COLUMN_CARBON)
		lt_kg_exact(text, sizeof(text), value);
	else
		lt_cell_text(text, sizeof(text), value, LT_UNIT_ENERGY, "");
	fputs(text, out);
}

static void
print_any(FILE *out, const json_t *value)
{
	if (json_is_string(value))
		lt_csv_text(out, json_string_value(value));
	else if (json_is_integer(value))
		fprintf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		fprintf(out, "%.9g", json_real_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", out);
}

static void
print_value(FILE *out, const json_t *row, const struct lt_column *column)
{
	int64_t value;

	if (column->kind == LT_COLUMN_ANY)
		print_any(out, json_object_get(row, column->key));
	else if (lt_json_int(row, column->key, &value))
		lt_csv_amount(out, column->kind, value);
}

void
lt_csv_cells(FILE *out, const json_t *report, const json_t *row,
    const struct lt_column *columns)
{
	const bool has_money = lt_json_text(report, "currency", "")[0];

	for (const struct lt_column *c = columns; c->key != NULL; c++) {
		fputc(',', out);
		if (has_money || c->kind != LT_COLUMN_MONEY)
			print_value(out, row, c);
	}
}

void
lt_report_csv(FILE *out, const json_t *report)
{
	json_t *const keys = lt_label_keys(report);
	size_t index;
	const json_t *team;

	fputs("team" LT_PERIOD_HEADERS("state"), out);
	for (const struct lt_column *c = team_columns; c->key != NULL; c++)
		fprintf(out, ",%s", c->header);
	lt_label_headers(out, keys);
	fputs("\r\n", out);
	json_array_foreach(json_object_get(report, "teams"), index, team) {
		lt_csv_text(out, lt_json_text(team, "team", ""));
		lt_period_cells(out, report);
		lt_csv_cells(out, report, team, team_columns);
		lt_label_cells(out, keys, json_object_get(team, "labels"));
		fputs("\r\n", out);
	}
	json_decref(keys);
}
