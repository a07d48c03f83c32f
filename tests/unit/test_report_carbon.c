/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy and carbon for an auditor: charges as lowtided makes them, reported by
 * rows and by hours. The sums are SQLite's own, of the entries; each hour is
 * computed again by SQLite from kWh and the rates that are stored.
 */
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>

#include "api.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "log.h"
#include "settle.h"

enum { RUNS = 60, HALF_HOURS = 2 * 24 * 40, PARTITIONS = 2 };

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};
static const char *const names[PARTITIONS] = {"cloud", "onprem"};

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	uint64_t random;
	struct lt_policy policy;
	struct lt_policy_partition of_policy[PARTITIONS];
	struct lt_partition partitions[PARTITIONS];
	struct lt_shape shapes[PARTITIONS];
	struct lt_policy_source source_policy;
	struct lt_source source;
};

static uint32_t
draw(struct world *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % below;
}

static void
put(struct world *w, int partition, enum lt_rate rate, int64_t from_utc_s,
    double value, const char *source)
{
	struct lt_rate_step step = {.start_utc_s = from_utc_s,
	    .end_utc_s = INT64_MAX,
	    .value = value,
	    .quality = LT_QUALITY_CONSTANT};

	strcpy(step.source, source);
	must(w->f, lt_ledger_put_rates(w->f->ledger, names[partition], rate,
		       &(struct lt_rates){1, &step}, &w->f->err));
}

static struct world *
make_world(struct fixture *f)
{
	struct world *const w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->f = f;
	w->d = calloc(1, sizeof(*w->d));
	assert_non_null(w->d);
	w->policy = (struct lt_policy){.currency = "USD",
	    .partition_count = PARTITIONS,
	    .partitions = w->of_policy};
	for (int i = 0; i < PARTITIONS; i++) {
		strcpy(w->of_policy[i].name, names[i]);
		w->shapes[i] = (struct lt_shape){
		    .node_count = 9, .cpus = 64, .gpus = 8, .memory_mib = 1};
		w->partitions[i] =
		    (struct lt_partition){.flags = LT_PARTITION_MANAGED,
			.first_shape = (uint32_t)i,
			.shape_count = 1,
			.node_idle_w = 1000,
			.pue = 1.25,
			.embodied_g_per_node_hour = i == 1 ? 40 : 0};
		strcpy(w->partitions[i].name, names[i]);
		put(w, i, LT_RATE_PRICE, 1, 3600000, "");
	}
	strcpy(w->source_policy.name, "grid");
	w->source = (struct lt_source){.policy = &w->source_policy,
	    .options = {
		.count = 1, .items = {{.key = "region", .value = "13"}}}};
	w->d->ledger = f->ledger;
	w->d->policy = &w->policy;
	w->d->tables.conf.gpus_counted = true;
	w->d->market = (struct lt_market){.partition_count = PARTITIONS,
	    .partitions = w->partitions,
	    .shape_count = PARTITIONS,
	    .shapes = w->shapes};
	w->d->signals =
	    (struct lt_signals_state){.source_count = 1, .sources = &w->source};
	w->d->budget.has_snapshot = true;
	w->d->budget.settled_until_utc_s = INT64_MAX / 2;
	w->d->budget.snapshot.accounts = accounts;
	w->d->budget.snapshot.account_count =
	    sizeof(accounts) / sizeof(accounts[0]);
	lt_log_open("/dev/null");
	return w;
}

static void
free_world(struct world *w)
{
	free(w->d);
	free(w);
}

static struct lt_slurm_run
make_row(uint32_t job_id, int partition, int64_t start_s, int64_t seconds)
{
	struct lt_slurm_run row = {.job_id = job_id,
	    .array_task = UINT32_MAX,
	    .uid = UID,
	    .account = "vision",
	    .user = "ada",
	    .state_text = "COMPLETED",
	    .finished = true,
	    .submit_utc_s = NOVEMBER + start_s,
	    .start_utc_s = NOVEMBER + start_s,
	    .end_utc_s = NOVEMBER + start_s + seconds,
	    .limit_s = 600,
	    .nodes = 1,
	    .cpus = 64,
	    .gpus = 8,
	    .has_gpus = true,
	    .energy_joules = -1};

	strcpy(row.partition, names[partition]);
	return row;
}

