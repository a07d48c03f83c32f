/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes JSON files of the adapters file and replay.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	if (is_json_file(bytes, byte_count))
		fuzz_file(bytes, byte_count);
	return 0;
}
