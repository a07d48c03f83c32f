/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of RFC 4180 CSV that come one by one, perhaps a million: each run (--runs), and each hour of
 * each run (--carbon). Columns are members of a row of lowtided's JSON. The cells that come from
 * the report itself are made once:
 * its period, and for each account the labels of the team. An absent value is an empty cell, never
 * 0.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "report.h"
#include "run_lines.h"

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the keys of an object, sorted. */
static json_t *
sorted_keys(json_t *set)
{
	json_t *const keys = json_array();
	const char **const sorted = calloc(json_object_size(set) + 1, sizeof(*sorted));
	size_t count = 0;
	const char *key;
	json_t *value;

	if (sorted == NULL)
		return keys;
	json_object_foreach(set, key, value)
		sorted[count++] = key;
	qsort(sorted, count, sizeof(*sorted), by_text);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(keys, json_string(sorted[i]));
	free(sorted);
	return keys;
}

json_t *
lt_label_keys(const json_t *report)
{
	json_t *const set = json_object();
	const json_t *team;
	const char *key;
	json_t *value;
	size_t index;

	json_array_foreach(json_object_get(report, "teams"), index, team)
		json_object_foreach(json_object_get(team, "labels"), key, value)
			json_object_set_new(set, key, json_null());
	json_t *const keys = sorted_keys(set);

	json_decref(set);
	return keys;
}

void
lt_label_headers(FILE *out, const json_t *keys)
{
	size_t index;
	const json_t *key;

	json_array_foreach(keys, index, key) {
		char name[256];

		snprintf(name, sizeof(name), "label_%s", json_string_value(key));
		fputc(',', out);
		lt_csv_text(out, name);
	}
}

void
lt_label_cells(FILE *out, const json_t *keys, const json_t *labels)
{
	size_t index;
	const json_t *key;

	json_array_foreach(keys, index, key) {
		fputc(',', out);
		lt_csv_text(out, lt_json_text(labels, json_string_value(key), ""));
	}
}

void
lt_period_cells(FILE *out, const json_t *report)
{
	const json_t *const period = json_object_get(report, "period");
	const char *const texts[LT_PERIOD_CELLS] = {
	    lt_json_text(period, "label", ""),
	    lt_json_text(period, "first_day", ""),
	    lt_json_text(period, "last_day", ""),
	    lt_json_text(period, "state", ""),
	    lt_json_text(report, "cluster", ""),
	    lt_json_text(report, "currency", ""),
	};

	for (int i = 0; i < LT_PERIOD_CELLS; i++) {
		fputc(',', out);
		lt_csv_text(out, texts[i]);
	}
}

