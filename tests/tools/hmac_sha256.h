/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HMAC-SHA-256 (RFC 2104) for tests: what a server computes to check a
 * signature.
 */
#ifndef LT_HMAC_SHA256_H
#define LT_HMAC_SHA256_H

#include <string.h>

#include "sha256.h"

enum { HMAC_BLOCK = 64 };

/* key at most a block, text at most 4 KiB. */
static inline void
hmac_sha256(unsigned char out[LT_SHA256_BYTES], const void *key,
    size_t key_length, const char *text)
{
	unsigned char inner[HMAC_BLOCK + 4096],
	    outer[HMAC_BLOCK + LT_SHA256_BYTES];
	const size_t length = strlen(text);

	memset(inner, 0x36, HMAC_BLOCK);
	memset(outer, 0x5c, HMAC_BLOCK);
	for (size_t i = 0; i < key_length; i++) {
		inner[i] ^= ((const unsigned char *)key)[i];
		outer[i] ^= ((const unsigned char *)key)[i];
	}
	memcpy(inner + HMAC_BLOCK, text, length);
	lt_sha256(outer + HMAC_BLOCK, inner, HMAC_BLOCK + length);
	lt_sha256(out, outer, sizeof(outer));
}

#endif
