/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Total cost to outcome: two cases worked out by hand, from the charge of the nodes to the last
 * row; roundings, what has no rate, and what passes int64_t.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "calendar.h"
#include "charge.h"
#include "tcto.h"
#include "tcto_json.h"
#include "units.h"

enum { T0 = 1793491200 }; /* 2026-11-01T00:00:00Z */

/* What a run of whole nodes is charged, as the ledger rounds it. */
static int64_t
charged(uint32_t nodes, int64_t seconds, double micros_per_node_hour)
{
	const struct lt_rate_step step = {
	    .start_utc_s = 0, .end_utc_s = INT64_MAX, .value = micros_per_node_hour};
	const struct lt_charge_input input = {.start_utc_s = T0,
	    .end_utc_s = T0 + seconds,
	    .nodes = nodes,
	    .share = {1, 1},
	    .price = {1, &step}};
	struct lt_charge charge;

	assert_int_equal(lt_charge_run(&charge, &input, NULL), LT_OK);
	assert_true(charge.priced);
	const int64_t micros = llround(charge.money_micros);
	lt_charge_free(&charge);
	return micros;
}

static struct lt_tcto
tcto_of(const struct lt_tcto_rates *rates, const struct lt_tcto_figures *figures)
{
	struct lt_tcto tcto;
	struct lt_error err = {0};

	assert_int_equal(lt_tcto_of(&tcto, rates, figures, &err), LT_OK);
	return tcto;
}

/* 16 nodes for 72 h at 32.77 a node-hour, and on spot at 11.73: all of it is compute where the site
 * tells no more. 16 x 72 x 8 GPUs = 9,216 GPU-hours. */
static void
test_sixteen_nodes(void **state)
{
	static const struct lt_tcto_rates none;
	static const struct {
		const char *why;
		double price;
		int64_t micros, per_gpu_hour;
	} rows[] = {
	    {"on demand, 37,751.04", 32770000, 37751040000, 4096250},
	    {"on spot, 13,512.96", 11730000, 13512960000, 1466250},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].why);
		const struct lt_tcto tcto = tcto_of(&none,
		    &(struct lt_tcto_figures){.cost_micros = charged(16, 72 * 3600, rows[i].price),
			.completed_runs = 1,
			.month_parts = LT_MONTH_PARTS,
			.gpu_s = (int64_t)16 * 8 * 72 * 3600});

		assert_int_equal(tcto.micros[LT_TCTO_COMPUTE], rows[i].micros);
		assert_int_equal(tcto.total_micros, rows[i].micros);
		assert_int_equal(tcto.per_gpu_hour_micros, rows[i].per_gpu_hour);
		assert_int_equal(tcto.per_completed_run_micros, rows[i].micros);
		assert_int_equal(tcto.micros[LT_TCTO_FAILED], 0);
		assert_false(tcto.has[LT_TCTO_ENERGY]);
		assert_false(tcto.has[LT_TCTO_STORAGE]);
		assert_false(tcto.has[LT_TCTO_ENGINEER]);
	}
}

/*
 * 30,000 H100-hours in November on owned nodes of 8 at 18.00 a node-hour: 25 nodes for 150 h, of
 * which 7.5 h were lost to runs that failed.
 *   compute   25 x 142.5 x 18.00                             64,125.00
 *   energy    3,750 h x 10.2 kW x PUE 1.3 = 49,725 kWh x 0.15 7,458.75
 *   storage   100,000 GB x 0.02 x 1 month                     2,000.00
 *   engineer  12 x 2 h x 90                                   2,160.00
 *   failed    25 x 7.5 x 18.00                                3,375.00
 *                                                            79,118.75
 * a GPU-hour 2.637291666..., each of 40 runs that completed 1,977.96875.
 */
