/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits, users and names by a seed; normal deviates by Box and Muller.
 */
#include <math.h>
#include <stdlib.h>

#include "generate.h"
#include "units.h"

static const double name_sigma = 0.5;
static const double two_pi = 6.283185307179586;

static double
fraction(uint64_t *seed)
{
	return (double)(lt_random(seed) >> 11) * 0x1p-53;
}

static double
normal(uint64_t *seed)
{
	const double size = sqrt(-2 * log(1 - fraction(seed)));

	return size * cos(two_pi * fraction(seed));
}

static void
make_limits(
    struct lt_sim_trace *trace, const struct lt_sim_generator *generator)
{
	uint64_t seed = generator->seed;

	for (uint32_t i = 0; i < trace->count; i++) {
		struct lt_sim_job *const job = &trace->jobs[i];
		const double factor =
		    generator->limit_factor *
		    exp(generator->limit_sigma * normal(&seed));
		const double minutes =
		    ceil(fmax(1, factor) * (double)job->run_s / 60);

		job->limit_s = (int64_t)minutes * 60;
	}
}

struct alike {
	double length;
	uint32_t job;
};

static int
by_length(const void *a, const void *b)
{
	const struct alike *const x = a, *const y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return x->job < y->job ? -1 : 1;
}

static int
make_names(struct lt_sim_trace *trace, const struct lt_sim_generator *generator,
    struct lt_error *err)
{
	/* Another row of numbers than the limits'. */
	uint64_t seed = generator->seed ^ 0x6e616d6573u;
	struct alike *const rows = calloc(trace->count, sizeof(*rows));

	if (rows == NULL)
		return lt_fail(err, LT_ENOMEM, "names: no memory");
	for (uint32_t i = 0; i < trace->count; i++)
		rows[i] = (struct alike){log((double)trace->jobs[i].run_s) +
					     name_sigma * normal(&seed),
		    i};
	qsort(rows, trace->count, sizeof(*rows), by_length);
	for (uint32_t i = 0; i < trace->count; i++) {
		struct lt_sim_job *const job = &trace->jobs[rows[i].job];
		const uint64_t name =
		    (uint64_t)i * generator->names / trace->count;

		job->name = 1 + (uint32_t)name;
		job->user = 1 + (uint32_t)(name % (generator->users > 0
							  ? generator->users
							  : 1));
	}
	free(rows);
	return LT_OK;
}

int
lt_sim_generate(struct lt_sim_trace *trace,
    const struct lt_sim_generator *generator, struct lt_error *err)
{
	if (generator->limit_factor > 0)
		make_limits(trace, generator);
	return generator->names > 0 ? make_names(trace, generator, err) : LT_OK;
}
