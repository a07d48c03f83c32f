/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes a message when: each threshold once, over restarts and kills between the spool and
 * its note; anew only after it came back; below 100 % once a day, a message a recipient.
 */
#include "alert.h"
#include "alert_send.h"
#include "alerting.h"
#include "alerts.h"
#include "budget_forecast.h"
#include "judge_fixture.h"
#include "spool.h"

enum { RESTARTS = 1000 };

static struct lt_policy_owners owners[] = {
    {.team = "speech", .count = 2, .to = {"ada", "eve@example.org"}},
    {.team = "vision", .count = 2, .to = {"ada", "bob"}},
};

struct site {
	struct world *w;
	char spool[128];
	int seen_count; /* ids that were in the spool, each once */
	char seen[64][LT_MESSAGE_ID_SIZE];
};

static struct site
make_site(struct fixture *f)
{
	struct site s = {.w = make_world(f)};

	snprintf(s.spool, sizeof(s.spool), "%s/spool", f->dir);
	assert_int_equal(mkdir(s.spool, 0700), 0);
	for (int i = 0; i < 2; i++) {
		s.w->budgets[i].alert_count = 4;
		memcpy(s.w->budgets[i].alert_at, (int[]){50, 80, 100, 120}, 4 * sizeof(int));
	}
	s.w->policy.notify = (struct lt_policy_notify){.is_set = true,
	    .mail_server = "smtp://localhost",
	    .digest_hour = 7,
	    .owner_count = 2,
	    .owners = owners};
	snprintf(s.w->policy.notify.spool, sizeof(s.w->policy.notify.spool), "%s", s.spool);
	return s;
}

/* As lowtide-notify: takes all; what it has sent before is not sent. */
static void
take(struct site *s)
{
	struct lt_spool_list list = {0};

	must(s->w->f, lt_spool_list(&list, s->spool, &s->w->f->err));
	for (int i = 0; i < list.count; i++) {
		int at = 0;

		while (at < s->seen_count && strcmp(s->seen[at], list.ids[i]) != 0)
			at++;
		if (at == s->seen_count)
			strcpy(s->seen[s->seen_count++], list.ids[i]);
		must(s->w->f, lt_spool_remove(s->spool, list.ids[i], &s->w->f->err));
	}
	lt_spool_list_free(&list);
}

static void
free_site(struct site *s)
{
	take(s);
	assert_int_equal(rmdir(s->spool), 0);
	free_world(s->w);
}

static void
spend(struct site *s, int team, int percent, int held_percent)
{
	struct lt_period *const p = &s->w->d->budget.snapshot.budgets[team].periods[0];

	p->settled.money_micros = p->limit.money_micros / 100 * percent;
	p->held.money_micros = p->limit.money_micros / 100 * held_percent;
}

enum { UNKNOWN = -1 };

/* What vision is expected to come to, of its budget, in both currencies. */
static void
expect(struct site *s, int percent)
{
	struct lt_budget_state *const b = &s->w->d->budget;
	const struct lt_budget *const of = &b->snapshot.budgets[0];
	const struct lt_amount *const limit = &of->periods[0].limit;
	const struct lt_forecast_range money = {
	    .known = percent != UNKNOWN, .expected = limit->money_micros / 100 * percent};
	const struct lt_forecast_range carbon = {
	    .known = percent != UNKNOWN, .expected = limit->carbon_mg / 100 * percent};

	free(b->forecasts);
	b->forecast_count = 1;
	b->forecasts = calloc(1, sizeof(*b->forecasts));
	assert_non_null(b->forecasts);
	*b->forecasts = (struct lt_budget_forecast){
	    .period = {of->periods[0].start_utc_s, of->periods[0].end_utc_s},
	    .is = {money, carbon}};
	(void)strcpy(b->forecasts->team, of->team);
}

static void
look(struct site *s, int64_t now_utc_s)
{
	must(s->w->f, lt_alerts_run(alerter_of(s->w->d, now_utc_s), &s->w->f->err));
	take(s);
}

static int
due_count(struct site *s)
{
	struct lt_alerts due = {0};

	must(s->w->f, lt_ledger_alerts_due(s->w->d->ledger, &due, &s->w->f->err));
	free(due.rows);
	return (int)due.count;
}

/* "alert:vision:0:0:START:PERCENT" as an id. */
static bool
was_seen(const struct site *s, const char *words)
{
	for (int i = 0; i < s->seen_count; i++)
		if (strstr(s->seen[i], words) != NULL)
			return true;
	return false;
}

