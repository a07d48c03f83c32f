/*
 * Texts in which a job asks for things, counted: Gres and TRES lists, and lists of node names. Any
 * bytes are survived; what is unclear counts as more.
 */
#ifndef LT_ASK_TEXT_H
#define LT_ASK_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define LT_GPU_TYPES "," /* two; no type has that name. Three: ",," */

enum { LT_ASK_MAX = INT32_MAX }; /* more counts as that */

/*
 * How many of `name` ("gpu", "shard", "cpu") a text names, summed over its items:
 * "gres:gpu:a100:4,license:x", "gres/gpu=2", "gpu". The type is copied to type (LT_GPU_NAME_SIZE
 * bytes, "" before the first text; NULL = not wanted), LT_GPU_TYPES when there are two, a comma
 * more for each further item. NULL text = 0.
 */
uint32_t lt_gres_count(const char *text, const char *name, char *type);

/* The first item that asks for anything but CPUs, GPUs and parts of GPUs (shard, mps): its name,
 * *length bytes of it. NULL: there is none. */
const char *lt_tres_unknown(const char *text, size_t *length);

/* How many types such a text named at most. */
uint32_t lt_gpu_kinds(const char *type);

/* Parts of GPUs, gres/shard and gres/mps. NULL text = 0. */
uint32_t lt_shards_count(const char *text);

/* Nodes that the counts of a constraint ask for, summed: 4 for "ib*4", 3 for "[a*1&b*2]", 0 without
 * any. Slurm takes them one after the other and gives the job all that it took. NULL = 0. */
uint32_t lt_features_count(const char *text);

/* The job that a dependency expands, "expand:12": its time limit is taken, not one's own. NULL, or
 * no such dependency: 0. LT_ASK_MAX: some job, as with a task of an array, or with two such
 * dependencies. */
uint32_t lt_expanded_job(const char *dependency);

/* Hosts of "v[1-2,5],s3": names given twice count twice. NULL = 0. */
uint32_t lt_hosts_count(const char *text);

#endif
