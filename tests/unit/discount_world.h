/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two partitions with prices by the hour and a discount, and runs of jobs there, settled as
 * lowtided does; for tests/unit/test_discount*.c.
 */
#ifndef LT_TEST_DISCOUNT_WORLD_H
#define LT_TEST_DISCOUNT_WORLD_H

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

/* Of a node-hour on spot and at home, in USD, from NOVEMBER on by the hour, the last goes on. */
static const double spot[] = {4, 4, 4, 4, 4, 4, 1, 1, 0.64, 0.64, 4};
enum { HOURS = sizeof(spot) / sizeof(spot[0]) };

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	struct lt_policy policy;
};

static inline void
put_constant(struct fixture *f, const char *partition, enum lt_rate rate, double value)
{
	const struct lt_rate_step step = {.start_utc_s = 0,
	    .end_utc_s = INT64_MAX,
	    .value = value,
	    .quality = LT_QUALITY_CONSTANT};

	must(f,
	    lt_ledger_put_rates(f->ledger, partition, rate, &(struct lt_rates){1, &step}, &f->err));
}

static inline void
put_world(struct world *w, struct fixture *f, double most)
{
	static const char *const places[] = {"spot", "ondemand"};
	struct lt_rate_step steps[HOURS];

	*w = (struct world){.f = f, .d = calloc(1, sizeof(*w->d))};
	assert_non_null(w->d);
	w->d->ledger = f->ledger;
	w->d->site.policy = &w->policy;
	for (int i = 0; i < HOURS; i++)
		steps[i] = (struct lt_rate_step){.start_utc_s = NOVEMBER + i * HOUR,
		    .end_utc_s = i + 1 < HOURS ? NOVEMBER + (i + 1) * HOUR : INT64_MAX,
		    .value = spot[i] * LT_MICROS,
		    .quality = LT_QUALITY_MEASURED};
	must(f, lt_ledger_put_rates(
		    f->ledger, "spot", LT_RATE_PRICE, &(struct lt_rates){HOURS, steps}, &f->err));
	put_constant(f, "ondemand", LT_RATE_PRICE, 9 * LT_MICROS);
	for (int i = 0; i < 2; i++) {
		put_constant(f, places[i], LT_RATE_DISCOUNT, SHARE_PERCENT * LT_MICROS / 100.0);
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

static inline int64_t
at(int minutes)
{
	return NOVEMBER + (int64_t)minutes * MINUTE;
}

static inline struct lt_run
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

static inline struct lt_quote
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
	assert_int_equal(lt_levers_pack(quote.levers, sizeof(quote.levers), &levers), LT_OK);
	return quote;
}

/* As settle.c does it; into *run. */
static inline void
settle_run(struct world *w, struct lt_run *run, const struct lt_quote *quote, int64_t now_utc_s,
    int64_t open_since_utc_s)
{
	struct lt_charge charge;
	struct lt_entry *entries;
	struct lt_error *const err = &w->f->err;
	const int64_t hour_utc_s = lt_calendar_hour(&w->d->site.offsets, now_utc_s);
	struct lt_run known;
	bool changed;

	const bool is_known = lt_ledger_run(w->f->ledger, run->key, &known, NULL) == LT_OK;

	must(w->f, lt_ledger_begin(w->f->ledger, err));
	must(
	    w->f, lt_price_run(&charge, run,
		      &(struct lt_priced_by){&w->d->site.market, w->f->ledger, &w->d->site.offsets},
		      err));
	lt_baseline_of_run(run, quote, &w->d->site.market, w->d->ledger);
	must(w->f, lt_booking_make(&entries, run, &charge, w->f->ledger, err));
	must(w->f, lt_discount_take(&(struct lt_discount_of){run, quote, is_known ? &known : NULL,
					entries, charge.hour_count, hour_utc_s, open_since_utc_s},
		       &w->d->site, w->d->ledger, err));
	must(w->f, lt_ledger_settle(w->f->ledger,
		       &(struct lt_settlement){run, entries, charge.hour_count, now_utc_s,
			   hour_utc_s, open_since_utc_s, false},
		       &changed, err));
	must(w->f, lt_ledger_commit(w->f->ledger, err));
	lt_charge_free(&charge);
	free(entries);
}

/* What was taken off in an account. */
static inline int64_t
booked(struct fixture *f, const char *account, int64_t from_utc_s, int64_t to_utc_s)
{
	struct lt_totals totals[3];

	must(f, lt_ledger_totals(
		    f->ledger, account, (struct lt_span){from_utc_s, to_utc_s}, totals, &f->err));
	return totals[LT_ENTRY_CHARGE].parts.discount_micros +
	       totals[LT_ENTRY_CORRECTION].parts.discount_micros;
}

#endif
