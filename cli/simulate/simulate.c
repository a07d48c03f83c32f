/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate TRACE: the jobs of a trace on a signal as it was, by one
 * policy or several, beside what they would have been without any. Local: asks
 * nobody but the source that it is told to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nearest.h"
#include "simulate_site.h"
#include "simulate_spot.h"
#include "simulation.h"
#include "units.h"

const struct lt_cli_option lt_cli_simulate_options[] = {
    {"carbon", "FILE", "intensity by the hour, CSV (g CO2e/kWh)"},
    {"price", "FILE", "of a CPU-hour, by the hour, CSV"},
    {"svg", "FILE", "draw load, intensity and price, before and after"},
    {"config", "FILE", "a policy file whose source says it instead"},
    {"source", "NAME", "which one"},
    {"at", "TIME", "when second 0 of the trace is, 2022-10-19T16:00Z"},
    {"unit", "s|h", "of the times of a GAIA trace (s)"},
    {"policy", "P,...",
	"lowest-slot, lowest-window, carbon-time, ecovisor, wait-awhile, res-first, optimum, lowtide, lowtide-pause, lowtide-suspend (lowtide)"},
    {"forecast", "F",
	"that lowtide decides by: own, own-weeks, yesterday, hour-of-week, perfect (own)"},
    {"lengths", "L",
	"run times that it knows: exact, average, limit, learned (exact)"},
    {"limits", "F[,S]",
	"limits of F times the run, lognormal by S: 3 or 3,0.9"},
    {"names", "N", "N program names, of jobs that run about as long"},
    {"users", "N", "whose programs they are (1)"},
    {"seed", "N", "of limits and names (1)"},
    {"again", "A",
	"how a job that waits is decided each hour: replan, decide, never (replan)"},
    {"capacity", "N", "CPUs that there are; without it as many as it takes"},
    {"herd", NULL, "nobody books: each job plans as if it were alone"},
    {"short", "TIME", "runs below it are short (2h)"},
    {"wait", "TIME,TIME", "how long short jobs, and others, may wait (6h,24h)"},
    {"reserved", "N", "CPUs that are paid for anyway (0)"},
    {"spot", NULL, "short jobs on preemptible CPUs"},
    {"watts", "W", "of a CPU at the plug (1000)"},
    {"idle", "W", "of that, while a job is suspended (0)"},
    {"pauses", "FILE", "write when jobs stood still by lowtide-suspend, CSV"},
    {"looks", "FILE",
	"when lowtide-suspend decides instead of each hour, CSV of at,done"},
    {"waiting", "G", "grams that an hour of waiting is worth (0)"},
    {"min-saving", "P", "percent that a later start must save (0)"},
    {"deadline-factor", "F",
	"TRACE is of spot nodes: jobs that come at random, each due after F times its work"},
    {"work", "TIME", "of each of these jobs (4h)"},
    {"jobs", "N", "how many (100)"},
    {"comes", "TIME", "all so long after the trace's beginning, not at random"},
    {"checkpoint", "TIME,...",
	"how often they write one, how long that takes, and a restart (10m,1m,2m)"},
    {"slack", "TIME", "deadline_slack of the policy (30m)"},
    {"interruptions", "N", "after so many it leaves spot nodes (any)"},
    {"returns", NULL,
	"who works on demand goes back to spot nodes, as with pause: requeue"},
    {"prices", "P,P", "of a spot node and another, an hour (0.918,3.06)"},
    {"events", "FILE", "write what became of each job, and when, CSV"},
    {"from-slurm", NULL, "the site's own runs: what lowtide would have saved"},
    {"last", "TIME", "of so long until now (30d)"},
    {"anonymous", NULL, "no names: neither the cluster's nor its partitions'"},
    {NULL, NULL, NULL},
};

struct choice { /* an option that is one word of a list */
	const char *option;
	const char *(*name)(int index);
	int *chosen;
};

