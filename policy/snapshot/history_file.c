/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of groups of runs: written whole by lowtided, looked up three at a
 * time by job_submit, which reads some blocks and not the file. Keys are
 * hashes, so that a key's value says about where it is. docs/formats.md.
 */
#include "history_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container.h"
#include "units.h"

static const char magic[LT_MAGIC_BYTES + 1] = "LTHIS01\n";

enum {
	SECTION_BLOCKS = 1,
	RECORD_BYTES = 32,
	BLOCK_RECORDS = 63, /* and a tail: 2 KiB */
	TAIL_BYTES = RECORD_BYTES,
	AT_USED = BLOCK_RECORDS * RECORD_BYTES,
	AT_CRC = AT_USED + TAIL_BYTES - 4,
	BLOCK_BYTES = AT_USED + TAIL_BYTES,
	BLOCKS_MAX = (LT_HISTORY_MAX + BLOCK_RECORDS - 1) / BLOCK_RECORDS,
	BLOCKS_AT = LT_FILE_HEADER_BYTES + LT_FILE_SECTION_BYTES,
	FILE_BYTES_MAX = BLOCKS_AT + BLOCKS_MAX * BLOCK_BYTES,
	GUESSES = 4, /* by the value of the key; then by halves */
	FLAG_LONGEST = 1,
};

static void
record_pack(unsigned char *out, const struct lt_history_record *record)
{
	lt_put_u64(out, record->key.hash);
	lt_put_u32(out + 8, record->key.uid);
	lt_put_u32(out + 12, record->figures.runs);
	lt_put_u32(out + 16, record->figures.median);
	lt_put_u32(out + 20, record->figures.upper);
	lt_put_u32(
	    out + 24, record->figures.upper_is_longest ? FLAG_LONGEST : 0);
}

static void
record_unpack(struct lt_history_figures *figures, const unsigned char *in)
{
	*figures = (struct lt_history_figures){.runs = lt_get_u32(in + 12),
	    .median = lt_get_u32(in + 16),
	    .upper = lt_get_u32(in + 20),
	    .upper_is_longest = (lt_get_u32(in + 24) & FLAG_LONGEST) != 0};
}

static int
compare_keys(struct lt_history_key a, struct lt_history_key b)
{
	if (a.hash != b.hash)
		return a.hash < b.hash ? -1 : 1;
	return (a.uid > b.uid) - (a.uid < b.uid);
}

static struct lt_history_key
key_at(const unsigned char *in)
{
	return (struct lt_history_key){lt_get_u64(in), lt_get_u32(in + 8)};
}

/* Time of making and place are in the checksum, as in terms. */
static uint32_t
block_crc(const unsigned char *block, uint64_t generation, uint32_t index)
{
	unsigned char seed[12];

	lt_put_u64(seed, generation);
	lt_put_u32(seed + 8, index);
	return lt_crc32c(lt_crc32c(0, seed, sizeof(seed)), block, AT_CRC);
}

static int
by_key(const void *a, const void *b)
{
	return compare_keys(((const struct lt_history_record *)a)->key,
	    ((const struct lt_history_record *)b)->key);
}

static uint32_t
used_in(uint32_t count, uint32_t block)
{
	const uint32_t left = count - block * BLOCK_RECORDS;

	return left < BLOCK_RECORDS ? left : BLOCK_RECORDS;
}

static int
write_blocks(struct lt_replace *replace,
    const struct lt_history_record *records, uint32_t count,
    uint64_t generation, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t b = 0; code == LT_OK && b * BLOCK_RECORDS < count; b++) {
		unsigned char block[BLOCK_BYTES] = {0};
		const uint32_t used = used_in(count, b);

		for (uint32_t i = 0; i < used; i++)
			record_pack(block + i * RECORD_BYTES,
			    &records[b * BLOCK_RECORDS + i]);
		lt_put_u32(block + AT_USED, used);
		lt_put_u32(block + AT_CRC, block_crc(block, generation, b));
		code = lt_replace_write(replace, block, sizeof(block), err);
	}
	return code;
}

int
lt_history_write(const char *path, struct lt_history_record *records,
    uint32_t count, int64_t now_utc_s, struct lt_error *err)
{
	if (count > LT_HISTORY_MAX)
		return lt_fail(err, LT_ELIMIT, "history: %u groups, limit %d",
		    count, LT_HISTORY_MAX);
	if (count > 1)
		qsort(records, count, sizeof(*records), by_key);
	for (uint32_t i = 1; i < count; i++)
		if (by_key(&records[i - 1], &records[i]) == 0)
			return lt_fail(
			    err, LT_EINPUT, "history: a group is there twice");
	const uint32_t blocks = (count + BLOCK_RECORDS - 1) / BLOCK_RECORDS;
	const struct lt_section section = {.id = SECTION_BLOCKS,
	    .count = count,
	    .offset = BLOCKS_AT,
	    .length = (uint64_t)blocks * BLOCK_BYTES};
	const struct lt_header header = {.generation = (uint64_t)now_utc_s,
	    .created_utc_s = now_utc_s,
	    .section_count = 1,
	    .total_bytes = BLOCKS_AT + section.length};
	unsigned char head[BLOCKS_AT];
	struct lt_replace replace;

	lt_header_pack(head, magic, &header, &section);
	int code = lt_replace_begin(&replace, path, 0600, err);
	if (code == LT_OK)
		code = lt_replace_write(&replace, head, sizeof(head), err);
	if (code == LT_OK)
		code = write_blocks(
		    &replace, records, count, header.generation, err);
	return code == LT_OK ? lt_replace_commit(&replace, err) : code;
}

