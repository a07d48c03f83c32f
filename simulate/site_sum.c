/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a setting came to: each run that counts, where and when it would have
 * run beside where and when it did.
 */
#include <stdlib.h>

#include "site_internal.h"
#include "units.h"

static int
week_of(const struct lt_site_sim *sim, uint32_t index)
{
	const int64_t after_s =
	    sim->site.runs[index].submit_utc_s - sim->site.from_utc_s;
	const int64_t week = after_s / (7 * LT_DAY_S);

	return week >= sim->week_count ? sim->week_count - 1 : (int)week;
}

struct difference {
	double base_micros, saved_micros, base_mg, saved_mg;
	bool moved;
};

static void
add(struct lt_site_sums *sums, const struct difference *difference)
{
	sums->runs++;
	sums->moved += difference->moved;
	sums->base_micros += difference->base_micros;
	sums->saved_micros += difference->saved_micros;
	sums->base_mg += difference->base_mg;
	sums->saved_mg += difference->saved_mg;
}

/* Of one that runs elsewhere or at another time. What has no price there has
 * no saving: what is decided by money goes only where there is one. */
static void
find_saved(struct difference *difference, const struct lt_site_loop *loop,
    uint32_t index)
{
	const struct lt_site_base *const base = &loop->sim->bases[index];
	const struct lt_site_job *const job = &loop->jobs[index];
	const struct lt_site_stay is = {
	    job->partition, job->start_utc_s, job->stretch};
	struct lt_estimate there;

	if (!lt_site_price(&there, loop->sim, index, &is))
		return;
	if (base->has_micros && there.has_cost)
		difference->saved_micros = base->micros -
					   (double)there.cost_micros -
					   job->failure_micros;
	if (base->has_mg && there.has_carbon)
		difference->saved_mg = base->mg - (double)there.carbon_mg;
}

int
lt_site_sum(struct lt_site_result *result, const struct lt_site_loop *loop,
    struct lt_error *err)
{
	const struct lt_site_sim *const sim = loop->sim;
	double wait_s = 0, base_wait_s = 0;

	result->week_count = sim->week_count;
	result->partitions = calloc(
	    sim->site.market->partition_count + 1, sizeof(*result->partitions));
	if (result->partitions == NULL)
		return lt_fail(err, LT_ENOMEM, "sums: no memory");
	for (uint32_t i = 0; i < sim->site.run_count; i++) {
		const struct lt_site_base *const base = &sim->bases[i];
		const struct lt_site_run *const run = &sim->site.runs[i];
		const struct lt_site_job *const job = &loop->jobs[i];
		struct difference difference = {.base_micros = base->micros,
		    .base_mg = base->mg,
		    .moved = job->moved};

		if (!base->counted)
			continue;
		if (job->partition != run->partition ||
		    job->start_utc_s != run->start_utc_s)
			find_saved(&difference, loop, i);
		add(&result->all, &difference);
		add(&result->weeks[week_of(sim, i)], &difference);
		add(&result->partitions[run->partition], &difference);
		wait_s += (double)(job->start_utc_s - run->submit_utc_s);
		base_wait_s += (double)(run->start_utc_s - run->submit_utc_s);
		result->late += job->moved &&
				job->start_utc_s > job->promised_utc_s &&
				job->start_utc_s > run->start_utc_s;
	}
	if (result->all.runs > 0) {
		result->wait_s = wait_s / result->all.runs;
		result->base_wait_s = base_wait_s / result->all.runs;
	}
	return LT_OK;
}

void
lt_site_result_free(struct lt_site_result *result)
{
	free(result->partitions);
	*result = (struct lt_site_result){0};
}
