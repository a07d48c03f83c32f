/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --carbon: energy and carbon by grid zone, partition, source
 * and month, as a section of the tables. Location-based and market-based carbon
 * are two columns and never one; embodied carbon is in neither.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_tables.h"
#include "units.h"

enum { TEXTS = 4, FIGURES = 4, COLUMNS = TEXTS + FIGURES + 2 };

static const struct {
	const char *key, *title;
	enum lt_unit unit; /* of a figure */
} columns[COLUMNS] = {
    {"zone", "ZONE", LT_UNIT_COUNT},
    {"partition", "PARTITION", LT_UNIT_COUNT},
    {"source", "SOURCE", LT_UNIT_COUNT},
    {"month", "MONTH", LT_UNIT_COUNT},
    {"energy_wh", "ENERGY kWh", LT_UNIT_ENERGY},
    {"location_mg", "LOCATION kg", LT_UNIT_CARBON},
    {"market_mg", "MARKET kg", LT_UNIT_CARBON},
    {"embodied_mg", "EMBODIED kg", LT_UNIT_CARBON},
    {"pue", "PUE", LT_UNIT_COUNT},
    {"estimated_ppm", "ESTIMATED", LT_UNIT_COUNT},
};

static int
check_row(const json_t *row, struct lt_error *err)
{
	if (!json_is_object(row))
		return lt_fail(
		    err, LT_EINPUT, "a row of the report's carbon is none");
	for (int i = TEXTS; i < COLUMNS; i++) {
		const json_t *const value =
		    json_object_get(row, columns[i].key);

		if (!json_is_integer(value) && !json_is_null(value) &&
		    !(json_is_real(value) && i == TEXTS + FIGURES))
			return lt_fail(err, LT_EINPUT,
			    "the report's %s of carbon is no number",
			    columns[i].key);
	}
	return LT_OK;
}

int
lt_report_carbon_check(const json_t *report, struct lt_error *err)
{
	const json_t *const carbon = json_object_get(report, "carbon");
	size_t index;
	const json_t *row;

	if (!json_is_object(carbon) ||
	    !json_is_array(json_object_get(carbon, "rows")))
		return lt_fail(err, LT_EVERSION,
		    "lowtided's answer has no carbon: it may be an older one");
	json_array_foreach(json_object_get(carbon, "rows"), index, row)
		if (check_row(row, err) != LT_OK)
			return err->code;
	return check_row(json_object_get(carbon, "total"), err);
}

/* A figure of all rows and the total, as texts. */
static bool
fill(char (*texts)[LT_FIGURE_SIZE], const json_t *rows, const json_t *total,
    int column)
{
	const enum lt_unit unit = columns[column].unit;
	const char *const key = columns[column].key;
	const size_t count = json_array_size(rows);
	int64_t *const known = calloc(count + 1, sizeof(*known));
	int64_t sum = 0, value;
	int used = 0, shown = 0;

	if (known == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		if (lt_json_int(json_array_get(rows, i), key, &known[used]))
			sum += known[used++];
	lt_round_each(known, used, &sum, lt_smallest_shown(unit, ""));
	for (size_t i = 0; i <= count; i++) {
		const json_t *const row =
		    i < count ? json_array_get(rows, i) : total;

		if (!lt_json_int(row, key, &value))
			snprintf(texts[i], LT_FIGURE_SIZE, "n/a");
		else
			lt_cell_text(texts[i], LT_FIGURE_SIZE,
			    i < count ? known[shown++] : sum, unit, "");
	}
	free(known);
	return true;
}

static void
add_row(struct lt_table *table, const json_t *row, const char *first,
    char (*figures)[LT_FIGURE_SIZE], size_t step)
{
	const json_t *const pue = json_object_get(row, "pue");
	char number[LT_FIGURE_SIZE] = "n/a", share[LT_FIGURE_SIZE] = "n/a";
	const char *cells[COLUMNS];
	int64_t ppm;

	for (int i = 0; i < TEXTS; i++)
		cells[i] =
		    first != NULL ? "" : lt_json_text(row, columns[i].key, "-");
	if (first != NULL)
		cells[0] = first;
	for (int i = 0; i < FIGURES; i++)
		cells[TEXTS + i] = figures[(size_t)i * step];
	if (json_is_number(pue))
		snprintf(
		    number, sizeof(number), "%.3f", json_number_value(pue));
	if (lt_json_int(row, "estimated_ppm", &ppm))
		snprintf(share, sizeof(share), "%" PRId64 ".%" PRId64 " %%",
		    (ppm + 500) / 10000, (ppm + 500) % 10000 / 1000);
	cells[TEXTS + FIGURES] = number;
	cells[TEXTS + FIGURES + 1] = share;
	lt_table_row(table, cells);
}

static void
print_method(FILE *out, const json_t *carbon)
{
	static const char *const keys[][2] = {{"boundary", "boundary"},
	    {"intensity", "intensity"}, {"factors", "factors"}, {"gwp", "GWP"}};

	fputs("\nEnergy and carbon, method ", out);
	lt_print_safe(out, lt_json_text(carbon, "method", "?"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		fprintf(out, "; %s ", keys[i][1]);
		lt_print_safe(
		    out, lt_json_text(carbon, keys[i][0], "not said"));
	}
	fputc('\n', out);
}

int
lt_report_carbon_table(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	enum { CUT = 1 << 0 | 1 << 1 | 1 << 2 };
	const json_t *const carbon = json_object_get(report, "carbon");
	const json_t *const rows = json_object_get(carbon, "rows");
	const json_t *const total = json_object_get(carbon, "total");
	const size_t count = json_array_size(rows), step = count + 1;
	struct lt_table_column heads[COLUMNS + 1] = {0};
	char(*const texts)[LT_FIGURE_SIZE] =
	    calloc(step * FIGURES, sizeof(*texts));
	bool ok = texts != NULL;

	for (int i = 0; i < COLUMNS; i++)
		heads[i] =
		    (struct lt_table_column){columns[i].title, i >= TEXTS};
	for (int i = 0; ok && i < FIGURES; i++)
		ok = fill(texts + (size_t)i * step, rows, total, TEXTS + i);
	struct lt_table *const table = ok ? lt_table_new(heads) : NULL;
	if (table != NULL) {
		for (size_t i = 0; i < count; i++)
			add_row(table, json_array_get(rows, i), NULL, texts + i,
			    step);
		lt_table_rule(table);
		add_row(table, total, "TOTAL", texts + count, step);
		print_method(out, carbon);
		lt_table_fit(table, look->columns, CUT);
		lt_table_print(out, table, look->color);
		fputs(
		    "Location-based and market-based carbon are two methods, never one sum; embodied carbon is in neither.\n",
		    out);
	} else {
		lt_fail(err, LT_ENOMEM, "no memory");
	}
	lt_table_free(table);
	free(texts);
	return err->code;
}
