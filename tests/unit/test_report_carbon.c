/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy and carbon for an auditor: charges as lowtided makes them, reported by rows and by hours.
 * The sums are SQLite's own, of the entries; each hour is computed again by SQLite from kWh and the
 * rates that are stored.
 */
#include <math.h>
#include <sqlite3.h>

#include "carbon_fixture.h"

enum { RUNS = 60, HALF_HOURS = 2 * 24 * 40 };

/*
 * By hand: a node of 1000 W for two hours at PUE 1.25 is 1250 Wh each; at 200 and 300 g/kWh 250 and
 * 375 g; embodied 40 g an hour; by a contract of 12 g/kWh 15 g an hour.
 */
static void
by_hand(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_rate_step grid[] = {
	    {NOVEMBER, NOVEMBER + HOUR, 200, LT_QUALITY_MEASURED, "grid", 0},
	    {NOVEMBER + HOUR, NOVEMBER + 9 * HOUR, 300, LT_QUALITY_FORECAST, "grid", 0}};
	const struct lt_batch_run row = make_row(1, 1, 0, 2 * HOUR);

	must(w->f, lt_ledger_put_rates(w->f->ledger, "onprem", LT_RATE_CARBON,
		       &(struct lt_rates){2, grid}, &w->f->err));
	put(w, 1, LT_RATE_PUE, NOVEMBER, 1.25, "");
	put(w, 1, LT_RATE_EMBODIED, NOVEMBER, 40, "");
	put(w, 1, LT_RATE_MARKET_BASED, NOVEMBER, 12, "REC, \"X\"");
	settle_row(w, &row, NOVEMBER + LT_DAY_S);
	json_t *const report = ask(w, "period=2026-11&carbon=1", 200);
	const json_t *const carbon = carbon_of(report);
	const json_t *const rows = json_object_get(carbon, "rows");
	const json_t *const r = json_array_get(rows, 0);

	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(text_of(carbon, "method"), "lowtide-1");
	assert_string_equal(text_of(carbon, "boundary"), "facility");
	assert_string_equal(text_of(carbon, "intensity"), "average");
	assert_true(is_null(carbon, "gwp"));
	assert_string_equal(text_of(r, "zone"), "region 13");
	assert_string_equal(text_of(r, "source"), "grid");
	assert_string_equal(text_of(r, "month"), "2026-11");
	assert_string_equal(text_of(r, "market_source"), "REC, \"X\"");
	assert_int_equal(figure(r, "energy_wh"), 2500);
	assert_int_equal(figure(r, "location_mg"), 625000);
	assert_int_equal(figure(r, "embodied_mg"), 80000);
	assert_int_equal(figure(r, "market_mg"), 30000);
	assert_int_equal(figure(r, "estimated_ppm"), 500000);
	assert_int_equal(figure(r, "hours"), 2);
	assert_true(json_number_value(json_object_get(r, "pue")) == 1.25);
	assert_string_equal(text_of(r, "first"), "2026-11-01T00:00:00Z");
	assert_string_equal(text_of(r, "last"), "2026-11-01T01:00:00Z");
	assert_int_equal(figure(json_object_get(report, "total"), "carbon_mg"), 705000);
	json_decref(report);
	free_world(w);
}

/* Of hours before it was recorded nothing is claimed; and 0 g/kWh is said. */
static void
not_stored_is_null(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_batch_run before = make_row(1, 1, 0, HOUR);
	const struct lt_batch_run after = make_row(2, 1, 10 * HOUR, HOUR);
	const struct lt_batch_run none = make_row(3, 0, 0, HOUR);

	put(w, 1, LT_RATE_CARBON, NOVEMBER - HOUR, 100, "");
	put(w, 1, LT_RATE_PUE, NOVEMBER + 5 * HOUR, 1.25, "");
	put(w, 1, LT_RATE_EMBODIED, NOVEMBER + 5 * HOUR, 40, "");
	put(w, 1, LT_RATE_MARKET_BASED, NOVEMBER + 5 * HOUR, 0, "PPA");
	settle_row(w, &before, NOVEMBER + LT_DAY_S);
	settle_row(w, &after, NOVEMBER + LT_DAY_S);
	settle_row(w, &none, NOVEMBER + LT_DAY_S);
	json_t *const report = ask(w, "period=2026-11&carbon=1", 200);
	const json_t *const rows = json_object_get(carbon_of(report), "rows");
	const json_t *const total = json_object_get(carbon_of(report), "total");
	const json_t *const old = json_array_get(rows, 1);
	const json_t *const new = json_array_get(rows, 2);
	const json_t *const cloud = json_array_get(rows, 0);

	assert_int_equal(json_array_size(rows), 3);
	/* No intensity is known there: no carbon, which is not 0. */
	assert_string_equal(text_of(cloud, "partition"), "cloud");
	assert_int_equal(figure(cloud, "energy_wh"), 1250);
	assert_true(is_null(cloud, "location_mg"));
	assert_true(is_null(cloud, "zone") && is_null(cloud, "source"));
	assert_int_equal(figure(cloud, "estimated_ppm"), 1000000);
	/* Its embodied carbon is in the other figure, as nobody can tell. */
	assert_int_equal(figure(old, "location_mg"), 125000 + 40000);
	assert_true(is_null(old, "embodied_mg") && is_null(old, "pue"));
	assert_true(is_null(old, "market_mg"));
	assert_int_equal(figure(new, "location_mg"), 125000);
	assert_int_equal(figure(new, "embodied_mg"), 40000);
	assert_int_equal(figure(new, "market_mg"), 0);
	assert_string_equal(text_of(new, "market_source"), "PPA");
	assert_true(is_null(carbon_of(report), "boundary"));
	assert_true(is_null(total, "market_mg") && is_null(total, "pue"));
	assert_int_equal(figure(total, "location_mg"), 290000);
	json_decref(report);
	free_world(w);
}

