/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of GPUs, as data. Figures are dense (without sparsity) and
 * from the vendors' datasheets; memory is what the device itself reports.
 * gpu.c looks rows up; a site's own rows come with the market snapshot.
 */
#include "gpu.h"

#define TFLOPS(fp32, tf32, fp16, bf16, fp8)                                    \
	{                                                                      \
		[LT_PRECISION_FP32] = fp32, [LT_PRECISION_TF32] = tf32,        \
		[LT_PRECISION_FP16] = fp16, [LT_PRECISION_BF16] = bf16,        \
		[LT_PRECISION_FP8] = fp8                                       \
	}

/* name, memory MiB, board W, compute capability, bandwidth GB/s, TFLOPS */
static const struct lt_gpu rows[] = {
    {"P100-PCIE-16GB", 16384, 250, 60, 732, TFLOPS(9.3, 0, 18.7, 0, 0)},
    {"V100-PCIE", 16384, 250, 70, 900, TFLOPS(14, 0, 112, 0, 0)},
    {"V100-SXM2", 16384, 300, 70, 900, TFLOPS(15.7, 0, 125, 0, 0)},
    {"V100-SXM2-32GB", 32768, 300, 70, 900, TFLOPS(15.7, 0, 125, 0, 0)},
    {"T4", 15360, 70, 75, 320, TFLOPS(8.1, 0, 65, 0, 0)},
    {"A10", 24576, 150, 86, 600, TFLOPS(31.2, 62.5, 125, 125, 0)},
    {"A10G", 24576, 300, 86, 600, TFLOPS(31.5, 35, 70, 70, 0)},
    {"L4", 22888, 72, 89, 300, TFLOPS(30.3, 60, 121, 121, 242)},
    {"L40S", 46068, 350, 89, 864, TFLOPS(91.6, 183, 362, 362, 733)},
    {"A100-PCIE-40GB", 40960, 250, 80, 1555, TFLOPS(19.5, 156, 312, 312, 0)},
    {"A100-SXM4-40GB", 40960, 400, 80, 1555, TFLOPS(19.5, 156, 312, 312, 0)},
    {"A100-PCIE-80GB", 81920, 300, 80, 1935, TFLOPS(19.5, 156, 312, 312, 0)},
    {"A100-SXM4-80GB", 81920, 400, 80, 2039, TFLOPS(19.5, 156, 312, 312, 0)},
    {"H100-PCIE", 81559, 350, 90, 2000, TFLOPS(51.2, 378, 756, 756, 1513)},
    {"H100-SXM5", 81559, 700, 90, 3350, TFLOPS(67, 494.5, 989.5, 989.5, 1979)},
    {"H200-SXM", 143771, 700, 90, 4800, TFLOPS(67, 494.5, 989.5, 989.5, 1979)},
    {"B200-SXM", 183359, 1000, 100, 8000, TFLOPS(75, 1130, 2250, 2250, 4500)},
    /* A board is two devices to the system and to Slurm: this is one. */
    {"MI250X", 65536, 280, 0, 1638, TFLOPS(23.9, 0, 191.5, 191.5, 0)},
    {"MI300X", 196608, 750, 0, 5300,
	TFLOPS(163.4, 653.7, 1307.4, 1307.4, 2614.9)},
};

const struct lt_gpu *
lt_gpu_table(int *count)
{
	*count = (int)(sizeof(rows) / sizeof(rows[0]));
	return rows;
}
