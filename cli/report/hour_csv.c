/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each hour of each run as a row of RFC 4180 CSV: kWh x g/kWh is its carbon
 * again, within what docs/model.md says of rounding. Absence is an empty cell,
 * never 0.
 */
#include "report.h"
#include "run_lines.h"

static const struct lt_column columns[] = {
    {"job_id", "job_id", LT_COLUMN_ANY},
    {"submit", "submit", LT_COLUMN_ANY},
    {"account", "account", LT_COLUMN_ANY},
    {"partition", "partition", LT_COLUMN_ANY},
    {"hour", "hour", LT_COLUMN_ANY},
    {"seconds", "seconds", LT_COLUMN_ANY},
    {"correction", "correction", LT_COLUMN_ANY},
    {"zone", "zone", LT_COLUMN_ANY},
    {"source", "source", LT_COLUMN_ANY},
    {"quality", "quality", LT_COLUMN_ANY},
    {"g_per_kwh", "g_per_kwh", LT_COLUMN_ANY},
    {"issued", "issued", LT_COLUMN_ANY},
    {"pue", "pue", LT_COLUMN_ANY},
    {"market_source", "market_source", LT_COLUMN_ANY},
    {"market_g_per_kwh", "market_g_per_kwh", LT_COLUMN_ANY},
    {"energy_kwh", "energy_wh", LT_COLUMN_ENERGY},
    {"location_kg_co2e", "location_mg", LT_COLUMN_CARBON},
    {"market_kg_co2e", "market_mg", LT_COLUMN_CARBON},
    {"embodied_kg_co2e", "embodied_mg", LT_COLUMN_CARBON},
    {"kg_co2e", "carbon_mg", LT_COLUMN_CARBON},
    {"cost", "money_micros", LT_COLUMN_MONEY},
};
static const struct lt_row_columns hour_columns = {
    columns, sizeof(columns) / sizeof(columns[0]), .account = 2, .first = ""};

static int
begin(struct lt_rows *rows, struct lt_error *err)
{
	(void)err;
	lt_rows_headers(rows, &hour_columns, "");
	return LT_OK;
}

static int
print_hour(
    struct lt_rows *rows, const char *json, size_t length, struct lt_error *err)
{
	return lt_rows_print(rows, &hour_columns, json, length, err);
}

const struct lt_rows_kind lt_hour_csv = {
    LT_HOURS_QUERY, lt_rows_team, begin, print_hour, NULL, 0};
