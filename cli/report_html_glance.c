/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first look at the HTML statement: one sentence that says it all, and a
 * few large figures.
 */
#include <string.h>

#include "cli.h"
#include "report_html.h"
#include "units.h"

enum { NOTE_SIZE = 160 };

struct tile {
	const char *title;
	char figure[LT_FIGURE_SIZE], note[NOTE_SIZE];
	const char *mood; /* "good", "bad", "": its color, never alone */
};

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

/* The main figure of the site, of a total. */
static bool
main_figure(
    const struct lt_statement *statement, const json_t *total, int64_t *value)
{
	return lt_json_int(
	    total, statement->has_money ? "cost_micros" : "carbon_mg", value);
}

static const char *
main_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement,
    int64_t value)
{
	if (statement->has_money)
		return lt_figure_text(out, statement, value, LT_UNIT_MONEY);
	lt_figure_text(out, statement, value, LT_UNIT_CARBON);
	return strcat(out, " kg CO2e");
}

static void
share_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement,
    int64_t part, int64_t whole)
{
	int64_t ppm;

	out[0] = '\0';
	if (lt_ppm(&ppm, part, whole))
		lt_figure_text(out, statement, ppm, LT_UNIT_SHARE);
}

static void
cost_tile(const struct lt_statement *statement)
{
	struct tile tile = {
	    .title = statement->has_money ? "Cost" : "Carbon", .mood = ""};
	char count[LT_FIGURE_SIZE];
	int64_t value = 0, runs = 0;

	main_figure(statement, statement->total, &value);
	lt_json_int(statement->total, "runs", &runs);
	main_text(tile.figure, statement, value);
	snprintf(tile.note, sizeof(tile.note), "%s %s",
	    lt_figure_text(count, statement, runs, LT_UNIT_COUNT),
	    runs == 1 ? "run" : "runs");
	print_tile(statement->out, &tile);
}

static void
budget_tile(const struct lt_statement *statement)
{
	struct tile tile = {.title = "Left of the budget", .mood = "good"};
	char whole[LT_FIGURE_SIZE], share[LT_FIGURE_SIZE];
	int64_t budget, left, cost = 0;

	if (!statement->has_money ||
	    !lt_json_int(statement->total, "budget_micros", &budget))
		return;
	lt_json_int(statement->total, "cost_micros", &cost);
	if (!lt_json_int(statement->total, "available_micros", &left))
		left = budget - cost;
	if (left < 0) {
		tile.title = "Over the budget";
		tile.mood = "bad";
	}
	lt_figure_text(
	    tile.figure, statement, left < 0 ? -left : left, LT_UNIT_MONEY);
	share_text(share, statement, cost, budget);
	snprintf(tile.note, sizeof(tile.note), "%s%sof %s", share,
	    share[0] ? " spent " : "",
	    lt_figure_text(whole, statement, budget, LT_UNIT_MONEY));
	print_tile(statement->out, &tile);
}

static void
previous_tile(const struct lt_statement *statement)
{
	struct tile tile = {.mood = ""};
	const json_t *const total =
	    json_object_get(statement->previous, "total");
	const enum lt_unit unit =
	    statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON;
	char title[80], share[LT_FIGURE_SIZE] = "", then[LT_FIGURE_SIZE];
	int64_t now = 0, before, ppm;

	if (!main_figure(statement, total, &before))
		return;
	main_figure(statement, statement->total, &now);
	snprintf(title, sizeof(title), "Against %s", statement->before);
	tile.title = title;
	lt_change_text(tile.figure, statement, now - before, unit);
	if (unit == LT_UNIT_CARBON)
		strcat(tile.figure, " kg");
	if (lt_ppm(&ppm, now - before, before))
		lt_change_text(share, statement, ppm, LT_UNIT_SHARE);
	snprintf(tile.note, sizeof(tile.note), "%s%s%s", share,
	    share[0] ? ", from " : "from ", main_text(then, statement, before));
	print_tile(statement->out, &tile);
}

static void
forecast_tile(const struct lt_statement *statement)
{
	const json_t *const forecast =
	    json_object_get(statement->report, "forecast");
	struct tile tile = {
	    .title = "Forecast of the whole period", .mood = ""};
	char least[LT_FIGURE_SIZE], most[LT_FIGURE_SIZE];
	const bool money = statement->has_money;
	int64_t low, expected, high;

	if (!lt_json_int(forecast, money ? "low_micros" : "low_mg", &low) ||
	    !lt_json_int(forecast, money ? "expected_micros" : "expected_mg",
		&expected) ||
	    !lt_json_int(forecast, money ? "high_micros" : "high_mg", &high))
		return;
	main_text(tile.figure, statement, expected);
	snprintf(tile.note, sizeof(tile.note), "between %s and %s",
	    main_text(least, statement, low), main_text(most, statement, high));
	print_tile(statement->out, &tile);
}

