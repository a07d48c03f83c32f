/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of a plan, to the letter.
 */
#include "plan_fixture.h"

#define PLANNED "spot, from Sat 02:00 GMT, done by 09:40: $41.20, 3.1 kg CO2e"
#define SAVES "; saves $77.20, 4.8 kg"

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
	    {LT_REJECT_STALE, 10800, 14460, "signals too old (4h 1m, 3h allowed)"},
	    {LT_REJECT_STALE, 10800, 9223372036854775807.0, "no signals"},
	    {LT_REJECT_PINNED, 0, 0, "the job is bound elsewhere"},
	    {LT_REJECT_MAX_TIME, 1e30, 60, "time limit\n"},
	    {LT_REJECT_NO_LIMIT, 0, 0, "no time limit\n"},
	};
	char out[4096];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		stay();
		plan.candidates[SPOT] = (struct lt_candidate){
		    cases[i].reject, plan.chosen, cases[i].wanted, cases[i].found};
		lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
		if (strstr(out, cases[i].text) == NULL)
			fail_msg("wanted \"%s\" in\n%s", cases[i].text, out);
	}
	for (int i = 0; i <= LT_REJECT_COUNT; i++)
		assert_true((strcmp(lt_reject_name((enum lt_reject)i), "unknown") == 0) ==
			    (i == LT_REJECT_COUNT));
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
	    "  checkpoints: every 1h\n" PLANNED SAVES;
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
	partitions[SPOT].availability =
	    (struct lt_availability){.seen_s = LT_WAIT_SEEN_S - 1, .there_ppm = 575000};
	lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
	assert_string_equal(out, wanted);
	partitions[SPOT].availability.seen_s = 12 * 24 * HOUR;
	lt_plan_table(out, sizeof(out), &plan, &request, &market, NOW);
	assert_non_null(
	    strstr(out, "\n  spot: nodes there 58 % of the 12d that lowtided looked; its end"));
	partitions[SPOT].availability.seen_s = 0;
}

/* Beneath the objective, where something is known of its length. */
static void
test_expected(void **state)
{
	static const char head[] = "plan: balanced, with checkpoints\n"
				   "  expected 2:10 (median of 14 runs; limit 12:00)\n"
				   "  PARTITION ";
	char out[4096];

	(void)state;
	partitions[ONDEMAND].max_time_s = INT64_MAX;
	request.limit_s = 12 * HOUR;
	request.learned = (struct lt_expected){LT_HISTORY_NAME, 14, 7800, 9000, 0, 0};
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
	    {"where nodes are not taken", true, true, 0, 0, 0, "  checkpoints: every 1h\n"},
	    {"the plan's", true, true, 6493.4, 120, 0, "  checkpoints: every 1h 48m\n"},
	    {"it fits just", true, true, 1800, 120, 120,
		"  checkpoints: every 30m; one fits into the notice of 2m\n"},
	    {"a second too long", true, true, 1800, 121, 120,
		"  checkpoints: every 30m; one does not fit into the notice of "
		"2m\n"},
	    {"a minute, where it is not said", true, true, 1800, 0, 60,
		"  checkpoints: every 30m; one fits into the notice of 1m\n"},
	    {"home's where it stays", true, false, 1800, 60, 120, "  checkpoints: every 1h\n"},
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
		if (strstr(out, cases[i].wanted != NULL ? cases[i].wanted : "checkpoints: ") ==
		    NULL) {
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
	    {"Ampere", "A100-SXM4-40GB", LT_PRECISION_FP8, 1, "no fp8 on A100-SXM4-40GB: bf16"},
	    {"Volta", "V100-SXM2", LT_PRECISION_FP8, 1, "no fp8 on V100-SXM2: fp16"},
	    {"BF16 on Volta", "V100-SXM2", LT_PRECISION_BF16, 1, "no bf16 on V100-SXM2: fp16"},
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
			gpu = *lt_gpu_find(&(struct lt_gpu){.name = ""}, cases[i].gpu);
		partitions[SPOT].first_shape = 0;
		partitions[SPOT].shape_count = 1;
		request.gpus = cases[i].gpus;
		request.precision = cases[i].wanted;
		lt_precision_text(out, sizeof(out), &request, &market, SPOT);
		if (strcmp(out, cases[i].text) != 0)
			fail_msg("%s: %s", cases[i].why, out);
		lt_precision_text(out, sizeof(out), &request, &market, ONDEMAND);
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
	    cmocka_unit_test(test_reasons),
	    cmocka_unit_test(test_checkpoints),
	    cmocka_unit_test(test_precision),
	    cmocka_unit_test_setup(test_table, setup),
	    cmocka_unit_test_setup(test_expected, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
