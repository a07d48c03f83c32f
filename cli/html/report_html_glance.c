/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The top of the HTML statement: one sentence with the result, and a few large figures; the budgets
 * that are over or expected to be, and what lowtide did. Further down, each budget with its own
 * period.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"
#include "units.h"

enum { NOTE_SIZE = 160 };

struct tile {
	char title[80];
	char figure[LT_FIGURE_SIZE], note[NOTE_SIZE];
	const char *mood; /* "good", "bad", "": its color, never alone */
};

static void
set_title(struct tile *tile, const char *title)
{
	snprintf(tile->title, sizeof(tile->title), "%s", title);
}

static void
print_tile(FILE *out, const struct tile *tile)
{
	fputs("<div class=\"tile\"><dt>", out);
	lt_html_text(out, tile->title);
	fprintf(out, "</dt><dd class=\"figure %s\">", tile->mood);
	lt_html_text(out, tile->figure);
	fputs("</dd><dd>", out);
	lt_html_text(out, tile->note);
	fputs("</dd></div>\n", out);
}

/* Finds the main figure of the site in a total. */
static bool
main_figure(const struct lt_statement *statement, const json_t *total, int64_t *value)
{
	return lt_json_int(total, statement->has_money ? "cost_micros" : "carbon_mg", value);
}

static const char *
main_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement, int64_t value)
{
	if (statement->has_money)
		return lt_figure_text(out, statement, value, LT_UNIT_MONEY);
	lt_figure_text(out, statement, value, LT_UNIT_CARBON);
	return strcat(out, " kg CO2e");
}

static const char *
main_estimate(char out[LT_FIGURE_SIZE], const struct lt_statement *statement, int64_t value)
{
	if (statement->has_money)
		return lt_estimate_text(out, statement, value, LT_UNIT_MONEY);
	lt_estimate_text(out, statement, value, LT_UNIT_CARBON);
	return strcat(out, " kg CO2e");
}

static void
share_text(
    char out[LT_FIGURE_SIZE], const struct lt_statement *statement, int64_t part, int64_t whole)
{
	int64_t ppm;

	out[0] = '\0';
	if (lt_ppm(&ppm, part, whole))
		lt_figure_text(out, statement, ppm, LT_UNIT_SHARE);
}

static bool
cost_tile(struct tile *tile, const struct lt_statement *statement)
{
	char count[LT_FIGURE_SIZE];
	int64_t value = 0, runs = 0;

	set_title(tile, statement->has_money ? "Cost" : "Carbon");
	tile->mood = "";
	main_figure(statement, statement->total, &value);
	lt_json_int(statement->total, "runs", &runs);
	main_text(tile->figure, statement, value);
	snprintf(tile->note, sizeof(tile->note), "%s %s",
	    lt_figure_text(count, statement, runs, LT_UNIT_COUNT), runs == 1 ? "run" : "runs");
	return true;
}

static bool
budget_tile(struct tile *tile, const struct lt_statement *statement)
{
	char whole[LT_FIGURE_SIZE], share[LT_FIGURE_SIZE];
	int64_t budget, left, cost = 0;

	set_title(tile, "Left of the budget");
	tile->mood = "good";
	if (!statement->has_money || !lt_json_int(statement->total, "budget_micros", &budget))
		return false;
	lt_json_int(statement->total, "cost_micros", &cost);
	if (!lt_json_int(statement->total, "available_micros", &left) || left == budget - cost)
		left = lt_shown_difference(statement, budget, cost, LT_UNIT_MONEY);
	if (left < 0) {
		set_title(tile, "Over the budget");
		tile->mood = "bad";
	}
	lt_figure_text(tile->figure, statement, left < 0 ? -left : left, LT_UNIT_MONEY);
	share_text(share, statement, cost, budget);
	snprintf(tile->note, sizeof(tile->note), "%s%sof %s", share, share[0] ? " spent " : "",
	    lt_figure_text(whole, statement, budget, LT_UNIT_MONEY));
	return true;
}

