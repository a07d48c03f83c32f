/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what metrics need from the ledger and from files, between passes: sums of accounts, and the
 * hours of the site's own nodes that no run is charged, for which all runs of the month are read.
 * Each reading goes some accounts or runs a turn and takes at most a hundredth of lowtided's time.
 * A scrape gets the figures of the last whole reading. Where the ledger fails a reading is dropped
 * and begun again later; the next pass logs the failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "accounts.h"
#include "daemon.h"
#include "http.h"
#include "metrics.h"
#include "min_max.h"
#include "spool.h"
#include "units.h"

enum {
	EVERY_MS = 10000, /* at least from one reading to the next */
	PART = 100,	  /* of lowtided's time a reading takes one in so many */
	TURN_MS = 3,	  /* of work on accounts */
	RUNS_AT_ONCE = 200,
};

/* ---- the site's own nodes: what of them no run is charged ---- */

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
} owned;

static void
drop_owned(void)
{
	lt_report_unused_free(owned.unused);
	free(owned.accounts);
	owned.unused = NULL;
	owned.accounts = NULL;
	owned.count = owned.at = 0;
	owned.is_amid = false;
}

static void
forget_owned(void)
{
	drop_owned();
	owned.due_ms = 0;
}

/* INT64_MAX: no reading is begun. */
static int64_t
owned_due_ms(void)
{
	return owned.unused != NULL ? owned.due_ms : INT64_MAX;
}

static int
begin_owned(const struct lt_daemon *d, int64_t now_utc_s)
{
	lt_calendar_period(&owned.month, &d->site.offsets, LT_MONTH, now_utc_s, 0);
	const struct lt_span month = {owned.month.start_utc_s, owned.month.end_utc_s};
	const int code = lt_report_unused_new(&owned.unused, d->ledger, month, now_utc_s, NULL);

	/* Without such nodes there is nothing to read. */
	return code == LT_OK && lt_report_unused_count(owned.unused) > 0
		   ? lt_ledger_accounts(d->ledger, &owned.accounts, &owned.count, NULL)
		   : code;
}

static int
take_owned_run(
    void *context, const struct lt_run *run, const struct lt_booked *booked, struct lt_error *err)
{
	uint32_t *const taken = context;

	++*taken;
	owned.last = *run;
	owned.last_late = booked->is_late;
	return lt_report_unused_run(owned.unused, run, booked, err);
}

static int
read_owned_runs(struct lt_ledger *ledger)
{
	const struct lt_run last = owned.last;
	uint32_t taken = 0;
	int code = LT_OK;

	while (code == LT_OK && taken < RUNS_AT_ONCE && owned.at < owned.count) {
		const struct lt_runs_asked asked = {.account = owned.accounts[owned.at].name,
		    .from_utc_s = owned.month.start_utc_s,
		    .to_utc_s = owned.month.end_utc_s,
		    .after = owned.is_amid ? &last : NULL,
		    .after_late = owned.is_amid && owned.last_late,
		    .most = RUNS_AT_ONCE - taken};

		code = lt_ledger_runs(ledger, &asked, take_owned_run, &taken, NULL);
		owned.is_amid = taken == RUNS_AT_ONCE;
		owned.at += !owned.is_amid;
	}
	return code;
}

static void
take_owned(struct lt_metrics_sums *sums)
{
	const uint32_t count = lt_report_unused_count(owned.unused);

	free(sums->owned);
	sums->owned = calloc((size_t)count + 1, sizeof(*sums->owned));
	sums->owned_count = sums->owned != NULL ? count : 0;
	for (uint32_t i = 0; i < sums->owned_count; i++)
		sums->owned[i] = lt_report_unused_row(owned.unused, i);
	memcpy(sums->owned_window, owned.month.label, sizeof(sums->owned_window));
}

static void
read_owned(struct lt_metrics_sums *sums, const struct lt_daemon *d, int64_t now_utc_s)
{
	const int64_t began_ms = lt_monotonic_ms();
	int code = LT_OK;

	if (began_ms < owned.due_ms)
		return;
	if (owned.unused == NULL)
		code = begin_owned(d, now_utc_s);
	if (code == LT_OK)
		code = read_owned_runs(d->ledger);
	const bool is_whole = owned.at == owned.count;
	if (code == LT_OK && is_whole)
		take_owned(sums);
	if (code != LT_OK || is_whole)
		drop_owned();
	const int64_t ended_ms = lt_monotonic_ms();
	owned.due_ms =
	    ended_ms + PART * (ended_ms - began_ms) + (owned.unused == NULL ? EVERY_MS : 0);
}

/* ---- sums of accounts, and what is small ---- */

/* One process serves once; the accounts of the next sums, while they are
 * read. */
static struct {
	struct lt_metrics_account *next;
	uint32_t count, done;
	struct lt_period month;
	int64_t due_ms;
} under_way;

static void
drop_next(void)
{
	free(under_way.next);
	under_way.next = NULL;
	under_way.count = under_way.done = 0;
}

void
lt_metrics_soon(void)
{
	drop_next();
	under_way.due_ms = 0;
	forget_owned();
}

int
lt_metrics_sums_wait_ms(int64_t now_ms, int most_ms)
{
	const int64_t owned_ms = owned_due_ms();
	const int64_t sums_ms = under_way.next != NULL ? under_way.due_ms : INT64_MAX;
	const int64_t due_ms = lt_min_i64(owned_ms, sums_ms);

	if (due_ms <= now_ms)
		return 0;
	return due_ms - now_ms < most_ms ? (int)(due_ms - now_ms) : most_ms;
}

