/*
 * GPU facts and fit. The table itself is data (gpu_table.c); a site's own
 * rows come with the market snapshot.
 */
#ifndef LT_GPU_H
#define LT_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum lt_precision {
	LT_PRECISION_AUTO, /* not said */
	LT_PRECISION_OFF,  /* exact: no mixed precision, ever */
	LT_PRECISION_FP32,
	LT_PRECISION_TF32,
	LT_PRECISION_FP16,
	LT_PRECISION_BF16,
	LT_PRECISION_FP8,
	LT_PRECISION_COUNT,
};

struct lt_gpu {
	char name[LT_GPU_NAME_SIZE];	   /* "A100-SXM4-40GB" */
	uint32_t memory_mib;		   /* as the device reports it */
	uint32_t power_w;		   /* board maximum */
	uint32_t compute_capability;	   /* NVIDIA 80 = 8.0; AMD 0 */
	double bandwidth_gb_s;		   /* device memory; 0 = unknown */
	double tflops[LT_PRECISION_COUNT]; /* dense; 0 = not supported */
	uint32_t mig_slices;		   /* that a whole one can be cut into; 0 = none */
};

/* Rows of the built-in table; *count is written. */
const struct lt_gpu *lt_gpu_table(int *count);

/*
 * For a name from a policy file, a Gres type ("a100", "nvidia_a100_3g.20gb") or a device ("NVIDIA
 * A100-SXM4-40GB"): case, "NVIDIA ", "-", "_", " " ignored; exact first, then the rows that start
 * with it. Of several rows it is called as it is written, and has their most power and their least
 * of all else. A MIG device is the part of its GPU. room, or NULL = unknown.
 */
const struct lt_gpu *lt_gpu_find(struct lt_gpu *room, const char *name);
/* True if the row is one of those. */
bool lt_gpu_may_be(const char *name, const struct lt_gpu *row);
/* True if the type has a MIG profile. */
bool lt_gpu_is_slice(const char *type);
/* The part of the whole GPU that a type's MIG profile ("1g.5gb") names; a type without one is the
 * GPU. False: this GPU has no such part. */
bool lt_gpu_slice(struct lt_gpu *gpu, const char *type);

/* Best mixed precision of a GPU for training: BF16 with tensor cores, FP16 on Volta and Turing,
 * else OFF. NULL gives OFF. */
enum lt_precision lt_gpu_best_precision(const struct lt_gpu *gpu);

/* The lowest precision that code can ask of it and get: FP8 where the GPU has it, else the best.
 * NULL gives OFF. */
enum lt_precision lt_gpu_top_precision(const struct lt_gpu *gpu);

/* True if the GPU has no arithmetic of this mixed precision. Never for FP32, for what is exact or
 * not said. */
bool lt_gpu_lacks(const struct lt_gpu *gpu, enum lt_precision wanted);

/* Returns the precision that is used where this was asked for (AUTO: the best for training) on a
 * GPU whose top is this: a precision that it lacks becomes its best. OFF: nothing; a top of AUTO is
 * a node without a GPU. Pure. */
enum lt_precision lt_precision_used(enum lt_precision wanted, enum lt_precision top);

/* Defaults that Accelerate and Lightning read for code that says nothing:
 * ACCELERATE_MIXED_PRECISION, PL_TRAINER_PRECISION. Lightning has no FP8 by itself. */
struct lt_precision_words {
	const char *accelerate, *lightning;
};
/* NULL: nothing is to be set. Pure. */
const struct lt_precision_words *lt_precision_words(enum lt_precision used);

struct lt_gpu_use {		  /* a GPU, and in what a job computes on it */
	const struct lt_gpu *gpu; /* NULL = unknown */
	enum lt_precision precision;
};

/*
 * Run time on `to` over run time on `from` (1 = same). By the workload's bound; when that is
 * unknown the slower of compute (at the precision, or the best of a GPU that lacks it; where it is
 * not said both at FP32 and at the best) and bandwidth. 1 and *known = false when either is NULL or
 * lacks the figure.
 */
double lt_gpu_time_ratio(const struct lt_gpu_use *from, const struct lt_gpu_use *to, bool *known);

#endif
