/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a statement add up to it, to the micro: random runs over the ends
 * of periods, corrected, moved to other accounts, late for what is closed. The
 * sums are SQLite's own, of the entries. What is closed stays byte for byte.
 */
#include <jansson.h>
#include <sqlite3.h>
#include <time.h>

#include "api_ask.h"
#include "ledger_fixture.h"
#include "units.h"

enum {
	OCTOBER = NOVEMBER - 31 * LT_DAY_S,
	RUNS = 120,
	HOURS_MOST = 60,
	CLOSED_AT = NOVEMBER + 4 * LT_DAY_S,
};

static struct lt_account accounts[] = {
    {.name = "nlp"}, {.name = "root"}, {.name = "vision"}};
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

static char *
ask_text(struct world *w, const char *query, int want)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	char uri[256];

	assert_non_null(d);
	d->ledger = w->f->ledger;
	d->policy = &policy;
	d->offsets = w->offsets;
	d->budget.has_snapshot = true;
	d->budget.settled_until_utc_s = INT64_MAX / 2;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = ACCOUNTS;
	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	char *const text = api_ask_text(d, uri, want);
	free(d);
	return text;
}

static json_t *
ask(struct world *w, const char *query)
{
	char *const text = ask_text(w, query, 200);
	json_t *const json = json_loads(text, 0, NULL);

	assert_non_null(json);
	free(text);
	return json;
}

/* Settled with its amount shared out at random over its hours. */
static void
settle_run(struct world *w, struct lt_run *run)
{
	static struct lt_entry entries[HOURS_MOST + 2];
	uint32_t count = 0;
	bool changed;

	memset(entries, 0, sizeof(entries));
	for (int64_t at = run->start_utc_s; at < run->end_utc_s;
	     at += HOUR - at % HOUR)
		entries[count++].at_utc_s = at;
	for (int64_t left = run->money_micros; left != 0;) {
		const int64_t part =
		    left < 5 ? left : 1 + draw(w, (uint32_t)left);
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
		       &(struct lt_settlement){run, entries, count,
			   w->now_utc_s, w->closed_until_utc_s, false},
		       &changed, &w->f->err));
}

static void
new_run(struct world *w, uint32_t i)
{
	const int64_t start =
	    OCTOBER + (int64_t)draw(w, 45 * 24) * HOUR + draw(w, HOUR);
	const int64_t length =
	    1 + draw(w, draw(w, 4) == 0 ? HOURS_MOST * HOUR : 2 * HOUR);
	struct lt_run *const run = &w->runs[i];

	*run = make_run(i + 1, start, start + length, 1 + draw(w, 100000));
	strcpy(run->account, accounts[draw(w, ACCOUNTS)].name);
	strcpy(run->name, draw(w, 2) ? "train" : "eval");
	strcpy(run->state_text, draw(w, 4) ? "COMPLETED" : "FAILED");
	settle_run(w, run);
}

/* Another amount, length or account. */
static void
change_run(struct world *w, uint32_t i)
{
	struct lt_run *const run = &w->runs[i];

	if (run->key.job_id == 0)
		return;
	if (draw(w, 2) == 0)
		strcpy(run->account, accounts[draw(w, ACCOUNTS)].name);
	if (draw(w, 2) == 0)
		run->end_utc_s += draw(w, 5) * HOUR;
	if (run->end_utc_s - run->start_utc_s > HOURS_MOST * HOUR)
		run->end_utc_s = run->start_utc_s + HOURS_MOST * HOUR;
	run->money_micros = 1 + draw(w, 100000);
	run->parts = (struct lt_parts){draw(w, 1000), draw(w, 100)};
	settle_run(w, run);
}

static void
adjust(struct world *w)
{
	struct lt_entry entry = {.kind = LT_ENTRY_ADJUSTMENT,
	    .at_utc_s = w->now_utc_s - draw(w, 3 * LT_DAY_S),
	    .made_utc_s = w->now_utc_s,
	    .money_micros = (int64_t)draw(w, 1000) - 500,
	    .carbon_mg = 1,
	    .who = "root",
	    .reason = "credit"};

	strcpy(entry.account, accounts[draw(w, ACCOUNTS)].name);
	must(w->f, lt_ledger_adjust(w->f->ledger, &entry, &w->f->err));
}

static int64_t
sum_of(struct world *w, const char *what, const char *where)
{
	char path[128], sql[512];
	sqlite3_stmt *statement;
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/ledger.db", w->f->dir);
	snprintf(sql, sizeof(sql),
	    "SELECT coalesce(sum(%s), 0) FROM entries WHERE %s", what, where);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	const int64_t sum = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return sum;
}

