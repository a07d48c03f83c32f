/*
 * Terms: on what each live job was admitted, for job_modify. 216-byte records sorted by job id, a
 * checksum per block; format in docs/formats.md.
 */
#ifndef LT_TERMS_H
#define LT_TERMS_H

#include "quote.h"

enum { LT_TERMS_RECORD_BYTES = 216, LT_TERMS_PARTITIONS = 4 };

enum lt_terms_flag {
	LT_TERMS_OUR_HOLD = 1 << 0, /* release only by lowtided */
	LT_TERMS_USER_HOLD = 1 << 1,
	LT_TERMS_PENDING = 1 << 2,
	LT_TERMS_BUDGETED = 1 << 3,
	LT_TERMS_HAS_MONEY = 1 << 4,
	LT_TERMS_HAS_CARBON = 1 << 5,
	LT_TERMS_EXCLUSIVE = 1 << 6,
	LT_TERMS_HET_LEADER = 1 << 7,  /* its id alone names all components */
	LT_TERMS_LOCKED = 1 << 8,      /* requeued: a new run waits */
	LT_TERMS_ARRAY_RAN = 1 << 9,   /* by its id: a task runs, or so waits */
	LT_TERMS_ARRAY_ONLY = 1 << 10, /* stands for tasks with other ids */
	LT_TERMS_SPREAD = 1 << 11,
	LT_TERMS_BIND_GPUS = 1 << 12,
	LT_TERMS_OVERCOMMIT = 1 << 13,
	LT_TERMS_WHOLE_MEMORY = 1 << 14,
	LT_TERMS_PLANE = 1 << 15,
	LT_TERMS_TASKS_IMPLIED = 1 << 16,
	LT_TERMS_HET = 1 << 17, /* one of several components */
	LT_TERMS_EXPANDS = 1 << 18,
};

/* The request's fields: those of struct lt_request, 0 = not said, in the order of the file. */
#define LT_TERMS_ASKED(FIELD)                                                                      \
	FIELD(min_nodes)                                                                           \
	FIELD(max_nodes)                                                                           \
	FIELD(tasks)                                                                               \
	FIELD(cpus_per_task)                                                                       \
	FIELD(cpus)                                                                                \
	FIELD(cpus_per_node)                                                                       \
	FIELD(max_cpus)                                                                            \
	FIELD(tasks_per_node)                                                                      \
	FIELD(tasks_per_socket)                                                                    \
	FIELD(tasks_per_core)                                                                      \
	FIELD(tasks_per_board)                                                                     \
	FIELD(tasks_per_gpu)                                                                       \
	FIELD(sockets_per_node)                                                                    \
	FIELD(threads_per_core)                                                                    \
	FIELD(gpus)                                                                                \
	FIELD(gpus_per_node)                                                                       \
	FIELD(gpus_per_socket)                                                                     \
	FIELD(gpus_per_task)                                                                       \
	FIELD(cpus_per_gpu)                                                                        \
	FIELD(shards_per_node)                                                                     \
	FIELD(spec_cores)                                                                          \
	FIELD(nodes_named)                                                                         \
	FIELD(nodes_counted)

struct lt_terms_asked {
#define FIELD(name) uint32_t name;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	uint64_t memory_mib_per_node, memory_mib_per_cpu, memory_mib_per_gpu;
};

struct lt_terms {
	uint32_t job_id;
	uint32_t uid;
	uint64_t quote_id;
	int64_t hold_money_micros; /* per task */
	int64_t hold_carbon_mg;
	uint32_t account_hash; /* lt_name_hash() */
	uint32_t limit_s;      /* UINT32_MAX = none */
	uint32_t tasks;	       /* live */
	uint32_t flags;
	int64_t start_utc_s, end_utc_s; /* of the hold */
	int64_t seen_utc_s;		/* slurmctld's time of the record that was read */
	/* More partitions than there is room for: which is not known. */
	uint32_t partition_count;
	uint32_t partition_hash[LT_TERMS_PARTITIONS];
	struct lt_terms_asked asked;
	uint32_t qos_hash, name_hash; /* the name's as of smoke.h */
};

/* Written one by one, by rising job id, in the place of `path` (which stays the caller's meanwhile)
 * at the end: .new, fsync, rename, fsync directory. What fails leaves the old file. end() ends the
 * writer in any case, else drop(). */
struct lt_terms_writer;
int lt_terms_begin(
    struct lt_terms_writer **writer, const char *path, uint64_t generation, struct lt_error *err);
int lt_terms_add(
    struct lt_terms_writer *writer, const struct lt_terms *terms, struct lt_error *err);
int lt_terms_end(struct lt_terms_writer *writer, struct lt_error *err);
void lt_terms_drop(struct lt_terms_writer *writer);
/* All at once; records are sorted here. */
int lt_terms_write(const char *path, struct lt_terms *records, uint32_t count, uint64_t generation,
    struct lt_error *err);

/* Binary search by pread, block checksum verified. LT_ENOENT: no such job. */
int lt_terms_find(const char *path, uint32_t job_id, struct lt_terms *terms, struct lt_error *err);

#endif
