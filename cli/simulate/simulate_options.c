/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of lowtide simulate: the table of all, which of them go with a trace of jobs, with a
 * trace of spot nodes or with the site itself, and the reading of their values. An option that is
 * not given leaves its value unchanged; an error names the option, the value seen and the value
 * wanted.
 */
#include <math.h>
#include <string.h>

#include "text.h"
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
    {"lengths", "L", "run times that it knows: exact, average, limit, learned (exact)"},
    {"limits", "F[,S]", "limits of F times the run, lognormal by S: 3 or 3,0.9"},
    {"names", "N", "N program names, of jobs that run about as long"},
    {"users", "N", "whose programs they are (1)"},
    {"seed", "N", "of limits and names (1)"},
    {"again", "A", "how a job that waits is decided each hour: replan, decide, never (replan)"},
    {"capacity", "N", "CPUs that there are; without it as many as it takes"},
    {"herd", NULL, "nobody books: each job plans as if it were alone"},
    {"short", "TIME", "runs below it are short (2h)"},
    {"wait", "TIME,TIME", "how long short jobs, and others, may wait (6h,24h)"},
    {"reserved", "N", "CPUs that are paid for anyway (0)"},
    {"spot", NULL, "short jobs on preemptible CPUs"},
    {"watts", "W", "of a CPU at the plug (1000)"},
    {"idle", "W", "of that, while a job is suspended (0)"},
    {"pauses", "FILE", "write when jobs stood still by lowtide-suspend, CSV"},
    {"looks", "FILE", "when lowtide-suspend decides instead of each hour, CSV of at,done"},
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
    {"returns", NULL, "who works on demand goes back to spot nodes, as with pause: requeue"},
    {"prices", "P,P", "of a spot node and another, an hour (0.918,3.06)"},
    {"events", "FILE", "write what became of each job, and when, CSV"},
    {"from-slurm", NULL, "the site's own runs: what lowtide would have saved"},
    {"last", "TIME", "of so long until now (30d)"},
    {"anonymous", NULL, "no names: neither the cluster's nor its partitions'"},
    {NULL, NULL, NULL},
};

/* Options of other kinds; all others go with a trace of jobs alone. */
static const struct {
	const char *option;
	unsigned kinds; /* enum lt_simulation_kind */
} goes_with[] = {
    {"carbon", LT_SIMULATION_JOBS | LT_SIMULATION_SITE},
    {"svg", LT_SIMULATION_JOBS | LT_SIMULATION_SITE},
    {"limits", LT_SIMULATION_JOBS | LT_SIMULATION_NODES},
    {"seed", LT_SIMULATION_JOBS | LT_SIMULATION_NODES},
    {"deadline-factor", LT_SIMULATION_NODES},
    {"work", LT_SIMULATION_NODES},
    {"jobs", LT_SIMULATION_NODES},
    {"comes", LT_SIMULATION_NODES},
    {"checkpoint", LT_SIMULATION_NODES},
    {"slack", LT_SIMULATION_NODES},
    {"interruptions", LT_SIMULATION_NODES},
    {"returns", LT_SIMULATION_NODES},
    {"prices", LT_SIMULATION_NODES},
    {"events", LT_SIMULATION_NODES},
    {"from-slurm", LT_SIMULATION_SITE},
    {"last", LT_SIMULATION_SITE},
    {"anonymous", LT_SIMULATION_SITE},
};

const char *
lt_simulation_misplaced(const struct lt_cli *cli, unsigned kinds)
{
	const struct lt_cli_option *option = cli->command->options;

	for (; option->name != NULL; option++) {
		unsigned its = LT_SIMULATION_JOBS;

		for (size_t i = 0; i < sizeof(goes_with) / sizeof(goes_with[0]); i++)
			if (strcmp(option->name, goes_with[i].option) == 0)
				its = goes_with[i].kinds;
		if ((its & kinds) == 0 && lt_cli_value(cli, option->name) != NULL)
			return option->name;
	}
	return NULL;
}

/* ---- values ---- */

struct choice { /* an option that is one word of a list */
	const char *option;
	const char *(*name)(int index);
	int *chosen;
};

/* Returns its index; -1 = not in the list, after err was set. */
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
	    nearest != NULL ? nearest : " lists them", nearest != NULL ? "?" : "");
	return -1;
}

static int
read_count(int64_t *count, const struct lt_cli *cli, const char *option, int64_t least,
    int64_t most, struct lt_error *err)
{
	const char *const text = lt_cli_value(cli, option);

	if (text != NULL && lt_int64_parse(text, least, most, count, err))
		return lt_context(err, "--%s", option);
	return LT_OK;
}

