/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of a report as cells of tables and of CSV, in the units of figures.h. Tables round each
 * amount to the currency's smallest unit; CSV has exact decimals. A figure that is absent or null
 * is "n/a" or an empty cell, never 0.
 */
#include "columns.h"

#include "currency.h"
#include "units.h"

enum { GRAM_MG = 1000 };

bool
lt_unit_is_shown(enum lt_unit unit, const char *currency)
{
	return unit != LT_UNIT_MONEY || currency[0] != '\0';
}

int
lt_figures_check(const json_t *row, const struct lt_figure_kind *figures, int count,
    const char *whose, struct lt_error *err)
{
	for (int i = 0; i < count; i++) {
		const json_t *const value = json_object_get(row, figures[i].key);

		if (figures[i].title != NULL && !json_is_integer(value) && !json_is_null(value))
			return lt_fail(err, LT_EINPUT, "the report's %s of %s is no integer",
			    figures[i].key, whose);
	}
	return LT_OK;
}

/* ---- tables ---- */

/* Writes thousandths as "-1234.567". */
static void
thousandths_text(char out[LT_FIGURE_SIZE], int64_t value)
{
	const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	snprintf(out, LT_FIGURE_SIZE, "%s%llu.%03llu", value < 0 ? "-" : "",
	    (unsigned long long)(size / 1000), (unsigned long long)(size % 1000));
}

const char *
lt_cell_alone(char out[LT_FIGURE_SIZE], int64_t value, enum lt_unit unit, const char *currency)
{
	lt_round_each(NULL, 0, &value,
	    unit == LT_UNIT_MONEY    ? lt_currency_step(currency)
	    : unit == LT_UNIT_CARBON ? GRAM_MG
				     : 1);
	switch (unit) {
	case LT_UNIT_MONEY:
		lt_money_text(out, LT_FIGURE_SIZE, value, currency);
		break;
	case LT_UNIT_CARBON:
		thousandths_text(out, value / GRAM_MG);
		break;
	case LT_UNIT_ENERGY:
		thousandths_text(out, value);
		break;
	case LT_UNIT_HOURS:
		snprintf(out, LT_FIGURE_SIZE, "%.1f", (double)value / LT_HOUR_S);
		break;
	case LT_UNIT_COUNT:
	case LT_UNIT_SHARE:
	case LT_UNIT_FLAG:
		snprintf(out, LT_FIGURE_SIZE, "%lld", (long long)value);
		break;
	}
	return out;
}

const char *
lt_cell_of(char out[LT_FIGURE_SIZE], const json_t *row, const struct lt_figure_kind *figure,
    const char *currency)
{
	int64_t value;

	if (lt_json_int(row, figure->key, &value))
		return lt_cell_alone(out, value, figure->unit, currency);
	return figure->absent != NULL ? figure->absent : "n/a";
}

int
lt_figure_heads(struct lt_table_column *heads, int from, const struct lt_figure_kind *figures,
    int count, const char *currency)
{
	int shown = from;

	for (int i = 0; i < count; i++)
		if (figures[i].title != NULL && lt_unit_is_shown(figures[i].unit, currency))
			heads[shown++] = (struct lt_table_column){figures[i].title, true};
	return shown - from;
}

void
lt_report_section(FILE *out, struct lt_table *table, const char *title, const char *currency,
    const struct lt_report_look *look)
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

/* ---- CSV ---- */

void
lt_csv_headers(FILE *out, const struct lt_figure_kind *figures, int count)
{
	for (int i = 0; i < count; i++)
		if (figures[i].csv != NULL)
			fprintf(out, ",%s", figures[i].csv);
}

void
lt_csv_amount(FILE *out, enum lt_unit unit, int64_t value)
{
	char text[LT_FIGURE_SIZE];

	if (unit == LT_UNIT_MONEY)
		lt_micros_exact(text, sizeof(text), value);
	else if (unit == LT_UNIT_CARBON)
		lt_kg_exact(text, sizeof(text), value);
	else
		thousandths_text(text, value);
	fputs(text, out);
}

void
lt_csv_figure(
    FILE *out, const json_t *report, const json_t *row, const struct lt_figure_kind *figure)
{
	const json_t *const value = json_object_get(row, figure->key);

	if (!lt_unit_is_shown(figure->unit, lt_json_text(report, "currency", "")))
		return;
	if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", out);
	else if (!json_is_integer(value))
		return;
	else if (figure->unit == LT_UNIT_MONEY || figure->unit == LT_UNIT_CARBON)
		lt_csv_amount(out, figure->unit, json_integer_value(value));
	else
		fprintf(out, "%lld", (long long)json_integer_value(value));
}

void
lt_csv_figures(FILE *out, const json_t *report, const json_t *row,
    const struct lt_figure_kind *figures, int count)
{
	for (int i = 0; i < count; i++) {
		if (figures[i].csv == NULL)
			continue;
		fputc(',', out);
		lt_csv_figure(out, report, row, &figures[i]);
	}
}
