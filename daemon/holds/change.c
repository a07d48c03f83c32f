/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a job's record with its hold. The first record is priced by itself, and the hold only
 * rises; later, two records are priced at the same market, and the hold follows their ratio. Once
 * the job runs, AllocTRES counts. A job that started on more than was held for it is logged with
 * the cause, and sent back to the queue where the site wants that.
 *
 * Reads the market and the ledger; writes the hold, and the job by one update. What slurmctld
 * refuses is tried again by the next pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "budget_state.h"
#include "change.h"
#include "facts.h"
#include "fits.h"
#include "job_quote.h"
#include "ledger.h"
#include "log.h"
#include "over_reason.h"
#include "poll_schedule.h"
#include "request.h"
#include "site.h"
#include "size.h"
#include "suspension.h"
#include "units.h"

enum { REQUEUE_WITHIN_S = 60 };

/* Nodes x share of what it was allocated. */
static double
node_shares(const struct lt_market *market, const struct lt_batch_job *job)
{
	const struct lt_resources got = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .exact = job->exact,
	    .exclusive = job->exclusive};
	const int index = lt_market_partition(market, job->partition);

	if (index < 0)
		return 0;
	const struct lt_partition *const p = &market->partitions[index];
	const struct lt_fraction share =
	    lt_charge_share(&got, market->shapes + p->first_shape, p->shape_count);
	return job->nodes * (double)share.numerator / (double)share.denominator;
}

/* Returns the word for why `is` passes the admitted amount; "": it does not. */
static const char *
why_above(const struct lt_market *market, const struct lt_batch_job *job,
    const struct lt_admission *a, const struct lt_amount *is)
{
	const int index = lt_market_partition(market, job->partition);
	struct lt_over over = {.held_limit_s = a->limit_s,
	    .node_shares = node_shares(market, job),
	    .limit_s = job->limit_s,
	    .active_s = job->limit_s};

	if (index >= 0)
		over.over_time_limit_s = lt_overrun_s(&market->partitions[index]);
	if (job->limit_s < INT32_MAX)
		over.active_s += over.over_time_limit_s;
	const struct {
		bool has;
		int64_t is, was;
		double rate;
	} sides[] = {
	    {is->has_money && a->admitted.has_money, is->money_micros, a->admitted.money_micros,
		a->price},
	    {is->has_carbon && a->admitted.has_carbon, is->carbon_mg, a->admitted.carbon_mg,
		a->carbon},
	};
	const char *why = "";
	for (size_t i = 0; i < 2 && why[0] == '\0'; i++) {
		if (!sides[i].has || sides[i].is <= sides[i].was)
			continue;
		over.charged = (double)sides[i].is;
		over.held = (double)sides[i].was;
		over.held_rate = sides[i].rate;
		why = lt_over_reason(&over);
	}
	return why;
}

/* Logs, at its start, that the hold was raised from `was` to what the job was allocated, with the
 * cause that the facts prove. */
static void
log_underheld(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold, const struct lt_amount *was)
{
	struct lt_admission a = lt_facts_admission(market, ledger, hold, job);

	a.admitted = *was;
	const char *const why = why_above(market, job, &a, &hold->quote.hold_per_task);
	if (why[0] != '\0')
		lt_log("underheld", "job=%u why=%s", job->job_id, why);
}

/* True if it may go back to the queue for this: once. A hold of several tasks does not show which
 * task it was; Slurm counts the restarts of each. */
static bool
is_wanted(const struct lt_policy *policy, const struct lt_batch_job *job,
    const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	const bool was_requeued =
	    hold->quote.tasks == 1 ? hold->quote.flags & LT_QUOTE_UNDERHELD : job->requeued;

	return policy->on_underheld == LT_UNDERHELD_REQUEUE && job->state == LT_JOB_RUNNING &&
	       !job->completing && job->is_allocated && job->is_batch && !job->is_cron &&
	       job->requeue_allowed && hold->state == LT_HOLD_OPEN &&
	       now_utc_s - job->start_utc_s <= REQUEUE_WITHIN_S && !was_requeued;
}

