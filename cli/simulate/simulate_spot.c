/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate TRACE --deadline-factor F: jobs with a deadline on nodes
 * that are taken as in a trace, by the lt_replan() that lowtided asks.
 */
#include <stdlib.h>
#include <string.h>

#include "simulate_spot.h"
#include "units.h"

static const char factor_option[] = "deadline-factor";

static bool
is_in(const char *word, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

const char *
lt_simulate_spot_misplaced(const struct lt_cli *cli)
{
	static const char *const ours[] = {factor_option, "work", "slack",
	    "checkpoint", "prices", "interruptions", "returns", "jobs", "comes",
	    "events", NULL};
	static const char *const both[] = {"limits", "seed", NULL};
	const bool is_spot = lt_cli_value(cli, factor_option) != NULL;
	const struct lt_cli_option *option = cli->command->options;

	for (; option->name != NULL; option++)
		if (lt_cli_value(cli, option->name) != NULL &&
		    !is_in(option->name, both) &&
		    is_in(option->name, ours) != is_spot)
			return option->name;
	return NULL;
}

/* The job's place in the draw, from 0; seconds from the trace's beginning. */
static void
write_event(void *context, const struct lt_sim_spot_event *event)
{
	fprintf(context, "%u,%lld,%s,%s,%s,%lld,%u\n", event->job,
	    (long long)event->at_s, lt_sim_spot_word(event->what),
	    event->is_spot ? "spot" : "ondemand", event->why,
	    (long long)event->done_s, event->interruptions);
}

static int
simulate(struct lt_sim_spot_result *result, struct lt_sim_spot *spot,
    const char *path, struct lt_error *err)
{
	struct lt_output events;

	if (path == NULL)
		return lt_simulate_spot(result, spot, err);
	if (lt_output_open(&events, path, err) != LT_OK)
		return err->code;
	fputs("job,second,event,partition,why,done_s,interruptions\n",
	    events.out);
	spot->watch = (struct lt_sim_spot_watch){
	    .event = write_event, .context = events.out};
	(void)lt_simulate_spot(result, spot, err);
	return lt_output_close(&events, err);
}

static void
print(const struct lt_sim_spot_result *result, const struct lt_sim_spot *spot,
    bool color)
{
	static const struct lt_table_column columns[] = {{"place", false},
	    {"in time", true}, {"late", true}, {"cost", true},
	    {"interruptions", true}, {"to on demand", true}, {NULL, false}};
	const struct lt_sim_spot_options *const options = spot->options;
	struct lt_table *const table = lt_table_new(columns);
	char all[16], cells[6][32];
	const char *const ours[] = {
	    "lowtide", cells[0], cells[1], cells[2], cells[3], cells[4]};
	const char *const on_demand[] = {
	    "on demand", all, "0", cells[5], "0", all};

	if (table == NULL)
		return;
	snprintf(all, sizeof(all), "%u", options->jobs);
	snprintf(cells[0], sizeof(cells[0]), "%u", result->in_time);
	snprintf(
	    cells[1], sizeof(cells[1]), "%u", options->jobs - result->in_time);
	snprintf(cells[2], sizeof(cells[2]), "%.2f", result->money);
	snprintf(cells[3], sizeof(cells[3]), "%u", result->interruptions);
	snprintf(cells[4], sizeof(cells[4]), "%u", result->left);
	snprintf(cells[5], sizeof(cells[5]), "%.2f", result->on_demand_money);
	printf("%u jobs of %.2f h, each due after %.2f h; spot nodes are there "
	       "%.0f %% of %.1f h, and taken %u times\n",
	    options->jobs, (double)options->work_s / LT_HOUR_S,
	    options->deadline_factor * (double)options->work_s / LT_HOUR_S,
	    result->there * 100,
	    (double)spot->trace.tick_s * spot->trace.count / LT_HOUR_S,
	    result->taken);
	lt_table_row(table, on_demand);
	lt_table_row(table, ours);
	lt_table_fit(table, lt_cli_columns(), 0);
	lt_table_print(stdout, table, color);
	lt_table_free(table);
}

static int
print_json(
    const struct lt_sim_spot_result *result, const struct lt_sim_spot *spot)
{
	const int jobs = (int)spot->options->jobs;
	json_t *const body = json_pack(
	    "{s:i, s:i, s:i, s:f, s:f, s:i, s:i, s:i, s:i, s:f, s:i}", "jobs",
	    jobs, "in_time", (int)result->in_time, "late",
	    jobs - (int)result->in_time, "cost", result->money,
	    "cost_on_demand", result->on_demand_money, "interruptions",
	    (int)result->interruptions, "timed_out", (int)result->timed_out,
	    "to_on_demand", (int)result->left, "returns", (int)result->returns,
	    "spot_there", result->there, "spot_taken", (int)result->taken);
	const int status = lt_cli_print_json(body);

	json_decref(body);
	return status;
}

int
lt_cli_simulate_spot(const struct lt_cli *cli)
{
	struct lt_sim_spot_options options;
	struct lt_sim_spot spot = {.options = &options};
	struct lt_sim_spot_result result;
	struct lt_error err = {0};
	uint8_t *taken = NULL;
	int status = LT_EXIT_OK;

	if (lt_simulate_spot_read_options(&options, cli, &err) != LT_OK)
		return lt_cli_usage(cli, "%s", err.text);
	if (lt_simulate_spot_read_trace(
		&spot.trace, &taken, cli->operands[0], &err) != LT_OK ||
	    simulate(&result, &spot, lt_cli_value(cli, "events"), &err) !=
		LT_OK)
		status = lt_cli_fail(&err);
	else if (cli->json)
		status = print_json(&result, &spot);
	else
		print(&result, &spot, cli->color);
	free(taken);
	return status;
}