static bool
previous_tile(struct tile *tile, const struct lt_statement *statement)
{
	const json_t *const total = json_object_get(statement->previous, "total");
	const enum lt_unit unit = statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON;
	char share[LT_FIGURE_SIZE] = "", then[LT_FIGURE_SIZE];
	int64_t now = 0, before, ppm;

	tile->mood = "";
	if (!main_figure(statement, total, &before))
		return false;
	main_figure(statement, statement->total, &now);
	snprintf(tile->title, sizeof(tile->title), "%s %s",
	    statement->partly ? "So far, against"
	    : statement->open ? "So far, against all of"
			      : "Against",
	    statement->before);
	lt_change_text(
	    tile->figure, statement, lt_shown_difference(statement, now, before, unit), unit);
	if (unit == LT_UNIT_CARBON)
		strcat(tile->figure, " kg");
	if (lt_ppm(&ppm, now - before, before))
		lt_change_text(share, statement, ppm, LT_UNIT_SHARE);
	snprintf(tile->note, sizeof(tile->note), "%s%s%s", share, share[0] ? ", from " : "from ",
	    main_text(then, statement, before));
	return true;
}

static bool
forecast_tile(struct tile *tile, const struct lt_statement *statement)
{
	const json_t *const forecast = json_object_get(statement->report, "forecast");
	char least[LT_FIGURE_SIZE], most[LT_FIGURE_SIZE];
	const bool money = statement->has_money;
	int64_t low, expected, high;

	set_title(tile, "Expected by its end");
	tile->mood = "";
	if (!lt_json_int(forecast, money ? "low_micros" : "low_mg", &low) ||
	    !lt_json_int(forecast, money ? "expected_micros" : "expected_mg", &expected) ||
	    !lt_json_int(forecast, money ? "high_micros" : "high_mg", &high))
		return false;
	main_estimate(tile->figure, statement, expected);
	snprintf(tile->note, sizeof(tile->note), "between %s and %s",
	    main_estimate(least, statement, low), main_estimate(most, statement, high));
	return true;
}

static bool
failed_tile(struct tile *tile, const struct lt_statement *statement)
{
	char share[LT_FIGURE_SIZE], count[LT_FIGURE_SIZE];
	const json_t *const groups = lt_html_groups_by(statement->report, "state");
	const int64_t failed = lt_html_sum_of(groups, "failed_micros");
	const int64_t runs = lt_html_sum_of(groups, "failed_runs");
	int64_t cost = 0;

	set_title(tile, "Did not complete");
	tile->mood = "";
	if (!statement->has_money || !json_is_array(groups))
		return false;
	lt_json_int(statement->total, "cost_micros", &cost);
	lt_figure_text(tile->figure, statement, failed, LT_UNIT_MONEY);
	share_text(share, statement, failed, cost);
	lt_figure_text(count, statement, runs, LT_UNIT_COUNT);
	snprintf(tile->note, sizeof(tile->note), "%s%s%s %s", share,
	    share[0] ? " of the cost, " : "", count, runs == 1 ? "run" : "runs");
	return true;
}

static bool
carbon_tile(struct tile *tile, const struct lt_statement *statement)
{
	char energy[LT_FIGURE_SIZE];
	int64_t value, used = 0;

	set_title(tile, "Carbon");
	tile->mood = "";
	if (!statement->has_money || !lt_json_int(statement->total, "carbon_mg", &value))
		return false;
	lt_figure_text(tile->figure, statement, value, LT_UNIT_CARBON);
	strcat(tile->figure, " kg");
	lt_json_int(statement->total, "energy_wh", &used);
	snprintf(tile->note, sizeof(tile->note), "CO2e, by %s kWh",
	    lt_figure_text(energy, statement, used, LT_UNIT_ENERGY));
	return true;
}

static bool
saved_tile(struct tile *tile, const struct lt_statement *statement)
{
	char carbon[LT_FIGURE_SIZE];
	int64_t money, mg = 0;

	set_title(tile, "Saved by moving, modelled");
	tile->mood = "good";
	if (!lt_json_int(statement->total, "saved_mg", &mg))
		return false;
	lt_figure_text(carbon, statement, mg, LT_UNIT_CARBON);
	if (statement->has_money && lt_json_int(statement->total, "saved_micros", &money)) {
		lt_figure_text(tile->figure, statement, money, LT_UNIT_MONEY);
		snprintf(tile->note, sizeof(tile->note),
		    "and %s kg CO2e, by when and where they ran", carbon);
		tile->mood = money > 0 ? "good" : "";
	} else {
		snprintf(tile->figure, sizeof(tile->figure), "%.50s kg", carbon);
		snprintf(tile->note, sizeof(tile->note), "CO2e, by when and where they ran");
		tile->mood = mg > 0 ? "good" : "";
	}
	return true;
}

/* ---- the sentence ---- */

static void
say_words(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	lt_html_text(out, text);
	fputs(after, out);
}

