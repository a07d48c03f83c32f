/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A brief request is decided as any other: the same plan, the same reason for each candidate, and
 * figures for all of which a quote tells them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decide_world.h"
#include "quote.h"

enum { WORLDS = 4000, MANY = 9 * PARTITIONS };

static struct lt_partition many[MANY];
static struct lt_plan brief, full;

/* More partitions than a quote tells of, each kind at several prices. */
static void
crowd_world(void)
{
	for (int i = 0; i < MANY; i++) {
		many[i] = world.partitions[i % PARTITIONS];
		snprintf(many[i].name, sizeof(many[i].name), "p%d", i);
		many[i].price_series = world.partitions[i / PARTITIONS % PARTITIONS].price_series;
	}
	world.market.partitions = many;
	world.market.partition_count = (uint32_t)among(PARTITIONS, MANY);
	world.request.home = among(0, (int)world.market.partition_count - 1);
	world.request.max_price_micros = one_in(4) ? among(1000000, 9000000) : 0;
	world.market.mode = LT_MODE_ENFORCE;
	world.request.holdout_ppm = 500000;
	world.request.is_held_out = one_in(3);
	lt_market_liken(&world.market);
}

static void
decide(struct lt_plan *plan, bool is_brief)
{
	world.request.brief = is_brief;
	assert_int_equal(lt_decide(plan, &world.request, &world.market, world.planned,
			     world.planned_count, NOW, NULL),
	    LT_OK);
}

static void
test_brief_is_full(void **state)
{
	static struct lt_quote told, wanted;
	uint32_t kept = 0, more = 0;

	(void)state;
	for (uint64_t number = 1; number <= WORLDS; number++) {
		make_world(number);
		crowd_world();
		decide(&full, false);
		decide(&brief, true);
		assert_int_equal(brief.moved, full.moved);
		assert_int_equal(brief.compared, full.compared);
		assert_int_equal(brief.chosen.partition, full.chosen.partition);
		assert_int_equal(brief.chosen.start_utc_s, full.chosen.start_utc_s);
		assert_int_equal(brief.chosen.cost_micros, full.chosen.cost_micros);
		for (uint32_t i = 0; i < full.candidate_count; i++) {
			assert_int_equal(brief.candidates[i].reject, full.candidates[i].reject);
			more += full.candidates[i].reject == LT_REJECT_DEARER &&
				brief.candidates[i].best.start_utc_s == 0;
		}
		lt_quote_set_why(&told, &brief, &world.market);
		lt_quote_set_why(&wanted, &full, &world.market);
		assert_string_equal(told.why, wanted.why);
		kept += full.compared == LT_COMPARED_KEPT;
	}
	print_message("# %u kept, %u without figures\n", kept, more);
	assert_true(kept > 20 && more > WORLDS / 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_brief_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
