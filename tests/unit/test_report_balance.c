/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide's balance of twelve months against sums over what was put into the ledger, at random:
 * runs that were moved, jobs that came out worse, jobs that were refused; of a closed month too.
 */
#include <stdio.h>
#include <string.h>

#include "api_ask.h"
#include "ledger_fixture.h"
#include "log.h"
#include "periods.h"
#include "policy.h"
#include "quoted.h"

enum { MONTHS = 3, ROUNDS = 40, RUNS = 30 }; /* September to November */

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};

static const int64_t starts[MONTHS + 1] = {
    NOVEMBER - 61 * LT_DAY_S, NOVEMBER - 31 * LT_DAY_S, NOVEMBER, DECEMBER};

struct sums {
	int64_t runs, moved, saved_micros, saved_mg, worse, known, refused, waited_s;
};

struct site {
	struct fixture *f;
	uint64_t random;
	struct sums want[MONTHS];
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
	char *text = NULL;

	assert_non_null(d);
	d->ledger = s->f->ledger;
	d->site.policy = &policy;
	d->budget.has_snapshot = true;
	d->charges.settled_until_utc_s = INT64_MAX / 2;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = sizeof(accounts) / sizeof(*accounts);
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
	free(d);
	return json;
}

/* A run and what its job was quoted, both of them as settling has them. */
static void
put_run(struct site *s, uint32_t id, int month)
{
	const int64_t at = starts[month] + draw(s, 29 * 24) * HOUR;
	const int64_t micros = 10 + draw(s, 100), mg = 10 + draw(s, 100);
	const bool is_moved = draw(s, 3) > 0;
	struct lt_run run = make_run(id, at, at + 60, micros);
	struct sums *const want = &s->want[month];

	run.carbon_mg = mg;
	run.moved = is_moved;
	run.has_baseline = true;
	run.baseline_money_micros = is_moved ? 10 + draw(s, 100) : micros;
	run.baseline_carbon_mg = is_moved ? 10 + draw(s, 100) : mg;
	snprintf(run.account, sizeof(run.account), "%s", accounts[draw(s, 2)].name);
	assert_true(settle(s->f, &run, at + 60, 0));
	const bool is_known = draw(s, 4) > 0;
	struct lt_quoted quoted = {.run = run.key,
	    .quote_id = id,
	    .compared = is_moved ? LT_COMPARED_MOVED : LT_COMPARED_KEPT,
	    .draw = id,
	    .charged = {true, true, micros, mg},
	    .base = {is_known, is_known, run.baseline_money_micros, run.baseline_carbon_mg},
	    .end_utc_s = at + 60};

	snprintf(quoted.account, sizeof(quoted.account), "%s", run.account);
	must(s->f, lt_ledger_put_quoted(s->f->ledger, &quoted, &s->f->err));
	want->runs++;
	want->moved += is_moved;
	want->saved_micros +=
	    run.baseline_money_micros - micros - run.parts.discount_micros; /* which saves none */
	want->saved_mg += run.baseline_carbon_mg - mg;
	if (is_moved && is_known) {
		want->known++;
		want->worse +=
		    micros > run.baseline_money_micros + 1 || mg > run.baseline_carbon_mg + 1;
	}
	if (draw(s, 2) == 0)
		return;
	must(s->f, lt_ledger_add_refused(s->f->ledger, run.account, at, &s->f->err));
	want->refused++;
}

static void
check(const json_t *row, const struct sums *want, bool has_any)
{
	const struct {
		const char *key;
		int64_t want;
		bool is_known;
	} figures[] = {{"runs", want->runs, has_any}, {"moved_runs", want->moved, has_any},
	    {"saved_micros", want->saved_micros, has_any}, {"saved_mg", want->saved_mg, has_any},
	    {"worse_jobs", want->worse, has_any}, {"worse_of_jobs", want->known, has_any},
	    {"waited_s", 0, has_any}, {"refused_jobs", want->refused, true}};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		const json_t *const value = json_object_get(row, figures[i].key);

		if (!figures[i].is_known)
			assert_true(json_is_null(value));
		else if (json_integer_value(value) != figures[i].want || !json_is_integer(value))
			fail_msg("%s of %s: %lld, want %lld", figures[i].key,
			    json_string_value(json_object_get(row, "label")),
			    (long long)json_integer_value(value), (long long)figures[i].want);
	}
}

static void
check_balance(const struct site *s)
{
	json_t *const report = ask(s, "GET", "/v1/report?period=2026-11&balance=1", NULL);
	const json_t *const balance = json_object_get(report, "balance");
	const json_t *const months = json_object_get(balance, "months");
	const json_t *const total = json_object_get(balance, "total");
	struct sums sum = {0};

	assert_int_equal(json_array_size(months), 12);
	for (int i = 0; i < 12; i++) {
		const int month = i - (12 - MONTHS);
		const struct sums *const want = month >= 0 ? &s->want[month] : &(struct sums){0};

		check(json_array_get(months, (size_t)i), want, want->runs > 0);
		sum.runs += want->runs;
		sum.moved += want->moved;
		sum.saved_micros += want->saved_micros;
		sum.saved_mg += want->saved_mg;
		sum.worse += want->worse;
		sum.known += want->known;
		sum.refused += want->refused;
	}
	check(total, &sum, sum.runs > 0);
	assert_int_equal(json_is_object(json_object_get(total, "measured")), sum.runs > 0);
	/* The statement of one month has the same of it. */
	const json_t *const worse = json_object_get(json_object_get(report, "measured"), "worse");
	if (s->want[MONTHS - 1].runs > 0)
		assert_int_equal(
		    json_integer_value(json_object_get(worse, "jobs")), s->want[MONTHS - 1].worse);
	json_decref(report);
}

static void
months_are_sums(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		struct fixture *f;

		assert_int_equal(set_up((void **)&f), 0);
		struct site s = {.f = f, .random = seed};
		const uint32_t runs = draw(&s, RUNS);
		for (uint32_t i = 0; i < runs; i++)
			put_run(&s, i + 1, (int)draw(&s, MONTHS));
		check_balance(&s);
		/* A closed month has its balance all the same. */
		json_decref(ask(&s, "POST", "/v1/close", "{\"period\":\"2026-09\"}"));
		check_balance(&s);
		assert_int_equal(tear_down((void **)&f), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(months_are_sums),
	};

	lt_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
