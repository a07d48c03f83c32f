/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On what each live job was admitted, written for job_modify.
 */
#include <stdlib.h>
#include <string.h>

#include "charge.h"
#include "confirm.h"

static uint32_t
share_ppm(const struct lt_slurm_job *job, const struct lt_market *market)
{
	const size_t length = strcspn(job->partition, ",");
	char name[LT_NAME_SIZE] = "";
	if (length < sizeof(name))
		memcpy(name, job->partition, length);
	const int index = lt_market_partition(market, name);
	if (index < 0)
		return LT_MICROS;
	const struct lt_partition *const p = &market->partitions[index];
	const struct lt_resources resources = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .memory_mib = job->memory_mib,
	    .exclusive = job->exclusive || (p->flags & LT_PARTITION_EXCLUSIVE)};
	const struct lt_fraction share = lt_charge_share(
	    &resources, market->shapes + p->first_shape, p->shape_count);
	int64_t ppm = LT_MICROS;
	if (!lt_scale_up(LT_MICROS, share.numerator, share.denominator, &ppm))
		return LT_MICROS;
	return (uint32_t)ppm;
}

static void
fill(struct lt_terms *terms, const struct lt_slurm_job *job,
    const struct lt_ledger_hold *hold, const struct lt_daemon *d)
{
	const int account = lt_sheet_account(&d->sheet, job->account);
	const struct lt_amount *const amount = &hold->quote.hold_per_task;
	const uint32_t flags = hold->quote.flags;
	*terms = (struct lt_terms){
	    .job_id = job->job_id,
	    .uid = job->uid,
	    .quote_id = hold->quote.id,
	    .hold_money_micros = amount->money_micros,
	    .hold_carbon_mg = amount->carbon_mg,
	    .account_hash = lt_name_hash(job->account),
	    .partition_hash = lt_name_hash(job->partition),
	    .limit_s =
		job->limit_s > UINT32_MAX ? UINT32_MAX : (uint32_t)job->limit_s,
	    .nodes = job->nodes,
	    .share_ppm = share_ppm(job, &d->market),
	    .tasks = job->array_pending > 0 ? job->array_pending : 1,
	    .cpus = job->cpus,
	    .flags = (flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN)
			     ? (uint32_t)LT_TERMS_OUR_HOLD
			     : 0) |
		     (flags & LT_QUOTE_USER_HOLD ? (uint32_t)LT_TERMS_USER_HOLD
						 : 0) |
		     (job->state == LT_JOB_PENDING ? (uint32_t)LT_TERMS_PENDING
						   : 0) |
		     (account >= 0 && lt_sheet_budgeted(&d->sheet, account)
			     ? (uint32_t)LT_TERMS_BUDGETED
			     : 0) |
		     (amount->has_money ? (uint32_t)LT_TERMS_HAS_MONEY : 0) |
		     (amount->has_carbon ? (uint32_t)LT_TERMS_HAS_CARBON : 0) |
		     (job->exclusive ? (uint32_t)LT_TERMS_EXCLUSIVE : 0) |
		     (job->het_job_id && job->het_job_id == job->job_id
			     ? (uint32_t)LT_TERMS_HET_LEADER
			     : 0),
	};
}

/* Quote id of a job: its text, else the ledger by job id. */
bool
lt_terms_hold_of(struct lt_daemon *d, const struct lt_slurm_job *job,
    struct lt_ledger_hold *hold)
{
	struct lt_quote quote;
	if (job->admin_comment &&
	    lt_quote_unpack(&quote, job->admin_comment,
		strlen(job->admin_comment), NULL) == LT_OK &&
	    lt_ledger_hold(d->ledger, quote.id, hold, NULL) == LT_OK)
		return true;
	return lt_ledger_hold_of_job(d->ledger, job->job_id, hold, NULL) ==
	       LT_OK;
}

int
lt_write_terms(struct lt_daemon *d, struct lt_error *err)
{
	struct lt_terms *const records =
	    calloc((size_t)d->jobs.count + 1, sizeof(*records));
	if (!records)
		return lt_fail(err, LT_ENOMEM, "terms: out of memory");
	uint32_t count = 0;
	for (uint32_t i = 0; i < d->jobs.count; i++) {
		struct lt_ledger_hold hold;
		const struct lt_slurm_job *const job = &d->jobs.jobs[i];
		if (job->state == LT_JOB_FINISHED ||
		    !lt_terms_hold_of(d, job, &hold))
			continue;
		fill(&records[count++], job, &hold, d);
	}
	const int code = lt_terms_write(
	    d->terms_path, records, count, d->sheet.generation, err);
	free(records);
	return code;
}
