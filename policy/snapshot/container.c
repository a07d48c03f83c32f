/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coder, the builder and the reader under the files that lowtided compiles. Everything read is
 * bounded and proved before it is believed:
 * file -> reader -> coder -> the struct's own check. See docs/formats.md.
 */
#include "container.h"

#include <unistd.h>
#include <errno.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* ---- reading ---- */

/* Reads all of it, or fails. */
int
lt_pread_all(int fd, void *bytes, size_t byte_count, uint64_t offset)
{
	size_t done = 0;

	while (done < byte_count) {
		const ssize_t got = pread(
		    fd, (unsigned char *)bytes + done, byte_count - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return LT_EIO;
		done += (size_t)got;
	}
	return LT_OK;
}

/* ---- the coder ---- */

enum {
	AT_SECTION_COUNT = 24,
	AT_TOTAL = 32,
	AT_CRC = 60,
	CODER_BYTES_MIN = 4096,
};

unsigned char *
lt_coder_reserve(struct lt_coder *coder, size_t byte_count)
{
	assert(coder->at <= coder->capacity || !coder->writing);

	if (coder->bad || !coder->writing)
		return NULL;
	if (byte_count > coder->capacity - coder->at) {
		size_t capacity = coder->capacity * 2 + byte_count;

		if (capacity < CODER_BYTES_MIN)
			capacity = CODER_BYTES_MIN;
		unsigned char *const out = realloc(coder->out, capacity);
		if (out == NULL) {
			coder->bad = true;
			return NULL;
		}
		coder->out = out;
		coder->capacity = capacity;
	}
	unsigned char *const place = coder->out + coder->at;
	coder->at += byte_count;
	return place;
}

const unsigned char *
lt_coder_take(struct lt_coder *coder, size_t byte_count)
{
	assert(coder->at <= coder->size || coder->writing);

	if (coder->bad || coder->writing)
		return NULL;
	if (byte_count > coder->size - coder->at) {
		coder->bad = true;
		return NULL;
	}
	const unsigned char *const place = coder->in + coder->at;
	coder->at += byte_count;
	return place;
}

void
lt_code_bool(struct lt_coder *coder, bool *value)
{
	unsigned char *const out = lt_coder_reserve(coder, 1);
	const unsigned char *const in = lt_coder_take(coder, 1);

	if (out != NULL)
		*out = *value;
	if (in != NULL) {
		coder->bad |= *in > 1;
		*value = *in == 1;
	}
}

void
lt_code_u32(struct lt_coder *coder, uint32_t *value)
{
	unsigned char *const out = lt_coder_reserve(coder, 4);
	const unsigned char *const in = lt_coder_take(coder, 4);

	if (out != NULL)
		lt_put_u32(out, *value);
	if (in != NULL)
		*value = lt_get_u32(in);
}

void
lt_code_i32(struct lt_coder *coder, int *value)
{
	uint32_t bits = (uint32_t)*value;

	lt_code_u32(coder, &bits);
	*value = (int)bits;
}

void
lt_code_u64(struct lt_coder *coder, uint64_t *value)
{
	unsigned char *const out = lt_coder_reserve(coder, 8);
	const unsigned char *const in = lt_coder_take(coder, 8);

	if (out != NULL)
		lt_put_u64(out, *value);
	if (in != NULL)
		*value = lt_get_u64(in);
}

void
lt_code_i64(struct lt_coder *coder, int64_t *value)
{
	uint64_t bits = (uint64_t)*value;

	lt_code_u64(coder, &bits);
	*value = (int64_t)bits;
}

void
lt_code_f64(struct lt_coder *coder, double *value)
{
	uint64_t bits;

	memcpy(&bits, value, sizeof(bits));
	lt_code_u64(coder, &bits);
	memcpy(value, &bits, sizeof(bits));
}

void
lt_code_text(struct lt_coder *coder, char *text, size_t size)
{
	assert(size > 0);

	unsigned char *const out = lt_coder_reserve(coder, size);
	const unsigned char *const in = lt_coder_take(coder, size);
	if (out != NULL) {
		const size_t length = strnlen(text, size);

		coder->bad |= length == size;
		memset(out, 0, size);
		memcpy(out, text, length);
	}
	if (in != NULL) {
		const size_t length = strnlen((const char *)in, size);

		coder->bad |= length == size;
		for (size_t i = length; i < size; i++)
			coder->bad |= in[i] != 0;
		memcpy(text, in, size);
		text[size - 1] = '\0';
	}
}

/* Over all of header and table but the checksum itself. */
static uint32_t
header_crc(const unsigned char *bytes, uint32_t section_count)
{
	const uint32_t crc = lt_crc32c(0, bytes, AT_CRC);

	return lt_crc32c(
	    crc, bytes + LT_FILE_HEADER_BYTES, (size_t)section_count * LT_FILE_SECTION_BYTES);
}

void
lt_header_pack(unsigned char *out, const char magic[LT_MAGIC_BYTES], const struct lt_header *header,
    const struct lt_section *sections)
{
	assert(header->section_count <= LT_FILE_SECTIONS_MAX);

	memset(out, 0, LT_FILE_HEADER_BYTES);
	memcpy(out, magic, LT_MAGIC_BYTES);
	lt_put_u64(out + LT_AT_GENERATION, header->generation);
	lt_put_u64(out + LT_AT_CREATED, (uint64_t)header->created_utc_s);
	lt_put_u32(out + AT_SECTION_COUNT, header->section_count);
	lt_put_u64(out + AT_TOTAL, header->total_bytes);
	for (uint32_t i = 0; i < header->section_count; i++) {
		unsigned char *const at =
		    out + LT_FILE_HEADER_BYTES + (size_t)i * LT_FILE_SECTION_BYTES;

		lt_put_u32(at, sections[i].id);
		lt_put_u32(at + 4, sections[i].count);
		lt_put_u64(at + 8, sections[i].offset);
		lt_put_u64(at + 16, sections[i].length);
		lt_put_u32(at + 24, sections[i].crc);
		lt_put_u32(at + 28, 0);
	}
	lt_put_u32(out + AT_CRC, header_crc(out, header->section_count));
}

/* The mirror image; false when reserved bytes are set, the checksum is wrong or the sections do not
 * fill the file one after the other. */
static bool
header_unpack(const unsigned char *in, struct lt_header *header, struct lt_section *sections)
{
	header->generation = lt_get_u64(in + LT_AT_GENERATION);
	header->created_utc_s = (int64_t)lt_get_u64(in + LT_AT_CREATED);
	header->total_bytes = lt_get_u64(in + AT_TOTAL);
	if (lt_get_u32(in + AT_CRC) != header_crc(in, header->section_count))
		return false;
	bool good = lt_get_u32(in + AT_SECTION_COUNT + 4) == 0;
	for (int i = AT_TOTAL + 8; i < AT_CRC; i++)
		good = good && in[i] == 0;
	uint64_t next =
	    LT_FILE_HEADER_BYTES + (uint64_t)header->section_count * LT_FILE_SECTION_BYTES;
	for (uint32_t i = 0; i < header->section_count; i++) {
		const unsigned char *const at =
		    in + LT_FILE_HEADER_BYTES + (size_t)i * LT_FILE_SECTION_BYTES;
		struct lt_section *const section = &sections[i];

		section->id = lt_get_u32(at);
		section->count = lt_get_u32(at + 4);
		section->offset = lt_get_u64(at + 8);
		section->length = lt_get_u64(at + 16);
		section->crc = lt_get_u32(at + 24);
		good = good && lt_get_u32(at + 28) == 0 && section->offset == next &&
		       section->length <= header->total_bytes - next;
		if (!good)
			return false;
		next += section->length;
	}
	return good && next == header->total_bytes;
}

int
lt_builder_begin(struct lt_builder *builder, uint32_t section_count, struct lt_error *err)
{
	memset(builder, 0, sizeof(*builder));
	if (section_count > LT_FILE_SECTIONS_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "%u sections, limit %d", section_count, LT_FILE_SECTIONS_MAX);
	builder->sections = calloc(section_count, sizeof(*builder->sections));
	if (builder->sections == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory for %u sections", section_count);
	builder->section_count = section_count;
	builder->coder.writing = true;
	(void)lt_coder_reserve(
	    &builder->coder, LT_FILE_HEADER_BYTES + (size_t)section_count * LT_FILE_SECTION_BYTES);
	return LT_OK;
}

void
lt_builder_end_section(struct lt_builder *builder, uint32_t id, uint32_t count)
{
	struct lt_coder *const coder = &builder->coder;

	if (coder->bad || builder->ended == builder->section_count) {
		coder->bad = true;
		return;
	}
	struct lt_section *const section = &builder->sections[builder->ended];
	section->id = id;
	section->count = count;
	section->offset =
	    LT_FILE_HEADER_BYTES + (uint64_t)builder->section_count * LT_FILE_SECTION_BYTES;
	if (builder->ended > 0)
		section->offset = section[-1].offset + section[-1].length;
	section->length = coder->at - section->offset;
	section->crc = lt_crc32c(0, coder->out + section->offset, section->length);
	builder->ended++;
}

int
lt_builder_finish(struct lt_builder *builder, const struct lt_stamp *stamp, unsigned char **bytes,
    size_t *byte_count, struct lt_error *err)
{
	struct lt_coder *const coder = &builder->coder;
	int code = LT_OK;

	if (coder->bad)
		code = lt_fail(err, LT_EBUG, "a text without an end, or no memory");
	else if (builder->ended != builder->section_count)
		code = lt_fail(
		    err, LT_EBUG, "%u sections of %u", builder->ended, builder->section_count);
	else if (coder->at > LT_FILE_BYTES_MAX)
		code = lt_fail(err, LT_ELIMIT, "%zu bytes, limit %d", coder->at, LT_FILE_BYTES_MAX);
	if (code == LT_OK) {
		const struct lt_header header = {
		    .generation = stamp->generation,
		    .created_utc_s = stamp->created_utc_s,
		    .section_count = builder->section_count,
		    .total_bytes = coder->at,
		};

		lt_header_pack(coder->out, stamp->magic, &header, builder->sections);
		*bytes = coder->out;
		*byte_count = coder->at;
	} else {
		free(coder->out);
	}
	free(builder->sections);
	memset(builder, 0, sizeof(*builder));
	return code;
}

/* byte_count bytes of the source into scratch (or lent from memory). */
static int
fetch_section(struct lt_container *reader, uint64_t offset, size_t byte_count,
    const unsigned char **bytes, struct lt_error *err)
{
	if (offset > reader->source.size || byte_count > reader->source.size - offset)
		return lt_fail(err, LT_ECHECKSUM, "%s: %zu bytes wanted at %llu, the file has %llu",
		    reader->what, byte_count, (unsigned long long)offset,
		    (unsigned long long)reader->source.size);
	if (byte_count == 0) {
		*bytes = (const unsigned char *)"";
		return LT_OK;
	}
	if (reader->source.bytes != NULL) {
		*bytes = reader->source.bytes + offset;
		return LT_OK;
	}
	if (byte_count > reader->scratch_size) {
		free(reader->scratch);
		reader->scratch = malloc(byte_count);
		reader->scratch_size = reader->scratch != NULL ? byte_count : 0;
		if (reader->scratch == NULL)
			return lt_fail(err, LT_ENOMEM, "%s: no memory for %zu bytes", reader->what,
			    byte_count);
	}
	if (lt_pread_all(reader->source.fd, reader->scratch, byte_count, offset) != LT_OK)
		return lt_fail(err, LT_EIO, "%s: can't read %zu bytes at %llu", reader->what,
		    byte_count, (unsigned long long)offset);
	*bytes = reader->scratch;
	return LT_OK;
}

static int
read_header(struct lt_container *reader, const struct lt_container_kind *kind, struct lt_error *err)
{
	const char *const magic = kind->magic;
	const unsigned char *bytes;
	int code = fetch_section(reader, 0, LT_FILE_HEADER_BYTES, &bytes, err);

	if (code != LT_OK)
		return code;
	if (magic != NULL && memcmp(bytes, magic, LT_MAGIC_BYTES) != 0)
		return lt_fail(err, LT_EVERSION,
		    "%s: starts with another magic than \"%.7s\": made by another version?",
		    reader->what, magic);
	const uint32_t section_count = lt_get_u32(bytes + AT_SECTION_COUNT);
	if (section_count == 0 || section_count > kind->sections_max)
		return lt_fail(err, LT_ELIMIT, "%s: %u sections, want 1 to %u", reader->what,
		    section_count, kind->sections_max);
	code = fetch_section(reader, 0,
	    LT_FILE_HEADER_BYTES + (size_t)section_count * LT_FILE_SECTION_BYTES, &bytes, err);
	if (code != LT_OK)
		return code;
	reader->header.section_count = section_count;
	reader->sections = calloc(section_count, sizeof(*reader->sections));
	if (reader->sections == NULL)
		return lt_fail(
		    err, LT_ENOMEM, "%s: no memory for %u sections", reader->what, section_count);
	if (!header_unpack(bytes, &reader->header, reader->sections) ||
	    reader->header.total_bytes != reader->source.size)
		return lt_fail(err, LT_ECHECKSUM,
		    "%s: header or section table is damaged, or the file was cut (%llu bytes)",
		    reader->what, (unsigned long long)reader->source.size);
	return LT_OK;
}

int
lt_container_open(struct lt_container *reader, const struct lt_container_kind *kind,
    const struct lt_input *source, struct lt_error *err)
{
	memset(reader, 0, sizeof(*reader));
	reader->what = kind->what;
	reader->source = *source;
	int code;
	if (source->size > kind->bytes_max)
		code = lt_fail(err, LT_ELIMIT, "%s: %llu bytes, limit %llu", kind->what,
		    (unsigned long long)source->size, (unsigned long long)kind->bytes_max);
	else
		code = read_header(reader, kind, err);
	if (code != LT_OK)
		lt_container_close(reader);
	return code;
}

void
lt_container_close(struct lt_container *reader)
{
	free(reader->sections);
	free(reader->scratch);
	memset(reader, 0, sizeof(*reader));
}

int
lt_container_expect(const struct lt_container *reader, uint32_t index, uint32_t id,
    uint32_t count_max, struct lt_error *err)
{
	if (index >= reader->header.section_count)
		return lt_fail(err, LT_ECHECKSUM, "%s: section %u is missing", reader->what, id);
	const struct lt_section *const section = &reader->sections[index];
	if (section->id != id)
		return lt_fail(err, LT_ECHECKSUM, "%s: section %u is of kind %u, want %u",
		    reader->what, index, section->id, id);
	if (section->count > count_max)
		return lt_fail(err, LT_ELIMIT, "%s: section %u has %u records, limit %u",
		    reader->what, id, section->count, count_max);
	return LT_OK;
}

int
lt_container_section(
    struct lt_container *reader, uint32_t index, struct lt_coder *coder, struct lt_error *err)
{
	assert(index < reader->header.section_count);

	const struct lt_section *const section = &reader->sections[index];
	const unsigned char *bytes = NULL;
	const int code = fetch_section(reader, section->offset, section->length, &bytes, err);
	if (code != LT_OK)
		return code;
	if (lt_crc32c(0, bytes, section->length) != section->crc)
		return lt_fail(err, LT_ECHECKSUM, "%s: section %u (kind %u) is damaged",
		    reader->what, index, section->id);
	*coder =
	    (struct lt_coder){.is_before = reader->is_before, .in = bytes, .size = section->length};
	return LT_OK;
}

int
lt_container_done(const struct lt_container *reader, const struct lt_coder *coder, uint32_t index,
    struct lt_error *err)
{
	assert(index < reader->header.section_count);

	if (!coder->bad && coder->at == coder->size)
		return LT_OK;
	return lt_fail(err, LT_ECHECKSUM,
	    "%s: section %u (kind %u) has a wrong length or a damaged field", reader->what, index,
	    reader->sections[index].id);
}
