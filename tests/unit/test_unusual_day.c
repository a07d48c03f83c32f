/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which days are unusual, that missing weeks are not zero, and that a day is told once.
 */
#include "alert.h"
#include "alerting.h"
#include "judge_fixture.h"
#include "alert_looks.h"

static const struct {
	const char *why;
	struct lt_unusual of;
	bool is_unusual;
	int64_t mean;
} cases[] = {
    {"twice the mean, and above the floor", {200, {100, 100, 100, 100}, 4, 50, 99}, true, 100},
    {"on the percentage", {150, {100, 100, 100, 100}, 4, 50, 10}, false, 100},
    {"one above it", {151, {100, 100, 100, 100}, 4, 50, 10}, true, 100},
    {"on the floor", {200, {100, 100, 100, 100}, 4, 50, 100}, false, 100},
    {"below the mean", {50, {100, 100, 100, 100}, 4, 50, 0}, false, 100},
    {"three weeks are enough", {400, {100, 100, 100, 0}, 3, 50, 10}, true, 100},
    {"two are not", {400, {100, 100, 0, 0}, 2, 50, 10}, false, 100},
    {"none", {400, {0}, 0, 50, 10}, false, 0},
    {"weeks of zero are zero", {11, {0, 0, 0, 0}, 4, 50, 10}, true, 0},
    {"a day of nothing is not", {0, {0, 0, 0, 0}, 4, 50, 0}, false, 0},
    {"after credits any cost is", {5, {-100, -100, -100, -100}, 4, 50, 10}, true, -100},
    {"the largest amounts", {INT64_MAX, {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, 4, 50, 1},
	false, INT64_MAX},
};

static void
test_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t mean;

		if (lt_unusual_is(&cases[i].of, &mean) != cases[i].is_unusual ||
		    mean != cases[i].mean)
			fail_msg("%s: mean %lld", cases[i].why, (long long)mean);
	}
}

enum { TODAY = 34 }; /* days after 1 November: 5 December */

static void
charge(struct world *w, const char *account, int day, int64_t money_micros)
{
	charge_run(w->f, account, NOVEMBER + day * LT_DAY_S + 7200,
	    &(struct lt_amount){true, true, money_micros, 0});
}

static uint32_t
look(struct world *w, struct lt_alert *last)
{
	struct lt_alerts all = {0};

	must(w->f, lt_alert_look(alerter_of(w->d, NOVEMBER + TODAY * LT_DAY_S + 3600), LT_ALERT_DAY,
		       &w->f->err));
	must(w->f, lt_ledger_alerts_last(w->f->ledger, &all, &w->f->err));
	if (all.count > 0)
		*last = all.rows[0];
	free(all.rows);
	return all.count;
}

static void
test_days(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_alert last = {0};

	/* vision each day, speech since a week; free has neither budget nor owners. */
	for (int day = 0; day < TODAY - 1; day++) {
		charge(w, "vision", day, 1000000);
		charge(w, "free", day, 1000000);
	}
	for (int day = TODAY - 8; day < TODAY - 1; day++)
		charge(w, "speech", day, 1000000);
	charge(w, "speech", TODAY - 1, 90000000);
	charge(w, "free", TODAY - 1, 90000000);
	charge(w, "vision", TODAY - 1, 1400000);
	compile(w, NOVEMBER + TODAY * LT_DAY_S);
	w->policy.notify = (struct lt_policy_notify){.is_set = true,
	    .alerts.unusual = {
		.percent = 50, .floor = {.has_money = true, .money_micros = 500000}}};
	w->d->charges.settled_until_utc_s = NOVEMBER + TODAY * LT_DAY_S + 60;
	/* What an admin books is no usage. */
	adjust_account(w->f, "vision", NOVEMBER + (TODAY - 1) * LT_DAY_S, 90000000);
	assert_int_equal(look(w, &last), 0);
	charge(w, "vision", TODAY - 1, 200000);
	/* Not before all of the day is settled. */
	w->d->charges.settled_until_utc_s = NOVEMBER + TODAY * LT_DAY_S - 1;
	assert_int_equal(look(w, &last), 0);
	w->d->charges.settled_until_utc_s = NOVEMBER + TODAY * LT_DAY_S + 60;
	assert_int_equal(look(w, &last), 1);
	assert_int_equal(last.kind, LT_ALERT_DAY);
	assert_string_equal(last.team, "vision");
	assert_string_equal(last.subject, "lowtide: vision spent unusually much on 2026-12-04");
	assert_non_null(strstr(last.text,
	    "vision spent $1.60 on 2026-12-04, against a mean of $1.00 on the same day of the 4 weeks before.\n"));
	/* Once, whatever comes late. */
	reopen(w->f);
	w->d->ledger = w->f->ledger;
	charge(w, "vision", TODAY - 1, 9000000);
	assert_int_equal(look(w, &last), 1);
	/* Off. */
	w->policy.notify.alerts.unusual.percent = 0;
	assert_int_equal(look(w, &last), 1);
	free_world(w);
}

/* Of the site's zone: an hour of UTC's day before belongs to it, and its last one does not. */
static void
test_zone(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_alert last = {0};

	w->d->site.offsets = (struct lt_offsets){.count = 1, .steps = {{INT64_MIN, 3600, "CET"}}};
	for (int day = 0; day < TODAY - 1; day++)
		charge(w, "vision", day, 1000000);
	charge_run(w->f, "vision", NOVEMBER + (TODAY - 1) * LT_DAY_S - 1800,
	    &(struct lt_amount){true, true, 1600000, 0});
	charge_run(w->f, "vision", NOVEMBER + TODAY * LT_DAY_S - 1800,
	    &(struct lt_amount){true, true, 70000000, 0});
	compile(w, NOVEMBER + TODAY * LT_DAY_S);
	w->policy.notify = (struct lt_policy_notify){.is_set = true,
	    .alerts.unusual = {
		.percent = 50, .floor = {.has_money = true, .money_micros = 500000}}};
	w->d->charges.settled_until_utc_s = NOVEMBER + TODAY * LT_DAY_S - 3600;
	assert_int_equal(look(w, &last), 1);
	assert_non_null(strstr(last.text, "vision spent $1.60 on 2026-12-04,"));
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_is),
	    cmocka_unit_test_setup_teardown(test_days, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_zone, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
