/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budgets that a report's period is part of: which they are, whose they are, and what the last
 * forecast says of them.
 */
#include <jansson.h>
#include <time.h>

#include "api_ask.h"
#include "budget_forecast.h"
#include "calendar.h"
#include "ledger_fixture.h"
#include "periods.h"
#include "units.h"

enum { SPENT = 5000, EXPECTED = 9000 };

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};
/* nlp is below vision. */
static struct lt_batch_account tree[] = {{"nlp", "vision"}, {"vision", ""}};

static const struct {
	const char *team;
	enum lt_period_kind kind;
	int64_t expected; /* by the forecast; 0: none is known */
	int64_t want;	  /* of the report: not below what is spent */
} kinds[] = {{"vision", LT_YEAR, 0, 0}, {"nlp", LT_QUARTER, EXPECTED, EXPECTED},
    {"vision", LT_MONTH, SPENT - 1, SPENT}};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct lt_budget_forecast forecasts[KINDS];

static json_t *
ask(struct fixture *f, struct lt_budget *budgets, uint32_t count, const char *query)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	char uri[160];

	assert_non_null(d);
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->site.tables = (struct lt_tables){.accounts = tree, .account_count = 2};
	d->budget.has_snapshot = true;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = 2;
	d->budget.snapshot.budgets = budgets;
	d->budget.snapshot.budget_count = count;
	d->budget.forecasts = forecasts;
	d->budget.forecast_count = KINDS;
	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	json_t *const json = api_ask(d, uri, 200);
	free(d);
	return json;
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
fill(struct lt_budget *budgets, int64_t now_utc_s)
{
	const struct lt_offsets utc = {0};

	for (size_t i = 0; i < KINDS; i++) {
		struct lt_period *const p = &budgets[i].periods[0];

		budgets[i] = (struct lt_budget){0};
		strcpy(budgets[i].team, kinds[i].team);
		lt_calendar_period(p, &utc, kinds[i].kind, now_utc_s, 0);
		p->limit = (struct lt_amount){.has_money = true, .money_micros = 1000 + (int64_t)i};
		p->settled.money_micros = SPENT;
		p->held.money_micros = 7;
		forecasts[i] = (struct lt_budget_forecast){.period = {p->start_utc_s, p->end_utc_s},
		    .is.money = {.known = kinds[i].expected != 0, .expected = kinds[i].expected}};
		strcpy(forecasts[i].team, kinds[i].team);
		/* The next one is of no report of this month. */
		lt_calendar_period(&budgets[i].periods[1], &utc, kinds[i].kind, p->end_utc_s, 0);
	}
}

static void
test_budgets(void **state)
{
	/* By team, the shorter first. */
	static const size_t order[KINDS] = {1, 2, 0};
	struct fixture *const f = *state;
	struct lt_budget budgets[KINDS];
	const int64_t now = time(NULL);

	fill(budgets, now);
	json_t *const report = ask(f, budgets, KINDS, "");
	const json_t *const list = json_object_get(report, "budgets");
	assert_int_equal(json_array_size(list), KINDS);
	for (size_t i = 0; i < KINDS; i++) {
		const struct lt_budget *const b = &budgets[order[i]];
		const struct lt_period *const p = &b->periods[0];
		const json_t *const got = json_array_get(list, i);
		const json_t *const expected = json_object_get(got, "expected_micros");

		assert_string_equal(json_string_value(json_object_get(got, "team")), b->team);
		assert_string_equal(json_string_value(json_object_get(got, "label")), p->label);
		assert_int_equal(figure(got, "budget_micros"), p->limit.money_micros);
		assert_true(json_is_null(json_object_get(got, "budget_mg")));
		assert_int_equal(figure(got, "actual_micros"), SPENT);
		assert_int_equal(figure(got, "held_micros"), 7);
		assert_true(kinds[order[i]].want != 0
				? json_integer_value(expected) == kinds[order[i]].want
				: json_is_null(expected));
	}
	json_decref(report);
	/* nlp's alone, and not those of who is above it. */
	json_t *const team = ask(f, budgets, KINDS, "team=nlp");
	assert_int_equal(json_array_size(json_object_get(team, "budgets")), 1);
	json_decref(team);
	/* A day is within all, a longer time in none. */
	json_t *const longer = ask(f, budgets, KINDS, "from=2020-01-01&to=2031-01-01");
	assert_int_equal(json_array_size(json_object_get(longer, "budgets")), 0);
	json_decref(longer);
}

/* It says what it said when it was closed. */
static void
test_closed(void **state)
{
	struct fixture *const f = *state;
	struct lt_budget budget = {.team = "vision"};
	struct lt_closed closed = {.label = "2026-11", .who = "root", .head = "{}"};

	budget.periods[0] = (struct lt_period){.start_utc_s = NOVEMBER,
	    .end_utc_s = DECEMBER,
	    .label = "2026-11",
	    .limit = {.has_money = true}};
	json_t *const open = ask(f, &budget, 1, "period=2026-11");
	assert_int_equal(json_array_size(json_object_get(open, "budgets")), 1);
	json_decref(open);
	closed.span = (struct lt_span){NOVEMBER, DECEMBER};
	must(f, lt_ledger_close_period(f->ledger, &closed, NULL, 0, &f->err));
	json_t *const report = ask(f, &budget, 1, "period=2026-11");
	assert_string_equal(
	    json_string_value(json_object_get(json_object_get(report, "period"), "state")),
	    "closed");
	assert_null(json_object_get(report, "budgets"));
	json_decref(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_budgets, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
