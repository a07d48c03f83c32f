/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger of random runs about the end of a month, which are settled, changed and asked for by
 * lowtided's own API.
 */
#ifndef LT_REPORT_WORLD_H
#define LT_REPORT_WORLD_H

#include <jansson.h>
#include <sqlite3.h>

#include "api_ask.h"
#include "ledger_fixture.h"
#include "units.h"

enum {
	OCTOBER = NOVEMBER - 31 * LT_DAY_S,
	RUNS = 120,
	HOURS_MOST = 60,
	CLOSED_AT = NOVEMBER + 4 * LT_DAY_S,
};

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "root"}, {.name = "vision"}};
enum { ACCOUNTS = sizeof(accounts) / sizeof(accounts[0]) };

struct world {
	struct fixture *f;
	uint64_t random;
	struct lt_run runs[RUNS];
	struct lt_offsets offsets;
	int64_t now_utc_s, closed_until_utc_s;
};

static uint32_t
draw(struct world *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % below;
}

/* free() it. */
static inline struct lt_daemon *
daemon_of(struct world *w, struct lt_policy *policy)
{
	struct lt_daemon *const d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->ledger = w->f->ledger;
	d->site.policy = policy;
	d->site.offsets = w->offsets;
	d->budget.has_snapshot = true;
	d->charges.settled_until_utc_s = INT64_MAX / 2;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = ACCOUNTS;
	return d;
}

static inline char *
ask_text(struct world *w, const char *query, int want)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = daemon_of(w, &policy);
	char uri[256];

	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	char *const text = api_ask_text(d, uri, want);
	free(d);
	return text;
}

static inline json_t *
ask(struct world *w, const char *query)
{
	char *const text = ask_text(w, query, 200);
	json_t *const json = json_loads(text, 0, NULL);

	assert_non_null(json);
	free(text);
	return json;
}

/* Settled with its amount shared out at random over its hours. */
static inline void
settle_run(struct world *w, struct lt_run *run)
{
	static struct lt_entry entries[HOURS_MOST + 2];
	uint32_t count = 0;
	bool changed;

	memset(entries, 0, sizeof(entries));
	for (int64_t at = run->start_utc_s; at < run->end_utc_s; at += HOUR - at % HOUR)
		entries[count++].at_utc_s = at;
	for (int64_t left = run->money_micros; left != 0;) {
		const int64_t part = left < 5 ? left : 1 + draw(w, (uint32_t)left);
		struct lt_entry *const to = &entries[draw(w, count)];

		to->money_micros += part;
		left -= part;
	}
	entries[0].carbon_mg = run->carbon_mg;
	entries[0].energy_wh = run->energy_wh;
	entries[0].baseline_money_micros = run->baseline_money_micros;
	entries[0].baseline_carbon_mg = run->baseline_carbon_mg;
	entries[0].saved_by = run->saved_by;
	entries[0].parts = run->parts;
	must(w->f, lt_ledger_settle(w->f->ledger,
		       &(struct lt_settlement){run, entries, count, w->now_utc_s,
			   w->now_utc_s - w->now_utc_s % HOUR, w->closed_until_utc_s, false},
		       &changed, &w->f->err));
}

static inline void
new_run(struct world *w, uint32_t i)
{
	const int64_t start = OCTOBER + (int64_t)draw(w, 45 * 24) * HOUR + draw(w, HOUR);
	const int64_t length = 1 + draw(w, draw(w, 4) == 0 ? HOURS_MOST * HOUR : 2 * HOUR);
	struct lt_run *const run = &w->runs[i];

	*run = make_run(i + 1, start, start + length, 1 + draw(w, 100000));
	strcpy(run->account, accounts[draw(w, ACCOUNTS)].name);
	strcpy(run->name, draw(w, 2) ? "train" : "eval");
	strcpy(run->state_text, draw(w, 4) ? "COMPLETED" : "FAILED");
	settle_run(w, run);
}

static inline int64_t
sum_of(struct world *w, const char *what, const char *where)
{
	char path[128], sql[512];
	sqlite3_stmt *statement;
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/ledger.db", w->f->dir);
	snprintf(
	    sql, sizeof(sql), "SELECT coalesce(sum(%s), 0) FROM entries WHERE %s", what, where);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	const int64_t sum = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return sum;
}

/* Told by slurmctld, and not by slurmdbd yet: ended, or NULL. */
static inline void
close_october(struct world *w, struct lt_ended *ended, int want)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = daemon_of(w, &policy);
	static const char body[] = "{\"period\":\"2026-10\"}";
	char *text = NULL;

	d->site.tables.conf.slurm_uid = 0;
	d->jobs.ended = ended;
	d->jobs.ended_count = ended != NULL;
	const int status = lt_api(d,
	    &(struct lt_api_asked){
		.method = "POST", .uri = "/v1/close", .body = body, .body_length = strlen(body)},
	    &text);
	if (status != want)
		fail_msg("close: %d %s", status, text);
	free(text);
	free(d);
}

#endif
