/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does it fit? By the one rule of job_submit, beside all that counts: what the
 * sheet has and what was admitted since.
 */
#include <stdlib.h>

#include "daemon.h"
#include "fits.h"
#include "sheet.h"
#include "units.h"

struct lt_recent *
lt_fits_recent(struct lt_daemon *d)
{
	if (d->budget.recent &&
	    d->budget.recent_generation == d->budget.sheet.generation)
		return d->budget.recent;
	free(d->budget.recent);
	d->budget.recent = malloc(lt_recent_size(&d->budget.sheet));
	if (d->budget.recent)
		lt_recent_init(d->budget.recent, &d->budget.sheet);
	d->budget.recent_generation = d->budget.sheet.generation;
	return d->budget.recent;
}

bool
lt_fits_asked(struct lt_hold *out, const struct lt_daemon *d,
    const struct lt_ledger_hold *hold, uint32_t tasks, int64_t now_utc_s)
{
	*out = (struct lt_hold){.uid = hold->uid,
	    .account = lt_sheet_account(&d->budget.sheet, hold->quote.account),
	    .amount = hold->quote.hold_per_task};
	lt_hold_window(&out->start_utc_s, &out->end_utc_s, hold, now_utc_s);
	return out->account >= 0 &&
	       lt_scale_up(out->amount.money_micros, tasks, 1,
		   &out->amount.money_micros) &&
	       lt_scale_up(
		   out->amount.carbon_mg, tasks, 1, &out->amount.carbon_mg);
}

bool
lt_fits(struct lt_daemon *d, const struct lt_hold *asked)
{
	struct lt_verdict verdict = {0};
	struct lt_recent *const recent = lt_fits_recent(d);
	if (!recent)
		return false;
	lt_admit(&verdict, &d->budget.sheet, recent, asked);
	return verdict.code == LT_ADMIT ||
	       (verdict.code == LT_OVER && verdict.rule == LT_RULE_WARN);
}

bool
lt_fits_hold(
    struct lt_daemon *d, const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	struct lt_hold asked;
	return lt_fits_asked(&asked, d, hold, hold->live_tasks, now_utc_s) &&
	       lt_fits(d, &asked);
}

bool
lt_fits_instead(struct lt_daemon *d, const struct lt_ledger_hold *from,
    const struct lt_ledger_hold *to, int64_t now_utc_s)
{
	struct lt_hold old;
	struct lt_recent *const recent = lt_fits_recent(d);
	const bool counts =
	    recent && lt_hold_counts(from) &&
	    lt_fits_asked(&old, d, from, from->live_tasks, now_utc_s);
	if (counts)
		lt_recent_remove(recent, &d->budget.sheet, &old);
	if (lt_fits_hold(d, to, now_utc_s))
		return true;
	if (counts)
		lt_recent_add(recent, &d->budget.sheet, &old);
	return false;
}