/* A process killed after it wrote the message: all is due again. */
static void
forget_notes(struct site *s)
{
	struct lt_alerts all = {0};

	must(s->w->f, lt_ledger_alerts_last(s->w->d->ledger, &all, &s->w->f->err));
	for (uint32_t i = 0; i < all.count; i++) {
		all.rows[i].told_utc_s = 0;
		must(s->w->f, lt_ledger_put_alert(s->w->d->ledger, &all.rows[i], &s->w->f->err));
	}
	free(all.rows);
}

static void
test_restarts(void **state)
{
	struct site s = make_site(*state);

	for (int i = 0; i < RESTARTS; i++) {
		/* 100 % of vision from the 400th on, 120 % from the 800th. */
		spend(&s, 0, i < 400 ? i / 5 : i < 800 ? 100 : 125, i % 30);
		spend(&s, 1, i / 10 < 70 ? i / 10 : 70, 0);
		look(&s, NOW + i);
		if (i % 100 == 50)
			forget_notes(&s);
		reopen(s.w->f);
		s.w->d->ledger = s.w->f->ledger;
		s.w->d->alerts = (struct lt_alert_state){0};
	}
	/* 50 and 80 of vision went with its 100, or as that id again. */
	assert_true(was_seen(&s, "_3a100"));
	assert_true(was_seen(&s, "_3a120"));
	assert_int_equal(s.seen_count, 2);
	assert_int_equal(due_count(&s), 1); /* speech's 50: for the digest */
	look(&s, NOW + LT_DAY_S);
	look(&s, NOW + 2 * LT_DAY_S);
	assert_int_equal(s.seen_count, 4);
	assert_int_equal(due_count(&s), 0);
	free_site(&s);
}

static void
test_hysteresis(void **state)
{
	static const struct {
		const char *why;
		int percent, seen, due;
	} steps[] = {
	    {"below", 99, 0, 2},
	    {"reached", 100, 1, 0},
	    {"a release: not far enough below", 96, 1, 0},
	    {"risen again", 101, 1, 0},
	    {"back on the edge", 95, 1, 0},
	    {"that is still over", 100, 1, 0},
	    {"back below", 94, 1, 0},
	    {"and not there yet", 99, 1, 0},
	    {"anew", 100, 2, 0},
	    {"once", 100, 2, 0},
	    {"all come back", 10, 2, 0},
	    {"the small ones rise anew, and wait for the day's end", 85, 2, 2},
	    {"gone before it: nobody needs to know", 10, 2, 0},
	};
	struct site s = make_site(*state);

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		print_message("# %s\n", steps[i].why);
		spend(&s, 0, steps[i].percent, 0);
		look(&s, NOW + (int64_t)i);
		look(&s, NOW + (int64_t)i);
		assert_int_equal(s.seen_count, steps[i].seen);
		assert_int_equal(due_count(&s), steps[i].due);
	}
	/* Another period is another event. */
	s.w->d->budget.snapshot.budgets[0].periods[0].start_utc_s = DECEMBER;
	s.w->d->budget.snapshot.budgets[0].periods[0].end_utc_s = JANUARY;
	spend(&s, 0, 100, 0);
	look(&s, DECEMBER + 1);
	assert_int_equal(s.seen_count, 3);
	free_site(&s);
}

static void
test_digest(void **state)
{
	struct site s = make_site(*state);
	const int64_t seven = NOW + 7 * LT_HOUR_S;
	struct lt_spool_list list = {0};
	struct lt_message message;
	bool is_adas = false;

	spend(&s, 0, 85, 0);
	spend(&s, 1, 50, 0);
	look(&s, seven - 2);
	look(&s, seven - 1);
	assert_int_equal(s.seen_count, 0);
	assert_int_equal(due_count(&s), 3);
	must(s.w->f, lt_alerts_run(alerter_of(s.w->d, seven), &s.w->f->err));
	assert_int_equal(due_count(&s), 0);
	must(s.w->f, lt_spool_list(&list, s.spool, &s.w->f->err));
	assert_int_equal(list.count, 3); /* ada, bob, eve; no webhook */
	for (int i = 0; i < list.count; i++) {
		must(s.w->f, lt_spool_read(&message, s.spool, list.ids[i], &s.w->f->err));
		assert_int_equal(message.kind, LT_MESSAGE_BUDGET_DIGEST);
		assert_int_equal(message.to_count, 1);
		if (strcmp(message.to[0], "ada") != 0)
			continue;
		is_adas = true;
		assert_string_equal(message.subject, "lowtide: 2 budgets passed an alert");
		/* A line a budget, its largest. */
		assert_non_null(strstr(message.text,
		    "speech has spent $0.25 of $0.50 for 2026-11: 50 % and more.\n"
		    "vision has spent $0.85 of $1.00 for 2026-11: 80 % and more.\n"
		    "\n"));
	}
	assert_true(is_adas);
	lt_spool_list_free(&list);
	/* Of what was passed since, tomorrow. */
	take(&s);
	spend(&s, 1, 80, 0);
	look(&s, seven + 1);
	look(&s, seven + LT_DAY_S - 1);
	assert_int_equal(s.seen_count, 3);
	look(&s, seven + LT_DAY_S);
	assert_int_equal(s.seen_count, 5);
	free_site(&s);
}

