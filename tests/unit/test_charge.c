/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges: shares, hours, missing rates, and that parts of a node cost the node to the micro.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "charge.h"
#include "ledger.h"
#include "units.h"

enum { T0 = 1795219200 }; /* 2026-11-21T00:00:00Z */

static const struct lt_shape shapes[] = {
    {.node_count = 2, .cpus = 64, .gpus = 8, .memory_mib = 512000},
    {.node_count = 2, .cpus = 128, .gpus = 8, .memory_mib = 1024000},
    {.node_count = 2, .cpus = 96, .gpus = 0, .memory_mib = 256000},
    {.node_count = 2, .cpus = 64, .gpus = 8, .shards = 32, .memory_mib = 512000},
};

static const struct {
	const char *why;
	struct lt_resources resources;
	uint32_t first_shape, shape_count;
	int64_t numerator, denominator;
} share_cases[] = {
    {"one GPU of eight", {1, 4, 1, 0, 0, false, {0, 0, 0}}, 0, 1, 1, 8},
    {"CPUs dominate", {1, 48, 1, 0, 0, false, {0, 0, 0}}, 0, 1, 3, 4},
    {"memory dominates", {1, 1, 1, 0, 384000, false, {0, 0, 0}}, 0, 1, 3, 4},
    {"exclusive is whole", {1, 1, 0, 0, 0, true, {0, 0, 0}}, 0, 1, 1, 1},
    {"all CPUs is whole", {1, 64, 0, 0, 0, false, {0, 0, 0}}, 0, 1, 1, 1},
    {"over two nodes", {2, 64, 8, 0, 0, false, {0, 0, 0}}, 0, 1, 1, 2},
    {"the smaller shape that fits", {1, 64, 8, 0, 0, false, {0, 0, 0}}, 0, 2, 1, 1},
    {"only the larger fits", {1, 96, 4, 0, 0, false, {0, 0, 0}}, 0, 2, 3, 4},
    {"no GPU in the shape: the other", {1, 8, 1, 0, 0, false, {0, 0, 0}}, 1, 2, 1, 8},
    {"nothing fits: whole", {1, 512, 0, 0, 0, false, {0, 0, 0}}, 0, 1, 1, 1},
    {"no shape known: whole", {1, 1, 0, 0, 0, false, {0, 0, 0}}, 0, 0, 1, 1},
    {"no nodes: whole", {0, 1, 0, 0, 0, false, {0, 0, 0}}, 0, 1, 1, 1},
    {"3 of 32 shards, more than its CPUs", {1, 4, 0, 3, 0, false, {0, 0, 0}}, 3, 1, 3, 32},
    {"its CPUs are more than its shards", {1, 16, 0, 1, 0, false, {0, 0, 0}}, 3, 1, 1, 4},
    {"all shards are the node", {2, 2, 0, 64, 0, false, {0, 0, 0}}, 3, 1, 1, 1},
    {"shards are of the shape that has some", {1, 1, 0, 8, 0, false, {0, 0, 0}}, 0, 4, 1, 4},
    {"no shape has shards: whole", {1, 1, 0, 8, 0, false, {0, 0, 0}}, 0, 3, 1, 1},
    {"no resource counted: whole", {1, 0, 0, 0, 0, false, {0, 0, 0}}, 0, 1, 1, 1},
};

static void
test_share(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(share_cases) / sizeof(*share_cases); i++) {
		const struct lt_fraction share = lt_charge_share(&share_cases[i].resources,
		    shapes + share_cases[i].first_shape, share_cases[i].shape_count);

		if (share.numerator != share_cases[i].numerator ||
		    share.denominator != share_cases[i].denominator)
			fail_msg("%s: got %lld/%lld", share_cases[i].why,
			    (long long)share.numerator, (long long)share.denominator);
	}
}

static struct lt_rate_step
step(int64_t start, int64_t end, double value)
{
	return (struct lt_rate_step){
	    .start_utc_s = start, .end_utc_s = end, .value = value, .quality = LT_QUALITY_MEASURED};
}

