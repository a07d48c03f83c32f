/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base64 of RFC 4648, six bits a letter: for credentials in headers and for secrets that answers
 * repeat. Decoding stops at the first "=" and refuses any other letter.
 */
#include <string.h>

#include "base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
lt_base64(char *out, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i += 3) {
		const unsigned second = i + 1 < length ? bytes[i + 1] : 0;
		const unsigned third = i + 2 < length ? bytes[i + 2] : 0;
		const unsigned word = (unsigned)bytes[i] << 16 | second << 8 | third;

		*out++ = letters[word >> 18];
		*out++ = letters[word >> 12 & 63];
		*out++ = i + 1 < length ? letters[word >> 6 & 63] : '=';
		*out++ = i + 2 < length ? letters[word & 63] : '=';
	}
	*out = '\0';
}

static int
digit(char c)
{
	const char *const at = c ? strchr(letters, c) : NULL;

	return at != NULL ? (int)(at - letters) : -1;
}

long
lt_base64_decode(unsigned char *out, size_t room, const char *text)
{
	size_t used = 0;
	unsigned word = 0;
	int bits = 0;

	for (; *text && *text != '='; text++) {
		const int value = digit(*text);

		if (value < 0)
			return -1;
		word = (word << 6 | (unsigned)value) & 0xffffff;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		if (used == room)
			return -1;
		out[used++] = (unsigned char)(word >> bits);
	}
	return (long)used;
}
