/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The payload of lowtided's answer to /v1/market: a market as its one page. For impostor.c and
 * tests/unit/test_follow.c, each of whom seals it.
 */
#ifndef LT_TEST_MARKET_PAGE_H
#define LT_TEST_MARKET_PAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

/* The caller frees it; NULL: err says why. */
static inline char *
market_page(const struct lt_market *of, struct lt_error *err)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char *bytes;
	size_t size, used;

	if (lt_market_pack(of, &bytes, &size, err) != LT_OK)
		return NULL;
	char *const text = malloc(size * 2 + 256);
	if (text == NULL)
		abort();
	used = (size_t)sprintf(text,
	    "200\n{\"generation\":%llu,\"offset\":0,\"size\":%zu,\"base64\":\"",
	    (unsigned long long)of->generation, size);
	for (size_t bit = 0; bit < size * 8; bit += 6) {
		unsigned value = 0;

		for (size_t i = bit; i < bit + 6; i++) {
			const unsigned byte = i / 8 < size ? bytes[i / 8] : 0;

			value = value << 1 | (byte >> (7 - i % 8) & 1);
		}
		text[used++] = letters[value];
	}
	strcpy(text + used, "\"}");
	free(bytes);
	return text;
}

#endif
