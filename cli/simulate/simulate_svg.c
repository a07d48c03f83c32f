/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load, intensity and price of a simulation as a picture: what each job
 * starting at once would have been in grey, what the policy made of it in blue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simulation.h"
#include "units.h"

enum {
	WIDTH = 960,
	LEFT = 70, /* of the panels; room for the figures */
	RIGHT = 940,
	PANEL = 150,
	GAP = 45,
	TOP = 50,
	TICKS = 4,
	DAYS_SHOWN = 14, /* more: no line for each */
};

struct curve {
	const char *color;
	bool filled;
	const double *values; /* one an hour */
	int count;
};

struct panel {
	const char *title;
	int curve_count;
	struct curve curves[2];
};

static double
highest(const struct panel *panel)
{
	double most = 0;

	for (int c = 0; c < panel->curve_count; c++)
		for (int i = 0; i < panel->curves[c].count; i++)
			if (panel->curves[c].values[i] > most)
				most = panel->curves[c].values[i];
	return most > 0 ? most : 1;
}

static void
draw_curve(FILE *out, const struct curve *curve, int hours, int bottom,
    double per_unit)
{
	const double step = (double)(RIGHT - LEFT) / hours;

	fprintf(out,
	    "<polyline fill=\"%s\" fill-opacity=\"0.5\" stroke=\"%s\" points=\"",
	    curve->filled ? curve->color : "none", curve->color);
	if (curve->filled)
		fprintf(out, "%d,%d ", LEFT, bottom);
	for (int i = 0; i < curve->count && i < hours; i++) {
		const double y = bottom - curve->values[i] * per_unit;

		fprintf(out, "%.1f,%.1f %.1f,%.1f ", LEFT + i * step, y,
		    LEFT + (i + 1) * step, y);
	}
	if (curve->filled)
		fprintf(out, "%.1f,%d",
		    LEFT + (curve->count < hours ? curve->count : hours) * step,
		    bottom);
	fputs("\"/>\n", out);
}

static void
draw_panel(FILE *out, const struct panel *panel, int hours, int top)
{
	const int bottom = top + PANEL;
	const double most = highest(panel);

	fprintf(out, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n",
	    LEFT, top - 8, panel->title);
	for (int i = 0; i <= TICKS; i++)
		fprintf(out,
		    "<path d=\"M%d %dH%d\" stroke=\"#ddd\"/>"
		    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>\n",
		    LEFT, bottom - i * PANEL / TICKS, RIGHT, LEFT - 6,
		    bottom - i * PANEL / TICKS + 4, most * i / TICKS);
	for (int c = 0; c < panel->curve_count; c++)
		draw_curve(out, &panel->curves[c], hours, bottom, PANEL / most);
}

/* A line and its date at each midnight, UTC. */
static void
draw_days(FILE *out, int64_t first_hour, int hours, int bottom)
{
	const int64_t every = hours / 24 > DAYS_SHOWN
				  ? (hours / 24 + DAYS_SHOWN - 1) / DAYS_SHOWN
				  : 1;
	const double step = (double)(RIGHT - LEFT) / hours;

	for (int i = 0; i < hours; i++) {
		char text[40];

		if ((first_hour + i) % (24 * every) != 0)
			continue;
		lt_utc_text(text, sizeof(text), (first_hour + i) * LT_HOUR_S);
		fprintf(out,
		    "<path d=\"M%.1f %dV%d\" stroke=\"#eee\"/>"
		    "<text x=\"%.1f\" y=\"%d\">%.10s</text>\n",
		    LEFT + i * step, TOP, bottom, LEFT + i * step + 3,
		    bottom + 15, text);
	}
}

static double *
hours_of(const struct lt_sim_signal *signal, int64_t first_hour, int count,
    double per_unit)
{
	double *const values = calloc((size_t)count, sizeof(*values));

	for (int i = 0; values != NULL && i < count; i++)
		values[i] = lt_sim_signal_at(signal, first_hour + i) / per_unit;
	return values;
}

static void
draw(FILE *out, const struct lt_simulation *simulation, const double *intensity,
    const double *price, int hours)
{
	const struct lt_sim_result *const before = &simulation->results[0];
	const struct lt_sim_result *const after =
	    &simulation->results[simulation->count - 1];
	const struct panel panels[] = {
	    {"CPUs in use", 2,
		{{"#999", true, before->load, before->load_hours},
		    {"#06c", false, after->load, after->load_hours}}},
	    {"g CO2e/kWh", 1, {{"#383", false, intensity, hours}}},
	    {"price of a CPU-hour", 1, {{"#a50", false, price, hours}}},
	};
	const int count = price != NULL ? 3 : 2;
	const int bottom = TOP + count * (PANEL + GAP) - GAP;

	fprintf(out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	    "font-family=\"sans-serif\" font-size=\"11\">\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	    "<text x=\"%d\" y=\"18\">grey: %s, %.1f kg CO2e, cost %.2f; "
	    "blue: %s, %.1f kg, cost %.2f</text>\n",
	    WIDTH, bottom + 30, LEFT,
	    lt_sim_policy_name((int)simulation->policies[0]), before->carbon_kg,
	    before->money,
	    lt_sim_policy_name(
		(int)simulation->policies[simulation->count - 1]),
	    after->carbon_kg, after->money);
	draw_days(out, before->from_utc_s / LT_HOUR_S, hours, bottom);
	for (int i = 0; i < count; i++)
		draw_panel(out, &panels[i], hours, TOP + i * (PANEL + GAP));
	fputs("</svg>\n", out);
}

int
lt_simulation_write_svg(const struct lt_simulation *simulation,
    const char *path, struct lt_error *err)
{
	const struct lt_sim_result *const before = &simulation->results[0];
	const struct lt_sim_result *const after =
	    &simulation->results[simulation->count - 1];
	const int64_t first_hour = before->from_utc_s / LT_HOUR_S;
	const int64_t end_s = after->to_utc_s > before->to_utc_s
				  ? after->to_utc_s
				  : before->to_utc_s;
	const int hours = (int)((end_s - 1) / LT_HOUR_S - first_hour) + 1;
	double *const intensity =
	    hours_of(&simulation->signal, first_hour, hours, 1);
	double *const price =
	    simulation->price.hours > 0
		? hours_of(&simulation->price, first_hour, hours, LT_MICROS)
		: NULL;
	FILE *const out = fopen(path, "w");

	if (out == NULL)
		lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	else if (intensity == NULL ||
		 (price == NULL && simulation->price.hours > 0))
		lt_fail(err, LT_ENOMEM, "%s: no memory", path);
	else
		draw(out, simulation, intensity, price, hours);
	if (out != NULL && fclose(out) != 0)
		lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	free(intensity);
	free(price);
	return err->code;
}
