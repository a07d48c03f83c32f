/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the result of a simulation: a row per policy, for people or as JSON; and load, intensity
 * and price as a picture, with the load of jobs that all start at once in grey and that of the
 * policy in blue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simulation.h"
#include "units.h"

static const struct lt_table_column columns[] = {
    {"policy", false},
    {"kg CO2e", true},
    {"of nowait", true},
    {"cost", true},
    {"mean wait", true},
    {"late", true},
    {NULL, false},
};

static double
cpu_hours(const struct lt_sim_trace *trace)
{
	double sum = 0;

	for (uint32_t i = 0; i < trace->count; i++)
		sum += trace->jobs[i].cpus * (double)trace->jobs[i].run_s;
	return sum / LT_HOUR_S;
}

/* Returns the carbon as a part of that without waiting; 1 if that is 0. */
static double
of_nowait(const struct lt_simulation *simulation, int i)
{
	const double base = simulation->results[0].carbon_kg;

	return base > 0 ? simulation->results[i].carbon_kg / base : 1;
}

void
lt_simulation_print(const struct lt_simulation *simulation, bool color)
{
	struct lt_table *const table = lt_table_new(columns);
	const struct lt_sim_result *const results = simulation->results;
	char iso[40], from[96];

	if (table == NULL)
		return;
	for (int i = 0; i < simulation->count; i++) {
		char cells[5][32];
		const char *const row[] = {lt_sim_policy_name((int)simulation->policies[i]),
		    cells[0], cells[1], cells[2], cells[3], cells[4]};

		snprintf(cells[0], sizeof(cells[0]), "%.3f", results[i].carbon_kg);
		snprintf(cells[1], sizeof(cells[1]), "%.4f", of_nowait(simulation, i));
		snprintf(cells[2], sizeof(cells[2]), "%.2f", results[i].money);
		snprintf(cells[3], sizeof(cells[3]), "%.2f h", results[i].wait_s / LT_HOUR_S);
		snprintf(cells[4], sizeof(cells[4]), "%u", results[i].late);
		lt_table_row(table, row);
	}
	printf("%u jobs, %.1f CPU-hours, from %s\n", simulation->trace.count,
	    cpu_hours(&simulation->trace),
	    lt_local_time(from, sizeof(from),
		lt_utc_text(iso, sizeof(iso), simulation->trace.jobs[0].submit_utc_s)));
	if (simulation->trace.bad > 0)
		printf("left out: %u %s that can't be read\n", simulation->trace.bad,
		    simulation->trace.bad == 1 ? "row" : "rows");
	lt_table_fit(table, lt_cli_columns(), 0);
	lt_table_print(stdout, table, color);
	lt_table_free(table);
}

static json_t *
run_json(const struct lt_simulation *simulation, int i)
{
	const struct lt_sim_result *const result = &simulation->results[i];

	return json_pack("{s:s, s:f, s:f, s:f, s:f, s:i}", "policy",
	    lt_sim_policy_name((int)simulation->policies[i]), "carbon_kg", result->carbon_kg,
	    "carbon_of_nowait", of_nowait(simulation, i), "cost", result->money, "mean_wait_h",
	    result->wait_s / LT_HOUR_S, "late", (int)result->late);
}

int
lt_simulation_print_json(const struct lt_simulation *simulation)
{
	json_t *const runs = json_array();
	char from[40];
	json_t *body;
	int result;

	for (int i = 0; i < simulation->count; i++)
		json_array_append_new(runs, run_json(simulation, i));
	body = json_pack("{s:i, s:i, s:i, s:i, s:f, s:s, s:s, s:s, s:o}", "jobs",
	    (int)simulation->trace.count, "skipped", (int)simulation->trace.skipped, "parts",
	    (int)simulation->trace.parts, "bad_rows", (int)simulation->trace.bad, "cpu_hours",
	    cpu_hours(&simulation->trace), "from",
	    lt_utc_text(from, sizeof(from), simulation->trace.jobs[0].submit_utc_s), "forecast",
	    lt_sim_forecast_name((int)simulation->options.forecast), "lengths",
	    lt_sim_length_name((int)simulation->options.length), "runs", runs);
	result = lt_cli_print_json(body);
	json_decref(body);
	return result;
}

