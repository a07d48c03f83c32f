/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What owners are told of a closed period is what `report --team` shows them:
 * of random trees whose accounts are moved while runs are charged.
 */
#include <time.h>

#include "alert.h"
#include "periods.h"
#include "report_world.h"

enum { TEAMS = 12, MOVES = 5, CHARGES = 150 };

struct tree {
	struct world world;
	struct lt_account accounts[TEAMS];
	struct lt_batch_account parents[TEAMS];
	struct lt_policy_owners owners[TEAMS];
	struct lt_policy policy;
	struct lt_daemon *d;
};

/* Of one that stands before it: no loops, and 0 is root. */
static uint32_t
any_parent(struct tree *t, uint32_t account)
{
	return draw(&t->world, account);
}

static void
put_parent(struct tree *t, uint32_t account, int64_t at_utc_s)
{
	const char *const parent = account > 0 ? t->parents[any_parent(t, account)].name : "";

	(void)strcpy(t->parents[account].parent, parent);
	must(t->world.f, lt_ledger_put_account(t->world.f->ledger, t->parents[account].name, parent,
			     at_utc_s, &t->world.f->err));
}

/* Cents and grams, so that texts say all of them. */
static void
charge_some(struct tree *t, int64_t from_utc_s, int64_t to_utc_s, int count)
{
	struct world *const w = &t->world;

	while (count-- > 0) {
		const struct lt_amount amount = {.has_money = true,
		    .money_micros = 10000 * (int64_t)draw(w, 100000),
		    .has_carbon = true,
		    .carbon_mg = 1000 * (int64_t)draw(w, 9)};
		const int64_t at = from_utc_s + draw(w, (uint32_t)(to_utc_s - from_utc_s));

		charge_run(w->f, t->accounts[draw(w, TEAMS)].name, at - at % HOUR, &amount);
	}
}

static void
plant(struct tree *t, struct fixture *f, uint32_t seed)
{
	t->world = (struct world){.f = f, .random = seed};
	for (uint32_t i = 0; i < TEAMS; i++) {
		snprintf(
		    t->parents[i].name, sizeof(t->parents[i].name), i > 0 ? "team%02u" : "root", i);
		(void)strcpy(t->accounts[i].name, t->parents[i].name);
		(void)strcpy(t->owners[i].team, t->parents[i].name);
		put_parent(t, i, OCTOBER - LT_DAY_S);
	}
	t->policy = (struct lt_policy){.currency = "USD",
	    .notify = {.is_set = true, .owner_count = TEAMS, .owners = t->owners}};
	t->d = daemon_of(&t->world, &t->policy);
	t->d->site.tables.accounts = t->parents;
	t->d->site.tables.account_count = TEAMS;
	t->d->budget.snapshot.accounts = t->accounts;
	t->d->budget.snapshot.account_count = TEAMS;
}

/* The moves are read when lowtided learns of one. */
static void
learn_moves(struct tree *t)
{
	struct fixture *const f = t->world.f;

	free(t->d->site.tables.moves.list);
	t->d->site.tables.moves = (struct lt_account_moves){0};
	must(f, lt_ledger_account_moves(f->ledger, &t->d->site.tables.moves, &f->err));
}

static void
close_label(struct tree *t, const char *label)
{
	json_t *const body = json_pack("{s:s}", "period", label);
	json_t *reply = NULL;
	const int status = lt_api_close(t->d,
	    &(struct lt_api_request){
		.body = body, .is_admin = true, .now_utc_s = JANUARY + 5 * LT_DAY_S},
	    &reply);

	if (status != 200)
		fail_msg("%s: %s", label, json_string_value(json_object_get(reply, "error")));
	json_decref(reply);
	json_decref(body);
}

/* The alert of that team and period has the report's figures, or there is
 * none where the report has nothing. True: it is told. */
static bool
is_as_reported(struct tree *t, const char *team, const char *label, const struct lt_alerts *alerts)
{
	char uri[128], want[300], money[64], carbon[64];
	const struct lt_alert *alert = NULL;

	snprintf(uri, sizeof(uri), "/v1/report?period=%s&team=%s", label, team);
	json_t *const report = api_ask(t->d, uri, 200);
	const json_t *const total = json_object_get(report, "total");
	const json_int_t micros = json_integer_value(json_object_get(total, "cost_micros"));
	const json_int_t mg = json_integer_value(json_object_get(total, "carbon_mg"));
	const json_int_t runs = json_integer_value(json_object_get(total, "runs"));

	lt_money_text(money, sizeof(money), micros, "USD");
	lt_carbon_text(carbon, sizeof(carbon), mg);
	snprintf(want, sizeof(want), "lowtide: %s, %s: %s, %s CO2e", team, label, money, carbon);
	for (uint32_t i = 0; i < alerts->count; i++)
		if (strcmp(alerts->rows[i].team, team) == 0 &&
		    strstr(alerts->rows[i].subject, label) != NULL)
			alert = &alerts->rows[i];
	json_decref(report);
	if (runs == 0) {
		assert_null(alert);
		return false;
	}
	assert_non_null(alert);
	assert_string_equal(alert->subject, want);
	snprintf(want, sizeof(want), "Runs (%lld): %s, %s CO2e", (long long)runs, money, carbon);
	if (strstr(alert->text, want) == NULL)
		fail_msg("%s says nothing of %s", alert->text, want);
	return true;
}

static void
owners_are_told_what_the_report_shows(void **state)
{
	int told = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 10; seed++) {
		struct tree *const t = calloc(1, sizeof(*t));
		struct lt_alerts alerts;
		int64_t at = OCTOBER;
		void *f = NULL;

		assert_non_null(t);
		assert_int_equal(set_up(&f), 0);
		plant(t, f, seed);
		for (int move = 0; move < MOVES; move++) {
			const int64_t next = at + 1 + draw(&t->world, 10 * LT_DAY_S);

			charge_some(t, at, next, CHARGES / MOVES);
			put_parent(t, 1 + draw(&t->world, TEAMS - 1), next);
			at = next;
		}
		learn_moves(t);
		close_label(t, "2026-10");
		close_label(t, "2026-11");
		close_label(t, "2026-Q4"); /* after its months: told, too */
		must(f, lt_ledger_alerts_due(t->world.f->ledger, &alerts, &t->world.f->err));
		for (int i = 0; i < TEAMS; i++) {
			told += is_as_reported(t, t->parents[i].name, "2026-10", &alerts);
			told += is_as_reported(t, t->parents[i].name, "2026-11", &alerts);
			told += is_as_reported(t, t->parents[i].name, "2026-Q4", &alerts);
		}
		free(alerts.rows);
		free(t->d->site.tables.moves.list);
		free(t->d);
		free(t);
		assert_int_equal(tear_down(&f), 0);
	}
	assert_true(told > 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(owners_are_told_what_the_report_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
