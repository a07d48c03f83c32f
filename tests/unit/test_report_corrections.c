/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of corrections: a row a run, team and month, why, what they add up to, who sees which,
 * and how it is shown.
 */
#include <jansson.h>

#include "api_ask.h"
#include "cli.h"
#include "ledger_fixture.h"
#include "periods.h"
#include "report.h"
#include "units.h"

enum { OCTOBER = NOVEMBER - 31 * LT_DAY_S, MANY = 504, EACH = 10 };

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};

static json_t *
ask(struct fixture *f, const char *query, int want)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	char uri[160];

	assert_non_null(d);
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->budget.has_snapshot = true;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = 2;
	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	json_t *const json = api_ask(d, uri, want);
	free(d);
	return json;
}

/* A run of two hours, one each side of the end of September. */
static struct lt_run
over_the_end(int64_t money_micros)
{
	return make_run(1, OCTOBER - HOUR, OCTOBER + HOUR, money_micros);
}

static void
settle_halves(struct fixture *f, int64_t money_micros, int64_t now_utc_s, int64_t open_since_utc_s)
{
	struct lt_run run = over_the_end(money_micros);
	struct lt_entry entries[] = {
	    whole(&run), {.at_utc_s = OCTOBER, .money_micros = money_micros / 2}};
	bool changed;

	entries[0].money_micros -= money_micros / 2;
	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){&run, entries, 2, now_utc_s,
			now_utc_s - now_utc_s % LT_HOUR_S, open_since_utc_s, false},
		    &changed, &f->err));
}

static int64_t
figure(const json_t *of, const char *key)
{
	const json_t *const value = json_object_get(of, key);

	if (!json_is_integer(value))
		fail_msg("%s is no figure", key);
	return json_integer_value(value);
}

static const struct {
	const char *month, *team, *why;
	int64_t job_id, money_micros;
} wants[] = {
    {"2026-09", "vision", LT_CORRECTION_CHANGED, 1, 300},
    {"2026-10", "vision", LT_CORRECTION_CHANGED, 1, 300},
    {"2026-10", "nlp", LT_CORRECTION_LATE, 2, 70},
};
enum { WANTS = sizeof(wants) / sizeof(wants[0]) };

static void
settle_all(struct fixture *f)
{
	struct lt_run late = make_run(2, OCTOBER + 9 * HOUR, OCTOBER + 10 * HOUR, 70);

	settle_halves(f, 1000, OCTOBER + LT_DAY_S, 0);
	/* October is closed: 600 more, and one that nobody knew. */
	settle_halves(f, 1600, NOVEMBER + LT_DAY_S, NOVEMBER);
	strcpy(late.account, "nlp");
	settle(f, &late, NOVEMBER + 2 * LT_DAY_S, NOVEMBER);
}

static void
test_list(void **state)
{
	struct fixture *const f = *state;

	settle_all(f);
	json_t *const report = ask(f, "period=2026-11&corrections=1", 200);
	const json_t *const list = json_object_get(report, "corrections");
	int64_t sum = 0;

	assert_int_equal(json_array_size(list), WANTS);
	for (size_t i = 0; i < WANTS; i++) {
		const json_t *const one = json_array_get(list, i);

		assert_string_equal(
		    json_string_value(json_object_get(one, "month")), wants[i].month);
		assert_string_equal(json_string_value(json_object_get(one, "team")), wants[i].team);
		assert_string_equal(json_string_value(json_object_get(one, "why")), wants[i].why);
		assert_int_equal(figure(one, "job_id"), wants[i].job_id);
		assert_int_equal(figure(one, "money_micros"), wants[i].money_micros);
		sum += wants[i].money_micros;
	}
	assert_int_equal(figure(json_object_get(report, "total"), "corrections_micros"), sum);
	json_decref(report);
	json_t *const team = ask(f, "period=2026-11&corrections=1&team=nlp", 200);
	assert_int_equal(json_array_size(json_object_get(team, "corrections")), 1);
	json_decref(team);
	/* Without being asked it is as it is kept of a closed period. */
	json_t *const plain = ask(f, "period=2026-11", 200);
	assert_null(json_object_get(plain, "corrections"));
	json_decref(plain);
	json_decref(ask(f, "period=2026-11&corrections=all", 400));
}

/* After 500 runs the others are one row, in the table as well. */
static void
test_many(void **state)
{
	struct fixture *const f = *state;
	const struct lt_report_look look = {.format = LT_REPORT_TABLE};
	struct lt_error err = {0};
	char *text = NULL;
	size_t length = 0;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (uint32_t i = 1; i <= MANY; i++) {
		struct lt_run run = make_run(i, OCTOBER, OCTOBER + HOUR, EACH * 1000000);

		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	}
	must(f, lt_ledger_commit(f->ledger, &f->err));
	json_t *const report = ask(f, "period=2026-11&corrections=1", 200);
	const json_t *const more = json_object_get(report, "more_corrections");
	assert_int_equal(json_array_size(json_object_get(report, "corrections")), 500);
	assert_int_equal(figure(more, "count"), MANY - 500);
	assert_int_equal(figure(more, "money_micros"), (MANY - 500) * EACH * 1000000);
	FILE *const out = open_memstream(&text, &length);
	assert_non_null(out);
	assert_int_equal(lt_report_print(out, report, &look, &err), LT_OK);
	fclose(out);
	assert_non_null(strstr(text, "\nCorrections\nOF"));
	assert_non_null(strstr(text, LT_CORRECTION_LATE));
	assert_non_null(strstr(text, " 4 others "));
	assert_non_null(strstr(text, " $40.00\n"));
	free(text);
	json_decref(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_many, set_up, tear_down)};

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
