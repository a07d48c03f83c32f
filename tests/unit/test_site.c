/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lowtide would have saved at a site, where it can be counted by hand: a dear and a cheap
 * partition, and a grid that is clean at night.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "site.h"
#include "units.h"

enum {
	FROM_UTC_S = 1666224000, /* 2022-10-20 00:00 */
	HISTORY_HOURS = 28 * 24,
	HOURS = HISTORY_HOURS + 10 * 24,
	DEAR = 0,
	CHEAP = 1,
	CARBON = 2, /* series */
	RUNS_MAX = 8,
	NODES = 4, /* of the dear one; the cheap one has one */
};

struct bed {
	struct lt_market market;
	struct lt_partition partitions[2];
	struct lt_shape shapes[2];
	struct lt_series series[3];
	int64_t starts[3][2];
	double values[3][2], integrals[3][2];
	struct lt_sim_signal signals[3];
	struct lt_site_run runs[RUNS_MAX];
	uint32_t run_count;
	double hours[HOURS]; /* g/kWh */
};

/* 100 g from 0 to 6 o'clock, else 400. */
static double
grid(int64_t hour)
{
	return hour % 24 < 6 ? 100 : 400;
}

static void
make_bed(struct bed *bed)
{
	static const double price[] = {4, 1, 0};

	*bed = (struct bed){0};
	for (int i = 0; i < 3; i++) {
		bed->starts[i][0] = FROM_UTC_S;
		bed->starts[i][1] = FROM_UTC_S + 1;
		bed->values[i][0] = i == CARBON ? 400 : price[i] * LT_MICROS;
		bed->series[i] = (struct lt_series){.count = 1,
		    .quality = i == CARBON ? LT_QUALITY_FORECAST : LT_QUALITY_CONSTANT,
		    .start_utc_s = bed->starts[i],
		    .value = bed->values[i],
		    .integral = bed->integrals[i]};
		assert_int_equal(lt_series_prepare(&bed->series[i], NULL), 0);
	}
	for (int i = 0; i < 2; i++) {
		bed->shapes[i] = (struct lt_shape){.node_count = i == CHEAP ? 1 : NODES,
		    .cpus = 8,
		    .memory_mib = 1024,
		    .gpu_index = -1};
		bed->partitions[i] = (struct lt_partition){.name = {(char)('a' + i)},
		    .flags = LT_PARTITION_UP | LT_PARTITION_MANAGED,
		    .max_time_s = INT64_MAX,
		    .max_nodes = UINT32_MAX,
		    .allow_accounts = "",
		    .deny_accounts = "",
		    .allow_qos = "",
		    .deny_qos = "",
		    .node_count = i == CHEAP ? 1 : NODES,
		    .first_shape = (uint32_t)i,
		    .shape_count = 1,
		    .price_series = i,
		    .carbon_series = CARBON,
		    .tariff_series = LT_NO_SERIES,
		    .occupancy_series = LT_NO_SERIES,
		    .node_cpu_w = 1000,
		    .pue = 1};
	}
	bed->market = (struct lt_market){.currency = "USD",
	    .max_delay_s = LT_DAY_S,
	    .stale_after_s = LT_DAY_S,
	    .deadline_confidence_ppm = 950000,
	    .max_restart_risk_ppm = 100000,
	    .memory_ignored = true,
	    .partition_count = 2,
	    .shape_count = 2,
	    .series_count = 3,
	    .partitions = bed->partitions,
	    .shapes = bed->shapes,
	    .series = bed->series};
	for (int i = 0; i < HOURS; i++)
		bed->hours[i] = grid(FROM_UTC_S / LT_HOUR_S - HISTORY_HOURS + i);
}

/* Whole nodes of the dear partition, from that hour of the window on. */
static struct lt_site_run *
add(struct bed *bed, double at_h, double hours)
{
	struct lt_site_run *const run = &bed->runs[bed->run_count++];
	const int64_t at_s = FROM_UTC_S + (int64_t)(at_h * LT_HOUR_S);

	*run = (struct lt_site_run){.submit_utc_s = at_s,
	    .eligible_utc_s = at_s,
	    .start_utc_s = at_s,
	    .end_utc_s = at_s + (int64_t)(hours * LT_HOUR_S),
	    .limit_s = (int64_t)(hours * LT_HOUR_S),
	    .nodes = 1,
	    .cpus = 8,
	    .account = "a",
	    .qos = "",
	    .name = "n",
	    .features = ""};
	return run;
}

