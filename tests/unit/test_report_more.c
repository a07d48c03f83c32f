/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report has beside its rows: the forecast of the open month, on even load; the total cost
 * to outcome; and the groups of the period before.
 */
#include <jansson.h>
#include <time.h>

#include "api_ask.h"
#include "ledger_fixture.h"
#include "units.h"

enum { DAY_MICROS = 24 * 50000 };

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};

static json_t *
ask(struct fixture *f, struct lt_policy *policy, const char *query)
{
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	char uri[160];

	assert_non_null(d);
	d->ledger = f->ledger;
	d->site.policy = policy;
	d->budget.has_snapshot = true;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = sizeof(accounts) / sizeof(*accounts);
	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	json_t *const json = api_ask(d, uri, 200);
	free(d);
	return json;
}

/* A run of an hour in each hour of the last 70 days, each of the same cost. */
static void
settle_even(struct fixture *f, int64_t now_utc_s)
{
	const int64_t last = now_utc_s - now_utc_s % HOUR;
	uint32_t job_id = 1;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (int64_t at = last - 70 * LT_DAY_S; at < last; at += HOUR) {
		struct lt_run run = make_run(job_id++, at, at + HOUR, DAY_MICROS / 24);

		if (run.key.job_id % 2)
			strcpy(run.account, "nlp");
		settle(f, &run, now_utc_s, 0);
	}
	must(f, lt_ledger_commit(f->ledger, &f->err));
}

static int64_t
figure(const json_t *of, const char *key)
{
	const json_t *const value = json_object_get(of, key);

	if (!json_is_integer(value))
		fail_msg("%s is no figure", key);
	return json_integer_value(value);
}

static void
test_forecast(void **state)
{
	struct fixture *const f = *state;
	struct lt_policy policy = {.currency = "USD"};
	const time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	tm.tm_mon++;
	tm.tm_mday = 0; /* the last one of this month */
	(void)timegm(&tm);
	const int64_t whole = (int64_t)tm.tm_mday * DAY_MICROS;
	settle_even(f, now);
	json_t *const report = ask(f, &policy, "");
	const json_t *const forecast = json_object_get(report, "forecast");
	const int64_t expected = figure(forecast, "expected_micros");
	const int64_t spent = figure(json_object_get(report, "total"), "cost_micros");
	if (llabs(expected - whole) > whole / 10)
		fail_msg("expected %lld, want %lld", (long long)expected, (long long)whole);
	assert_true(figure(forecast, "low_micros") >= spent);
	assert_true(figure(forecast, "low_micros") <= expected);
	assert_true(figure(forecast, "high_micros") >= expected);
	assert_true(figure(forecast, "expected_mg") > 0);
	json_decref(report);
	/* One team has its own. */
	json_t *const team = ask(f, &policy, "team=vision");
	const int64_t half = figure(json_object_get(team, "forecast"), "expected_micros");
	if (llabs(half - whole / 2) > whole / 20)
		fail_msg("of one team %lld, want %lld", (long long)half, (long long)whole / 2);
	/* Of what is to come, too, however little that is by now. */
	const int64_t rest = expected - spent;
	const int64_t teams = half - figure(json_object_get(team, "total"), "cost_micros");
	if (llabs(teams - rest / 2) > rest / 10 + 2)
		fail_msg(
		    "to come for one team %lld, want %lld", (long long)teams, (long long)rest / 2);
	json_decref(team);
	/* Both are the site's, but for seconds that went by meanwhile. */
	json_t *const other = ask(f, &policy, "team=nlp");
	json_t *const site = ask(f, &policy, "");
	json_t *const again = ask(f, &policy, "team=vision");
	assert_true(llabs(figure(json_object_get(other, "forecast"), "expected_micros") +
			  figure(json_object_get(again, "forecast"), "expected_micros") -
			  figure(json_object_get(site, "forecast"), "expected_micros")) <=
		    DAY_MICROS / LT_DAY_S * 3);
	json_decref(other);
	json_decref(site);
	json_decref(again);
	json_t *const past = ask(f, &policy, "period=2020-01");
	assert_true(json_is_null(json_object_get(past, "forecast")));
	json_decref(past);
}