/* Its index; -1 = none, said. */
static int
find_word(const char *word, const struct choice *choice, struct lt_error *err)
{
	const char *names[32] = {NULL};
	const char *nearest;
	int i = 0;

	for (; choice->name(i) != NULL; i++) {
		names[i] = choice->name(i);
		if (strcmp(word, names[i]) == 0)
			return i;
	}
	nearest = lt_nearest_word(word, names);
	lt_fail(err, LT_EINPUT, "--%s: no \"%s\"%s%s%s", choice->option, word,
	    nearest != NULL ? "; did you mean " : "; lowtide help simulate",
	    nearest != NULL ? nearest : " lists them",
	    nearest != NULL ? "?" : "");
	return -1;
}

/* "6h,24h" */
static int
read_waits(
    struct lt_sim_options *options, const char *text, struct lt_error *err)
{
	char first[32];
	const char *const comma = strchr(text, ',');

	if (comma == NULL || (size_t)(comma - text) >= sizeof(first))
		return lt_fail(err, LT_EINPUT,
		    "--wait: got \"%s\", want two times as 6h,24h", text);
	(void)snprintf(first, sizeof(first), "%.*s", (int)(comma - text), text);
	if (lt_duration_parse(first, &options->short_wait_s, err) ||
	    lt_duration_parse(comma + 1, &options->long_wait_s, err))
		return lt_context(err, "--wait");
	return LT_OK;
}

/* "3" or "3,0.9" */
static int
read_limits(
    struct lt_sim_generator *generator, const char *text, struct lt_error *err)
{
	char first[32];
	const char *const comma = strchr(text, ',');
	const size_t length =
	    comma != NULL ? (size_t)(comma - text) : strlen(text);

	(void)snprintf(first, sizeof(first), "%.*s", (int)length, text);
	if (length >= sizeof(first) ||
	    lt_double_parse(first, &generator->limit_factor, NULL) ||
	    generator->limit_factor < 1 || generator->limit_factor > 1000 ||
	    (comma != NULL &&
		(lt_double_parse(comma + 1, &generator->limit_sigma, NULL) ||
		    generator->limit_sigma < 0 || generator->limit_sigma > 5)))
		return lt_fail(err, LT_EINPUT,
		    "--limits: got \"%s\", want a factor from 1 to 1000, and after a comma a sigma up to 5",
		    text);
	return LT_OK;
}

static int
read_generator(struct lt_sim_generator *generator, const struct lt_cli *cli,
    struct lt_error *err)
{
	const char *const limits = lt_cli_value(cli, "limits");
	int64_t names = 0, users = 1, seed = 1;
	const struct {
		const char *option;
		int64_t *value, least;
	} counts[] = {
	    {"names", &names, 1}, {"users", &users, 1}, {"seed", &seed, 0}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const char *const text = lt_cli_value(cli, counts[i].option);

		if (text != NULL && lt_int64_parse(text, counts[i].least,
					INT32_MAX, counts[i].value, err))
			return lt_context(err, "--%s", counts[i].option);
	}
	generator->names = (uint32_t)names;
	generator->users = (uint32_t)users;
	generator->seed = (uint64_t)seed;
	return limits != NULL ? read_limits(generator, limits, err) : LT_OK;
}

static int
read_policies(
    struct lt_simulation *simulation, const char *text, struct lt_error *err)
{
	const struct choice choice = {"policy", lt_sim_policy_name, NULL};
	char words[512], *rest = words, *word;

	simulation->policies[simulation->count++] = LT_SIM_NOWAIT;
	if (strlen(text) >= sizeof(words))
		return lt_fail(err, LT_EINPUT, "--policy: too long");
	strcpy(words, text);
	while ((word = strsep(&rest, ",")) != NULL) {
		const int found = find_word(word, &choice, err);
		bool known = false;

		if (found < 0)
			return err->code;
		for (int i = 0; i < simulation->count; i++)
			known |= (int)simulation->policies[i] == found;
		if (!known)
			simulation->policies[simulation->count++] =
			    (enum lt_sim_policy)found;
	}
	return LT_OK;
}

static int
read_counts(struct lt_sim_options *options, const struct lt_cli *cli,
    struct lt_error *err)
{
	const struct {
		const char *option;
		uint32_t *value;
	} counts[] = {
	    {"reserved", &options->reserved}, {"capacity", &options->capacity}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const char *const text = lt_cli_value(cli, counts[i].option);
		int64_t count = 0;

		if (text == NULL)
			continue;
		if (lt_int64_parse(text, 1, 1 << 20, &count, err))
			return lt_context(err, "--%s", counts[i].option);
		*counts[i].value = (uint32_t)count;
	}
	return LT_OK;
}

