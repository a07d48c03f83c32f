/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate TRACE: runs the jobs of a trace on a signal as it was, by one policy or several,
 * and compares them with no policy at all. It reads files, and asks only the source that --source
 * names. The other two simulators, --deadline-factor and --from-slurm, are called from here. Exit
 * status 1 for a file or option that is wrong.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simulate_site.h"
#include "simulation.h"
#include "units.h"

struct progress {
	const char *policy;
	uint32_t jobs;
	int64_t next_ms; /* when it is told again */
	bool told;
	FILE *pauses; /* NULL: nobody wants them */
};

enum { TELL_MS = 200 }; /* what is done sooner says nothing */

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
tell_progress(void *context, uint32_t come)
{
	struct progress *const progress = context;
	const int64_t at_ms = now_ms();

	if (at_ms < progress->next_ms)
		return;
	progress->next_ms = at_ms + TELL_MS;
	progress->told = true;
	fprintf(
	    stderr, "\rsimulate: %s, %u of %u jobs\033[K", progress->policy, come, progress->jobs);
}

/* The job by its line's place in the trace, from 0. */
static void
write_pause(void *context, uint32_t number, int64_t from_utc_s, int64_t until_utc_s)
{
	const struct progress *const progress = context;
	char from[40], until[40];

	fprintf(progress->pauses, "%u,%s,%s\n", number, lt_utc_text(from, sizeof(from), from_utc_s),
	    lt_utc_text(until, sizeof(until), until_utc_s));
}

static int
open_pauses(FILE **file, const char *path, struct lt_error *err)
{
	*file = NULL;
	if (path == NULL)
		return LT_OK;
	*file = fopen(path, "we");
	if (*file == NULL)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	fputs("job,from,until\n", *file);
	return LT_OK;
}

static int
close_pauses(FILE *file, const char *path, struct lt_error *err)
{
	if (file == NULL)
		return err->code;
	const bool failed = ferror(file) != 0;
	if (fclose(file) != 0 || failed)
		return lt_fail(err, LT_EIO, "%s: can't be written", path);
	return err->code;
}

static int
simulate_all(struct lt_simulation *simulation, const char *pauses, struct lt_error *err)
{
	struct lt_sim_outlook *outlook = NULL;
	struct lt_sim_options options = simulation->options;
	struct progress progress = {.jobs = simulation->trace.count, .next_ms = now_ms() + TELL_MS};

	if (open_pauses(&progress.pauses, pauses, err) != LT_OK)
		return err->code;
	if (lt_sim_outlook_open(&outlook, &simulation->signal, options.forecast, err)) {
		(void)close_pauses(progress.pauses, pauses, err);
		return err->code;
	}
	const struct lt_sim_input input = {.trace = &simulation->trace,
	    .signal = &simulation->signal,
	    .price = simulation->price.hours > 0 ? &simulation->price : NULL,
	    .outlook = outlook,
	    .tell = lt_cli_escapes(STDERR_FILENO) ? tell_progress : NULL,
	    .looks = simulation->looks,
	    .look_count = simulation->look_count,
	    .paused = progress.pauses != NULL ? write_pause : NULL,
	    .context = &progress};

	for (int i = 0; i < simulation->count && err->code == LT_OK; i++) {
		options.policy = simulation->policies[i];
		progress.policy = lt_sim_policy_name((int)options.policy);
		(void)lt_simulate(&simulation->results[i], &input, &options, err);
	}
	if (progress.told)
		fputs("\r\033[K", stderr);
	lt_sim_outlook_close(outlook);
	return close_pauses(progress.pauses, pauses, err);
}

static int
read_and_simulate(struct lt_simulation *simulation, const struct lt_cli *cli,
    const struct lt_sim_trace_look *look, struct lt_error *err)
{
	const char *const carbon = lt_cli_value(cli, "carbon");
	const char *const price = lt_cli_value(cli, "price");
	const char *const looks = lt_cli_value(cli, "looks");
	const char *const svg = lt_cli_value(cli, "svg");
	const int code = lt_simulation_read_trace(simulation, cli->operands[0], look, err);

	if (code != LT_OK ||
	    lt_sim_generate(&simulation->trace, &simulation->generator, err) != LT_OK)
		return err->code;
	if (carbon != NULL)
		(void)lt_simulation_read_carbon(simulation, carbon, err);
	else
		(void)lt_simulation_read_source(
		    simulation, lt_cli_value(cli, "config"), lt_cli_value(cli, "source"), err);
	if (err->code == LT_OK && price != NULL)
		(void)lt_simulation_read_price(simulation, price, err);
	if (err->code == LT_OK && looks != NULL)
		(void)lt_simulation_read_looks(simulation, looks, err);
	if (err->code != LT_OK ||
	    simulate_all(simulation, lt_cli_value(cli, "pauses"), err) != LT_OK)
		return err->code;
	return svg != NULL ? lt_simulation_write_svg(simulation, svg, err) : LT_OK;
}

static void
free_all(struct lt_simulation *simulation)
{
	for (int i = 0; i < simulation->count; i++)
		lt_sim_result_free(&simulation->results[i]);
	lt_sim_signal_free(&simulation->signal);
	lt_sim_signal_free(&simulation->price);
	lt_sim_trace_free(&simulation->trace);
	free(simulation->looks);
}

int
lt_cli_simulate(const struct lt_cli *cli)
{
	const bool is_spot = lt_cli_value(cli, "deadline-factor") != NULL;
	const bool own_file = lt_cli_value(cli, "carbon") != NULL;
	const bool source =
	    lt_cli_value(cli, "config") != NULL && lt_cli_value(cli, "source") != NULL;
	struct lt_simulation simulation = {0};
	struct lt_sim_trace_look look;
	struct lt_error err = {0};
	const char *wrong;
	int result = LT_EXIT_OK;

	if (lt_cli_value(cli, "from-slurm") != NULL)
		return lt_cli_simulate_site(cli);
	if (cli->operand_count == 0)
		return lt_cli_usage(cli, "wants a TRACE, or --from-slurm");
	wrong = lt_simulation_misplaced(cli, LT_SIMULATION_JOBS | LT_SIMULATION_NODES);
	if (wrong != NULL)
		return lt_cli_usage(cli, "--%s goes with --from-slurm", wrong);
	wrong = lt_simulation_misplaced(cli, is_spot ? LT_SIMULATION_NODES : LT_SIMULATION_JOBS);
	if (wrong != NULL)
		return lt_cli_usage(
		    cli, "--%s goes %s --deadline-factor", wrong, is_spot ? "without" : "with");
	if (is_spot)
		return lt_cli_simulate_spot(cli);
	if (own_file == source)
		return lt_cli_usage(
		    cli, "wants --carbon FILE, or --config FILE with --source NAME");
	if (lt_simulation_read_options(&simulation, cli, &err) ||
	    lt_simulation_read_look(&look, cli, &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (read_and_simulate(&simulation, cli, &look, &err) != LT_OK)
		result = lt_cli_fail(&err);
	else if (cli->json)
		result = lt_simulation_print_json(&simulation);
	else
		lt_simulation_print(&simulation, cli->color);
	free_all(&simulation);
	return result;
}
