/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a run costs several times what was expected of it, and that it is said once, to whom; and
 * when lowtided looks for that and for other kinds.
 */
#include "alert.h"
#include "alert_send.h"
#include "alerting.h"
#include "judge_fixture.h"
#include "alert_looks.h"
#include "spool.h"

enum { TEXT_SIZE = 4096 };

static const struct {
	const char *why;
	struct lt_amount expected, cost;
	uint32_t tasks;
	bool is_above;
} cases[] = {
    {"on it", {.has_money = true, .money_micros = 100}, {.has_money = true, .money_micros = 300}, 1,
	false},
    {"above", {.has_money = true, .money_micros = 100}, {.has_money = true, .money_micros = 301}, 1,
	true},
    {"of one task", {.has_money = true, .money_micros = 1000},
	{.has_money = true, .money_micros = 301}, 10, true},
    {"nothing was expected", {.has_money = true, .money_micros = 0},
	{.has_money = true, .money_micros = 301}, 1, false},
    {"a credit was", {.has_money = true, .money_micros = -100},
	{.has_money = true, .money_micros = 301}, 1, false},
    {"no price is known", {.has_money = true, .money_micros = 100},
	{.has_carbon = true, .carbon_mg = 1000}, 1, false},
    {"in carbon, at a site without money", {.has_carbon = true, .carbon_mg = 100},
	{.has_carbon = true, .carbon_mg = 301}, 1, true},
    {"money counts where there is some", {true, true, 100, 100}, {true, true, 300, 1000}, 1, false},
    {"nothing is known", {0}, {0}, 1, false},
};

static void
test_above(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_quote quote = {
		    .tasks = cases[i].tasks, .plan_expected = cases[i].expected};
		const struct lt_amount expected = lt_run_cost_expected(&quote);

		if (lt_run_cost_is_above(&cases[i].cost, &expected, 3) != cases[i].is_above)
			fail_msg("%s", cases[i].why);
	}
}

/* It runs since NOW on a whole node: 1000 micros a second. */
static struct lt_batch_job
runs_of(char text[TEXT_SIZE])
{
	struct lt_batch_job job = make_job(7);
	struct lt_quote quote = {.id = 107,
	    .tasks = 1,
	    .account = "vision",
	    .partition = "ondemand",
	    .home = "ondemand",
	    .mode = LT_MODE_ENFORCE,
	    .objective = LT_OBJECTIVE_COST,
	    .plan_expected = {.has_money = true, .money_micros = 100000}};

	assert_int_equal(lt_quote_pack(text, TEXT_SIZE, &quote), LT_OK);
	job.admin_comment = text;
	job.state = LT_JOB_RUNNING;
	job.start_utc_s = NOW;
	job.cpus = 64;
	job.name = "train";
	return job;
}

static void
check_message(struct world *w, const char *spool)
{
	struct lt_spool_list list = {0};
	struct lt_message message;

	must(w->f, lt_spool_list(&list, spool, &w->f->err));
	assert_int_equal(list.count, 1);
	must(w->f, lt_spool_read(&message, spool, list.ids[0], &w->f->err));
	assert_int_equal(message.kind, LT_ALERT_RUN);
	assert_int_equal(message.to_count, 2);
	assert_string_equal(message.to[0], "ada");
	assert_string_equal(message.to[1], "bob");
	assert_string_equal(
	    message.subject, "lowtide: job 7 has cost more than 3 times what was expected");
	assert_string_equal(message.text,
	    "Job 7 (train) of ada in vision has cost $0.30 since Fri 00:00 UTC: $0.10 was expected of all of it.\n"
	    "It runs on.\n\n"
	    "How it went: lowtide explain 7\n"
	    "Cancel it:   scancel 7\n");
	must(w->f, lt_spool_remove(spool, list.ids[0], &w->f->err));
	lt_spool_list_free(&list);
}