static int64_t
added(const json_t *rows, const char *key)
{
	int64_t sum = 0;
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
		sum += json_integer_value(json_object_get(row, key));
	return sum;
}

static int64_t
total(const json_t *report, const char *key)
{
	return json_integer_value(
	    json_object_get(json_object_get(report, "total"), key));
}

/* What of the cost is for carbon and taken off, wherever it stands. */
static void
check_parts(struct world *w, const json_t *report, const char *where)
{
	static const char *const names[] = {
	    "carbon_charge_micros", "discount_micros"};
	const json_t *const runs = json_object_get(report, "runs");
	char corrected[600];
	const char *by;
	json_t *groups;

	snprintf(corrected, sizeof(corrected), "%s AND kind = 1", where);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const int64_t sum = sum_of(w, names[i], where);
		char correction[64];

		snprintf(
		    correction, sizeof(correction), "corrections_%s", names[i]);
		assert_int_equal(total(report, names[i]), sum);
		assert_int_equal(
		    added(json_object_get(report, "teams"), names[i]), sum);
		assert_int_equal(added(runs, names[i]), sum);
		assert_int_equal(
		    added(runs, correction), sum_of(w, names[i], corrected));
		json_object_foreach(json_object_get(report, "by"), by, groups)
			assert_int_equal(added(groups, names[i]), sum);
	}
	assert_int_equal(total(report, "nodes_micros") +
			     total(report, "carbon_charge_micros") -
			     total(report, "discount_micros") +
			     total(report, "adjustments_micros"),
	    total(report, "cost_micros"));
}

/* A month's groups have what its hours in the period were booked for. */
static void
check_months(struct world *w, const json_t *report, const char *where)
{
	static const struct {
		const char *month;
		int64_t from_utc_s, to_utc_s;
	} months[] = {{"2026-10", OCTOBER, NOVEMBER},
	    {"2026-11", NOVEMBER, DECEMBER}, {"2026-12", DECEMBER, JANUARY}};
	const json_t *const groups =
	    json_object_get(json_object_get(report, "by"), "month,team");
	const int64_t east =
	    w->offsets.count > 0 ? w->offsets.steps[0].offset_s : 0;

	for (size_t i = 0; i < sizeof(months) / sizeof(*months); i++) {
		int64_t sum = 0;
		char sql[400];
		size_t k;
		json_t *group;

		json_array_foreach(groups, k, group)
			if (strcmp(json_string_value(
				       json_object_get(group, "month")),
				months[i].month) == 0)
				sum += json_integer_value(
				    json_object_get(group, "cost_micros"));
		snprintf(sql, sizeof(sql),
		    "%s AND at_utc_s >= %lld AND at_utc_s < %lld", where,
		    (long long)(months[i].from_utc_s - east),
		    (long long)(months[i].to_utc_s - east));
		assert_int_equal(sum, sum_of(w, "money_micros", sql));
	}
}

/* Each way of asking, of one period and all or one account. */
static void
check(struct world *w, const char *period, const char *where, const char *team)
{
	static const char *const groupings[] = {"day", "team", "partition",
	    "name,state", "day,team", "month", "month,team"};
	char query[256], all[512];
	const char *const more = team[0] ? team : "";

	snprintf(all, sizeof(all), "%s%s%s%s", where,
	    team[0] ? " AND account = '" : "", team, team[0] ? "'" : "");
	snprintf(query, sizeof(query),
	    "%s%s%s&runs=all&by=day;team;partition;name,state;day,team;month;month,team",
	    period, team[0] ? "&team=" : "", more);
	json_t *const report = ask(w, query);
	const int64_t cost = sum_of(w, "money_micros", all);
	const int64_t carbon = sum_of(w, "carbon_mg", all);
	const json_t *const runs = json_object_get(report, "runs");
	const json_t *const adjustments =
	    json_object_get(report, "adjustments");

	assert_int_equal(total(report, "cost_micros"), cost);
	assert_int_equal(total(report, "carbon_mg"), carbon);
	assert_int_equal(
	    added(json_object_get(report, "teams"), "cost_micros"), cost);
	if (added(runs, "money_micros") + added(adjustments, "money_micros") !=
	    cost)
		fail_msg("%s: rows %lld + %lld, statement %lld", query,
		    (long long)added(runs, "money_micros"),
		    (long long)added(adjustments, "money_micros"),
		    (long long)cost);
	assert_int_equal(
	    added(runs, "carbon_mg") + added(adjustments, "carbon_mg"), carbon);
	assert_int_equal(added(runs, "corrections_micros"),
	    total(report, "corrections_micros"));
	for (size_t i = 0; i < sizeof(groupings) / sizeof(*groupings); i++) {
		const json_t *const groups = json_object_get(
		    json_object_get(report, "by"), groupings[i]);

		if (added(groups, "cost_micros") != cost ||
		    added(groups, "carbon_mg") != carbon)
			fail_msg("%s by %s: %lld, want %lld", query,
			    groupings[i],
			    (long long)added(groups, "cost_micros"),
			    (long long)cost);
	}
	check_parts(w, report, all);
	check_months(w, report, all);
	json_decref(report);
}

