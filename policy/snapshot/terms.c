/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Terms of live jobs: written whole by lowtided, looked up one at a time by job_modify, which reads
 * some blocks and not the file. docs/formats.md.
 */
#include "terms.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container.h"
#include "units.h"

static const char magic[LT_MAGIC_BYTES + 1] = "LTTRM05\n";

enum {
	SECTION_BLOCKS = 1,
	TAIL_BYTES = 16, /* records used, reserved, checksum */
	AT_USED = LT_TERMS_BLOCK * LT_TERMS_RECORD_BYTES,
	AT_CRC = AT_USED + TAIL_BYTES - 4,
	BLOCK_BYTES = AT_USED + TAIL_BYTES,
	BLOCKS_MAX = LT_TERMS_MAX / LT_TERMS_BLOCK,
	BLOCKS_AT = LT_FILE_HEADER_BYTES + LT_FILE_SECTION_BYTES,
	FILE_BYTES_MAX = BLOCKS_AT + BLOCKS_MAX * BLOCK_BYTES,
	BLOCKS_A_START = 80, /* 1 MiB */
};
#define FIELD(name) +4
enum { AT_PARTITIONS = 76, AT_ASKED = 92 };
enum { AT_MEMORY = AT_ASKED LT_TERMS_ASKED(FIELD) };
#undef FIELD
_Static_assert(AT_MEMORY + 32 == LT_TERMS_RECORD_BYTES, "docs/formats.md");
_Static_assert(LT_TERMS_MAX % LT_TERMS_BLOCK == 0, "whole blocks");

static void
record_pack(unsigned char *out, const struct lt_terms *terms)
{
	const struct lt_terms_asked *const asked = &terms->asked;

	lt_put_u32(out, terms->job_id);
	lt_put_u32(out + 4, terms->uid);
	lt_put_u64(out + 8, terms->quote_id);
	lt_put_u64(out + 16, (uint64_t)terms->hold_money_micros);
	lt_put_u64(out + 24, (uint64_t)terms->hold_carbon_mg);
	lt_put_u32(out + 32, terms->account_hash);
	lt_put_u32(out + 36, terms->limit_s);
	lt_put_u32(out + 40, terms->tasks);
	lt_put_u32(out + 44, terms->flags);
	lt_put_u64(out + 48, (uint64_t)terms->start_utc_s);
	lt_put_u64(out + 56, (uint64_t)terms->end_utc_s);
	lt_put_u64(out + 64, (uint64_t)terms->seen_utc_s);
	lt_put_u32(out + 72, terms->partition_count);
	for (int i = 0; i < LT_TERMS_PARTITIONS; i++)
		lt_put_u32(out + AT_PARTITIONS + 4 * i, terms->partition_hash[i]);
	unsigned char *at = out + AT_ASKED;
#define FIELD(name) lt_put_u32(at, asked->name), at += 4;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	lt_put_u64(out + AT_MEMORY, asked->memory_mib_per_node);
	lt_put_u64(out + AT_MEMORY + 8, asked->memory_mib_per_cpu);
	lt_put_u64(out + AT_MEMORY + 16, asked->memory_mib_per_gpu);
	lt_put_u32(out + AT_MEMORY + 24, terms->qos_hash);
	lt_put_u32(out + AT_MEMORY + 28, terms->name_hash);
}

static void
record_unpack(struct lt_terms *terms, const unsigned char *in)
{
	struct lt_terms_asked *const asked = &terms->asked;

	terms->job_id = lt_get_u32(in);
	terms->uid = lt_get_u32(in + 4);
	terms->quote_id = lt_get_u64(in + 8);
	terms->hold_money_micros = (int64_t)lt_get_u64(in + 16);
	terms->hold_carbon_mg = (int64_t)lt_get_u64(in + 24);
	terms->account_hash = lt_get_u32(in + 32);
	terms->limit_s = lt_get_u32(in + 36);
	terms->tasks = lt_get_u32(in + 40);
	terms->flags = lt_get_u32(in + 44);
	terms->start_utc_s = (int64_t)lt_get_u64(in + 48);
	terms->end_utc_s = (int64_t)lt_get_u64(in + 56);
	terms->seen_utc_s = (int64_t)lt_get_u64(in + 64);
	terms->partition_count = lt_get_u32(in + 72);
	for (int i = 0; i < LT_TERMS_PARTITIONS; i++)
		terms->partition_hash[i] = lt_get_u32(in + AT_PARTITIONS + 4 * i);
	const unsigned char *at = in + AT_ASKED;
#define FIELD(name) asked->name = lt_get_u32(at), at += 4;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	asked->memory_mib_per_node = lt_get_u64(in + AT_MEMORY);
	asked->memory_mib_per_cpu = lt_get_u64(in + AT_MEMORY + 8);
	asked->memory_mib_per_gpu = lt_get_u64(in + AT_MEMORY + 16);
	terms->qos_hash = lt_get_u32(in + AT_MEMORY + 24);
	terms->name_hash = lt_get_u32(in + AT_MEMORY + 28);
}

