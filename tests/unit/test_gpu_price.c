/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * price_per_gpu_hour while a partition's nodes change: from when each price counts, and that none
 * is made of nodes that differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy_load.h"
#include "policy.h"
#include "tables.h"

static void
test_nodes_change(void **state)
{
	static struct lt_policy_partition partition = {
	    .name = "h100", .has_gpu_price = true, .gpu_price_micros = 4500000};
	static struct lt_policy policy = {.partition_count = 1, .partitions = &partition};
	static struct lt_partition slurms = {.name = "h100", .shape_count = 1};
	static struct lt_shape shapes[2];
	static struct lt_tables tables = {
	    .partition_count = 1, .partitions = &slurms, .shapes = shapes};
	static const struct {
		const char *why;
		uint32_t gpus[2], shapes;
		double price; /* 0: none */
		int64_t from_utc_s;
	} passes[] = {
	    {"as it was read: since then", {8}, 1, 36e6, 0},
	    {"the same", {8}, 1, 36e6, 0},
	    {"other nodes", {4}, 1, 18e6, 3},
	    {"the same again", {4}, 1, 18e6, 3},
	    {"nodes that differ", {4, 8}, 2, 0, 5},
	    {"they still do", {4, 8}, 2, 0, 5},
	    {"as before: from now on, not through the time without", {4}, 1, 18e6, 7},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		slurms.shape_count = passes[i].shapes;
		shapes[0].gpus = passes[i].gpus[0];
		shapes[1].gpus = passes[i].gpus[1];
		lt_gpu_prices(&policy, &tables, (int64_t)i + 1);
		if (partition.price.is_set != (passes[i].price > 0) ||
		    (partition.price.is_set && partition.price.constant != passes[i].price) ||
		    partition.price_from_utc_s != passes[i].from_utc_s)
			fail_msg("%s", passes[i].why);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nodes_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