/* The pages have the rows of the one answer. */
static void
check_pages(struct world *w, const char *period, const char *where)
{
	char query[256], next[128] = "";
	int64_t sum = 0;
	int pages = 0;

	do {
		snprintf(
		    query, sizeof(query), "%s&limit=7&after=%s", period, next);
		json_t *const page = ask(w, query);
		const char *const place =
		    json_string_value(json_object_get(page, "next"));

		sum += added(json_object_get(page, "runs"), "money_micros");
		snprintf(next, sizeof(next), "%s", place != NULL ? place : "");
		json_decref(page);
		assert_true(pages++ < RUNS);
	} while (next[0] != '\0');
	snprintf(query, sizeof(query), "%s AND kind != 2", where);
	assert_int_equal(sum, sum_of(w, "money_micros", query));
}

static void
check_all(struct world *w)
{
	static const struct {
		const char *query;
		int64_t from_utc_s, to_utc_s;
	} periods[] = {
	    {"period=2026-10", OCTOBER, NOVEMBER},
	    {"period=2026-11", NOVEMBER, DECEMBER},
	    {"period=2026-Q4", OCTOBER, JANUARY},
	    {"period=2026-09", OCTOBER - 30 * LT_DAY_S, OCTOBER},
	    {"from=2026-10-20&to=2026-11-02", OCTOBER + 19 * LT_DAY_S,
		NOVEMBER + 2 * LT_DAY_S},
	    {"from=2026-10-31T20:00Z&to=2026-11-01T03:00Z", NOVEMBER - 4 * HOUR,
		NOVEMBER + 3 * HOUR},
	};
	const int64_t east =
	    w->offsets.count > 0 ? w->offsets.steps[0].offset_s : 0;

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		const bool is_instant = strchr(periods[i].query, 'T') != NULL;
		const int64_t by = is_instant ? 0 : east;
		char where[128];

		snprintf(where, sizeof(where),
		    "at_utc_s >= %lld AND at_utc_s < %lld",
		    (long long)(periods[i].from_utc_s - by),
		    (long long)(periods[i].to_utc_s - by));
		check(w, periods[i].query, where, "");
		check_pages(w, periods[i].query, where);
		for (int a = 0; a < ACCOUNTS; a++)
			check(w, periods[i].query, where, accounts[a].name);
	}
}

/* Told by slurmctld, and not by slurmdbd yet: ended, or NULL. */
static void
close_october(struct world *w, struct lt_ended *ended, int want)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	static const char body[] = "{\"period\":\"2026-10\"}";
	char *text = NULL;

	assert_non_null(d);
	d->ledger = w->f->ledger;
	d->policy = &policy;
	d->offsets = w->offsets;
	d->tables.conf.slurm_uid = 0;
	d->budget.has_snapshot = true;
	d->budget.settled_until_utc_s = INT64_MAX / 2;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = ACCOUNTS;
	d->jobs.ended = ended;
	d->jobs.ended_count = ended != NULL;
	const int status = lt_api(d,
	    &(struct lt_api_asked){.method = "POST",
		.uri = "/v1/close",
		.body = body,
		.body_length = strlen(body)},
	    &text);
	if (status != want)
		fail_msg("close: %d %s", status, text);
	free(text);
	free(d);
}

static void
test_sums(void **state)
{
	static const int64_t east_s[] = {0, 5 * HOUR + HOUR / 2, -8 * HOUR};
	struct fixture *const f = *state;

	for (uint32_t i = 0; i < 3; i++) {
		struct world w = {.f = f,
		    .random = 42 + i,
		    .now_utc_s = NOVEMBER + 20 * LT_DAY_S};

		empty(f);
		if (east_s[i] != 0)
			w.offsets = (struct lt_offsets){.count = 1,
			    .steps = {{INT64_MIN, (int32_t)east_s[i], "X"}}};
		for (uint32_t r = 0; r < RUNS; r++)
			new_run(&w, r);
		check_all(&w);
		for (int c = 0; c < RUNS / 4; c++)
			change_run(&w, draw(&w, RUNS));
		for (int c = 0; c < 9; c++)
			adjust(&w);
		check_all(&w);
		w.closed_until_utc_s = NOVEMBER - east_s[i];
		for (int c = 0; c < RUNS / 4; c++)
			change_run(&w, draw(&w, RUNS));
		check_all(&w);
	}
}

