/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that lowtide holds back: made admin holds, so that only lowtided (and
 * an admin) frees them, and freed oldest first when they fit. Nothing here
 * acts outside mode enforce, where all that is held back is freed.
 */
#include <stdlib.h>
#include <string.h>

#include "confirm.h"
#include "sheet.h"

enum { FREED_A_PASS = 256 }; /* the rest in the next pass */

struct waiting { /* a pending job and its hold */
	const struct lt_slurm_job *job;
	struct lt_ledger_hold hold;
};

static struct lt_recent *
recent_of(struct lt_daemon *d)
{
	if (d->recent && d->recent_generation == d->sheet.generation)
		return d->recent;
	free(d->recent);
	d->recent = malloc(lt_recent_size(&d->sheet));
	if (d->recent)
		lt_recent_init(d->recent, &d->sheet);
	d->recent_generation = d->sheet.generation;
	return d->recent;
}

static bool
as_hold(struct lt_hold *out, const struct lt_daemon *d,
    const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	*out = (struct lt_hold){.uid = hold->uid,
	    .account = lt_sheet_account(&d->sheet, hold->quote.account),
	    .amount = hold->quote.hold_per_task};
	lt_hold_window(&out->start_utc_s, &out->end_utc_s, hold, now_utc_s);
	return out->account >= 0 &&
	       lt_scale_up(out->amount.money_micros, hold->live_tasks, 1,
		   &out->amount.money_micros) &&
	       lt_scale_up(out->amount.carbon_mg, hold->live_tasks, 1,
		   &out->amount.carbon_mg);
}

bool
lt_release_fits(
    struct lt_daemon *d, const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	struct lt_hold asked;
	struct lt_verdict verdict = {0};
	struct lt_recent *const recent = recent_of(d);
	if (!recent || !as_hold(&asked, d, hold, now_utc_s))
		return false;
	lt_admit(&verdict, &d->sheet, recent, &asked);
	return verdict.code == LT_ADMIT ||
	       (verdict.code == LT_OVER && verdict.rule == LT_RULE_WARN);
}

static int
by_age(const void *a, const void *b)
{
	const struct waiting *const x = a, *const y = b;
	if (x->job->submit_utc_s != y->job->submit_utc_s)
		return x->job->submit_utc_s < y->job->submit_utc_s ? -1 : 1;
	return x->job->job_id < y->job->job_id ? -1 : 1;
}

/* Pending jobs with an open hold, oldest first. */
static struct waiting *
collect(struct lt_daemon *d, uint32_t *count)
{
	*count = 0;
	struct waiting *const all =
	    calloc((size_t)d->jobs.count + 1, sizeof(*all));
	for (uint32_t i = 0; all && i < d->jobs.count; i++) {
		const struct lt_slurm_job *const job = &d->jobs.jobs[i];
		struct waiting *const w = &all[*count];
		if (job->state != LT_JOB_PENDING ||
		    !lt_terms_hold_of(d, job, &w->hold) ||
		    w->hold.state != LT_HOLD_OPEN)
			continue;
		w->job = job;
		++*count;
	}
	if (all && *count > 1)
		qsort(all, *count, sizeof(*all), by_age);
	return all;
}

static bool
is_ours(const struct waiting *w)
{
	return w->hold.quote.flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN);
}

/* A user's hold that job_submit made becomes an admin's; one that slipped
 * past the plugin is held now. */
static void
hold_back(struct lt_daemon *d, const struct waiting *w)
{
	struct lt_error err = {0};
	if (w->job->is_cron) {
		/* A held cron job can never be released. */
		if (lt_slurm_cancel(w->job->job_id, &err) != LT_OK)
			lt_log("cancel_failed", "job=%u error=\"%s\"",
			    w->job->job_id, err.text);
		else
			lt_log("cancelled", "job=%u why=cron_over_budget",
			    w->job->job_id);
		return;
	}
	if (w->job->held && !w->job->user_held)
		return;
	if (w->job->held && (w->hold.quote.flags & LT_QUOTE_USER_HOLD))
		return; /* the user's own; job_modify guards it */
	lt_quote_publish(d, w->job, &w->hold.quote, true, false);
	lt_log(
	    "held", "job=%u account=%s", w->job->job_id, w->hold.quote.account);
}