int
lt_underheld_follow(const struct lt_books *books, const struct lt_batch_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_admission a;
	struct lt_error refused = {0};

	if (!lt_site_may(books->site, LT_MAY_HOLD) ||
	    !is_wanted(books->site->policy, job, hold, now_utc_s))
		return LT_OK;
	/* The admitted amount is known from the pass after the raise. */
	lt_poll_again(books->jobs, job->job_id);
	if (lt_ledger_admission(books->ledger, hold->quote.id, &a, NULL) != LT_OK ||
	    strcmp(why_above(&books->site->market, job, &a, &hold->quote.hold_per_task), "size") !=
		0)
		return LT_OK;
	if (lt_batch_requeue_held(job, &refused) != LT_OK) {
		lt_log("requeue_failed", "job=%u error=\"%s\"", job->job_id, refused.text);
		return LT_OK;
	}
	hold->quote.flags |= LT_QUOTE_UNDERHELD;
	hold->quote.rev++;
	books->budget->dirty = true;
	lt_log("requeued_underheld", "job=%u account=%s", job->job_id, hold->quote.account);
	const int code = lt_ledger_put_hold(books->ledger, hold, err);
	if (code == LT_OK)
		(void)lt_quote_publish(job, &hold->quote, LT_LEAVE, 0, NULL);
	return code;
}

/* True if the size is the same; a job that was suspended further has changed. */
static bool
same_size(const struct lt_batch_job *a, const struct lt_batch_job *b)
{
	return a->nodes == b->nodes && a->cpus == b->cpus && a->gpus == b->gpus &&
	       a->shards == b->shards && a->memory_mib == b->memory_mib &&
	       a->limit_s == b->limit_s && a->exclusive == b->exclusive &&
	       lt_suspension_held_s(a) == lt_suspension_held_s(b) &&
	       memcmp(lt_job_asked(a), lt_job_asked(b), sizeof(*a->asked)) == 0 &&
	       strcmp(a->partition, b->partition) == 0;
}

/* True if it may run in the same hours, which have their prices. */
static bool
same_begin(const struct lt_batch_job *a, const struct lt_batch_job *b, int64_t now_utc_s)
{
	return a->eligible_utc_s == b->eligible_utc_s ||
	       (a->eligible_utc_s <= now_utc_s && b->eligible_utc_s <= now_utc_s);
}

void
lt_change_look(const struct lt_market *market, struct lt_batch_job *job,
    const struct lt_batch_job *before, bool anew, int64_t now_utc_s)
{
	int count = 0;

	if (job->state != LT_JOB_PENDING)
		return;
	if (before != NULL)
		memcpy(job->priced_at, before->priced_at, sizeof(job->priced_at));
	if (!anew && before != NULL && before->state == job->state && same_size(job, before)) {
		job->node_shares = before->node_shares;
		return;
	}
	struct lt_job_request *const made = malloc(sizeof(*made));
	if (made != NULL && lt_request_of_job(made, job, market, now_utc_s))
		count = made->partition_count;
	for (int i = 0; i < count; i++) {
		const struct lt_share most =
		    lt_share_most(&made->request, market, made->partitions[i]);
		const double shares =
		    most.nodes * (double)most.numerator / (double)most.denominator;

		if (shares > job->node_shares)
			job->node_shares = shares;
	}
	free(made);
}

/* True if a job that waits unchanged gets more as its partition was changed: by other defaults,
 * other nodes, or as a whole. Another price does not count. */
