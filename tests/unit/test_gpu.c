/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs by the names that people, Slurm and devices use; what precision each is good for; how run
 * time scales between two of them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
	    {"unknown", "GeForce GTX 980", NULL},
	    {"part of a word is none", "a1", NULL},
	    {"nor the start of another", "h10", NULL},
	    {"longer than any", "a100-sxm4-40gb-and-something-more-than-that", NULL},
	    {"a row's own name", "A100-SXM4-40GB", "A100-SXM4-40GB"},
	    {"case and joints", "a100_sxm4 80gb", "A100-SXM4-80GB"},
	    {"a device", "NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
	    {"a Gres type of several", "h200", "h200"},
	    {"as it is written", "nvidia_h100", "h100"},
	    {"exact before longer", "v100-sxm2", "V100-SXM2"},
	    {"Tesla", "Tesla T4", "T4"},
	    {"another order of words", "NVIDIA A100 80GB PCIe", "A100-PCIE-80GB"},
	    {"H100 of boxes", "NVIDIA H100 80GB HBM3", "H100-SXM5"},
	    {"AMD", "AMD Instinct MI300X", "MI300X"},
	    {"a10 is not a100", "a10", "A10"},
	    {"nor a10g", "NVIDIA A10G", "A10G"},
	    /* As AutoDetect=nvml names them: the device's, in lower case. */
	    {"Slurm's", "nvidia_a40", "A40"},
	    {"A6000", "nvidia_rtx_a6000", "RTX-A6000"},
	    {"a Gres type", "a6000", "RTX-A6000"},
	    {"GeForce", "nvidia_geforce_rtx_3090", "RTX-3090"},
	    {"GeForce by its number", "4090", "RTX-4090"},
	    {"a laptop's is another", "NVIDIA GeForce RTX 4090 Laptop GPU", NULL},
	    {"6000 of Ada", "nvidia_rtx_6000_ada_generation", "RTX-6000-Ada-Generation"},
	    {"6000 of Ada, short", "rtx_6000_ada", "RTX-6000-Ada-Generation"},
	    {"6000 of Turing", "quadro_rtx_6000", "Quadro-RTX-6000"},
	    {"6000 alone is the smaller", "rtx6000", "Quadro-RTX-6000"},
	    {"H100 NVL", "nvidia_h100_nvl", "H100-NVL-94GB"},
	    {"H200 NVL", "nvidia_h200_nvl", "H200-NVL-141GB"},
	    {"GH200 of either memory", "gh200", "gh200"},
	    {"GH200 by its CPU's memory", "NVIDIA GH200 120GB", "GH200-480GB"},
	    {"GH200 with HBM3e", "nvidia_gh200_144g_hbm3e", "GH200-144G-HBM3e"},
	    {"B100", "nvidia_b100", "B100-SXM"},
	    {"B200", "nvidia_b200", "B200-SXM"},
	    {"B300", "nvidia_b300_sxm6_ac", "B300-SXM6"},
	    {"b300", "b300", "B300-SXM6"},
	    {"GB200", "nvidia_gb200", "GB200"},
	    {"GB300", "NVIDIA GB300", "GB300"},
	    {"longer than a row's name may be", "nvidia_rtx_pro_6000_blackwell_server_edition",
		"RTX-PRO-6000-Server"},
	    {"at a desk", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
		"RTX-PRO-6000-Workstation"},
	    {"of half the power", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
		"RTX-PRO-6000-Max-Q"},
	    {"one of them", "rtx_pro_6000", "rtx-pro-6000"},
	    {"PCIe V100 of 32 GB", "Tesla V100-PCIE-32GB", "V100-PCIE-32GB"},
	    {"of 16", "Tesla V100-PCIE-16GB", "V100-PCIE"},
	    {"a board's", "tesla_v100-sxm2-32gb", "V100-SXM2-32GB"},
	    {"V100S", "v100s", "V100S-PCIE-32GB"},
	    {"its memory alone", "h100_80g", "h100-80g"},
	    {"memory tells which", "v100_pcie_32g", "V100-PCIE-32GB"},
	    {"memory that it has not", "l40_96gb", NULL},
	    {"2080 Ti", "NVIDIA GeForce RTX 2080 Ti", "RTX-2080-Ti"},
	    {"joined", "rtx2080ti", "RTX-2080-Ti"},
	    {"bare", "2080ti", "RTX-2080-Ti"},
	    {"in parts", "rtx_2080_ti", "RTX-2080-Ti"},
	    {"1080 Ti", "gtx1080ti", "GTX-1080-Ti"},
	    {"a family is no GPU", "rtx", NULL},
	    {"nor is this", "nvidia_titan", NULL},
	    {"Titan", "titan_rtx", "TITAN-RTX"},
	    {"RTX 8000", "rtx8000", "Quadro-RTX-8000"},
	    {"K80", "Tesla K80", "K80"},
	    {"L40", "nvidia_l40", "L40"},
	    {"A5000", "rtxa5000", "RTX-A5000"},
	    {"MI210", "mi210", "MI210"},
	    {"MIG", "nvidia_a100_3g.20gb", "a100-3g.20gb"},
	    {"MIG of a model", "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "A100-SXM4-40GB-3g.20gb"},
	    {"MIG of one that memory tells", "a100_80gb_pcie_3g.40gb", "A100-PCIE-80GB-3g.40gb"},
	    {"MIG with media engines", "nvidia_h100_80gb_hbm3_1g.10gb+me", "H100-SXM5-1g.10gb+me"},
	    {"MIG of which GPU?", "1g.5gb", NULL},
	    {"MIG that it has not", "h200_1g.5gb", NULL},
	    {"a GPU that can't be cut", "v100_1g.5gb", NULL},
	    /* As AutoDetect=rsmi does. */
	    {"MI300A", "amd_instinct_mi300a", "MI300A"},
	    {"MI325X", "AMD Instinct MI325X", "MI325X"},
	    {"MI350X", "mi350x", "MI350X"},
	    {"MI355X", "amd_instinct_mi355x", "MI355X"},
	    {"RDNA 3", "AMD Radeon RX 7900 XTX", "RX-7900-XTX"},
	    {"RDNA 3, bare", "7900xtx", "RX-7900-XTX"},
	    {"its smaller one", "AMD Radeon RX 7900 XT", NULL},
	    {"RDNA 3, of workstations", "AMD Radeon PRO W7900", "PRO-W7900"},
	    {"W7900", "w7900", "PRO-W7900"},
	    {"Gaudi", "Intel Gaudi 2", "Gaudi2"},
	    {"Gaudi by its card", "HL-325L", "Gaudi3"},
	    {"which Gaudi?", "gaudi", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_gpu *gpu = lt_gpu_find(&(struct lt_gpu){.name = ""}, cases[i].name);

		if (cases[i].wanted == NULL
			? gpu != NULL
			: gpu == NULL || strcmp(gpu->name, cases[i].wanted) != 0)
			fail_msg("%s: \"%s\" is %s", cases[i].why, cases[i].name,
			    gpu != NULL ? gpu->name : "unknown");
	}
}

/* As vendors publish them, and sites write the names; dense TFLOPS. */
static void
test_published(void **state)
{
	static const struct {
		const char *name;
		uint32_t watts, gigabytes;
		double fp32, fp16;
	} cases[] = {
	    {"nvidia_rtx_pro_6000_blackwell_server_edition", 600, 96, 120, 500},
	    {"nvidia_rtx_6000_ada_generation", 300, 48, 91.1, 364.2},
	    {"nvidia_l40", 300, 48, 90.5, 181}, {"nvidia_l40s", 350, 48, 91.6, 362},
	    {"nvidia_a30", 165, 24, 10.3, 165}, {"nvidia_a2", 60, 16, 4.5, 18},
	    {"nvidia_a16", 63, 16, 4.5, 17.9}, /* one of four of 250 W */
	    {"nvidia_rtx_a5000", 230, 24, 27.8, 111.1}, {"nvidia_titan_rtx", 280, 24, 16.3, 130.5},
	    {"quadro_rtx_8000", 260, 48, 16.3, 130.5},
	    {"nvidia_geforce_rtx_2080_ti", 260, 11, 14.2, 56.9},
	    {"nvidia_geforce_gtx_1080_ti", 250, 11, 11.3, 0}, {"tesla_p40", 250, 24, 12, 0},
	    {"tesla_k80", 150, 12, 4.4, 0}, /* one of two of 300 W */
	    {"tesla_v100-pcie-32gb", 250, 32, 14, 112},
	    {"tesla_v100s-pcie-32gb", 250, 32, 16.4, 130},
	    {"amd_instinct_mi100", 300, 32, 23.1, 184.6},
	    {"amd_instinct_mi210", 300, 64, 22.6, 181},
	    {"amd_instinct_mi250", 280, 64, 22.6, 181}, /* one of two */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_gpu *const gpu =
		    lt_gpu_find(&(struct lt_gpu){.name = ""}, cases[i].name);

		if (gpu == NULL)
			fail_msg("%s: unknown", cases[i].name);
		/* What a device reports is up to a tenth less. */
		if (gpu->power_w != cases[i].watts ||
		    fabs(gpu->memory_mib / 1024.0 / cases[i].gigabytes - 1) > 0.1 ||
		    fabs(gpu->tflops[LT_PRECISION_FP32] - cases[i].fp32) > 1e-9 ||
		    fabs(gpu->tflops[LT_PRECISION_FP16] - cases[i].fp16) > 1e-9)
			fail_msg("%s: %u W, %u MiB, %g and %g TFLOPS", cases[i].name, gpu->power_w,
			    gpu->memory_mib, gpu->tflops[LT_PRECISION_FP32],
			    gpu->tflops[LT_PRECISION_FP16]);
	}
}

static void
assert_row(const struct lt_gpu *is, const struct lt_gpu *row)
{
	assert_non_null(is);
	assert_string_equal(is->name, row->name);
	assert_int_equal(is->memory_mib, row->memory_mib);
	assert_int_equal(is->power_w, row->power_w);
	assert_memory_equal(is->tflops, row->tflops, sizeof(row->tflops));
}

static unsigned
among(unsigned count)
{
	static uint64_t seed = 41;

	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(seed >> 33) % count;
}

/* As somebody may write it: another case, other joints or none. */
static void
spell(char *out, const char *name, bool joined)
{
	static const char *const vendors[] = {
	    "", "NVIDIA ", "nvidia_", "Tesla-", "NVIDIA GeForce "};

	out += sprintf(out, "%s", vendors[among(5)]);
	for (; *name != '\0'; name++) {
		const bool is_upper = *name >= 'A' && *name <= 'Z';

		if (*name != '-')
			*out++ = (char)(is_upper && among(2) ? *name - 'A' + 'a' : *name);
		else if (!joined)
			*out++ = "-_ "[among(3)];
	}
	*out = '\0';
}

/* Every spelling of a GPU is its row, and none has 0 W. */
static void
test_spellings(void **state)
{
	int count;
	const struct lt_gpu *const table = lt_gpu_table(&count);

	(void)state;
	for (int i = 0; i < 100 * count; i++) {
		const struct lt_gpu *const row = &table[i % count];
		struct lt_gpu room;
		char name[128];

		spell(name, row->name, among(3) == 0);
		if (lt_gpu_find(&room, name) == NULL || strcmp(room.name, row->name) != 0 ||
		    room.power_w == 0)
			fail_msg("%s of %s", name, row->name);
	}
}

/* Slices are at most their GPU, and those of a GPU come to it at most. */
static void
test_slices(void **state)
{
	int count;
	const struct lt_gpu *const table = lt_gpu_table(&count);

	(void)state;
	for (int i = 0; i < count; i++) {
		const struct lt_gpu *const row = &table[i];

		for (unsigned g = 1; g <= 8; g++)
			for (unsigned gb = 1; gb <= 300; gb++) {
				struct lt_gpu slice = *row, found;
				char type[32], name[128];

				snprintf(type, sizeof(type), "%ug.%ugb", g, gb);
				spell(name, row->name, false);
				strcat(name, "_");
				strcat(name, type);
				const bool is = lt_gpu_slice(&slice, type);

				if ((lt_gpu_find(&found, name) != NULL) != is)
					fail_msg("%s", name);
				if (!is)
					continue;
				assert_row(&found, &slice);
				assert_true(row->mig_slices >= g);
				if (slice.power_w == 0 ||
				    slice.power_w * row->mig_slices > row->power_w * g ||
				    slice.memory_mib > row->memory_mib || slice.memory_mib == 0)
					fail_msg("%s: %u W, %u MiB", name, slice.power_w,
					    slice.memory_mib);
			}
	}
}

/* "a100" may be any A100: the most power, the least of all else. */
static void
test_several(void **state)
{
	struct lt_gpu a100, slice;

	(void)state;
	assert_non_null(lt_gpu_find(&a100, "a100"));
	assert_int_equal(a100.power_w, 400);
	assert_int_equal(a100.memory_mib, 40960);
	assert_true(a100.bandwidth_gb_s <= 1555);
	/* Three of seven: 171 W; four of eight parts of its memory. */
	assert_non_null(lt_gpu_find(&slice, "nvidia_a100_3g.20gb"));
	assert_int_equal(slice.power_w, 171);
	assert_int_equal(slice.memory_mib, 20480);
	/* Only that of 80 GB has such: */
	assert_non_null(lt_gpu_find(&slice, "a100_3g.40gb"));
	assert_int_equal(slice.memory_mib, 40960);
	/* A compute instance is a part of its slice. */
	assert_non_null(lt_gpu_find(&slice, "a100_1c.3g.20gb"));
	assert_int_equal(slice.power_w, 57);
}

static void
test_table(void **state)
{
	int count;
	const struct lt_gpu *table = lt_gpu_table(&count);

	(void)state;
	for (int i = 0; i < count; i++) {
		const enum lt_precision best = lt_gpu_best_precision(&table[i]);

		/* Each row is found by its own name, and has what fit and
		 * time ratio need. */
		assert_row(lt_gpu_find(&(struct lt_gpu){.name = ""}, table[i].name), &table[i]);
		assert_true(table[i].memory_mib > 0 && table[i].power_w > 0);
		assert_true(table[i].bandwidth_gb_s > 0);
		assert_true(table[i].tflops[LT_PRECISION_FP32] > 0 || table[i].tflops[best] > 0);
	}
}

static void
test_precision(void **state)
{
	static const struct {
		const char *name;
		enum lt_precision wanted;
	} cases[] = {{"P100-PCIE-16GB", LT_PRECISION_OFF}, {"V100-SXM2", LT_PRECISION_FP16},
	    {"T4", LT_PRECISION_FP16}, {"A100-SXM4-40GB", LT_PRECISION_BF16},
	    {"H100-SXM5", LT_PRECISION_BF16}, {"MI300X", LT_PRECISION_BF16}};

	(void)state;
	assert_int_equal(lt_gpu_best_precision(NULL), LT_PRECISION_OFF);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
		    lt_gpu_best_precision(lt_gpu_find(&(struct lt_gpu){.name = ""}, cases[i].name)),
		    cases[i].wanted);
}

