/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alerts.h"
#include "compile_budget.h"
#include "daemon.h"
#include "http.h"
#include "publish.h"
#include "run_step.h"
#include "write_terms.h"

enum {
	SHEET_EVERY_S = 60, /* holds move on in time: by hours, by periods */
	RENEW_EVERY_S = 3,  /* what is five seconds old is the oldest */
	DIRTY_PART = 20,    /* of the time, for a snapshot of what changed */
	DIRTY_LONGEST_S = 3,
};

static int
write_terms(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	(void)now_utc_s;
	return lt_write_terms(d, err);
}

static void
publish_anew(struct lt_daemon *d, int64_t now_utc_s)
{
	const int64_t began_ms = lt_monotonic_ms();

	if (lt_run_step(d, LT_STEP_BUDGET, lt_compile_budget, now_utc_s)) {
		d->budget.dirty = false;
		d->next.snapshot = now_utc_s + SHEET_EVERY_S;
		d->next.renewal = now_utc_s + RENEW_EVERY_S;
		lt_run_step(d, LT_STEP_TERMS, write_terms, now_utc_s);
		lt_run_step(d, LT_STEP_ALERTS, lt_alerts_run, now_utc_s);
	}
	/* Very many holds are added up less often: job_submit itself counts
	 * what is newer in the ring. */
	const int64_t wait_s =
	    DIRTY_PART * (lt_monotonic_ms() - began_ms) / 1000;
	d->next.dirty =
	    now_utc_s + (wait_s < DIRTY_LONGEST_S ? wait_s : DIRTY_LONGEST_S);
}

/* The figures of the snapshot that is there are those of the ledger. */
static void
renew(struct lt_daemon *d, int64_t now_utc_s)
{
	if (now_utc_s < d->next.renewal)
		return;
	d->next.renewal = now_utc_s + RENEW_EVERY_S;
	lt_run_step(d, LT_STEP_BUDGET, lt_renew_budget, now_utc_s);
}

void
lt_publish(struct lt_daemon *d, int64_t now_utc_s)
{
	if ((d->budget.dirty && now_utc_s >= d->next.dirty) ||
	    now_utc_s >= d->next.snapshot)
		publish_anew(d, now_utc_s);
	else if (!d->budget.dirty)
		renew(d, now_utc_s);
}

void
lt_publish_amid(struct lt_daemon *d, enum lt_turn turn)
{
	static bool publishing; /* that gives turns, too */
	const int64_t now_utc_s = lt_pass_now(d);

	if (publishing || !d->budget.has_snapshot || !d->budget.snapshot.ready)
		return;
	publishing = true;
	if (turn != LT_TURN_READ)
		lt_publish(d, now_utc_s);
	else if (!d->budget.dirty || d->budget.is_as_ledger)
		renew(d, now_utc_s);
	publishing = false;
}
