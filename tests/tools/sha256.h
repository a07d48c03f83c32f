/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SHA-256 and HMAC (FIPS 180-4, RFC 2104) for tests: what a server computes to check a signature.
 */
#ifndef LT_SHA256_H
#define LT_SHA256_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64 };

static inline uint32_t
sha256_rotate(uint32_t word, int bits)
{
	return word >> bits | word << (32 - bits);
}

static inline void
sha256_block(uint32_t state[8], const unsigned char *block)
{
	static const uint32_t k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	    0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6,
	    0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
	    0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
	    0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	    0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] =
		    w[i - 16] + w[i - 7] +
		    (sha256_rotate(w[i - 15], 7) ^ sha256_rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
		    (sha256_rotate(w[i - 2], 17) ^ sha256_rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		const uint32_t one =
		    s[7] + k[i] + w[i] + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
		    (sha256_rotate(s[4], 6) ^ sha256_rotate(s[4], 11) ^ sha256_rotate(s[4], 25));
		const uint32_t two =
		    ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2])) +
		    (sha256_rotate(s[0], 2) ^ sha256_rotate(s[0], 13) ^ sha256_rotate(s[0], 22));

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

static inline void
sha256(unsigned char out[SHA256_SIZE], const void *bytes, size_t length)
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
	    0x1f83d9ab, 0x5be0cd19};
	unsigned char last[2 * SHA256_BLOCK] = {0};
	const size_t whole = length / SHA256_BLOCK * SHA256_BLOCK, rest = length - whole,
		     end = rest < 56 ? SHA256_BLOCK : 2 * SHA256_BLOCK;

	for (size_t at = 0; at < whole; at += SHA256_BLOCK)
		sha256_block(state, (const unsigned char *)bytes + at);
	memcpy(last, (const unsigned char *)bytes + whole, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[end - 1 - (size_t)i] = (unsigned char)((uint64_t)length * 8 >> 8 * i);
	for (size_t at = 0; at < end; at += SHA256_BLOCK)
		sha256_block(state, last + at);
	for (int i = 0; i < SHA256_SIZE; i++)
		out[i] = (unsigned char)(state[i / 4] >> 8 * (3 - i % 4));
}

/* key at most a block, text at most 4 KiB. */
static inline void
hmac_sha256(unsigned char out[SHA256_SIZE], const void *key, size_t key_length, const char *text)
{
	unsigned char inner[SHA256_BLOCK + 4096], outer[SHA256_BLOCK + SHA256_SIZE];
	const size_t length = strlen(text);

	memset(inner, 0x36, SHA256_BLOCK);
	memset(outer, 0x5c, SHA256_BLOCK);
	for (size_t i = 0; i < key_length; i++) {
		inner[i] ^= ((const unsigned char *)key)[i];
		outer[i] ^= ((const unsigned char *)key)[i];
	}
	memcpy(inner + SHA256_BLOCK, text, length);
	sha256(outer + SHA256_BLOCK, inner, SHA256_BLOCK + length);
	sha256(out, outer, sizeof(outer));
}

static inline const char *
sha256_hex(char out[65], const unsigned char digest[SHA256_SIZE])
{
	for (int i = 0; i < SHA256_SIZE; i++)
		sprintf(out + 2 * i, "%02x", digest[i]);
	return out;
}

#endif
