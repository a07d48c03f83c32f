/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of groups of runs: written whole by lowtided, looked up three at a time by job_submit,
 * which keeps the index in memory and reads a block for each. docs/formats.md.
 */
#include "history_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container.h"
#include "units.h"

static const char magic[LT_MAGIC_BYTES + 1] = "LTHIS03\n";

enum {
	SECTION_INDEX = 1,
	SECTION_BLOCKS = 2,
	SECTIONS = 2,
	KEY_BYTES = 12, /* of the index: the first of a block */
	RECORD_BYTES = 32,
	BLOCK_RECORDS = 63, /* and a tail: 2 KiB */
	TAIL_BYTES = RECORD_BYTES,
	AT_USED = BLOCK_RECORDS * RECORD_BYTES,
	AT_CRC = AT_USED + TAIL_BYTES - 4,
	BLOCK_BYTES = AT_USED + TAIL_BYTES,
	BLOCKS_MAX = (LT_HISTORY_MAX + BLOCK_RECORDS - 1) / BLOCK_RECORDS,
	HEAD_BYTES = LT_FILE_HEADER_BYTES + SECTIONS * LT_FILE_SECTION_BYTES,
	FILE_BYTES_MAX = HEAD_BYTES + BLOCKS_MAX * (KEY_BYTES + BLOCK_BYTES),
	FLAG_LONGEST = 1,
};

struct lt_history_file {
	int fd;
	uint64_t generation, blocks_at;
	uint32_t count, block_count;
	struct lt_history_key firsts[]; /* of the blocks */
};

static void
record_pack(unsigned char *out, const struct lt_history_record *record)
{
	lt_put_u64(out, record->key.hash);
	lt_put_u32(out + 8, record->key.uid);
	lt_put_u32(out + 12, record->figures.runs);
	lt_put_u32(out + 16, record->figures.median);
	lt_put_u32(out + 20, record->figures.upper);
	lt_put_u32(out + 24, record->figures.upper_is_longest ? FLAG_LONGEST : 0);
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
	return compare_keys(
	    ((const struct lt_history_record *)a)->key, ((const struct lt_history_record *)b)->key);
}

static uint32_t
used_in(uint32_t count, uint32_t block)
{
	const uint32_t left = count - block * BLOCK_RECORDS;

	return left < BLOCK_RECORDS ? left : BLOCK_RECORDS;
}

static uint32_t
blocks_of(uint32_t count)
{
	return (count + BLOCK_RECORDS - 1) / BLOCK_RECORDS;
}

/* Packs the index; the records are sorted. */
static void
index_pack(unsigned char *out, const struct lt_history_record *records, uint32_t block_count)
{
	for (uint32_t b = 0; b < block_count; b++) {
		const struct lt_history_key key = records[b * BLOCK_RECORDS].key;

		lt_put_u64(out + (size_t)b * KEY_BYTES, key.hash);
		lt_put_u32(out + (size_t)b * KEY_BYTES + 8, key.uid);
	}
}

static int
write_blocks(struct lt_replace *replace, const struct lt_history_record *records, uint32_t count,
    uint64_t generation, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t b = 0; code == LT_OK && b * BLOCK_RECORDS < count; b++) {
		unsigned char block[BLOCK_BYTES] = {0};
		const uint32_t used = used_in(count, b);

		for (uint32_t i = 0; i < used; i++)
			record_pack(block + i * RECORD_BYTES, &records[b * BLOCK_RECORDS + i]);
		lt_put_u32(block + AT_USED, used);
		lt_put_u32(block + AT_CRC, block_crc(block, generation, b));
		code = lt_replace_write(replace, block, sizeof(block), err);
	}
	return code;
}

