/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the checksums, offsets and size of a fuzzed container file right, so that fuzzing reaches
 * the code behind them.
 */
#ifndef LT_MEND_H
#define LT_MEND_H

#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "units.h"

/* A mended copy (free it), or NULL when there is no whole section table. */
static inline unsigned char *
mend_container(const uint8_t *bytes, size_t byte_count)
{
	struct lt_header header = {.total_bytes = byte_count};
	struct lt_section sections[64];

	if (byte_count < LT_FILE_HEADER_BYTES)
		return NULL;
	header.generation = lt_get_u64(bytes + 8);
	header.created_utc_s = (int64_t)lt_get_u64(bytes + 16);
	header.section_count = lt_get_u32(bytes + 24);
	uint64_t next =
	    LT_FILE_HEADER_BYTES + (uint64_t)header.section_count * LT_FILE_SECTION_BYTES;
	if (header.section_count > 64 || next > byte_count)
		return NULL;
	for (uint32_t i = 0; i < header.section_count; i++) {
		const uint8_t *const at =
		    bytes + LT_FILE_HEADER_BYTES + (size_t)i * LT_FILE_SECTION_BYTES;
		uint64_t length = lt_get_u64(at + 16);

		if (length > byte_count - next || i + 1 == header.section_count)
			length = byte_count - next;
		sections[i] = (struct lt_section){lt_get_u32(at), lt_get_u32(at + 4), next, length,
		    lt_crc32c(0, bytes + next, length)};
		next += length;
	}
	unsigned char *const copy = malloc(byte_count);
	if (copy == NULL)
		abort();
	memcpy(copy, bytes, byte_count);
	lt_header_pack(copy, (const char *)bytes, &header, sections);
	return copy;
}

#endif
