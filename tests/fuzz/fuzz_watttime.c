/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of WattTime: values, with a region asked for and without, a token, an error's
 * words.
 */
#include "fuzz/parse_points.h"
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options place = {.name = "fuzz"};
	static const struct lt_source_options region = {
	    .name = "fuzz", .count = 1, .items = {{"region", "CAISO_NORTH", 1, 1}}};
	char text[64];
	struct lt_error err = {0};

	fuzz_source("watttime", &place, bytes, byte_count);
	fuzz_source("watttime", &region, bytes, byte_count);
	lt_watttime_error(text, sizeof(text), (const char *)bytes, byte_count);
	if (strnlen(text, sizeof(text)) == sizeof(text))
		__builtin_trap();
	if (lt_watttime_text(text, sizeof(text),
		&(struct lt_answer){(const char *)bytes, byte_count, 0}, "token", &err) == LT_OK
		? text[0] == '\0'
		: err.text[0] == '\0')
		__builtin_trap();
	return 0;
}