/* Splits "3,0.9" at the comma; *second NULL: there is no comma. False: the first part is too
 * long. */
static bool
split_pair(char first[32], const char **second, const char *text)
{
	const char *const comma = strchr(text, ',');
	const size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);

	*second = comma != NULL ? comma + 1 : NULL;
	(void)snprintf(first, 32, "%.*s", (int)length, text);
	return length < 32;
}

/* ---- of a trace of jobs ---- */

/* "6h,24h" */
static int
read_waits(struct lt_sim_options *options, const char *text, struct lt_error *err)
{
	char first[32];
	const char *second;

	if (!split_pair(first, &second, text) || second == NULL)
		return lt_fail(
		    err, LT_EINPUT, "--wait: got \"%s\", want two times as 6h,24h", text);
	if (lt_duration_parse(first, &options->short_wait_s, err) ||
	    lt_duration_parse(second, &options->long_wait_s, err))
		return lt_context(err, "--wait");
	return LT_OK;
}

/* "3" or "3,0.9" */
static int
read_limits(struct lt_sim_generator *generator, const char *text, struct lt_error *err)
{
	char first[32];
	const char *second;

	if (!split_pair(first, &second, text) ||
	    lt_double_parse(first, &generator->limit_factor, NULL) || generator->limit_factor < 1 ||
	    generator->limit_factor > 1000 ||
	    (second != NULL && (lt_double_parse(second, &generator->limit_sigma, NULL) ||
				   generator->limit_sigma < 0 || generator->limit_sigma > 5)))
		return lt_fail(err, LT_EINPUT,
		    "--limits: got \"%s\", want a factor from 1 to 1000, and after a comma a sigma up to 5",
		    text);
	return LT_OK;
}

static int
read_generator(struct lt_sim_generator *generator, const struct lt_cli *cli, struct lt_error *err)
{
	const char *const limits = lt_cli_value(cli, "limits");
	int64_t names = 0, users = 1, seed = 1;

	if (read_count(&names, cli, "names", 1, INT32_MAX, err) ||
	    read_count(&users, cli, "users", 1, INT32_MAX, err) ||
	    read_count(&seed, cli, "seed", 0, INT32_MAX, err))
		return err->code;
	generator->names = (uint32_t)names;
	generator->users = (uint32_t)users;
	generator->seed = (uint64_t)seed;
	return limits != NULL ? read_limits(generator, limits, err) : LT_OK;
}

static int
read_policies(struct lt_simulation *simulation, const char *text, struct lt_error *err)
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
			simulation->policies[simulation->count++] = (enum lt_sim_policy)found;
	}
	return LT_OK;
}

static int
read_numbers(struct lt_sim_options *options, const struct lt_cli *cli, struct lt_error *err)
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
		if (*numbers[i].value < numbers[i].least || *numbers[i].value > numbers[i].most)
			return lt_fail(err, LT_EINPUT, "--%s: got \"%s\", want %g to %g",
			    numbers[i].option, text, numbers[i].least, numbers[i].most);
	}
	return LT_OK;
}

int
lt_simulation_read_options(
    struct lt_simulation *simulation, const struct lt_cli *cli, struct lt_error *err)
{
	struct lt_sim_options *const options = &simulation->options;
	const char *const policies = lt_cli_value(cli, "policy");
	const char *const waits = lt_cli_value(cli, "wait");
	const char *const is_short = lt_cli_value(cli, "short");
	int forecast = LT_SIM_OWN, length = LT_SIM_EXACT;
	int again = LT_SIM_REPLAN;
	int64_t reserved = 0, capacity = 0;
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
	if (is_short != NULL && lt_duration_parse(is_short, &options->short_s, err))
		return lt_context(err, "--short");
	if (waits != NULL && read_waits(options, waits, err))
		return err->code;
	if (read_count(&reserved, cli, "reserved", 1, 1 << 20, err) ||
	    read_count(&capacity, cli, "capacity", 1, 1 << 20, err) ||
	    read_numbers(options, cli, err) || read_generator(&simulation->generator, cli, err))
		return err->code;
	options->reserved = (uint32_t)reserved;
	options->capacity = (uint32_t)capacity;
	return read_policies(simulation, policies != NULL ? policies : "lowtide", err);
}

int
lt_simulation_read_look(
    struct lt_sim_trace_look *look, const struct lt_cli *cli, struct lt_error *err)
{
	const char *const at = lt_cli_value(cli, "at");
	const char *const unit = lt_cli_value(cli, "unit");

