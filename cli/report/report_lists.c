/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists of lowtide report: adjustments with their reasons, and each run.
 */
#include <string.h>

#include "currency.h"
#include "report.h"
#include "report_tables.h"
#include "units.h"

enum { GRAM_MG = 1000 };

/* Thousandths as "-1234.567". */
static void
thousandths_text(char *out, size_t size, int64_t value)
{
	const uint64_t size_of =
	    value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	snprintf(out, size, "%s%llu.%03llu", value < 0 ? "-" : "",
	    (unsigned long long)(size_of / 1000),
	    (unsigned long long)(size_of % 1000));
}

void
lt_cell_text(char *out, size_t size, int64_t value, enum lt_unit unit,
    const char *currency)
{
	switch (unit) {
	case LT_UNIT_MONEY:
		lt_money_text(out, size, value, currency);
		break;
	case LT_UNIT_CARBON:
		thousandths_text(out, size, value / GRAM_MG);
		break;
	case LT_UNIT_ENERGY:
		thousandths_text(out, size, value);
		break;
	case LT_UNIT_HOURS:
		snprintf(out, size, "%.1f", (double)value / LT_HOUR_S);
		break;
	case LT_UNIT_COUNT:
		snprintf(out, size, "%lld", (long long)value);
		break;
	}
}

int64_t
lt_smallest_shown(enum lt_unit unit, const char *currency)
{
	return unit == LT_UNIT_MONEY	? lt_currency_step(currency)
	       : unit == LT_UNIT_CARBON ? GRAM_MG
					: 1;
}

void
lt_cell_alone(char out[LT_FIGURE_SIZE], int64_t value, enum lt_unit unit,
    const char *currency)
{
	lt_round_each(NULL, 0, &value, lt_smallest_shown(unit, currency));
	lt_cell_text(out, LT_FIGURE_SIZE, value, unit, currency);
}

void
lt_report_section(FILE *out, struct lt_table *table, const char *title,
    const char *currency, const struct lt_report_look *look)
{
	fputc('\n', out);
	lt_print_safe(out, title);
	if (currency[0]) {
		fputs(", ", out);
		lt_print_safe(out, currency);
	}
	fputc('\n', out);
	lt_table_fit(table, look->columns, 1);
	lt_table_print(out, table, look->color);
}

/* A figure of a run or an adjustment, rounded by itself. */
static const char *
row_figure(char out[LT_FIGURE_SIZE], const json_t *row, const char *key,
    enum lt_unit unit, const char *currency)
{
	int64_t value;

	if (!lt_json_int(row, key, &value)) {
		snprintf(out, LT_FIGURE_SIZE, "n/a");
		return out;
	}
	lt_round_each(NULL, 0, &value, lt_smallest_shown(unit, currency));
	lt_cell_text(out, LT_FIGURE_SIZE, value, unit, currency);
	return out;
}

/* As squeue names it: "1234", a task of an array "1230_4". */
static const char *
job_text(char *out, size_t size, const json_t *run)
{
	int64_t id = 0, array = 0, task = 0;

	if (lt_json_int(run, "array_job_id", &array) &&
	    lt_json_int(run, "array_task", &task))
		snprintf(
		    out, size, "%lld_%lld", (long long)array, (long long)task);
	else if (lt_json_int(run, "job_id", &id))
		snprintf(out, size, "%lld", (long long)id);
	else
		snprintf(out, size, "?");
	return out;
}

int
lt_report_runs(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	static const struct lt_table_column columns[] = {
	    {"JOB", true},
	    {"USER", false},
	    {"ACCOUNT", false},
	    {"PARTITION", false},
	    {"NAME", false},
	    {"START", false},
	    {"END", false},
	    {"STATE", false},
	    {"CO2e kg", true},
	    {"ENERGY kWh", true},
	    {"MOVED", false},
	    {"QUALITY", false},
	    {"COST", true},
	    {NULL, false},
	};
	enum { CUT = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 };
	/* quality, moved, energy, name, end, state, carbon, start */
	static const int drops[] = {11, 10, 9, 4, 6, 7, 8, 5, -1};
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column shown[LT_TABLE_COLUMNS_MAX] = {0};
	const int count = currency[0] ? 13 : 12;
	size_t index;
	const json_t *run;

	memcpy(shown, columns, (size_t)count * sizeof(shown[0]));
	struct lt_table *const table = lt_table_new(shown);

	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(report, "runs"), index, run) {
		char job[48], carbon[LT_FIGURE_SIZE], energy[LT_FIGURE_SIZE],
		    money[LT_FIGURE_SIZE];
		const char *const cells[] = {job_text(job, sizeof(job), run),
		    lt_json_text(run, "user", "?"),
		    lt_json_text(run, "account", "?"),
		    lt_json_text(run, "partition", "?"),
		    lt_json_text(run, "name", "-"),
		    lt_json_text(run, "start", "-"),
		    lt_json_text(run, "end", "-"),
		    lt_json_text(run, "state", "-"),
		    row_figure(
			carbon, run, "carbon_mg", LT_UNIT_CARBON, currency),
		    row_figure(
			energy, run, "energy_wh", LT_UNIT_ENERGY, currency),
		    json_is_true(json_object_get(run, "moved")) ? "yes" : "no",
		    lt_json_text(run, "quality", "-"),
		    row_figure(
			money, run, "money_micros", LT_UNIT_MONEY, currency)};

		lt_table_row(table, cells);
	}
	fputs("\nRuns\n", out);
	lt_table_drop(table, drops);
	lt_table_fit(table, look->columns, CUT);
	lt_table_print(out, table, look->color);
	lt_table_free(table);
	return LT_OK;
}

