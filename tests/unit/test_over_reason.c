/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each reason for a charge above its hold is proved by the facts, and none is a default.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "over_reason.h"

/* Held for 600 s of a node at 3.6 million an hour: 600,000 + 1. */
#define HELD 600001
#define RATE 3600000
#define FACTS .held = HELD, .held_rate = RATE, .held_limit_s = 600, .node_shares = 1, .limit_s = 600
static const struct {
	const char *why;
	struct lt_over over;
	const char *reason;
} cases[] = {
    {"as held", {FACTS, .charged = HELD, .active_s = 600}, ""},
    {"less", {FACTS, .charged = 5, .active_s = 1}, ""},
    {"dearer than the worst price known", {FACTS, .charged = 660000, .active_s = 600}, "price"},
    {"dearer, and no longer than it might", {FACTS, .charged = 600300, .active_s = 300}, "price"},
    {"two nodes for one",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 2,
	    .limit_s = 600,
	    .charged = 1200000,
	    .active_s = 600},
	"size"},
    {"two nodes for one is a defect though it ran shortly and dear",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 2,
	    .limit_s = 600,
	    .charged = 700000,
	    .active_s = 300},
	"size"},
    {"a little larger and much dearer: the price alone explains it",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 1.001,
	    .limit_s = 600,
	    .charged = 900000,
	    .active_s = 300},
	"price"},
    {"a little larger and longer: both needed, the defect is named",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 2,
	    .limit_s = 600,
	    .charged = 2400000,
	    .active_s = 1200},
	"size"},
    {"longer than its limit", {FACTS, .charged = 660000, .active_s = 660}, "OverTimeLimit"},
    {"longer, within what OverTimeLimit adds to the hold, and dearer",
	{.held = 660001,
	    .held_rate = RATE,
	    .held_limit_s = 660,
	    .node_shares = 1,
	    .limit_s = 600,
	    .over_time_limit_s = 60,
	    .charged = 670000,
	    .active_s = 650},
	"OverTimeLimit"},
    {"an admin gave it more time",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 1,
	    .limit_s = 1200,
	    .charged = 1000000,
	    .active_s = 1000},
	"admin"},
    {"more time that it did not use explains nothing",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 1,
	    .limit_s = 1200,
	    .charged = 660000,
	    .active_s = 600},
	"price"},
    {"no limit any more",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 1,
	    .limit_s = INT64_MAX,
	    .charged = 1000000,
	    .active_s = 1000},
	"unknown"},
    {"what stayed its own while it was suspended",
	{FACTS, .charged = 700000, .suspended = 100000, .active_s = 600}, "suspend"},
    {"suspended and over its time: the time alone is not enough",
	{FACTS, .charged = 760000, .suspended = 100000, .active_s = 660}, "OverTimeLimit"},
    {"a pod that its user gave more while it ran",
	{.held = HELD,
	    .held_rate = RATE,
	    .held_limit_s = 600,
	    .node_shares = 3,
	    .is_resized = true,
	    .limit_s = 600,
	    .charged = 900000,
	    .active_s = 300},
	"resize"},
    {"one that was resized, and has no more than was held for",
	{FACTS, .is_resized = true, .charged = 660000, .active_s = 660}, "OverTimeLimit"},
    {"a second run that nobody held for",
	{FACTS, .charged = 5, .active_s = 1, .share_missing = true}, "requeue"},
    {"the facts of the hold are not known",
	{.held = HELD, .node_shares = 1, .limit_s = 600, .charged = 660000, .active_s = 600},
	"unknown"},
    {"but its time is",
	{.held = HELD, .node_shares = 1, .limit_s = 600, .charged = 660000, .active_s = 660},
	"OverTimeLimit"},
    {"something of no length", {FACTS, .charged = HELD + 9}, "unknown"},
    {"free until now",
	{.held_rate = 0, .node_shares = 1, .limit_s = 600, .charged = 5, .active_s = 600},
	"unknown"},
};

static void
test_reasons(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].why);
		assert_string_equal(lt_over_reason(&cases[i].over), cases[i].reason);
	}
}

static void
test_defects(void **state)
{
	(void)state;
	assert_true(lt_over_is_defect("size"));
	assert_true(lt_over_is_defect("unknown"));
	assert_false(lt_over_is_defect("price"));
	assert_false(lt_over_is_defect("requeue"));
	assert_false(lt_over_is_defect(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reasons),
	    cmocka_unit_test(test_defects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