/* All of a day go to the site's webhook in one. */
static void
test_site(void **state)
{
	struct site s = make_site(*state);

	snprintf(s.w->policy.notify.webhook_url, sizeof(s.w->policy.notify.webhook_url),
	    "https://example.org/x");
	s.w->policy.notify.mail_server[0] = '\0';
	spend(&s, 0, 50, 0);
	spend(&s, 1, 50, 0);
	look(&s, NOW);
	look(&s, NOW + LT_DAY_S);
	assert_int_equal(s.seen_count, 1);
	free_site(&s);
}

/* With a spool that is full or gone nothing is told, and nothing is lost. */
static void
test_no_spool(void **state)
{
	struct site s = make_site(*state);
	struct lt_error err = {0};

	assert_int_equal(rmdir(s.spool), 0);
	spend(&s, 0, 100, 0);
	spend(&s, 1, 50, 0);
	for (int day = 0; day < 3; day++) {
		assert_int_not_equal(
		    lt_alerts_run(alerter_of(s.w->d, NOW + day * LT_DAY_S), &err), LT_OK);
		assert_int_equal(due_count(&s), 4);
	}
	assert_int_equal(mkdir(s.spool, 0700), 0);
	look(&s, NOW + 3 * LT_DAY_S);
	assert_int_equal(s.seen_count, 3);
	assert_int_equal(due_count(&s), 0);
	free_site(&s);
}

static void
test_held(void **state)
{
	struct site s = make_site(*state);

	spend(&s, 0, 10, 95);
	look(&s, NOW);
	assert_int_equal(due_count(&s), 0);
	s.w->budgets[0].alert_on = 1u << LT_ALERT_ON_SPENT | 1u << LT_ALERT_ON_HELD;
	look(&s, NOW + 1);
	assert_int_equal(s.seen_count, 1);
	assert_true(was_seen(&s, "_3aheld_3a100"));
	spend(&s, 0, 100, 0);
	look(&s, NOW + 2);
	assert_int_equal(s.seen_count, 2);
	free_site(&s);
}

static void
test_forecast(void **state)
{
	static const struct {
		const char *why;
		int percent, seen, due;
	} steps[] = {
	    {"below", 79, 0, 1},
	    {"reached", 100, 1, 0},
	    {"not known: told all the same", UNKNOWN, 1, 0},
	    {"known again: nothing new", 104, 1, 0},
	    {"it was never below", UNKNOWN, 1, 0},
	    {"a little less", 96, 1, 0},
	    {"risen again", 101, 1, 0},
	    {"back below", 94, 1, 0},
	    {"not known, and so not risen", UNKNOWN, 1, 0},
	    {"not there yet", 99, 1, 0},
	    {"anew", 100, 2, 0},
	    {"once", 100, 2, 0},
	};
	struct site s = make_site(*state);
	struct lt_amount *const limit = &s.w->d->budget.snapshot.budgets[0].periods[0].limit;

	*limit = (struct lt_amount){true, true, BUDGET, BUDGET};
	spend(&s, 0, 10, 0);
	expect(&s, 110);
	look(&s, NOW); /* not asked for */
	assert_int_equal(s.seen_count + due_count(&s), 0);
	s.w->budgets[0].alert_on = 1u << LT_ALERT_ON_FORECAST;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		print_message("# %s\n", steps[i].why);
		reopen(s.w->f);
		s.w->d->ledger = s.w->f->ledger;
		s.w->d->alerts = (struct lt_alert_state){0};
		expect(&s, steps[i].percent);
		look(&s, NOW + (int64_t)i);
		look(&s, NOW + (int64_t)i);
		assert_int_equal(s.seen_count, steps[i].seen);
		assert_int_equal(due_count(&s), steps[i].due);
	}
	assert_true(was_seen(&s, "_3aforecast_3a100"));
	/* Of one currency it is not known: the other alone tells nothing. */
	expect(&s, 50);
	s.w->d->budget.forecasts->is.carbon.known = false;
	look(&s, NOW + 100);
	expect(&s, 50);
	s.w->d->budget.forecasts->is.money.known = false;
	look(&s, NOW + 100);
	expect(&s, 100);
	look(&s, NOW + 101);
	assert_int_equal(s.seen_count, 2);
	/* That of another period, or team, is none of this one. */
	expect(&s, 120);
	s.w->d->budget.forecasts->period.to_utc_s++;
	look(&s, NOW + 102);
	expect(&s, 120);
	s.w->d->budget.forecasts->team[0] = 'x';
	look(&s, NOW + 103);
	assert_int_equal(s.seen_count, 2);
	expect(&s, 120);
	look(&s, NOW + 104);
	assert_int_equal(s.seen_count, 3);
	free_site(&s);
}

