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
    /* an adjustment's */
    {"made", "made", LT_COLUMN_ANY},
    {"who", "who", LT_COLUMN_ANY},
    {"reason", "reason", LT_COLUMN_ANY},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
enum { ACCOUNT = 4 };

static void
print_amount(FILE *out, const struct lt_field *field, enum lt_column_kind kind)
{
	int64_t value;

	if (lt_field_int(field, &value))
		lt_csv_amount(out, kind, value);
}

static int
print_row(struct lt_rows *rows, const char *kind, const char *json,
    size_t length, struct lt_error *err)
{
	static const char *keys[COLUMNS];
	struct lt_field fields[COLUMNS];
	struct lt_field_room room = {.large = NULL};

	for (int i = 0; keys[COLUMNS - 1] == NULL && i < COLUMNS; i++)
		keys[i] = columns[i].key;
	if (lt_run_fields(fields, &(struct lt_field_keys){keys, COLUMNS}, json,
		length, err))
		return err->code;
	fputs(kind, rows->out);
	for (int i = 0; i < COLUMNS; i++) {
		fputc(',', rows->out);
		if (columns[i].kind == LT_COLUMN_ANY)
			lt_field_csv(rows->out, &fields[i]);
		else if (rows->has_money || columns[i].kind == LT_COLUMN_CARBON)
			print_amount(rows->out, &fields[i], columns[i].kind);
	}
	fputs(lt_rows_of_account(rows, lt_field_text(&fields[ACCOUNT], &room)),
	    rows->out);
	fputs("\r\n", rows->out);
	json_decref(room.large);
	return LT_OK;
}

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
	print_row(rows, "adjustment", text, strlen(text), err);
	free(text);
	return err->code;
}

static void
print_team(FILE *out, const struct lt_rows *rows, const json_t *team)
{
	lt_period_cells(out, rows->report);
	lt_label_cells(out, rows->label_keys, json_object_get(team, "labels"));
}

static int
begin(struct lt_rows *rows, struct lt_error *err)
{
	size_t index;
	const json_t *adjustment;

	fputs("row", rows->out);
	for (int i = 0; i < COLUMNS; i++)
		fprintf(rows->out, ",%s", columns[i].header);
	fputs(LT_PERIOD_HEADERS("period_state"), rows->out);
	lt_label_headers(rows->out, rows->label_keys);
	fputs("\r\n", rows->out);
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
	return print_row(rows, "run", json, length, err);
}

const struct lt_rows_kind lt_run_csv = {print_team, begin, print_run};
