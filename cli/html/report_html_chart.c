/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two charts of the HTML statement as inline SVG: what is left of the
 * budget, with a forecast's range, and the bars of the days. Each figure of
 * theirs stands in the table of the days, too.
 */
#include <math.h>
#include <string.h>

#include "cli.h"
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
	return BOTTOM - (value - plot->y.low) / (plot->y.high - plot->y.low) *
			    (BOTTOM - TOP);
}

/* at: steps from the period's begin. */
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

	axis->step = power * (digit <= 1      ? 1
				 : digit <= 2 ? 2
				 : digit <= 5 ? 5
					      : 10);
	axis->low = floor(low / axis->step) * axis->step;
	axis->high = ceil(high / axis->step) * axis->step;
}

static void
axis_text(char *out, size_t size, const struct lt_html_axis *axis, double at)
{
	const double value = at / axis->per_unit,
		     step = axis->step / axis->per_unit;

	static const struct {
		double unit;
		const char *letter;
	} letters[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
	size_t i = 0;

	while (i < 3 && fabs(value) < letters[i].unit)
		i++;
	const double unit = letters[i].unit;
	const double least = step / unit;
	const int decimals =
	    least >= 1 || value == 0 ? 0 : (int)ceil(-log10(least) - 1e-9);

	snprintf(out, size, "%.*f%s", decimals > 6 ? 6 : decimals, value / unit,
	    value == 0 ? "" : letters[i].letter);
}

int
lt_html_axis_last(const struct lt_html_axis *axis)
{
	return (int)lround((axis->high - axis->low) / axis->step);
}

double
lt_html_axis_line(
    char text[LT_AXIS_TEXT_SIZE], const struct lt_html_axis *axis, int line)
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
		    value == 0 ? "zero" : "grid", LEFT, y_of(plot, value),
		    RIGHT, LEFT - 8, y_of(plot, value) + 4, text);
	}
}

/* A name below each seventh day, below each of a few months. */
static void
draw_names(FILE *out, const struct plot *plot, const struct lt_html_days *days)
{
	const int every = days->count <= DAYS_NAMED ? 1
			  : plot->statement->months ? (days->count + 5) / 6
						    : DAYS_NAMED;

	for (int i = 0; i < days->count; i += every) {
		fprintf(out,
		    "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
		    x_of(plot, i + 0.5), BOTTOM + 22);
		lt_html_text(out, days->steps[i].name);
		fputs("</text>\n", out);
	}
}

void
lt_html_svg_open(FILE *out, const char *id, const char *title,
    const char *description, int height)
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
draw_bar(FILE *out, const struct plot *plot, const struct lt_html_step *step,
    int index)
{
	const int64_t value = bar_value(plot, step);
	const double zero = y_of(plot, 0), end = y_of(plot, (double)value),
		     left = x_of(plot, index + 0.14),
		     right = x_of(plot, index + 0.86);
	const enum lt_unit unit =
	    plot->statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON;
	char text[LT_FIGURE_SIZE];

	fprintf(out,
	    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
	    value < 0 ? "back" : "mark", left, end < zero ? end : zero,
	    right - left, fabs(zero - end));
	lt_html_text(out, step->name);
	fputs(": ", out);
	lt_html_text(out, lt_figure_text(text, plot->statement, value, unit));
	fputs(unit == LT_UNIT_CARBON ? " kg CO2e</title></rect>\n"
				     : "</title></rect>\n",
	    out);
}

void
lt_html_bars(
    const struct lt_statement *statement, const struct lt_html_days *days)
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
	lt_figure_text(most_text, statement,
	    bar_value(&plot, &days->steps[most]),
	    statement->has_money ? LT_UNIT_MONEY : LT_UNIT_CARBON);
	snprintf(text, sizeof(text),
	    "A bar for each %s; the highest is %s with %s%s. The table below has all figures.",
	    statement->months ? "month" : "day", days->steps[most].name,
	    most_text, statement->has_money ? "" : " kg CO2e");
	fputs("<figure>\n", out);
	lt_html_svg_open(out, "days-chart",
	    statement->months ? "By month" : "By day", text, HEIGHT);
	draw_axis(out, &plot);
	draw_names(out, &plot, days);
	for (int i = 0; i < days->known; i++)
		draw_bar(out, &plot, &days->steps[i], i);
	fputs("</svg>\n<figcaption>", out);
	lt_html_text(
	    out, statement->has_money ? statement->currency : "kg CO2e");
	fputs(statement->months ? " a month" : " a day", out);
	fputs("</figcaption>\n</figure>\n", out);
}

