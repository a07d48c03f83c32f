/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each row of a report has from the report itself, written once for all
 * rows: its period, and by the account the labels of the team.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of an object, sorted. */
static json_t *
sorted_keys(json_t *set)
{
	json_t *const keys = json_array();
	const char **const sorted =
	    calloc(json_object_size(set) + 1, sizeof(*sorted));
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

		snprintf(
		    name, sizeof(name), "label_%s", json_string_value(key));
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
		lt_csv_text(
		    out, lt_json_text(labels, json_string_value(key), ""));
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
		json_object_set_new(rows->of_account,
		    lt_json_text(team, "team", ""), json_string(text));
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
	const char *const text =
	    json_string_value(json_object_get(rows->of_account, account));

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
