/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of eCO2mix: exports and pages of records.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options options = {.name = "fuzz"};

	fuzz_source("rte_eco2mix", &options, bytes, byte_count);
	return 0;
}
