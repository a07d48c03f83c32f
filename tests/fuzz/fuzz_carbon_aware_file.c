/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes data files of the Carbon Aware SDK, as average
 * and as marginal intensity.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options average = {
	    .name = "fuzz", .count = 1, .items = {{"location", "eastus", 1, 1}}};
	static const struct lt_source_options marginal = {.name = "fuzz",
	    .count = 2,
	    .items = {{"location", "IE", 1, 1}, {"intensity", "marginal", 2, 1}}};

	fuzz_source("carbon_aware_file", &average, bytes, byte_count);
	fuzz_source("carbon_aware_file", &marginal, bytes, byte_count);
	return 0;
}
