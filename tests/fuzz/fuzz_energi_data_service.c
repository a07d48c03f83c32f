/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of Energi Data Service: records of intensities, and of prices
 * with fees and taxes on top.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options area = {
	    .name = "fuzz", .count = 1, .items = {{"area", "DK1", 1, 1}}};
	static const struct lt_source_options taxed = {.name = "fuzz",
	    .count = 4,
	    .items = {{"area", "DK1", 1, 1}, {"currency", "DKK", 2, 1},
		{"add_per_kwh", "0.9", 3, 1}, {"multiply", "1.25", 4, 1}}};

	fuzz_source("energi_data_service", &area, bytes, byte_count);
	fuzz_source("energi_data_service_price", &taxed, bytes, byte_count);
	return 0;
}
