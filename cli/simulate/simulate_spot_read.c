/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace of spot nodes, as those of "Can't Be Late" are published, and what
 * its jobs are.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "plain_file.h"
#include "simulate_spot.h"
#include "units.h"

static int
take_ticks(struct lt_sim_spot_trace *trace, uint8_t **taken, const json_t *root,
    struct lt_error *err)
{
	const json_t *const data = json_object_get(root, "data");
	const json_t *const gap =
	    json_object_get(json_object_get(root, "metadata"), "gap_seconds");
	const size_t count = json_array_size(data);

	if (!json_is_number(gap) || json_number_value(gap) < 1 ||
	    json_number_value(gap) > LT_DAY_S)
		return lt_fail(err, LT_EINPUT,
		    "metadata.gap_seconds: want the seconds of a tick, 1 to %d",
		    LT_DAY_S);
	if (count == 0 || count > LT_SIM_SPOT_TICKS_MAX)
		return lt_fail(err, LT_EINPUT,
		    "data: got %zu ticks, want 1 to %d", count,
		    LT_SIM_SPOT_TICKS_MAX);
	*taken = malloc(count);
	if (*taken == NULL)
		return lt_fail(err, LT_ENOMEM, "out of memory");
	*trace = (struct lt_sim_spot_trace){
	    (int64_t)json_number_value(gap), (uint32_t)count, *taken};
	for (size_t i = 0; i < count; i++) {
		const json_t *const tick = json_array_get(data, i);
		const json_int_t is = json_integer_value(tick);

		if (!json_is_integer(tick) || is < 0 || is > 1)
			return lt_fail(err, LT_EINPUT,
			    "data[%zu]: want 1 (no node) or 0", i);
		(*taken)[i] = (uint8_t)is;
	}
	return LT_OK;
}

int
lt_simulate_spot_read_trace(struct lt_sim_spot_trace *trace, uint8_t **taken,
    const char *path, struct lt_error *err)
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

/* "10m,1m,2m": as many as there are; the others stay as they are. */
static int
read_times(
    int64_t *const times[], int count, const char *text, struct lt_error *err)
{
	char words[96], *rest = words, *word;
	int i = 0;

	if (strlen(text) >= sizeof(words))
		return lt_fail(err, LT_EINPUT, "too long");
	strcpy(words, text);
	while ((word = strsep(&rest, ",")) != NULL) {
		if (i == count)
			return lt_fail(err, LT_EINPUT,
			    "got \"%s\", want at most %d times", text, count);
		if (lt_duration_parse(word, times[i++], err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

static int
read_prices(
    struct lt_sim_spot_options *options, const char *text, struct lt_error *err)
{
	char first[32];
	const char *const comma = strchr(text, ',');

	if (comma == NULL || (size_t)(comma - text) >= sizeof(first))
		return lt_fail(err, LT_EINPUT,
		    "got \"%s\", want two prices as 0.918,3.06", text);
	(void)snprintf(first, sizeof(first), "%.*s", (int)(comma - text), text);
	if (lt_double_parse(first, &options->spot_per_hour, err) ||
	    lt_double_parse(comma + 1, &options->on_demand_per_hour, err))
		return err->code;
	if (!(options->spot_per_hour >= 0 && options->spot_per_hour <= 1e6 &&
		options->on_demand_per_hour >= 0 &&
		options->on_demand_per_hour <= 1e6))
		return lt_fail(err, LT_EINPUT,
		    "got \"%s\", want prices from 0 to 1000000", text);
	return LT_OK;
}

static int
read_numbers(struct lt_sim_spot_options *options, const struct lt_cli *cli,
    struct lt_error *err)
{
	int64_t interruptions = 0, jobs = options->jobs, seed = 1;
	const struct {
		const char *option;
		double *factor;
		int64_t *count, least, most;
	} numbers[] = {
	    {"deadline-factor", &options->deadline_factor, NULL, 1, 1000},
	    {"limits", &options->limit_factor, NULL, 1, 1000},
	    {"interruptions", NULL, &interruptions, 1, 1000},
	    {"jobs", NULL, &jobs, 1, LT_SIM_SPOT_JOBS_MAX},
	    {"seed", NULL, &seed, 0, INT32_MAX},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const char *const text = lt_cli_value(cli, numbers[i].option);
		double *const factor = numbers[i].factor;

		if (text == NULL)
			continue;
		if (factor == NULL ? lt_int64_parse(text, numbers[i].least,
					 numbers[i].most, numbers[i].count, err)
				   : lt_double_parse(text, factor, err))
			return lt_context(err, "--%s", numbers[i].option);
		if (factor != NULL && (*factor < (double)numbers[i].least ||
					  *factor > (double)numbers[i].most))
			return lt_fail(err, LT_EINPUT,
			    "--%s: got \"%s\", want a factor from %lld to %lld",
			    numbers[i].option, text,
			    (long long)numbers[i].least,
			    (long long)numbers[i].most);
	}
	options->max_interruptions = (uint32_t)interruptions;
	options->returns = lt_cli_value(cli, "returns") != NULL;
	options->jobs = (uint32_t)jobs;
	options->seed = (uint64_t)seed;
	return LT_OK;
}

int
lt_simulate_spot_read_options(struct lt_sim_spot_options *options,
    const struct lt_cli *cli, struct lt_error *err)
{
	int64_t *const work[] = {&options->work_s};
	int64_t *const slack[] = {&options->slack_s};
	int64_t *const comes[] = {&options->comes_s};
	int64_t *const checkpoint[] = {
	    &options->every_s, &options->write_s, &options->restart_s};
	const struct {
		const char *option;
		int64_t *const *times;
		int count;
	} times[] = {{"work", work, 1}, {"slack", slack, 1},
	    {"comes", comes, 1}, {"checkpoint", checkpoint, 3}};
	const char *const prices = lt_cli_value(cli, "prices");

	*options = lt_sim_spot_defaults;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const char *const text = lt_cli_value(cli, times[i].option);

		if (text != NULL &&
		    read_times(times[i].times, times[i].count, text, err))
			return lt_context(err, "--%s", times[i].option);
	}
	if (options->work_s < 60 || options->work_s > 30 * LT_DAY_S)
		return lt_fail(err, LT_EINPUT, "--work: want 1m to 30d");
	if (options->every_s < 1 || options->write_s < 1)
		return lt_fail(err, LT_EINPUT,
		    "--checkpoint: want an interval and a time to write from 1s");
	if (prices != NULL && read_prices(options, prices, err))
		return lt_context(err, "--prices");
	return read_numbers(options, cli, err);
}
