/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job of the trace in a run: its run time as far as it is known, the request that follows from
 * that, and the resources that it takes.
 */
#include <stdlib.h>

#include "internal.h"
#include "units.h"

/* ---- run times ---- */

enum { NAME_SIZE = 16 };

/* A trace has numbers for names, and names are made of letters: digits would be folded into one. */
static void
put_letters(char *out, char first, uint32_t number)
{
	int at = 0;

	out[at++] = first;
	do
		out[at++] = (char)('a' + number % 26);
	while ((number /= 26) > 0);
	out[at] = '\0';
}

/* Jobs without a name are alike in nothing but whose they are. */
static struct lt_run_kind
kind_of_job(const struct lt_sim_job *job, char name[NAME_SIZE])
{
	if (job->name != 0)
		put_letters(name, 'n', job->name);
	else
		put_letters(name, 'j', job->number);
	return (struct lt_run_kind){.uid = job->user,
	    .account = "trace",
	    .name = name,
	    .nodes = 1,
	    .cpus = job->cpus,
	    .limit_s = job->limit_s};
}

int
lt_sim_learn(struct lt_lengths *lengths, const struct lt_sim_job *job)
{
	char name[NAME_SIZE];
	const struct lt_run_kind kind = kind_of_job(job, name);
	const struct lt_run_length run = {.length_s = job->run_s,
	    .limit_s = job->limit_s,
	    .at_least = job->limit_s > 0 && job->run_s >= job->limit_s};

	return lt_lengths_add(lengths, &kind, &run);
}

static struct lt_expected
learned_of(struct lt_lengths *lengths, const struct lt_sim_job *job)
{
	char name[NAME_SIZE];
	const struct lt_run_kind kind = kind_of_job(job, name);

	return lt_lengths_ask(lengths, &kind, job->limit_s);
}

struct lt_sim_ask
lt_sim_ask_of(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const struct lt_sim_options *const options = run->options;
	const struct lt_expected learned = options->length == LT_SIM_LEARNED
					       ? learned_of(run->lengths, job)
					       : (struct lt_expected){0};
	struct lt_sim_ask ask = {.cpus = job->cpus,
	    .run_s = options->length == LT_SIM_EXACT	 ? job->run_s
		     : options->length == LT_SIM_AVERAGE ? lt_sim_average_s(run, job)
							 : learned.expected_s,
	    .low_s = learned.low_s,
	    .high_s = learned.high_s,
	    .limit_s = job->limit_s > 0 ? job->limit_s : job->run_s,
	    .latest_utc_s = job->submit_utc_s + lt_sim_wait_s(options, job)};

	if (ask.limit_s < ask.run_s)
		ask.limit_s = ask.run_s;
	return ask;
}

/* ---- what running takes ---- */

double
lt_sim_cost(const struct lt_sim_run *run, const struct lt_sim_job *job, int64_t from_utc_s,
    int64_t to_utc_s)
{
	if (run->price != NULL)
		return job->cpus * lt_sim_signal_integral(run->price, from_utc_s, to_utc_s) /
		       LT_MICROS;
	return job->cpus * (double)(to_utc_s - from_utc_s) / LT_HOUR_S *
	       run->options->price_per_cpu_hour;
}

void
lt_sim_emit(struct lt_sim_run *run, const struct lt_sim_job *job, double watts_per_cpu,
    int64_t from_utc_s, int64_t to_utc_s)
{
	static const double w_per_kw = 1000, g_per_kg = 1000;

	run->result->carbon_kg += job->cpus * watts_per_cpu / w_per_kw / g_per_kg *
				  lt_sim_signal_integral(run->signal, from_utc_s, to_utc_s);
}

/* Room for the load of that hour, counted from the first. */
static int
grow_load(struct lt_sim_result *result, int64_t hour, struct lt_error *err)
{
	if (hour < result->load_hours)
		return LT_OK;

	const int hours = (int)hour * 3 / 2 + 24;
	double *const load = realloc(result->load, (size_t)hours * sizeof(*load));

	if (load == NULL)
		return lt_fail(err, LT_ENOMEM, "load: no memory");
	for (int i = result->load_hours; i < hours; i++)
		load[i] = 0;
	result->load = load;
	result->load_hours = hours;
	return LT_OK;
}

int
lt_sim_use(struct lt_sim_run *run, const struct lt_sim_job *job, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err)
{
	struct lt_sim_result *const result = run->result;
	const int64_t first_hour = result->from_utc_s / LT_HOUR_S;
	const int64_t last_hour = (to_utc_s - 1) / LT_HOUR_S;

	lt_sim_emit(run, job, run->options->watts_per_cpu, from_utc_s, to_utc_s);
	if (to_utc_s > result->to_utc_s)
		result->to_utc_s = to_utc_s;
	if (grow_load(result, last_hour - first_hour, err) != LT_OK)
		return err->code;
	for (int64_t at_s = from_utc_s; at_s < to_utc_s;) {
		const int64_t hour = at_s / LT_HOUR_S;
		const int64_t next_s = lt_sim_next_hour_s(at_s);
		const int64_t end_s = next_s < to_utc_s ? next_s : to_utc_s;

		result->load[hour - first_hour] += job->cpus * (double)(end_s - at_s) / LT_HOUR_S;
		at_s = end_s;
	}
	return LT_OK;
}
