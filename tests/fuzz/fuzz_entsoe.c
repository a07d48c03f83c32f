/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of ENTSO-E's Transparency Platform: documents of
 * generation and of prices, and acknowledgements.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options options = {
	    .name = "fuzz", .count = 2, .items = {{"area", "FR", 1, 1}, {"token_env", "T", 2, 1}}};

	static const struct lt_source_options prices = {.name = "fuzz",
	    .count = 4,
	    .items = {{"area", "FR", 1, 1}, {"token_env", "T", 2, 1}, {"add_per_kwh", "0.17", 3, 1},
		{"multiply", "1.19", 4, 1}}};

	static const struct lt_source_options ahead = {.name = "fuzz",
	    .count = 3,
	    .items = {{"area", "FR", 1, 1}, {"token_env", "T", 2, 1}, {"series", "wind", 3, 1}}};

	fuzz_source("entsoe", &options, bytes, byte_count);
	fuzz_source("entsoe_price", &prices, bytes, byte_count);
	fuzz_source("entsoe_day_ahead", &ahead, bytes, byte_count);
	return 0;
}
