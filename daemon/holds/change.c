/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job's record says now against its hold. Seen first, it is priced by
 * itself and the hold only rises; later, two records are priced at the same
 * market, and the hold follows their ratio. Once it runs, AllocTRES counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget_state.h"
#include "change.h"
#include "fits.h"
#include "job_quote.h"
#include "ledger.h"
#include "log.h"
#include "request.h"
#include "site.h"
#include "size.h"
#include "suspension.h"
#include "underheld.h"
#include "units.h"

/* A job that was suspended further is not what it was. */
static bool
same_size(const struct lt_batch_job *a, const struct lt_batch_job *b)
{
	return a->nodes == b->nodes && a->cpus == b->cpus &&
	       a->gpus == b->gpus && a->shards == b->shards &&
	       a->memory_mib == b->memory_mib && a->limit_s == b->limit_s &&
	       a->exclusive == b->exclusive &&
	       lt_suspension_held_s(a) == lt_suspension_held_s(b) &&
	       memcmp(lt_job_asked(a), lt_job_asked(b), sizeof(*a->asked)) ==
		   0 &&
	       strcmp(a->partition, b->partition) == 0;
}

/* The hours that it may run in, which have their prices. */
static bool
same_begin(const struct lt_batch_job *a, const struct lt_batch_job *b,
    int64_t now_utc_s)
{
	return a->eligible_utc_s == b->eligible_utc_s ||
	       (a->eligible_utc_s <= now_utc_s &&
		   b->eligible_utc_s <= now_utc_s);
}

void
lt_change_look(const struct lt_market *market, struct lt_batch_job *job,
    const struct lt_batch_job *before, bool anew, int64_t now_utc_s)
{
	int count = 0;

	if (job->state != LT_JOB_PENDING)
		return;
	if (before != NULL)
		memcpy(
		    job->priced_at, before->priced_at, sizeof(job->priced_at));
	if (!anew && before != NULL && before->state == job->state &&
	    same_size(job, before)) {
		job->node_shares = before->node_shares;
		return;
	}
	struct lt_job_request *const made = malloc(sizeof(*made));
	if (made != NULL && lt_request_of_job(made, job, market, now_utc_s))
		count = made->partition_count;
	for (int i = 0; i < count; i++) {
		const struct lt_share most =
		    lt_share_most(&made->request, market, made->partitions[i]);
		const double shares = most.nodes * (double)most.numerator /
				      (double)most.denominator;

		if (shares > job->node_shares)
			job->node_shares = shares;
	}
	free(made);
}

/* What waits as it did, in a partition that was changed: by other defaults,
 * other nodes, or as a whole. Not by another price. */
static bool
gets_more(const struct lt_batch_job *job, const struct lt_batch_job *before)
{
	return before->node_shares > 0 &&
	       job->node_shares > before->node_shares * (1 + 1e-9);
}

struct part { /* of an amount: one currency */
	bool has;
	int64_t value;
};

static struct part
money_of(const struct lt_amount *amount)
{
	return (struct part){amount->has_money, amount->money_micros};
}

static struct part
carbon_of(const struct lt_amount *amount)
{
	return (struct part){amount->has_carbon, amount->carbon_mg};
}

/* One currency: follow the ratio down, the new bound up. */
static void
follow(struct part *held, struct part old, struct part fresh, bool runs)
{
	int64_t scaled;

	if (!fresh.has)
		return;
	if (!held->has || fresh.value > held->value) {
		*held = fresh;
	} else if (runs) {
		held->value = fresh.value; /* all is known now */
	} else if (old.has && old.value > fresh.value && old.value > 0 &&
		   lt_scale_up(held->value, fresh.value, old.value, &scaled)) {
		held->value = scaled > fresh.value ? scaled : fresh.value;
	}
}

/* Prices of a job that waits may be newer than those of its hold, by a market
 * compiled since; its size is another only beyond this. */
static bool
is_more(int64_t fresh, int64_t held)
{
	return fresh > held && fresh - held > held / 100;
}

/* Seen first, the hold is what job_submit made of the description: Slurm has
 * made more of it since, or has allocated more. Only up. */
static bool
raise_first(struct lt_amount *held, const struct lt_amount *fresh, bool runs)
{
	bool raised = false;

	if (fresh->has_money &&
	    (runs ? fresh->money_micros > held->money_micros
		  : is_more(fresh->money_micros, held->money_micros))) {
		held->has_money = raised = true;
		held->money_micros = fresh->money_micros;
	}
	if (fresh->has_carbon &&
	    (runs ? fresh->carbon_mg > held->carbon_mg
		  : is_more(fresh->carbon_mg, held->carbon_mg))) {
		held->has_carbon = raised = true;
		held->carbon_mg = fresh->carbon_mg;
	}
	return raised;
}