/* Prints the expected total: a part of a period compared with a whole one would mislead. */
static void
say_expected(const struct lt_statement *statement)
{
	int64_t expected;
	char text[LT_FIGURE_SIZE];

	if (lt_json_int(json_object_get(statement->report, "forecast"),
		statement->has_money ? "expected_micros" : "expected_mg", &expected))
		say_words(statement->out, ". By its end about ",
		    main_text(text, statement, expected), " is expected");
}

static void
say_before(const struct lt_statement *statement, int64_t now)
{
	int64_t before;
	char text[LT_FIGURE_SIZE];

	if (!main_figure(statement, json_object_get(statement->previous, "total"), &before))
		return;
	const int64_t more = lt_shown_difference(
	    statement, now, before, statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON);

	if (more != 0)
		say_words(statement->out, ", and ",
		    main_text(text, statement, more < 0 ? -more : more),
		    more < 0 ? " less than " : " more than ");
	else
		fputs(", as much as ", statement->out);
	say_words(statement->out, "", statement->before, "");
}

static void
print_lead(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	int64_t now = 0, budget;
	char text[LT_FIGURE_SIZE];

	main_figure(statement, statement->total, &now);
	say_words(out, "<p class=\"lead\">", statement->name,
	    statement->has_money ? (statement->open ? " has cost " : " cost ")
	    : statement->open	 ? " has emitted "
				 : " emitted ");
	say_words(out, "<strong>", main_text(text, statement, now), "</strong>");
	fputs(statement->open ? " so far" : "", out);
	if (statement->has_money && lt_json_int(statement->total, "budget_micros", &budget)) {
		const int64_t left = lt_shown_difference(statement, budget, now, LT_UNIT_MONEY);

		say_words(out, ": ", main_text(text, statement, left < 0 ? -left : left),
		    left < 0 ? " over its budget of " : " under its budget of ");
		say_words(out, "", main_text(text, statement, budget), "");
	}
	if (statement->open)
		say_expected(statement);
	else
		say_before(statement, now);
	fputs(".</p>\n", out);
}

enum { FIGURE_LONG = 12 }; /* characters that four across have no room for */

/* Returns the class for how many tiles are in a row, so that no row is short (the first tile may be
 * wider), and for how long their figures are. */
static const char *
tiles_class(const struct tile *tiles, int count)
{
	for (int i = 0; i < count; i++)
		if (strlen(tiles[i].figure) >= FIGURE_LONG)
			return count == 2 ? "of2" : "long";
	return count == 2 ? "of2" : count == 4 || count == 7 ? "of4" : "of3";
}

void
lt_html_glance(const struct lt_statement *statement)
{
	static bool (*const fill[])(struct tile * tile, const struct lt_statement *statement) = {
	    cost_tile, budget_tile, previous_tile, forecast_tile, failed_tile, carbon_tile,
	    saved_tile};
	enum { TILES_MAX = sizeof(fill) / sizeof(fill[0]) };
	struct tile tiles[TILES_MAX] = {0};
	int count = 0;

	for (int i = 0; i < TILES_MAX; i++)
		if (fill[i](&tiles[count], statement))
			count++;
	print_lead(statement);
	fprintf(statement->out, "<dl class=\"tiles %s\">\n", tiles_class(tiles, count));
	for (int i = 0; i < count; i++)
		print_tile(statement->out, &tiles[i]);
	fputs("</dl>\n", statement->out);
}

/* ---- budgets ---- */

enum { FIRST_LINES = 6, NAME_SIZE = 160 };

/* Prints text so that a number and its % stay on one line. */
static void
print_unbroken(FILE *out, const char *text)
{
	for (const char *at; (at = strstr(text, " %")) != NULL; text = at + 2) {
		char before[LT_OVER_SIZE];

		snprintf(before, sizeof(before), "%.*s", (int)(at - text), text);
		lt_html_text(out, before);
		fputs("\u00a0%", out);
	}
	lt_html_text(out, text);
}

static void
say_over(const struct lt_statement *statement, const struct lt_budget_row *row)
{
	FILE *const out = statement->out;
	struct lt_budget_row named = *row;
	char text[LT_OVER_SIZE], period[48];

	named.label = lt_period_name(period, sizeof(period), row->label, LT_DAY_LONG);
	fprintf(out, "<li class=\"%s\"><strong><bdi>", lt_budget_is_over(row) ? "bad" : "due");
	lt_html_text(out, row->team);
	fputs("</bdi></strong>", out);
	print_unbroken(out, lt_budget_said(text, &named, statement->currency));
	fputs("</li>\n", out);
}