/* ---- random worlds ---- */

static uint32_t
draw(struct world *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % below;
}

static void
put_signals(struct world *w)
{
	static struct lt_rate_step grid[HALF_HOURS];

	for (int i = 0; i < HALF_HOURS; i++) {
		const int64_t start = NOVEMBER - 5 * LT_DAY_S + (int64_t)i * HOUR / 2;

		grid[i] = (struct lt_rate_step){.start_utc_s = start,
		    .end_utc_s = start + HOUR / 2,
		    .value = 20 + draw(w, 60000) / 100.0,
		    .quality = draw(w, 3) ? LT_QUALITY_MEASURED : LT_QUALITY_ESTIMATED,
		    .source = "grid"};
	}
	must(w->f, lt_ledger_put_rates(w->f->ledger, "onprem", LT_RATE_CARBON,
		       &(struct lt_rates){HALF_HOURS, grid}, &w->f->err));
	put(w, 0, LT_RATE_CARBON, NOVEMBER - 5 * LT_DAY_S, 411.5, "");
	put(w, 0, LT_RATE_PUE, NOVEMBER - 5 * LT_DAY_S, 1.25, "");
	put(w, 1, LT_RATE_PUE, NOVEMBER - 5 * LT_DAY_S, 1.25, "");
	put(w, 1, LT_RATE_PUE, NOVEMBER + 9 * LT_DAY_S, 1.07, "");
	put(w, 0, LT_RATE_EMBODIED, NOVEMBER - 5 * LT_DAY_S, 0, "");
	put(w, 1, LT_RATE_EMBODIED, NOVEMBER - 5 * LT_DAY_S, 40, "");
	put(w, 1, LT_RATE_MARKET_BASED, NOVEMBER + 7 * LT_DAY_S, 12.5, "REC");
	put(w, 1, LT_RATE_MARKET_BASED, NOVEMBER + 15 * LT_DAY_S, LT_RATE_ENDED, "");
}

static struct lt_batch_run
random_row(struct world *w, uint32_t job_id)
{
	struct lt_batch_run row =
	    make_row(job_id, (int)draw(w, 2), (int64_t)draw(w, 28 * LT_DAY_S) - 3 * LT_DAY_S,
		1 + draw(w, draw(w, 3) == 0 ? 40 * HOUR : 2 * HOUR));

	row.cpus = 1 + draw(w, 64);
	row.gpus = draw(w, 9);
	row.nodes = 1 + draw(w, 3);
	row.gpus *= row.nodes;
	row.cpus *= row.nodes;
	if (draw(w, 2))
		strcpy(row.account, "nlp");
	return row;
}