static void
test_once(void **state)
{
	static struct lt_policy_owners owners[] = {
	    {.team = "vision", .count = 2, .to = {"ada", "bob"}}};
	static const struct lt_rate_step price = {
	    NOVEMBER, INT64_MAX, 3600000, LT_QUALITY_CONSTANT, "", NOVEMBER};
	struct world *const w = make_world(*state);
	char text[TEXT_SIZE], spool[128];
	struct lt_batch_job job = runs_of(text);

	snprintf(spool, sizeof(spool), "%s/spool", w->f->dir);
	assert_int_equal(mkdir(spool, 0700), 0);
	must(w->f, lt_ledger_put_rates(w->f->ledger, "ondemand", LT_RATE_PRICE,
		       &(struct lt_rates){1, &price}, &w->f->err));
	w->policy.notify =
	    (struct lt_policy_notify){.is_set = true, .owner_count = 1, .owners = owners};
	snprintf(w->policy.notify.spool, sizeof(w->policy.notify.spool), "%s", spool);
	w->d->jobs.list = (struct lt_batch_jobs){.jobs = &job, .count = 1};
	/* Off; below; above; again, after a restart. */
	for (int i = 0; i < 5; i++) {
		w->policy.notify.alerts.run_above = i == 0 ? 0 : 3;
		const int64_t now_utc_s = NOW + (i == 1 ? 300 : 301);

		must(w->f, lt_alert_look(alerter_of(w->d, now_utc_s), LT_ALERT_RUN, &w->f->err));
		must(w->f, lt_alerts_send(alerter_of(w->d, now_utc_s), &w->f->err));
		if (i == 2)
			check_message(w, spool);
		assert_int_equal(rmdir(spool), 0);
		assert_int_equal(mkdir(spool, 0700), 0);
		if (i == 3) {
			reopen(w->f);
			w->d->ledger = w->f->ledger;
		}
	}
	/* Another run of the job. */
	job.start_utc_s = NOW + 1000;
	must(w->f, lt_alert_look(alerter_of(w->d, NOW + 2000), LT_ALERT_RUN, &w->f->err));
	struct lt_alerts due = {0};
	must(w->f, lt_ledger_alerts_due(w->f->ledger, &due, &w->f->err));
	assert_int_equal(due.count, 1);
	free(due.rows);
	assert_int_equal(rmdir(spool), 0);
	w->d->jobs.list = (struct lt_batch_jobs){0};
	free_world(w);
}

/* A kind is due once there is what it needs, then after its time; never if another step finds it.
 */
static void
test_due(void **state)
{
	static const struct {
		const char *why;
		enum lt_message_kind kind;
		bool listed, has_snapshot;
		int after_s; /* a look; 0: none yet */
		bool is_due;
	} looks[] = {
	    {"no list of jobs yet", LT_ALERT_RUN, false, true, 0, false},
	    {"the first list is there", LT_ALERT_RUN, true, false, 0, true},
	    {"before a minute is over", LT_ALERT_RUN, true, true, 59, false},
	    {"after a minute", LT_ALERT_RUN, true, true, 60, true},
	    {"no snapshot yet", LT_ALERT_DAY, true, false, 0, false},
	    {"the snapshot is there", LT_ALERT_DAY, false, true, 0, true},
	    {"before an hour is over", LT_ALERT_DAY, true, true, 3599, false},
	    {"after an hour", LT_ALERT_DAY, true, true, 3600, true},
	    {"found in another step", LT_ALERT_IDLE, true, true, 0, false},
	};
	struct world *const w = make_world(*state);

	w->policy.notify = (struct lt_policy_notify){.is_set = true};
	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
		w->d->alerts = (struct lt_alert_state){0};
		if (looks[i].after_s > 0)
			must(w->f, lt_alert_look(alerter_of(w->d, NOW), looks[i].kind, &w->f->err));
		w->d->jobs.list.begun_utc_s = looks[i].listed ? NOW : 0;
		w->d->budget.has_snapshot = looks[i].has_snapshot;
		const struct lt_alerter *const by = alerter_of(w->d, NOW + looks[i].after_s);
		if (lt_alert_look_is_due(by, looks[i].kind) != looks[i].is_due)
			fail_msg("%s", looks[i].why);
		w->policy.notify.is_set = false;
		assert_false(lt_alert_look_is_due(by, looks[i].kind));
		w->policy.notify.is_set = true;
	}
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_above),
	    cmocka_unit_test_setup_teardown(test_once, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_due, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