static void
failed_tile(const struct lt_statement *statement)
{
	struct tile tile = {.title = "Runs that did not complete", .mood = ""};
	char share[LT_FIGURE_SIZE], count[LT_FIGURE_SIZE];
	int64_t failed = 0, runs = 0, cost = 0;
	size_t index;
	const json_t *group, *const groups = json_object_get(
				 json_object_get(statement->report, "by"),
				 "state");

	if (!statement->has_money || !json_is_array(groups))
		return;
	json_array_foreach(groups, index, group) {
		int64_t value = 0, count_of = 0;

		lt_json_int(group, "failed_micros", &value);
		lt_json_int(group, "failed_runs", &count_of);
		failed += value;
		runs += count_of;
	}
	lt_json_int(statement->total, "cost_micros", &cost);
	lt_figure_text(tile.figure, statement, failed, LT_UNIT_MONEY);
	share_text(share, statement, failed, cost);
	lt_figure_text(count, statement, runs, LT_UNIT_COUNT);
	snprintf(tile.note, sizeof(tile.note), "%s%s%s %s", share,
	    share[0] ? " of the cost, " : "", count,
	    runs == 1 ? "run" : "runs");
	print_tile(statement->out, &tile);
}

static void
carbon_tile(const struct lt_statement *statement)
{
	struct tile tile = {.title = "Carbon", .mood = ""};
	char energy[LT_FIGURE_SIZE];
	int64_t value, used = 0;

	if (!statement->has_money ||
	    !lt_json_int(statement->total, "carbon_mg", &value))
		return;
	lt_figure_text(tile.figure, statement, value, LT_UNIT_CARBON);
	strcat(tile.figure, " kg");
	lt_json_int(statement->total, "energy_wh", &used);
	snprintf(tile.note, sizeof(tile.note), "CO2e, by %s kWh",
	    lt_figure_text(energy, statement, used, LT_UNIT_ENERGY));
	print_tile(statement->out, &tile);
}

static void
saved_tile(const struct lt_statement *statement)
{
	struct tile tile = {.title = "Saved by moving jobs", .mood = "good"};
	char carbon[LT_FIGURE_SIZE];
	int64_t money, mg = 0;

	if (!lt_json_int(statement->total, "saved_mg", &mg))
		return;
	lt_figure_text(carbon, statement, mg, LT_UNIT_CARBON);
	if (statement->has_money &&
	    lt_json_int(statement->total, "saved_micros", &money)) {
		lt_figure_text(tile.figure, statement, money, LT_UNIT_MONEY);
		snprintf(tile.note, sizeof(tile.note),
		    "and %s kg CO2e, by when and where they ran", carbon);
		tile.mood = money > 0 ? "good" : "";
	} else {
		snprintf(tile.figure, sizeof(tile.figure), "%.50s kg", carbon);
		snprintf(tile.note, sizeof(tile.note),
		    "CO2e, by when and where they ran");
		tile.mood = mg > 0 ? "good" : "";
	}
	print_tile(statement->out, &tile);
}

/* ---- the sentence ---- */

static void
say(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	lt_html_text(out, text);
	fputs(after, out);
}

static void
print_lead(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	int64_t now = 0, before, budget;
	char text[LT_FIGURE_SIZE];

	main_figure(statement, statement->total, &now);
	say(out, "<p class=\"lead\">", statement->name,
	    statement->has_money ? (statement->open ? " has cost " : " cost ")
	    : statement->open	 ? " has emitted "
				 : " emitted ");
	say(out, "<strong>", main_text(text, statement, now), "</strong>");
	fputs(statement->open ? " so far" : "", out);
	if (statement->has_money &&
	    lt_json_int(statement->total, "budget_micros", &budget)) {
		const int64_t left = budget - now;

		say(out, ": ",
		    main_text(text, statement, left < 0 ? -left : left),
		    left < 0 ? " over its budget of "
			     : " under its budget of ");
		say(out, "", main_text(text, statement, budget), "");
	}
	if (main_figure(statement,
		json_object_get(statement->previous, "total"), &before)) {
		const int64_t more = now - before;

		say(out, ", and ",
		    main_text(text, statement, more < 0 ? -more : more),
		    more < 0 ? " less than " : " more than ");
		say(out, "", statement->before, "");
	}
	fputs(".</p>\n", out);
}

void
lt_html_glance(const struct lt_statement *statement)
{
	void (*const tiles[])(const struct lt_statement *) = {cost_tile,
	    budget_tile, previous_tile, forecast_tile, failed_tile, carbon_tile,
	    saved_tile};

	print_lead(statement);
	fputs("<dl class=\"tiles\">\n", statement->out);
	for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
		tiles[i](statement);
	fputs("</dl>\n", statement->out);
}
