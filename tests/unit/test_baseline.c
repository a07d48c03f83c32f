/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan without lowtide: what is not known is never a saving.
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
#include "daemon.h"

enum { NOW = 1000000000, HOUR = 3600 };

static const struct {
	const char *why;
	const char *plan, *home;
	bool run_priced, run_has_carbon;
	int64_t length;
	bool moved, known;
	int64_t money;
} cases[] = {
    {"not moved: its own charge is it", "spot", "spot", true, false, HOUR,
	false, true, 0},
    {"moved from a partition with a price", "spot", "ondemand", true, false,
	HOUR, true, true, 4000000},
    {"moved from one without", "spot", "nowhere", true, false, HOUR, true,
	false, 0},
    {"its own carbon is known, the other's is not", "spot", "ondemand", true,
	true, HOUR, true, false, 4000000},
    {"a run of no length used nothing anywhere", "spot", "nowhere", true, false,
	0, true, true, 0},
};

static void
test_baseline(void **state)
{
	(void)state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_error err = {0};
	char dir[] = "/tmp/lowtide-base.XXXXXX";
	char command[64];
	const struct lt_rate_step price = {.start_utc_s = NOW - 1000 * HOUR,
	    .end_utc_s = INT64_MAX,
	    .value = 4000000,
	    .quality = LT_QUALITY_CONSTANT,
	    .source = "policy"};
	assert_non_null(d);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(lt_ledger_open(&d->ledger, dir, &err), LT_OK);
	assert_int_equal(
	    lt_ledger_put_rates(d->ledger, "ondemand", LT_RATE_PRICE,
		&(struct lt_rates){1, &price}, &err),
	    LT_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_run run = {.start_utc_s = NOW,
		    .nodes = 1,
		    .end_utc_s = NOW + cases[i].length,
		    .priced = cases[i].run_priced,
		    .has_carbon = cases[i].run_has_carbon};
		struct lt_quote quote = {.mode = LT_MODE_ENFORCE,
		    .objective = LT_OBJECTIVE_COST,
		    .plan_start_utc_s = NOW,
		    .home_start_utc_s = NOW};

		strcpy(run.partition, cases[i].plan);
		strcpy(quote.partition, cases[i].plan);
		strcpy(quote.home, cases[i].home);
		lt_baseline_of_run(&run, &quote, d);
		if (run.moved != cases[i].moved ||
		    lt_baseline_known(&run) != cases[i].known ||
		    run.baseline_money_micros != cases[i].money)
			fail_msg("%s: moved %d known %d money %lld",
			    cases[i].why, run.moved, lt_baseline_known(&run),
			    (long long)run.baseline_money_micros);
	}
	lt_ledger_close(d->ledger);
	free(d);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_baseline)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