static void
test_precision_words(void **state)
{
	static const struct {
		const char *why;
		enum lt_precision wanted;
		const char *gpu;		    /* NULL = none */
		const char *accelerate, *lightning; /* NULL = nothing set */
	} cases[] = {
	    {"the card's best", LT_PRECISION_AUTO, "A100-SXM4-40GB", "bf16", "bf16-mixed"},
	    {"FP8 is never taken unasked", LT_PRECISION_AUTO, "H100-SXM5", "bf16", "bf16-mixed"},
	    {"of Volta", LT_PRECISION_AUTO, "V100-SXM2", "fp16", "16-mixed"},
	    {"BF16 on Volta", LT_PRECISION_BF16, "V100-SXM2", "fp16", "16-mixed"},
	    {"less than the best", LT_PRECISION_FP16, "A100-SXM4-40GB", "fp16", "16-mixed"},
	    {"FP8, which Lightning has not", LT_PRECISION_FP8, "H100-SXM5", "fp8", "bf16-mixed"},
	    {"FP8 on a card of compute capability 8.9", LT_PRECISION_FP8, "L4", "fp8",
		"bf16-mixed"},
	    {"FP8 on Ampere", LT_PRECISION_FP8, "A100-SXM4-40GB", "bf16", "bf16-mixed"},
	    {"FP8 on Ampere's last", LT_PRECISION_FP8, "A10", "bf16", "bf16-mixed"},
	    {"FP8 on Volta", LT_PRECISION_FP8, "V100-SXM2", "fp16", "16-mixed"},
	    {"exact", LT_PRECISION_OFF, "A100-SXM4-40GB", NULL, NULL},
	    {"exact where there is FP8", LT_PRECISION_OFF, "H100-SXM5", NULL, NULL},
	    {"a card without", LT_PRECISION_BF16, "P100-PCIE-16GB", NULL, NULL},
	    {"FP8 on a card without any", LT_PRECISION_FP8, "P100-PCIE-16GB", NULL, NULL},
	    {"no card", LT_PRECISION_FP16, NULL, NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum lt_precision top = cases[i].gpu != NULL
						  ? lt_gpu_top_precision(lt_gpu_find(
							&(struct lt_gpu){.name = ""}, cases[i].gpu))
						  : LT_PRECISION_AUTO;
		const struct lt_precision_words *const words =
		    lt_precision_words(lt_precision_used(cases[i].wanted, top));

		if ((words == NULL) != (cases[i].accelerate == NULL) ||
		    (words != NULL && (strcmp(words->accelerate, cases[i].accelerate) != 0 ||
					  strcmp(words->lightning, cases[i].lightning) != 0)))
			fail_msg(
			    "%s: %s", cases[i].why, words != NULL ? words->accelerate : "nothing");
	}
	assert_null(
	    lt_precision_words(lt_precision_used(LT_PRECISION_FP8, lt_gpu_top_precision(NULL))));
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
	    {"the same", "A100-SXM4-40GB", "A100-SXM4-40GB", LT_PRECISION_AUTO, true, 1},
	    {"bandwidth is the bound", "A100-SXM4-40GB", "H100-SXM5", LT_PRECISION_BF16, true,
		1555 / 3350.0},
	    {"compute is the bound", "H100-SXM5", "A100-SXM4-80GB", LT_PRECISION_FP32, true,
		67 / 19.5},
	    {"exact counts as FP32", "H100-SXM5", "A100-SXM4-80GB", LT_PRECISION_OFF, true,
		67 / 19.5},
	    {"FP8 becomes BF16 where it is not", "H100-SXM5", "A100-SXM4-80GB", LT_PRECISION_FP8,
		true, 1979 / 312.0},
	    {"BF16 becomes FP16 where it is not", "A100-SXM4-40GB", "V100-SXM2", LT_PRECISION_BF16,
		true, 312 / 125.0},
	    {"and FP32 where there is neither", "V100-SXM2", "P100-PCIE-16GB", LT_PRECISION_BF16,
		true, 125 / 9.3},
	    /* Not said: the slowest of FP32 (0.99), best mixed, bandwidth. */
	    {"no FP32 published, and none said", "Gaudi2", "Gaudi3", LT_PRECISION_AUTO, false, 1},
	    {"no FP32 published, not needed", "Gaudi2", "Gaudi3", LT_PRECISION_BF16, true,
		2460 / 3700.0},
	    {"not said, mixed is the bound", "A100-SXM4-40GB", "V100-SXM2", LT_PRECISION_AUTO, true,
		312 / 125.0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool known = !cases[i].known;
		const struct lt_gpu_use from = {
		    cases[i].from != NULL ? lt_gpu_find(&(struct lt_gpu){.name = ""}, cases[i].from)
					  : NULL,
		    cases[i].precision};
		const struct lt_gpu_use to = {
		    cases[i].to != NULL ? lt_gpu_find(&(struct lt_gpu){.name = ""}, cases[i].to)
					: NULL,
		    cases[i].precision};
		const double ratio = lt_gpu_time_ratio(&from, &to, &known);

		if (known != cases[i].known || fabs(ratio - cases[i].ratio) > 1e-12)
			fail_msg("%s: %f", cases[i].why, ratio);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_find),
	    cmocka_unit_test(test_published),
	    cmocka_unit_test(test_spellings),
	    cmocka_unit_test(test_slices),
	    cmocka_unit_test(test_several),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_precision),
	    cmocka_unit_test(test_precision_words),
	    cmocka_unit_test(test_time_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