int
lt_history_write(const char *path, struct lt_history_record *records, uint32_t count,
    int64_t now_utc_s, struct lt_error *err)
{
	if (count > LT_HISTORY_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "history: %u groups, limit %d", count, LT_HISTORY_MAX);
	if (count > 1)
		qsort(records, count, sizeof(*records), by_key);
	for (uint32_t i = 1; i < count; i++)
		if (by_key(&records[i - 1], &records[i]) == 0)
			return lt_fail(err, LT_EINPUT, "history: a group is there twice");
	const uint32_t blocks = blocks_of(count);
	const size_t index_bytes = (size_t)blocks * KEY_BYTES;
	unsigned char *const head = malloc(HEAD_BYTES + index_bytes);
	if (head == NULL)
		return lt_fail(err, LT_ENOMEM, "history: out of memory");
	index_pack(head + HEAD_BYTES, records, blocks);
	const struct lt_section sections[SECTIONS] = {
	    {.id = SECTION_INDEX,
		.count = blocks,
		.offset = HEAD_BYTES,
		.length = index_bytes,
		.crc = lt_crc32c(0, head + HEAD_BYTES, index_bytes)},
	    {.id = SECTION_BLOCKS,
		.count = count,
		.offset = HEAD_BYTES + index_bytes,
		.length = (uint64_t)blocks * BLOCK_BYTES}};
	const struct lt_header header = {.generation = (uint64_t)now_utc_s,
	    .created_utc_s = now_utc_s,
	    .section_count = SECTIONS,
	    .total_bytes = sections[1].offset + sections[1].length};
	struct lt_replace replace;

	lt_header_pack(head, magic, &header, sections);
	int code = lt_replace_begin(&replace, path, 0600, err);
	if (code == LT_OK)
		code = lt_replace_write(&replace, head, HEAD_BYTES + index_bytes, err);
	if (code == LT_OK)
		code = write_blocks(&replace, records, count, header.generation, err);
	free(head);
	return code == LT_OK ? lt_replace_commit(&replace, err) : code;
}

/* The index, and what the two sections must have of each other. */
static int
read_index(struct lt_history_file *file, struct lt_container *reader, struct lt_error *err)
{
	const struct lt_section *const blocks = &reader->sections[1];
	struct lt_coder coder;
	int code = lt_container_section(reader, 0, &coder, err);

	if (code != LT_OK)
		return code;
	for (uint32_t b = 0; b < file->block_count; b++) {
		struct lt_history_key *const key = &file->firsts[b];

		lt_code_u64(&coder, &key->hash);
		lt_code_u32(&coder, &key->uid);
		if (b > 0 && compare_keys(key[-1], *key) >= 0)
			coder.bad = true;
	}
	code = lt_container_done(reader, &coder, 0, err);
	if (code == LT_OK && blocks->length != (uint64_t)file->block_count * BLOCK_BYTES)
		code = lt_fail(err, LT_ECHECKSUM, "history: %u records in %llu bytes",
		    blocks->count, (unsigned long long)blocks->length);
	return code;
}

static int
read_file(struct lt_history_file **file, struct lt_container *reader, struct lt_error *err)
{
	int code = lt_container_expect(reader, 0, SECTION_INDEX, BLOCKS_MAX, err);

	if (code == LT_OK)
		code = lt_container_expect(reader, 1, SECTION_BLOCKS, LT_HISTORY_MAX, err);
	if (code != LT_OK)
		return code;
	const struct lt_section *const blocks = &reader->sections[1];
	const uint32_t block_count = blocks_of(blocks->count);
	struct lt_history_file *const made =
	    calloc(1, sizeof(*made) + block_count * sizeof(made->firsts[0]));

	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "history: out of memory");
	*made = (struct lt_history_file){.fd = reader->source.fd,
	    .generation = reader->header.generation,
	    .blocks_at = blocks->offset,
	    .count = blocks->count,
	    .block_count = block_count};
	code = reader->sections[0].count == block_count
		   ? read_index(made, reader, err)
		   : lt_fail(err, LT_ECHECKSUM, "history: an index of %u for %u blocks",
			 reader->sections[0].count, block_count);
	if (code == LT_OK)
		*file = made;
	else
		free(made);
	return code;
}

