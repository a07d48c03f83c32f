/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user is told beside a plan: each note, and none where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan_text.h"
#include "units.h"

#define NOW INT64_C(1800000000) /* 2027-01-15T08:00:00Z */

static struct lt_partition partition = {.name = "a", .max_time_s = INT64_MAX};
static struct lt_market market = {.partition_count = 1, .partitions = &partition};

static const struct {
	const char *why, *text;
	uint32_t tasks, pins;
	int64_t limit_s, expected_s, start_s, deadline_s; /* from now; 0: none */
} cases[] = {
    {"nothing", "", 1, 0, 7200, 3600, 0, 0},
    {"srun", "srun and salloc are never delayed", 1, LT_PIN_INTERACTIVE, 7200, 0, 0, 0},
    {"an expected time above the limit", "its expected time of 5h is beyond its limit of 2h", 1, 0,
	7200, 18000, 0, 0},
    {"as long as the limit", "", 1, 0, 7200, 7200, 0, 0},
    {"a deadline that is met to the second", "", 1, 0, 7200, 0, 3600, 10800},
    {"a second too early",
	"Slurm ends it at its deadline, Fri 10:59 UTC, as its limit of 2h ends later", 1, 0, 7200,
	0, 3600, 10799},
    {"two",
	"Slurm ends it at its deadline, Fri 11:00 UTC, as its limit of 2h ends later; its expected time of 3h is beyond its limit of 2h",
	2, 0, 7200, 10800, 3601, 10800},
};

static const char *
notes_of(const struct lt_told *told)
{
	static char text[512];
	struct lt_brief notes = {.count = 0};

	lt_plan_notes(&notes, told);
	return lt_brief_text(text, sizeof(text), &notes, LT_BRIEF_ALL);
}

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_request request = {.array_tasks = cases[i].tasks,
		    .pins = cases[i].pins,
		    .limit_s = cases[i].limit_s,
		    .expected_run_s = cases[i].expected_s > 0 ? cases[i].expected_s : LT_UNSET_64,
		    .deadline_utc_s =
			cases[i].deadline_s > 0 ? NOW + cases[i].deadline_s : LT_UNSET_64};
		const struct lt_plan plan = {.chosen = {.start_utc_s = NOW + cases[i].start_s}};
		const struct lt_told told = {&plan, &request, &market, NOW, true};

		print_message("# %s\n", cases[i].why);
		assert_string_equal(notes_of(&told), cases[i].text);
	}
}

/* Home's default goes with it: the other partition's is none of its own. */
static void
test_moved(void **state)
{
	static struct lt_partition both[] = {
	    {.name = "a", .max_time_s = INT64_MAX, .default_time_s = 7200},
	    {.name = "b", .max_time_s = INT64_MAX, .default_time_s = 86400}};
	const struct lt_market two = {.partition_count = 2, .partitions = both};
	const struct lt_request request = {.array_tasks = 1,
	    .limit_s = LT_UNSET_64,
	    .expected_run_s = 18000,
	    .deadline_utc_s = LT_UNSET_64};
	const struct lt_plan plan = {.chosen = {.partition = 1, .start_utc_s = NOW}};
	const struct lt_told told = {&plan, &request, &two, NOW, true};

	(void)state;
	assert_string_equal(notes_of(&told), "its expected time of 5h is beyond its limit of 2h");
}

/* Where there is one, and money is shown. */
static void
test_charge(void **state)
{
	static const struct {
		const char *why, *text;
		int64_t micros;
		bool has_cost;
	} charges[] = {
	    {"none", "", 0, true},
	    {"80 a tonne", "costs include $80.00 for each tonne of CO2e", 80000000, true},
	    {"no price is known", "", 80000000, false},
	};
	const struct lt_request request = {.array_tasks = 1,
	    .limit_s = 7200,
	    .expected_run_s = LT_UNSET_64,
	    .deadline_utc_s = LT_UNSET_64};

	(void)state;
	for (size_t i = 0; i < sizeof(charges) / sizeof(charges[0]); i++) {
		const struct lt_market charged = {.partition_count = 1,
		    .partitions = &partition,
		    .currency = "USD",
		    .charge_micros_per_tonne = charges[i].micros};
		const struct lt_plan plan = {
		    .chosen = {.start_utc_s = NOW, .has_cost = charges[i].has_cost}};
		struct lt_told told = {&plan, &request, &charged, NOW, false};

		print_message("# %s\n", charges[i].why);
		assert_string_equal(notes_of(&told), charges[i].text);
		told.submits = true; /* the same for each job: no news */
		assert_string_equal(notes_of(&told), "");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_moved),
	    cmocka_unit_test(test_charge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
