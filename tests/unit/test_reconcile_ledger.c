/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tie-out with lowtided's own answers: charges of a real ledger at a site whose days are not UTC
 * days, asked of the API as the command asks.
 */
#include <jansson.h>

#include "api_ask.h"
#include "ledger_fixture.h"
#include "reconcile_tie.h"
#include "units.h"

enum { HOURS = 4, DAYS = 3 };

static struct lt_account accounts[] = {{.name = "vision"}};

/* An hour's entry each: 100, 101, 102 and 103 for nodes, and all of a charge for carbon and a
 * discount in the first. */
static void
settle_hours(struct fixture *f, struct lt_run *run)
{
	run->money_micros += run->parts.carbon_charge_micros - run->parts.discount_micros;
	struct lt_entry entries[HOURS] = {whole(run)};
	bool changed = false;

	for (int i = 0; i < HOURS; i++) {
		entries[i].at_utc_s = run->start_utc_s + i * HOUR;
		entries[i].money_micros = 100 + i + entries[i].parts.carbon_charge_micros -
					  entries[i].parts.discount_micros;
	}
	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){run, entries, HOURS, NOVEMBER + 9 * LT_DAY_S,
			NOVEMBER + 9 * LT_DAY_S, NOVEMBER, false},
		    &changed, &f->err));
}

static json_t *
ask(struct fixture *f, const char *uri)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->budget.has_snapshot = true;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = 1;
	d->site.offsets =
	    (struct lt_offsets){.count = 1, .steps = {{INT64_MIN, 5 * HOUR + HOUR / 2, "IST"}}};
	json_t *const json = api_ask(d, uri, 200);
	free(d);
	return json;
}

static void
test_days(void **state)
{
	static const struct lt_tie_job_sum want[DAYS] = {
	    /* 22:00 and 23:00 of two halves of a node, then the other two; of the second day a
	     * whole run too. */
	    {100 + 101, 2 * HOUR},
	    {102 + 103 + 100 + 101 + 102 + 103, 2 * HOUR + 4 * HOUR},
	    {0, 0},
	};
	struct fixture *const f = *state;
	const struct lt_invoice invoice = {
	    .first_day = NOVEMBER / LT_DAY_S, .day_count = DAYS, .type_count = 1};
	struct lt_tie_map map = {0};
	struct lt_tie_jobs jobs;

	assert_int_equal(NOVEMBER % LT_DAY_S, 0);
	struct lt_run run =
	    make_run(1, NOVEMBER + 22 * HOUR, NOVEMBER + 26 * HOUR, 100 + 101 + 102 + 103);
	run.nodes = 2;
	run.share_denominator = 2;
	settle_hours(f, &run);
	run = make_run(2, NOVEMBER + 30 * HOUR, NOVEMBER + 34 * HOUR, 100 + 101 + 102 + 103);
	settle_hours(f, &run);
	run = make_run(3, NOVEMBER + 60 * HOUR, NOVEMBER + 64 * HOUR, 100 + 101 + 102 + 103);
	strcpy(run.partition, "cpu");
	settle_hours(f, &run);

	must(f, lt_tie_map_parse(&map, "ondemand=p4d.24xlarge", &f->err));
	must(f, lt_tie_jobs_start(&jobs, &invoice, &f->err));
	for (int i = 0; i < DAYS; i++) {
		char path[160];
		json_t *const report = ask(f, lt_tie_jobs_path(path, sizeof(path), &jobs, i));

		must(f, lt_tie_jobs_add(&jobs, i, &map, report, &f->err));
		json_decref(report);
	}
	for (int i = 0; i < DAYS; i++)
		if (jobs.sums[i].cost_micros != want[i].cost_micros ||
		    jobs.sums[i].node_s != want[i].node_s)
			fail_msg("day %d: %lld micros, %lld s", i,
			    (long long)jobs.sums[i].cost_micros, (long long)jobs.sums[i].node_s);
	assert_int_equal(jobs.other_count, 1);
	assert_string_equal(jobs.others[0].partition, "cpu");
	assert_int_equal(jobs.others[0].cost_micros, 406);
	assert_int_equal(jobs.carbon_charge_micros, 3 * 8);
	assert_int_equal(jobs.discount_micros, 3 * 3);
	lt_tie_jobs_free(&jobs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_days, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
