/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pictures of the HTML statement, as inline SVG: the rest of the budget with a forecast's
 * range, and bars of the days; cost and carbon of each of twelve months, with their table; each
 * team at the top, with all teams below it. A month without known figures is a gap. Each figure is
 * also in a table.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"
#include "units.h"

enum {
	WIDTH = LT_HTML_CHART_WIDTH,
	HEIGHT = 260,
	LEFT = 72, /* of the plot; room for the figures */
	RIGHT = 704,
	TOP = 14,
	BOTTOM = 226,
	DAYS_NAMED = 7, /* every how many days one is named */
};

struct plot {
	const struct lt_statement *statement;
	struct lt_html_axis y;
	int steps; /* across */
};

static double
y_of(const struct plot *plot, double value)
{
	return BOTTOM - (value - plot->y.low) / (plot->y.high - plot->y.low) * (BOTTOM - TOP);
}

/* Returns the place of a step; at: steps from the beginning of the period. */
static double
x_of(const struct plot *plot, double at)
{
	return LEFT + at * (RIGHT - LEFT) / plot->steps;
}

void
lt_html_axis_choose(struct lt_html_axis *axis, double low, double high)
{
	if (low > 0)
		low = 0;
	if (high < 0 || high <= low)
		high = low < 0 ? 0 : axis->per_unit;
	const double rough = (high - low) / 4;
	const double power = pow(10, floor(log10(rough)));
	const double digit = rough / power;

	axis->step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
	axis->low = floor(low / axis->step) * axis->step;
	axis->high = ceil(high / axis->step) * axis->step;
}

static void
axis_text(char *out, size_t size, const struct lt_html_axis *axis, double at)
{
	const double value = at / axis->per_unit, step = axis->step / axis->per_unit;

	static const struct {
		double unit;
		const char *letter;
	} letters[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
	size_t i = 0;

	while (i < 3 && fabs(value) < letters[i].unit)
		i++;
	const double unit = letters[i].unit;
	const double least = step / unit;
	const int decimals = least >= 1 || value == 0 ? 0 : (int)ceil(-log10(least) - 1e-9);

	snprintf(out, size, "%.*f%s", decimals > 6 ? 6 : decimals, value / unit,
	    value == 0 ? "" : letters[i].letter);
}

int
lt_html_axis_last(const struct lt_html_axis *axis)
{
	return (int)lround((axis->high - axis->low) / axis->step);
}

double
lt_html_axis_line(char text[LT_AXIS_TEXT_SIZE], const struct lt_html_axis *axis, int line)
{
	double value = axis->low + line * axis->step;

	if (fabs(value) < axis->step / 2)
		value = 0;
	axis_text(text, LT_AXIS_TEXT_SIZE, axis, value);
	return value;
}

static void
draw_axis(FILE *out, const struct plot *plot)
{
	for (int i = 0; i <= lt_html_axis_last(&plot->y); i++) {
		char text[LT_AXIS_TEXT_SIZE];
		const double value = lt_html_axis_line(text, &plot->y, i);

		fprintf(out,
		    "<path class=\"%s\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		    value == 0 ? "zero" : "grid", LEFT, y_of(plot, value), RIGHT, LEFT - 8,
		    y_of(plot, value) + 4, text);
	}
}

/* Draws a name below each seventh day, or below each of a few months. */
static void
draw_names(FILE *out, const struct plot *plot, const struct lt_html_days *days)
{
	const int every = days->count <= DAYS_NAMED ? 1
			  : plot->statement->months ? (days->count + 5) / 6
						    : DAYS_NAMED;

	for (int i = 0; i < days->count; i += every) {
		fprintf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
		    x_of(plot, i + 0.5), BOTTOM + 22);
		lt_html_text(out, days->steps[i].name);
		fputs("</text>\n", out);
	}
}

void
lt_html_svg_open(FILE *out, const char *id, const char *title, const char *description, int height)
{
	fprintf(out,
	    "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-title %s-text\">\n"
	    "<title id=\"%s-title\">",
	    WIDTH, height, id, id, id);
	lt_html_text(out, title);
	fprintf(out, "</title><desc id=\"%s-text\">", id);
	lt_html_text(out, description);
	fputs("</desc>\n", out);
}

/* ---- bars ---- */

static int64_t
bar_value(const struct plot *plot, const struct lt_html_step *step)
{
	return plot->statement->has_money ? step->cost : step->carbon;
}