static struct lt_site_result
simulate(struct bed *bed, struct lt_site_setting setting, struct lt_site_counts *counts)
{
	const struct lt_site site = {.market = &bed->market,
	    .signals = bed->signals,
	    .runs = bed->runs,
	    .run_count = bed->run_count,
	    .from_utc_s = FROM_UTC_S,
	    .to_utc_s = FROM_UTC_S + 7 * LT_DAY_S};
	struct lt_site_sim *sim = NULL;
	struct lt_site_result result;
	struct lt_error err = {0};

	assert_int_equal(lt_sim_signal_make(&bed->signals[CARBON],
			     FROM_UTC_S / LT_HOUR_S - HISTORY_HOURS, bed->hours, HOURS, &err),
	    LT_OK);
	assert_int_equal(lt_site_open(&sim, &site, &err), LT_OK);
	assert_int_equal(
	    lt_site_simulate_all(&result, sim, &(struct lt_site_settings){&setting, 1, 2}, &err),
	    LT_OK);
	if (counts != NULL)
		*counts = *lt_site_counts(sim);
	lt_site_close(sim);
	lt_sim_signal_free(&bed->signals[CARBON]);
	return result;
}

static const struct lt_site_setting by_cost = {LT_OBJECTIVE_COST, 1};
static const struct lt_site_setting by_carbon = {LT_OBJECTIVE_CARBON, 1};

static void
test_cheap_nodes(void **state)
{
	struct bed bed;
	struct lt_site_result result;

	(void)state;
	make_bed(&bed);
	add(&bed, 1, 2);
	add(&bed, 8, 3)->pins = LT_PIN_PARTITION | LT_PIN_BEGIN;
	result = simulate(&bed, by_cost, NULL);
	/* $4 an hour, then $1; one was fixed. */
	assert_int_equal(result.all.runs, 2);
	assert_int_equal(result.all.moved, 1);
	assert_true(fabs(result.all.base_micros - 20 * LT_MICROS) < 1);
	assert_true(fabs(result.all.saved_micros - 6 * LT_MICROS) < 1);
	assert_true(fabs(result.partitions[DEAR].saved_micros - result.all.saved_micros) < 1);
	assert_int_equal(result.partitions[CHEAP].runs, 0);
	lt_site_result_free(&result);
}

/* It comes at noon and takes three hours: 3 kWh at 400 g, or at 100 g. */
static void
test_clean_hours(void **state)
{
	struct bed bed;
	struct lt_site_result result;
	double then_g = 0, now_g = 0;

	(void)state;
	make_bed(&bed);
	add(&bed, 12, 3);
	for (int i = 0; i < 3; i++) {
		now_g += grid(12 + i);
		then_g += grid(24 + i);
	}
	result = simulate(&bed, by_carbon, NULL);
	assert_int_equal(result.all.moved, 1);
	assert_true(fabs(result.all.base_mg - now_g * 1000) < 1);
	assert_true(fabs(result.all.saved_mg - (now_g - then_g) * 1000) < 1);
	assert_true(fabs(result.wait_s - 12 * LT_HOUR_S) < 1);
	assert_int_equal(result.late, 0);
	lt_site_result_free(&result);
}

/* Of equal costs the cleaner one counts: without carbon none is. */
static void
no_carbon(struct bed *bed)
{
	for (int i = 0; i < 2; i++)
		bed->partitions[i].carbon_series = LT_NO_SERIES;
}

/* The cheap partition has one node: of three that come at once it has one after the other, all
 * within the day that they may wait. */
