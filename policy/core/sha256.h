/*
 * SHA-256 (FIPS 180-4): what stands on a statement, so that two of them can be
 * compared. Not for secrets.
 */
#ifndef LT_SHA256_H
#define LT_SHA256_H

#include <stddef.h>

enum { LT_SHA256_BYTES = 32, LT_SHA256_HEX_SIZE = 2 * LT_SHA256_BYTES + 1 };

void lt_sha256(unsigned char out[LT_SHA256_BYTES], const void *bytes,
    size_t byte_count) __attribute__((nonnull(1)));
/* The same as lower-case hexadecimal digits. Returns out. */
const char *lt_sha256_hex(char out[LT_SHA256_HEX_SIZE], const void *bytes,
    size_t byte_count) __attribute__((nonnull(1)));

#endif
