/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of GPUs, as data. Figures are dense (without sparsity), sums
 * in FP32, and from the vendors' datasheets (docs/model.md, eq. (3), has
 * which); 0 is none, or none that was published. Memory is what the device
 * itself reports. gpu.c looks rows up; a site's own rows come with the market
 * snapshot.
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
    {"A40", 46068, 300, 86, 696, TFLOPS(37.4, 74.8, 149.7, 149.7, 0)},
    {"RTX-A6000", 49140, 300, 86, 768, TFLOPS(38.7, 77.4, 154.8, 154.8, 0)},
    {"RTX-3090", 24576, 350, 86, 936, TFLOPS(35.6, 35.6, 71.2, 71.2, 0)},
    /* Of Turing: not to be taken for the one of Ada, which is twice as large.
     */
    {"Quadro-RTX-6000", 24576, 295, 75, 672, TFLOPS(16.3, 0, 130.5, 0, 0)},
    {"RTX-4090", 24564, 450, 89, 1008, TFLOPS(82.6, 82.6, 165.2, 165.2, 330.3)},
    {"RTX-6000-Ada-Generation", 49140, 300, 89, 960,
	TFLOPS(91.1, 182.1, 364.2, 364.2, 728.5)},
    {"L4", 22888, 72, 89, 300, TFLOPS(30.3, 60, 121, 121, 242)},
    {"L40S", 46068, 350, 89, 864, TFLOPS(91.6, 183, 362, 362, 733)},
    {"A100-PCIE-40GB", 40960, 250, 80, 1555, TFLOPS(19.5, 156, 312, 312, 0)},
    {"A100-SXM4-40GB", 40960, 400, 80, 1555, TFLOPS(19.5, 156, 312, 312, 0)},
    {"A100-PCIE-80GB", 81920, 300, 80, 1935, TFLOPS(19.5, 156, 312, 312, 0)},
    {"A100-SXM4-80GB", 81920, 400, 80, 2039, TFLOPS(19.5, 156, 312, 312, 0)},
    {"H100-PCIE", 81559, 350, 90, 2000, TFLOPS(51.2, 378, 756, 756, 1513)},
    {"H100-SXM5", 81559, 700, 90, 3350, TFLOPS(67, 494.5, 989.5, 989.5, 1979)},
    {"H100-NVL-94GB", 95830, 400, 90, 3938,
	TFLOPS(60, 417.5, 835.5, 835.5, 1670.5)},
    {"H200-SXM", 143771, 700, 90, 4800, TFLOPS(67, 494.5, 989.5, 989.5, 1979)},
    {"H200-NVL-141GB", 143771, 600, 90, 4800,
	TFLOPS(60, 417.5, 835.5, 835.5, 1670.5)},
    /* With a CPU, whose memory the name counts, on one module: the power that
     * the device reports is of both. */
    {"GH200-480GB", 97871, 900, 90, 4000,
	TFLOPS(67, 494.5, 989.5, 989.5, 1979)},
    {"GH200-144G-HBM3e", 145920, 900, 90, 4900,
	TFLOPS(67, 494.5, 989.5, 989.5, 1979)},
    {"B100-SXM", 183359, 700, 100, 8000, TFLOPS(60, 900, 1750, 1750, 3500)},
    {"B200-SXM", 183359, 1000, 100, 8000, TFLOPS(75, 1130, 2250, 2250, 4500)},
    {"B300-SXM6", 275040, 1100, 103, 8000, TFLOPS(75, 1125, 2250, 2250, 4500)},
    /* One of the GPUs of a module, without its share of the CPU. */
    {"GB200", 189471, 1200, 100, 8000, TFLOPS(80, 1250, 2500, 2500, 5000)},
    {"GB300", 284208, 1400, 103, 8000, TFLOPS(80, 1250, 2500, 2500, 5000)},
    {"RTX-PRO-6000-Server", 97887, 600, 120, 1597,
	TFLOPS(120, 250, 500, 500, 1000)},
    {"RTX-PRO-6000-Workstation", 97887, 600, 120, 1792,
	TFLOPS(125, 251.9, 503.8, 503.8, 1007.6)},
    /* A board is two devices to the system and to Slurm: this is one. */
    {"MI250X", 65536, 280, 0, 1638, TFLOPS(23.9, 0, 191.5, 191.5, 0)},
    {"MI300X", 196608, 750, 0, 5300,
	TFLOPS(163.4, 653.7, 1307.4, 1307.4, 2614.9)},
    /* With its CPU cores. */
    {"MI300A", 131072, 760, 0, 5300,
	TFLOPS(122.6, 490.3, 980.6, 980.6, 1961.2)},
    {"MI325X", 262144, 1000, 0, 6000,
	TFLOPS(163.4, 653.7, 1307.4, 1307.4, 2614.9)},
    {"MI350X", 294912, 1000, 0, 8000, TFLOPS(144.2, 0, 2300, 2300, 4600)},
    {"MI355X", 294912, 1400, 0, 8000, TFLOPS(157.3, 0, 2500, 2500, 5000)},
    {"RX-7900-XTX", 24576, 355, 0, 960, TFLOPS(61.4, 0, 122.8, 122.8, 0)},
    {"PRO-W7900", 49152, 295, 0, 864, TFLOPS(61.3, 0, 122.6, 122.6, 0)},
    {"Gaudi2", 98304, 600, 0, 2460, TFLOPS(0, 0, 0, 432, 865)},
    {"Gaudi3", 131072, 900, 0, 3700, TFLOPS(0, 0, 0, 1835, 1835)},
};

const struct lt_gpu *
lt_gpu_table(int *count)
{
	*count = (int)(sizeof(rows) / sizeof(rows[0]));
	return rows;
}
