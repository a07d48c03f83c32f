/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plan writes into a job: no more than the mode allows and than the user left open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "edits.h"

enum { NOW = 1795176000, HOUR = 3600 };
enum { ONDEMAND, SPOT, PARTITIONS };

static struct lt_partition partitions[PARTITIONS];
static struct lt_market market;
static struct lt_plan plan;
static struct lt_request request;
static struct lt_options options;
static struct lt_intent intent;

/* Moved from ondemand, now, to spot, later; all is left open. */
static int
setup(void **state)
{
	(void)state;
	partitions[ONDEMAND] = (struct lt_partition){.name = "ondemand",
	    .price_series = LT_NO_SERIES,
	    .carbon_series = LT_NO_SERIES,
	    .tariff_series = LT_NO_SERIES,
	    .default_time_s = 90,
	    .max_time_s = INT64_MAX,
	    .default_memory_mib = 4000,
	    .default_memory_is_per_cpu = true};
	partitions[SPOT] = partitions[ONDEMAND];
	snprintf(partitions[SPOT].name, LT_NAME_SIZE, "spot");
	partitions[SPOT].flags = LT_PARTITION_PREEMPTIBLE;
	market = (struct lt_market){.mode = LT_MODE_ENFORCE,
	    .currency = "USD",
	    .zone = {.count = 1, .steps = {{INT64_MIN, 0, "GMT"}}},
	    .partition_count = PARTITIONS,
	    .partitions = partitions};
	plan = (struct lt_plan){.moved = true,
	    .objective = LT_OBJECTIVE_BALANCED,
	    .fits = true,
	    .chosen = {.partition = SPOT,
		.start_utc_s = NOW + HOUR,
		.end_utc_s = NOW + 2 * HOUR,
		.has_cost = true,
		.cost_micros = 1000000,
		.most_micros = 1000000},
	    .home = {.partition = ONDEMAND,
		.start_utc_s = NOW,
		.end_utc_s = NOW + HOUR,
		.has_cost = true,
		.cost_micros = 2000000,
		.most_micros = 2000000},
	    .candidate_count = PARTITIONS};
	request = (struct lt_request){.home = ONDEMAND,
	    .limit_s = LT_UNSET_64,
	    .expected_run_s = LT_UNSET_64,
	    .deadline_utc_s = LT_UNSET_64,
	    .max_cost_micros = LT_UNSET_64,
	    .earliest_utc_s = NOW,
	    .checkpoint = {.enabled = true}};
	lt_options_init(&options);
	snprintf(options.checkpoint_signal, sizeof(options.checkpoint_signal), "USR1");
	intent = (struct lt_intent){.market = &market,
	    .request = &request,
	    .options = &options,
	    .plan = &plan,
	    .asked = true,
	    .now_utc_s = NOW};
	return 0;
}

/* What the user is told, or why there is no job. */
static const char *
words_of(const struct lt_edits *edits)
{
	static char words[LT_EDITS_WORDS_SIZE];

	return edits->refuses ? edits->refusal
			      : lt_edits_words(words, sizeof(words), edits, &intent);
}

enum change {
	NONE,
	SAID, /* whatever the user can say */
	NAMED,
	IN_PLACE,
	SOON,
	PINNED,
	INTERACTIVE,
	NOT_ASKED,
	ADVISE,
	ADVISE_ALL,
	OBSERVE,
	OBSERVE_ALL,
	NO_PLAN,
	STAYS,
	TOO_DEAR,
	TOO_DEAR_OBSERVED,
};

