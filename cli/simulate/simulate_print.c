/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a simulation came to: a row a policy, for people or as JSON.
 */
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

/* Of what it would be if no job waited; 1 where that is nothing. */
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
		const char *const row[] = {
		    lt_sim_policy_name((int)simulation->policies[i]), cells[0],
		    cells[1], cells[2], cells[3], cells[4]};

		snprintf(
		    cells[0], sizeof(cells[0]), "%.3f", results[i].carbon_kg);
		snprintf(cells[1], sizeof(cells[1]), "%.4f",
		    of_nowait(simulation, i));
		snprintf(cells[2], sizeof(cells[2]), "%.2f", results[i].money);
		snprintf(cells[3], sizeof(cells[3]), "%.2f h",
		    results[i].wait_s / LT_HOUR_S);
		snprintf(cells[4], sizeof(cells[4]), "%u", results[i].late);
		lt_table_row(table, row);
	}
	printf("%u jobs, %.1f CPU-hours, from %s\n", simulation->trace.count,
	    cpu_hours(&simulation->trace),
	    lt_local_time(from, sizeof(from),
		lt_utc_text(
		    iso, sizeof(iso), simulation->trace.jobs[0].submit_utc_s)));
	if (simulation->trace.bad > 0)
		printf("left out: %u %s that can't be read\n",
		    simulation->trace.bad,
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
	    lt_sim_policy_name((int)simulation->policies[i]), "carbon_kg",
	    result->carbon_kg, "carbon_of_nowait", of_nowait(simulation, i),
	    "cost", result->money, "mean_wait_h", result->wait_s / LT_HOUR_S,
	    "late", (int)result->late);
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
	body = json_pack("{s:i, s:i, s:i, s:i, s:f, s:s, s:s, s:s, s:o}",
	    "jobs", (int)simulation->trace.count, "skipped",
	    (int)simulation->trace.skipped, "parts",
	    (int)simulation->trace.parts, "bad_rows",
	    (int)simulation->trace.bad, "cpu_hours",
	    cpu_hours(&simulation->trace), "from",
	    lt_utc_text(
		from, sizeof(from), simulation->trace.jobs[0].submit_utc_s),
	    "forecast", lt_sim_forecast_name((int)simulation->options.forecast),
	    "lengths", lt_sim_length_name((int)simulation->options.length),
	    "runs", runs);
	result = lt_cli_print_json(body);
	json_decref(body);
	return result;
}