int
lt_history_open(struct lt_history_file **file, const char *path, struct lt_error *err)
{
	static const struct lt_container_kind kind = {"history", magic, SECTIONS, FILE_BYTES_MAX};
	struct lt_input source = {0};
	struct lt_container reader;

	source.fd = lt_file_open(path, O_RDONLY, true, &source.size, err);
	if (source.fd < 0)
		return source.fd;
	int code = lt_container_open(&reader, &kind, &source, err);
	if (code == LT_OK) {
		code = read_file(file, &reader, err);
		lt_container_close(&reader);
	}
	if (code != LT_OK)
		close(source.fd);
	return code;
}

void
lt_history_close(struct lt_history_file *file)
{
	if (file == NULL)
		return;
	close(file->fd);
	free(file);
}

/* Read and prove one block: its keys rise, from the index's on. */
static int
read_block(const struct lt_history_file *file, uint32_t index, unsigned char block[BLOCK_BYTES],
    struct lt_error *err)
{
	const uint32_t used = used_in(file->count, index);

	if (lt_pread_all(file->fd, block, BLOCK_BYTES,
		file->blocks_at + (uint64_t)index * BLOCK_BYTES) != LT_OK)
		return lt_fail(err, LT_EIO, "history: can't read block %u", index);
	bool good = lt_get_u32(block + AT_CRC) == block_crc(block, file->generation, index) &&
		    lt_get_u32(block + AT_USED) == used &&
		    compare_keys(key_at(block), file->firsts[index]) == 0;
	for (uint32_t i = 1; good && i < used; i++)
		good = compare_keys(key_at(block + (i - 1) * RECORD_BYTES),
			   key_at(block + i * RECORD_BYTES)) < 0;
	if (!good)
		return lt_fail(err, LT_ECHECKSUM, "history: block %u is damaged", index);
	return LT_OK;
}

static int
find_figures(struct lt_history_figures *figures, struct lt_history_key key,
    const struct lt_history_file *file, struct lt_error *err)
{
	unsigned char block[BLOCK_BYTES];
	uint32_t low = 0, high = file->block_count;

	while (low < high) { /* the first block that begins after the key */
		const uint32_t middle = low + (high - low) / 2;

		if (compare_keys(file->firsts[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return LT_OK;
	const int code = read_block(file, low - 1, block, err);
	for (uint32_t i = 0; code == LT_OK && i < used_in(file->count, low - 1); i++)
		if (compare_keys(key, key_at(block + i * RECORD_BYTES)) == 0)
			record_unpack(figures, block + i * RECORD_BYTES);
	return code;
}

/* lt_history_expect() asks no wider group then. */
static bool
tells_all(const struct lt_history_figures *figures)
{
	return figures->runs >= LT_HISTORY_RUNS_LEAST && !figures->upper_is_longest;
}

int
lt_history_find(struct lt_history_figures figures[LT_HISTORY_GROUPS],
    const struct lt_history_key keys[LT_HISTORY_GROUPS], const struct lt_history_file *file,
    struct lt_error *err)
{
	const size_t size = LT_HISTORY_GROUPS * sizeof(*figures);
	int code = LT_OK;

	memset(figures, 0, size);
	for (int i = 0; code == LT_OK && i < LT_HISTORY_GROUPS; i++) {
		code = find_figures(&figures[i], keys[i], file, err);
		if (tells_all(&figures[i]))
			break;
	}
	if (code != LT_OK)
		memset(figures, 0, size);
	return code;
}

int
lt_history_find_one(struct lt_history_figures *figures, struct lt_history_key key,
    const struct lt_history_file *file, struct lt_error *err)
{
	*figures = (struct lt_history_figures){0};
	return find_figures(figures, key, file, err);
}