/* Generation and place are in the checksum: a block of an older file or from elsewhere in this one
 * does not pass. */
static uint32_t
block_crc(const unsigned char *block, uint64_t generation, uint32_t index)
{
	unsigned char seed[12];

	lt_put_u64(seed, generation);
	lt_put_u32(seed + 8, index);
	return lt_crc32c(lt_crc32c(0, seed, sizeof(seed)), block, AT_CRC);
}

static int
by_job(const void *a, const void *b)
{
	const uint32_t x = ((const struct lt_terms *)a)->job_id;
	const uint32_t y = ((const struct lt_terms *)b)->job_id;

	return (x > y) - (x < y);
}

struct lt_terms_writer {
	struct lt_replace replace;
	uint64_t generation;
	uint32_t count, last_id;
	unsigned char block[BLOCK_BYTES];
};

static uint32_t
blocks_of(uint32_t count)
{
	return (count + LT_TERMS_BLOCK - 1) / LT_TERMS_BLOCK;
}

static int
write_head(struct lt_terms_writer *writer, struct lt_error *err)
{
	unsigned char head[BLOCKS_AT];
	const struct lt_section section = {
	    .id = SECTION_BLOCKS,
	    .count = writer->count,
	    .offset = BLOCKS_AT,
	    .length = (uint64_t)blocks_of(writer->count) * BLOCK_BYTES,
	};
	const struct lt_header header = {
	    .generation = writer->generation,
	    .section_count = 1,
	    .total_bytes = BLOCKS_AT + section.length,
	};

	lt_header_pack(head, magic, &header, &section);
	(void)lseek(writer->replace.fd, 0, SEEK_SET);
	return lt_replace_write(&writer->replace, head, sizeof(head), err);
}

