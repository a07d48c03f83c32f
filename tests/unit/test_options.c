/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job options: each value parsed or refused with a message that names
 * what was found, what is wanted and the nearest word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"

static const struct {
	const char *why;
	enum lt_option_id id;
	const char *value;
	const char *text; /* of the refusal; NULL = accepted */
} cases[] = {
    {"no value", LT_OPTION_CARBON_AWARE, NULL, NULL},
    {"no value of a het component", LT_OPTION_CARBON_AWARE, "(null)", NULL},
    {"a slip", LT_OPTION_CARBON_AWARE, "carbn",
	"--carbon-aware: got \"carbn\", want balanced, cost, carbon, fast, "
	"off or plan; did you mean \"carbon\"?"},
    {"nothing near", LT_OPTION_CARBON_AWARE, "yes please",
	"--carbon-aware: got \"yes please\", want balanced, cost, carbon, "
	"fast, off or plan"},
    {"a value is needed", LT_OPTION_AMP, "", "--amp: got nothing, want auto|off|bf16|fp16|fp8"},
    {"amp slip", LT_OPTION_AMP, "bf-16",
	"--amp: got \"bf-16\", want auto, off, bf16, fp16 or fp8; did you "
	"mean \"bf16\"?"},
    {"unknown part", LT_OPTION_CHECKPOINT, "x=2m",
	"--checkpoint: got \"x=2m\", want write=, every=, size=, keep=, "
	"signal= or off"},
    {"near part", LT_OPTION_CHECKPOINT, "wrte=2m",
	"--checkpoint: got \"wrte=2m\", want write=, every=, size=, keep=, "
	"signal= or off; did you mean \"write=\"?"},
    {"no unit", LT_OPTION_CHECKPOINT, "write=2",
	"--checkpoint: got \"write=2\", want a time above 0 such as 90s, "
	"2m or 1h"},
    {"no time at all", LT_OPTION_CHECKPOINT, "every=",
	"--checkpoint: got \"every=\", want a time above 0 such as 90s, 2m "
	"or 1h"},
    {"a signal that can't be caught", LT_OPTION_CHECKPOINT, "signal=KILL",
	"--checkpoint: got signal \"KILL\", want USR1, USR2, TERM, INT, "
	"HUP, QUIT, ALRM, URG, CONT or TSTP"},
    {"seconds of a signal", LT_OPTION_CHECKPOINT, "signal=USR1@2m",
	"--checkpoint: got \"signal=USR1@2m\", want 0 to 65535 seconds "
	"after the @"},
    {"empty part", LT_OPTION_CHECKPOINT, "write=2m,",
	"--checkpoint: got \"\", want write=, every=, size=, keep=, signal= "
	"or off"},
    {"a part without a value", LT_OPTION_CHECKPOINT, "size",
	"--checkpoint: got \"size\", want write=, every=, size=, keep=, "
	"signal= or off; did you mean \"size=\"?"},
    {"size 0", LT_OPTION_CHECKPOINT, "size=0",
	"--checkpoint: got \"size=0\", want a size above 0 such as 40G or "
	"800M"},
    {"size in words", LT_OPTION_CHECKPOINT, "write=2m,size=big",
	"--checkpoint: got \"size=big\", want a size above 0 such as 40G or "
	"800M"},
    {"more than a node's memory can be", LT_OPTION_CHECKPOINT, "size=1025T",
	"--checkpoint: got \"size=1025T\", want a size above 0 such as 40G "
	"or 800M"},
    {"none is kept", LT_OPTION_CHECKPOINT, "size=40G,keep=0",
	"--checkpoint: got \"keep=0\", want how many are kept, 1 to 10000"},
    {"too many", LT_OPTION_CHECKPOINT, "size=40G,keep=10001",
	"--checkpoint: got \"keep=10001\", want how many are kept, 1 to "
	"10000"},
    {"of what size?", LT_OPTION_CHECKPOINT, "write=2m,keep=3",
	"--checkpoint: got keep=3 alone, want size= beside it"},
    {"in any order", LT_OPTION_CHECKPOINT, "keep=3,size=40G", NULL},
    {"memory 0", LT_OPTION_GPU_MEMORY, "0",
	"--gpu-memory: got \"0\", want a size above 0 such as 40G or "
	"81920M"},
    {"time in words", LT_OPTION_EXPECTED_TIME, "long",
	"--expected-time: got \"long\", want a time above 0 as --time has, "
	"such as 90 (minutes), 8:00:00, 1-12 or 8h"},
    {"cost below 0", LT_OPTION_MAX_COST, "-1",
	"--max-cost: got \"-1\", want an amount of at least 0 without a "
	"sign of currency, such as 120 or 99.50"},
    {"cost 0", LT_OPTION_MAX_COST, "0", NULL},
    {"a price", LT_OPTION_MAX_PRICE, "12.50", NULL},
    {"price 0", LT_OPTION_MAX_PRICE, "0",
	"--max-price: got \"0\", want an amount above 0 per node-hour without "
	"a sign of currency, such as 12 or 3.50"},
    {"a sign of currency", LT_OPTION_MAX_PRICE, "$3",
	"--max-price: got \"$3\", want an amount above 0 per node-hour without "
	"a sign of currency, such as 12 or 3.50"},
    {"interruptions", LT_OPTION_MAX_INTERRUPTIONS, "3", NULL},
    {"none", LT_OPTION_MAX_INTERRUPTIONS, "0",
	"--max-interruptions: got \"0\", want a whole number from 1 to 1000"},
    {"below none", LT_OPTION_MAX_INTERRUPTIONS, "-1",
	"--max-interruptions: got \"-1\", want a whole number from 1 to 1000"},
    {"too many for anybody", LT_OPTION_MAX_INTERRUPTIONS, "99999999999999999999",
	"--max-interruptions: got \"99999999999999999999\", want a whole "
	"number from 1 to 1000"},
};

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_error err = {0};
		struct lt_options options, before;

		lt_options_init(&options);
		before = options;
		print_message("%s\n", cases[i].why);
		const int code = lt_option_parse(&options, cases[i].id, cases[i].value, &err);
		assert_string_equal(err.text, cases[i].text != NULL ? cases[i].text : "");
		assert_int_equal(code, cases[i].text != NULL ? LT_EINPUT : LT_OK);
		if (cases[i].text != NULL)
			assert_memory_equal(&options, &before, sizeof(options));
	}
}

