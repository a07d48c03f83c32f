/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random trees of accounts in lowtided's report: each with those below it, and the sums by a label,
 * against sums over the amounts that were booked.
 */
#include <stdio.h>
#include <string.h>

#include "accounts.h"
#include "api_ask.h"
#include "ledger_fixture.h"
#include "log.h"
#include "policy.h"

enum { OCTOBER = NOVEMBER - 31 * LT_DAY_S, ACCOUNTS = 24, MONTHS = 2, BOOKINGS_MAX = 8 * ACCOUNTS };

static const char *const centers[] = {"4711", "4712", "a, \"b\""};
enum { CENTERS = sizeof(centers) / sizeof(centers[0]) };

struct booking {
	int month, account;
	int64_t at_utc_s, micros, mg;
	bool is_run;
};

struct site { /* account 0 is root, and above all */
	struct fixture *f;
	uint64_t random;
	struct lt_account accounts[ACCOUNTS];
	int labels[ACCOUNTS];	  /* a center; -1: none */
	int parents[2][ACCOUNTS]; /* before that time, and since */
	int64_t moved_utc_s;
	struct booking booked[BOOKINGS_MAX];
	int count;
};

static uint32_t
draw(struct site *s, uint32_t below)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(s->random >> 33) % below;
}

static void
book(struct site *s, int month, int account)
{
	const int64_t at = (month == 0 ? OCTOBER : NOVEMBER) + (int64_t)draw(s, 27 * 24) * HOUR;
	const struct lt_amount amount = {
	    .money_micros = 1 + draw(s, 9999999), .carbon_mg = draw(s, 99999)};
	const int64_t given = -(int64_t)draw(s, 99999);

	charge_run(s->f, s->accounts[account].name, at, &amount);
	s->booked[s->count++] =
	    (struct booking){month, account, at, amount.money_micros, amount.carbon_mg, true};
	if (draw(s, 3) > 0)
		return;
	adjust_account(s->f, s->accounts[account].name, at, given);
	s->booked[s->count++] = (struct booking){month, account, at, given, 0, false};
}

/* A third of the accounts has no entry of its own. */
static void
make_site(struct site *s, struct fixture *f, uint64_t seed)
{
	*s = (struct site){.f = f, .random = seed};
	empty(f);
	for (int i = 0; i < ACCOUNTS; i++) {
		snprintf(
		    s->accounts[i].name, sizeof(s->accounts[i].name), i == 0 ? "root" : "t%02d", i);
		s->parents[0][i] = i == 0 ? -1 : (int)draw(s, (uint32_t)i);
		s->parents[1][i] = s->parents[0][i];
		s->labels[i] = (int)draw(s, 2 * CENTERS) - CENTERS;
	}
	s->labels[0] = -1;
	for (int i = seed % 2 == 0; i < ACCOUNTS; i++)
		for (int k = (int)draw(s, 3); k > 0; k--)
			book(s, (int)draw(s, MONTHS), i);
}

static struct lt_policy *
policy_of(const struct site *s)
{
	static const char *const no_adapters[] = {NULL};
	struct lt_policy_errors errors = {0};
	struct lt_policy *policy;
	char text[4096] = "currency: USD\nlabels:\n  none: {x: y}\n";

	for (int i = 0; i < ACCOUNTS; i++)
		if (s->labels[i] >= 0)
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
			    "  %s: {cost_center: '%s'}\n", s->accounts[i].name,
			    centers[s->labels[i]]);
	if (lt_policy_parse_all(&policy, &(struct lt_policy_text){"policy", text, strlen(text)},
		no_adapters, &errors) != LT_OK)
		fail_msg("%s", errors.items[0].text);
	return policy;
}

