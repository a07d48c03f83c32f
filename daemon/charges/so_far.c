/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run that goes on, priced as one that ended: what settling would charge.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "price.h"
#include "so_far.h"

struct lt_amount
lt_so_far(const struct lt_batch_job *job, const struct lt_market *market,
    struct lt_ledger *ledger, int64_t now_utc_s)
{
	struct lt_amount cost = {0};
	struct lt_charge charge = {0};
	struct lt_run run = {.key = {job->job_id, job->submit_utc_s},
	    .array_job_id = job->array_job_id,
	    .uid = job->uid,
	    .start_utc_s = job->start_utc_s,
	    .end_utc_s = now_utc_s,
	    .nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .size.pod = job->exact,
	    .suspended_s = job->suspended_s,
	    .gpus_from = LT_GPUS_SLURMCTLD};

	if ((job->state != LT_JOB_RUNNING && job->state != LT_JOB_SUSPENDED) ||
	    job->start_utc_s == 0 || job->start_utc_s > now_utc_s)
		return cost;
	snprintf(run.account, sizeof(run.account), "%s", job->account);
	snprintf(run.partition, sizeof(run.partition), "%.*s",
	    (int)strcspn(job->partition, ","), job->partition);
	if (lt_price_run(&charge, &run,
		&(struct lt_priced_by){.market = market, .ledger = ledger},
		NULL) != LT_OK)
		return cost;
	cost = (struct lt_amount){.has_money = charge.priced,
	    .has_carbon = charge.has_carbon,
	    .money_micros = llround(charge.money_micros),
	    .carbon_mg = llround(charge.carbon_mg)};
	lt_charge_free(&charge);
	return cost;
}