static bool
follow_size(const struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_change *change, const struct lt_ledger_hold *hold,
    struct lt_amount *held)
{
	const struct lt_batch_job *const job = change->job;
	const struct lt_batch_job *const before = change->before;
	const int64_t now_utc_s = change->now_utc_s;
	struct lt_quote fresh, old = {0};
	const struct lt_amount was = *held;
	struct part money = money_of(held), carbon = carbon_of(held);
	const bool runs = job->state != LT_JOB_PENDING;
	const bool same = before != NULL && same_size(job, before) &&
			  job->state == before->state &&
			  (runs || same_begin(job, before, now_utc_s));

	if (same && (runs || !gets_more(job, before)))
		return false;
	if (!lt_quote_of_job(&fresh, job, site, ledger, now_utc_s))
		return false;
	/* The hold covers all places that it may go to by itself. */
	if (!runs && job->may_stray)
		return raise_first(held, &fresh.hold_per_task, runs);
	/* What Slurm made of it once, it may make of it again; and its own
	 * limit is not the one that it will have. */
	if (before == NULL || same ||
	    (!runs && ((hold->quote.flags & LT_QUOTE_UNDERHELD) ||
			  lt_job_asked(job)->expands)))
		return raise_first(held, &fresh.hold_per_task, runs);
	if (!runs && !lt_quote_of_job(&old, before, site, ledger, now_utc_s))
		return false;
	follow(&money, money_of(&old.hold_per_task),
	    money_of(&fresh.hold_per_task), runs);
	follow(&carbon, carbon_of(&old.hold_per_task),
	    carbon_of(&fresh.hold_per_task), runs);
	held->has_money = money.has;
	held->money_micros = money.value;
	held->has_carbon = carbon.has;
	held->carbon_mg = carbon.value;
	return memcmp(&was, held, sizeof(was)) != 0;
}

bool
lt_change_fits(struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, const struct lt_amount *was,
    int64_t now_utc_s)
{
	struct lt_ledger_hold growth = *hold;
	struct lt_amount *const by = &growth.quote.hold_per_task;

	by->money_micros -= was->has_money ? was->money_micros : 0;
	by->carbon_mg -= was->has_carbon ? was->carbon_mg : 0;
	if (by->money_micros <= 0 && by->carbon_mg <= 0)
		return true;
	return lt_fits_hold(budget, &growth, now_utc_s);
}

int
lt_change_follow(const struct lt_site *site, struct lt_ledger *ledger,
    struct lt_budget_state *budget, const struct lt_change *change,
    struct lt_ledger_hold *hold, struct lt_error *err)
{
	const struct lt_batch_job *const job = change->job;
	const struct lt_batch_job *const before = change->before;
	const struct lt_amount was = hold->quote.hold_per_task;
	const bool single = hold->quote.tasks == 1;
	bool changed = false, moved = false;

	if (hold->state != LT_HOLD_OPEN || job->state == LT_JOB_FINISHED)
		return LT_OK;
	if (strcasecmp(job->account, hold->quote.account) != 0) {
		lt_log("account_changed", "job=%u from=%s to=%s", job->job_id,
		    hold->quote.account, job->account);
		snprintf(hold->quote.account, sizeof(hold->quote.account), "%s",
		    job->account);
		changed = moved = true;
	}
	/* Tasks of an array share one amount: only up, for all. */
	struct lt_amount amount = was;
	if (follow_size(site, ledger, change, hold, &amount) &&
	    (single || job->array_pending == hold->live_tasks ||
		amount.money_micros > was.money_micros ||
		amount.carbon_mg > was.carbon_mg)) {
		hold->quote.hold_per_task = amount;
		changed = true;
	}
	if (!changed)
		return LT_OK;
	const struct lt_amount none = {0};
	if (job->state == LT_JOB_PENDING && lt_site_may(site, LT_MAY_HOLD) &&
	    !(hold->quote.flags & LT_QUOTE_BUDGET_HOLD) &&
	    !lt_change_fits(
		budget, hold, moved ? &none : &was, change->now_utc_s))
		hold->quote.flags |= LT_QUOTE_BUDGET_HOLD;
	if (job->is_allocated && (before == NULL || !before->is_allocated))
		lt_underheld_log(&site->market, ledger, job, hold, &was);
	hold->quote.rev++;
	budget->dirty = true;
	lt_log("hold_follows", "job=%u money_micros=%lld was=%lld", job->job_id,
	    (long long)hold->quote.hold_per_task.money_micros,
	    (long long)was.money_micros);
	return lt_ledger_put_hold(ledger, hold, err);
}