	*look = (struct lt_sim_trace_look){
	    .path = cli->operands[0], .unit_s = 1, .tick_s = lt_sim_defaults.tick_s};
	if (at != NULL && lt_utc_parse(at, &look->from_utc_s, err))
		return lt_context(err, "--at");
	if (unit != NULL && strcmp(unit, "h") == 0)
		look->unit_s = LT_HOUR_S;
	else if (unit != NULL && strcmp(unit, "s") != 0)
		return lt_fail(err, LT_EINPUT, "--unit: got \"%s\", want s or h", unit);
	return LT_OK;
}

/* ---- of a trace of spot nodes ---- */

/* "10m,1m,2m": as many as there are; the others stay as they are. */
static int
read_times(int64_t *const times[], int count, const char *text, struct lt_error *err)
{
	char words[96], *rest = words, *word;
	int i = 0;

	if (strlen(text) >= sizeof(words))
		return lt_fail(err, LT_EINPUT, "too long");
	strcpy(words, text);
	while ((word = strsep(&rest, ",")) != NULL) {
		if (i == count)
			return lt_fail(
			    err, LT_EINPUT, "got \"%s\", want at most %d times", text, count);
		if (lt_duration_parse(word, times[i++], err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

static int
read_prices(struct lt_sim_spot_options *options, const char *text, struct lt_error *err)
{
	char first[32];
	const char *second;

	if (!split_pair(first, &second, text) || second == NULL)
		return lt_fail(err, LT_EINPUT, "got \"%s\", want two prices as 0.918,3.06", text);
	if (lt_double_parse(first, &options->spot_per_hour, err) ||
	    lt_double_parse(second, &options->on_demand_per_hour, err))
		return err->code;
	if (!(options->spot_per_hour >= 0 && options->spot_per_hour <= 1e6 &&
		options->on_demand_per_hour >= 0 && options->on_demand_per_hour <= 1e6))
		return lt_fail(err, LT_EINPUT, "got \"%s\", want prices from 0 to 1000000", text);
	return LT_OK;
}

static int
read_factor(double *factor, const struct lt_cli *cli, const char *option, struct lt_error *err)
{
	const char *const text = lt_cli_value(cli, option);

	if (text == NULL)
		return LT_OK;
	if (lt_double_parse(text, factor, err))
		return lt_context(err, "--%s", option);
	if (*factor < 1 || *factor > 1000)
		return lt_fail(
		    err, LT_EINPUT, "--%s: got \"%s\", want a factor from 1 to 1000", option, text);
	return LT_OK;
}

static int
read_spot_numbers(
    struct lt_sim_spot_options *options, const struct lt_cli *cli, struct lt_error *err)
{
	int64_t interruptions = 0, jobs = options->jobs, seed = 1;

	if (read_factor(&options->deadline_factor, cli, "deadline-factor", err) ||
	    read_factor(&options->limit_factor, cli, "limits", err) ||
	    read_count(&interruptions, cli, "interruptions", 1, 1000, err) ||
	    read_count(&jobs, cli, "jobs", 1, LT_SIM_SPOT_JOBS_MAX, err) ||
	    read_count(&seed, cli, "seed", 0, INT32_MAX, err))
		return err->code;
	options->max_interruptions = (uint32_t)interruptions;
	options->returns = lt_cli_value(cli, "returns") != NULL;
	options->jobs = (uint32_t)jobs;
	options->seed = (uint64_t)seed;
	return LT_OK;
}

int
lt_simulation_read_spot_options(
    struct lt_sim_spot_options *options, const struct lt_cli *cli, struct lt_error *err)
{
	int64_t *const work[] = {&options->work_s};
	int64_t *const slack[] = {&options->slack_s};
	int64_t *const comes[] = {&options->comes_s};
	int64_t *const checkpoint[] = {&options->every_s, &options->write_s, &options->restart_s};
	const struct {
		const char *option;
		int64_t *const *times;
		int count;
	} times[] = {{"work", work, 1}, {"slack", slack, 1}, {"comes", comes, 1},
	    {"checkpoint", checkpoint, 3}};
	const char *const prices = lt_cli_value(cli, "prices");

	*options = lt_sim_spot_defaults;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const char *const text = lt_cli_value(cli, times[i].option);

		if (text != NULL && read_times(times[i].times, times[i].count, text, err))
			return lt_context(err, "--%s", times[i].option);
	}
	if (options->work_s < 60 || options->work_s > 30 * LT_DAY_S)
		return lt_fail(err, LT_EINPUT, "--work: want 1m to 30d");
	if (options->every_s < 1 || options->write_s < 1)
		return lt_fail(
		    err, LT_EINPUT, "--checkpoint: want an interval and a time to write from 1s");
	if (prices != NULL && read_prices(options, prices, err))
		return lt_context(err, "--prices");
	return read_spot_numbers(options, cli, err);
}