/* ---- what is left ---- */

struct burn {
	double budget, spent; /* spent until now */
	bool has_forecast;
	double low, expected, high; /* spent at the end */
};

static void
read_burn(struct burn *burn, const struct lt_statement *statement,
    const struct lt_html_days *days)
{
	const json_t *const forecast =
	    json_object_get(statement->report, "forecast");
	int64_t budget = 0, low = 0, expected = 0, high = 0;

	lt_json_int(statement->total, "budget_micros", &budget);
	burn->budget = (double)budget;
	burn->spent = (double)days->steps[days->known - 1].cost_so_far;
	burn->has_forecast =
	    days->known < days->count &&
	    lt_json_int(forecast, "low_micros", &low) &&
	    lt_json_int(forecast, "expected_micros", &expected) &&
	    lt_json_int(forecast, "high_micros", &high);
	burn->low = (double)low;
	burn->expected = (double)expected;
	burn->high = (double)high;
}

static void
draw_forecast(
    FILE *out, const struct plot *plot, const struct burn *burn, int known)
{
	const double now_x = x_of(plot, known),
		     now_y = y_of(plot, burn->budget - burn->spent);

	fprintf(out,
	    "<path class=\"range\" d=\"M%.1f %.1fL%d %.1fV%.1fZ\"><title>forecast, its range</title></path>\n"
	    "<path class=\"forecast\" d=\"M%.1f %.1fL%d %.1f\"><title>forecast, expected</title></path>\n",
	    now_x, now_y, RIGHT, y_of(plot, burn->budget - burn->low),
	    y_of(plot, burn->budget - burn->high), now_x, now_y, RIGHT,
	    y_of(plot, burn->budget - burn->expected));
}

static void
draw_left(FILE *out, const struct plot *plot, const struct burn *burn,
    const struct lt_html_days *days)
{
	if (burn->has_forecast)
		draw_forecast(out, plot, burn, days->known);
	fprintf(out,
	    "<path class=\"pace\" d=\"M%d %.1fL%d %.1f\"><title>even pace: the budget over all days</title></path>\n",
	    LEFT, y_of(plot, burn->budget), RIGHT, y_of(plot, 0));
	fprintf(out, "<polyline class=\"line\" points=\"%d,%.1f", LEFT,
	    y_of(plot, burn->budget));
	for (int i = 0; i < days->known; i++)
		fprintf(out, " %.1f,%.1f", x_of(plot, i + 1),
		    y_of(plot,
			burn->budget - (double)days->steps[i].cost_so_far));
	fputs("\"><title>left of the budget</title></polyline>\n", out);
	fprintf(out,
	    "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
	    x_of(plot, days->known), y_of(plot, burn->budget - burn->spent));
}

void
lt_html_burn_down(
    const struct lt_statement *statement, const struct lt_html_days *days)
{
	FILE *const out = statement->out;
	struct plot plot = {.statement = statement,
	    .steps = days->count,
	    .y.per_unit = LT_MICROS};
	char text[256], left[LT_FIGURE_SIZE];
	double low = 0, high;
	struct burn burn;

	read_burn(&burn, statement, days);
	high = fmax(burn.budget, 0);
	for (int i = 0; i < days->known; i++) {
		const double value =
		    burn.budget - (double)days->steps[i].cost_so_far;

		low = fmin(low, value);
		high = fmax(high, value);
	}
	if (burn.has_forecast)
		low = fmin(low, burn.budget - burn.high);
	lt_html_axis_choose(&plot.y, low, high);
	lt_figure_text(left, statement, (int64_t)(burn.budget - burn.spent),
	    LT_UNIT_MONEY);
	snprintf(text, sizeof(text),
	    "A line falls from the budget to what is left of it after the last day known: %s%s.",
	    left,
	    burn.has_forecast
		? "; from there a forecast fans out to the end of the period"
		: "");
	fputs("<figure>\n", out);
	lt_html_svg_open(
	    out, "budget-chart", "What is left of the budget", text, HEIGHT);
	draw_axis(out, &plot);
	draw_names(out, &plot, days);
	draw_left(out, &plot, &burn, days);
	fputs("</svg>\n<figcaption>", out);
	lt_html_text(out, statement->currency);
	fprintf(out,
	    " left of the budget <span class=\"key line-key\"></span> %s <span class=\"key pace-key\"></span> at an even pace",
	    statement->months ? "month by month" : "day by day");
	if (burn.has_forecast)
		fputs(
		    " <span class=\"key range-key\"></span> forecast and its range",
		    out);
	fputs("</figcaption>\n</figure>\n", out);
}
