/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs and adjustments as rows of RFC 4180 CSV with exact decimals, whose cost
 * adds up to the statement. Absence is an empty cell, never 0.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "run_lines.h"

/* In the order of lowtided's members, where they are found at once. */
static const struct lt_column columns[] = {
    {"job_id", "job_id", LT_COLUMN_ANY},
    {"array_job_id", "array_job_id", LT_COLUMN_ANY},
    {"array_task", "array_task", LT_COLUMN_ANY},
    {"user", "user", LT_COLUMN_ANY},
    {"account", "account", LT_COLUMN_ANY},
    {"partition", "partition", LT_COLUMN_ANY},
    {"submit", "submit", LT_COLUMN_ANY},
    {"start", "start", LT_COLUMN_ANY},
    {"end", "end", LT_COLUMN_ANY},
    {"nodes", "nodes", LT_COLUMN_ANY},
    {"share", "share", LT_COLUMN_ANY},
    {"cost", "money_micros", LT_COLUMN_MONEY},
    {"kg_co2e", "carbon_mg", LT_COLUMN_CARBON},
    {"energy_wh", "energy_wh", LT_COLUMN_ANY},
    {"without_lowtide", "base_micros", LT_COLUMN_MONEY},
    {"without_lowtide_kg_co2e", "base_mg", LT_COLUMN_CARBON},
    {"corrections", "corrections_micros", LT_COLUMN_MONEY},
    {"corrections_kg_co2e", "corrections_mg", LT_COLUMN_CARBON},
    {"whole_run", "whole_micros", LT_COLUMN_MONEY},
    {"whole_run_kg_co2e", "whole_mg", LT_COLUMN_CARBON},
    {"moved", "moved", LT_COLUMN_ANY},
    {"over_reason", "over_reason", LT_COLUMN_ANY},
    {"quality", "quality", LT_COLUMN_ANY},
    {"gpus", "gpus", LT_COLUMN_ANY},
    {"gpus_from", "gpus_from", LT_COLUMN_ANY},
    {"suspended_s", "suspended_s", LT_COLUMN_ANY},
    {"state", "state", LT_COLUMN_ANY},
    {"exit_code", "exit_code", LT_COLUMN_ANY},
    {"name", "name", LT_COLUMN_ANY},
    {"qos", "qos", LT_COLUMN_ANY},
    {"wckey", "wckey", LT_COLUMN_ANY},
    {"gpu", "gpu", LT_COLUMN_ANY},
    {"cpus", "cpus", LT_COLUMN_ANY},
    {"memory_mib", "memory_mib", LT_COLUMN_ANY},
    {"elapsed_s", "elapsed_s", LT_COLUMN_ANY},
    {"restarts", "restarts", LT_COLUMN_ANY},
    {"cpu_used_ms", "cpu_used_ms", LT_COLUMN_ANY},
    {"gpu_used_ppm", "gpu_used_ppm", LT_COLUMN_ANY},
    {"idle_cost", "idle_micros", LT_COLUMN_MONEY},
    /* an adjustment's */
    {"made", "made", LT_COLUMN_ANY},
    {"who", "who", LT_COLUMN_ANY},
    {"reason", "reason", LT_COLUMN_ANY},
    /* of a run's cost */
    {"carbon_charge", "carbon_charge_micros", LT_COLUMN_MONEY},
    {"discount", "discount_micros", LT_COLUMN_MONEY},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), ACCOUNT = 4 };
static const struct lt_row_columns run_columns = {
    columns, COLUMNS, ACCOUNT, "run,"};
static const struct lt_row_columns adjustment_columns = {
    columns, COLUMNS, ACCOUNT, "adjustment,"};

/* By the names of a run's members. */
static int
print_adjustment(
    struct lt_rows *rows, const json_t *adjustment, struct lt_error *err)
{
	static const char *const names[][2] = {{"account", "team"},
	    {"money_micros", "money_micros"}, {"carbon_mg", "carbon_mg"},
	    {"made", "made"}, {"who", "who"}, {"reason", "reason"}};
	json_t *const row = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set(
		    row, names[i][0], json_object_get(adjustment, names[i][1]));
	char *const text = json_dumps(row, JSON_COMPACT);

	json_decref(row);
	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	lt_rows_print(rows, &adjustment_columns, text, strlen(text), err);
	free(text);
	return err->code;
}

static int
begin(struct lt_rows *rows, struct lt_error *err)
{
	size_t index;
	const json_t *adjustment;

	lt_rows_headers(rows, &run_columns, "row,");
	json_array_foreach(
	    json_object_get(rows->report, "adjustments"), index, adjustment)
		if (print_adjustment(rows, adjustment, err))
			return err->code;
	return LT_OK;
}

static int
print_run(
    struct lt_rows *rows, const char *json, size_t length, struct lt_error *err)
{
	return lt_rows_print(rows, &run_columns, json, length, err);
}

const struct lt_rows_kind lt_run_csv = {
    "runs=all", lt_rows_team, begin, print_run, NULL, 0};