static json_t *
ask(const struct site *s, const struct lt_api_asked *asked)
{
	struct lt_policy *const policy = policy_of(s);
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_batch_account rows[ACCOUNTS] = {0};
	char *text = NULL;

	assert_non_null(d);
	for (int i = 0; i < ACCOUNTS; i++) {
		strcpy(rows[i].name, s->accounts[i].name);
		if (s->parents[1][i] >= 0)
			strcpy(rows[i].parent, s->accounts[s->parents[1][i]].name);
	}
	lt_accounts_sort(rows, ACCOUNTS);
	d->ledger = s->f->ledger;
	d->site.policy = policy;
	d->site.tables.accounts = rows;
	d->site.tables.account_count = ACCOUNTS;
	d->budget.has_snapshot = true;
	d->charges.settled_until_utc_s = INT64_MAX / 2;
	d->budget.snapshot.accounts = (struct lt_account *)s->accounts;
	d->budget.snapshot.account_count = ACCOUNTS;
	const int status = lt_api(d, asked, &text);
	if (status != 200)
		fail_msg("%s: %d, %s", asked->uri, status, text);
	json_t *const json = json_loads(text, 0, NULL);
	assert_non_null(json);
	free(text);
	lt_policy_free(policy);
	free(d);
	return json;
}

static json_t *
get(const struct site *s, const char *uri)
{
	return ask(s, &(struct lt_api_asked){.method = "GET", .uri = uri});
}

static bool
is_below(const struct site *s, int account, int above, int64_t at_utc_s)
{
	while (account >= 0 && account != above)
		account = s->parents[at_utc_s >= s->moved_utc_s][account];
	return account == above;
}

static int64_t
figure(const json_t *row, const char *key)
{
	assert_true(json_is_integer(json_object_get(row, key)));
	return json_integer_value(json_object_get(row, key));
}

static const char *
text_of(const json_t *row, const char *key)
{
	const char *const text = json_string_value(json_object_get(row, key));

	return text != NULL ? text : "";
}

struct sums {
	int64_t micros, mg, own_micros, own_mg, own_runs;
	bool any;
};

/* Of what was booked while its account was below that one, or is. */
static struct sums
booked_below(const struct site *s, int month, int account)
{
	struct sums sums = {0};

	for (int i = 0; i < s->count; i++) {
		const struct booking *const b = &s->booked[i];

		if (b->month != month || !is_below(s, b->account, account, b->at_utc_s))
			continue;
		sums.micros += b->micros;
		sums.mg += b->mg;
		sums.any |= account != 0 || b->account == 0;
		if (b->account != account)
			continue;
		sums.own_micros += b->micros;
		sums.own_mg += b->mg;
		sums.own_runs += b->is_run;
	}
	return sums;
}

/* The same of its rows: two of an account that was moved. */
static struct sums
rows_of(const struct site *s, int account, const json_t *tree)
{
	struct sums sums = {0};
	size_t i;
	json_t *row;

	json_array_foreach(tree, i, row) {
		const char *const parent = text_of(row, "parent");
		bool is_parent = false;

		if (strcmp(text_of(row, "team"), s->accounts[account].name) != 0)
			continue;
		sums.any = true;
		sums.micros += figure(row, "cost_micros");
		sums.mg += figure(row, "carbon_mg");
		sums.own_micros += figure(row, "own_micros");
		sums.own_mg += figure(row, "own_mg");
		sums.own_runs += figure(row, "own_runs");
		for (int k = 0; k < 2; k++) {
			const int above = s->parents[k][account];

			is_parent |=
			    parent[0] == '\0'
				? above <= 0
				: above >= 0 && strcmp(s->accounts[above].name, parent) == 0;
		}
		assert_true(is_parent);
		assert_int_equal(figure(row, "level") == 0, parent[0] == '\0');
	}
	return sums;
}

