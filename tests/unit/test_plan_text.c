/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a plan: the lines of a submission and the table, to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decide.h"

enum { NOW = 1795176000, HOUR = 3600 }; /* Friday 2026-11-20 12:00 UTC */
enum { ONDEMAND, SPOT, PARTITIONS };

static struct lt_series series;
static struct lt_partition partitions[PARTITIONS];
static struct lt_market market;
static struct lt_plan plan;
static struct lt_request request;

static int
setup(void **state)
{
	static const char *const names[] = {"ondemand", "spot"};

	(void)state;
	series = (struct lt_series){.quality = LT_QUALITY_FORECAST};
	for (int i = 0; i < PARTITIONS; i++) {
		partitions[i] =
		    (struct lt_partition){.flags = LT_PARTITION_MANAGED,
			.price_series = LT_NO_SERIES,
			.tariff_series = LT_NO_SERIES};
		snprintf(partitions[i].name, LT_NAME_SIZE, "%s", names[i]);
	}
	market = (struct lt_market){.currency = "USD",
	    .zone = {.count = 1, .steps = {{INT64_MIN, 0, "GMT"}}},
	    .partition_count = PARTITIONS,
	    .series_count = 1,
	    .partitions = partitions,
	    .series = &series};
	plan = (struct lt_plan){.moved = true,
	    .objective = LT_OBJECTIVE_BALANCED,
	    .fits = true,
	    .chosen = {.partition = SPOT,
		.start_utc_s = NOW + 14 * HOUR,
		.end_utc_s = NOW + 21 * HOUR + 2400,
		.has_cost = true,
		.has_carbon = true,
		.cost_micros = 41200000,
		.carbon_mg = 3100000},
	    .home = {.partition = ONDEMAND,
		.start_utc_s = NOW,
		.end_utc_s = NOW + 7 * HOUR,
		.has_cost = true,
		.has_carbon = true,
		.cost_micros = 118400000,
		.carbon_mg = 7900000},
	    .candidate_count = PARTITIONS};
	plan.candidates[ONDEMAND] =
	    (struct lt_candidate){LT_REJECT_DEARER, plan.home, 0, 0};
	plan.candidates[SPOT] =
	    (struct lt_candidate){LT_REJECT_NONE, plan.chosen, 0, 0};
	request = (struct lt_request){.checkpoint = {.enabled = true}};
	return 0;
}

static void
stay(void)
{
	plan.moved = false;
	plan.chosen = plan.home;
}

/* One change of the plan above, and the lines that follow. */
enum change {
	NONE,
	IN_PLACE,
	SAME_DAY,
	NO_MONEY,
	NO_FIGURES,
	REPLAYED,
	TYPICAL,
	CANT_HOME,
	STAYS,
	PINNED,
	STALE,
	ALL_STALE,
	CANT_ANYWHERE,
	NO_LIMIT,
	OFF,
	NO_HOME,
	INTERRUPTED,
	HARDLY_INTERRUPTED,
	STAYS_INTERRUPTED,
	BUDGET,
	BUDGETS,
	SHORT_OF,
	NOT_KNOWN,
};

static void
has_left(int64_t micros, int64_t mg)
{
	snprintf(request.account, sizeof(request.account), "vision");
	request.has_available = true;
	request.available_micros = micros;
	request.available_mg = mg;
}

static void
apply(enum change change)
{
	switch (change) {
	case NONE:
		break;
	case IN_PLACE:
		plan.chosen.start_utc_s = NOW + 60;
		break;
	case SAME_DAY:
		plan.chosen.start_utc_s = NOW + 2 * HOUR;
		plan.chosen.end_utc_s = NOW + 3 * HOUR;
		break;
	case NO_MONEY:
		market.currency[0] = '\0';
		break;
	case NO_FIGURES:
		plan.chosen.has_cost = plan.chosen.has_carbon = false;
		break;
	case REPLAYED:
		series.quality = LT_QUALITY_REPLAY;
		break;
	case TYPICAL:
		series.quality = LT_QUALITY_CLIMATOLOGY;
		break;
	case CANT_HOME:
		plan.fits = false;
		plan.candidates[ONDEMAND].reject = LT_REJECT_GPU_MEMORY;
		break;
	case STAYS:
		stay();
		break;
	case PINNED:
		stay();
		plan.pins =
		    LT_PIN_BEGIN | LT_PIN_DEPENDENCY | LT_PIN_INTERACTIVE;
		break;
	case STALE:
		stay();
		plan.candidates[ONDEMAND].reject = LT_REJECT_STALE;
		break;
	case ALL_STALE:
		stay();
		plan.candidates[ONDEMAND].reject = LT_REJECT_STALE;
		plan.candidates[SPOT].reject = LT_REJECT_UNMANAGED;
		break;
	case NO_LIMIT:
		stay();
		plan.fits = false;
		plan.candidates[ONDEMAND].reject = LT_REJECT_NO_LIMIT;
		break;
	case CANT_ANYWHERE:
		stay();
		plan.fits = false;
		plan.candidates[ONDEMAND].reject = LT_REJECT_CPUS;
		break;
	case OFF:
		plan.objective = LT_OBJECTIVE_OFF;
		break;
	case NO_HOME:
		plan.home.partition = -1;
		break;
	case INTERRUPTED:
		plan.chosen.expected_interruptions = 1.2;
		plan.chosen.expected_lost_s = 3000;
		break;
	case HARDLY_INTERRUPTED:
		plan.chosen.expected_interruptions = 0.0499;
		plan.chosen.expected_lost_s = 3000;
		break;
	case STAYS_INTERRUPTED:
		plan.home.expected_interruptions = 0.0501;
		plan.home.expected_lost_s = 60;
		stay();
		break;
	case BUDGET:
		has_left(1000000000, INT64_MAX);
		break;
	case BUDGETS:
		has_left(1000000000, 43100000);
		stay();
		break;
	case SHORT_OF:
		has_left(40000000, INT64_MAX);
		break;
	case NOT_KNOWN:
		has_left(0, 0);
		break;
	}
}