/* Read and prove one block: its keys rise. */
static int
read_block(const struct lt_container *reader, uint32_t index,
    unsigned char block[BLOCK_BYTES], uint32_t *used, struct lt_error *err)
{
	if (lt_pread_all(reader->source.fd, block, BLOCK_BYTES,
		BLOCKS_AT + (uint64_t)index * BLOCK_BYTES) != LT_OK)
		return lt_fail(
		    err, LT_EIO, "history: can't read block %u", index);
	*used = lt_get_u32(block + AT_USED);
	bool good = lt_get_u32(block + AT_CRC) ==
			block_crc(block, reader->header.generation, index) &&
		    *used == used_in(reader->sections[0].count, index);
	for (uint32_t i = 1; good && i < *used; i++)
		good = compare_keys(key_at(block + (i - 1) * RECORD_BYTES),
			   key_at(block + i * RECORD_BYTES)) < 0;
	if (!good)
		return lt_fail(
		    err, LT_ECHECKSUM, "history: block %u is damaged", index);
	return LT_OK;
}

static void
find_in(struct lt_history_figures *figures, struct lt_history_key key,
    const unsigned char *block, uint32_t used)
{
	for (uint32_t i = 0; i < used; i++)
		if (compare_keys(key, key_at(block + i * RECORD_BYTES)) == 0)
			record_unpack(figures, block + i * RECORD_BYTES);
}

/* Among blocks [low, high) with keys from `first` to `last`. */
static uint32_t
guess(uint32_t low, uint32_t high, uint64_t hash, const uint64_t bounds[2])
{
	const double width = (double)(bounds[1] - bounds[0]) + 1;
	const double part = (double)(hash - bounds[0]) / width;
	const uint32_t at = low + (uint32_t)((double)(high - low) * part);

	return at < high ? at : high - 1;
}

static int
find(struct lt_history_figures *figures, struct lt_history_key key,
    const struct lt_container *reader, struct lt_error *err)
{
	uint32_t low = 0;
	uint32_t high = (uint32_t)(reader->sections[0].length / BLOCK_BYTES);
	uint64_t bounds[2] = {0, UINT64_MAX};

	for (int step = 0; low < high; step++) {
		unsigned char block[BLOCK_BYTES];
		const uint32_t at = step < GUESSES
					? guess(low, high, key.hash, bounds)
					: low + (high - low) / 2;
		uint32_t used = 0;
		const int code = read_block(reader, at, block, &used, err);

		if (code != LT_OK)
			return code;
		const struct lt_history_key first = key_at(block);
		const struct lt_history_key last =
		    key_at(block + (used - 1) * RECORD_BYTES);
		if (compare_keys(key, first) < 0) {
			high = at;
			bounds[1] = first.hash;
		} else if (compare_keys(key, last) > 0) {
			low = at + 1;
			bounds[0] = last.hash;
		} else {
			find_in(figures, key, block, used);
			break;
		}
	}
	return LT_OK;
}

static int
find_all(struct lt_history_figures figures[LT_HISTORY_GROUPS],
    const struct lt_history_key keys[LT_HISTORY_GROUPS],
    const struct lt_container *reader, struct lt_error *err)
{
	const struct lt_section *const section = &reader->sections[0];
	const uint64_t blocks =
	    ((uint64_t)section->count + BLOCK_RECORDS - 1) / BLOCK_RECORDS;
	int code =
	    lt_container_expect(reader, 0, SECTION_BLOCKS, LT_HISTORY_MAX, err);

	if (code == LT_OK && section->length != blocks * BLOCK_BYTES)
		code = lt_fail(err, LT_ECHECKSUM,
		    "history: %u records in %llu bytes", section->count,
		    (unsigned long long)section->length);
	for (int i = 0; code == LT_OK && i < LT_HISTORY_GROUPS; i++)
		code = find(&figures[i], keys[i], reader, err);
	return code;
}

int
lt_history_find(struct lt_history_figures figures[LT_HISTORY_GROUPS],
    const struct lt_history_key keys[LT_HISTORY_GROUPS], const char *path,
    struct lt_error *err)
{
	static const struct lt_container_kind kind = {
	    "history", magic, 1, FILE_BYTES_MAX};
	const size_t size = LT_HISTORY_GROUPS * sizeof(*figures);
	struct lt_input source = {0};
	struct lt_container reader;

	memset(figures, 0, size);
	source.fd = lt_file_open(path, O_RDONLY, true, &source.size, err);
	if (source.fd < 0)
		return source.fd;
	int code = lt_container_open(&reader, &kind, &source, err);
	if (code == LT_OK) {
		code = find_all(figures, keys, &reader, err);
		lt_container_close(&reader);
	}
	close(source.fd);
	if (code != LT_OK)
		memset(figures, 0, size);
	return code;
}
