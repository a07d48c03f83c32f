/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The twelve months of a report against sums over what was booked: closed and open ones, those of
 * which nothing is known, and a team that an account joined and left.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "accounts.h"
#include "api_ask.h"
#include "ledger_fixture.h"
#include "log.h"
#include "policy.h"

enum {
	MONTHS = 15, /* before December */
	EMPTY = 9,   /* nothing is booked in that one */
	FIRST = 6,   /* and in none before */
	CLOSED = 12,
	BOOKINGS = 300,
	ZONE_S = 19800 /* of Kolkata */
};

static struct lt_account accounts[] = {{.name = "lab"}, {.name = "root"}, {.name = "vision"}};
enum { ACCOUNTS = sizeof(accounts) / sizeof(accounts[0]) };

static const struct {
	int year, month, days;
} calendar[MONTHS] = {{2025, 9, 30}, {2025, 10, 31}, {2025, 11, 30}, {2025, 12, 31}, {2026, 1, 31},
    {2026, 2, 28}, {2026, 3, 31}, {2026, 4, 30}, {2026, 5, 31}, {2026, 6, 30}, {2026, 7, 31},
    {2026, 8, 31}, {2026, 9, 30}, {2026, 10, 31}, {2026, 11, 30}};

struct site {
	struct fixture *f;
	uint64_t random;
	int64_t starts[MONTHS + 1]; /* of the site's months */
	struct lt_offsets offsets;
	const char *parent; /* of lab, now */
	struct {
		int month, account;
		int64_t at_utc_s, micros, mg;
	} booked[BOOKINGS];
};

static uint32_t
draw(struct site *s, uint32_t below)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(s->random >> 33) % below;
}

static json_t *
ask(const struct site *s, const char *method, const char *uri, const char *body)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_batch_account rows[ACCOUNTS] = {
	    {.name = "lab"}, {.name = "root"}, {.name = "vision"}};
	char *text = NULL;

	assert_non_null(d);
	snprintf(rows[0].parent, sizeof(rows[0].parent), "%s", s->parent);
	snprintf(rows[2].parent, sizeof(rows[2].parent), "root");
	d->ledger = s->f->ledger;
	d->site.policy = &policy;
	d->site.offsets = s->offsets;
	d->site.tables.accounts = rows;
	d->site.tables.account_count = ACCOUNTS;
	must(s->f, lt_ledger_account_moves(s->f->ledger, &d->site.tables.moves, &s->f->err));
	d->budget.has_snapshot = true;
	d->charges.settled_until_utc_s = INT64_MAX / 2;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = ACCOUNTS;
	const int status = lt_api(d,
	    &(struct lt_api_asked){.method = method,
		.uri = uri,
		.body = body,
		.body_length = body != NULL ? strlen(body) : 0},
	    &text);
	if (status != 200)
		fail_msg("%s: %d, %s", uri, status, text);
	json_t *const json = json_loads(text, 0, NULL);
	assert_non_null(json);
	free(text);
	free(d->site.tables.moves.list);
	free(d);
	return json;
}

static void
make_site(struct site *s, struct fixture *f, uint64_t seed)
{
	*s = (struct site){.f = f, .random = seed, .parent = "root"};
	s->offsets.count = 1;
	s->offsets.steps[0].offset_s = ZONE_S;
	s->offsets.steps[0].start_utc_s = INT64_MIN;
	s->starts[MONTHS] = DECEMBER - ZONE_S;
	for (int i = MONTHS - 1; i >= 0; i--)
		s->starts[i] = s->starts[i + 1] - calendar[i].days * LT_DAY_S;
	for (int i = 0; i < BOOKINGS; i++) {
		const int month = FIRST + (int)draw(s, (uint32_t)(MONTHS - FIRST));
		const int account = (int)draw(s, ACCOUNTS);
		const int64_t at =
		    s->starts[month] + draw(s, (uint32_t)calendar[month].days * 24) * HOUR;
		const struct lt_amount amount = {
		    .money_micros = 1 + draw(s, 999999), .carbon_mg = draw(s, 99999)};

		if (month == EMPTY)
			continue;
		charge_run(f, accounts[account].name, at, &amount);
		s->booked[i].month = month;
		s->booked[i].account = account;
		s->booked[i].at_utc_s = at;
		s->booked[i].micros = amount.money_micros;
		s->booked[i].mg = amount.carbon_mg;
	}
}

static void
check_figure(const json_t *row, const char *key, bool known, int64_t want)
{
	const json_t *const value = json_object_get(row, key);

	if (known)
		assert_int_equal(json_integer_value(value), want);
	else
		assert_true(json_is_null(value));
}

/* The twelve months before that one; vision: of that team, which lab was below from the one time to
 * the other. */
