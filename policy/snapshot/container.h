/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared parts of the market, budget and terms files: header, section table and checksums, and
 * a coder whose one function per record both packs and unpacks, so that the two can't differ.
 * Private; docs/formats.md.
 */
#ifndef LT_CONTAINER_H
#define LT_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "error.h"

enum {
	LT_MAGIC_BYTES = 8,
	LT_AT_GENERATION = 8, /* in the header */
	LT_AT_CREATED = 16,
	LT_FILE_HEADER_BYTES = 64,
	LT_FILE_SECTION_BYTES = 32,
	LT_FILE_SECTIONS_MAX = 16 + LT_SERIES_MAX, /* more: refused */
};

/*
 * The coder. Writing: appends to memory that grows. Reading: takes from `in`. After a failure (bad)
 * all calls do nothing, so it is asked once, at the end.
 */
struct lt_coder {
	bool writing, bad;
	bool is_before;	    /* the file is of the version before this one */
	unsigned char *out; /* malloc'd */
	size_t capacity;
	const unsigned char *in;
	size_t size; /* of in */
	size_t at;
};

/* Room for byte_count bytes of `out` (NULL when reading or bad). */
unsigned char *lt_coder_reserve(struct lt_coder *coder, size_t byte_count);
/* The next byte_count bytes of `in` (NULL when writing or too short). */
const unsigned char *lt_coder_take(struct lt_coder *coder, size_t byte_count);

void lt_code_bool(struct lt_coder *coder, bool *value);
void lt_code_u32(struct lt_coder *coder, uint32_t *value);
void lt_code_i32(struct lt_coder *coder, int *value);
void lt_code_u64(struct lt_coder *coder, uint64_t *value);
void lt_code_i64(struct lt_coder *coder, int64_t *value);
void lt_code_f64(struct lt_coder *coder, double *value);
/* size bytes, ended by NUL and filled up with NUL. */
void lt_code_text(struct lt_coder *coder, char *text, size_t size);

static inline void
lt_put_u32(unsigned char *out, uint32_t value)
{
	out[0] = (unsigned char)value;
	out[1] = (unsigned char)(value >> 8);
	out[2] = (unsigned char)(value >> 16);
	out[3] = (unsigned char)(value >> 24);
}

static inline void
lt_put_u64(unsigned char *out, uint64_t value)
{
	lt_put_u32(out, (uint32_t)value);
	lt_put_u32(out + 4, (uint32_t)(value >> 32));
}

static inline uint32_t
lt_get_u32(const unsigned char *in)
{
	return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
	       (uint32_t)in[3] << 24;
}

static inline uint64_t
lt_get_u64(const unsigned char *in)
{
	return lt_get_u32(in) | (uint64_t)lt_get_u32(in + 4) << 32;
}

static inline void
lt_put_f64(unsigned char *out, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	lt_put_u64(out, bits);
}

static inline double
lt_get_f64(const unsigned char *in)
{
	const uint64_t bits = lt_get_u64(in);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

struct lt_section {
	uint32_t id, count;
	uint64_t offset, length;
	uint32_t crc;
};

struct lt_header {
	uint64_t generation;
	int64_t created_utc_s;
	uint32_t section_count;
	uint64_t total_bytes;
};

/* Header and section table as bytes; out has
 * LT_FILE_HEADER_BYTES + section_count * LT_FILE_SECTION_BYTES. */
void lt_header_pack(unsigned char *out, const char magic[LT_MAGIC_BYTES],
    const struct lt_header *header, const struct lt_section *sections);

/* Building a file in memory: begin, then for each section code its records
 * and end it, then finish. After finish coder->out is the file (caller's). */
struct lt_builder {
	struct lt_coder coder;
	struct lt_section *sections; /* malloc'd */
	uint32_t section_count, ended;
};

int lt_builder_begin(struct lt_builder *builder, uint32_t section_count, struct lt_error *err);
void lt_builder_end_section(struct lt_builder *builder, uint32_t id, uint32_t count);
struct lt_stamp {
	const char *magic; /* LT_MAGIC_BYTES */
	uint64_t generation;
	int64_t created_utc_s;
};
/* Frees all but *bytes, which is written on success only. */
int lt_builder_finish(struct lt_builder *builder, const struct lt_stamp *stamp,
    unsigned char **bytes, size_t *byte_count, struct lt_error *err);

/* Source of a file's bytes: a descriptor or, when bytes is set, memory. */
struct lt_input {
	int fd;
	const unsigned char *bytes;
	uint64_t size;
};

struct lt_container {
	const char *what; /* "market", for messages */
	bool is_before;	  /* set by who opened it; its coders have it */
	struct lt_input source;
	struct lt_header header;
	struct lt_section *sections; /* malloc'd */
	unsigned char *scratch;	     /* the last section read from a file */
	size_t scratch_size;
};

struct lt_container_kind {
	const char *what;  /* for messages */
	const char *magic; /* LT_MAGIC_BYTES; NULL = any */
	uint32_t sections_max;
	uint64_t bytes_max;
};
/*
 * Reads and proves header and section table: magic, reserved bytes, checksum, size, sections one
 * after the other without a gap, the bounds of the kind. On failure nothing stays; else
 * lt_container_close() frees.
 */
int lt_container_open(struct lt_container *reader, const struct lt_container_kind *kind,
    const struct lt_input *source, struct lt_error *err);
void lt_container_close(struct lt_container *reader);

/* LT_ECHECKSUM unless section `index` has this id, LT_ELIMIT unless it has at most count_max
 * records. */
int lt_container_expect(const struct lt_container *reader, uint32_t index, uint32_t id,
    uint32_t count_max, struct lt_error *err);

/* Reads section `index` and proves its checksum; *coder then reads it. Lent until the next call. */
int lt_container_section(
    struct lt_container *reader, uint32_t index, struct lt_coder *coder, struct lt_error *err);

/* LT_ECHECKSUM unless all of the section was taken and nothing bad. */
int lt_container_done(const struct lt_container *reader, const struct lt_coder *coder,
    uint32_t index, struct lt_error *err);

/* access: O_RDONLY or O_RDWR. It must be a plain file; with `is_private` the caller's own and 0600,
 * else not writable for group or others. Returns the descriptor or a negative code. */
int lt_file_open(
    const char *path, int access, bool is_private, uint64_t *size, struct lt_error *err);
int lt_pread_all(int fd, void *bytes, size_t byte_count, uint64_t offset);

/* Replaces a file whole: begin, write, then commit (fsync, rename, fsync the directory). What fails
 * leaves the old file. */
struct lt_replace {
	int fd;
	const char *path;
	char new_path[4096];
};
int lt_replace_begin(
    struct lt_replace *replace, const char *path, mode_t mode, struct lt_error *err);
int lt_replace_write(
    struct lt_replace *replace, const void *bytes, size_t byte_count, struct lt_error *err);
int lt_replace_commit(struct lt_replace *replace, struct lt_error *err);
/* Drops a replacement that was not committed; it leaves nothing. */
void lt_replace_drop(struct lt_replace *replace);
int lt_directory_sync(const char *path, struct lt_error *err);

#endif