int
lt_report_adjustments(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	static const struct lt_table_column columns[] = {
	    {"DAY", false},
	    {"TEAM", false},
	    {"CO2e kg", true},
	    {"WHO", false},
	    {"REASON", false},
	    {"MONEY", true},
	    {NULL, false},
	};
	enum { CUT = 1 << 1 | 1 << 3 | 1 << 4 };
	const json_t *const list = json_object_get(report, "adjustments");
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column shown[LT_TABLE_COLUMNS_MAX] = {0};
	size_t index;
	const json_t *adjustment;

	if (json_array_size(list) == 0)
		return LT_OK;
	memcpy(shown, columns, sizeof(columns[0]) * (currency[0] ? 6 : 5));
	struct lt_table *const table = lt_table_new(shown);

	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(list, index, adjustment) {
		char carbon[LT_FIGURE_SIZE], money[LT_FIGURE_SIZE];
		const char *const cells[] = {
		    lt_json_text(adjustment, "day", "?"),
		    lt_json_text(adjustment, "team", "?"),
		    row_figure(carbon, adjustment, "carbon_mg", LT_UNIT_CARBON,
			currency),
		    lt_json_text(adjustment, "who", "?"),
		    lt_json_text(adjustment, "reason", ""),
		    row_figure(money, adjustment, "money_micros", LT_UNIT_MONEY,
			currency)};

		lt_table_row(table, cells);
	}
	fputs("\nAdjustments\n", out);
	lt_table_fit(table, look->columns, CUT);
	lt_table_print(out, table, look->color);
	lt_table_free(table);
	return LT_OK;
}

/* Those past the list are one row. */
int
lt_report_corrections(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	static const struct lt_table_column columns[] = {
	    {"OF", false},
	    {"JOB", true},
	    {"TEAM", false},
	    {"CO2e kg", true},
	    {"WHY", false},
	    {"MONEY", true},
	    {NULL, false},
	};
	enum { CUT = 1 << 2 | 1 << 4 };
	const json_t *const list = json_object_get(report, "corrections");
	const json_t *const more = json_object_get(report, "more_corrections");
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column shown[LT_TABLE_COLUMNS_MAX] = {0};
	const size_t count = json_array_size(list);
	int64_t others = 0;

	if (count == 0)
		return LT_OK;
	(void)lt_json_int(more, "count", &others);
	memcpy(shown, columns, sizeof(columns[0]) * (currency[0] ? 6 : 5));
	struct lt_table *const table = lt_table_new(shown);

	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	for (size_t i = 0; i < count + (others > 0); i++) {
		const json_t *const one =
		    i < count ? json_array_get(list, i) : more;
		char carbon[LT_FIGURE_SIZE], money[LT_FIGURE_SIZE],
		    job[24] = "-", why[64] = "";
		int64_t id;

		if (lt_json_int(one, "job_id", &id))
			snprintf(job, sizeof(job), "%lld", (long long)id);
		if (i == count)
			snprintf(
			    why, sizeof(why), "%lld others", (long long)others);
		lt_table_row(table,
		    (const char *const[]){lt_json_text(one, "month", "-"), job,
			lt_json_text(one, "team", "-"),
			row_figure(
			    carbon, one, "carbon_mg", LT_UNIT_CARBON, currency),
			lt_json_text(one, "why", why),
			row_figure(money, one, "money_micros", LT_UNIT_MONEY,
			    currency)});
	}
	fputs("\nCorrections\n", out);
	lt_table_fit(table, look->columns, CUT);
	lt_table_print(out, table, look->color);
	lt_table_free(table);
	return LT_OK;
}