static sqlite3 *
open_ledger(struct world *w)
{
	char sql[192], path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/ledger.db", w->f->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(sql, sizeof(sql), "ATTACH '%s/signals.db' AS s", w->f->dir);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static double
scalar(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	const double value = sqlite3_column_double(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

/* Over all hours that are told: sums of rows, hours and the ledger agree. */
static void
check_sums(struct world *w, const char *period, int64_t from, int64_t to)
{
	static const char *const keys[] = {"energy_wh", "location_mg", "market_mg", "embodied_mg"};
	char query[128], sql[256];
	sqlite3 *const db = open_ledger(w);

	snprintf(query, sizeof(query), "%s&carbon=1", period);
	json_t *const report = ask(w, query, 200);
	snprintf(query, sizeof(query), "%s&carbon=hours", period);
	json_t *const all = ask(w, query, 200);
	const json_t *const rows = json_object_get(carbon_of(report), "rows");
	const json_t *const total = json_object_get(carbon_of(report), "total");
	const json_t *const hours = json_object_get(all, "hours");
	static const char *const columns[] = {"carbon_mg", "energy_wh", "money_micros"};
	int64_t sums[3];

	for (int i = 0; i < 3; i++) {
		snprintf(sql, sizeof(sql),
		    "SELECT coalesce(sum(%s), 0) FROM entries WHERE kind != 2"
		    " AND at_utc_s >= %lld AND at_utc_s < %lld",
		    columns[i], (long long)from, (long long)to);
		sums[i] = (int64_t)scalar(db, sql);
		assert_int_equal(added(hours, columns[i]), sums[i]);
	}
	assert_true(json_is_null(json_object_get(all, "next")));
	assert_int_equal(added(rows, "location_mg") + added(rows, "embodied_mg"), sums[0]);
	assert_int_equal(added(rows, "energy_wh"), sums[1]);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(added(rows, keys[i]), added(hours, keys[i]));
		if (!is_null(total, keys[i]))
			assert_int_equal(figure(total, keys[i]), added(rows, keys[i]));
	}
	const json_t *const statement = json_object_get(report, "total");
	assert_int_equal(figure(statement, "carbon_mg"),
	    sums[0] + added(json_object_get(report, "adjustments"), "carbon_mg"));
	json_decref(report);
	json_decref(all);
	sqlite3_close(db);
}

/* kWh x g/kWh, with the intensity that SQLite averages from the rates. An hour is off by 1 Wh of
 * rounding and 3 mg at most. */
static void
check_hours(struct world *w, const char *period)
{
	char query[128];
	sqlite3 *const db = open_ledger(w);
	size_t i, checked = 0;
	const json_t *hour;

	snprintf(query, sizeof(query), "%s&carbon=hours", period);
	json_t *const report = ask(w, query, 200);
	json_array_foreach(json_object_get(report, "hours"), i, hour) {
		char sql[1024];
		const double told = json_number_value(json_object_get(hour, "g_per_kwh"));
		const double wh = (double)figure(hour, "energy_wh");

		snprintf(sql, sizeof(sql),
		    "WITH part AS (SELECT partition AS p,"
		    "  max(start_utc_s, unixepoch('%s')) AS a,"
		    "  min(end_utc_s, unixepoch('%s') + 3600) AS b"
		    "  FROM runs WHERE job_id = %lld)"
		    " SELECT sum(value * (min(end_utc_s, b)"
		    "  - max(start_utc_s, a))) * 1.0 / (b - a)"
		    " FROM part JOIN s.rates ON partition = p"
		    "  AND rate = 1 AND start_utc_s < b AND end_utc_s > a",
		    text_of(hour, "hour"), text_of(hour, "hour"),
		    (long long)figure(hour, "job_id"));
		const double g = scalar(db, sql);
		const double off = (double)figure(hour, "location_mg") - wh * g;
		if (fabs(told - g) > 1e-9 || fabs(off) > g + 3)
			fail_msg("job %lld, %s: %.9g g/kWh, want %.9g; off by %.1f mg",
			    (long long)figure(hour, "job_id"), text_of(hour, "hour"), told, g, off);
		checked++;
	}
	assert_true(checked > RUNS);
	json_decref(report);
	sqlite3_close(db);
}

static void
random_worlds(void **state)
{
	for (uint32_t seed = 1; seed <= 3; seed++) {
		struct fixture *const f = *state;

		empty(f);
		struct world *const w = make_world(f);
		struct lt_batch_run rows[RUNS];
		const int64_t now = NOVEMBER + 26 * LT_DAY_S;
		struct lt_entry credit = {.kind = LT_ENTRY_ADJUSTMENT,
		    .at_utc_s = NOVEMBER + LT_DAY_S,
		    .made_utc_s = now,
		    .carbon_mg = -12345,
		    .account = "nlp",
		    .who = "root",
		    .reason = "credit"};

		w->random = seed;
		put_signals(w);
		for (uint32_t i = 0; i < RUNS; i++) {
			rows[i] = random_row(w, i + 1);
			settle_row(w, &rows[i], now);
		}
		must(f, lt_ledger_adjust(f->ledger, &credit, &f->err));
		check_hours(w, "period=2026-11");
		check_sums(w, "period=2026-11", NOVEMBER, DECEMBER);
		check_sums(w, "period=2026-Q4", NOVEMBER - 31 * LT_DAY_S, JANUARY);
		for (uint32_t i = 0; i < RUNS; i += 3) {
			rows[i].end_utc_s = rows[i].start_utc_s + 1 + draw(w, 5 * HOUR);
			settle_row(w, &rows[i], now + HOUR);
		}
		check_sums(w, "period=2026-11", NOVEMBER, DECEMBER);
		check_sums(w, "from=2026-11-03&to=2026-11-09", NOVEMBER + 2 * LT_DAY_S,
		    NOVEMBER + 9 * LT_DAY_S);
		free_world(w);
	}
}

static void
what_is_refused(void **state)
{
	struct world *const w = make_world(*state);

	json_decref(ask(w, "carbon=2", 400));
	json_decref(ask(w, "carbon=hours&runs=all", 400));
	json_decref(ask(w, "carbon=hours&after=", 400));
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(by_hand, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(not_stored_is_null, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(random_worlds, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(what_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