static int
set_flags(struct lt_daemon *d, struct waiting *w, uint32_t flags,
    struct lt_error *err)
{
	w->hold.quote.flags = flags;
	w->hold.quote.rev++;
	d->sheet_dirty = true;
	return lt_ledger_put_hold(d->ledger, &w->hold, err);
}

/* What was held back because the balance was unknown may have no amount:
 * price it now. */
static void
price_unknown(struct lt_daemon *d, struct waiting *w, int64_t now_utc_s)
{
	struct lt_quote fresh;
	if (!(w->hold.quote.flags & LT_QUOTE_UNKNOWN) ||
	    !lt_quote_of_job(&fresh, w->job, d, now_utc_s))
		return;
	w->hold.quote.hold_per_task = fresh.hold_per_task;
	w->hold.quote.start_utc_s = fresh.start_utc_s;
	w->hold.quote.end_utc_s = fresh.end_utc_s;
}

/*
 * Free in two steps: first the hold counts, in the ledger and in a new sheet
 * that also has all of the ring; only then, if that sheet is not over, the
 * job is released. So job_submit and lowtided never give the same money.
 */
static int
free_some(struct lt_daemon *d, struct waiting **chosen, uint32_t count,
    int64_t now_utc_s, struct lt_error *err)
{
	int code = lt_absorb(d, now_utc_s, err);
	if (code == LT_OK)
		code = lt_compile_budget(d, now_utc_s, err);
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		struct waiting *const w = chosen[i];
		struct lt_ledger_hold nothing = w->hold;
		nothing.quote.hold_per_task.money_micros = 0;
		nothing.quote.hold_per_task.carbon_mg = 0;
		if (d->policy->mode == LT_MODE_ENFORCE &&
		    !lt_release_fits(d, &nothing, now_utc_s)) {
			code = set_flags(d, w,
			    w->hold.quote.flags | LT_QUOTE_BUDGET_HOLD, err);
			continue;
		}
		lt_quote_publish(d, w->job, &w->hold.quote, false,
		    !(w->hold.quote.flags & LT_QUOTE_USER_HOLD));
		lt_log("released", "job=%u account=%s", w->job->job_id,
		    w->hold.quote.account);
	}
	return code;
}

/* A new period: what no longer fits beside the older ones is held back. */
static int
readmit(struct lt_daemon *d, struct waiting *all, uint32_t count,
    int64_t now_utc_s, struct lt_error *err)
{
	d->period_began = false;
	for (uint32_t i = count; i-- > 0;) {
		struct waiting *const w = &all[i];
		struct lt_ledger_hold nothing = w->hold;
		struct lt_hold asked;
		nothing.quote.hold_per_task.money_micros = 0;
		nothing.quote.hold_per_task.carbon_mg = 0;
		if (is_ours(w) || lt_release_fits(d, &nothing, now_utc_s) ||
		    !as_hold(&asked, d, &w->hold, now_utc_s))
			continue;
		lt_recent_remove(recent_of(d), &d->sheet, &asked);
		const int code = set_flags(
		    d, w, w->hold.quote.flags | LT_QUOTE_BUDGET_HOLD, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

int
lt_release(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	uint32_t count = 0, chosen_count = 0;
	struct waiting *chosen[FREED_A_PASS];
	struct waiting *const all = collect(d, &count);
	const bool enforce = d->policy->mode == LT_MODE_ENFORCE;
	int code = LT_OK;
	if (!all)
		return lt_fail(err, LT_ENOMEM, "release: out of memory");
	if (d->period_began && enforce)
		code = readmit(d, all, count, now_utc_s, err);
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		struct waiting *const w = &all[i];
		if (!is_ours(w))
			continue;
		price_unknown(d, w, now_utc_s);
		if (chosen_count < FREED_A_PASS &&
		    (!enforce || lt_release_fits(d, &w->hold, now_utc_s))) {
			code = set_flags(d, w,
			    w->hold.quote.flags &
				~(uint32_t)(LT_QUOTE_BUDGET_HOLD |
					    LT_QUOTE_UNKNOWN),
			    err);
			chosen[chosen_count++] = w;
		} else if (enforce) {
			hold_back(d, w);
		}
	}
	if (code == LT_OK && chosen_count > 0)
		code = free_some(d, chosen, chosen_count, now_utc_s, err);
	free(all);
	return code;
}