#define WHY " Why: lowtide explain <job>."
#define SOONER " Sooner: lowtide now <job>"
#define WAS "now on ondemand it would be $118.40, 7.9 kg."
#define PLANNED "spot, from Sat 02:00 GMT, done by 09:40: "
#define HERE "ondemand, now, done by Fri 19:00 GMT: $118.40, 7.9 kg CO2e"

static void
test_lines(void **state)
{
	static const struct {
		const char *why;
		enum change change;
		const char *wanted;
	} cases[] = {
	    {"elsewhere and later", NONE,
		PLANNED "$41.20, 3.1 kg CO2e\n" WAS WHY SOONER},
	    {"within a minute is now", IN_PLACE,
		"spot, now, done by Sat 09:40 GMT: $41.20, 3.1 kg CO2e\n" WAS
		    WHY},
	    {"the day once", SAME_DAY,
		"spot, from Fri 14:00 GMT, done by 15:00: $41.20, 3.1 kg "
		"CO2e\n" WAS WHY SOONER},
	    {"no currency, no money", NO_MONEY,
		PLANNED
		"3.1 kg CO2e\nnow on ondemand it would be 7.9 kg." WHY SOONER},
	    {"missing is not zero", NO_FIGURES,
		PLANNED
		"no price and no carbon intensity known\n" WAS WHY SOONER},
	    {"replayed signals say so", REPLAYED,
		PLANNED
		"$41.20, 3.1 kg CO2e (replayed signals)\n" WAS WHY SOONER},
	    {"so do typical values", TYPICAL,
		PLANNED "$41.20, 3.1 kg CO2e (typical values, no "
			"forecast)\n" WAS WHY SOONER},
	    {"home can't run it", CANT_HOME,
		PLANNED "$41.20, 3.1 kg CO2e\nondemand can't run it: too "
			"little GPU memory." WHY SOONER},
	    {"nothing better", STAYS, HERE ". Nothing better was found"},
	    {"bound", PINNED, HERE ". Bound by --begin, --dependency"},
	    {"home is stale", STALE,
		HERE ". Not moved: the signals are too old"},
	    {"all are stale", ALL_STALE,
		HERE ". Not moved: the signals are too old"},
	    {"nowhere", CANT_ANYWHERE,
		"ondemand, can't run this job: too few CPUs on a node; nor "
		"can another partition"},
	    {"no time limit", NO_LIMIT,
		"ondemand, left as it is: it has no time limit; say --time"},
	    {"interruptions are told", INTERRUPTED,
		PLANNED "$41.20, 3.1 kg CO2e, about 1.2 interruptions "
			"expected, 0:50 of work lost\n" WAS WHY SOONER},
	    {"those that would be 0.0 are not", HARDLY_INTERRUPTED,
		PLANNED "$41.20, 3.1 kg CO2e\n" WAS WHY SOONER},
	    {"of a job that stays, too", STAYS_INTERRUPTED,
		HERE ", about 0.1 interruptions expected, 1m of work lost. "
		     "Nothing better was found"},
	    {"what the team has left", BUDGET,
		PLANNED
		"$41.20, 3.1 kg CO2e; then you have $958.80 left in vision\n" WAS
		    WHY SOONER},
	    {"of two budgets both, where it stays, too", BUDGETS,
		HERE "; then you have $881.60, 35.2 kg left in vision. "
		     "Nothing better was found"},
	    {"more than it has", SHORT_OF,
		PLANNED
		"$41.20, 3.1 kg CO2e; then you have -$1.20 left in vision\n" WAS
		    WHY SOONER},
	    {"nothing, or nobody knows", NOT_KNOWN,
		PLANNED "$41.20, 3.1 kg CO2e\n" WAS WHY SOONER},
	    {"did not ask", OFF, ""},
	    {"no home", NO_HOME, ""},
	};
	char out[1024], small[10];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		apply(cases[i].change);
		memset(out, 'x', sizeof(out));
		lt_plan_lines(out, sizeof(out), &plan, &request, &market, NOW);
		if (strcmp(out, cases[i].wanted) != 0)
			fail_msg("%s:\n%s\nwanted:\n%s", cases[i].why, out,
			    cases[i].wanted);
		lt_plan_lines(
		    small, sizeof(small), &plan, &request, &market, NOW);
		assert_true(strlen(small) < sizeof(small));
		assert_memory_equal(small, out, strlen(small));
	}
}

