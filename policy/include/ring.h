/*
 * The holds ring: job_submit's only file. Slot = sequence mod LT_RING_SLOTS; format and validity
 * rule in docs/formats.md.
 */
#ifndef LT_RING_H
#define LT_RING_H

#include "quote.h"

enum { LT_RING_SLOT_BYTES = 128, LT_RING_HEADER_BYTES = 128 };

struct lt_ring_record {
	uint64_t sequence; /* from 1 */
	uint64_t quote_id;
	uint32_t uid;
	uint32_t job_id; /* LT_QUOTE_MODIFY: whose; else 0 */
	uint32_t tasks;
	uint32_t flags; /* enum lt_quote_flag */
	char account[LT_ACCOUNT_SIZE];
	struct lt_amount per_task;
	int64_t start_utc_s, end_utc_s;
};

void lt_ring_pack(unsigned char out[LT_RING_SLOT_BYTES], const struct lt_ring_record *record,
    uint64_t ring_generation);
/* LT_ENOENT: never written (all zero); LT_ECHECKSUM: torn or of another generation or slot. */
int lt_ring_unpack(struct lt_ring_record *record, const unsigned char bytes[LT_RING_SLOT_BYTES],
    uint64_t ring_generation, struct lt_error *err);

/*
 * Open `path`, O_NOFOLLOW|O_CLOEXEC, owner = uid, mode 0600 checked on the
 * descriptor. Makes it (whole, preallocated, random generation from
 * getrandom(2), fsync) when create and absent. *generation is written.
 * Returns a descriptor or a negative lt_code.
 */
int lt_ring_open(const char *path, bool create, uint64_t *generation, struct lt_error *err);

/* One pwrite of one slot. LT_EIO on a short or failed write. */
int lt_ring_write(
    int fd, uint64_t generation, const struct lt_ring_record *record, struct lt_error *err);

/*
 * Read all slots with sequence > ingested (0 = not known: all) into records
 * (room for LT_RING_SLOTS), sorted by sequence. *highest: the greatest valid
 * sequence
 * (>= ingested); *contiguous: the last before the first missing one;
 * *bad: damaged slots whose place belongs to a sequence above ingested and at
 * most LT_RING_AHEAD above *highest (beyond, nothing can have been written).
 */
enum { LT_RING_AHEAD = 256 }; /* slurmctld's most threads: holds at once */
int lt_ring_read(int fd, uint64_t generation, uint64_t ingested, struct lt_ring_record *records,
    uint32_t *count, uint64_t *highest, uint64_t *contiguous, uint32_t *bad, struct lt_error *err);

#endif
