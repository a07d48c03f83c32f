/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes CUDO Compute's machine types, and the error bodies that it and
 * Google send.
 */
#include "price_list.h"
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options options = {.name = "fuzz",
	    .count = 5,
	    .items = {{"data_center", "d", 1, 1}, {"machine_type", "m", 2, 1},
		{"vcpus", "8", 3, 1}, {"memory_gib", "32", 4, 1},
		{"gpus", "1", 5, 1}}};
	char words[64];

	fuzz_source("cudo_compute", &options, bytes, byte_count);
	lt_json_error_text(
	    words, sizeof(words), (const char *)bytes, byte_count);
	if (memchr(words, '\0', sizeof(words)) == NULL)
		__builtin_trap();
	return 0;
}
