/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers to json_source.c, by each of its rows in source_rows.h, and the words of an error.
 */
#include "fuzz/parse_points.h"
#include "json_source.h"
#include "source_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char words[64];

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const struct lt_source_options options = options_of(sources[i].pairs);

		if (lt_adapter_find(sources[i].adapter)->json != NULL)
			fuzz_source(sources[i].adapter, &options, bytes, byte_count);
	}
	lt_json_error_text(words, sizeof(words), (const char *)bytes, byte_count);
	if (memchr(words, '\0', sizeof(words)) == NULL)
		__builtin_trap();
	return 0;
}
