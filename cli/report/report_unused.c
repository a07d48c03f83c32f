/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --unused: what was paid for the site's own nodes and not
 * used, a section behind the teams and in no sum with them. What is not known
 * is n/a, never 0.
 */
#include <stdlib.h>
#include <string.h>

#include "currency.h"
#include "report.h"
#include "report_tables.h"
#include "units.h"

enum { FIGURES = 6, TENTH_S = LT_HOUR_S / 10 };

/* Paid and used, and the rest of them, twice. */
static const struct {
	const char *key, *title;
} figures[FIGURES] = {
    {"paid_node_s", "PAID h"},
    {"used_node_s", "USED h"},
    {"unused_node_s", "UNUSED h"},
    {"paid_micros", "PAID"},
    {"used_micros", "USED"},
    {"unused_micros", "UNUSED"},
};

static int
check_row(const json_t *row, struct lt_error *err)
{
	if (!json_is_object(row))
		return lt_fail(
		    err, LT_EINPUT, "a row of the report's unused is none");
	for (int i = 0; i < FIGURES; i++) {
		const json_t *const value =
		    json_object_get(row, figures[i].key);

		if (!json_is_integer(value) && !json_is_null(value))
			return lt_fail(err, LT_EINPUT,
			    "the report's %s of unused is no integer",
			    figures[i].key);
	}
	return LT_OK;
}

int
lt_report_unused_check(const json_t *report, struct lt_error *err)
{
	const json_t *const unused = json_object_get(report, "unused");
	const json_t *const rows = json_object_get(unused, "partitions");
	size_t index;
	const json_t *row;

	if (unused == NULL)
		return lt_fail(err, LT_EVERSION,
		    "lowtided's answer has no unused: it may be an older one");
	if (json_is_null(unused))
		return lt_fail(err, LT_EDENIED,
		    "unused: what was paid for and not used is told of the whole site, to who sees all teams");
	if (!json_is_array(rows))
		return lt_fail(
		    err, LT_EINPUT, "the report's unused has no partitions");
	json_array_foreach(rows, index, row)
		if (check_row(row, err) != LT_OK)
			return err->code;
	return check_row(json_object_get(unused, "total"), err);
}

static const char *
title_of(const json_t *report)
{
	const json_t *const unused = json_object_get(report, "unused");

	return json_is_true(json_object_get(unused, "all"))
		   ? "Nodes of all pools"
		   : "Owned nodes";
}

const json_t *
lt_report_unused_rows(const json_t *report)
{
	return json_object_get(json_object_get(report, "unused"), "partitions");
}

/* "2026-11-16T00:00:00Z" as "2026-11-16 00:00" */
static void
put_time(char *out, size_t size, const char *word, const char *iso)
{
	const size_t used = strlen(out);

	if (strlen(iso) >= strlen("2026-11-16T00:00"))
		snprintf(out + used, size - used, "%s%s %.10s %.5s",
		    used > 0 ? ", " : "", word, iso,
		    iso + strlen("2026-11-16T"));
}

void
lt_report_unused_name(
    char *out, size_t size, const json_t *report, const json_t *row)
{
	const json_t *const period = json_object_get(report, "period");
	const char *const from = lt_json_text(row, "from", "");
	const char *const to = lt_json_text(row, "to", "");
	char part[80] = "";

	if (strcmp(from, lt_json_text(period, "start", "")) > 0)
		put_time(part, sizeof(part), "from", from);
	if (strcmp(to, lt_json_text(period, "end", "")) < 0 &&
	    strcmp(to, lt_json_text(report, "as_of", "")) < 0)
		put_time(part, sizeof(part), "until", to);
	snprintf(out, size, part[0] != '\0' ? "%s (%s UTC)" : "%s",
	    lt_json_text(row, "partition", "?"), part);
}

const char *
lt_report_unused_note(const json_t *report)
{
	size_t index;
	const json_t *row;

	json_array_foreach(lt_report_unused_rows(report), index, row) {
		int64_t seconds = 0, micros = 0;

		(void)lt_json_int(row, "unused_node_s", &seconds);
		(void)lt_json_int(row, "unused_micros", &micros);
		if (seconds < 0 || micros < 0)
			return "Below zero: more was booked for runs there than their nodes cost. Jobs that share a node pay the largest of their shares of cores, memory and GPUs each, which may be more than one node together; corrections count in the period in which they are booked.";
	}
	return NULL;
}

