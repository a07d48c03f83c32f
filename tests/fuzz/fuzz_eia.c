/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of EIA's API, with the factors of the life cycle and with
 * the direct ones.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options usual = {
	    .name = "fuzz", .count = 1, .items = {{"respondent", "CISO", 1, 1}}};
	static const struct lt_source_options direct = {.name = "fuzz",
	    .count = 2,
	    .items = {{"respondent", "CISO", 1, 1}, {"emission_factors", "direct", 2, 1}}};

	fuzz_source("eia", &usual, bytes, byte_count);
	fuzz_source("eia", &direct, bytes, byte_count);
	return 0;
}
