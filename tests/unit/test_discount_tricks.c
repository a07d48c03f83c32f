/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to a discount that were tried, and corrections that might pass its most.
 */
#include "discount_world.h"

static const struct job deferred = {.home = "spot", .plan = 360, .from = 360, .to = 420};

/* Ran before its plan, requeued, ran again after the plan. */
static void
test_requeued(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const struct job *const job = &deferred;
	const struct lt_quote quote = quote_of(job, 5);
	struct lt_run first = run_of(job, 5), second = run_of(job, 5);

	put_world(&w, f, MOST);
	strcpy(first.state_text, "REQUEUED");
	first.key.submit_utc_s = at(9);
	first.start_utc_s = at(10);
	first.end_utc_s = at(70);
	settle_run(&w, &first, &quote, DECEMBER, 0);
	assert_int_equal(first.parts.discount_micros, 0);
	settle_run(&w, &second, &quote, DECEMBER, 0);
	assert_int_equal(second.parts.discount_micros, 0);
	free(w.d);
}

/* The run's account is corrected: cap of the new one is passed. */
static void
test_other_account(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const int64_t most = 100 * CENT;

	put_world(&w, f, (double)most);
	struct lt_run run = run_of(&deferred, 10);
	const struct lt_quote quote = quote_of(&deferred, 10);
	settle_run(&w, &run, &quote, DECEMBER, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct lt_run other = run_of(&deferred, 11 + i);
		const struct lt_quote its = quote_of(&deferred, 11 + i);

		strcpy(other.account, "speech");
		settle_run(&w, &other, &its, DECEMBER, 0);
	}
	struct lt_run again = run_of(&deferred, 10);
	strcpy(again.account, "speech");
	settle_run(&w, &again, &quote, DECEMBER, 0);
	assert_true(booked(f, "speech", NOVEMBER, DECEMBER) <= most);
	free(w.d);
}

/* Settled in November, which is closed then; another fact in December,
 * in which the account has had all. */
static void
test_closed_month(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const int64_t most = 100 * CENT;

	put_world(&w, f, (double)most);
	struct lt_run run = run_of(&deferred, 10);
	const struct lt_quote quote = quote_of(&deferred, 10);
	settle_run(&w, &run, &quote, NOVEMBER + 9 * HOUR, 0);
	assert_int_equal(run.parts.discount_micros, 60 * CENT);
	for (uint32_t i = 0; i < 3; i++) {
		struct lt_run other = run_of(&deferred, 11 + i);
		const struct lt_quote its = quote_of(&deferred, 11 + i);
		/* all booked in December: their November is closed */
		settle_run(&w, &other, &its, DECEMBER + 9 * HOUR, DECEMBER);
	}
	struct lt_run again = run_of(&deferred, 10);
	again.end_utc_s -= 1;
	settle_run(&w, &again, &quote, DECEMBER + 10 * HOUR, DECEMBER);
	assert_true(again.parts.discount_micros > 59 * CENT);
	free(w.d);
}

/* Over three months, the first closed, the second not, now in the third. */
static void
test_three_months(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const int64_t most = 100 * CENT;

	put_world(&w, f, (double)most);
	const struct lt_rate_step prices[] = {
	    {.start_utc_s = NOVEMBER,
		.end_utc_s = NOVEMBER + 48 * HOUR,
		.value = 4 * LT_MICROS,
		.quality = LT_QUALITY_MEASURED},
	};
	put_constant(f, "spot", LT_RATE_PRICE, LT_MICROS);
	must(f, lt_ledger_put_rates(
		    f->ledger, "spot", LT_RATE_PRICE, &(struct lt_rates){1, prices}, &f->err));
	struct lt_run run = run_of(&deferred, 10);
	struct lt_quote quote = quote_of(&deferred, 10);
	run.start_utc_s = quote.plan_start_utc_s = DECEMBER - 48 * HOUR;
	quote.home_start_utc_s = NOVEMBER;
	run.end_utc_s = JANUARY + 48 * HOUR;
	settle_run(&w, &run, &quote, JANUARY + 50 * HOUR, DECEMBER);
	assert_true(booked(f, "vision", JANUARY, JANUARY + 31 * LT_DAY_S) <= most);
	free(w.d);
}