static void
check_trend(const struct site *s, int last, bool vision, struct lt_span below)
{
	char uri[96], label[16];

	snprintf(uri, sizeof(uri), "/v1/report?period=%d-%02d&trend=1%s", calendar[last].year,
	    calendar[last].month, vision ? "&team=vision" : "");
	json_t *const report = ask(s, "GET", uri, NULL);
	const json_t *const trend = json_object_get(report, "trend");
	assert_int_equal(json_array_size(trend), 12);
	for (int k = 0; k < 12; k++) {
		const int month = last - 11 + k;
		const json_t *const row = json_array_get(trend, (size_t)k);
		int64_t micros = 0, mg = 0, runs = 0;

		for (int i = 0; i < BOOKINGS; i++) {
			const int64_t at = s->booked[i].at_utc_s;
			const bool is_of = !vision || s->booked[i].account == 2 ||
					   (s->booked[i].account == 0 && at >= below.from_utc_s &&
					       at < below.to_utc_s);

			if (s->booked[i].micros == 0 || !is_of || s->booked[i].month != month)
				continue;
			micros += s->booked[i].micros;
			mg += s->booked[i].mg;
			runs++;
		}
		check_figure(row, "cost_micros", runs > 0, micros);
		check_figure(row, "carbon_mg", runs > 0, mg);
		check_figure(row, "runs", runs > 0, runs);
		if (month < 0)
			continue;
		snprintf(
		    label, sizeof(label), "%d-%02d", calendar[month].year, calendar[month].month);
		assert_string_equal(json_string_value(json_object_get(row, "label")), label);
		const char *const state = json_string_value(json_object_get(row, "state"));
		assert_int_equal(strcmp(state, "closed") == 0, month >= FIRST && month <= CLOSED);
		if (k < 11)
			continue;
		assert_int_equal(micros, json_integer_value(json_object_get(
					     json_object_get(report, "total"), "cost_micros")));
	}
	json_decref(report);
}

static void
close_months(const struct site *s)
{
	for (int i = FIRST; i <= CLOSED; i++) {
		char body[32];

		snprintf(body, sizeof(body), "{\"period\":\"%d-%02d\"}", calendar[i].year,
		    calendar[i].month);
		json_decref(ask(s, "POST", "/v1/close", body));
	}
}

static void
months_are_sums(void **state)
{
	const struct lt_span never = {0, 0};

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct site s;

		empty(*state);
		make_site(&s, *state, seed);
		close_months(&s);
		for (int last = MONTHS - 4; last < MONTHS; last++) {
			check_trend(&s, last, false, never);
			check_trend(&s, last, true, never);
		}
	}
}

/* Half a year ago, and for some weeks only. */
static void
a_team_has_what_was_below_it(void **state)
{
	struct site s;

	make_site(&s, *state, 11);
	const struct lt_span below = {s.starts[7] + 9 * LT_DAY_S, s.starts[8] + 11 * LT_DAY_S};
	must(s.f, lt_ledger_put_account(s.f->ledger, "lab", "root", s.starts[0], &s.f->err));
	must(s.f, lt_ledger_put_account(s.f->ledger, "lab", "vision", below.from_utc_s, &s.f->err));
	must(s.f, lt_ledger_put_account(s.f->ledger, "lab", "root", below.to_utc_s, &s.f->err));
	close_months(&s);
	check_trend(&s, MONTHS - 1, true, below);
	check_trend(&s, MONTHS - 1, false, below);
}

/* As many days and hours of the month before as have passed of this one. */
static void
an_open_month_is_like_for_like(void **state)
{
	struct site s = {.f = *state, .random = 5, .parent = "root"};
	struct lt_period month, before;
	const int64_t now = time(NULL);

	lt_calendar_period(&month, &s.offsets, LT_MONTH, now, 0);
	lt_calendar_period(&before, &s.offsets, LT_MONTH, month.start_utc_s - 1, 0);
	const int64_t passed = (now - month.start_utc_s) / HOUR * HOUR + HOUR;
	int64_t want = 0, node_s = 0, cut = before.start_utc_s + passed;

	if (cut > before.end_utc_s)
		cut = before.end_utc_s;
	for (int i = 0; i < BOOKINGS; i++) {
		const int64_t at =
		    before.start_utc_s +
		    draw(&s, (uint32_t)((before.end_utc_s - before.start_utc_s) / HOUR)) * HOUR;
		const struct lt_amount amount = {.money_micros = 1 + draw(&s, 999999)};

		charge_run(s.f, accounts[draw(&s, ACCOUNTS)].name, at, &amount);
		if (at < cut) {
			want += amount.money_micros;
			node_s += 60;
		}
	}
	json_t *const report = ask(&s, "GET", "/v1/report?previous=1&by=partition", NULL);
	const json_t *const previous = json_object_get(report, "previous");
	const json_t *const groups = json_object_get(json_object_get(previous, "by"), "partition");
	/* Another hour has begun between. */
	if ((time(NULL) - month.start_utc_s) / HOUR * HOUR + HOUR != passed)
		skip();
	check_figure(json_object_get(previous, "total"), "cost_micros", true, want);
	assert_int_equal(added(groups, "cost_micros"), want);
	assert_int_equal(added(groups, "node_s"), node_s);
	json_decref(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(months_are_sums, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_team_has_what_was_below_it, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_open_month_is_like_for_like, set_up, tear_down),
	};

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	lt_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
