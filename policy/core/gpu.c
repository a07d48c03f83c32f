/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The precision a GPU is good for, and how run time scales between two of
 * them. lt_decide() and the job environment ask here.
 */
#include <math.h>
#include <stddef.h>

#include "gpu.h"
#include "lookup.h"

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