static void
test_reasons(void **state)
{
	static const struct {
		enum lt_reject reject;
		double wanted, found;
		const char *text;
	} cases[] = {
	    {LT_REJECT_GPU_MEMORY, 40960, 16384,
		"too little GPU memory (16384 MiB, wants 40960 MiB)"},
	    {LT_REJECT_CPUS, 65, 64, "too few CPUs on a node (64, wants 65)"},
	    {LT_REJECT_RISK, 100000, 213000,
		"likely to be interrupted (21 %, at most 10 % where it starts "
		"over)"},
	    {LT_REJECT_STALE, 10800, 14460,
		"signals too old (4h 1m, 3h allowed)"},
	    {LT_REJECT_STALE, 10800, 9223372036854775807.0, "no signals"},
	    {LT_REJECT_PINNED, 0, 0, "the job is bound elsewhere"},
	    {LT_REJECT_MAX_TIME, 1e30, 60, "time limit\n"},
	    {LT_REJECT_NO_LIMIT, 0, 0, "no time limit\n"},
	};
	char out[4096];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		stay();
		plan.candidates[SPOT] = (struct lt_candidate){cases[i].reject,
		    plan.chosen, cases[i].wanted, cases[i].found};
		lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
		if (strstr(out, cases[i].text) == NULL)
			fail_msg("wanted \"%s\" in\n%s", cases[i].text, out);
	}
	for (int i = 0; i <= LT_REJECT_COUNT; i++)
		assert_true((strcmp(lt_reject_name((enum lt_reject)i),
				 "unknown") == 0) == (i == LT_REJECT_COUNT));
}

static void
test_table(void **state)
{
	static const char *const wanted =
	    "plan: balanced, with checkpoints\n"
	    "  PARTITION       START                 DONE BY               "
	    "        COST      CO2e  WHY\n"
	    "  ondemand        now                   Fri 19:00 GMT         "
	    "     $118.40    7.9 kg  no better; where it goes without "
	    "lowtide\n"
	    "* spot            Sat 02:00 GMT         Sat 09:40 GMT         "
	    "      $41.20    3.1 kg  best\n"
	    "  checkpoints: every 1h\n" PLANNED "$41.20, 3.1 kg CO2e\n" WAS;
	char out[4096];

	(void)state;
	lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
	assert_string_equal(out, wanted);
	for (size_t size = 1; size < sizeof(out); size += 7) {
		memset(out, 'x', sizeof(out));
		lt_plan_table(out, size, &plan, &request, &market, NOW);
		assert_true(strlen(out) < size);
	}
	/* Too short a history says nothing. */
	partitions[SPOT].availability = (struct lt_availability){
	    .seen_s = LT_WAIT_SEEN_S - 1, .there_ppm = 575000};
	lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
	assert_string_equal(out, wanted);
	partitions[SPOT].availability.seen_s = 12 * 24 * HOUR;
	lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
	assert_non_null(strstr(out,
	    "\n  spot: nodes there 58 % of the 12d that lowtided looked; its end"));
	partitions[SPOT].availability.seen_s = 0;
}

/* Beneath the objective, where something is known of its length. */
static void
test_expected(void **state)
{
	static const char head[] =
	    "plan: balanced, with checkpoints\n"
	    "  expected 2:10 (median of 14 runs; limit 12:00)\n"
	    "  PARTITION ";
	char out[4096];

	(void)state;
	partitions[ONDEMAND].max_time_s = INT64_MAX;
	request.limit_s = 12 * HOUR;
	request.learned =
	    (struct lt_expected){LT_HISTORY_NAME, 14, 7800, 9000, 0, 0};
	lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
	assert_memory_equal(out, head, sizeof(head) - 1);
	request.learned = (struct lt_expected){0};
}

