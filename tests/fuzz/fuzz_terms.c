/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the terms file: whatever its bytes, a look-up finds the job that was asked for, or refuses
 * with a reason.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mend.h"
#include "terms.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

enum {
	BLOCKS_AT = LT_FILE_HEADER_BYTES + LT_FILE_SECTION_BYTES,
	BLOCK_BYTES = LT_TERMS_BLOCK * LT_TERMS_RECORD_BYTES + 16
};

/* lt_terms_find() takes a path of a private file, so each input is one. */
static const char *
file_of(const uint8_t *bytes, size_t byte_count)
{
	static char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/lt-fuzz-terms-%d", (int)getpid());
	(void)unlink(path);
	file = fopen(path, "wb");
	if (file == NULL || fchmod(fileno(file), 0600) != 0 ||
	    fwrite(bytes, 1, byte_count, file) != byte_count || fclose(file) != 0)
		abort();
	return path;
}

static void
try_one(const uint8_t *bytes, size_t byte_count)
{
	const uint32_t ids[] = {0, 1, 3, 64, 65, 100, 193, UINT32_MAX};
	const char *const path = file_of(bytes, byte_count);

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct lt_terms terms;
		struct lt_error err = {0};

		if (lt_terms_find(path, ids[i], &terms, &err) == LT_OK) {
			if (terms.job_id != ids[i])
				__builtin_trap();
		} else if (err.text[0] == '\0') {
			__builtin_trap();
		}
	}
	(void)unlink(path);
}

/* The checksum of each block that is whole. */
static void
mend_blocks(unsigned char *bytes, size_t byte_count)
{
	uint32_t index = 0;

	for (size_t at = BLOCKS_AT; byte_count >= BLOCK_BYTES && at <= byte_count - BLOCK_BYTES;
	     at += BLOCK_BYTES) {
		unsigned char seed[12];

		memcpy(seed, bytes + 8, 8);
		lt_put_u32(seed + 8, index++);
		lt_put_u32(bytes + at + BLOCK_BYTES - 4,
		    lt_crc32c(lt_crc32c(0, seed, sizeof(seed)), bytes + at, BLOCK_BYTES - 4));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	unsigned char *const mended = mend_container(bytes, byte_count);

	try_one(bytes, byte_count);
	if (mended != NULL) {
		mend_blocks(mended, byte_count);
		try_one(mended, byte_count);
	}
	free(mended);
	return 0;
}
