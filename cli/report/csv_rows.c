/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of RFC 4180 CSV whose columns are members of a row of JSON; what the
 * report has for all of a team is behind them.
 */
#include <assert.h>

#include "columns.h"
#include "report.h"
#include "run_lines.h"

void
lt_rows_team(FILE *out, const struct lt_rows *rows, const json_t *team)
{
	lt_period_cells(out, rows->report);
	lt_label_cells(out, rows->label_keys, json_object_get(team, "labels"));
}

void
lt_rows_headers(struct lt_rows *rows, const struct lt_row_columns *columns,
    const char *first)
{
	fputs(first, rows->out);
	for (int i = 0; i < columns->count; i++)
		fprintf(rows->out, "%s%s", i > 0 ? "," : "",
		    columns->columns[i].header);
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
lt_rows_print(struct lt_rows *rows, const struct lt_row_columns *columns,
    const char *json, size_t length, struct lt_error *err)
{
	const struct lt_column *const all = columns->columns;
	const int count = columns->count;
	const char *keys[LT_ROW_COLUMNS_MAX];
	struct lt_field fields[LT_ROW_COLUMNS_MAX];
	struct lt_field_room room = {.large = NULL};

	assert(count <= LT_ROW_COLUMNS_MAX);
	for (int i = 0; i < count; i++)
		keys[i] = all[i].key;
	if (lt_run_fields(fields, &(struct lt_field_keys){keys, count}, json,
		length, err))
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
	fputs(lt_rows_of_account(
		  rows, lt_field_text(&fields[columns->account], &room)),
	    rows->out);
	fputs("\r\n", rows->out);
	json_decref(room.large);
	return LT_OK;
}