void
lt_metrics_forget(struct lt_metrics_sums *sums)
{
	lt_metrics_soon();
	free(sums->accounts);
	free(sums->places);
	free(sums->owned);
	*sums = (struct lt_metrics_sums){0};
}

static int64_t
size_of(const struct lt_ledger *ledger, const char *name)
{
	char path[LT_PATH_SIZE];
	struct stat status;

	if (snprintf(path, sizeof(path), "%s/%s", lt_ledger_state(ledger), name) >=
		(int)sizeof(path) ||
	    stat(path, &status) != 0)
		return 0;
	return status.st_size;
}

static void
read_files(struct lt_metrics_sums *sums, const struct lt_daemon *d)
{
	struct lt_spool_state state = {0};

	sums->ledger_bytes = size_of(d->ledger, "ledger.db");
	sums->signals_bytes = size_of(d->ledger, "signals.db");
	if (!lt_ledger_get_number(d->ledger, LT_JOURNAL_REFUSED, 0, &sums->refused_adjustments))
		sums->refused_adjustments = 0;
	sums->has_spool = d->site.policy->notify.is_set;
	if (!sums->has_spool)
		return;
	sums->spool_fails = lt_spool_look(&state, d->site.policy->notify.spool, NULL) != LT_OK;
	sums->spool_count = state.count;
	sums->spool_oldest_utc_s = state.count > 0 ? state.oldest_utc_s : 0;
}

static void
read_places(struct lt_metrics_sums *sums, const struct lt_daemon *d, int64_t now_utc_s)
{
	const struct lt_there_now now = {
	    d->site.policy, &d->site.tables, &d->jobs.list, d->site.policy_loaded_utc_s, now_utc_s};

	free(sums->places);
	sums->place_count = 0;
	sums->places = calloc((size_t)d->site.policy->partition_count + 1, sizeof(*sums->places));
	for (int i = 0; sums->places != NULL && i < d->site.policy->partition_count; i++) {
		const struct lt_policy_partition *const p = &d->site.policy->partitions[i];
		uint32_t at = 0;

		while (at < d->site.tables.partition_count &&
		       strcmp(d->site.tables.partitions[at].name, p->name) != 0)
			at++;
		if (!p->preemptible || at == d->site.tables.partition_count)
			continue;
		struct lt_metrics_place *const place = &sums->places[sums->place_count++];
		memcpy(place->name, p->name, sizeof(place->name));
		place->nodes_there = lt_there_count(&now, at, p->restart_s);
	}
}

/* All accounts that were ever charged, of the month that is now. */
static void
begin_accounts(const struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_account_seen *seen = NULL;
	uint32_t count = 0;

	lt_calendar_period(&under_way.month, &d->site.offsets, LT_MONTH, now_utc_s, 0);
	if (lt_ledger_accounts(d->ledger, &seen, &count, NULL) == LT_OK)
		under_way.next = calloc((size_t)count + 1, sizeof(*under_way.next));
	for (uint32_t i = 0; under_way.next != NULL && i < count; i++)
		if (seen[i].charged)
			memcpy(under_way.next[under_way.count++].name, seen[i].name,
			    sizeof(seen[i].name));
	free(seen);
}

/* Reads as many of the remaining accounts as a turn may take. False: not all yet, or the ledger
 * failed, which the next pass logs. */
static bool
read_accounts(struct lt_ledger *ledger, int64_t began_ms)
{
	while (under_way.done < under_way.count) {
		struct lt_metrics_account *const a = &under_way.next[under_way.done];
		const struct lt_runs_asked asked = {.account = a->name,
		    .from_utc_s = under_way.month.start_utc_s,
		    .to_utc_s = under_way.month.end_utc_s};

		if (lt_monotonic_ms() - began_ms >= TURN_MS)
			return false;
		if (lt_report_line_fill(&a->line, ledger, &asked, NULL) != LT_OK) {
			drop_next();
			return false;
		}
		under_way.done++;
	}
	return true;
}

static void
take_accounts(struct lt_metrics_sums *sums)
{
	free(sums->accounts);
	sums->accounts = under_way.next;
	sums->account_count = under_way.count;
	sums->has_accounts = true;
	memcpy(sums->window, under_way.month.label, sizeof(sums->window));
	under_way.next = NULL;
	under_way.count = under_way.done = 0;
}

/* Reads all that is small, then begins the accounts. */
static void
begin_sums(
    struct lt_metrics_sums *sums, const struct lt_daemon *d, bool has_money, int64_t now_utc_s)
{
	read_files(sums, d);
	if (!has_money)
		return;
	const int count = lt_ledger_over(
	    d->ledger, now_utc_s - 30 * LT_DAY_S, sums->over, LT_METRICS_OVER_MAX, NULL);

	sums->over_count = count > 0 ? count : 0;
	read_places(sums, d, now_utc_s);
	begin_accounts(d, now_utc_s);
}

void
lt_metrics_read(
    struct lt_metrics_sums *sums, struct lt_daemon *d, bool has_money, int64_t now_utc_s)
{
	const int64_t began_ms = lt_monotonic_ms();

	if (d->ledger == NULL)
		return;
	if (has_money)
		read_owned(sums, d, now_utc_s);
	if (began_ms < under_way.due_ms)
		return;
	if (under_way.next == NULL)
		begin_sums(sums, d, has_money, now_utc_s);
	if (under_way.next != NULL && read_accounts(d->ledger, began_ms))
		take_accounts(sums);
	const int64_t ended_ms = lt_monotonic_ms();
	under_way.due_ms =
	    ended_ms + PART * (ended_ms - began_ms) + (under_way.next == NULL ? EVERY_MS : 0);
}
