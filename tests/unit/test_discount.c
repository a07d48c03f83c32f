/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The discount for having waited, and what gains nothing; charge and discount
 * beside the price of nodes. Figures of the table are by hand; those of the
 * month are added up minute by minute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "baseline.h"
#include "booking.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "periods.h"
#include "price.h"

enum { CENT = 10000, MINUTE = 60, SHARE_PERCENT = 20, MOST = 50000000 };

/* Of a node-hour on spot and at home, in USD, from NOVEMBER on by the hour, the
 * last goes on. */
static const double spot[] = {4, 4, 4, 4, 4, 4, 1, 1, 0.64, 0.64, 4};
enum { HOURS = sizeof(spot) / sizeof(spot[0]) };

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	struct lt_policy policy;
};

static void
put_constant(
    struct fixture *f, const char *partition, enum lt_rate rate, double value)
{
	const struct lt_rate_step step = {.start_utc_s = 0,
	    .end_utc_s = INT64_MAX,
	    .value = value,
	    .quality = LT_QUALITY_CONSTANT};

	must(f, lt_ledger_put_rates(f->ledger, partition, rate,
		    &(struct lt_rates){1, &step}, &f->err));
}

static void
put_world(struct world *w, struct fixture *f, double most)
{
	static const char *const places[] = {"spot", "ondemand"};
	struct lt_rate_step steps[HOURS];

	*w = (struct world){.f = f, .d = calloc(1, sizeof(*w->d))};
	assert_non_null(w->d);
	w->d->ledger = f->ledger;
	w->d->policy = &w->policy;
	for (int i = 0; i < HOURS; i++)
		steps[i] =
		    (struct lt_rate_step){.start_utc_s = NOVEMBER + i * HOUR,
			.end_utc_s = i + 1 < HOURS ? NOVEMBER + (i + 1) * HOUR
						   : INT64_MAX,
			.value = spot[i] * LT_MICROS,
			.quality = LT_QUALITY_MEASURED};
	must(f, lt_ledger_put_rates(f->ledger, "spot", LT_RATE_PRICE,
		    &(struct lt_rates){HOURS, steps}, &f->err));
	put_constant(f, "ondemand", LT_RATE_PRICE, 9 * LT_MICROS);
	for (int i = 0; i < 2; i++) {
		put_constant(f, places[i], LT_RATE_DISCOUNT,
		    SHARE_PERCENT * LT_MICROS / 100.0);
		put_constant(f, places[i], LT_RATE_DISCOUNT_MOST, most);
	}
}

/* Minutes after NOVEMBER; of a job whose plan was on spot. */
struct job {
	const char *why;
	const char *home, *ran_on;
	int at_home, plan; /* its first start there, and the planned one */
	int from, to, suspended;
	int room;  /* first on spot, where that was later; 0 */
	int tasks; /* of its array; 0 = none */
	bool observed;
	int64_t discount_cents;
};

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
    {.why = "started at once, not as planned",
	.home = "spot",
	.plan = 360,
	.from = 10,
	.to = 70},
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
    {.why = "only observed",
	.home = "spot",
	.plan = 360,
	.from = 360,
	.to = 420,
	.observed = true},
    {.why = "no more than it cost: 20 % of 6 - 0.96",
	.home = "spot",
	.plan = 480,
	.from = 480,
	.to = 570,
	.discount_cents = 96},
    {.why = "a task of an array, an hour later for its plan",
	.home = "spot",
	.plan = 60,
	.from = 360,
	.to = 420,
	.tasks = 9,
	.discount_cents = 60},
    {.why = "one that waited for other tasks",
	.home = "spot",
	.plan = 60,
	.from = 420,
	.to = 480,
	.tasks = 9},
};

static int64_t
at(int minutes)
{
	return NOVEMBER + (int64_t)minutes * MINUTE;
}

static struct lt_run
run_of(const struct job *job, uint32_t job_id)
{
	struct lt_run run = {.key = {job_id, at(job->from) - 1},
	    .array_job_id = job->tasks > 0 ? 77 : 0,
	    .quote_id = job_id,
	    .start_utc_s = job->to > 0 ? at(job->from) : 0,
	    .end_utc_s = job->to > 0 ? at(job->to) : at(300),
	    .suspended_s = job->suspended * MINUTE,
	    .nodes = 1,
	    .cpus = 1,
	    .gpus_from = LT_GPUS_SLURMDBD};

	strcpy(run.partition, job->ran_on != NULL ? job->ran_on : "spot");
	strcpy(run.account, "vision");
	strcpy(run.state_text, "COMPLETED");
	return run;
}