static void
test_h100_hours(void **state)
{
	static const struct lt_tcto_rates rates = {.energy_micros_per_kwh = 150000,
	    .storage_gb = 100000,
	    .storage_micros_per_gb_month = 20000,
	    .engineer_micros_per_hour = 90000000,
	    .engineer_hour_millionths = 2000000};
	static const struct lt_offsets utc;
	const int64_t failed = charged(25, 27000, 18000000);
	const struct lt_tcto tcto = tcto_of(&rates,
	    &(struct lt_tcto_figures){.cost_micros = charged(25, 513000, 18000000) + failed,
		.failed_micros = failed,
		.owned_energy_wh = 49725000,
		.month_parts = lt_calendar_month_parts(&utc, T0, T0 + (int64_t)30 * LT_DAY_S),
		.interruptions = 12,
		.completed_runs = 40,
		.gpu_s = (int64_t)30000 * 3600});

	(void)state;
	assert_int_equal(tcto.micros[LT_TCTO_COMPUTE], 64125000000);
	assert_int_equal(tcto.micros[LT_TCTO_ENERGY], 7458750000);
	assert_int_equal(tcto.micros[LT_TCTO_STORAGE], 2000000000);
	assert_int_equal(tcto.micros[LT_TCTO_ENGINEER], 2160000000);
	assert_int_equal(tcto.micros[LT_TCTO_FAILED], 3375000000);
	assert_int_equal(tcto.total_micros, 79118750000);
	assert_int_equal(tcto.per_gpu_hour_micros, 2637292);
	assert_int_equal(tcto.per_completed_run_micros, 1977968750);
}

static void
test_roundings(void **state)
{
	struct lt_tcto_rates rates = {.energy_micros_per_kwh = 1};
	struct lt_tcto_figures figures = {.owned_energy_wh = 500};

	(void)state;
	assert_int_equal(tcto_of(&rates, &figures).micros[LT_TCTO_ENERGY], 1);
	figures.owned_energy_wh = 499;
	assert_int_equal(tcto_of(&rates, &figures).micros[LT_TCTO_ENERGY], 0);
	/* No runs, no GPUs: no figure of one, not 0. */
	assert_false(tcto_of(&rates, &figures).has_per_gpu_hour);
	assert_false(tcto_of(&rates, &figures).has_per_completed_run);
	/* A month that was corrected to below zero; -1 / 2 is -1. */
	figures =
	    (struct lt_tcto_figures){.cost_micros = -1, .failed_micros = 5, .completed_runs = 2};
	assert_int_equal(tcto_of(&rates, &figures).micros[LT_TCTO_COMPUTE], -6);
	assert_int_equal(tcto_of(&rates, &figures).per_completed_run_micros, -1);
	/* Half a price is no price. */
	rates = (struct lt_tcto_rates){.storage_gb = 5, .engineer_micros_per_hour = 5};
	assert_false(tcto_of(&rates, &figures).has[LT_TCTO_STORAGE]);
	assert_false(tcto_of(&rates, &figures).has[LT_TCTO_ENGINEER]);
	assert_string_equal(lt_tcto_part_name(LT_TCTO_FAILED), "failed");
	assert_string_equal(lt_tcto_part_name(LT_TCTO_PARTS), "unknown");
}

static void
test_overflow(void **state)
{
	static const struct lt_tcto_rates rates = {.energy_micros_per_kwh = 1000,
	    .storage_gb = INT64_MAX,
	    .storage_micros_per_gb_month = INT64_MAX,
	    .engineer_micros_per_hour = INT64_MAX,
	    .engineer_hour_millionths = INT64_MAX};
	static const struct {
		const char *why;
		struct lt_tcto_figures figures;
		enum lt_code code;
	} rows[] = {
	    {"the most", {.owned_energy_wh = INT64_MAX}, LT_OK},
	    {"one more", {.owned_energy_wh = INT64_MAX, .cost_micros = 1}, LT_EOVERFLOW},
	    {"a part", {.month_parts = 1}, LT_EOVERFLOW},
	    {"128 bits", {.interruptions = INT64_MAX}, LT_EOVERFLOW},
	    {"compute", {.cost_micros = INT64_MIN, .failed_micros = 1}, LT_EOVERFLOW},
	    {"of a GPU-hour", {.cost_micros = INT64_MAX, .gpu_s = 1}, LT_EOVERFLOW},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_tcto tcto;
		struct lt_error err = {0};

		print_message("# %s\n", rows[i].why);
		assert_int_equal(lt_tcto_of(&tcto, &rates, &rows[i].figures, &err), rows[i].code);
		assert_int_equal(err.text[0] != '\0', rows[i].code != LT_OK);
	}
}

