/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as RFC 4180 CSV with exact decimals: a row per team and one
 * total. Absence is an empty cell, never 0.
 */
#include "cli.h"
#include "report.h"
#include "units.h"

static const struct lt_column team_columns[] = {
    {"opening", "opening_micros", LT_COLUMN_MONEY},
    {"charges", "charges_micros", LT_COLUMN_MONEY},
    {"corrections", "corrections_micros", LT_COLUMN_MONEY},
    {"adjustments", "adjustments_micros", LT_COLUMN_MONEY},
    {"closing", "closing_micros", LT_COLUMN_MONEY},
    {"budget", "budget_micros", LT_COLUMN_MONEY},
    {"actual", "actual_micros", LT_COLUMN_MONEY},
    {"held", "held_micros", LT_COLUMN_MONEY},
    {"available", "available_micros", LT_COLUMN_MONEY},
    {"without_lowtide", "base_micros", LT_COLUMN_MONEY},
    {"saved", "saved_micros", LT_COLUMN_MONEY},
    {"opening_kg_co2e", "opening_mg", LT_COLUMN_CARBON},
    {"charges_kg_co2e", "charges_mg", LT_COLUMN_CARBON},
    {"corrections_kg_co2e", "corrections_mg", LT_COLUMN_CARBON},
    {"adjustments_kg_co2e", "adjustments_mg", LT_COLUMN_CARBON},
    {"closing_kg_co2e", "closing_mg", LT_COLUMN_CARBON},
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
    {NULL, NULL, LT_COLUMN_ANY},
};

void
lt_csv_amount(FILE *out, enum lt_column_kind kind, int64_t value)
{
	char text[48];

	fputs(kind == LT_COLUMN_MONEY
		  ? lt_micros_exact(text, sizeof(text), value)
		  : lt_kg_exact(text, sizeof(text), value),
	    out);
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

static void
print_team(FILE *out, const json_t *report, const json_t *row, bool total)
{
	const json_t *const period = json_object_get(report, "period");
	const char *const texts[] = {
	    lt_json_text(period, "label", ""),
	    lt_json_text(period, "start", ""),
	    lt_json_text(period, "end", ""),
	    lt_json_text(report, "cluster", ""),
	    lt_json_text(report, "currency", ""),
	};
	const bool has_money = texts[4][0];

	fputs(total ? "total," : "team,", out);
	lt_csv_text(out, total ? "" : lt_json_text(row, "team", ""));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fputc(',', out);
		lt_csv_text(out, texts[i]);
	}
	for (const struct lt_column *column = team_columns; column->key != NULL;
	     column++) {
		fputc(',', out);
		if (has_money || column->kind != LT_COLUMN_MONEY)
			print_value(out, row, column);
	}
	fputs("\r\n", out);
}

void
lt_report_csv(FILE *out, const json_t *report)
{
	size_t index;
	const json_t *team;

	fputs("row,team,period,period_start,period_end,cluster,currency", out);
	for (const struct lt_column *column = team_columns; column->key != NULL;
	     column++)
		fprintf(out, ",%s", column->header);
	fputs("\r\n", out);
	json_array_foreach(json_object_get(report, "teams"), index, team)
		print_team(out, report, team, false);
	print_team(out, report, json_object_get(report, "total"), true);
}