static void
settle_row(struct world *w, const struct lt_slurm_run *row, int64_t now_utc_s)
{
	struct lt_slurm_run copy = *row;
	struct lt_slurm_runs list = {.count = 1, .runs = &copy};

	must(w->f, lt_settle_again(w->d, &list, now_utc_s, &w->f->err));
}

static json_t *
ask(struct world *w, const char *query, int want)
{
	char uri[256], *text = NULL;

	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	const int status = lt_api(
	    w->d, &(struct lt_api_asked){.method = "GET", .uri = uri}, &text);
	if (status != want)
		fail_msg("%s: %d, %s", query, status, text);
	json_error_t problem;
	json_t *const json = json_loads(text, 0, &problem);
	if (json == NULL)
		fail_msg("%s: %s in %s", query, problem.text, text);
	free(text);
	return json;
}

static json_t *
carbon_of(json_t *report)
{
	return json_object_get(report, "carbon");
}

static int64_t
figure(const json_t *row, const char *key)
{
	if (!json_is_integer(json_object_get(row, key)))
		fail_msg("%s is no integer", key);
	return json_integer_value(json_object_get(row, key));
}

static const char *
text_of(const json_t *row, const char *key)
{
	const char *const text = json_string_value(json_object_get(row, key));

	return text != NULL ? text : "null";
}

static bool
is_null(const json_t *row, const char *key)
{
	return json_is_null(json_object_get(row, key));
}

/*
 * By hand: a node of 1000 W for two hours at PUE 1.25 is 1250 Wh each; at 200
 * and 300 g/kWh 250 and 375 g; embodied 40 g an hour; by a contract of 12
 * g/kWh 15 g an hour.
 */
static void
by_hand(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_rate_step grid[] = {
	    {NOVEMBER, NOVEMBER + HOUR, 200, LT_QUALITY_MEASURED, "grid", 0},
	    {NOVEMBER + HOUR, NOVEMBER + 9 * HOUR, 300, LT_QUALITY_FORECAST,
		"grid", 0}};
	const struct lt_slurm_run row = make_row(1, 1, 0, 2 * HOUR);

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
	assert_int_equal(
	    figure(json_object_get(report, "total"), "carbon_mg"), 705000);
	json_decref(report);
	free_world(w);
}

