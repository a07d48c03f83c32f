/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --balance: what lowtide did in each of twelve months, for good
 * and ill, as a table or CSV.
 */
#include "cli.h"
#include "report.h"
#include "report_tables.h"

const char lt_report_balance_note[] =
    "Moved: runs. Saved: by the model; measured: against jobs that were kept (holdout), where enough were. Hours waited: how much later than at home jobs were planned. Worse: moved jobs that cost or emitted more than they would have at home, of those of which both are known. Refused: jobs.";

static const struct figure {
	const char *key, *title;
	enum lt_unit unit;
} figures[] = {
    {"runs", "RUNS", LT_UNIT_COUNT},
    {"moved_runs", "MOVED", LT_UNIT_COUNT},
    {"saved_micros", "SAVED", LT_UNIT_MONEY},
    {"measured_micros", "MEASURED", LT_UNIT_MONEY},
    {"saved_mg", "SAVED CO2e kg", LT_UNIT_CARBON},
    {"measured_mg", "MEASURED", LT_UNIT_CARBON},
    {"waited_s", "WAITED h", LT_UNIT_HOURS},
    {"worse_jobs", "WORSE", LT_UNIT_COUNT},
    {"worse_of_jobs", "OF JOBS", LT_UNIT_COUNT},
    {"refused_jobs", "REFUSED", LT_UNIT_COUNT},
};
enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static int
check_row(const json_t *row, struct lt_error *err)
{
	for (int i = 0; i < FIGURES; i++) {
		const json_t *const value =
		    json_object_get(row, figures[i].key);

		if (!json_is_integer(value) && !json_is_null(value))
			return lt_fail(err, LT_EINPUT,
			    "the report's %s of the balance is no integer",
			    figures[i].key);
	}
	return LT_OK;
}

int
lt_report_balance_check(const json_t *report, struct lt_error *err)
{
	const json_t *const balance = json_object_get(report, "balance");
	const json_t *const months = json_object_get(balance, "months");
	int code = LT_OK;
	size_t index;
	const json_t *row;

	if (!json_is_array(months))
		return lt_fail(err, LT_EVERSION,
		    "lowtided's answer has no balance: it may be an older one");
	json_array_foreach(months, index, row)
		if (code == LT_OK)
			code = check_row(row, err);
	return code == LT_OK ? check_row(json_object_get(balance, "total"), err)
			     : code;
}

/* Without money those of it are left out. */
static void
add_row(struct lt_table *table, const json_t *row, const char *name,
    const char *currency)
{
	char texts[FIGURES][LT_FIGURE_SIZE];
	const char *cells[1 + FIGURES] = {name};
	int count = 1;

	for (int i = 0; i < FIGURES; i++) {
		const enum lt_unit unit = figures[i].unit;
		int64_t value;

		if (unit == LT_UNIT_MONEY && !currency[0])
			continue;
		snprintf(texts[i], sizeof(texts[i]), "n/a");
		if (lt_json_int(row, figures[i].key, &value))
			lt_cell_alone(texts[i], value, unit, currency);
		cells[count++] = texts[i];
	}
	lt_table_row(table, cells);
}

int
lt_report_balance_table(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	const json_t *const balance = json_object_get(report, "balance");
	const json_t *const total = json_object_get(balance, "total");
	struct lt_table_column columns[FIGURES + 2] = {{"MONTH", false}};
	char title[80];
	size_t index;
	const json_t *row;
	int count = 1;

	for (int i = 0; i < FIGURES; i++)
		if (figures[i].unit != LT_UNIT_MONEY || currency[0])
			columns[count++] =
			    (struct lt_table_column){figures[i].title, true};
	struct lt_table *const table = lt_table_new(columns);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(balance, "months"), index, row)
		add_row(table, row, lt_json_text(row, "label", "?"), currency);
	lt_table_rule(table);
	add_row(table, total, "TOTAL", currency);
	snprintf(title, sizeof(title), "What lowtide did, %s",
	    lt_json_text(total, "label", "?"));
	lt_report_section(out, table, title, currency, look);
	lt_table_free(table);
	fprintf(out, "%s\n", lt_report_balance_note);
	return LT_OK;
}

void
lt_report_balance_csv(FILE *out, const json_t *report)
{
	static const struct lt_column columns[] = {
	    {"runs", "runs", LT_COLUMN_ANY},
	    {"moved_runs", "moved_runs", LT_COLUMN_ANY},
	    {"saved", "saved_micros", LT_COLUMN_MONEY},
	    {"saved_measured", "measured_micros", LT_COLUMN_MONEY},
	    {"saved_kg_co2e", "saved_mg", LT_COLUMN_CARBON},
	    {"saved_kg_co2e_measured", "measured_mg", LT_COLUMN_CARBON},
	    {"waited_s", "waited_s", LT_COLUMN_ANY},
	    {"worse_jobs", "worse_jobs", LT_COLUMN_ANY},
	    {"worse_of_jobs", "worse_of_jobs", LT_COLUMN_ANY},
	    {"refused_jobs", "refused_jobs", LT_COLUMN_ANY},
	    {NULL, NULL, LT_COLUMN_ANY},
	};
	const json_t *const months =
	    json_object_get(json_object_get(report, "balance"), "months");
	size_t index;
	const json_t *row;

	fputs("month,state,currency", out);
	for (const struct lt_column *c = columns; c->key != NULL; c++)
		fprintf(out, ",%s", c->header);
	fputs("\r\n", out);
	json_array_foreach(months, index, row) {
		lt_csv_text(out, lt_json_text(row, "label", ""));
		fputc(',', out);
		lt_csv_text(out, lt_json_text(row, "state", ""));
		fputc(',', out);
		lt_csv_text(out, lt_json_text(report, "currency", ""));
		lt_csv_cells(out, report, row, columns);
		fputs("\r\n", out);
	}
}