static void
parse(struct lt_options *options, enum lt_option_id id, const char *value)
{
	assert_int_equal(lt_option_parse(options, id, value, NULL), LT_OK);
}

static void
test_values(void **state)
{
	(void)state;
	struct lt_options options;
	lt_options_init(&options);
	parse(&options, LT_OPTION_CARBON_AWARE, "plan");
	assert_true(options.plan);
	assert_int_equal(options.objective, LT_OBJECTIVE_BALANCED);
	/* A callback can run more than once: the last word counts. */
	parse(&options, LT_OPTION_CARBON_AWARE, "cost");
	assert_false(options.plan);
	assert_int_equal(options.objective, LT_OBJECTIVE_COST);
	parse(&options, LT_OPTION_CHECKPOINT, "write=2m,every=30m,signal=SIGusr1@120");
	assert_true(options.checkpoint.enabled);
	assert_true(options.checkpoint.write_s == 120.0);
	assert_true(options.checkpoint.every_s == 1800.0);
	assert_string_equal(options.checkpoint_signal, "USR1");
	assert_int_equal(options.checkpoint_signal_before_s, 120);
	parse(&options, LT_OPTION_AMP, "fp8");
	parse(&options, LT_OPTION_GPU_MEMORY, "40G");
	parse(&options, LT_OPTION_EXPECTED_TIME, "8:00:00");
	parse(&options, LT_OPTION_MAX_COST, "99.5");

	struct lt_request request = {0};
	lt_options_apply(&options, &request);
	assert_int_equal(request.objective, LT_OBJECTIVE_COST);
	assert_true(request.checkpoint.write_s == 120.0);
	assert_int_equal(request.precision, LT_PRECISION_FP8);
	assert_int_equal(request.gpu_memory_mib, 40 * 1024);
	assert_int_equal(request.expected_run_s, 8 * 3600);
	assert_int_equal(request.max_cost_micros, 99500000);

	parse(&options, LT_OPTION_CHECKPOINT, "signal=SIGUSR2@30");
	assert_int_equal(options.checkpoint.signal, 12); /* Linux's SIGUSR2 */
	parse(&options, LT_OPTION_CHECKPOINT, "size=40G,keep=3");
	assert_int_equal(options.checkpoint.signal, 0);
	assert_true(options.checkpoint.enabled);
	assert_true(options.checkpoint.size_gib == 40.0);
	assert_int_equal(options.checkpoint.keep, 3);
	assert_true(options.checkpoint.write_s == 0.0);
	parse(&options, LT_OPTION_CHECKPOINT, "size=512M");
	assert_true(options.checkpoint.size_gib == 0.5);
	assert_int_equal(options.checkpoint.keep, 1);
	lt_options_apply(&options, &request);
	assert_true(request.checkpoint.size_gib == 0.5);

	parse(&options, LT_OPTION_CHECKPOINT, "off");
	assert_true(options.checkpoint_set);
	assert_false(options.checkpoint.enabled);
	assert_string_equal(options.checkpoint_signal, "");
	parse(&options, LT_OPTION_CHECKPOINT, "signal=TERM");
	assert_int_equal(options.checkpoint_signal_before_s, 60);
}

static void
test_unset_changes_nothing(void **state)
{
	(void)state;
	struct lt_options options;
	lt_options_init(&options);
	struct lt_request request = {.objective = LT_OBJECTIVE_FAST,
	    .expected_run_s = 7,
	    .max_cost_micros = 8,
	    .gpu_memory_mib = 9};
	const struct lt_request before = request;
	lt_options_apply(&options, &request);
	assert_memory_equal(&request, &before, sizeof(request));
}

static void
test_table(void **state)
{
	(void)state;
	for (int i = 0; i < LT_OPTION_COUNT; i++) {
		assert_non_null(lt_option_table[i].name);
		assert_non_null(lt_option_table[i].variable);
		assert_true(
		    lt_option_table[i].argument != NULL || lt_option_table[i].argument_optional);
		assert_non_null(lt_option_table[i].usage);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_unset_changes_nothing),
	    cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