static void
draw_bar(FILE *out, const struct plot *plot, const struct lt_html_step *step, int index)
{
	const int64_t value = bar_value(plot, step);
	const double zero = y_of(plot, 0), end = y_of(plot, (double)value),
		     left = x_of(plot, index + 0.14), right = x_of(plot, index + 0.86);
	const enum lt_unit unit = plot->statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON;
	char text[LT_FIGURE_SIZE];

	fprintf(out,
	    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
	    value < 0 ? "back" : "mark", left, end < zero ? end : zero, right - left,
	    fabs(zero - end));
	lt_html_text(out, step->name);
	fputs(": ", out);
	lt_html_text(out, lt_figure_text(text, plot->statement, value, unit));
	fputs(unit == LT_UNIT_CARBON ? " kg CO2e</title></rect>\n" : "</title></rect>\n", out);
}

void
lt_html_bars(const struct lt_statement *statement, const struct lt_html_days *days)
{
	FILE *const out = statement->out;
	struct plot plot = {.statement = statement,
	    .steps = days->count,
	    .y.per_unit = LT_MICROS}; /* and mg of a kilogram */
	double low = 0, high = 0;
	char text[256], most_text[LT_FIGURE_SIZE];
	int most = 0;

	for (int i = 0; i < days->known; i++) {
		const int64_t value = bar_value(&plot, &days->steps[i]);

		low = fmin(low, (double)value);
		high = fmax(high, (double)value);
		if (value > bar_value(&plot, &days->steps[most]))
			most = i;
	}
	lt_html_axis_choose(&plot.y, low, high);
	lt_figure_text(most_text, statement, bar_value(&plot, &days->steps[most]),
	    statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON);
	snprintf(text, sizeof(text),
	    "A bar for each %s; the highest is %s with %s%s. The table below has all figures.",
	    statement->months ? "month" : "day", days->steps[most].name, most_text,
	    statement->has_money ? "" : " kg CO2e");
	fputs("<figure>\n", out);
	lt_html_svg_open(
	    out, "days-chart", statement->months ? "By month" : "By day", text, HEIGHT);
	draw_axis(out, &plot);
	draw_names(out, &plot, days);
	for (int i = 0; i < days->known; i++)
		draw_bar(out, &plot, &days->steps[i], i);
	fputs("</svg>\n<figcaption>", out);
	lt_html_text(out, statement->has_money ? statement->currency : "kg CO2e");
	fputs(statement->months ? " a month" : " a day", out);
	fputs("</figcaption>\n</figure>\n", out);
}

/* ---- the rest of the budget ---- */

struct burn {
	double budget, spent; /* spent until now */
	bool has_forecast;
	double low, expected, high; /* spent at the end */
};

static void
read_burn(struct burn *burn, const struct lt_statement *statement, const struct lt_html_days *days)
{
	const json_t *const forecast = json_object_get(statement->report, "forecast");
	int64_t budget = 0, low = 0, expected = 0, high = 0;

	lt_json_int(statement->total, "budget_micros", &budget);
	burn->budget = (double)budget;
	burn->spent = (double)days->steps[days->known - 1].cost_so_far;
	burn->has_forecast = days->known < days->count &&
			     lt_json_int(forecast, "low_micros", &low) &&
			     lt_json_int(forecast, "expected_micros", &expected) &&
			     lt_json_int(forecast, "high_micros", &high);
	burn->low = (double)low;
	burn->expected = (double)expected;
	burn->high = (double)high;
}

static void
draw_forecast(FILE *out, const struct plot *plot, const struct burn *burn, int known)
{
	const double now_x = x_of(plot, known), now_y = y_of(plot, burn->budget - burn->spent);

	fprintf(out,
	    "<path class=\"range\" d=\"M%.1f %.1fL%d %.1fV%.1fZ\"><title>forecast, its range</title></path>\n"
	    "<path class=\"forecast\" d=\"M%.1f %.1fL%d %.1f\"><title>forecast, expected</title></path>\n",
	    now_x, now_y, RIGHT, y_of(plot, burn->budget - burn->low),
	    y_of(plot, burn->budget - burn->high), now_x, now_y, RIGHT,
	    y_of(plot, burn->budget - burn->expected));
}