static void
test_room(void **state)
{
	struct bed bed;
	struct lt_site_result result;

	(void)state;
	make_bed(&bed);
	no_carbon(&bed);
	for (int i = 0; i < 3; i++)
		add(&bed, 1, 10);
	result = simulate(&bed, by_cost, NULL);
	/* 0, 10 and 20 hours of waiting; the limits are what is known. */
	assert_int_equal(result.all.moved, 3);
	assert_true(fabs(result.all.saved_micros - 90 * LT_MICROS) < 1);
	assert_true(fabs(result.wait_s - 10 * LT_HOUR_S) <= 1800);
	lt_site_result_free(&result);

	/* A node of it is taken all the time by one that stays. */
	make_bed(&bed);
	no_carbon(&bed);
	for (int i = 0; i < 2; i++)
		add(&bed, 1, 10);
	bed.runs[0].partition = CHEAP;
	bed.runs[0].pins = LT_PIN_PARTITION | LT_PIN_BEGIN;
	bed.runs[0].end_utc_s += 5 * LT_DAY_S;
	bed.runs[0].limit_s += 5 * LT_DAY_S;
	result = simulate(&bed, by_cost, NULL);
	assert_int_equal(result.all.moved, 0);
	assert_true(fabs(result.all.saved_micros) < 1);
	lt_site_result_free(&result);
}

static void
test_what_is_not_known(void **state)
{
	struct bed bed;
	struct lt_site_counts counts;
	struct lt_site_result result;

	(void)state;
	make_bed(&bed);
	add(&bed, 1, 2);	     /* up to 27 o'clock */
	add(&bed, 30, 2);	     /* into the hole */
	add(&bed, 60, 2);	     /* over one that is bridged */
	add(&bed, 6.9 * 24, 80);     /* beyond the end of the signal */
	add(&bed, 62, 2)->cpus = 64; /* on no node */
	for (int i = 0; i < 3; i++)
		bed.hours[HISTORY_HOURS + 32 + i] = NAN;
	for (int i = 0; i < 2; i++)
		bed.hours[HISTORY_HOURS + 63 + i] = NAN;
	result = simulate(&bed, by_carbon, &counts);
	assert_int_equal(counts.counted, 2);
	assert_int_equal(counts.no_signal, 2);
	assert_int_equal(counts.no_place, 1);
	assert_int_equal(result.all.runs, 2);
	lt_site_result_free(&result);
}

/* Whatever is saved: none starts before it did at home, and none is run on more nodes than there
 * are. */
static void
test_the_same_again(void **state)
{
	struct bed bed;
	struct lt_site_result first, second;

	(void)state;
	make_bed(&bed);
	for (int i = 0; i < RUNS_MAX; i++)
		add(&bed, 3.0 + i, 5 + i % 3);
	first = simulate(&bed, by_carbon, NULL);
	second = simulate(&bed, by_carbon, NULL);
	assert_true(first.all.saved_mg > 0);
	assert_memory_equal(&first.all, &second.all, sizeof(first.all));
	assert_memory_equal(first.weeks, second.weeks, sizeof(first.weeks));
	assert_true(first.wait_s >= first.base_wait_s);
	lt_site_result_free(&first);
	lt_site_result_free(&second);
}

static void
test_too_long(void **state)
{
	struct bed bed;
	struct lt_site_sim *sim = NULL;
	struct lt_error err = {0};

	(void)state;
	make_bed(&bed);
	add(&bed, 1, 2);
	const struct lt_site site = {.market = &bed.market,
	    .signals = bed.signals,
	    .runs = bed.runs,
	    .run_count = 1,
	    .from_utc_s = FROM_UTC_S,
	    .to_utc_s = FROM_UTC_S + (LT_SITE_WEEKS_MAX + 1) * 7 * (int64_t)LT_DAY_S};

	assert_int_equal(lt_site_open(&sim, &site, &err), LT_EINPUT);
	assert_non_null(strstr(err.text, "want at most 20"));
	lt_site_close(sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cheap_nodes),
	    cmocka_unit_test(test_clean_hours),
	    cmocka_unit_test(test_room),
	    cmocka_unit_test(test_what_is_not_known),
	    cmocka_unit_test(test_the_same_again),
	    cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
