/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --tcto: the total cost to outcome in lowtided's answer, as a
 * section of the tables and as CSV.
 */
#include <stdlib.h>

#include "cli.h"
#include "currency.h"
#include "report.h"
#include "units.h"

enum { PARTS = 5, TEXT_SIZE = 64 };

static const struct part {
	const char *name, *key, *title;
} parts[PARTS + 3] = {
    {"compute", "compute_micros", "compute"},
    {"energy", "energy_micros", "energy of owned nodes"},
    {"storage", "storage_micros", "storage"},
    {"engineer", "engineer_micros", "engineers after interruptions"},
    {"failed", "failed_micros", "failed runs"},
    {"total", "total_micros", "TOTAL"},
    {"per_gpu_hour", "per_gpu_hour_micros", "a GPU-hour"},
    {"per_completed_run", "per_completed_run_micros", "a run that completed"},
};

/* Amounts as shown; what has no rate is no 0. */
static bool
fill(char (*texts)[TEXT_SIZE], const json_t *tcto, const char *currency)
{
	int64_t values[PARTS], total;
	int known = 0, shown = 0;

	for (int i = 0; i < PARTS; i++)
		if (lt_json_int(tcto, parts[i].key, &values[known]))
			known++;
	if (!lt_json_int(tcto, parts[PARTS].key, &total))
		return false;
	lt_round_each(values, known, &total, lt_currency_step(currency));
	for (int i = 0; i < PARTS; i++) {
		int64_t value;

		if (lt_json_int(tcto, parts[i].key, &value))
			lt_money_text(
			    texts[i], TEXT_SIZE, values[shown++], currency);
		else
			snprintf(texts[i], TEXT_SIZE, "no rate");
	}
	lt_money_text(texts[PARTS], TEXT_SIZE, total, currency);
	return true;
}

static void
print_units(FILE *out, const json_t *tcto, const char *currency)
{
	for (int i = PARTS + 1; i < PARTS + 3; i++) {
		char text[TEXT_SIZE];
		int64_t value;

		if (lt_json_int(tcto, parts[i].key, &value))
			fprintf(out, "%s: %s\n", parts[i].title,
			    lt_money_text(text, sizeof(text), value, currency));
	}
}

int
lt_report_tcto_check(const json_t *report, struct lt_error *err)
{
	const json_t *const tcto = json_object_get(report, "tcto");

	if (tcto == NULL)
		return lt_fail(err, LT_EVERSION,
		    "lowtided's answer has no tcto: it may be an older one");
	if (!json_is_object(tcto) && !json_is_null(tcto))
		return lt_fail(
		    err, LT_EINPUT, "the report's tcto is no object");
	for (size_t i = 0;
	     json_is_object(tcto) && i < sizeof(parts) / sizeof(parts[0]);
	     i++) {
		const json_t *const value = json_object_get(tcto, parts[i].key);

		if (!json_is_integer(value) && !json_is_null(value))
			return lt_fail(err, LT_EINPUT,
			    "the report's %s of tcto is no integer",
			    parts[i].key);
	}
	return LT_OK;
}

int
lt_report_tcto_table(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	static const struct lt_table_column columns[] = {
	    {"PART", false}, {"COST", true}, {NULL, false}};
	const json_t *const tcto = json_object_get(report, "tcto");
	const char *const currency = lt_json_text(report, "currency", "");
	char texts[PARTS + 1][TEXT_SIZE];

	if (json_is_null(tcto)) {
		fputs(
		    "\nTotal cost to outcome: this site has no prices\n", out);
		return LT_OK;
	}
	if (!fill(texts, tcto, currency))
		return lt_fail(
		    err, LT_EINPUT, "the report lacks the total of tcto");
	struct lt_table *const table = lt_table_new(columns);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	for (int i = 0; i <= PARTS; i++) {
		if (i == PARTS)
			lt_table_rule(table);
		lt_table_row(
		    table, (const char *const[]){parts[i].title, texts[i]});
	}
	fputs("\nTotal cost to outcome, ", out);
	lt_print_safe(out, currency);
	fputc('\n', out);
	lt_table_fit(table, look->columns, 0);
	lt_table_print(out, table, look->color);
	lt_table_free(table);
	print_units(out, tcto, currency);
	return LT_OK;
}

void
lt_report_tcto_csv(FILE *out, const json_t *report)
{
	const json_t *const tcto = json_object_get(report, "tcto");
	const char *const texts[] = {
	    lt_json_text(json_object_get(report, "period"), "label", ""),
	    lt_json_text(report, "cluster", ""),
	    lt_json_text(report, "currency", ""),
	};

	fputs("period,cluster,currency,part,amount\r\n", out);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int64_t value;

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			lt_csv_text(out, texts[k]);
			fputc(',', out);
		}
		fprintf(out, "%s,", parts[i].name);
		if (lt_json_int(tcto, parts[i].key, &value))
			lt_csv_amount(out, LT_COLUMN_MONEY, value);
		fputs("\r\n", out);
	}
}
