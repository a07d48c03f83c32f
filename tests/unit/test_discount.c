/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The discount for having waited, and what gains nothing; charge and discount beside the price of
 * nodes. Figures of the table are by hand; those of the month are added up minute by minute.
 */
#include "discount_world.h"

static const struct job jobs[] = {
    {.why = "six dear hours waited for a cheap one: 20 % of 4 - 1",
	.home = "spot",
	.plan = 360,
	.from = 360,
	.to = 420,
	.discount_cents = 60},
    {.why = "the same, of another home",
	.home = "ondemand",
	.plan = 360,
	.from = 360,
	.to = 420,
	.discount_cents = 60},
    {.why = "half of it: as much less",
	.home = "spot",
	.plan = 360,
	.from = 360,
	.to = 390,
	.discount_cents = 30},
    {.why = "it worked half of the time",
	.home = "spot",
	.plan = 360,
	.from = 360,
	.to = 420,
	.suspended = 30,
	.discount_cents = 30},
    {.why = "submitted late, in the cheap hour",
	.home = "spot",
	.at_home = 360,
	.plan = 360,
	.from = 360,
	.to = 420},
    {.why = "submitted a quarter of an hour before it",
	.home = "spot",
	.at_home = 345,
	.plan = 360,
	.from = 360,
	.to = 420,
	.discount_cents = 15},
    {.why = "cancelled while it waited", .home = "spot", .plan = 360},
    {.why = "started at once, not as planned", .home = "spot", .plan = 360, .from = 10, .to = 70},
    {.why = "held by its user for a cheaper hour still: by the plan",
	.home = "spot",
	.plan = 360,
	.from = 480,
	.to = 540,
	.discount_cents = 60},
    {.why = "started before its plan, though it had waited",
	.home = "ondemand",
	.plan = 420,
	.from = 360,
	.to = 420},
    {.why = "held by its user into dear hours",
	.home = "spot",
	.plan = 360,
	.from = 600,
	.to = 660},
    {.why = "there was no room on spot before",
	.home = "ondemand",
	.plan = 360,
	.room = 360,
	.from = 360,
	.to = 420},
    {.why = "there was a quarter of an hour before",
	.home = "ondemand",
	.plan = 360,
	.room = 345,
	.from = 360,
	.to = 420,
	.discount_cents = 15},
    {.why = "it ran elsewhere in the end",
	.home = "spot",
	.ran_on = "ondemand",
	.plan = 360,
	.from = 360,
	.to = 420},
    {.why = "only observed", .home = "spot", .plan = 360, .from = 360, .to = 420, .observed = true},
    {.why = "no more than it cost: 20 % of 6 - 0.96",
	.home = "spot",
	.plan = 480,
	.from = 480,
	.to = 570,
	.discount_cents = 96},
    {.why = "a task of an array whose plan saved nothing",
	.home = "spot",
	.plan = 60,
	.from = 360,
	.to = 420,
	.tasks = 9},
    {.why = "one whose plan did, and that waited for others, too",
	.home = "spot",
	.plan = 360,
	.from = 420,
	.to = 480,
	.tasks = 9,
	.discount_cents = 60},
    {.why = "one that would have been in the cheap hour anyway",
	.home = "spot",
	.at_home = 300,
	.plan = 360,
	.from = 420,
	.to = 480,
	.tasks = 9},
    {.why = "one that waited for other tasks",
	.home = "spot",
	.plan = 60,
	.from = 420,
	.to = 480,
	.tasks = 9},
};

static void
test_what_gains(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	int64_t sum = 0;

	put_world(&w, f, MOST);
	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		const struct job *const job = &jobs[i];
		struct lt_run run = run_of(job, 100 + i);
		struct lt_quote quote = quote_of(job, 100 + i);

		/* However long its user says that it has time. */
		quote.wish.deadline_utc_s = at(job->plan + 100000 * (int)i);
		settle_run(&w, &run, &quote, DECEMBER, 0);
		if (run.parts.discount_micros != job->discount_cents * CENT)
			fail_msg("%s: %lld micros", job->why, (long long)run.parts.discount_micros);
		assert_true(run.money_micros >= 0);
		sum += run.parts.discount_micros;
		/* Settled again it has the same, and not twice. */
		run.money_micros = run.carbon_mg = 0;
		run.parts = (struct lt_parts){0};
		run.priced = false;
		settle_run(&w, &run, &quote, DECEMBER, 0);
		assert_int_equal(run.parts.discount_micros, job->discount_cents * CENT);
	}
	assert_int_equal(booked(f, "vision", NOVEMBER, DECEMBER), sum);
	free(w.d);
}

/* A run after an interruption, or after a requeue by its user, waited for nothing. */
static void
test_second_run(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const struct job *const job = &jobs[0];
	const struct lt_quote quote = quote_of(job, 5);
	struct lt_run first = run_of(job, 5), second = run_of(job, 5);

	put_world(&w, f, MOST);
	strcpy(first.state_text, "REQUEUED");
	settle_run(&w, &first, &quote, DECEMBER, 0);
	assert_int_equal(first.parts.discount_micros, 60 * CENT);
	second.key.submit_utc_s = at(480);
	second.start_utc_s = at(500);
	second.end_utc_s = at(560);
	settle_run(&w, &second, &quote, DECEMBER, 0);
	assert_int_equal(second.parts.discount_micros, 0);
	free(w.d);
}

