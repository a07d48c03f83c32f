/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate TRACE --deadline-factor F: jobs with a deadline on nodes that are taken as in a
 * trace, by the lt_replan() that lowtided asks. Traces are as those of "Can't Be Late" are
 * published.
 */
#include <stdlib.h>

#include "json.h"
#include "plain_file.h"
#include "simulation.h"
#include "units.h"

static int
take_ticks(
    struct lt_sim_spot_trace *trace, uint8_t **taken, const json_t *root, struct lt_error *err)
{
	const json_t *const data = json_object_get(root, "data");
	const json_t *const gap = json_object_get(json_object_get(root, "metadata"), "gap_seconds");
	const size_t count = json_array_size(data);

	if (!json_is_number(gap) || json_number_value(gap) < 1 || json_number_value(gap) > LT_DAY_S)
		return lt_fail(err, LT_EINPUT,
		    "metadata.gap_seconds: want the seconds of a tick, 1 to %d", LT_DAY_S);
	if (count == 0 || count > LT_SIM_SPOT_TICKS_MAX)
		return lt_fail(err, LT_EINPUT, "data: got %zu ticks, want 1 to %d", count,
		    LT_SIM_SPOT_TICKS_MAX);
	*taken = malloc(count);
	if (*taken == NULL)
		return lt_fail(err, LT_ENOMEM, "out of memory");
	*trace =
	    (struct lt_sim_spot_trace){(int64_t)json_number_value(gap), (uint32_t)count, *taken};
	for (size_t i = 0; i < count; i++) {
		const json_t *const tick = json_array_get(data, i);
		const json_int_t is = json_integer_value(tick);

		if (!json_is_integer(tick) || is < 0 || is > 1)
			return lt_fail(err, LT_EINPUT, "data[%zu]: want 1 (no node) or 0", i);
		(*taken)[i] = (uint8_t)is;
	}
	return LT_OK;
}

int
lt_simulation_read_spot_trace(
    struct lt_sim_spot_trace *trace, uint8_t **taken, const char *path, struct lt_error *err)
{
	char *bytes = NULL;
	size_t byte_count = 0;
	json_t *root = NULL;

	*taken = NULL;
	if (lt_plain_file_read(path, &bytes, &byte_count, err) != LT_OK)
		return err->code;
	if (lt_json_load(&root, bytes, byte_count, err) == LT_OK)
		(void)take_ticks(trace, taken, root, err);
	free(bytes);
	json_decref(root);
	return err->code == LT_OK ? LT_OK : lt_context(err, "%s", path);
}

/* The job's place in the draw, from 0; seconds from the trace's beginning. */
static void
write_event(void *context, const struct lt_sim_spot_event *event)
{
	fprintf(context, "%u,%lld,%s,%s,%s,%lld,%u\n", event->job, (long long)event->at_s,
	    lt_sim_spot_word(event->what), event->is_spot ? "spot" : "ondemand", event->why,
	    (long long)event->done_s, event->interruptions);
}

static int
simulate_jobs(struct lt_sim_spot_result *result, struct lt_sim_spot *spot, const char *path,
    struct lt_error *err)
{
	struct lt_output events;

	if (path == NULL)
		return lt_simulate_spot(result, spot, err);
	if (lt_output_open(&events, path, err) != LT_OK)
		return err->code;
	fputs("job,second,event,partition,why,done_s,interruptions\n", events.out);
	spot->watch = (struct lt_sim_spot_watch){.event = write_event, .context = events.out};
	(void)lt_simulate_spot(result, spot, err);
	return lt_output_close(&events, err);
}

static void
print_table(const struct lt_sim_spot_result *result, const struct lt_sim_spot *spot, bool color)
{
	static const struct lt_table_column columns[] = {{"place", false}, {"in time", true},
	    {"late", true}, {"cost", true}, {"interruptions", true}, {"to on demand", true},
	    {NULL, false}};
	const struct lt_sim_spot_options *const options = spot->options;
	struct lt_table *const table = lt_table_new(columns);
	char all[16], cells[6][32];
	const char *const ours[] = {"lowtide", cells[0], cells[1], cells[2], cells[3], cells[4]};
	const char *const on_demand[] = {"on demand", all, "0", cells[5], "0", all};

	if (table == NULL)
		return;
	snprintf(all, sizeof(all), "%u", options->jobs);
	snprintf(cells[0], sizeof(cells[0]), "%u", result->in_time);
	snprintf(cells[1], sizeof(cells[1]), "%u", options->jobs - result->in_time);
	snprintf(cells[2], sizeof(cells[2]), "%.2f", result->money);
	snprintf(cells[3], sizeof(cells[3]), "%u", result->interruptions);
	snprintf(cells[4], sizeof(cells[4]), "%u", result->left);
	snprintf(cells[5], sizeof(cells[5]), "%.2f", result->on_demand_money);
	printf("%u jobs of %.2f h, each due after %.2f h; spot nodes are there "
	       "%.0f %% of %.1f h, and taken %u times\n",
	    options->jobs, (double)options->work_s / LT_HOUR_S,
	    options->deadline_factor * (double)options->work_s / LT_HOUR_S, result->there * 100,
	    (double)spot->trace.tick_s * spot->trace.count / LT_HOUR_S, result->taken);
	lt_table_row(table, on_demand);
	lt_table_row(table, ours);
	lt_table_fit(table, lt_cli_columns(), 0);
	lt_table_print(stdout, table, color);
	lt_table_free(table);
}

static int
print_json(const struct lt_sim_spot_result *result, const struct lt_sim_spot *spot)
{
	const int jobs = (int)spot->options->jobs;
	json_t *const body = json_pack("{s:i, s:i, s:i, s:f, s:f, s:i, s:i, s:i, s:i, s:f, s:i}",
	    "jobs", jobs, "in_time", (int)result->in_time, "late", jobs - (int)result->in_time,
	    "cost", result->money, "cost_on_demand", result->on_demand_money, "interruptions",
	    (int)result->interruptions, "timed_out", (int)result->timed_out, "to_on_demand",
	    (int)result->left, "returns", (int)result->returns, "spot_there", result->there,
	    "spot_taken", (int)result->taken);
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

	if (lt_simulation_read_spot_options(&options, cli, &err) != LT_OK)
		return lt_cli_usage(cli, "%s", err.text);
	if (lt_simulation_read_spot_trace(&spot.trace, &taken, cli->operands[0], &err) != LT_OK ||
	    simulate_jobs(&result, &spot, lt_cli_value(cli, "events"), &err) != LT_OK)
		status = lt_cli_fail(&err);
	else if (cli->json)
		status = print_json(&result, &spot);
	else
		print_table(&result, &spot, cli->color);
	free(taken);
	return status;
}