/* Of hours before it was recorded nothing is claimed; and 0 g/kWh is said. */
static void
not_stored_is_null(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_slurm_run before = make_row(1, 1, 0, HOUR);
	const struct lt_slurm_run after = make_row(2, 1, 10 * HOUR, HOUR);
	const struct lt_slurm_run none = make_row(3, 0, 0, HOUR);

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

/* The policy's PUE of 1.25 becomes 1.5 in the second hour: what was used before
 * stays as it was, 1250 Wh and 1500 Wh, also where it is priced after. */
static void
pue_of_its_time(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_slurm_run row = make_row(1, 1, 0, 2 * HOUR);

	put(w, 1, LT_RATE_CARBON, NOVEMBER, 100, "");
	put(w, 1, LT_RATE_PUE, NOVEMBER, 1.25, "");
	put(w, 1, LT_RATE_PUE, NOVEMBER + HOUR, 1.5, "");
	put(w, 1, LT_RATE_EMBODIED, NOVEMBER, 40, "");
	put(w, 1, LT_RATE_EMBODIED, NOVEMBER + HOUR, 10, "");
	w->partitions[1].pue = 1.5;
	w->partitions[1].embodied_g_per_node_hour = 10;
	settle_row(w, &row, NOVEMBER + LT_DAY_S);
	json_t *const report = ask(w, "period=2026-11&carbon=1", 200);
	json_t *const all = ask(w, "period=2026-11&carbon=hours", 200);
	const json_t *const total = json_object_get(carbon_of(report), "total");
	const json_t *const hours = json_object_get(all, "hours");

	assert_int_equal(figure(total, "energy_wh"), 2750);
	assert_int_equal(figure(total, "location_mg"), 275000);
	assert_int_equal(figure(total, "embodied_mg"), 50000);
	assert_true(json_number_value(json_object_get(total, "pue")) == 1.375);
	for (size_t i = 0; i < 2; i++) {
		const json_t *const hour = json_array_get(hours, i);

		assert_int_equal(figure(hour, "energy_wh"), 1250 + 250 * i);
		assert_int_equal(
		    figure(hour, "embodied_mg"), i == 0 ? 40000 : 10000);
	}
	json_decref(report);
	json_decref(all);
	free_world(w);
}

/* ---- random worlds ---- */

static void
put_signals(struct world *w)
{
	static struct lt_rate_step grid[HALF_HOURS];

	for (int i = 0; i < HALF_HOURS; i++) {
		const int64_t start =
		    NOVEMBER - 5 * LT_DAY_S + (int64_t)i * HOUR / 2;

		grid[i] = (struct lt_rate_step){.start_utc_s = start,
		    .end_utc_s = start + HOUR / 2,
		    .value = 20 + draw(w, 60000) / 100.0,
		    .quality =
			draw(w, 3) ? LT_QUALITY_MEASURED : LT_QUALITY_ESTIMATED,
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
	put(w, 1, LT_RATE_MARKET_BASED, NOVEMBER + 15 * LT_DAY_S, LT_RATE_ENDED,
	    "");
}

static struct lt_slurm_run
random_row(struct world *w, uint32_t job_id)
{
	struct lt_slurm_run row = make_row(job_id, (int)draw(w, 2),
	    (int64_t)draw(w, 28 * LT_DAY_S) - 3 * LT_DAY_S,
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

/* Over all hours that are told: sums of rows, hours and the ledger agree. */
static void
check_sums(struct world *w, const char *period, int64_t from, int64_t to)
{
	static const char *const keys[] = {
	    "energy_wh", "location_mg", "market_mg", "embodied_mg"};
	char query[128], sql[256];
	sqlite3 *const db = open_ledger(w);

	snprintf(query, sizeof(query), "%s&carbon=1", period);
	json_t *const report = ask(w, query, 200);
	snprintf(query, sizeof(query), "%s&carbon=hours", period);
	json_t *const all = ask(w, query, 200);
	const json_t *const rows = json_object_get(carbon_of(report), "rows");
	const json_t *const total = json_object_get(carbon_of(report), "total");
	const json_t *const hours = json_object_get(all, "hours");
	static const char *const columns[] = {
	    "carbon_mg", "energy_wh", "money_micros"};
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
	assert_int_equal(
	    added(rows, "location_mg") + added(rows, "embodied_mg"), sums[0]);
	assert_int_equal(added(rows, "energy_wh"), sums[1]);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(added(rows, keys[i]), added(hours, keys[i]));
		if (!is_null(total, keys[i]))
			assert_int_equal(
			    figure(total, keys[i]), added(rows, keys[i]));
	}
	const json_t *const statement = json_object_get(report, "total");
	assert_int_equal(figure(statement, "carbon_mg"),
	    sums[0] +
		added(json_object_get(report, "adjustments"), "carbon_mg"));
	json_decref(report);
	json_decref(all);
	sqlite3_close(db);
}

/* kWh x g/kWh, with the intensity that SQLite averages from the rates. An hour
 * is off by 1 Wh of rounding and 3 mg at most. */
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
		const double told =
		    json_number_value(json_object_get(hour, "g_per_kwh"));
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
			fail_msg(
			    "job %lld, %s: %.9g g/kWh, want %.9g; off by %.1f mg",
			    (long long)figure(hour, "job_id"),
			    text_of(hour, "hour"), told, g, off);
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
		struct lt_slurm_run rows[RUNS];
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
		check_sums(
		    w, "period=2026-Q4", NOVEMBER - 31 * LT_DAY_S, JANUARY);
		for (uint32_t i = 0; i < RUNS; i += 3) {
			rows[i].end_utc_s =
			    rows[i].start_utc_s + 1 + draw(w, 5 * HOUR);
			settle_row(w, &rows[i], now + HOUR);
		}
		check_sums(w, "period=2026-11", NOVEMBER, DECEMBER);
		check_sums(w, "from=2026-11-03&to=2026-11-09",
		    NOVEMBER + 2 * LT_DAY_S, NOVEMBER + 9 * LT_DAY_S);
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
	    cmocka_unit_test_setup_teardown(
		not_stored_is_null, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(pue_of_its_time, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(random_worlds, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(what_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