static int
keep_text(struct lt_rows *rows, const json_t *team, struct lt_error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	if (out == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	rows->kind->team(out, rows, team);
	if (fclose(out) != 0)
		lt_fail(err, LT_ENOMEM, "no memory");
	else if (team == NULL)
		rows->other = text;
	else
		json_object_set_new(
		    rows->of_account, lt_json_text(team, "team", ""), json_string(text));
	if (team != NULL || err->code)
		free(text);
	return err->code;
}

int
lt_rows_begin(struct lt_rows *rows, FILE *out, const struct lt_rows_kind *kind,
    const json_t *report, struct lt_error *err)
{
	size_t index;
	const json_t *team;

	*rows = (struct lt_rows){.out = out,
	    .kind = kind,
	    .report = json_deep_copy(report),
	    .label_keys = lt_label_keys(report),
	    .of_account = json_object()};
	rows->has_money = lt_json_text(report, "currency", "")[0] != '\0';
	if (keep_text(rows, NULL, err))
		return err->code;
	json_array_foreach(json_object_get(rows->report, "teams"), index, team)
		if (keep_text(rows, team, err))
			return err->code;
	rows->begun = kind->begin(rows, err) == LT_OK;
	return err->code;
}

const char *
lt_rows_of_account(const struct lt_rows *rows, const char *account)
{
	const char *const text = json_string_value(json_object_get(rows->of_account, account));

	return text != NULL ? text : rows->other;
}

void
lt_rows_free(struct lt_rows *rows)
{
	json_decref(rows->report);
	json_decref(rows->label_keys);
	json_decref(rows->of_account);
	free(rows->other);
	free(rows->own);
	*rows = (struct lt_rows){0};
}

/* ---- columns that are members of the row ---- */

void
lt_rows_team(FILE *out, const struct lt_rows *rows, const json_t *team)
{
	lt_period_cells(out, rows->report);
	lt_label_cells(out, rows->label_keys, json_object_get(team, "labels"));
}

void
lt_rows_headers(struct lt_rows *rows, const struct lt_row_columns *columns, const char *first)
{
	fputs(first, rows->out);
	for (int i = 0; i < columns->count; i++)
		fprintf(rows->out, "%s%s", i > 0 ? "," : "", columns->columns[i].header);
	fputs(LT_PERIOD_HEADERS("period_state"), rows->out);
	lt_label_headers(rows->out, rows->label_keys);
	fputs("\r\n", rows->out);
}

static void
print_amount(FILE *out, const struct lt_field *field, enum lt_column_kind kind)
{
	int64_t value;

	if (lt_field_int(field, &value))
		lt_csv_amount(out,
		    kind == LT_COLUMN_MONEY    ? LT_UNIT_MONEY
		    : kind == LT_COLUMN_CARBON ? LT_UNIT_CARBON
					       : LT_UNIT_ENERGY,
		    value);
}

int
lt_rows_print(struct lt_rows *rows, const struct lt_row_columns *columns, const char *json,
    size_t length, struct lt_error *err)
{
	const struct lt_column *const all = columns->columns;
	const int count = columns->count;
	const char *keys[LT_ROW_COLUMNS_MAX];
	struct lt_field fields[LT_ROW_COLUMNS_MAX];
	struct lt_field_room room = {.large = NULL};

	assert(count <= LT_ROW_COLUMNS_MAX);
	for (int i = 0; i < count; i++)
		keys[i] = all[i].key;
	if (lt_run_fields(
		fields, &(struct lt_field_keys){.names = keys, .count = count}, json, length, err))
		return err->code;
	fputs(columns->first, rows->out);
	for (int i = 0; i < count; i++) {
		if (i > 0)
			fputc(',', rows->out);
		if (all[i].kind == LT_COLUMN_ANY)
			lt_field_csv(rows->out, &fields[i]);
		else if (rows->has_money || all[i].kind != LT_COLUMN_MONEY)
			print_amount(rows->out, &fields[i], all[i].kind);
	}
	fputs(lt_rows_of_account(rows, lt_field_text(&fields[columns->account], &room)), rows->out);
	fputs("\r\n", rows->out);
	json_decref(room.large);
	return LT_OK;
}

/* ---- runs and adjustments ---- */

/* In the order of lowtided's members, which is the fastest. */
static const struct lt_column run_members[] = {
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
enum { RUN_MEMBERS = sizeof(run_members) / sizeof(run_members[0]), ACCOUNT = 4 };
static const struct lt_row_columns run_columns = {run_members, RUN_MEMBERS, ACCOUNT, "run,"};
static const struct lt_row_columns adjustment_columns = {
    run_members, RUN_MEMBERS, ACCOUNT, "adjustment,"};

/* Prints an adjustment as a row, with the names of a run's members. */
static int
print_adjustment(struct lt_rows *rows, const json_t *adjustment, struct lt_error *err)
{
	static const char *const names[][2] = {{"account", "team"},
	    {"money_micros", "money_micros"}, {"carbon_mg", "carbon_mg"}, {"made", "made"},
	    {"who", "who"}, {"reason", "reason"}};
	json_t *const row = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set(row, names[i][0], json_object_get(adjustment, names[i][1]));
	char *const text = json_dumps(row, JSON_COMPACT);

	json_decref(row);
	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	lt_rows_print(rows, &adjustment_columns, text, strlen(text), err);
	free(text);
	return err->code;
}

static int
begin_runs(struct lt_rows *rows, struct lt_error *err)
{
	size_t index;
	const json_t *adjustment;

	lt_rows_headers(rows, &run_columns, "row,");
	json_array_foreach(json_object_get(rows->report, "adjustments"), index, adjustment)
		if (print_adjustment(rows, adjustment, err))
			return err->code;
	return LT_OK;
}

static int
print_run(struct lt_rows *rows, const char *json, size_t length, struct lt_error *err)
{
	return lt_rows_print(rows, &run_columns, json, length, err);
}

const struct lt_rows_kind lt_run_csv = {"runs=all", lt_rows_team, begin_runs, print_run, NULL, 0};

/* ---- hours: kWh x g/kWh is the carbon again, within what docs/model.md says
 * ---- */

static const struct lt_column hour_members[] = {
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
    hour_members, sizeof(hour_members) / sizeof(hour_members[0]), .account = 2, .first = ""};

static int
begin_hours(struct lt_rows *rows, struct lt_error *err)
{
	(void)err;
	lt_rows_headers(rows, &hour_columns, "");
	return LT_OK;
}

static int
print_hour(struct lt_rows *rows, const char *json, size_t length, struct lt_error *err)
{
	return lt_rows_print(rows, &hour_columns, json, length, err);
}

const struct lt_rows_kind lt_hour_csv = {
    LT_HOURS_QUERY, lt_rows_team, begin_hours, print_hour, NULL, 0};
