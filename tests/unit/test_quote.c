/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is held for a job, by hand-made arithmetic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "quote.h"

enum { NOW = 1763683200, HOUR = 3600 };
enum { NODE, DEAR, NO_PRICE, NO_CARBON, NO_POWER, FREE, NO_LIMIT, PARTITIONS };

/* 1.5 an hour, 3 from the second hour on; 100 and then 250 g/kWh. */
static int64_t starts[3][3] = {
    {NOW, NOW + HOUR, NOW + 9 * HOUR}, {NOW, NOW + HOUR, NOW + 9 * HOUR}, {NOW, NOW + HOUR, 0}};
static double values[3][2] = {{1500000, 3000000}, {100, 250}, {0}};
static double integrals[3][3];
static struct lt_series series[3];
static struct lt_shape shape = {
    .node_count = 8, .cpus = 64, .gpus = 8, .memory_mib = 1024000, .gpu_index = -1};
static struct lt_partition partitions[PARTITIONS];
static struct lt_market market;
static struct lt_request request;

static int
setup(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		series[i] = (struct lt_series){.count = i == 2 ? 1 : 2,
		    .start_utc_s = starts[i],
		    .value = values[i],
		    .integral = integrals[i]};
		assert_int_equal(lt_series_prepare(&series[i], NULL), LT_OK);
	}
	for (int i = 0; i < PARTITIONS; i++) {
		partitions[i] =
		    (struct lt_partition){.flags = LT_PARTITION_UP | LT_PARTITION_MANAGED,
			.max_time_s = INT64_MAX,
			.min_nodes = 1,
			.max_nodes = UINT32_MAX,
			.node_count = 8,
			.shape_count = 1,
			.price_series = 0,
			.carbon_series = 1,
			.tariff_series = LT_NO_SERIES,
			.occupancy_series = LT_NO_SERIES,
			.node_idle_w = 400,
			.node_cpu_w = 200,
			.node_gpu_w = 1400,
			.pue = 1.5,
			.allow_accounts = "",
			.deny_accounts = "",
			.allow_qos = "",
			.deny_qos = ""};
		snprintf(partitions[i].name, LT_NAME_SIZE, "p%d", i);
	}
	partitions[DEAR].embodied_g_per_node_hour = 10;
	partitions[NO_PRICE].price_series = LT_NO_SERIES;
	partitions[NO_CARBON].carbon_series = LT_NO_SERIES;
	partitions[NO_POWER].node_idle_w = partitions[NO_POWER].node_cpu_w =
	    partitions[NO_POWER].node_gpu_w = 0;
	partitions[FREE].price_series = 2;
	market = (struct lt_market){.currency = "USD",
	    .partition_count = PARTITIONS,
	    .shape_count = 1,
	    .series_count = 3,
	    .partitions = partitions,
	    .shapes = &shape,
	    .series = series};
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .cpus = 64,
	    .gpus = 8,
	    .array_tasks = 1,
	    .limit_s = HOUR / 2,
	    .expected_run_s = LT_UNSET_64,
	    .home = NODE,
	    .deadline_utc_s = LT_UNSET_64,
	    .max_cost_micros = LT_UNSET_64};
	return 0;
}

static void
set_limit(void)
{
	request.limit_s = 2 * HOUR;
}

static void
set_nodes(void)
{
	request.min_nodes = 1;
	request.max_nodes = 4;
	request.cpus = 256;
	request.gpus = 32;
}

static void
set_part(void)
{
	request.cpus = 8;
	request.gpus = 1;
}

static void
set_exclusive(void)
{
	set_part();
	request.exclusive = true;
}

static void
set_margin(void)
{
	market.hold_margin_ppm = 50000;
}

static void
set_over_time(void)
{
	partitions[NODE].overrun_s = HOUR / 4;
}

static void
set_over_time_unlimited(void)
{
	partitions[NODE].overrun_s = INT64_MAX;
}

static void
set_array(void)
{
	request.array_tasks = 7;
	request.array_parallel = 3;
}

static void
set_array_at_once(void)
{
	request.array_tasks = 4;
	request.array_parallel = 4;
}

static void
set_no_node(void)
{
	partitions[NODE].shape_count = 0;
}

static void
set_deadline(void)
{
	request.deadline_utc_s = NOW + 6 * HOUR;
}

static void
set_worst(void)
{
	partitions[NO_CARBON].worst_intensity = 1000;
}

static void
set_no_currency(void)
{
	market.currency[0] = '\0';
}

static void
set_no_limit(void)
{
	request.limit_s = LT_UNSET_64;
}