static void
draw_left(
    FILE *out, const struct plot *plot, const struct burn *burn, const struct lt_html_days *days)
{
	if (burn->has_forecast)
		draw_forecast(out, plot, burn, days->known);
	fprintf(out,
	    "<path class=\"pace\" d=\"M%d %.1fL%d %.1f\"><title>even pace: the budget over all days</title></path>\n",
	    LEFT, y_of(plot, burn->budget), RIGHT, y_of(plot, 0));
	fprintf(out, "<polyline class=\"line\" points=\"%d,%.1f", LEFT, y_of(plot, burn->budget));
	for (int i = 0; i < days->known; i++)
		fprintf(out, " %.1f,%.1f", x_of(plot, i + 1),
		    y_of(plot, burn->budget - (double)days->steps[i].cost_so_far));
	fputs("\"><title>left of the budget</title></polyline>\n", out);
	fprintf(out, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
	    x_of(plot, days->known), y_of(plot, burn->budget - burn->spent));
}

void
lt_html_burn_down(const struct lt_statement *statement, const struct lt_html_days *days)
{
	FILE *const out = statement->out;
	struct plot plot = {.statement = statement, .steps = days->count, .y.per_unit = LT_MICROS};
	char text[256], left[LT_FIGURE_SIZE];
	double low = 0, high;
	struct burn burn;

	read_burn(&burn, statement, days);
	high = fmax(burn.budget, 0);
	for (int i = 0; i < days->known; i++) {
		const double value = burn.budget - (double)days->steps[i].cost_so_far;

		low = fmin(low, value);
		high = fmax(high, value);
	}
	if (burn.has_forecast)
		low = fmin(low, burn.budget - burn.high);
	lt_html_axis_choose(&plot.y, low, high);
	lt_figure_text(left, statement, (int64_t)(burn.budget - burn.spent), LT_UNIT_MONEY);
	snprintf(text, sizeof(text),
	    "A line falls from the budget to what is left of it after the last day known: %s%s.",
	    left,
	    burn.has_forecast ? "; from there a forecast fans out to the end of the period" : "");
	fputs("<figure>\n", out);
	lt_html_svg_open(out, "budget-chart", "What is left of the budget", text, HEIGHT);
	draw_axis(out, &plot);
	draw_names(out, &plot, days);
	draw_left(out, &plot, &burn, days);
	fputs("</svg>\n<figcaption>", out);
	lt_html_text(out, statement->currency);
	fprintf(out,
	    " left of the budget <span class=\"key line-key\"></span> %s <span class=\"key pace-key\"></span> at an even pace",
	    statement->months ? "month by month" : "day by day");
	if (burn.has_forecast)
		fputs(" <span class=\"key range-key\"></span> forecast and its range", out);
	fputs("</figcaption>\n</figure>\n", out);
}

/* ---- bars of months and of teams ---- */

enum {
	MONTHS_LEFT = 72, /* of the plot of months */
	NAMES = 190,	  /* of that of teams: room for names */
	BARS_RIGHT = LT_HTML_CHART_WIDTH - 16,
	BARS_TOP = 14,
	MONTHS_BOTTOM = 146,
	MONTHS_HEIGHT = 196,
	MONTHS_MAX = 24,
	TEAMS_SHOWN = 12,
	TEAM_HEIGHT = 30,
	NAME_MAX_CHARACTERS = 15,
};

/* ---- months ---- */

struct months {
	const struct lt_statement *statement;
	const json_t *list;
	int count;
	const char *key; /* what is drawn */
	enum lt_unit unit;
	struct lt_html_axis axis;
};

static bool
is_closed(const json_t *month)
{
	return strcmp(lt_json_text(month, "state", ""), "closed") == 0;
}

static double
month_y(const struct months *m, double value)
{
	return MONTHS_BOTTOM -
	       (value - m->axis.low) / (m->axis.high - m->axis.low) * (MONTHS_BOTTOM - BARS_TOP);
}

static double
month_x(const struct months *m, double at)
{
	return MONTHS_LEFT + at * (BARS_RIGHT - MONTHS_LEFT) / m->count;
}

static void
draw_month_axis(const struct months *m)
{
	FILE *const out = m->statement->out;
	const struct lt_html_axis *const axis = &m->axis;

	for (int i = 0; i <= lt_html_axis_last(axis); i++) {
		char text[LT_AXIS_TEXT_SIZE];
		const double value = lt_html_axis_line(text, axis, i);

		fprintf(out,
		    "<path class=\"%s\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		    value == 0 ? "zero" : "grid", MONTHS_LEFT, month_y(m, value), BARS_RIGHT,
		    MONTHS_LEFT - 8, month_y(m, value) + 4, text);
	}
}