/* ---- the table ---- */

static const json_t *
row_at(const json_t *rows, const json_t *total, size_t index)
{
	return index < json_array_size(rows) ? json_array_get(rows, index)
					     : total;
}

/* Values of all rows and the total, as shown; all of them are known. */
static void
round_figure(int64_t *values, const json_t *rows, const json_t *total,
    int figure, const char *currency)
{
	const size_t count = json_array_size(rows);

	for (size_t i = 0; i <= count; i++)
		if (!lt_json_int(row_at(rows, total, i), figures[figure].key,
			&values[i]))
			values[i] = 0;
	lt_round_each(values, (int)count, &values[count],
	    figure < FIGURES / 2 ? TENTH_S : lt_currency_step(currency));
}

static void
put_cell(
    char out[LT_FIGURE_SIZE], int64_t value, int figure, const char *currency)
{
	const int64_t tenths = value / TENTH_S;

	if (figure >= FIGURES / 2)
		lt_money_digits(out, LT_FIGURE_SIZE, value, currency);
	else
		snprintf(out, LT_FIGURE_SIZE, "%s%lld.%lld",
		    tenths < 0 ? "-" : "", llabs(tenths) / 10,
		    llabs(tenths) % 10);
}

/* The rest is what paid and used leave as shown. */
static void
fill(char (*texts)[LT_FIGURE_SIZE], int64_t *values, const json_t *rows,
    const json_t *total, const char *currency)
{
	const size_t step = json_array_size(rows) + 1;

	for (int figure = 0; figure < FIGURES; figure++) {
		int64_t *const column = values + (size_t)figure * step;
		const bool is_rest = figure % 3 == 2;

		if (!is_rest)
			round_figure(column, rows, total, figure, currency);
		for (size_t i = 0; i < step; i++) {
			int64_t known;

			if (is_rest)
				column[i] = *(column + i - 2 * step) -
					    *(column + i - step);
			if (lt_json_int(row_at(rows, total, i),
				figures[figure].key, &known))
				put_cell(texts[i * FIGURES + (size_t)figure],
				    column[i], figure, currency);
			else
				snprintf(texts[i * FIGURES + (size_t)figure],
				    LT_FIGURE_SIZE, "n/a");
		}
	}
}

static void
add_row(struct lt_table *table, const char *name, char (*texts)[LT_FIGURE_SIZE])
{
	const char *cells[FIGURES + 1] = {name};

	for (int i = 0; i < FIGURES; i++)
		cells[i + 1] = texts[i];
	lt_table_row(table, cells);
}

int
lt_report_unused_table(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const json_t *const rows = lt_report_unused_rows(report);
	const json_t *const total =
	    json_object_get(json_object_get(report, "unused"), "total");
	const char *const currency = lt_json_text(report, "currency", "");
	const int shown = currency[0] != '\0' ? FIGURES : FIGURES / 2;
	const size_t count = json_array_size(rows);
	struct lt_table_column heads[FIGURES + 2] = {{"PARTITION", false}};
	char(*const texts)[LT_FIGURE_SIZE] =
	    calloc((count + 1) * FIGURES, sizeof(*texts));
	int64_t *const values = calloc((count + 1) * FIGURES, sizeof(*values));
	char title[80];

	for (int i = 0; i < shown; i++)
		heads[i + 1] = (struct lt_table_column){figures[i].title, true};
	struct lt_table *const table =
	    texts != NULL && values != NULL ? lt_table_new(heads) : NULL;
	if (table == NULL)
		lt_fail(err, LT_ENOMEM, "no memory");
	if (table != NULL && count > 0) {
		fill(texts, values, rows, total, currency);
		for (size_t i = 0; i < count; i++) {
			char name[160];

			lt_report_unused_name(name, sizeof(name), report,
			    json_array_get(rows, i));
			add_row(table, name, texts + i * FIGURES);
		}
		lt_table_rule(table);
		add_row(table, "TOTAL", texts + count * FIGURES);
		snprintf(title, sizeof(title), "%s, paid whether used or not",
		    title_of(report));
		lt_report_section(out, table, title, currency, look);
		if (lt_report_unused_note(report) != NULL)
			fprintf(out, "%s\n", lt_report_unused_note(report));
	} else if (table != NULL) {
		fprintf(out, "\n%s: none in this period\n", title_of(report));
	}
	lt_table_free(table);
	free(texts);
	free(values);
	return err->code;
}
