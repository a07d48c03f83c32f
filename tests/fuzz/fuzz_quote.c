/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes admin_comment: a quote that is read packs again to the very text
 * that was read, its candidates and its kind alone too, and merging keeps what
 * others wrote, once and for all.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "quote.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

static const char ours[] = "lowtide:1 q=00000000000000ff;";

/* Read candidates are written again as they were. */
static void
try_why(const char *text, size_t length)
{
	struct lt_whys whys;
	struct lt_error err = {0};
	char *const again = malloc(length + 1);

	if (again == NULL)
		abort();
	if (lt_why_unpack(&whys, text, length, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap();
	} else if (lt_why_pack(again, length + 1, &whys) != LT_OK ||
		   memcmp(again, text, length) != 0) {
		__builtin_trap();
	}
	free(again);
}

static void
try_run(const char *text, size_t length)
{
	struct lt_quote_run run;
	struct lt_error err = {0};
	char again[LT_RUN_TEXT_SIZE];

	if (lt_quote_run_unpack(&run, text, length, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap();
	} else if (lt_quote_run_pack(again, sizeof(again), &run) != LT_OK ||
		   strlen(again) != length || memcmp(again, text, length) != 0) {
		__builtin_trap();
	}
}

static void
try_unpack(const char *text, size_t length)
{
	struct lt_quote quote;
	struct lt_error err = {0};
	char again[2 * LT_QUOTE_TEXT_SIZE];

	if (lt_quote_unpack(&quote, text, length, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap();
		return;
	}
	if (lt_quote_pack(again, sizeof(again), &quote) != LT_OK ||
	    memmem(text, length, again, strlen(again)) == NULL)
		__builtin_trap();
	try_why(quote.why, strlen(quote.why));
	try_run(quote.run, strlen(quote.run));
}

static void
try_merge(const char *comment)
{
	/* In an object it also has a name, quotes and a comma. */
	const size_t size = strlen(comment) + sizeof(ours) + sizeof ",\"lowtide\":\"\"";
	char *const once = malloc(size), *const twice = malloc(size);
	char *const none = malloc(size), *const direct = malloc(size);

	if (once == NULL || twice == NULL || none == NULL || direct == NULL)
		abort();
	if (lt_quote_merge(once, size, comment, ours) != LT_OK ||
	    lt_quote_merge(twice, size, once, ours) != LT_OK || strcmp(once, twice) != 0)
		__builtin_trap();
	/* Ours taken away leaves what others wrote. */
	if (lt_quote_merge(none, size, once, "") != LT_OK ||
	    lt_quote_merge(direct, size, comment, "") != LT_OK || strcmp(none, direct) != 0)
		__builtin_trap();
	/* Too small by one is said, not cut. */
	if (lt_quote_merge(twice, strlen(once), comment, ours) != LT_ELIMIT)
		__builtin_trap();
	free(once);
	free(twice);
	free(none);
	free(direct);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char *const text = malloc(byte_count + 1);

	if (text == NULL)
		abort();
	memcpy(text, bytes, byte_count);
	text[byte_count] = '\0';
	try_unpack(text, byte_count);
	try_why(text, byte_count);
	try_run(text, byte_count);
	try_merge(text);
	free(text);
	return 0;
}