static struct lt_quote
quote_of(const struct job *job, uint32_t job_id)
{
	struct lt_quote quote = {.id = job_id,
	    .mode = job->observed ? LT_MODE_OBSERVE : LT_MODE_ENFORCE,
	    .objective = LT_OBJECTIVE_COST,
	    .tasks = job->tasks > 0 ? (uint32_t)job->tasks : 1,
	    .partition = "spot",
	    .plan_start_utc_s = at(job->plan),
	    .home_start_utc_s = at(job->at_home)};
	const struct lt_levers levers = {.size_ppm = LT_MICROS,
	    .power_ppm = LT_MICROS,
	    .room_utc_s = job->room > 0 ? at(job->room) : 0};

	strcpy(quote.home, job->home);
	assert_int_equal(
	    lt_levers_pack(quote.levers, sizeof(quote.levers), &levers), LT_OK);
	return quote;
}

/* As settle.c does it; into *run. */
static void
settle_run(struct world *w, struct lt_run *run, const struct lt_quote *quote,
    int64_t now_utc_s, int64_t open_since_utc_s)
{
	struct lt_charge charge;
	struct lt_entry *entries;
	struct lt_error *const err = &w->f->err;
	bool changed;

	must(w->f, lt_ledger_begin(w->f->ledger, err));
	must(
	    w->f, lt_price_run(&charge, run, &w->d->market, w->f->ledger, err));
	lt_baseline_of_run(run, quote, w->d);
	must(w->f, lt_booking_make(&entries, run, &charge, w->f->ledger, err));
	must(w->f, lt_discount_take(
		       &(struct lt_discount_of){run, quote, entries,
			   charge.hour_count, now_utc_s, open_since_utc_s},
		       w->d, err));
	must(w->f, lt_ledger_settle(w->f->ledger,
		       &(struct lt_settlement){run, entries, charge.hour_count,
			   now_utc_s, open_since_utc_s, false},
		       &changed, err));
	must(w->f, lt_ledger_commit(w->f->ledger, err));
	lt_charge_free(&charge);
	free(entries);
}

static struct lt_totals
booked(struct fixture *f, int64_t from_utc_s, int64_t to_utc_s)
{
	struct lt_totals totals[3];

	must(f, lt_ledger_totals(f->ledger, "vision",
		    (struct lt_span){from_utc_s, to_utc_s}, totals, &f->err));
	return totals[LT_ENTRY_CHARGE];
}

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
			fail_msg("%s: %lld micros", job->why,
			    (long long)run.parts.discount_micros);
		assert_true(run.money_micros >= 0);
		sum += run.parts.discount_micros;
		/* Settled again it has the same, and not twice. */
		run.money_micros = run.carbon_mg = 0;
		run.parts = (struct lt_parts){0};
		run.priced = false;
		settle_run(&w, &run, &quote, DECEMBER, 0);
		assert_int_equal(
		    run.parts.discount_micros, job->discount_cents * CENT);
	}
	assert_int_equal(
	    booked(f, NOVEMBER, DECEMBER).parts.discount_micros, sum);
	free(w.d);
}

/* What follows an interruption, or a requeue by its user, waited for nothing.
 */
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

/* An account has no more in a month, whatever the order; another one has its
 * own, and so has the next month. */
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
	assert_int_equal(
	    booked(f, NOVEMBER, DECEMBER).parts.discount_micros, most);
	/* The first one again: what it had itself is not gone. */
	struct lt_run same = run_of(&jobs[0], 10);
	const struct lt_quote its = quote_of(&jobs[0], 10);
	settle_run(&w, &same, &its, DECEMBER, 0);
	assert_int_equal(same.parts.discount_micros, 60 * CENT);
	/* One over the end of October, which is closed: what it would have in
	 * there counts where it is booked, in November, which is full. */
	struct lt_run late = run_of(&jobs[0], 20);
	struct lt_quote quote = quote_of(&jobs[0], 20);
	put_constant(f, "spot", LT_RATE_PRICE, LT_MICROS);
	const struct lt_rate_step dear = {.start_utc_s = NOVEMBER - 9 * HOUR,
	    .end_utc_s = NOVEMBER - HOUR,
	    .value = 4 * LT_MICROS,
	    .quality = LT_QUALITY_MEASURED};
	must(f, lt_ledger_put_rates(f->ledger, "spot", LT_RATE_PRICE,
		    &(struct lt_rates){1, &dear}, &f->err));
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
	assert_int_equal(
	    booked(f, NOVEMBER - 31 * LT_DAY_S, NOVEMBER).parts.discount_micros,
	    60 * CENT);
	assert_int_equal(
	    booked(f, NOVEMBER, DECEMBER).parts.discount_micros, most);
	free(w.d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_what_gains, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_second_run, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		test_most_of_a_month, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