/* A negative month and a capped one: is more charged by the discount? */
static void
test_negative_prices(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const int64_t most = 10 * CENT;

	put_world(&w, f, (double)most);
	put_constant(f, "spot", LT_RATE_PRICE, 4 * LT_MICROS);
	const struct lt_rate_step prices[] = {
	    {.start_utc_s = DECEMBER - HOUR,
		.end_utc_s = DECEMBER,
		.value = -0.5 * LT_MICROS,
		.quality = LT_QUALITY_MEASURED},
	    {.start_utc_s = DECEMBER,
		.end_utc_s = DECEMBER + HOUR,
		.value = LT_MICROS,
		.quality = LT_QUALITY_MEASURED},
	};
	must(f, lt_ledger_put_rates(
		    f->ledger, "spot", LT_RATE_PRICE, &(struct lt_rates){2, prices}, &f->err));
	struct lt_run run = run_of(&deferred, 10);
	struct lt_quote quote = quote_of(&deferred, 10);
	run.start_utc_s = quote.plan_start_utc_s = DECEMBER - HOUR;
	quote.home_start_utc_s = NOVEMBER;
	run.end_utc_s = DECEMBER + HOUR;
	settle_run(&w, &run, &quote, DECEMBER + 2 * HOUR, 0);
	assert_true(run.parts.discount_micros >= 0);
	free(w.d);
}

/* An array of two, whose plan saves nothing; its user holds it. */
static void
test_array_held(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	struct job job = deferred;

	put_world(&w, f, MOST);
	job.plan = 60;
	job.tasks = 2;
	struct lt_run run = run_of(&job, 10);
	struct lt_quote quote = quote_of(&job, 10);
	settle_run(&w, &run, &quote, DECEMBER, 0);
	assert_int_equal(run.parts.discount_micros, 0);
	free(w.d);
}

/* Suspended from the cheap hours into the dear ones. */
static void
test_suspended(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	struct job job = deferred;

	put_world(&w, f, MOST);
	job.plan = job.from = 480; /* 0.64, 0.64, then 4 */
	job.to = 480 + 60 * 20;
	job.suspended = 60 * 18;
	struct lt_run run = run_of(&job, 10);
	struct lt_quote quote = quote_of(&job, 10);
	settle_run(&w, &run, &quote, DECEMBER, 0);
	/* 20 % of 8 less the 7.328 that it cost. */
	assert_int_equal(run.parts.discount_micros, 134400);
	free(w.d);
}

/* Submitted with --hold, in the quote; released at the cheap hour. */
static void
test_submitted_held(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	struct lt_run run = run_of(&deferred, 10);
	struct lt_quote quote = quote_of(&deferred, 10);

	put_world(&w, f, MOST);
	quote.flags |= LT_QUOTE_USER_HOLD;
	settle_run(&w, &run, &quote, DECEMBER, 0);
	assert_int_equal(run.parts.discount_micros, 0);
	free(w.d);
}

/* Planned at once at home, interrupted there, then put to a cheap hour by lowtide (standing.c:
 * plan_start changes, home_start does not). */
static void
test_interrupted(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	struct job job = deferred;
	struct lt_run first, second = run_of(&deferred, 5);

	put_world(&w, f, MOST);
	job.plan = job.from = 0;
	job.to = 60;
	struct lt_quote quote = quote_of(&job, 5);
	first = run_of(&job, 5);
	strcpy(first.state_text, "PREEMPTED");
	settle_run(&w, &first, &quote, DECEMBER, 0);
	assert_int_equal(first.parts.discount_micros, 0);
	quote.plan_start_utc_s = at(360);
	settle_run(&w, &second, &quote, DECEMBER, 0);
	assert_int_equal(second.parts.discount_micros, 0);
	free(w.d);
}

/* The cap was full in November; the same runs again, in December, with November closed: the rest of
 * them. */
static void
test_settled_again(void **state)
{
	struct fixture *const f = *state;
	struct world w;
	const int64_t most = 100 * CENT;
	int64_t all = 0;

	put_world(&w, f, (double)most);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 6; i++) {
			struct lt_run run = run_of(&deferred, 10 + i);
			const struct lt_quote its = quote_of(&deferred, 10 + i);

			run.end_utc_s -= round; /* e.g. rebuild with another power */
			settle_run(&w, &run, &its,
			    round ? DECEMBER + 9 * HOUR : NOVEMBER + 9 * HOUR,
			    round ? DECEMBER : 0);
			all += round ? run.parts.discount_micros : 0;
		}
	print_message(
	    "runs of November, in all: %lld; most %lld\n", (long long)all, (long long)most);
	assert_true(all <= most);
	free(w.d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_requeued, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_other_account, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_closed_month, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_three_months, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_negative_prices, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_array_held, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_suspended, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_submitted_held, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_interrupted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_settled_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
