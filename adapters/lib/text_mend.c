/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words from outside, made fit for logs, terminals and JSON.
 */
#include <string.h>

#include "text_mend.h"

void
lt_error_at(struct lt_error *err, int line, int column)
{
	if (err == NULL || err->line != 0)
		return;
	err->line = line;
	err->column = column;
}

/* Bytes of the UTF-8 character at `at` (RFC 3629); 0 = none that is whole. */
static size_t
character_length(const unsigned char *at)
{
	size_t length = 1;
	unsigned code = at[0];

	if (code < 0x80)
		return code >= ' ' && code != 0x7f;
	if (code >= 0xc2 && code <= 0xdf)
		length = 2;
	else if ((code & 0xf0) == 0xe0)
		length = 3;
	else if (code >= 0xf0 && code <= 0xf4)
		length = 4;
	else
		return 0;
	code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	/* C1 controls, too long a form, surrogates, past the last. */
	if (code < 0xa0 || (length == 3 && code < 0x800) || (length == 4 && code < 0x10000) ||
	    (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
		return 0;
	return length;
}

void
lt_text_mend(char *text)
{
	while (*text != '\0') {
		const size_t length = character_length((const unsigned char *)text);

		if (length == 0)
			*text = '?';
		text += length == 0 ? 1 : length;
	}
}

void
lt_text_whole(char *text)
{
	char *to = text;

	while (*text != '\0') {
		const size_t length = character_length((const unsigned char *)text);

		memmove(to, text, length);
		to += length;
		text += length == 0 ? 1 : length;
	}
	*to = '\0';
}

int
lt_error_mend(struct lt_error *err, int code)
{
	if (err != NULL && code != LT_OK)
		lt_text_mend(err->text);
	return code;
}

int
lt_error_give(struct lt_error *err, int code, const struct lt_error *inner)
{
	return code == LT_OK ? LT_OK : lt_fail(err, (enum lt_code)code, "%s", inner->text);
}