static void
set_assume(void)
{
	set_no_limit();
	market.assume_time_s = HOUR / 2;
}

static void
set_negative(void)
{
	values[0][0] = -5;
	values[0][1] = -6;
}

static void
set_part_of_a_micro(void)
{
	values[0][0] = values[0][1] = 2.5;
}

/* 2^63 - 1 is 3577 times this. */
static void
set_last(void)
{
	values[0][0] = values[0][1] = 2578521676503991.0;
	request.limit_s = HOUR;
	request.min_nodes = request.max_nodes = 3577;
	request.exclusive = true;
}

static void
set_huge(void)
{
	values[0][0] = values[0][1] = 9e14;
	request.limit_s = INT32_MAX;
	request.max_nodes = 1000000;
}

/* Longer than 32 bits of seconds, and said by nobody but the partition. */
static void
set_centuries(void)
{
	request.limit_s = LT_UNSET_64;
	partitions[NODE].default_time_s = 0;
	partitions[NODE].max_time_s = (int64_t)200 * 366 * 24 * HOUR;
}

/* A tenth of a micro a milligram. */
static void
set_charge(void)
{
	market.charge_micros_per_tonne = 100000000;
}

static void
set_worst_charge(void)
{
	set_worst();
	set_charge();
}

static void
nothing(void)
{
}

/* Micros of a whole node for half an hour at 1.5: 750,000. Its energy: 2 kW x 1.5 x 0.5 h = 1.5 kWh
 * at 100 g: 150,000 mg. */
static const struct {
	const char *why;
	void (*set)(void);
	int first, second; /* -1 = none */
	int code;
	int64_t money, mg; /* -1 = unknown; without the + 1 */
	int64_t length_s;
} cases[] = {
    {"half an hour of a node", nothing, NODE, -1, LT_OK, 750000, 150000, HOUR / 2},
    {"the worst price of the window for all of it", set_limit, NODE, -1, LT_OK, 6000000, 1500000,
	2 * HOUR},
    {"the larger node count", set_nodes, NODE, -1, LT_OK, 3000000, 600000, HOUR / 2},
    {"200 years are held as 68", set_centuries, NODE, -1, LT_OK, 1789569705834, 447392426459,
	INT32_MAX},
    {"a share of the node", set_part, NODE, -1, LT_OK, 93750, 18750, HOUR / 2},
    {"exclusive is all of it", set_exclusive, NODE, -1, LT_OK, 750000, 150000, HOUR / 2},
    {"margin", set_margin, NODE, -1, LT_OK, 787500, 157501, HOUR / 2},
    {"OverTimeLimit", set_over_time, NODE, -1, LT_OK, 1125000, 225000, 3 * HOUR / 4},
    {"OverTimeLimit UNLIMITED adds nothing", set_over_time_unlimited, NODE, -1, LT_OK, 750000,
	150000, HOUR / 2},
    {"7 tasks, 3 at once: 3 runs, the dearer price", set_array, NODE, -1, LT_OK, 1500000, 375000,
	3 * HOUR / 2},
    {"4 tasks, 4 at once: 1 run", set_array_at_once, NODE, -1, LT_OK, 750000, 150000, HOUR / 2},
    {"the dearer of two partitions", nothing, NODE, FREE, LT_OK, 750000, 150000, HOUR / 2},
    {"a partition without a node", set_no_node, NODE, -1, LT_ENOENT, 0, 0, 0},
    {"as late as the deadline", set_deadline, NODE, -1, LT_OK, 1500000, 375000, 6 * HOUR},
    {"embodied carbon on top", nothing, DEAR, -1, LT_OK, 750000, 155000, HOUR / 2},
    {"the larger of two partitions", nothing, NODE, DEAR, LT_OK, 750000, 155000, HOUR / 2},
    {"unknown price", nothing, NO_PRICE, -1, LT_OK, -1, 150000, HOUR / 2},
    {"unknown in one is unknown", nothing, NODE, NO_PRICE, LT_OK, -1, 150000, HOUR / 2},
    {"a site that shows no money", set_no_currency, NODE, -1, LT_OK, -1, 150000, HOUR / 2},
    {"unknown intensity", nothing, NO_CARBON, -1, LT_OK, 750000, -1, HOUR / 2},
    {"the worst intensity instead", set_worst, NO_CARBON, -1, LT_OK, 750000, 1500000, HOUR / 2},
    {"a charge for its carbon", set_charge, NODE, -1, LT_OK, 765000, 150000, HOUR / 2},
    {"at the worst intensity", set_worst_charge, NO_CARBON, -1, LT_OK, 900000, 1500000, HOUR / 2},
    {"which is not known: nor is what it costs", set_charge, NO_CARBON, -1, LT_OK, -1, -1,
	HOUR / 2},
    {"on top of nothing", set_charge, FREE, -1, LT_OK, 15000, 150000, HOUR / 2},
    {"the carbon alone is known", set_charge, NO_PRICE, -1, LT_OK, -1, 150000, HOUR / 2},
    {"unknown power", nothing, NO_POWER, -1, LT_OK, 750000, -1, HOUR / 2},
    {"free of charge is 0 and known", nothing, FREE, -1, LT_OK, 0, 150000, HOUR / 2},
    {"a negative price holds nothing", set_negative, NODE, -1, LT_OK, 0, 150000, HOUR / 2},
    {"no limit", set_no_limit, NODE, -1, LT_EINPUT, 0, 0, 0},
    {"assumed limit", set_assume, NODE, -1, LT_OK, 750000, 150000, HOUR / 2},
    {"a part of a micro is a micro", set_part_of_a_micro, NODE, -1, LT_OK, 2, 150000, HOUR / 2},
    {"no room for the last 1", set_last, NODE, -1, LT_EOVERFLOW, 0, 0, 0},
    {"too much to count", set_huge, NODE, -1, LT_EOVERFLOW, 0, 0, 0},
    {"no partition", nothing, -1, -1, LT_EINPUT, 0, 0, 0},
};