static void
test_steps_and_hours(void **state)
{
	(void)state;
	const struct lt_rate_step price[] = {
	    step(T0 - 7200, T0 + 1800, 8e6), step(T0 + 1800, INT64_MAX, 4e6)};
	const struct lt_rate_step carbon[] = {step(T0, INT64_MAX, 500)};
	const struct lt_charge_input input = {.start_utc_s = T0 + 900,
	    .end_utc_s = T0 + 2 * 3600 + 60,
	    .nodes = 2,
	    .share = {1, 2},
	    .watts = 1000,
	    .price = {2, price},
	    .carbon = {1, carbon}};
	struct lt_charge charge;
	assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
	assert_true(charge.priced && charge.has_carbon);
	assert_int_equal(charge.hour_count, 3);
	assert_true(charge.hours[0].at_utc_s == T0 + 900);
	assert_true(charge.hours[1].at_utc_s == T0 + 3600);
	assert_true(charge.hours[2].at_utc_s == T0 + 7200);
	/* 15 min at 8, then 30 min at 4 */
	assert_true(fabs(charge.hours[0].money_micros - 4e6) < 1e-6);
	assert_true(fabs(charge.hours[1].money_micros - 4e6) < 1e-6);
	assert_true(fabs(charge.hours[2].money_micros - 4e6 / 60) < 1e-6);
	/* 1 kW x 1 h x 500 g/kWh = 500 g */
	assert_true(fabs(charge.hours[1].carbon_mg - 500000) < 1e-6);
	assert_true(fabs(charge.energy_wh - 1000.0 * (2 * 3600 - 840) / 3600) < 1e-6);
	lt_charge_free(&charge);
}

