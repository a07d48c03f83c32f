/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that Slurm could not start: how long they are barred, and how a market has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "tables.h"

enum { NOW = 1763690400 };

static struct lt_partition partitions[] = {{.name = "home"}, {.name = "cheap"}, {.name = "spot"}};
static struct lt_market market = {.partition_count = 3, .partitions = partitions};

static struct lt_barred
barred(uint64_t asked, const char *partition, int64_t made_utc_s)
{
	struct lt_barred made = {.asked = asked, .tables = 5, .made_utc_s = made_utc_s};

	snprintf(made.partition, sizeof(made.partition), "%s", partition);
	return made;
}

static void
until_the_tables_are_others(void **state)
{
	static const struct {
		const char *why;
		uint64_t tables;
		int64_t after_s;
		uint32_t count;
	} cases[] = {
	    {"at once", 5, 0, 1},
	    {"the same tables, hours later", 5, 80000, 1},
	    {"other tables", 6, LT_BAR_LEAST_S, 0},
	    {"tables that flap", 6, LT_BAR_LEAST_S - 1, 1},
	    {"what no table shows has a day", 5, LT_BAR_MOST_S, 0},
	    {"and no more", 5, LT_BAR_MOST_S - 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_bars_state bars = {0};
		struct lt_bar out[LT_BARS_MAX];
		const struct lt_barred one = barred(7, "cheap", NOW);

		assert_int_equal(lt_bars_put(&bars, &one, NULL), LT_OK);
		if (lt_bars_of_market(out, &bars, &market, cases[i].tables,
			NOW + cases[i].after_s) != cases[i].count ||
		    bars.count != cases[i].count)
			fail_msg("%s", cases[i].why);
		free(bars.items);
	}
}

static void
a_market_has_them_in_order(void **state)
{
	struct lt_bars_state bars = {0};
	struct lt_bar out[LT_BARS_MAX];
	const struct lt_barred made[] = {barred(9, "spot", NOW), barred(7, "spot", NOW),
	    barred(9, "cheap", NOW), barred(9, "spot", NOW + 1), barred(8, "gone", NOW)};

	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		assert_int_equal(lt_bars_put(&bars, &made[i], NULL), LT_OK);
	assert_int_equal(bars.count, 4); /* one of them twice */
	struct lt_market with = market;
	with.bars = out;
	with.bar_count = lt_bars_of_market(out, &bars, &market, 5, NOW);
	assert_int_equal(with.bar_count, 3);
	for (uint64_t asked = 6; asked <= 10; asked++)
		for (int i = 0; i < 3; i++)
			assert_int_equal(lt_market_bars(&with, asked, i),
			    (asked == 7 && i == 2) || (asked == 9 && i > 0));
	/* A request that nobody knows is barred nowhere. */
	out[0].asked = 0;
	assert_false(lt_market_bars(&with, 0, 2));
	free(bars.items);
}

static void
of_too_many_the_oldest_goes(void **state)
{
	struct lt_bars_state bars = {0};
	struct lt_bar out[LT_BARS_MAX];

	(void)state;
	for (uint32_t i = 0; i < LT_BARS_MAX + 2; i++) {
		const struct lt_barred one = barred(100 + i, "cheap", NOW + i / 100);

		assert_int_equal(lt_bars_put(&bars, &one, NULL), LT_OK);
	}
	assert_int_equal(lt_bars_of_market(out, &bars, &market, 5, NOW + 60), LT_BARS_MAX);
	assert_int_equal(out[0].asked, 102);
	assert_int_equal(out[LT_BARS_MAX - 1].asked, 100 + LT_BARS_MAX + 1);
	free(bars.items);
}

/* What can make a request start that could not; not how many nodes are up. */
static void
tables_are_told_apart(void **state)
{
	struct lt_shape shapes[2] = {
	    {.node_count = 2, .cpus = 64, .features = "fast"}, {.cpus = 8}};
	struct lt_partition parts[1] = {{.name = "cheap",
	    .flags = LT_PARTITION_UP,
	    .max_time_s = 3600,
	    .allow_qos = "normal",
	    .shape_count = 2}};
	struct lt_batch_pair pairs[1] = {{.account = "vision", .uid = 7}};
	bool away[2] = {false, false};
	struct lt_tables tables = {.partitions = parts,
	    .partition_count = 1,
	    .shapes = shapes,
	    .shape_count = 2,
	    .pairs = pairs,
	    .pair_count = 1,
	    .nodes = {.are_away = away, .count = 2}};
	uint64_t seen[8];
	int count = 0;

	(void)state;
	seen[count++] = lt_tables_hash(&tables);
	away[0] = true;
	assert_true(lt_tables_hash(&tables) == seen[0]);
	strcpy(shapes[0].features, "slow");
	seen[count++] = lt_tables_hash(&tables);
	shapes[1].cpus = 16;
	seen[count++] = lt_tables_hash(&tables);
	parts[0].max_time_s = 7200;
	seen[count++] = lt_tables_hash(&tables);
	parts[0].flags = 0;
	seen[count++] = lt_tables_hash(&tables);
	parts[0].allow_qos = "normal,long";
	seen[count++] = lt_tables_hash(&tables);
	pairs[0].uid = 8;
	seen[count++] = lt_tables_hash(&tables);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			assert_true(seen[i] != seen[k]);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(until_the_tables_are_others),
	    cmocka_unit_test(a_market_has_them_in_order),
	    cmocka_unit_test(of_too_many_the_oldest_goes),
	    cmocka_unit_test(tables_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