/* Draws "Nov" below each month, and the year below each January and below the first month, unless
 * the next one is January. */
static void
draw_month_name(const struct months *m, int index, const char *label)
{
	FILE *const out = m->statement->out;
	char name[40];

	lt_period_name(name, sizeof(name), label, LT_DAY_SHORT);
	const char *const year = strchr(name, ' ');
	const int length = year != NULL ? (int)(year - name) : 3;

	fprintf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
	    month_x(m, index + 0.5), MONTHS_BOTTOM + 20);
	fprintf(out, "%.*s</text>\n", length < 4 ? length : 3, name);
	if (year == NULL || (index > 0 && strncmp(name, "Jan", 3) != 0) ||
	    strncmp(name, "Dec", 3) == 0)
		return;
	fprintf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
	    month_x(m, index + 0.5), MONTHS_BOTTOM + 42);
	lt_html_text(out, year + 1);
	fputs("</text>\n", out);
}

static void
draw_month(const struct months *m, int index)
{
	FILE *const out = m->statement->out;
	const json_t *const month = json_array_get(m->list, (size_t)index);
	const char *const label = lt_json_text(month, "label", "");
	const bool closed = is_closed(month);
	char text[LT_FIGURE_SIZE], name[48];
	int64_t value;

	draw_month_name(m, index, label);
	if (!lt_json_int(month, m->key, &value))
		return;
	const double zero = month_y(m, 0), end = month_y(m, (double)value);

	fprintf(out,
	    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
	    closed ? "mark" : "open", month_x(m, index + 0.16), end < zero ? end : zero,
	    month_x(m, 0.68) - MONTHS_LEFT, fabs(zero - end));
	lt_html_text(out, lt_period_name(name, sizeof(name), label, LT_DAY_LONG));
	fputs(closed ? ": " : ", not closed: ", out);
	lt_html_text(out, lt_figure_text(text, m->statement, value, m->unit));
	fputs(m->unit == LT_UNIT_CARBON ? " kg CO2e</title></rect>\n" : "</title></rect>\n", out);
}

/* Draws the months, unless none has that figure. */
static void
draw_months(struct months *m, const char *id, const char *title)
{
	FILE *const out = m->statement->out;
	double low = 0, high = 0;
	int known = 0;
	char text[160];

	for (int i = 0; i < m->count; i++) {
		int64_t value;

		if (!lt_json_int(json_array_get(m->list, (size_t)i), m->key, &value))
			continue;
		known++;
		low = fmin(low, (double)value);
		high = fmax(high, (double)value);
	}
	if (known == 0)
		return;
	lt_html_axis_choose(&m->axis, low, high);
	snprintf(text, sizeof(text),
	    "A bar for each of %d months of which something is known, of %d. The table below has all figures.",
	    known, m->count);
	fputs("<figure>\n", out);
	lt_html_svg_open(out, id, title, text, MONTHS_HEIGHT);
	draw_month_axis(m);
	for (int i = 0; i < m->count; i++)
		draw_month(m, i);
	fputs("</svg>\n<figcaption>", out);
	lt_html_text(out, m->unit == LT_UNIT_MONEY ? m->statement->currency : "kg CO2e");
	fputs(
	    " a month <span class=\"key mark-key\"></span> closed <span class=\"key open-key\"></span> not closed, and may change</figcaption>\n</figure>\n",
	    out);
}

static void
print_months(const struct months *m)
{
	static const struct lt_html_column all[] = {
	    {"Cost", LT_UNIT_MONEY, LT_COLUMN_ALONE, "cost_micros", NULL, false},
	    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ALONE, "carbon_mg", NULL, false},
	    {"Runs", LT_UNIT_COUNT, LT_COLUMN_ALONE, "runs", NULL, false},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row rows[MONTHS_MAX] = {0};
	char names[MONTHS_MAX][80];
	struct lt_html_table table = {.caption = "What each month came to",
	    .first = "Month",
	    .columns = lt_html_columns(m->statement, shown, all),
	    .row_count = m->count,
	    .rows = rows,
	    .look = "dense"};

	for (int i = 0; i < m->count; i++) {
		const json_t *const month = json_array_get(m->list, (size_t)i);
		char name[48];
		int64_t runs;

		lt_period_name(name, sizeof(name), lt_json_text(month, "label", ""), LT_DAY_SHORT);
		snprintf(names[i], sizeof(names[i]), "%s%s", name,
		    !lt_json_int(month, "runs", &runs) ? ", nothing known"
		    : is_closed(month)		       ? ""
						       : ", not closed");
		rows[i].name = names[i];
		lt_html_row_fill(&rows[i], month, shown);
	}
	lt_html_table(m->statement, &table);
}