/* What a charge says of its data is the worst of all of it. */
static void
test_worst_quality(void **state)
{
	static const struct {
		const char *why;
		enum lt_quality price[2], carbon, worst;
	} cases[] = {
	    {"all measured", {LT_QUALITY_MEASURED, LT_QUALITY_MEASURED}, LT_QUALITY_MEASURED,
		LT_QUALITY_MEASURED},
	    {"the first step", {LT_QUALITY_LAST_VALUE, LT_QUALITY_MEASURED}, LT_QUALITY_MEASURED,
		LT_QUALITY_LAST_VALUE},
	    {"the last step", {LT_QUALITY_MEASURED, LT_QUALITY_LAST_VALUE}, LT_QUALITY_MEASURED,
		LT_QUALITY_LAST_VALUE},
	    {"carbon", {LT_QUALITY_MEASURED, LT_QUALITY_MEASURED}, LT_QUALITY_LAST_VALUE,
		LT_QUALITY_LAST_VALUE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_rate_step price[] = {
		    step(T0, T0 + 900, 1e6), step(T0 + 900, INT64_MAX, 1e6)};
		struct lt_rate_step carbon = step(T0, INT64_MAX, 100);
		const struct lt_charge_input input = {.start_utc_s = T0,
		    .end_utc_s = T0 + 3600,
		    .nodes = 1,
		    .share = {1, 1},
		    .price = {2, price},
		    .carbon = {1, &carbon}};
		struct lt_charge charge;

		price[0].quality = cases[i].price[0];
		price[1].quality = cases[i].price[1];
		carbon.quality = cases[i].carbon;
		assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
		if (charge.worst_quality != cases[i].worst)
			fail_msg("%s: %d", cases[i].why, (int)charge.worst_quality);
		lt_charge_free(&charge);
	}
}

static void
test_negative_price_pays(void **state)
{
	(void)state;
	const struct lt_rate_step price[] = {step(T0, INT64_MAX, -1e6)};
	const struct lt_charge_input input = {.start_utc_s = T0,
	    .end_utc_s = T0 + 3600,
	    .nodes = 1,
	    .share = {1, 1},
	    .price = {1, price}};
	struct lt_charge charge;
	assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
	assert_true(charge.money_micros == -1e6);
	lt_charge_free(&charge);
}

static void
test_missing_is_not_zero(void **state)
{
	(void)state;
	const struct lt_charge_input input = {
	    .start_utc_s = T0, .end_utc_s = T0 + 3600, .nodes = 1, .share = {1, 1}, .watts = 100};
	struct lt_charge charge;
	assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
	assert_false(charge.priced);
	assert_false(charge.has_carbon);
	assert_true(charge.energy_wh == 100);
	lt_charge_free(&charge);
}

/* A kW of 500 g/kWh, at 80 a tonne from half past one on: 0.04 an hour. */
static void
test_carbon_charge(void **state)
{
	const struct lt_rate_step price[] = {step(T0, INT64_MAX, 2e6)};
	const struct lt_rate_step carbon[] = {step(T0, INT64_MAX, 500)};
	const struct lt_rate_step rises[] = {
	    step(0, T0 + 5400, 0), step(T0 + 5400, INT64_MAX, 80e6)};
	const struct lt_rate_step none[] = {step(0, INT64_MAX, 0)};
	struct lt_charge_input input = {.start_utc_s = T0,
	    .end_utc_s = T0 + 3 * 3600,
	    .nodes = 1,
	    .share = {1, 1},
	    .watts = 1000,
	    .price = {1, price},
	    .carbon = {1, carbon},
	    .carbon_charge = {2, rises}};
	static const double wanted[] = {0, 20000, 40000};
	struct lt_charge charge;

	(void)state;
	assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
	assert_true(charge.priced);
	assert_int_equal(charge.hour_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_true(fabs(charge.hours[i].carbon_charge_micros - wanted[i]) < 1e-6);
		assert_true(fabs(charge.hours[i].money_micros - 2e6 - wanted[i]) < 1e-6);
	}
	assert_true(fabs(charge.carbon_charge_micros - 60000) < 1e-6);
	assert_true(fabs(charge.money_micros - 6060000) < 1e-6);
	lt_charge_free(&charge);
	/* Whose carbon is not known has no price, unless nothing is charged. */
	input.carbon.count = 0;
	assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
	assert_false(charge.priced);
	assert_true(charge.money_micros == 0);
	lt_charge_free(&charge);
	input.carbon_charge = (struct lt_rates){1, none};
	assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
	assert_true(charge.priced && charge.money_micros == 6e6);
	lt_charge_free(&charge);
}

static void
test_never_ran(void **state)
{
	(void)state;
	const struct lt_charge_input inputs[] = {
	    {.start_utc_s = 0, .end_utc_s = T0, .share = {1, 1}},
	    {.start_utc_s = T0, .end_utc_s = T0, .share = {1, 1}},
	    {.start_utc_s = T0, .end_utc_s = T0 - 5, .share = {1, 1}},
	};
	for (size_t i = 0; i < 3; i++) {
		struct lt_charge charge;

		assert_int_equal(lt_charge_run(&charge, &inputs[i], NULL), LT_OK);
		assert_int_equal(charge.hour_count, 0);
		assert_true(charge.priced && charge.money_micros == 0);
	}
}

static void
test_too_long_is_refused(void **state)
{
	(void)state;
	const struct lt_charge_input input = {
	    .start_utc_s = 1, .end_utc_s = T0, .nodes = 1, .share = {1, 1}};
	struct lt_charge charge;
	struct lt_error err = {0};
	assert_int_equal(lt_charge_run(&charge, &input, &err), LT_ELIMIT);
	assert_true(err.text[0] != '\0');
}

/* Hours add up to the total exactly, whatever the rounding of the total. */
static void
test_split_adds_up(void **state)
{
	(void)state;
	srandom(7);
	for (int round = 0; round < 2000; round++) {
		double exact[50], sum = 0;
		int64_t parts[50], total = 0;
		const uint32_t n = 1 + (uint32_t)(random() % 50);

		for (uint32_t i = 0; i < n; i++) {
			exact[i] = (double)(random() % 2000003) / 7.0 - 1e5;
			sum += exact[i];
		}
		const int64_t want = (int64_t)llround(sum) + (random() % 3 - 1);
		lt_charge_split(parts, exact, n, want);
		for (uint32_t i = 0; i < n; i++) {
			total += parts[i];
			assert_true(fabs((double)parts[i] - exact[i]) < 2.6);
		}
		assert_true(total == want);
	}
}

static int
remove_all(const char *directory)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* Cut one node into n jobs in every way; the ledger's carry makes the parts cost the node. */
static void
test_split_node_costs_the_node(void **state)
{
	(void)state;
	static const struct {
		int64_t price, seconds;
		uint32_t parts;
	} cases[] = {{32770000, 3600, 8}, {32770000, 3601, 7}, {1, 59, 8}, {10500001, 12345, 64},
	    {98321, 86399, 3}, {32770000, 1, 64}};
	char directory[] = "/tmp/lt_charge_XXXXXX";
	struct lt_ledger *ledger = NULL;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(lt_ledger_open(&ledger, directory, NULL), LT_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_rate_step price[] = {step(T0, INT64_MAX, (double)cases[i].price)};
		struct lt_charge_input input = {.start_utc_s = T0 + 17,
		    .end_utc_s = T0 + 17 + cases[i].seconds,
		    .nodes = 1,
		    .price = {1, price}};
		char name[32];
		int64_t sum = 0, whole = 0;
		struct lt_charge charge;

		assert_int_equal(lt_ledger_begin(ledger, NULL), LT_OK);
		snprintf(name, sizeof(name), "parts%zu", i);
		for (uint32_t k = 0; k < cases[i].parts; k++) {
			int64_t rounded;

			input.share = (struct lt_fraction){1, cases[i].parts};
			assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
			assert_int_equal(lt_ledger_round(ledger, (struct lt_carry_key){name, false},
					     charge.money_micros, &rounded, NULL),
			    LT_OK);
			sum += rounded;
			lt_charge_free(&charge);
		}
		input.share = (struct lt_fraction){1, 1};
		assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
		snprintf(name, sizeof(name), "whole%zu", i);
		assert_int_equal(lt_ledger_round(ledger, (struct lt_carry_key){name, false},
				     charge.money_micros, &whole, NULL),
		    LT_OK);
		lt_charge_free(&charge);
		assert_int_equal(lt_ledger_commit(ledger, NULL), LT_OK);
		assert_true(sum == whole);
	}
	lt_ledger_close(ledger);
	assert_int_equal(remove_all(directory), 0);
}

/* 3.6 an hour is 1000 micros a second; 40 of 100 s suspended. */
static void
test_suspended(void **state)
{
	static const struct {
		const char *why;
		struct lt_fraction share, kept;
		double suspended, money, carbon;
	} cases[] = {
	    {"CPUs only: nothing stays", {1, 2}, {0, 1}, 0.4, 30000, 60},
	    {"a GPU of eight stays", {1, 8}, {1, 8}, 0.4, 12500, 60 + 20},
	    {"CPUs were more than the GPUs", {1, 2}, {1, 8}, 0.4, 35000, 60 + 20},
	    {"never", {1, 2}, {1, 8}, 0, 50000, 100},
	    {"all the time", {1, 2}, {1, 8}, 1, 12500, 50},
	};
	const struct lt_rate_step price = {T0, INT64_MAX, 3600000, LT_QUALITY_CONSTANT, "", 0};
	const struct lt_rate_step carbon = {T0, INT64_MAX, 100, LT_QUALITY_CONSTANT, "", 0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_charge charge;
		/* 36 W x 100 s = 1 Wh, at 100 g/kWh = 100 mg. */
		const struct lt_charge_input input = {.start_utc_s = T0 + 3550,
		    .end_utc_s = T0 + 3650,
		    .nodes = 1,
		    .share = cases[i].share,
		    .watts = 36,
		    .suspended = cases[i].suspended,
		    .suspended_share = cases[i].kept,
		    .suspended_watts = cases[i].kept.numerator ? 18 : 0,
		    .price = {1, &price},
		    .carbon = {1, &carbon}};

		print_message("%s\n", cases[i].why);
		assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
		assert_int_equal(charge.hour_count, 2);
		assert_true(fabs(charge.money_micros - cases[i].money) < 1e-6);
		assert_true(fabs(charge.carbon_mg - cases[i].carbon) < 1e-6);
		lt_charge_free(&charge);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_share),
	    cmocka_unit_test(test_suspended),
	    cmocka_unit_test(test_steps_and_hours),
	    cmocka_unit_test(test_worst_quality),
	    cmocka_unit_test(test_negative_price_pays),
	    cmocka_unit_test(test_missing_is_not_zero),
	    cmocka_unit_test(test_carbon_charge),
	    cmocka_unit_test(test_never_ran),
	    cmocka_unit_test(test_too_long_is_refused),
	    cmocka_unit_test(test_split_adds_up),
	    cmocka_unit_test(test_split_node_costs_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