/* Each row is what is its own and what its children are. */
static void
check_parents(const json_t *tree)
{
	const size_t count = json_array_size(tree);

	for (size_t i = 0; i < count; i++) {
		const json_t *const row = json_array_get(tree, i);
		int64_t sum = figure(row, "own_micros");

		for (size_t k = i + 1; k < count; k++) {
			const json_t *const below = json_array_get(tree, k);
			const int64_t level = figure(below, "level");

			if (level <= figure(row, "level"))
				break;
			if (level > figure(row, "level") + 1)
				continue;
			assert_string_equal(text_of(below, "parent"), text_of(row, "team"));
			sum += figure(below, "cost_micros");
		}
		assert_int_equal(sum, figure(row, "cost_micros"));
	}
}

/* The rows of the top, and what is each one's own, are the total each. */
static void
check_tree(const struct site *s, int month, const json_t *report)
{
	const json_t *const tree = json_object_get(report, "tree");
	const json_t *const total = json_object_get(report, "total");
	int64_t tops = 0, level = -1;
	size_t i;
	json_t *row;

	assert_true(json_is_array(tree));
	for (int account = 0; account < ACCOUNTS; account++) {
		const struct sums want = booked_below(s, month, account);
		const struct sums got = rows_of(s, account, tree);

		assert_int_equal(got.any, want.any);
		if (!want.any)
			continue;
		assert_int_equal(got.micros, want.micros);
		assert_int_equal(got.mg, want.mg);
		assert_int_equal(got.own_micros, want.own_micros);
		assert_int_equal(got.own_mg, want.own_mg);
		assert_int_equal(got.own_runs, want.own_runs);
	}
	check_parents(tree);
	json_array_foreach(tree, i, row) {
		assert_in_range(figure(row, "level"), 0, level + 1);
		level = figure(row, "level");
		tops += level == 0 ? figure(row, "cost_micros") : 0;
	}
	assert_int_equal(tops, figure(total, "cost_micros"));
	assert_int_equal(added(tree, "own_micros"), figure(total, "cost_micros"));
	assert_int_equal(added(tree, "own_mg"), figure(total, "carbon_mg"));
	assert_int_equal(added(tree, "own_runs"), figure(total, "runs"));
}

/* The nearest center above, or "". */
static const char *
center_of(const struct site *s, int account)
{
	while (account >= 0 && s->labels[account] < 0)
		account = s->parents[1][account];
	return account < 0 ? "" : centers[s->labels[account]];
}

static void
check_labels(const struct site *s, int month, const json_t *report)
{
	const json_t *const groups =
	    json_object_get(json_object_get(report, "by"), "label:cost_center");
	int64_t sum = 0;

	for (int k = 0; k <= CENTERS; k++) {
		const char *const center = k < CENTERS ? centers[k] : "";
		int64_t want = 0, got = 0;
		size_t i;
		json_t *row;

		for (int b = 0; b < s->count; b++)
			if (s->booked[b].month == month &&
			    strcmp(center_of(s, s->booked[b].account), center) == 0)
				want += s->booked[b].micros;
		json_array_foreach(groups, i, row)
			if (strcmp(json_string_value(json_object_get(row, "label:cost_center")),
				center) == 0)
				got += figure(row, "cost_micros");
		assert_int_equal(got, want);
		sum += got;
	}
	assert_int_equal(sum, figure(json_object_get(report, "total"), "cost_micros"));
	assert_int_equal(sum, added(groups, "cost_micros"));
}

#define QUERY "&tree=1&by=label:cost_center;user,team;label:cost_center,day;label:none"

static void
check_report(const struct site *s, int month)
{
	json_t *const report = get(
	    s, month == 0 ? "/v1/report?period=2026-10" QUERY : "/v1/report?period=2026-11" QUERY);
	const int64_t cost = figure(json_object_get(report, "total"), "cost_micros");
	const char *by;
	json_t *groups;

	check_tree(s, month, report);
	check_labels(s, month, report);
	assert_int_equal(json_object_size(json_object_get(report, "by")), 4);
	json_object_foreach(json_object_get(report, "by"), by, groups) {
		if (added(groups, "cost_micros") != cost)
			fail_msg("%s: not the total", by);
	}
	json_decref(report);
}

