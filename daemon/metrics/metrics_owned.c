/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the site's own nodes no run is charged, for metrics: the report's
 * figures, which want all runs of the month. They are read some at a time,
 * between passes, in at most a hundredth of lowtided's time.
 */
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "daemon.h"
#include "http.h"
#include "metrics.h"

enum {
	EVERY_MS = 10000, /* at least from one reading to the next */
	PART = 100,
	RUNS_AT_ONCE = 200,
};

/* One process serves once. */
static struct {
	struct lt_report_unused *unused; /* NULL: nothing is read now */
	struct lt_period month;
	struct lt_account_seen *accounts;
	uint32_t count, at; /* of them */
	bool is_amid;	    /* its runs, behind this one */
	struct lt_run last;
	bool last_late;
	int64_t due_ms;
} reading;

static void
drop(void)
{
	lt_report_unused_free(reading.unused);
	free(reading.accounts);
	reading.unused = NULL;
	reading.accounts = NULL;
	reading.count = reading.at = 0;
	reading.is_amid = false;
}

void
lt_metrics_owned_soon(void)
{
	drop();
	reading.due_ms = 0;
}

int64_t
lt_metrics_owned_due_ms(void)
{
	return reading.unused != NULL ? reading.due_ms : INT64_MAX;
}

static int
begin(const struct lt_daemon *d, int64_t now_utc_s)
{
	lt_calendar_period(
	    &reading.month, &d->site.offsets, LT_MONTH, now_utc_s, 0);
	const struct lt_span month = {
	    reading.month.start_utc_s, reading.month.end_utc_s};
	const int code = lt_report_unused_new(
	    &reading.unused, d->ledger, month, now_utc_s, NULL);

	/* Without such nodes there is nothing to read. */
	return code == LT_OK && lt_report_unused_count(reading.unused) > 0
		   ? lt_ledger_accounts(
			 d->ledger, &reading.accounts, &reading.count, NULL)
		   : code;
}

static int
take_run(void *context, const struct lt_run *run,
    const struct lt_booked *booked, struct lt_error *err)
{
	uint32_t *const taken = context;

	++*taken;
	reading.last = *run;
	reading.last_late = booked->is_late;
	return lt_report_unused_run(reading.unused, run, booked, err);
}

static int
read_some(struct lt_ledger *ledger)
{
	const struct lt_run last = reading.last;
	uint32_t taken = 0;
	int code = LT_OK;

	while (code == LT_OK && taken < RUNS_AT_ONCE &&
	       reading.at < reading.count) {
		const struct lt_runs_asked asked = {
		    .account = reading.accounts[reading.at].name,
		    .from_utc_s = reading.month.start_utc_s,
		    .to_utc_s = reading.month.end_utc_s,
		    .after = reading.is_amid ? &last : NULL,
		    .after_late = reading.is_amid && reading.last_late,
		    .most = RUNS_AT_ONCE - taken};

		code = lt_ledger_runs(ledger, &asked, take_run, &taken, NULL);
		reading.is_amid = taken == RUNS_AT_ONCE;
		reading.at += !reading.is_amid;
	}
	return code;
}

static void
take(struct lt_metrics_sums *sums)
{
	const uint32_t count = lt_report_unused_count(reading.unused);

	free(sums->owned);
	sums->owned = calloc((size_t)count + 1, sizeof(*sums->owned));
	sums->owned_count = sums->owned != NULL ? count : 0;
	for (uint32_t i = 0; i < sums->owned_count; i++)
		sums->owned[i] = lt_report_unused_row(reading.unused, i);
	memcpy(sums->owned_window, reading.month.label,
	    sizeof(sums->owned_window));
}

void
lt_metrics_owned_read(
    struct lt_metrics_sums *sums, const struct lt_daemon *d, int64_t now_utc_s)
{
	const int64_t began_ms = lt_monotonic_ms();
	int code = LT_OK;

	if (began_ms < reading.due_ms)
		return;
	if (reading.unused == NULL)
		code = begin(d, now_utc_s);
	if (code == LT_OK)
		code = read_some(d->ledger);
	const bool is_whole = reading.at == reading.count;
	if (code == LT_OK && is_whole)
		take(sums);
	if (code != LT_OK || is_whole)
		drop();
	const int64_t ended_ms = lt_monotonic_ms();
	reading.due_ms = ended_ms + PART * (ended_ms - began_ms) +
			 (reading.unused == NULL ? EVERY_MS : 0);
}