/* An interruption over a month's end is paid for in one of both: where it ended. */
static void
test_tcto_over_a_month(void **state)
{
	static const struct {
		const char *query;
		int64_t interruptions, engineer_micros;
	} months[] = {{"period=2026-11&tcto=1", 0, 0}, {"period=2026-12&tcto=1", 1, 45000000},
	    {"period=2026-Q4&tcto=1", 1, 45000000}};
	struct fixture *const f = *state;
	struct lt_policy policy = {.currency = "USD"};
	struct lt_run run = make_run(9, DECEMBER - 1800, DECEMBER + 1800, 2000000);
	struct lt_entry entries[] = {whole(&run), {.at_utc_s = DECEMBER, .money_micros = 1000000}};
	bool changed;

	policy.tcto = (struct lt_policy_tcto){
	    .engineer_micros_per_hour = 90000000, .engineer_hour_millionths = 500000};
	strcpy(run.state_text, "NODE_FAIL");
	entries[0].money_micros -= 1000000;
	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){
			&run, entries, 2, DECEMBER + LT_DAY_S, DECEMBER + LT_DAY_S, 0, false},
		    &changed, &f->err));
	for (size_t i = 0; i < sizeof(months) / sizeof(months[0]); i++) {
		json_t *const report = ask(f, &policy, months[i].query);
		const json_t *const tcto = json_object_get(report, "tcto");

		print_message("# %s\n", months[i].query);
		assert_int_equal(figure(tcto, "interruptions"), months[i].interruptions);
		assert_int_equal(figure(tcto, "engineer_micros"), months[i].engineer_micros);
		assert_int_equal(figure(tcto, "failed_micros"), i == 2 ? 2000000 : 1000000);
		json_decref(report);
	}
}

/* Three runs, worked out by hand: 2 x 10 completed, 4 lost with a node. */
static void
test_tcto(void **state)
{
	static const struct {
		const char *key;
		int64_t value;
	} wants[] = {{"compute_micros", 20000000}, {"failed_micros", 4000000},
	    {"engineer_micros", 45000000}, {"storage_micros", 20000000}, {"total_micros", 89000000},
	    {"completed_runs", 2}, {"interruptions", 1}, {"gpu_s", 3 * 8 * HOUR},
	    {"per_completed_run_micros", 44500000}};
	struct fixture *const f = *state;
	struct lt_policy policy = {.currency = "USD"};

	policy.tcto = (struct lt_policy_tcto){.storage_gb = 1000,
	    .storage_micros_per_gb_month = 20000,
	    .engineer_micros_per_hour = 90000000,
	    .engineer_hour_millionths = 500000};
	for (uint32_t i = 1; i <= 3; i++) {
		struct lt_run run = make_run(
		    i, NOVEMBER + i * HOUR, NOVEMBER + (i + 1) * HOUR, i == 3 ? 4000000 : 10000000);

		if (i == 3)
			strcpy(run.state_text, "NODE_FAIL");
		settle(f, &run, NOVEMBER + LT_DAY_S, 0);
	}
	json_t *const report = ask(f, &policy, "period=2026-11&tcto=1&by=partition&previous=1");
	const json_t *const tcto = json_object_get(report, "tcto");
	const bool is_over = time(NULL) >= DECEMBER;
	for (size_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		/* Storage is of the part of the month that is gone. */
		const bool by_time = strstr(wants[i].key, "storage") != NULL ||
				     strstr(wants[i].key, "total") != NULL ||
				     strstr(wants[i].key, "per_completed") != NULL;
		const int64_t found = figure(tcto, wants[i].key);

		if (by_time && !is_over ? found > wants[i].value : found != wants[i].value)
			fail_msg("%s: %lld, want %lld", wants[i].key, (long long)found,
			    (long long)wants[i].value);
	}
	/* What it was made of is in no list. */
	const json_t *const by = json_object_get(report, "by");
	assert_int_equal(json_object_size(by), 1);
	assert_int_equal(json_array_size(json_object_get(by, "partition")), 1);
	const json_t *const before = json_object_get(report, "previous");
	assert_non_null(json_object_get(json_object_get(before, "by"), "partition"));
	json_decref(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_forecast, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_tcto, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_tcto_over_a_month, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
