/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The holds ring: job_submit writes one slot a hold, lowtided ingests them.
 * A slot lies within one sector, so a crash leaves it old or new or, at
 * worst, with a wrong checksum. docs/formats.md, "holds".
 */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container.h"
#include "units.h"

static const char magic[LT_MAGIC_BYTES + 1] = "LTRNG01\n";

enum {
	/* header */
	AT_GENERATION = 8,
	AT_SLOT_COUNT = 16,
	AT_SLOT_BYTES = 20,
	/* slot */
	AT_SEQUENCE = 0,
	AT_QUOTE = 8,
	AT_UID = 16,
	AT_JOB = 20,
	AT_TASKS = 24,
	AT_FLAGS = 28,
	AT_ACCOUNT = 32,
	AT_MONEY = 80,
	AT_CARBON = 88,
	AT_START = 96,
	AT_END = 104,
	AT_KNOWN = 112, /* bit 0: money, bit 1: carbon */
	AT_RESERVED = 116,
	AT_CRC = 124, /* both */
	RING_BYTES = LT_RING_HEADER_BYTES + LT_RING_SLOTS * LT_RING_SLOT_BYTES,
	CHUNK_SLOTS = 512, /* read at once: 64 KiB */
};
_Static_assert(LT_RING_HEADER_BYTES % LT_RING_SLOT_BYTES == 0 && 512 % LT_RING_SLOT_BYTES == 0,
    "no slot straddles a sector");
_Static_assert(AT_ACCOUNT + LT_ACCOUNT_SIZE == AT_MONEY, "the account fits");
_Static_assert(LT_RING_SLOTS % CHUNK_SLOTS == 0, "whole chunks");

/* The generation is in the checksum, not in the slot. */
static uint32_t
slot_crc(const unsigned char *slot, uint64_t ring_generation)
{
	unsigned char seed[8];

	lt_put_u64(seed, ring_generation);
	return lt_crc32c(lt_crc32c(0, seed, sizeof(seed)), slot, AT_CRC);
}

void
lt_ring_pack(unsigned char out[LT_RING_SLOT_BYTES], const struct lt_ring_record *record,
    uint64_t ring_generation)
{
	memset(out, 0, LT_RING_SLOT_BYTES);
	lt_put_u64(out + AT_SEQUENCE, record->sequence);
	lt_put_u64(out + AT_QUOTE, record->quote_id);
	lt_put_u32(out + AT_UID, record->uid);
	lt_put_u32(out + AT_JOB, record->job_id);
	lt_put_u32(out + AT_TASKS, record->tasks);
	lt_put_u32(out + AT_FLAGS, record->flags);
	memcpy(out + AT_ACCOUNT, record->account,
	    strnlen(record->account, sizeof(record->account) - 1));
	lt_put_u64(out + AT_MONEY, (uint64_t)record->per_task.money_micros);
	lt_put_u64(out + AT_CARBON, (uint64_t)record->per_task.carbon_mg);
	lt_put_u64(out + AT_START, (uint64_t)record->start_utc_s);
	lt_put_u64(out + AT_END, (uint64_t)record->end_utc_s);
	lt_put_u32(out + AT_KNOWN,
	    (uint32_t)record->per_task.has_money | (uint32_t)record->per_task.has_carbon << 1);
	lt_put_u32(out + AT_CRC, slot_crc(out, ring_generation));
}