void
lt_html_trend(const struct lt_statement *statement)
{
	struct months m = {.statement = statement,
	    .list = json_object_get(statement->report, "trend"),
	    .axis = {.per_unit = LT_MICROS}}; /* and mg of a kilogram */

	m.count = (int)json_array_size(m.list);
	if (m.count > MONTHS_MAX)
		m.count = MONTHS_MAX;
	if (statement->has_money) {
		m.key = "cost_micros";
		m.unit = LT_UNIT_MONEY;
		draw_months(&m, "trend-cost", "Cost by month");
	}
	m.key = "carbon_mg";
	m.unit = LT_UNIT_CARBON;
	draw_months(&m, "trend-carbon", "Carbon by month");
	print_months(&m);
}

/* ---- teams ---- */

struct bar { /* of a team: its own, and all below it, too */
	char name[64];
	int64_t own, all, budget;
	bool has_budget;
};

struct bars {
	const struct lt_statement *statement;
	int count, others; /* others: as the last one */
	struct bar *list;
	bool any_below, any_budget;
	struct lt_html_axis axis;
};

static int
compare_bars(const void *left, const void *right)
{
	const struct bar *const one = left, *const two = right;

	return one->all > two->all ? -1 : one->all < two->all ? 1 : strcmp(one->name, two->name);
}

/* Copies as many whole characters of the name as fit the picture. */
static void
cut_name(char *out, size_t size, const char *name)
{
	size_t length = 0;

	for (int i = 0; name[length] != '\0'; length++) {
		if (((unsigned char)name[length] & 0xc0) == 0x80)
			continue;
		if (i++ == NAME_MAX_CHARACTERS)
			break;
	}
	if (length > size - sizeof("\u2026"))
		length = size - sizeof("\u2026");
	snprintf(out, size, "%.*s%s", (int)length, name, name[length] != '\0' ? "\u2026" : "");
}

static void
read_bar(struct bars *bars, const json_t *row)
{
	const bool money = bars->statement->has_money;
	struct bar *const bar = &bars->list[bars->count++];

	*bar = (struct bar){.own = 0};
	cut_name(bar->name, sizeof(bar->name), lt_json_text(row, "team", "?"));
	(void)lt_json_int(row, money ? "cost_micros" : "carbon_mg", &bar->all);
	if (!lt_json_int(row, money ? "own_micros" : "own_mg", &bar->own))
		bar->own = bar->all;
	bar->has_budget = lt_json_int(row, money ? "budget_micros" : "budget_mg", &bar->budget);
	bars->any_below |= bar->own != bar->all;
	bars->any_budget |= bar->has_budget;
}

/* Reads the teams at the top if there are two at least; else all teams. */
static void
read_bars(struct bars *bars)
{
	const json_t *const report = bars->statement->report;
	size_t index;
	const json_t *row;

	json_array_foreach(json_object_get(report, "tree"), index, row) {
		int64_t level = 0;

		if (lt_json_int(row, "level", &level) && level == 0)
			read_bar(bars, row);
	}
	if (bars->count < 2) {
		bars->count = 0;
		bars->any_below = bars->any_budget = false;
		json_array_foreach(json_object_get(report, "teams"), index, row)
			read_bar(bars, row);
	}
	if (bars->count > 1)
		qsort(bars->list, (size_t)bars->count, sizeof(*bars->list), compare_bars);
	for (; bars->count > TEAMS_SHOWN + 1; bars->count--) {
		struct bar *const to = &bars->list[TEAMS_SHOWN];
		const struct bar *const from = &bars->list[bars->count - 1];

		to->own += from->own;
		to->all += from->all;
		to->has_budget = false;
		snprintf(to->name, sizeof(to->name), "%d others", ++bars->others + 1);
	}
}