/* Held: the amount and 1; what is 0 stays 0. Doubles may add 1 more. */
static void
assert_held(bool known, int64_t held, int64_t wanted, int64_t slack)
{
	assert_int_equal(known, wanted >= 0);
	if (wanted == 0)
		assert_int_equal(held, 0);
	if (wanted > 0)
		assert_true(held > wanted && held <= wanted + 1 + slack);
}

static void
test_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_quote quote = {0};
		struct lt_error err = {0};
		const int where[] = {cases[i].first, cases[i].second};
		const int count = (where[0] >= 0) + (where[1] >= 0);
		const double first = values[0][0], second = values[0][1];

		print_message("%s\n", cases[i].why);
		setup(NULL);
		cases[i].set();
		assert_int_equal(lt_quote_hold(&quote, &request, &market, where, count, NOW, &err),
		    cases[i].code);
		values[0][0] = first;
		values[0][1] = second;
		if (cases[i].code != LT_OK) {
			assert_true(err.text[0] != '\0');
			continue;
		}
		/* Nodes and carbon are each rounded up, and 1 more. */
		assert_held(quote.hold_per_task.has_money, quote.hold_per_task.money_micros,
		    cases[i].money, market.charge_micros_per_tonne > 0 ? 2 : 0);
		assert_held(
		    quote.hold_per_task.has_carbon, quote.hold_per_task.carbon_mg, cases[i].mg, 1);
		assert_int_equal(quote.tasks, request.array_tasks);
		assert_int_equal(quote.start_utc_s, NOW);
		assert_int_equal(quote.end_utc_s, NOW + cases[i].length_s);
	}
}

/* 64 CPUs without --nodes, where nodes have 8 and 64 or only 8. */
static void
test_hold_of_small_nodes(void **state)
{
	static const struct {
		const char *why;
		uint32_t first, shapes, small;
		bool open;
		int64_t micros; /* 750000 a node */
	} rows[] = {
	    {"one large node", 0, 1, 16, true, 750001},
	    {"eight small nodes", 1, 1, 16, true, 6000001},
	    {"small ones are the most of a mixed partition", 0, 2, 16, true, 6000001},
	    {"on eleven nodes, three of them small, a charge is by the small", 0, 2, 3, true,
		6000001},
	    {"the user said --nodes", 0, 2, 16, false, 750001},
	};
	const int where = NODE;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_shape shapes[2] = {shape, shape};
		struct lt_quote quote = {0};

		print_message("%s\n", rows[i].why);
		setup(NULL);
		shapes[1].cpus = 8;
		shapes[1].node_count = rows[i].small;
		market.shapes = shapes;
		market.shape_count = 2;
		partitions[NODE].first_shape = rows[i].first;
		partitions[NODE].shape_count = rows[i].shapes;
		request.gpus = 0;
		request.nodes_open = rows[i].open;
		assert_int_equal(
		    lt_quote_hold(&quote, &request, &market, &where, 1, NOW, NULL), LT_OK);
		assert_int_equal(quote.hold_per_task.money_micros, rows[i].micros);
	}
}

/* ---- text ---- */

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_hold, setup),
	    cmocka_unit_test_setup(test_hold_of_small_nodes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
