/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of Energy-Charts: columns of intensities, and of prices with fees and taxes on
 * top.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options country = {
	    .name = "fuzz", .count = 1, .items = {{"country", "fr", 1, 1}}};
	static const struct lt_source_options zone = {.name = "fuzz",
	    .count = 3,
	    .items = {{"bidding_zone", "DE-LU", 1, 1}, {"add_per_kwh", "0.17", 2, 1},
		{"multiply", "1.19", 3, 1}}};

	fuzz_source("energy_charts", &country, bytes, byte_count);
	fuzz_source("energy_charts_price", &zone, bytes, byte_count);
	return 0;
}