static void
apply(enum change change)
{
	static const enum lt_mode modes[] = {
	    [ADVISE] = LT_MODE_ADVISE,
	    [ADVISE_ALL] = LT_MODE_ADVISE,
	    [OBSERVE] = LT_MODE_OBSERVE,
	    [OBSERVE_ALL] = LT_MODE_OBSERVE,
	    [TOO_DEAR_OBSERVED] = LT_MODE_OBSERVE,
	    [TOO_DEAR] = LT_MODE_ENFORCE,
	};

	switch (change) {
	case NONE:
		break;
	case SAID:
		intent.fixed =
		    LT_FIXED_LIMIT | LT_FIXED_MEMORY | LT_FIXED_REQUEUE | LT_FIXED_SIGNAL;
		break;
	case NAMED:
		plan.chosen.partition = ONDEMAND;
		request.named_count = 2;
		break;
	case IN_PLACE:
		plan.chosen.partition = ONDEMAND;
		break;
	case SOON:
		plan.chosen.start_utc_s = NOW + 60;
		break;
	case PINNED:
		request.pins = LT_PIN_BEGIN;
		break;
	case INTERACTIVE:
		request.pins = LT_PIN_INTERACTIVE;
		break;
	case NOT_ASKED:
		intent.asked = false;
		break;
	case ADVISE_ALL:
	case OBSERVE_ALL:
		intent.asked = false;
		market.mode = modes[change];
		break;
	case ADVISE:
	case OBSERVE:
		market.mode = modes[change];
		break;
	case NO_PLAN:
		intent.plan = NULL;
		break;
	case STAYS:
		plan.moved = false;
		plan.chosen = plan.home;
		break;
	case TOO_DEAR:
	case TOO_DEAR_OBSERVED:
		market.mode = modes[change];
		request.max_cost_micros = 999999;
		break;
	}
}