static int
read_numbers(struct lt_sim_options *options, const struct lt_cli *cli,
    struct lt_error *err)
{
	const struct {
		const char *option;
		double *value, least, most;
	} numbers[] = {{"watts", &options->watts_per_cpu, 0.001, 1e12},
	    {"idle", &options->idle_watts_per_cpu, 0, 1e12},
	    {"waiting", &options->waiting_g_per_hour, 0, 1e6},
	    {"min-saving", &options->min_saving_percent, 0, 100}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const char *const text = lt_cli_value(cli, numbers[i].option);

		if (text == NULL)
			continue;
		if (lt_double_parse(text, numbers[i].value, err))
			return lt_context(err, "--%s", numbers[i].option);
		if (*numbers[i].value < numbers[i].least ||
		    *numbers[i].value > numbers[i].most)
			return lt_fail(err, LT_EINPUT,
			    "--%s: got \"%s\", want %g to %g",
			    numbers[i].option, text, numbers[i].least,
			    numbers[i].most);
	}
	return LT_OK;
}

static int
read_options(struct lt_simulation *simulation, const struct lt_cli *cli,
    struct lt_error *err)
{
	struct lt_sim_options *const options = &simulation->options;
	const char *const policies = lt_cli_value(cli, "policy");
	const char *const waits = lt_cli_value(cli, "wait");
	const char *const is_short = lt_cli_value(cli, "short");
	int forecast = LT_SIM_OWN, length = LT_SIM_EXACT;
	int again = LT_SIM_REPLAN;
	const struct choice choices[] = {
	    {"forecast", lt_sim_forecast_name, &forecast},
	    {"lengths", lt_sim_length_name, &length},
	    {"again", lt_sim_again_name, &again},
	};

	*options = lt_sim_defaults;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		const char *const word = lt_cli_value(cli, choices[i].option);

		if (word == NULL)
			continue;
		*choices[i].chosen = find_word(word, &choices[i], err);
		if (*choices[i].chosen < 0)
			return err->code;
	}
	options->forecast = (enum lt_sim_forecast)forecast;
	options->length = (enum lt_sim_length)length;
	options->again = (enum lt_sim_again)again;
	options->herd = lt_cli_value(cli, "herd") != NULL;
	options->spot = lt_cli_value(cli, "spot") != NULL;
	if (is_short != NULL &&
	    lt_duration_parse(is_short, &options->short_s, err))
		return lt_context(err, "--short");
	if (waits != NULL && read_waits(options, waits, err))
		return err->code;
	if (read_counts(options, cli, err) || read_numbers(options, cli, err) ||
	    read_generator(&simulation->generator, cli, err))
		return err->code;
	return read_policies(
	    simulation, policies != NULL ? policies : "lowtide", err);
}

static int
read_look(struct lt_sim_trace_look *look, const struct lt_cli *cli,
    struct lt_error *err)
{
	const char *const at = lt_cli_value(cli, "at");
	const char *const unit = lt_cli_value(cli, "unit");

	*look = (struct lt_sim_trace_look){.path = cli->operands[0],
	    .unit_s = 1,
	    .tick_s = lt_sim_defaults.tick_s};
	if (at != NULL && lt_utc_parse(at, &look->from_utc_s, err))
		return lt_context(err, "--at");
	if (unit != NULL && strcmp(unit, "h") == 0)
		look->unit_s = LT_HOUR_S;
	else if (unit != NULL && strcmp(unit, "s") != 0)
		return lt_fail(
		    err, LT_EINPUT, "--unit: got \"%s\", want s or h", unit);
	return LT_OK;
}

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
	fprintf(stderr, "\rsimulate: %s, %u of %u jobs\033[K", progress->policy,
	    come, progress->jobs);
}