static bool
gets_more(const struct lt_batch_job *job, const struct lt_batch_job *before)
{
	return before->node_shares > 0 && job->node_shares > before->node_shares * (1 + 1e-9);
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

/* Makes one currency follow: the ratio down, the new bound up. */
static void
follow_currency(struct part *held, struct part old, struct part fresh, bool runs)
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

/* Prices of a job that waits may be newer than those of its hold, by a market compiled since; its
 * size is another only beyond this. */
static bool
is_more(int64_t fresh, int64_t held)
{
	return fresh > held && fresh - held > held / 100;
}

/* Raises the hold at the first record, only up. job_submit made it from the description: Slurm has
 * made more of it since, or has allocated more. */
static bool
raise_first(struct lt_amount *held, const struct lt_amount *fresh, bool runs)
{
	bool raised = false;

	if (fresh->has_money && (runs ? fresh->money_micros > held->money_micros
				      : is_more(fresh->money_micros, held->money_micros))) {
		held->has_money = raised = true;
		held->money_micros = fresh->money_micros;
	}
	if (fresh->has_carbon && (runs ? fresh->carbon_mg > held->carbon_mg
				       : is_more(fresh->carbon_mg, held->carbon_mg))) {
		held->has_carbon = raised = true;
		held->carbon_mg = fresh->carbon_mg;
	}
	return raised;
}

static bool
follow_size(const struct lt_site *site, struct lt_ledger *ledger, const struct lt_change *change,
    const struct lt_ledger_hold *hold, struct lt_amount *held)
{
	const struct lt_batch_job *const job = change->job;
	const struct lt_batch_job *const before = change->before;
	const int64_t now_utc_s = change->now_utc_s;
	struct lt_quote fresh, old = {0};
	const struct lt_amount was = *held;
	struct part money = money_of(held), carbon = carbon_of(held);
	const bool runs = job->state != LT_JOB_PENDING;
	const bool same = before != NULL && same_size(job, before) && job->state == before->state &&
			  (runs || same_begin(job, before, now_utc_s));

	if (same && (runs || !gets_more(job, before)))
		return false;
	if (!lt_quote_of_job(&fresh, job, site, ledger, now_utc_s))
		return false;
	/* The hold covers all places that it may go to by itself. */
	if (!runs && job->may_stray)
		return raise_first(held, &fresh.hold_per_task, runs);
	/* Slurm may make of it again what it made of it once; and its present limit is not the one
	 * that it will have. */
	if (before == NULL || same ||
	    (!runs && ((hold->quote.flags & LT_QUOTE_UNDERHELD) || lt_job_asked(job)->expands)))
		return raise_first(held, &fresh.hold_per_task, runs);
	if (!runs && !lt_quote_of_job(&old, before, site, ledger, now_utc_s))
		return false;
	follow_currency(&money, money_of(&old.hold_per_task), money_of(&fresh.hold_per_task), runs);
	follow_currency(
	    &carbon, carbon_of(&old.hold_per_task), carbon_of(&fresh.hold_per_task), runs);
	held->has_money = money.has;
	held->money_micros = money.value;
	held->has_carbon = carbon.has;
	held->carbon_mg = carbon.value;
	return memcmp(&was, held, sizeof(was)) != 0;
}

bool
lt_change_fits(struct lt_budget_state *budget, const struct lt_ledger_hold *hold,
    const struct lt_amount *was, int64_t now_utc_s)
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
    struct lt_budget_state *budget, const struct lt_change *change, struct lt_ledger_hold *hold,
    struct lt_error *err)
{
	const struct lt_batch_job *const job = change->job;
	const struct lt_batch_job *const before = change->before;
	const struct lt_amount was = hold->quote.hold_per_task;
	const bool single = hold->quote.tasks == 1;
	bool changed = false, moved = false;

	if (hold->state != LT_HOLD_OPEN || job->state == LT_JOB_FINISHED)
		return LT_OK;
	if (strcasecmp(job->account, hold->quote.account) != 0) {
		lt_log("account_changed", "job=%u from=%s to=%s", job->job_id, hold->quote.account,
		    job->account);
		snprintf(hold->quote.account, sizeof(hold->quote.account), "%s", job->account);
		changed = moved = true;
	}
	/* Tasks of an array share one amount: only up, for all. */
	struct lt_amount amount = was;
	if (follow_size(site, ledger, change, hold, &amount) &&
	    (single || job->array_pending == hold->live_tasks ||
		amount.money_micros > was.money_micros || amount.carbon_mg > was.carbon_mg)) {
		hold->quote.hold_per_task = amount;
		changed = true;
	}
	if (!changed)
		return LT_OK;
	const struct lt_amount none = {0};
	if (job->state == LT_JOB_PENDING && lt_site_may(site, LT_MAY_HOLD) &&
	    !(hold->quote.flags & LT_QUOTE_BUDGET_HOLD) &&
	    !lt_change_fits(budget, hold, moved ? &none : &was, change->now_utc_s))
		hold->quote.flags |= LT_QUOTE_BUDGET_HOLD;
	if (job->is_allocated && (before == NULL || !before->is_allocated))
		log_underheld(&site->market, ledger, job, hold, &was);
	hold->quote.rev++;
	budget->dirty = true;
	lt_log("hold_follows", "job=%u money_micros=%lld was=%lld", job->job_id,
	    (long long)hold->quote.hold_per_task.money_micros, (long long)was.money_micros);
	return lt_ledger_put_hold(ledger, hold, err);
}
