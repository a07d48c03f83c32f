/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power caps as words: the frequencies that every srun takes (man srun,
 * --gpu-freq and --cpu-freq), the sentence, and one way to write it into a
 * quote.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "error.h"
#include "power_cap.h"

static void
frequencies(void **state)
{
	static const char *const good[] = {
	    "", "low", "medium", "high", "highm1", "1200", "999999999"};
	/* Governors and ranges are what some releases and sites refuse. */
	static const char *const bad[] = {"Medium", "0", "0900", "-1200", "1200-",
	    "1200000-1800000", "PowerSave", "1200 ", "1e3", "1200,memory=high", "9999999999",
	    "lowest"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!lt_frequency_is_good(good[i]))
			fail_msg("\"%s\"", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (lt_frequency_is_good(bad[i]))
			fail_msg("\"%s\"", bad[i]);
}

static const struct {
	struct lt_capped capped;
	const char *packed, *told;
} good[] = {
    {{"1200", "", 1795177800, 80000, 1900, 400, 523}, "1200,-,1795177800,80000,1900,400,523",
	"GPUs at 1200 MHz above 400 g/kWh (523 g): 8 % longer, 1.9 kWh less"},
    {{"medium", "1800000", 1, 125000, 999, 0, 1}, "medium,1800000,1,125000,999,0,1",
	"GPUs at medium, CPUs at 1800000 kHz above 0 g/kWh (1 g): "
	"12.5 % longer, 999 Wh less"},
    {{"", "low", 0, 0, -1000, 300, 300}, "-,low,0,0,-1000,300,300",
	"CPUs at low above 300 g/kWh (300 g): 0 % longer, 1.0 kWh more"},
};

static void
written_read_and_told(void **state)
{
	char text[160];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct lt_capped got;

		assert_int_equal(lt_capped_pack(text, sizeof(text), &good[i].capped), LT_OK);
		assert_string_equal(text, good[i].packed);
		assert_true(lt_capped_unpack(&got, text));
		assert_string_equal(got.gpu_freq, good[i].capped.gpu_freq);
		assert_string_equal(got.cpu_freq, good[i].capped.cpu_freq);
		assert_true(got.until_utc_s == good[i].capped.until_utc_s);
		assert_true(got.less_wh == good[i].capped.less_wh);
		assert_int_equal(got.longer_ppm, good[i].capped.longer_ppm);
		assert_int_equal(got.above_g, good[i].capped.above_g);
		assert_int_equal(got.mean_g, good[i].capped.mean_g);
		assert_string_equal(lt_capped_text(text, sizeof(text), &got), good[i].told);
		assert_int_equal(
		    lt_capped_pack(text, strlen(good[i].packed), &good[i].capped), LT_ELIMIT);
		assert_string_equal(text, "");
	}
	assert_string_equal(lt_capped_text(text, sizeof(text), &(struct lt_capped){0}), "");
}

static void
others_are_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    "1200",
	    "1200,-,1,2,3,4",	  /* one short */
	    "1200,-,1,2,3,4,5,6", /* one more */
	    "-,-,1,2,3,4,5",	  /* of nothing */
	    ",low,1,2,3,4,5",
	    "1200,fast,1,2,3,4,5",
	    "PowerSave,-,1,2,3,4,5",
	    "1200,-,-1,2,3,4,5",
	    "1200,-,1,-2,3,4,5",
	    "1200,-,01,2,3,4,5",
	    "1200,-,1,4294967296,3,4,5",
	    "1200,-,1,2,3,4,5 ",
	    "1200,123456789012345678901234,1,2,3,4,5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_capped got;

		if (lt_capped_unpack(&got, bad[i]))
			fail_msg("\"%s\"", bad[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frequencies),
	    cmocka_unit_test(written_read_and_told),
	    cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
