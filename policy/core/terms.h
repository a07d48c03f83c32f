/*
 * Terms: on what each live job was admitted, for job_modify. 64-byte records
 * sorted by job id, a checksum per block; format in docs/formats.md.
 */
#ifndef LT_TERMS_H
#define LT_TERMS_H

#include "quote.h"

enum { LT_TERMS_RECORD_BYTES = 64 };

enum lt_terms_flag {
	LT_TERMS_OUR_HOLD = 1 << 0, /* release only by lowtided */
	LT_TERMS_USER_HOLD = 1 << 1,
	LT_TERMS_PENDING = 1 << 2,
	LT_TERMS_BUDGETED = 1 << 3,
	LT_TERMS_HAS_MONEY = 1 << 4,
	LT_TERMS_HAS_CARBON = 1 << 5,
	LT_TERMS_EXCLUSIVE = 1 << 6,
	LT_TERMS_HET_LEADER = 1 << 7, /* its id alone names all components */
};

struct lt_terms {
	uint32_t job_id;
	uint32_t uid;
	uint64_t quote_id;
	int64_t hold_money_micros; /* per task */
	int64_t hold_carbon_mg;
	uint32_t account_hash, partition_hash; /* lt_name_hash() */
	uint32_t limit_s;
	uint32_t nodes;
	uint32_t share_ppm; /* rounded up */
	uint32_t tasks;	    /* live */
	uint32_t flags;
	uint32_t cpus;
};

/* Write whole (.new, fsync, rename, fsync directory); records sorted here. */
int lt_terms_write(const char *path, struct lt_terms *records, uint32_t count,
    uint64_t generation, struct lt_error *err);

/* Binary search by pread, block checksum verified. LT_ENOENT: no such job. */
int lt_terms_find(const char *path, uint32_t job_id, struct lt_terms *terms,
    struct lt_error *err);

#endif