/* ---- as a picture ---- */

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
draw_curve(FILE *out, const struct curve *curve, int hours, int bottom, double per_unit)
{
	const double step = (double)(RIGHT - LEFT) / hours;

	fprintf(out, "<polyline fill=\"%s\" fill-opacity=\"0.5\" stroke=\"%s\" points=\"",
	    curve->filled ? curve->color : "none", curve->color);
	if (curve->filled)
		fprintf(out, "%d,%d ", LEFT, bottom);
	for (int i = 0; i < curve->count && i < hours; i++) {
		const double y = bottom - curve->values[i] * per_unit;

		fprintf(out, "%.1f,%.1f %.1f,%.1f ", LEFT + i * step, y, LEFT + (i + 1) * step, y);
	}
	if (curve->filled)
		fprintf(out, "%.1f,%d", LEFT + (curve->count < hours ? curve->count : hours) * step,
		    bottom);
	fputs("\"/>\n", out);
}

static void
draw_panel(FILE *out, const struct panel *panel, int hours, int top)
{
	const int bottom = top + PANEL;
	const double most = highest(panel);

	fprintf(out, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n", LEFT, top - 8,
	    panel->title);
	for (int i = 0; i <= TICKS; i++)
		fprintf(out,
		    "<path d=\"M%d %dH%d\" stroke=\"#ddd\"/>"
		    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>\n",
		    LEFT, bottom - i * PANEL / TICKS, RIGHT, LEFT - 6,
		    bottom - i * PANEL / TICKS + 4, most * i / TICKS);
	for (int c = 0; c < panel->curve_count; c++)
		draw_curve(out, &panel->curves[c], hours, bottom, PANEL / most);
}

/* Draws a line and its date at each midnight, UTC. */
static void
draw_days(FILE *out, int64_t first_hour, int hours, int bottom)
{
	const int64_t every =
	    hours / 24 > DAYS_SHOWN ? (hours / 24 + DAYS_SHOWN - 1) / DAYS_SHOWN : 1;
	const double step = (double)(RIGHT - LEFT) / hours;

	for (int i = 0; i < hours; i++) {
		char text[40];

		if ((first_hour + i) % (24 * every) != 0)
			continue;
		lt_utc_text(text, sizeof(text), (first_hour + i) * LT_HOUR_S);
		fprintf(out,
		    "<path d=\"M%.1f %dV%d\" stroke=\"#eee\"/>"
		    "<text x=\"%.1f\" y=\"%d\">%.10s</text>\n",
		    LEFT + i * step, TOP, bottom, LEFT + i * step + 3, bottom + 15, text);
	}
}

static double *
hours_of(const struct lt_sim_signal *signal, int64_t first_hour, int count, double per_unit)
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
	const struct lt_sim_result *const after = &simulation->results[simulation->count - 1];
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
	    WIDTH, bottom + 30, LEFT, lt_sim_policy_name((int)simulation->policies[0]),
	    before->carbon_kg, before->money,
	    lt_sim_policy_name((int)simulation->policies[simulation->count - 1]), after->carbon_kg,
	    after->money);
	draw_days(out, before->from_utc_s / LT_HOUR_S, hours, bottom);
	for (int i = 0; i < count; i++)
		draw_panel(out, &panels[i], hours, TOP + i * (PANEL + GAP));
	fputs("</svg>\n", out);
}

int
lt_simulation_write_svg(
    const struct lt_simulation *simulation, const char *path, struct lt_error *err)
{
	const struct lt_sim_result *const before = &simulation->results[0];
	const struct lt_sim_result *const after = &simulation->results[simulation->count - 1];
	const int64_t first_hour = before->from_utc_s / LT_HOUR_S;
	const int64_t end_s =
	    after->to_utc_s > before->to_utc_s ? after->to_utc_s : before->to_utc_s;
	const int hours = (int)((end_s - 1) / LT_HOUR_S - first_hour) + 1;
	double *const intensity = hours_of(&simulation->signal, first_hour, hours, 1);
	double *const price = simulation->price.hours > 0
				  ? hours_of(&simulation->price, first_hour, hours, LT_MICROS)
				  : NULL;
	FILE *const out = fopen(path, "w");

	if (out == NULL)
		lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	else if (intensity == NULL || (price == NULL && simulation->price.hours > 0))
		lt_fail(err, LT_ENOMEM, "%s: no memory", path);
	else
		draw(out, simulation, intensity, price, hours);
	if (out != NULL && fclose(out) != 0)
		lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	free(intensity);
	free(price);
	return err->code;
}
