/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regimes of spot nodes: a mixture whose parts have a chance of a flip by side
 * and age.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "late_regimes.h"

enum { ROUNDS = 60, PRIOR = 20 /* ticks of each bucket, as all have them */ };

struct counts { /* of a segment, or of many */
	double stays[2][LT_LATE_AGES], flips[2][LT_LATE_AGES];
};

int
lt_late_age(uint32_t ticks)
{
	static const uint32_t first[LT_LATE_AGES] = {
	    1, 2, 3, 4, 6, 9, 14, 22, 36, 60};
	int age = LT_LATE_AGES - 1;

	while (age > 0 && ticks < first[age])
		age--;
	return age;
}

static void
count(struct counts *counts, const struct lt_sim_spot_trace *trace,
    uint32_t from, uint32_t to)
{
	uint32_t ticks = 0;

	memset(counts, 0, sizeof(*counts));
	for (uint32_t t = 0; t + 1 < to; t++) {
		const bool there = !trace->taken[t];
		const bool flips = trace->taken[t + 1] == there;

		ticks++;
		if (t >= from) {
			const int age = lt_late_age(ticks);

			if (flips)
				counts->flips[there][age]++;
			else
				counts->stays[there][age]++;
		}
		if (flips)
			ticks = 0;
	}
}

static void
add(struct counts *to, const struct counts *from, double weight)
{
	double *const a = &to->stays[0][0];
	const double *const b = &from->stays[0][0];

	for (size_t i = 0; i < sizeof(*to) / sizeof(double); i++)
		a[i] += weight * b[i];
}

static void
fit(struct lt_late_regime *regime, const struct counts *own,
    const struct lt_late_regime *all)
{
	for (int there = 0; there < 2; there++)
		for (int age = 0; age < LT_LATE_AGES; age++) {
			const double prior =
			    all == NULL ? 0.1 : all->flips[there][age];
			const double flips = own->flips[there][age];
			const double stays = own->stays[there][age];

			regime->flips[there][age] =
			    (flips + PRIOR * prior) / (flips + stays + PRIOR);
		}
}

static double
log_chance(const struct lt_late_regime *regime, const struct counts *counts)
{
	double sum = log(fmax(regime->share, 1e-9));

	for (int there = 0; there < 2; there++)
		for (int age = 0; age < LT_LATE_AGES; age++) {
			const double flips = regime->flips[there][age];

			sum += counts->flips[there][age] * log(flips) +
			       counts->stays[there][age] * log1p(-flips);
		}
	return sum;
}

/* What part of a segment is each regime's. */
static void
share_out(double *parts, const struct lt_late_regimes *regimes,
    const struct counts *counts)
{
	double most = -INFINITY, sum = 0;

	for (uint32_t k = 0; k < regimes->count; k++) {
		parts[k] = log_chance(&regimes->regimes[k], counts);
		most = fmax(most, parts[k]);
	}
	for (uint32_t k = 0; k < regimes->count; k++)
		sum += parts[k] = exp(parts[k] - most);
	for (uint32_t k = 0; k < regimes->count; k++)
		parts[k] /= sum;
}

static void
improve(struct lt_late_regimes *regimes, const struct lt_late_regime *all,
    const struct counts *segments, uint32_t segment_count)
{
	struct counts own[LT_LATE_REGIMES_MAX];
	double shares[LT_LATE_REGIMES_MAX] = {0};
	double parts[LT_LATE_REGIMES_MAX];

	memset(own, 0, sizeof(own));
	for (uint32_t i = 0; i < segment_count; i++) {
		share_out(parts, regimes, &segments[i]);
		for (uint32_t k = 0; k < regimes->count; k++) {
			add(&own[k], &segments[i], parts[k]);
			shares[k] += parts[k];
		}
	}
	for (uint32_t k = 0; k < regimes->count; k++) {
		regimes->regimes[k].share = shares[k] / segment_count;
		fit(&regimes->regimes[k], &own[k], all);
	}
}

static double
there_of(const struct counts *counts)
{
	double of[2] = {0};

	for (int there = 0; there < 2; there++)
		for (int age = 0; age < LT_LATE_AGES; age++)
			of[there] += counts->flips[there][age] +
				     counts->stays[there][age];
	return of[1] / (of[0] + of[1]);
}

static int
by_there(const void *a, const void *b)
{
	const double x = there_of(a), y = there_of(b);

	return x < y ? -1 : x > y;
}

/* At first: equal parts, by how much of the time nodes are there. */
static void
begin(struct lt_late_regimes *regimes, const struct lt_late_regime *all,
    const struct counts *segments, uint32_t segment_count)
{
	for (uint32_t k = 0; k < regimes->count; k++) {
		const uint32_t from = segment_count * k / regimes->count;
		const uint32_t to = segment_count * (k + 1) / regimes->count;
		struct counts own = {0};

		for (uint32_t i = from; i < to; i++)
			add(&own, &segments[i], 1);
		regimes->regimes[k].share = 1.0 / regimes->count;
		fit(&regimes->regimes[k], &own, all);
	}
}

int
lt_late_learn(struct lt_late_regimes *regimes,
    const struct lt_sim_spot_trace *traces, uint32_t trace_count,
    uint32_t segment_ticks, struct lt_error *err)
{
	struct counts all = {0}, *segments;
	struct lt_late_regime mean = {0};
	uint32_t segment_count = 0;

	for (uint32_t i = 0; i < trace_count; i++)
		segment_count += traces[i].count / segment_ticks;
	if (segment_count == 0 || regimes->count == 0 ||
	    regimes->count > LT_LATE_REGIMES_MAX)
		return lt_fail(err, LT_EINPUT,
		    "regimes: got %u of %u segments, want 1 to %d of at least one",
		    regimes->count, segment_count, LT_LATE_REGIMES_MAX);
	segments = calloc(segment_count, sizeof(*segments));
	if (segments == NULL)
		return lt_fail(err, LT_ENOMEM, "regimes: out of memory");
	segment_count = 0;
	for (uint32_t i = 0; i < trace_count; i++)
		for (uint32_t from = 0; from + segment_ticks <= traces[i].count;
		     from += segment_ticks) {
			count(&segments[segment_count], &traces[i], from,
			    from + segment_ticks);
			add(&all, &segments[segment_count++], 1);
		}
	qsort(segments, segment_count, sizeof(*segments), by_there);
	fit(&mean, &all, NULL);
	begin(regimes, &mean, segments, segment_count);
	for (int i = 0; i < ROUNDS; i++)
		improve(regimes, &mean, segments, segment_count);
	free(segments);
	return LT_OK;
}