static bool
all_zero(const unsigned char *bytes, size_t byte_count)
{
	for (size_t i = 0; i < byte_count; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

int
lt_ring_unpack(struct lt_ring_record *record, const unsigned char bytes[LT_RING_SLOT_BYTES],
    uint64_t ring_generation, struct lt_error *err)
{
	memset(record, 0, sizeof(*record));
	if (all_zero(bytes, LT_RING_SLOT_BYTES))
		return lt_fail(err, LT_ENOENT, "holds: an unused slot");
	const uint32_t known = lt_get_u32(bytes + AT_KNOWN);
	const char *const account = (const char *)bytes + AT_ACCOUNT;
	const size_t length = strnlen(account, LT_ACCOUNT_SIZE);
	if (lt_get_u32(bytes + AT_CRC) != slot_crc(bytes, ring_generation) ||
	    lt_get_u64(bytes + AT_SEQUENCE) == 0 || known > 3 || length == LT_ACCOUNT_SIZE ||
	    !all_zero(bytes + AT_ACCOUNT + length, LT_ACCOUNT_SIZE - length) ||
	    !all_zero(bytes + AT_RESERVED, AT_CRC - AT_RESERVED))
		return lt_fail(err, LT_ECHECKSUM, "holds: a slot is torn or of another generation");
	record->sequence = lt_get_u64(bytes + AT_SEQUENCE);
	record->quote_id = lt_get_u64(bytes + AT_QUOTE);
	record->uid = lt_get_u32(bytes + AT_UID);
	record->job_id = lt_get_u32(bytes + AT_JOB);
	record->tasks = lt_get_u32(bytes + AT_TASKS);
	record->flags = lt_get_u32(bytes + AT_FLAGS);
	memcpy(record->account, account, length);
	record->per_task.money_micros = (int64_t)lt_get_u64(bytes + AT_MONEY);
	record->per_task.carbon_mg = (int64_t)lt_get_u64(bytes + AT_CARBON);
	record->start_utc_s = (int64_t)lt_get_u64(bytes + AT_START);
	record->end_utc_s = (int64_t)lt_get_u64(bytes + AT_END);
	record->per_task.has_money = (known & 1) != 0;
	record->per_task.has_carbon = (known & 2) != 0;
	return LT_OK;
}

/* ---- the file ---- */

static int
write_header(int fd, uint64_t generation)
{
	unsigned char header[LT_RING_HEADER_BYTES] = {0};

	memcpy(header, magic, LT_MAGIC_BYTES);
	lt_put_u64(header + AT_GENERATION, generation);
	lt_put_u32(header + AT_SLOT_COUNT, LT_RING_SLOTS);
	lt_put_u32(header + AT_SLOT_BYTES, LT_RING_SLOT_BYTES);
	lt_put_u32(header + AT_CRC, lt_crc32c(0, header, AT_CRC));
	return pwrite(fd, header, sizeof(header), 0) == sizeof(header) ? LT_OK : LT_EIO;
}

static int
read_header(int fd, uint64_t size, const char *path, uint64_t *generation, struct lt_error *err)
{
	unsigned char header[LT_RING_HEADER_BYTES];

	if (size != RING_BYTES)
		return lt_fail(err, LT_ECHECKSUM, "%s: %llu bytes, want %d", path,
		    (unsigned long long)size, RING_BYTES);
	if (lt_pread_all(fd, header, sizeof(header), 0) != LT_OK)
		return lt_fail(err, LT_EIO, "%s: can't read: %s", path, strerror(errno));
	if (memcmp(header, magic, LT_MAGIC_BYTES) != 0)
		return lt_fail(err, LT_EVERSION, "%s: is no ring of holds of this version", path);
	if (lt_get_u32(header + AT_CRC) != lt_crc32c(0, header, AT_CRC) ||
	    lt_get_u32(header + AT_SLOT_COUNT) != LT_RING_SLOTS ||
	    lt_get_u32(header + AT_SLOT_BYTES) != LT_RING_SLOT_BYTES ||
	    !all_zero(header + AT_SLOT_BYTES + 4, AT_CRC - AT_SLOT_BYTES - 4))
		return lt_fail(err, LT_ECHECKSUM, "%s: header is damaged", path);
	*generation = lt_get_u64(header + AT_GENERATION);
	return LT_OK;
}

/* All of the file in its place on the disk: a full disk is met here, not
 * when a job is submitted. */
static int
fill_ring(int fd, uint64_t generation, const char *path, struct lt_error *err)
{
	const int failed = posix_fallocate(fd, 0, RING_BYTES);

	if (failed != 0)
		return lt_fail(err, LT_EIO, "%s: can't allocate %d bytes: %s", path, RING_BYTES,
		    strerror(failed));
	if (fchmod(fd, 0600) != 0 || write_header(fd, generation) != LT_OK || fsync(fd) != 0)
		return lt_fail(err, LT_EIO, "%s: can't write: %s", path, strerror(errno));
	return LT_OK;
}

/* Makes a ring under a name of its own and links it into place: a second process finds the first
 * one's ring, and nobody finds a half-made one. */
static int
make_ring(const char *path, struct lt_error *err)
{
	uint64_t generation = 0;
	char new_path[4096];

	if (getrandom(&generation, sizeof(generation), 0) != sizeof(generation))
		return lt_fail(err, LT_EIO, "%s: no random number: %s", path, strerror(errno));
	const int length = snprintf(
	    new_path, sizeof(new_path), "%s.%016llx", path, (unsigned long long)generation);
	if (length < 0 || (size_t)length >= sizeof(new_path))
		return lt_fail(err, LT_ELIMIT, "%s: path is too long", path);
	const int fd = open(new_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return lt_fail(err, LT_EIO, "%s: can't make: %s", new_path, strerror(errno));
	int code = fill_ring(fd, generation, new_path, err);
	close(fd);
	if (code == LT_OK && link(new_path, path) != 0 && errno != EEXIST)
		code = lt_fail(
		    err, LT_EIO, "%s: can't link to %s: %s", new_path, path, strerror(errno));
	(void)unlink(new_path);
	return code == LT_OK ? lt_directory_sync(path, err) : code;
}

int
lt_ring_open(const char *path, bool create, uint64_t *generation, struct lt_error *err)
{
	struct lt_error absent = {0};
	uint64_t size = 0;
	int fd = lt_file_open(path, O_RDWR, true, &size, create ? &absent : err);

	if (fd == LT_ENOENT && create) {
		const int code = make_ring(path, err);

		if (code != LT_OK)
			return code;
		fd = lt_file_open(path, O_RDWR, true, &size, err);
	} else if (fd < 0 && create) {
		return lt_fail(err, absent.code, "%s", absent.text);
	}
	if (fd < 0)
		return fd;
	const int code = read_header(fd, size, path, generation, err);
	if (code != LT_OK) {
		close(fd);
		return code;
	}
	return fd;
}

int
lt_ring_write(
    int fd, uint64_t generation, const struct lt_ring_record *record, struct lt_error *err)
{
	unsigned char slot[LT_RING_SLOT_BYTES];
	const uint64_t place = record->sequence % LT_RING_SLOTS;

	if (record->sequence == 0)
		return lt_fail(err, LT_EBUG, "holds: sequence 0");
	lt_ring_pack(slot, record, generation);
	const ssize_t put = pwrite(
	    fd, slot, sizeof(slot), (off_t)(LT_RING_HEADER_BYTES + place * LT_RING_SLOT_BYTES));
	if (put != (ssize_t)sizeof(slot))
		return lt_fail(err, LT_EIO, "holds: can't write slot %llu: %s",
		    (unsigned long long)place, put < 0 ? strerror(errno) : "cut short");
	return LT_OK;
}

/* ---- reading all ---- */

struct scan {
	uint64_t generation, ingested;
	struct lt_ring_record *records;
	uint32_t count;
	uint64_t highest;
	unsigned char damaged[LT_RING_SLOTS / 8];
};

static void
scan_slot(struct scan *scan, uint32_t place, const unsigned char *slot)
{
	const uint64_t sequence = lt_get_u64(slot + AT_SEQUENCE);

	/* Most slots are old. One that still says so was not written to since:
	 * no need to prove it. */
	if (sequence != 0 && sequence <= scan->ingested && sequence % LT_RING_SLOTS == place)
		return;
	struct lt_ring_record *const record = &scan->records[scan->count];
	const int code = lt_ring_unpack(record, slot, scan->generation, NULL);
	if (code == LT_ENOENT)
		return;
	if (code != LT_OK || record->sequence % LT_RING_SLOTS != place ||
	    record->sequence - scan->ingested > LT_RING_SLOTS) {
		if (code == LT_OK && scan->ingested == 0 &&
		    record->sequence % LT_RING_SLOTS == place && record->sequence > scan->highest)
			scan->highest = record->sequence;
		scan->damaged[place / 8] |= (unsigned char)(1 << place % 8);
		return;
	}
	if (record->sequence > scan->highest)
		scan->highest = record->sequence;
	scan->count++;
}

/* False when it can't be read; errno says why. */
static bool
scan_all(struct scan *scan, unsigned char *chunk, int fd)
{
	for (uint32_t first = 0; first < LT_RING_SLOTS; first += CHUNK_SLOTS) {
		if (lt_pread_all(fd, chunk, CHUNK_SLOTS * LT_RING_SLOT_BYTES,
			LT_RING_HEADER_BYTES + (uint64_t)first * LT_RING_SLOT_BYTES) != LT_OK)
			return false;
		for (uint32_t i = 0; i < CHUNK_SLOTS; i++)
			scan_slot(scan, first + i, chunk + (size_t)i * LT_RING_SLOT_BYTES);
	}
	return true;
}

static int
by_sequence(const void *a, const void *b)
{
	const uint64_t x = ((const struct lt_ring_record *)a)->sequence;
	const uint64_t y = ((const struct lt_ring_record *)b)->sequence;

	return (x > y) - (x < y);
}

/* Damaged slots whose sequence above ingested may have been written. */
static uint32_t
count_bad(const struct scan *scan)
{
	uint32_t bad = 0;
	uint64_t ahead = scan->highest - scan->ingested + LT_RING_AHEAD;

	if (ahead > LT_RING_SLOTS)
		ahead = LT_RING_SLOTS;
	for (uint64_t i = 1; i <= ahead; i++) {
		const uint64_t place = (scan->ingested + i) % LT_RING_SLOTS;

		bad += scan->damaged[place / 8] >> place % 8 & 1;
	}
	return bad;
}

int
lt_ring_read(int fd, uint64_t generation, uint64_t ingested, struct lt_ring_record *records,
    uint32_t *count, uint64_t *highest, uint64_t *contiguous, uint32_t *bad, struct lt_error *err)
{
	struct {
		struct scan scan;
		unsigned char chunk[CHUNK_SLOTS * LT_RING_SLOT_BYTES];
	} *const work = calloc(1, sizeof(*work));

	if (work == NULL)
		return lt_fail(err, LT_ENOMEM, "holds: no memory to read");
	struct scan *const scan = &work->scan;
	scan->generation = generation;
	scan->ingested = scan->highest = ingested;
	scan->records = records;
	if (!scan_all(scan, work->chunk, fd)) {
		free(work);
		return lt_fail(err, LT_EIO, "holds: can't read: %s", strerror(errno));
	}
	/* W is not known and the ring went round: all that is in it counts. */
	if (ingested == 0 && scan->highest > LT_RING_SLOTS) {
		ingested = scan->highest - LT_RING_SLOTS;
		scan->ingested = ingested;
		scan->count = 0;
		memset(scan->damaged, 0, sizeof(scan->damaged));
		if (!scan_all(scan, work->chunk, fd)) {
			free(work);
			return lt_fail(err, LT_EIO, "holds: can't read: %s", strerror(errno));
		}
	}
	qsort(records, scan->count, sizeof(*records), by_sequence);
	*count = scan->count;
	*highest = scan->highest;
	*contiguous = ingested;
	for (uint32_t i = 0; i < scan->count && records[i].sequence == *contiguous + 1; i++)
		++*contiguous;
	*bad = count_bad(scan);
	free(work);
	return LT_OK;
}