/* Months by the calendar: a day is a 28th, 29th, 30th or 31st. */
static void
test_months(void **state)
{
	enum {
		FEB_2026 = 1769904000, /* 2026-02-01T00:00Z */
		MAR_2026 = 1772323200,
		APR_2026 = 1775001600,
		FEB_2028 = 1832976000,
		MAR_2028 = 1835481600,
		JAN_2026 = 1767225600,
		JAN_2027 = 1798761600,
		MARCH_29 = 1774742400, /* 00:00 in London; 23 h */
	};
	static const struct lt_offsets utc;
	static const struct lt_offsets london = {
	    .count = 2, .steps = {{INT64_MIN, 0, "GMT"}, {1774746000, 3600, "BST"}}};
	static const struct {
		const char *why;
		const struct lt_offsets *offsets;
		int64_t from, to, parts;
	} rows[] = {
	    {"nothing", &utc, FEB_2026, FEB_2026, 0},
	    {"backwards", &utc, MAR_2026, FEB_2026, 0},
	    {"February", &utc, FEB_2026, MAR_2026, 377580},
	    {"of a leap year", &utc, FEB_2028, MAR_2028, 377580},
	    {"a year", &utc, JAN_2026, JAN_2027, 12 * 377580},
	    {"one second is its day: 377580 / 28", &utc, FEB_2026, FEB_2026 + 1, 13485},
	    {"the last of February and the first of March", &utc, MAR_2026 - LT_DAY_S,
		MAR_2026 + LT_DAY_S, 13485 + 12180},
	    {"London's March, an hour short", &london, MAR_2026, APR_2026 - 3600, 377580},
	    {"its day of 23 h", &london, MARCH_29, MARCH_29 + 23 * 3600, 12180},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].why);
		assert_int_equal(lt_calendar_month_parts(rows[i].offsets, rows[i].from, rows[i].to),
		    rows[i].parts);
	}
	/* Bounded, whatever is asked: a century. */
	assert_true(lt_calendar_month_parts(&utc, 0, INT64_MAX) < (int64_t)1201 * 377580);
}

/* Groups by partition and state: each amount where it belongs, once. */
static void
test_groups(void **state)
{
	static const struct lt_tcto_group groups[] = {
	    {"owned", "COMPLETED", 3, 7000000, 2000, 3600},
	    {"cloud", "COMPLETED", 1, 1000000, 9000, 7200}, {"owned", "FAILED", 2, 500000, 1000, 0},
	    {"cloud", "NODE_FAIL", 1, 250000, 1, 1}, {"owned", "PREEMPTED", 4, 50000, 500, 1},
	    {"owned", "RESIZING", 1, 4000, 100, 1}, {"", "", 0, -300000, 0, 0}, /* adjustments */
	};
	struct lt_policy_partition partitions[] = {
	    {.name = "owned", .owned = true}, {.name = "cloud"}};
	const struct lt_policy policy = {.partitions = partitions,
	    .partition_count = 2,
	    .tcto = {.energy_micros_per_kwh = 100000,
		.engineer_micros_per_hour = 10000000,
		.engineer_hour_millionths = 500000}};
	static struct lt_tcto_site site;
	struct lt_tcto_figures figures = {0};
	struct lt_error err = {0};

	(void)state;
	lt_tcto_site_of(&site, &policy);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		assert_int_equal(lt_tcto_add(&figures, &site, &groups[i], &err), LT_OK);
	/* 7 + 1 + 0.5 + 0.25 + 0.05 + 0.004 - 0.3 = 8.504; failed 0.8; 3.6 kWh at 0.1; 5 x half an
	 * hour at 10; GPUs 10,803 s. */
	json_t *const json = lt_tcto_json(&site, &figures, "EUR", &err);
	json_t *const want = json_loads("{\"compute_micros\":7704000,\"energy_micros\":360000,"
					"\"storage_micros\":null,\"engineer_micros\":25000000,"
					"\"failed_micros\":800000,\"total_micros\":33864000,"
					"\"per_gpu_hour_micros\":11284865,"
					"\"per_completed_run_micros\":8466000,\"gpu_s\":10803,"
					"\"completed_runs\":4,\"interruptions\":5,"
					"\"owned_energy_wh\":3600}",
	    0, NULL);
	if (!json_equal(json, want))
		fail_msg("%s", json_dumps(json, 0));
	json_decref(json);
	json_decref(want);
	assert_true(json_is_null(lt_tcto_json(&site, &figures, "", &err)));
	assert_int_equal(lt_tcto_add(&figures, &site,
			     &(struct lt_tcto_group){"owned", "FAILED", 1, INT64_MAX, 0, 0}, &err),
	    LT_EOVERFLOW);
	figures = (struct lt_tcto_figures){.cost_micros = INT64_MAX, .interruptions = 1};
	assert_null(lt_tcto_json(&site, &figures, "EUR", NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sixteen_nodes),
	    cmocka_unit_test(test_h100_hours),
	    cmocka_unit_test(test_roundings),
	    cmocka_unit_test(test_overflow),
	    cmocka_unit_test(test_months),
	    cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