/* An account has no more in a month, whatever the order; another one has its own, and so has the
 * next month. */
static void
test_most_of_a_month(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const int64_t most = 100 * CENT;

	put_world(&w, f, (double)most);
	for (uint32_t i = 0; i < 4; i++) {
		struct lt_run run = run_of(&jobs[0], 10 + i);
		const struct lt_quote quote = quote_of(&jobs[0], 10 + i);

		settle_run(&w, &run, &quote, DECEMBER, 0);
		assert_int_equal(run.parts.discount_micros, i == 0   ? 60 * CENT
							    : i == 1 ? 40 * CENT
								     : 0);
	}
	assert_int_equal(booked(f, "vision", NOVEMBER, DECEMBER), most);
	/* The first one again: what it had itself is not gone. */
	struct lt_run same = run_of(&jobs[0], 10);
	const struct lt_quote its = quote_of(&jobs[0], 10);
	settle_run(&w, &same, &its, DECEMBER, 0);
	assert_int_equal(same.parts.discount_micros, 60 * CENT);
	/* One over the end of October, which is closed: what it would have in there counts where it
	 * is booked, in November, which is full. */
	struct lt_run late = run_of(&jobs[0], 20);
	struct lt_quote quote = quote_of(&jobs[0], 20);
	put_constant(f, "spot", LT_RATE_PRICE, LT_MICROS);
	const struct lt_rate_step dear = {.start_utc_s = NOVEMBER - 9 * HOUR,
	    .end_utc_s = NOVEMBER - HOUR,
	    .value = 4 * LT_MICROS,
	    .quality = LT_QUALITY_MEASURED};
	must(f, lt_ledger_put_rates(
		    f->ledger, "spot", LT_RATE_PRICE, &(struct lt_rates){1, &dear}, &f->err));
	late.start_utc_s = quote.plan_start_utc_s = NOVEMBER - HOUR;
	late.key.submit_utc_s = quote.home_start_utc_s = NOVEMBER - 9 * HOUR;
	late.end_utc_s = NOVEMBER + HOUR;
	struct lt_run again = late;
	settle_run(&w, &late, &quote, NOVEMBER + 2 * HOUR, NOVEMBER);
	assert_int_equal(late.parts.discount_micros, 0);
	/* Were it open, October has half of it; November is full. */
	again.key.job_id = 21;
	quote.id = again.quote_id = 21;
	settle_run(&w, &again, &quote, NOVEMBER + 2 * HOUR, 0);
	assert_int_equal(again.parts.discount_micros, 60 * CENT);
	assert_int_equal(booked(f, "vision", NOVEMBER - 31 * LT_DAY_S, NOVEMBER), 60 * CENT);
	assert_int_equal(booked(f, "vision", NOVEMBER, DECEMBER), most);
	free(w.d);
}

/* Accounts below a budget's team share what the team may have; where each stood when it ran
 * decides. */
static void
test_most_of_a_team(void **state)
{
	static struct lt_batch_account accounts[] = {{"eyes", "vision"}, {"gone", "speech"},
	    {"lab", "vision"}, {"own", "lab"}, {"root", ""}, {"speech", "root"}, {"vision", "root"},
	    {"words", "speech"}};
	static struct lt_account_move moves[] = {
	    {"gone", "vision", DECEMBER}, {"words", "lab", DECEMBER}};
	static const struct {
		const char *account;
		int64_t cents;
	} runs[] = {{"eyes", 60}, {"vision", 40}, {"eyes", 0},
	    /* It has a budget of its own. */
	    {"lab", 60}, {"own", 40}, {"own", 0},
	    /* They were below these until December. */
	    {"gone", 0}, {"words", 0},
	    /* Without a budget each by itself. */
	    {"speech", 60}, {"speech", 40}, {"other", 60}};
	struct lt_policy_budget budgets[] = {{.team = "Vision"}, {.team = "lab"}};
	struct fixture *const f = *state;
	struct world w;

	put_world(&w, f, 100 * CENT);
	w.policy.budgets = budgets;
	w.policy.budget_count = 2;
	w.d->site.tables.accounts = accounts;
	w.d->site.tables.account_count = sizeof(accounts) / sizeof(accounts[0]);
	w.d->site.tables.moves = (struct lt_account_moves){moves, 2};
	for (uint32_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct lt_run run = run_of(&jobs[0], 10 + i);
		const struct lt_quote quote = quote_of(&jobs[0], 10 + i);

		(void)strcpy(run.account, runs[i].account);
		settle_run(&w, &run, &quote, DECEMBER, 0);
		if (run.parts.discount_micros != runs[i].cents * CENT)
			fail_msg("%u, %s: %lld micros", i, runs[i].account,
			    (long long)run.parts.discount_micros);
	}
	free(w.d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_what_gains, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_second_run, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_most_of_a_month, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_most_of_a_team, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