static double
at_value(const struct bars *bars, double value)
{
	return NAMES +
	       (value - bars->axis.low) / (bars->axis.high - bars->axis.low) * (BARS_RIGHT - NAMES);
}

static void
draw_piece(const struct bars *bars, const char *look, int top, double from, double to)
{
	const double x = at_value(bars, from), end = at_value(bars, to);

	if (from != to)
		fprintf(bars->statement->out,
		    "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"16\"/>", look,
		    x < end ? x : end, top, fabs(end - x));
}

static void
draw_team(const struct bars *bars, int index)
{
	FILE *const out = bars->statement->out;
	const struct bar *const bar = &bars->list[index];
	const int top = BARS_TOP + index * TEAM_HEIGHT;

	fprintf(out, "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"end\">", NAMES - 10,
	    top + 13);
	lt_html_text(out, bar->name);
	fputs("</text>", out);
	draw_piece(bars, bar->own < 0 ? "back" : "mark", top, 0, (double)bar->own);
	draw_piece(bars, "open", top, (double)bar->own, (double)bar->all);
	if (bar->has_budget)
		fprintf(out, "<path class=\"limit\" d=\"M%.1f %dV%d\"/>",
		    at_value(bars, (double)bar->budget), top - 4, top + 20);
	fputc('\n', out);
}

static void
draw_scale(const struct bars *bars)
{
	FILE *const out = bars->statement->out;
	const struct lt_html_axis *const axis = &bars->axis;
	const int last = lt_html_axis_last(axis);
	const int bottom = BARS_TOP + bars->count * TEAM_HEIGHT;

	for (int i = 0; i <= last; i++) {
		char text[LT_AXIS_TEXT_SIZE];
		const double value = lt_html_axis_line(text, axis, i);

		fprintf(out,
		    "<path class=\"%s\" d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
		    value == 0 ? "zero" : "grid", at_value(bars, value), BARS_TOP - 8, bottom,
		    at_value(bars, value), bottom + 18, i == last ? "end" : "middle", text);
	}
}

static void
draw_teams(struct bars *bars)
{
	const struct lt_statement *const statement = bars->statement;
	FILE *const out = statement->out;
	char text[256], most[LT_FIGURE_SIZE];
	double low = 0, high = 0;

	for (int i = 0; i < bars->count; i++) {
		low = fmin(low, (double)bars->list[i].all);
		low = fmin(low, (double)bars->list[i].own);
		high = fmax(high, (double)bars->list[i].all);
		high = fmax(high, (double)bars->list[i].own);
		if (bars->list[i].has_budget)
			high = fmax(high, (double)bars->list[i].budget);
	}
	lt_html_axis_choose(&bars->axis, low, high);
	lt_figure_text(most, statement, bars->list[0].all,
	    statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON);
	snprintf(text, sizeof(text),
	    "A bar for each team%s; the longest is %s with %s%s. The tables below have all figures.",
	    bars->any_below ? " on top, with all teams below it" : "", bars->list[0].name, most,
	    statement->has_money ? "" : " kg CO2e");
	fputs("<figure>\n", out);
	lt_html_svg_open(
	    out, "teams-chart", "By team", text, BARS_TOP + bars->count * TEAM_HEIGHT + 28);
	draw_scale(bars);
	for (int i = 0; i < bars->count; i++)
		draw_team(bars, i);
	fputs("</svg>\n<figcaption>", out);
	lt_html_text(out, statement->has_money ? statement->currency : "kg CO2e");
	fputs(" by team", out);
	if (bars->any_below)
		fputs(
		    " <span class=\"key mark-key\"></span> its own <span class=\"key open-key\"></span> of teams below it",
		    out);
	if (bars->any_budget)
		fputs(" <span class=\"key limit-key\"></span> its budget of this period", out);
	fputs("</figcaption>\n</figure>\n", out);
}

void
lt_html_team_bars(const struct lt_statement *statement)
{
	const json_t *const report = statement->report;
	struct bars bars = {.statement = statement,
	    .axis = {.per_unit = LT_MICROS}, /* and mg of a kilogram */
	    .list = calloc(json_array_size(json_object_get(report, "teams")) +
			       json_array_size(json_object_get(report, "tree")) + 1,
		sizeof(struct bar))};

	if (bars.list == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	read_bars(&bars);
	if (bars.count > 1)
		draw_teams(&bars);
	free(bars.list);
}