/* How often it writes where it goes, as the variable on the node has it. */
static void
test_checkpoints(void **state)
{
	static const struct {
		const char *why;
		bool enabled, moved;
		double interval_s, write_s, notice_s;
		const char *wanted; /* NULL = no line */
	} cases[] = {
	    {"none", false, true, 0, 0, 120, NULL},
	    {"where nodes are not taken", true, true, 0, 0, 0,
		"  checkpoints: every 1h\n"},
	    {"the plan's", true, true, 6493.4, 120, 0,
		"  checkpoints: every 1h 48m\n"},
	    {"it fits just", true, true, 1800, 120, 120,
		"  checkpoints: every 30m; one fits into the notice of 2m\n"},
	    {"a second too long", true, true, 1800, 121, 120,
		"  checkpoints: every 30m; one does not fit into the notice of "
		"2m\n"},
	    {"a minute, where it is not said", true, true, 1800, 0, 60,
		"  checkpoints: every 30m; one fits into the notice of 1m\n"},
	    {"home's where it stays", true, false, 1800, 60, 120,
		"  checkpoints: every 1h\n"},
	};
	char out[4096];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		if (!cases[i].moved)
			stay();
		request.checkpoint.enabled = cases[i].enabled;
		request.checkpoint.write_s = cases[i].write_s;
		partitions[SPOT].notice_s = cases[i].notice_s;
		if (cases[i].moved)
			plan.chosen.interval_s = cases[i].interval_s;
		lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
		if (strstr(out, cases[i].wanted != NULL
				    ? cases[i].wanted
				    : "checkpoints: ") == NULL) {
			if (cases[i].wanted != NULL)
				fail_msg("%s:\n%s", cases[i].why, out);
		} else if (cases[i].wanted == NULL) {
			fail_msg("%s:\n%s", cases[i].why, out);
		}
	}
	partitions[SPOT].notice_s = 0;
	request.checkpoint.write_s = 0;
}

/* What --amp asked for and the GPU there lacks: once, and what it becomes. */
static void
test_precision(void **state)
{
	static const struct {
		const char *why, *gpu;
		enum lt_precision wanted;
		uint32_t gpus;
		const char *text;
	} cases[] = {
	    {"Ampere", "A100-SXM4-40GB", LT_PRECISION_FP8, 1,
		"no fp8 on A100-SXM4-40GB: bf16"},
	    {"Volta", "V100-SXM2", LT_PRECISION_FP8, 1,
		"no fp8 on V100-SXM2: fp16"},
	    {"BF16 on Volta", "V100-SXM2", LT_PRECISION_BF16, 1,
		"no bf16 on V100-SXM2: fp16"},
	    {"nothing to gain", "P100-PCIE-16GB", LT_PRECISION_FP8, 1,
		"no fp8 on P100-PCIE-16GB: single precision"},
	    {"Hopper has it", "H100-SXM5", LT_PRECISION_FP8, 1, ""},
	    {"not said", "A100-SXM4-40GB", LT_PRECISION_AUTO, 1, ""},
	    {"exact", "V100-SXM2", LT_PRECISION_OFF, 1, ""},
	    {"no GPU wanted", "A100-SXM4-40GB", LT_PRECISION_FP8, 0, ""},
	    {"not known", NULL, LT_PRECISION_FP8, 1, ""},
	};
	struct lt_gpu gpu;
	struct lt_shape shape = {0};
	char out[4096];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		market.shapes = &shape;
		market.shape_count = 1;
		market.gpus = &gpu;
		market.gpu_count = 1;
		shape.gpu_index = cases[i].gpu != NULL ? 0 : -1;
		if (cases[i].gpu != NULL)
			gpu = *lt_gpu_find(
			    &(struct lt_gpu){.name = ""}, cases[i].gpu);
		partitions[SPOT].first_shape = 0;
		partitions[SPOT].shape_count = 1;
		request.gpus = cases[i].gpus;
		request.precision = cases[i].wanted;
		lt_precision_text(out, sizeof(out), &request, &market, SPOT);
		if (strcmp(out, cases[i].text) != 0)
			fail_msg("%s: %s", cases[i].why, out);
		lt_precision_text(
		    out, sizeof(out), &request, &market, ONDEMAND);
		assert_string_equal(out, "");
		lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
		const char *const said = strstr(out, "\nno ");

		if (cases[i].text[0] == '\0')
			assert_null(said);
		else
			assert_string_equal(said + 1, cases[i].text);
	}
	partitions[SPOT].shape_count = 0;
	request.gpus = 0;
	request.precision = LT_PRECISION_AUTO;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_reasons),
	    cmocka_unit_test(test_checkpoints),
	    cmocka_unit_test(test_precision),
	    cmocka_unit_test_setup(test_table, setup),
	    cmocka_unit_test_setup(test_expected, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
