/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs by the names that people, Slurm and devices use; what precision each is
 * good for; how run time scales between two of them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu.h"

static void
test_find(void **state)
{
	static const struct {
		const char *why, *name, *wanted; /* NULL = unknown */
	} cases[] = {
	    {"empty", "", NULL},
	    {"vendor alone", "NVIDIA", NULL},
	    {"unknown", "GeForce RTX 4090", NULL},
	    {"part of a word is none", "a1", NULL},
	    {"nor the start of another", "h10", NULL},
	    {"longer than any", "a100-sxm4-40gb-and-something-more-than-that",
		NULL},
	    {"a row's own name", "A100-SXM4-40GB", "A100-SXM4-40GB"},
	    {"case and joints", "a100_sxm4 80gb", "A100-SXM4-80GB"},
	    {"a device", "NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
	    {"a Gres type", "h200", "H200-SXM"},
	    {"the shortest of many", "h100", "H100-PCIE"},
	    {"exact before longer", "v100-sxm2", "V100-SXM2"},
	    {"Tesla", "Tesla T4", "T4"},
	    {"another order of words", "NVIDIA A100 80GB PCIe",
		"A100-PCIE-80GB"},
	    {"H100 of boxes", "NVIDIA H100 80GB HBM3", "H100-SXM5"},
	    {"AMD", "AMD Instinct MI300X", "MI300X"},
	    {"a10 is not a100", "a10", "A10"},
	    {"nor a10g", "NVIDIA A10G", "A10G"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_gpu *gpu = lt_gpu_find(cases[i].name);

		if (cases[i].wanted == NULL
			? gpu != NULL
			: gpu == NULL ||
			      strcmp(gpu->name, cases[i].wanted) != 0)
			fail_msg("%s: \"%s\" is %s", cases[i].why,
			    cases[i].name, gpu != NULL ? gpu->name : "unknown");
	}
}

static void
test_table(void **state)
{
	int count;
	const struct lt_gpu *table = lt_gpu_table(&count);

	(void)state;
	for (int i = 0; i < count; i++) {
		/* Each row is found by its own name, and has what fit and
		 * time ratio need. */
		assert_ptr_equal(lt_gpu_find(table[i].name), &table[i]);
		assert_true(table[i].memory_mib > 0 && table[i].power_w > 0);
		assert_true(table[i].bandwidth_gb_s > 0);
		assert_true(table[i].tflops[LT_PRECISION_FP32] > 0);
	}
}

static void
test_precision(void **state)
{
	static const struct {
		const char *name;
		enum lt_precision wanted;
	} cases[] = {{"P100-PCIE-16GB", LT_PRECISION_OFF},
	    {"V100-SXM2", LT_PRECISION_FP16}, {"T4", LT_PRECISION_FP16},
	    {"A100-SXM4-40GB", LT_PRECISION_BF16},
	    {"H100-SXM5", LT_PRECISION_BF16}, {"MI300X", LT_PRECISION_BF16}};

	(void)state;
	assert_int_equal(lt_gpu_best_precision(NULL), LT_PRECISION_OFF);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
		    lt_gpu_best_precision(lt_gpu_find(cases[i].name)),
		    cases[i].wanted);
}

static void
test_time_ratio(void **state)
{
	static const struct {
		const char *why, *from, *to;
		enum lt_precision precision;
		bool known;
		double ratio;
	} cases[] = {
	    {"from nothing", NULL, "T4", LT_PRECISION_AUTO, false, 1},
	    {"to nothing", "T4", NULL, LT_PRECISION_AUTO, false, 1},
	    {"the same", "A100-SXM4-40GB", "A100-SXM4-40GB", LT_PRECISION_AUTO,
		true, 1},
	    {"bandwidth is the bound", "A100-SXM4-40GB", "H100-SXM5",
		LT_PRECISION_BF16, true, 1555 / 3350.0},
	    {"compute is the bound", "H100-SXM5", "A100-SXM4-80GB",
		LT_PRECISION_FP32, true, 67 / 19.5},
	    {"exact counts as FP32", "H100-SXM5", "A100-SXM4-80GB",
		LT_PRECISION_OFF, true, 67 / 19.5},
	    {"precision unknown there", "H100-SXM5", "A100-SXM4-80GB",
		LT_PRECISION_FP8, false, 1},
	    /* Not said: the slowest of FP32 (0.99), best mixed, bandwidth. */
	    {"not said, mixed is the bound", "A100-SXM4-40GB", "V100-SXM2",
		LT_PRECISION_AUTO, true, 312 / 125.0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool known = !cases[i].known;
		const double ratio = lt_gpu_time_ratio(
		    cases[i].from != NULL ? lt_gpu_find(cases[i].from) : NULL,
		    cases[i].to != NULL ? lt_gpu_find(cases[i].to) : NULL,
		    cases[i].precision, &known);

		if (known != cases[i].known ||
		    fabs(ratio - cases[i].ratio) > 1e-12)
			fail_msg("%s: %f", cases[i].why, ratio);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_find),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_precision),
	    cmocka_unit_test(test_time_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
