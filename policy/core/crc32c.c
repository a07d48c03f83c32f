/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC-32C of file sections: by the processor's instruction where it has one, else eight bytes a
 * step from tables. slurmctld checks megabytes with it. Reads the caller's bytes; nothing fails.
 */
#include <string.h>

#include "units.h"

/*
 * Table k holds the checksum of one byte followed by k zero bytes. It is linear in the byte's bits:
 * eight numbers give all 256 by exclusive or.
 */
#define ROW1(x, a) (x), (x) ^ (a)
#define ROW2(x, a, b) ROW1(x, a), ROW1((x) ^ (b), a)
#define ROW3(x, a, b, c) ROW2(x, a, b), ROW2((x) ^ (c), a, b)
#define ROW4(x, a, b, c, d) ROW3(x, a, b, c), ROW3((x) ^ (d), a, b, c)
#define ROW5(x, a, b, c, d, e) ROW4(x, a, b, c, d), ROW4((x) ^ (e), a, b, c, d)
#define ROW6(x, a, b, c, d, e, f) ROW5(x, a, b, c, d, e), ROW5((x) ^ (f), a, b, c, d, e)
#define ROW7(x, a, b, c, d, e, f, g) ROW6(x, a, b, c, d, e, f), ROW6((x) ^ (g), a, b, c, d, e, f)
#define ROW(a, b, c, d, e, f, g, h)                                                                \
	{                                                                                          \
		ROW7(0u, a, b, c, d, e, f, g), ROW7(0u ^ (h), a, b, c, d, e, f, g)                 \
	}

static const uint32_t table[8][256] = {
    ROW(0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu, 0x20bd8edeu, 0x417b1dbcu,
	0x82f63b78u),
    ROW(0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, 0x3fc5f181u, 0x7f8be302u, 0xff17c604u,
	0xfbc3faf9u),
    ROW(0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, 0x70a27d8au, 0xe144fb14u, 0xc76580d9u,
	0x8b277743u),
    ROW(0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, 0xe964b13du, 0xd725148bu, 0xaba65fe7u,
	0x52a0c93fu),
    ROW(0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u, 0x8f2261d3u, 0x1ba8b557u, 0x37516aaeu,
	0x6ea2d55cu),
    ROW(0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu, 0xc00c303eu, 0x85f4168du, 0x0e045bebu,
	0x1c08b7d6u),
    ROW(0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u, 0x9c5bfaa6u, 0x3d5b83bdu, 0x7ab7077au,
	0xf56e0ef4u),
    ROW(0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau, 0x847609b4u, 0x0d006599u, 0x1a00cb32u,
	0x34019664u),
};

static uint32_t
by_table(uint32_t state, const unsigned char *bytes, size_t byte_count)
{
	for (; byte_count >= 8; bytes += 8, byte_count -= 8) {
		const uint32_t low =
		    state ^ ((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
				(uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);

		state = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
			table[4][low >> 24] ^ table[3][bytes[4]] ^ table[2][bytes[5]] ^
			table[1][bytes[6]] ^ table[0][bytes[7]];
	}
	for (; byte_count > 0; bytes++, byte_count--)
		state = state >> 8 ^ table[0][(state ^ *bytes) & 255];
	return state;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t state, const unsigned char *bytes, size_t byte_count)
{
	uint64_t wide = state;

	for (; byte_count >= 8; bytes += 8, byte_count -= 8) {
		unsigned long long word;

		memcpy(&word, bytes, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	state = (uint32_t)wide;
	for (; byte_count > 0; bytes++, byte_count--)
		state = __builtin_ia32_crc32qi(state, *bytes);
	return state;
}
#endif

uint32_t
lt_crc32c(uint32_t crc, const void *bytes, size_t byte_count)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return ~by_instruction(~crc, bytes, byte_count);
#endif
	return ~by_table(~crc, bytes, byte_count);
}