void
lt_html_over(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	char balance[LT_BALANCE_SIZE];
	struct lt_budget_row *rows;
	const int count = lt_budget_rows(&rows, statement->report);
	int over = 0;

	if (count < 0) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	while (
	    over < count && (lt_budget_is_over(&rows[over]) || lt_budget_will_be_over(&rows[over])))
		over++;
	if (over > 0)
		fputs("<ul class=\"who\">\n", out);
	for (int i = 0; i < over && i < FIRST_LINES; i++)
		say_over(statement, &rows[i]);
	if (over > FIRST_LINES)
		fprintf(out, "<li>and %d more, under <a href=\"#budgets\">Budgets</a></li>\n",
		    over - FIRST_LINES);
	if (over > 0)
		fputs("</ul>\n", out);
	else
		fprintf(out, "<p>%s</p>\n",
		    count > 0 ? lt_none_over_text(rows, count)
			      : "No team has a budget for this period.");
	if (lt_balance_text(balance, statement->report)) {
		fputs("<p class=\"note\">", out);
		lt_html_text(out, balance);
		fputs("</p>\n", out);
	}
	free(rows);
}

/* ---- the table ---- */

enum { BUDGET, SPENT, HELD, LEFT, USED, EXPECTED, END, COLUMNS };

static void
fill_budget(struct lt_html_row *row, const struct lt_statement *statement,
    const struct lt_budget_row *of, enum lt_unit unit)
{
	const int64_t spent = lt_shown_difference(statement, of->actual, 0, unit);
	const int64_t left = lt_shown_difference(
	    statement, lt_shown_difference(statement, of->budget, spent, unit), of->held, unit);
	const int64_t values[COLUMNS] = {
	    [BUDGET] = of->budget, [SPENT] = spent, [HELD] = of->held, [LEFT] = left};

	for (int i = 0; i < END; i++) {
		row->has[i] = i < USED;
		row->values[i] = values[i];
	}
	row->has[USED] = lt_ppm(&row->values[USED], of->actual, of->budget);
	row->has[EXPECTED] =
	    of->has_expected && lt_ppm(&row->values[EXPECTED], of->expected, of->budget);
}

static void
print_budgets(const struct lt_statement *statement, const struct lt_budget_row *budgets, int count,
    bool is_carbon)
{
	const enum lt_unit unit = is_carbon ? LT_UNIT_CARBON : LT_UNIT_MONEY;
	const struct lt_html_column columns[COLUMNS] = {
	    [BUDGET] = {"Budget", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [SPENT] = {"Spent", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [HELD] = {"Held", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [LEFT] = {"Left", unit, LT_COLUMN_ALONE, NULL, NULL, false},
	    [USED] = {"Spent of it", LT_UNIT_SHARE, LT_COLUMN_ALONE, NULL, NULL, false},
	    [EXPECTED] = {"Expected", LT_UNIT_SHARE, LT_COLUMN_ALONE, NULL, NULL, false},
	    [END] = {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_row rows[LT_HTML_ROWS_MAX] = {0};
	char names[LT_HTML_ROWS_MAX][NAME_SIZE];
	struct lt_html_table table = {
	    .caption = is_carbon ? "Carbon budgets in kg CO2e, the fullest first"
				 : "Budgets, the fullest first",
	    .first = "Team and period",
	    .columns = columns,
	    .rows = rows};
	int all = 0;

	for (int i = 0; i < count; i++) {
		if (budgets[i].is_carbon != is_carbon || ++all > LT_HTML_ROWS_MAX)
			continue;
		char *const name = names[table.row_count];

		char period[48];
		snprintf(name, NAME_SIZE, "%s, %s", budgets[i].team,
		    lt_period_name(period, sizeof(period), budgets[i].label, LT_DAY_SHORT));
		rows[table.row_count].name = name;
		fill_budget(&rows[table.row_count++], statement, &budgets[i], unit);
	}
	if (table.row_count > 0)
		lt_html_table(statement, &table);
	if (all > LT_HTML_ROWS_MAX)
		fprintf(statement->out,
		    "<p class=\"note\">%d more are less full; lowtide budget has all.</p>\n",
		    all - LT_HTML_ROWS_MAX);
}

void
lt_html_budgets(const struct lt_statement *statement)
{
	struct lt_budget_row *rows;
	const int count = lt_budget_rows(&rows, statement->report);

	if (count < 0) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	print_budgets(statement, rows, count, false);
	print_budgets(statement, rows, count, true);
	fputs(
	    count > 0
		? "<p class=\"note\">Each budget has its own period, and covers its team and all below it. Held is for jobs that wait or run.</p>\n"
		: "<p>No team has a budget.</p>\n",
	    statement->out);
	free(rows);
}