static void
close_october(const struct site *s)
{
	static const char body[] = "{\"period\":\"2026-10\"}";

	json_decref(ask(s,
	    &(struct lt_api_asked){
		.method = "POST", .uri = "/v1/close", .body = body, .body_length = strlen(body)}));
}

static void
sums_are_of_trees(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct site s;

		make_site(&s, *state, seed);
		for (int month = 0; month < MONTHS; month++)
			check_report(&s, month);
		close_october(&s);
		check_report(&s, 0);
	}
}

static void
put_accounts(struct site *s, int which, int64_t at_utc_s)
{
	for (int i = 0; i < ACCOUNTS; i++)
		must(s->f, lt_ledger_put_account(s->f->ledger, s->accounts[i].name,
			       i == 0 ? "" : s->accounts[s->parents[which][i]].name, at_utc_s,
			       &s->f->err));
}

/* What was labelled and moved since is not so in the closed month; what is moved within a month
 * stays where it was until then. */
static void
moved_accounts_are_where_they_were(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct site s;

		make_site(&s, *state, seed);
		put_accounts(&s, 0, OCTOBER);
		for (int i = 1; i < ACCOUNTS; i++)
			book(&s, i % MONTHS, i);
		close_october(&s);
		struct site before = s;
		s.moved_utc_s = NOVEMBER + 13 * LT_DAY_S;
		for (int i = 1; i < ACCOUNTS; i++) {
			s.labels[i] = (int)draw(&s, CENTERS);
			if (draw(&s, 3) == 0)
				s.parents[1][i] = (int)draw(&s, (uint32_t)i);
		}
		put_accounts(&s, 1, s.moved_utc_s);
		json_t *const october = get(&s, "/v1/report?period=2026-10" QUERY);
		check_tree(&s, 0, october);
		check_labels(&before, 0, october);
		json_decref(october);
		check_report(&s, 1);
	}
}

/* Of one team: it is on top, with all below it. */
static void
a_team_is_its_top(void **state)
{
	struct site s;

	make_site(&s, *state, 7);
	for (int i = 1; i < ACCOUNTS; i++) {
		char uri[96];

		book(&s, 1, i);
		snprintf(uri, sizeof(uri), "/v1/report?period=2026-11&tree=1&team=%s",
		    s.accounts[i].name);
		json_t *const report = get(&s, uri);
		const json_t *const first = json_array_get(json_object_get(report, "tree"), 0);
		assert_string_equal(
		    json_string_value(json_object_get(first, "team")), s.accounts[i].name);
		assert_true(json_is_null(json_object_get(first, "parent")));
		assert_int_equal(figure(first, "cost_micros"), booked_below(&s, 1, i).micros);
		assert_int_equal(figure(first, "cost_micros"),
		    figure(json_object_get(report, "total"), "cost_micros"));
		check_parents(json_object_get(report, "tree"));
		json_decref(report);
	}
}

static void
what_is_no_label_is_refused(void **state)
{
	static const char *const words[] = {"label", "label:", "label:a%22b", "label:lowtide/x",
	    "labels:x", "label:0123456789012345678901234567890123456789012345678901234567890123"};
	struct site s;

	make_site(&s, *state, 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct lt_policy policy = {.currency = "USD"};
		struct lt_daemon *const d = calloc(1, sizeof(*d));
		char uri[160];

		assert_non_null(d);
		d->ledger = s.f->ledger;
		d->site.policy = &policy;
		d->budget.has_snapshot = true;
		snprintf(uri, sizeof(uri), "/v1/report?by=%s", words[i]);
		char *const text = api_ask_text(d, uri, 400);
		assert_non_null(strstr(text, "label:KEY"));
		free(text);
		free(d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(sums_are_of_trees, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(moved_accounts_are_where_they_were, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_team_is_its_top, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(what_is_no_label_is_refused, set_up, tear_down),
	};

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	lt_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