/* The block with the last record. */
static int
write_block(struct lt_terms_writer *writer, struct lt_error *err)
{
	const uint32_t index = (writer->count - 1) / LT_TERMS_BLOCK;
	unsigned char *const block = writer->block;

	lt_put_u32(block + AT_USED, writer->count - index * LT_TERMS_BLOCK);
	lt_put_u32(block + AT_CRC, block_crc(block, writer->generation, index));
	const int code = lt_replace_write(&writer->replace, block, BLOCK_BYTES, err);
	memset(block, 0, BLOCK_BYTES);
	/* The disk begins now, so that who waits for it at the end waits for the last of it. */
	if (code == LT_OK && index % BLOCKS_A_START == BLOCKS_A_START - 1)
		(void)sync_file_range(writer->replace.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return code;
}

int
lt_terms_begin(
    struct lt_terms_writer **writer, const char *path, uint64_t generation, struct lt_error *err)
{
	struct lt_terms_writer *const w = calloc(1, sizeof(*w));

	*writer = NULL;
	if (w == NULL)
		return lt_fail(err, LT_ENOMEM, "terms: out of memory");
	w->generation = generation;
	int code = lt_replace_begin(&w->replace, path, 0600, err);
	if (code == LT_OK)
		code = write_head(w, err); /* its place */
	if (code != LT_OK) {
		lt_terms_drop(w);
		return code;
	}
	*writer = w;
	return LT_OK;
}

static int
too_many(struct lt_error *err)
{
	return lt_fail(err, LT_ELIMIT, "terms: more than %d live jobs", LT_TERMS_MAX);
}

int
lt_terms_add(struct lt_terms_writer *writer, const struct lt_terms *terms, struct lt_error *err)
{
	const uint32_t in_block = writer->count % LT_TERMS_BLOCK;

	assert(writer->count == 0 || writer->last_id <= terms->job_id);
	if (writer->count == LT_TERMS_MAX)
		return too_many(err);
	if (writer->count > 0 && writer->last_id == terms->job_id)
		return lt_fail(err, LT_EINPUT, "terms: job %u is there twice", terms->job_id);
	record_pack(writer->block + in_block * LT_TERMS_RECORD_BYTES, terms);
	writer->last_id = terms->job_id;
	writer->count++;
	return in_block == LT_TERMS_BLOCK - 1 ? write_block(writer, err) : LT_OK;
}

int
lt_terms_end(struct lt_terms_writer *writer, struct lt_error *err)
{
	int code = LT_OK;

	if (writer->count % LT_TERMS_BLOCK != 0)
		code = write_block(writer, err);
	if (code == LT_OK)
		code = write_head(writer, err);
	if (code == LT_OK)
		code = lt_replace_commit(&writer->replace, err);
	lt_terms_drop(writer);
	return code;
}

void
lt_terms_drop(struct lt_terms_writer *writer)
{
	if (writer == NULL)
		return;
	lt_replace_drop(&writer->replace);
	free(writer);
}

int
lt_terms_write(const char *path, struct lt_terms *records, uint32_t count, uint64_t generation,
    struct lt_error *err)
{
	struct lt_terms_writer *writer;

	if (count > LT_TERMS_MAX)
		return too_many(err);
	int code = lt_terms_begin(&writer, path, generation, err);
	if (code != LT_OK)
		return code;
	if (count > 1)
		qsort(records, count, sizeof(*records), by_job);
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		code = lt_terms_add(writer, &records[i], err);
	if (code == LT_OK)
		return lt_terms_end(writer, err);
	lt_terms_drop(writer);
	return code;
}

/* Read and prove one block; *used: its records, strictly rising. */
static int
read_block(const struct lt_container *reader, uint32_t index, unsigned char block[BLOCK_BYTES],
    uint32_t *used, struct lt_error *err)
{
	const uint32_t count = reader->sections[0].count;
	const uint32_t first = index * LT_TERMS_BLOCK;
	uint32_t wanted = count - first;

	if (wanted > LT_TERMS_BLOCK)
		wanted = LT_TERMS_BLOCK;
	if (lt_pread_all(reader->source.fd, block, BLOCK_BYTES,
		BLOCKS_AT + (uint64_t)index * BLOCK_BYTES) != LT_OK)
		return lt_fail(err, LT_EIO, "terms: can't read block %u", index);
	*used = lt_get_u32(block + AT_USED);
	bool good =
	    lt_get_u32(block + AT_CRC) == block_crc(block, reader->header.generation, index) &&
	    *used == wanted;
	for (uint32_t i = 1; good && i < wanted; i++)
		good = lt_get_u32(block + (i - 1) * LT_TERMS_RECORD_BYTES) <
		       lt_get_u32(block + i * LT_TERMS_RECORD_BYTES);
	if (!good)
		return lt_fail(err, LT_ECHECKSUM, "terms: block %u is damaged", index);
	return LT_OK;
}

static int
find_terms(const struct lt_container *reader, uint32_t job_id, struct lt_terms *terms,
    struct lt_error *err)
{
	unsigned char block[BLOCK_BYTES];
	uint32_t low = 0;
	uint32_t high = (uint32_t)(reader->sections[0].length / BLOCK_BYTES);

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		uint32_t used = 0;
		const int code = read_block(reader, middle, block, &used, err);

		if (code != LT_OK)
			return code;
		const unsigned char *const last = block + (used - 1) * LT_TERMS_RECORD_BYTES;
		if (job_id < lt_get_u32(block)) {
			high = middle;
			continue;
		}
		if (job_id > lt_get_u32(last)) {
			low = middle + 1;
			continue;
		}
		for (const unsigned char *at = block; at <= last; at += LT_TERMS_RECORD_BYTES)
			if (lt_get_u32(at) == job_id) {
				record_unpack(terms, at);
				return LT_OK;
			}
		break;
	}
	return lt_fail(err, LT_ENOENT, "terms: job %u is not there", job_id);
}

int
lt_terms_find(const char *path, uint32_t job_id, struct lt_terms *terms, struct lt_error *err)
{
	static const struct lt_container_kind kind = {"terms", magic, 1, FILE_BYTES_MAX};

	memset(terms, 0, sizeof(*terms));
	struct lt_input source = {0};
	source.fd = lt_file_open(path, O_RDONLY, true, &source.size, err);
	if (source.fd < 0)
		return source.fd;
	struct lt_container reader;
	int code = lt_container_open(&reader, &kind, &source, err);
	if (code == LT_OK) {
		code = lt_container_expect(&reader, 0, SECTION_BLOCKS, LT_TERMS_MAX, err);
		const struct lt_section *const section = &reader.sections[0];
		if (code == LT_OK &&
		    section->length != (uint64_t)blocks_of(section->count) * BLOCK_BYTES)
			code = lt_fail(err, LT_ECHECKSUM, "terms: %u records in %llu bytes",
			    section->count, (unsigned long long)section->length);
		if (code == LT_OK)
			code = find_terms(&reader, job_id, terms, err);
		lt_container_close(&reader);
	}
	close(source.fd);
	return code;
}