/* slurmdbd says more of it, beside its charge. */
static void
describe_run(struct world *w, uint32_t i)
{
	struct lt_run *const run = &w->runs[i];

	if (run->key.job_id == 0)
		return;
	strcpy(run->name, "renamed");
	run->exit_code = 256;
	run->used = (struct lt_run_used){.has_cpu = true, .cpu_ms = 1 + i};
	must(w->f, lt_ledger_describe_run(w->f->ledger,
		       &(struct lt_settlement){.run = run,
			   .now_utc_s = w->now_utc_s,
			   .open_since_utc_s = w->closed_until_utc_s},
		       &w->f->err));
}

static void
check_same(const char *before, const char *after, int64_t by)
{
	size_t same = 0;

	while (before[same] != '\0' && before[same] == after[same])
		same++;
	if (before[same] != after[same])
		fail_msg("closed, and now by %lld s \"%.200s\", was \"%.200s\"",
		    (long long)by, after + (same < 99 ? 0 : same - 99),
		    before + (same < 99 ? 0 : same - 99));
}

/* What comes for a closed month is a correction of the open one, and says so;
 * the closed one's answers stay, whatever the clock says: in the second of its
 * closing, later, and set back. */
static void
test_closed(void **state)
{
	struct world w = {.f = *state, .random = 7, .now_utc_s = CLOSED_AT};
	static const char query[] =
	    "period=2026-10&runs=all&by=day;team;name,state&top=5";
	static const int clocks_s[] = {0, 10, -HOUR, 20};
	enum { CLOCKS = sizeof(clocks_s) / sizeof(*clocks_s) };

	for (uint32_t r = 0; r < RUNS / 2; r++)
		new_run(&w, r);
	w.closed_until_utc_s = NOVEMBER;
	const int64_t october = sum_of(&w, "money_micros",
	    "at_utc_s < 1793491200"); /* its end, NOVEMBER */
	const int64_t closed_utc_s = time(NULL);
	close_october(&w, NULL, 200);
	char *const before = ask_text(&w, query, 200);
	assert_non_null(strstr(before, "\"state\":\"closed\""));
	/* Whoever reads runs as lines takes what is before them for a head. */
	assert_memory_equal(strchr(before, '\n') - 8, "\"runs\":[", 8);
	for (uint32_t c = 0; c < CLOCKS; c++) {
		w.now_utc_s = closed_utc_s + clocks_s[c];
		for (uint32_t r = 0; r < RUNS / 2 / CLOCKS; r++)
			new_run(&w, RUNS / 2 + c * (RUNS / 2 / CLOCKS) + r);
		for (int n = 0; n < RUNS / 2 / CLOCKS; n++) {
			change_run(&w, draw(&w, RUNS));
			describe_run(&w, draw(&w, RUNS));
		}
		char *const after = ask_text(&w, query, 200);
		check_same(before, after, clocks_s[c]);
		free(after);
	}
	assert_int_equal(
	    sum_of(&w, "money_micros", "at_utc_s < 1793491200"), october);
	assert_int_equal(sum_of(&w, "kind = 1 AND for_utc_s < 1793491200",
			     "at_utc_s >= 1793491200") > 0,
	    1);
	free(before);
	json_t *const open = ask(&w, "period=2026-11&runs=all");
	size_t i, named = 0;
	json_t *run;
	json_array_foreach(json_object_get(open, "runs"), i, run) {
		const char *const corrects =
		    json_string_value(json_object_get(run, "corrects"));

		named += corrects != NULL && strcmp(corrects, "2026-10") == 0;
	}
	assert_true(named > 10);
	json_decref(open);
}

/* At a busy site some run always waits for its row. One that has no part in the
 * month does not keep it open. */
static void
test_waiting(void **state)
{
	struct world w = {.f = *state, .now_utc_s = CLOSED_AT};
	struct lt_ended ended = {.run = {.job_id = 7,
				     .submit_utc_s = OCTOBER,
				     .start_utc_s = NOVEMBER - 1,
				     .end_utc_s = NOVEMBER + HOUR}};

	close_october(&w, &ended, 409);
	ended.run.start_utc_s = NOVEMBER;
	close_october(&w, &ended, 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_waiting, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