static void
test_edits(void **state)
{
	static const struct {
		const char *why;
		enum change change;
		bool refuses, moves;
		int partition;
		int64_t begin_utc_s, limit_s;
		uint64_t memory_mib;
		bool requeue;
		const char *signal, *words; /* a part of them */
	} cases[] = {
	    {"all is open; limits are whole minutes", NONE, false, true, SPOT, NOW + HOUR, 120,
		4000, true, "USR1", "spot, from"},
	    {"what the user said stays", SAID, false, true, SPOT, NOW + HOUR, 0, 0, false, "",
		"spot, from"},
	    {"one of two that were named", NAMED, false, true, ONDEMAND, NOW + HOUR, 0, 0, false,
		"USR1", "ondemand, from"},
	    {"later in its own place", IN_PLACE, false, true, -1, NOW + HOUR, 0, 0, false, "USR1",
		"ondemand, from"},
	    {"a minute is now", SOON, false, true, SPOT, 0, 120, 4000, true, "USR1", "spot, now"},
	    {"a begin of the user's", PINNED, false, true, SPOT, 0, 120, 4000, true, "USR1",
		"spot"},
	    {"srun waits for nothing", INTERACTIVE, false, true, SPOT, 0, 120, 4000, true, "USR1",
		"spot"},
	    {"who did not ask is not moved", NOT_ASKED, false, false, -1, 0, 0, 0, false, "USR1",
		""},
	    {"advise only tells", ADVISE, false, false, -1, 0, 0, 0, false, "",
		"\nmode advise: the job was not changed"},
	    {"and tells all", ADVISE_ALL, false, false, -1, 0, 0, 0, false, "",
		"\nmode advise: the job was not changed"},
	    {"observe tells who asked", OBSERVE, false, false, -1, 0, 0, 0, false, "",
		"\nmode observe: the job was not changed"},
	    {"and nobody else", OBSERVE_ALL, false, false, -1, 0, 0, 0, false, "", ""},
	    {"no plan: the signal is the user's wish", NO_PLAN, false, false, -1, 0, 0, 0, false,
		"USR1", ""},
	    {"it stays", STAYS, false, false, -1, 0, 0, 0, false, "USR1",
		"Nothing better was found"},
	    {"over --max-cost", TOO_DEAR, true, false, -1, 0, 0, 0, false, "",
		"--max-cost: $1.00 is the most"},
	    {"over --max-cost, observed", TOO_DEAR_OBSERVED, false, false, -1, 0, 0, 0, false, "",
		"\n--max-cost: $1.00 is the most; mode observe: the job was "
		"not changed"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_edits edits;

		print_message("# %s\n", cases[i].why);
		setup(NULL);
		apply(cases[i].change);
		memset(&edits, 0xff, sizeof(edits));
		lt_edits_of_plan(&edits, &intent);
		assert_int_equal(edits.refuses, cases[i].refuses);
		assert_int_equal(edits.moves, cases[i].moves);
		assert_int_equal(edits.partition, cases[i].partition);
		assert_int_equal(edits.begin_utc_s, cases[i].begin_utc_s);
		assert_int_equal(edits.limit_s, cases[i].limit_s);
		assert_int_equal(edits.memory_mib, cases[i].memory_mib);
		assert_int_equal(edits.requeue, cases[i].requeue);
		assert_string_equal(edits.signal, cases[i].signal);
		if (cases[i].words[0] == '\0')
			assert_string_equal(words_of(&edits), "");
		else
			assert_non_null(strstr(words_of(&edits), cases[i].words));
	}
}

static void
test_signal_before(void **state)
{
	static const uint32_t before_s[][2] = {
	    {0, 60}, {120, 120}, {UINT16_MAX, 60}, {UINT32_MAX, 60}};
	struct lt_edits edits;

	(void)state;
	for (size_t i = 0; i < sizeof(before_s) / sizeof(before_s[0]); i++) {
		options.checkpoint_signal_before_s = before_s[i][0];
		lt_edits_of_plan(&edits, &intent);
		assert_int_equal(edits.signal_before_s, before_s[i][1]);
	}
}

static void
test_lay(void **state)
{
	struct lt_edits edits;

	(void)state;
	lt_edits_of_plan(&edits, &intent);
	lt_edits_lay(&request, &edits);
	assert_int_equal(request.limit_s, 120);
	assert_int_equal(request.memory_mib_per_cpu, 4000);
	assert_int_equal(request.memory_mib_per_node, 0);
	edits.memory_is_per_cpu = false;
	edits.limit_s = 0;
	lt_edits_lay(&request, &edits);
	assert_int_equal(request.memory_mib_per_node, 4000);
	assert_int_equal(request.limit_s, 120);
}

static void
test_places(void **state)
{
	int places[LT_PARTITIONS_MAX];
	int64_t earliest_utc_s;

	(void)state;
	assert_int_equal(lt_edits_places(places, &earliest_utc_s, &request, NULL), 1);
	assert_int_equal(places[0], ONDEMAND);
	assert_int_equal(earliest_utc_s, NOW);
	request.named_count = 2;
	request.named[0] = SPOT;
	request.named[1] = ONDEMAND;
	assert_int_equal(lt_edits_places(places, &earliest_utc_s, &request, NULL), 2);
	assert_int_equal(places[0], SPOT);
	assert_int_equal(places[1], ONDEMAND);
	assert_int_equal(lt_edits_places(places, &earliest_utc_s, &request, &plan), 1);
	assert_int_equal(places[0], SPOT);
	assert_int_equal(earliest_utc_s, NOW + HOUR);
	request.earliest_utc_s = NOW + 3 * HOUR;
	lt_edits_places(places, &earliest_utc_s, &request, &plan);
	assert_int_equal(earliest_utc_s, NOW + 3 * HOUR);
}

/* A change of the job is told to who asked for no plan, too; what is none, to who asked or is
 * advised. */
static void
test_cap(void **state)
{
	static const char cap[] = "capped: GPUs at 1200 MHz above 400 g/kWh "
				  "(500 g): 8 % longer, 1.9 kWh less";
	static const struct {
		enum lt_mode mode;
		bool asked;
		const char *before; /* NULL = nothing */
	} cases[] = {
	    {LT_MODE_ENFORCE, false, ""},
	    {LT_MODE_ENFORCE, true, ""},
	    {LT_MODE_ADVISE, false, "would be "},
	    {LT_MODE_OBSERVE, true, "would be "},
	    {LT_MODE_OBSERVE, false, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_edits edits;
		char want[256];

		setup(state);
		plan.capped = (struct lt_capped){"1200", "", NOW + HOUR, 80000, 1900, 400, 500};
		plan.moved = false;
		plan.objective = cases[i].asked ? LT_OBJECTIVE_COST : LT_OBJECTIVE_OFF;
		market.mode = cases[i].mode;
		intent.asked = cases[i].asked;
		lt_edits_of_plan(&edits, &intent);
		if (cases[i].before == NULL) {
			assert_string_equal(words_of(&edits), "");
			continue;
		}
		snprintf(want, sizeof(want), "%s%s", cases[i].before, cap);
		assert_non_null(strstr(words_of(&edits), want));
	}
}

/* Told to who asked for no plan, too: the job computes otherwise. */
static void
test_precision(void **state)
{
	struct lt_gpu gpu = *lt_gpu_find(&(struct lt_gpu){.name = ""}, "A100-SXM4-40GB");
	struct lt_shape shape = {.gpu_index = 0};
	struct lt_edits edits;

	(void)state;
	market.shapes = &shape;
	market.shape_count = 1;
	market.gpus = &gpu;
	market.gpu_count = 1;
	partitions[ONDEMAND].shape_count = 1;
	request.gpus = 1;
	request.precision = LT_PRECISION_FP8;
	intent.asked = false;
	lt_edits_of_plan(&edits, &intent);
	assert_string_equal(words_of(&edits), "no fp8 on A100-SXM4-40GB: bf16");
	intent.asked = true; /* it moves to where that is not known */
	lt_edits_of_plan(&edits, &intent);
	assert_null(strstr(words_of(&edits), "fp8"));
	market.mode = LT_MODE_OBSERVE; /* it stays */
	lt_edits_of_plan(&edits, &intent);
	assert_non_null(strstr(words_of(&edits), "; no fp8 on A100-SXM4-40GB: bf16"));
}

static void
test_modes(void **state)
{
	static const enum lt_may all[] = {LT_MAY_EDIT, LT_MAY_REFUSE, LT_MAY_HOLD, LT_MAY_ADVISE};
	static const bool may[3][4] = {
	    [LT_MODE_OBSERVE] = {false, false, false, false},
	    [LT_MODE_ADVISE] = {false, false, false, true},
	    [LT_MODE_ENFORCE] = {true, true, true, false},
	};

	(void)state;
	for (int mode = 0; mode < 3; mode++)
		for (int i = 0; i < 4; i++)
			assert_int_equal(lt_mode_may((enum lt_mode)mode, all[i]), may[mode][i]);
	assert_false(lt_mode_may((enum lt_mode)3, LT_MAY_EDIT));
}

static void
test_default_is_told(void **state)
{
	struct lt_edits edits;

	setup(state);
	lt_edits_of_plan(&edits, &intent);
	assert_true(edits.moves);
	assert_non_null(strstr(words_of(&edits), "--carbon-aware=off"));
	options.carbon_aware_set = true;
	lt_edits_of_plan(&edits, &intent);
	assert_true(edits.moves);
	assert_null(strstr(words_of(&edits), "--carbon-aware=off"));
}

/* Of 0.00 and 0 g nothing is said; of one that is moved for room, it is. */
static void
test_nothing(void **state)
{
	static const struct {
		const char *why;
		bool moved, has_carbon;
		int64_t micros, mg;
		bool is_said;
	} cases[] = {
	    {"nothing of both", false, true, 4999, 499, false},
	    {"half a cent", false, true, 5000, 0, true},
	    {"half a gram", false, true, 0, 500, true},
	    {"missing is not zero", false, false, 0, 0, false},
	    {"a change is told", true, true, 0, 0, true},
	};
	struct lt_edits edits;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		setup(state);
		request.array_tasks = 1;
		request.pins = LT_PIN_INTERACTIVE; /* a note of its own */
		plan.moved = cases[i].moved;
		plan.chosen.has_carbon = cases[i].has_carbon;
		plan.chosen.cost_micros = cases[i].micros;
		plan.chosen.carbon_mg = cases[i].mg;
		plan.home = plan.chosen;
		lt_edits_of_plan(&edits, &intent);
		assert_int_equal(words_of(&edits)[0] != '\0', cases[i].is_said);
	}
	/* Neither is known. */
	plan.moved = false;
	plan.chosen.has_carbon = plan.chosen.has_cost = false;
	lt_edits_of_plan(&edits, &intent);
	assert_non_null(strstr(words_of(&edits), "no price and no carbon"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_default_is_told),
	    cmocka_unit_test_setup(test_edits, setup),
	    cmocka_unit_test_setup(test_signal_before, setup),
	    cmocka_unit_test_setup(test_lay, setup),
	    cmocka_unit_test_setup(test_places, setup),
	    cmocka_unit_test(test_cap),
	    cmocka_unit_test_setup(test_precision, setup),
	    cmocka_unit_test_setup(test_modes, setup),
	    cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