/* The job by its line's place in the trace, from 0. */
static void
write_pause(
    void *context, uint32_t number, int64_t from_utc_s, int64_t until_utc_s)
{
	const struct progress *const progress = context;
	char from[40], until[40];

	fprintf(progress->pauses, "%u,%s,%s\n", number,
	    lt_utc_text(from, sizeof(from), from_utc_s),
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
simulate_all(
    struct lt_simulation *simulation, const char *pauses, struct lt_error *err)
{
	struct lt_sim_outlook *outlook = NULL;
	struct lt_sim_options options = simulation->options;
	struct progress progress = {
	    .jobs = simulation->trace.count, .next_ms = now_ms() + TELL_MS};

	if (open_pauses(&progress.pauses, pauses, err) != LT_OK)
		return err->code;
	if (lt_sim_outlook_open(
		&outlook, &simulation->signal, options.forecast, err)) {
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
		(void)lt_simulate(
		    &simulation->results[i], &input, &options, err);
	}
	if (progress.told)
		fputs("\r\033[K", stderr);
	lt_sim_outlook_close(outlook);
	return close_pauses(progress.pauses, pauses, err);
}

static int
run(struct lt_simulation *simulation, const struct lt_cli *cli,
    const struct lt_sim_trace_look *look, struct lt_error *err)
{
	const char *const carbon = lt_cli_value(cli, "carbon");
	const char *const price = lt_cli_value(cli, "price");
	const char *const looks = lt_cli_value(cli, "looks");
	const char *const svg = lt_cli_value(cli, "svg");
	const int code =
	    lt_simulation_read_trace(simulation, cli->operands[0], look, err);

	if (code != LT_OK || lt_sim_generate(&simulation->trace,
				 &simulation->generator, err) != LT_OK)
		return err->code;
	if (carbon != NULL)
		(void)lt_simulation_read_carbon(simulation, carbon, err);
	else
		(void)lt_simulation_read_source(simulation,
		    lt_cli_value(cli, "config"), lt_cli_value(cli, "source"),
		    err);
	if (err->code == LT_OK && price != NULL)
		(void)lt_simulation_read_price(simulation, price, err);
	if (err->code == LT_OK && looks != NULL)
		(void)lt_simulation_read_looks(simulation, looks, err);
	if (err->code != LT_OK ||
	    simulate_all(simulation, lt_cli_value(cli, "pauses"), err) != LT_OK)
		return err->code;
	return svg != NULL ? lt_simulation_write_svg(simulation, svg, err)
			   : LT_OK;
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
	static const char *const of_site[] = {"last", "anonymous"};
	const bool own_file = lt_cli_value(cli, "carbon") != NULL;
	const bool source = lt_cli_value(cli, "config") != NULL &&
			    lt_cli_value(cli, "source") != NULL;
	struct lt_simulation simulation = {0};
	struct lt_sim_trace_look look;
	struct lt_error err = {0};
	const char *const misplaced = lt_simulate_spot_misplaced(cli);
	int result = LT_EXIT_OK;

	if (lt_cli_value(cli, "from-slurm") != NULL)
		return lt_cli_simulate_site(cli);
	if (cli->operand_count == 0)
		return lt_cli_usage(cli, "wants a TRACE, or --from-slurm");
	for (size_t i = 0; i < sizeof(of_site) / sizeof(of_site[0]); i++)
		if (lt_cli_value(cli, of_site[i]) != NULL)
			return lt_cli_usage(
			    cli, "--%s goes with --from-slurm", of_site[i]);
	if (misplaced != NULL)
		return lt_cli_usage(cli, "--%s goes %s --deadline-factor",
		    misplaced,
		    lt_cli_value(cli, "deadline-factor") != NULL ? "without"
								 : "with");
	if (lt_cli_value(cli, "deadline-factor") != NULL)
		return lt_cli_simulate_spot(cli);
	if (own_file == source)
		return lt_cli_usage(cli,
		    "wants --carbon FILE, or --config FILE with --source NAME");
	if (read_options(&simulation, cli, &err) || read_look(&look, cli, &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (run(&simulation, cli, &look, &err) != LT_OK)
		result = lt_cli_fail(&err);
	else if (cli->json)
		result = lt_simulation_print_json(&simulation);
	else
		lt_simulation_print(&simulation, cli->color);
	free_all(&simulation);
	return result;
}
