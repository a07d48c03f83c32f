/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPU facts by name, the precision a GPU is good for, and how run time scales
 * between two of them. lt_decide() and the job environment ask here.
 */
#include <math.h>
#include <string.h>

#include "gpu.h"
#include "lookup.h"

/* Names that devices report and that no row starts with. */
static const struct {
	const char *device, *row; /* device as plain() leaves it */
} aliases[] = {
    {"a10080gbpcie", "A100-PCIE-80GB"},
    {"h10080gbhbm3", "H100-SXM5"},
    {"h100sxm580gb", "H100-SXM5"},
    {"h100pcie80gb", "H100-PCIE"},
    {"v100sxm216gb", "V100-SXM2"},
    {"v100pcie16gb", "V100-PCIE"},
    {"mi250", "MI250X"},
    {"gh200120gb", "GH200-480GB"},
    {"b300sxm6ac", "B300-SXM6"},
    {"3090", "RTX-3090"},
    {"4090", "RTX-4090"},
    {"a6000", "RTX-A6000"},
    {"rtx6000", "Quadro-RTX-6000"},
    {"6000ada", "RTX-6000-Ada-Generation"},
    {"rtxpro6000blackwellserveredition", "RTX-PRO-6000-Server"},
    {"rtxpro6000blackwellworkstationedition", "RTX-PRO-6000-Workstation"},
    {"7900xtx", "RX-7900-XTX"},
    {"w7900", "PRO-W7900"},
    {"hl225", "Gaudi2"},
    {"hl325l", "Gaudi3"},
};

enum { PLAIN_SIZE = 48 }; /* the longest device's, and what none has */

/* Lower case, without vendor words and what joins words. */
static void
plain(char out[PLAIN_SIZE], const char *name)
{
	static const char *const vendors[] = {"nvidia", "tesla", "geforce",
	    "amd", "instinct", "radeon", "intel", "habana"};
	size_t at = 0;

	for (; *name != '\0' && at < PLAIN_SIZE - 1; name++) {
		char c = *name;

		if (c == '-' || c == '_' || c == ' ')
			continue;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		out[at++] = c;
		for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]);
		     i++)
			if (at == strlen(vendors[i]) &&
			    memcmp(out, vendors[i], at) == 0)
				at = 0;
	}
	out[at] = '\0';
}

/* Does the row's name begin with these whole words? "a100" does begin
 * "A100-SXM4-40GB"; "a1" doesn't. *whole: nothing follows. */
static bool
begins(const char *row, const char *wanted, bool *whole)
{
	for (; *wanted != '\0'; row++) {
		char c = *row;

		if (c == '-')
			continue;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != *wanted)
			return false;
		wanted++;
	}
	*whole = *row == '\0';
	return *row == '\0' || *row == '-';
}

const struct lt_gpu *
lt_gpu_find(const char *name)
{
	const struct lt_gpu *best = NULL;
	char wanted[PLAIN_SIZE];
	const struct lt_gpu *table;
	bool whole;
	int count;

	plain(wanted, name);
	if (wanted[0] == '\0')
		return NULL;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(aliases[i].device, wanted) == 0)
			plain(wanted, aliases[i].row);
	table = lt_gpu_table(&count);
	for (int i = 0; i < count; i++) {
		if (!begins(table[i].name, wanted, &whole))
			continue;
		if (whole)
			return &table[i];
		if (best == NULL || strlen(table[i].name) < strlen(best->name))
			best = &table[i];
	}
	return best;
}

enum lt_precision
lt_gpu_best_precision(const struct lt_gpu *gpu)
{
	if (gpu == NULL)
		return LT_PRECISION_OFF;
	if (gpu->tflops[LT_PRECISION_BF16] > 0)
		return LT_PRECISION_BF16;
	/* Pascal has FP16 arithmetic, but no tensor cores to gain by it. */
	if (gpu->tflops[LT_PRECISION_FP16] > 0 && gpu->compute_capability >= 70)
		return LT_PRECISION_FP16;
	return LT_PRECISION_OFF;
}

bool
lt_gpu_lacks(const struct lt_gpu *gpu, enum lt_precision wanted)
{
	return wanted > LT_PRECISION_TF32 && wanted < LT_PRECISION_COUNT &&
	       !(gpu->tflops[wanted] > 0);
}

enum lt_precision
lt_gpu_top_precision(const struct lt_gpu *gpu)
{
	return gpu != NULL && gpu->tflops[LT_PRECISION_FP8] > 0
		   ? LT_PRECISION_FP8
		   : lt_gpu_best_precision(gpu);
}

enum lt_precision
lt_precision_used(enum lt_precision wanted, enum lt_precision top)
{
	if (top == LT_PRECISION_AUTO || top == LT_PRECISION_OFF)
		return LT_PRECISION_OFF;
	if (wanted == LT_PRECISION_AUTO)
		wanted = LT_PRECISION_BF16; /* FP8 must be asked for */
	return wanted < top ? wanted : top; /* BF16 on Volta would be slow */
}

const struct lt_precision_words *
lt_precision_words(enum lt_precision used)
{
	static const struct lt_precision_words words[LT_PRECISION_COUNT] = {
	    [LT_PRECISION_FP16] = {"fp16", "16-mixed"},
	    [LT_PRECISION_BF16] = {"bf16", "bf16-mixed"},
	    [LT_PRECISION_FP8] = {"fp8", "bf16-mixed"},
	};

	return (unsigned)used < LT_PRECISION_COUNT &&
		       LT_ROW(words, used).accelerate != NULL
		   ? &LT_ROW(words, used)
		   : NULL;
}

/* TFLOPS in use: nothing said and exact both may mean plain FP32; what the GPU
 * lacks becomes its best. */
static double
tflops_at(const struct lt_gpu *gpu, enum lt_precision precision)
{
	if (precision == LT_PRECISION_AUTO || precision == LT_PRECISION_OFF)
		precision = LT_PRECISION_FP32;
	if ((unsigned)precision >= LT_PRECISION_COUNT)
		return 0;
	if (lt_gpu_lacks(gpu, precision))
		precision =
		    lt_precision_used(precision, lt_gpu_top_precision(gpu));
	return gpu->tflops[precision == LT_PRECISION_OFF ? LT_PRECISION_FP32
							 : precision];
}

/* Where nothing is said: as if it used the GPU's best mixed precision. */
static double
tflops_best(const struct lt_gpu_use *use)
{
	return tflops_at(use->gpu, use->precision == LT_PRECISION_AUTO
				       ? lt_gpu_best_precision(use->gpu)
				       : use->precision);
}

double
lt_gpu_time_ratio(
    const struct lt_gpu_use *from, const struct lt_gpu_use *to, bool *known)
{
	*known = false;
	if (from->gpu == NULL || to->gpu == NULL)
		return 1.0;
	const double before = tflops_at(from->gpu, from->precision);
	const double after = tflops_at(to->gpu, to->precision);
	if (!(before > 0 && after > 0 && from->gpu->bandwidth_gb_s > 0 &&
		to->gpu->bandwidth_gb_s > 0))
		return 1.0;
	*known = true;
	return fmax(fmax(before / after, tflops_best(from) / tflops_best(to)),
	    from->gpu->bandwidth_gb_s / to->gpu->bandwidth_gb_s);
}