/* What a release before version 23 told. */
static void
test_old_memory(void **state)
{
	struct site s = make_site(*state);
	char remembered[64];

	snprintf(remembered, sizeof(remembered), "%lld 50 80 100", (long long)NOVEMBER);
	must(s.w->f, lt_ledger_put(s.w->d->ledger, "alert:vision:0:0", remembered, &s.w->f->err));
	spend(&s, 0, 110, 0);
	look(&s, NOW);
	look(&s, NOW + LT_DAY_S);
	assert_int_equal(s.seen_count, 0);
	free_site(&s);
}

/* Without notify: it is told by its log line. */
/* A user whose share of the spool is full waits; another's run, and what a budget passed, do
 * not. */
static void
test_shares(void **state)
{
	struct site s = make_site(*state);
	struct lt_message message = {.kind = LT_MESSAGE_ENDED,
	    .made_utc_s = NOW,
	    .to_count = 1,
	    .to = {"ada"},
	    .subject = "x",
	    .text = "x\n"};
	struct lt_spool_state left = {0};

	for (int i = 0; i < LT_SPOOL_USER_MAX; i++) {
		snprintf(message.id, sizeof(message.id), "u1000-%d", i);
		must(s.w->f, lt_spool_write(s.spool, &message, &s.w->f->err));
	}
	for (uint32_t uid = 1000; uid <= 1001; uid++) {
		struct lt_alert alert = {.kind = LT_ALERT_IDLE,
		    .uid = uid,
		    .job_id = uid,
		    .times = 1,
		    .is_over = true,
		    .made_utc_s = NOW,
		    .team = "vision",
		    .subject = "x",
		    .text = "x\n",
		    .to = "ada"};

		snprintf(alert.name, sizeof(alert.name), "idle:%u", uid);
		must(s.w->f, lt_ledger_put_alert(s.w->d->ledger, &alert, &s.w->f->err));
	}
	spend(&s, 0, 101, 0);
	must(s.w->f, lt_alerts_run(alerter_of(s.w->d, NOW), &s.w->f->err));
	must(s.w->f, lt_spool_look(&left, s.spool, &s.w->f->err));
	assert_int_equal(left.count, LT_SPOOL_USER_MAX + 2);
	assert_int_equal(left.users_count, LT_SPOOL_USER_MAX + 1);
	assert_int_equal(due_count(&s), 1);
	for (int i = 0; i < LT_SPOOL_USER_MAX; i++) {
		snprintf(message.id, sizeof(message.id), "u1000-%d", i);
		must(s.w->f, lt_spool_remove(s.spool, message.id, &s.w->f->err));
	}
	must(s.w->f, lt_alerts_run(alerter_of(s.w->d, NOW), &s.w->f->err));
	assert_int_equal(due_count(&s), 0);
	free_site(&s);
}

static void
test_no_notify(void **state)
{
	struct site s = make_site(*state);

	s.w->policy.notify.is_set = false;
	spend(&s, 0, 110, 0);
	look(&s, NOW);
	assert_int_equal(due_count(&s), 0);
	s.w->policy.notify.is_set = true;
	look(&s, NOW + LT_DAY_S);
	assert_int_equal(s.seen_count, 0);
	free_site(&s);
}

static void
test_hours(void **state)
{
	static const struct lt_offsets utc;

	(void)state;
	assert_int_equal(lt_alert_digest_utc_s(&utc, 0, NOW), NOW);
	assert_int_equal(lt_alert_digest_utc_s(&utc, 0, NOW - 1), NOW - LT_DAY_S);
	assert_int_equal(lt_alert_digest_utc_s(&utc, 7, NOW), NOW - 17 * LT_HOUR_S);
	assert_int_equal(lt_alert_next_digest_utc_s(&utc, 0, NOW), NOW + LT_DAY_S);
	assert_int_equal(lt_alert_next_digest_utc_s(&utc, 7, NOW), NOW + 7 * LT_HOUR_S);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_restarts), TEST(test_hysteresis),
	    TEST(test_digest), TEST(test_site), TEST(test_no_spool), TEST(test_held),
	    TEST(test_forecast), TEST(test_old_memory), TEST(test_no_notify), TEST(test_shares),
	    cmocka_unit_test(test_hours)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
