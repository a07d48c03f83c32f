/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of the Carbon Intensity API, as one who asks for a region
 * and as one who asks for the whole country.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options national = {.name = "fuzz"};
	static const struct lt_source_options regional = {
	    .name = "fuzz", .count = 1, .items = {{"region", "3", 1, 1}}};

	fuzz_source("uk_carbon_intensity", &national, bytes, byte_count);
	fuzz_source("uk_carbon_intensity", &regional, bytes, byte_count);
	return 0;
}
