/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the budget snapshot when it is due, and the terms with it. If nothing has changed only the
 * time of its figures is written anew.
 *
 * Reads the ledger and the state of the rooms below. What fails is logged
 * as its step's, and tried again by the next pass; the files before stay.
 */
#include "alerts.h"
#include "budget_forecast.h"
#include "compile_budget.h"
#include "daemon.h"
#include "http.h"
#include "publish.h"
#include "run_step.h"
#include "write_terms.h"

enum {
	/* Holds move on in time, by hours and periods; and job_modify goes by how old the list of
	 * jobs is. */
	SHEET_EVERY_S = 15,
	SHEET_PART = 100, /* of the time, where holds and jobs are very many */
	SHEET_LONGEST_S = 60,
	RENEW_EVERY_S = 3, /* what is five seconds old is the oldest */
	DIRTY_PART = 20,   /* of the time, for a snapshot of what changed */
	DIRTY_LONGEST_S = 3,
};

int
lt_publish_budget(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);

	return lt_compile_budget(&books, now_utc_s, err);
}

static int
renew_budget(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	return lt_renew_budget(&d->budget, &d->paths, now_utc_s, err);
}

static int
write_terms(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	(void)now_utc_s;
	return lt_write_terms(d->site.policy, d->ledger, &d->jobs, &d->budget, &d->paths, err);
}

static int
make_forecasts(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_alerter by = lt_daemon_alerter(d, now_utc_s);

	return lt_budget_forecasts(&by, err);
}

static int
find_alerts(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_alerter by = lt_daemon_alerter(d, now_utc_s);

	return lt_alerts_run(&by, err);
}

static int64_t
within(int64_t wait_s, int64_t least_s, int64_t most_s)
{
	if (wait_s < least_s)
		return least_s;
	return wait_s > most_s ? most_s : wait_s;
}

static void
publish_anew(struct lt_daemon *d, int64_t now_utc_s)
{
	const int64_t began_ms = lt_monotonic_ms();
	const bool done = lt_run_step(d, LT_STEP_BUDGET, lt_publish_budget, now_utc_s);

	if (done) {
		d->budget.dirty = false;
		d->next.renewal = now_utc_s + RENEW_EVERY_S;
		lt_run_step(d, LT_STEP_TERMS, write_terms, now_utc_s);
		if (now_utc_s >= d->alerts.next.forecasts)
			lt_run_step(d, LT_STEP_FORECASTS, make_forecasts, now_utc_s);
		lt_run_step(d, LT_STEP_ALERTS, find_alerts, now_utc_s);
	}
	/* Very many holds are added up less often: job_submit itself counts what is newer in the
	 * ring. */
	const int64_t took_ms = lt_monotonic_ms() - began_ms;
	if (done)
		d->next.snapshot =
		    now_utc_s + within(SHEET_PART * took_ms / 1000, SHEET_EVERY_S, SHEET_LONGEST_S);
	d->next.dirty = now_utc_s + within(DIRTY_PART * took_ms / 1000, 0, DIRTY_LONGEST_S);
}

/* The figures of the snapshot that is there are those of the ledger. */
static void
renew(struct lt_daemon *d, int64_t now_utc_s)
{
	if (now_utc_s < d->next.renewal)
		return;
	d->next.renewal = now_utc_s + RENEW_EVERY_S;
	lt_run_step(d, LT_STEP_BUDGET, renew_budget, now_utc_s);
}

void
lt_publish(struct lt_daemon *d, int64_t now_utc_s)
{
	if ((d->budget.dirty && now_utc_s >= d->next.dirty) || now_utc_s >= d->next.snapshot)
		publish_anew(d, now_utc_s);
	else if (!d->budget.dirty)
		renew(d, now_utc_s);
}

void
lt_publish_amid(struct lt_daemon *d, enum lt_turn turn)
{
	static bool publishing;	   /* that gives turns, too */
	static int64_t last_utc_s; /* long work changes it at each turn: once
				    * a second will do */
	const int64_t now_utc_s = lt_pass_now(&d->pass);

	if (!d->budget.has_snapshot || !d->budget.snapshot.ready)
		return;
	if (turn != LT_TURN_READ && !publishing && now_utc_s != last_utc_s) {
		publishing = true;
		lt_publish(d, now_utc_s);
		publishing = false;
		last_utc_s = now_utc_s;
	} else if (!d->budget.dirty || d->budget.is_as_ledger) {
		/* Also while the terms of what is published are written. */
		renew(d, now_utc_s);
	}
}
