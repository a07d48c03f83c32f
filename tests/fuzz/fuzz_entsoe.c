/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of ENTSO-E's Transparency Platform: documents and
 * acknowledgements.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options options = {.name = "fuzz",
	    .count = 2,
	    .items = {{"area", "FR", 1, 1}, {"token_env", "T", 2, 1}}};

	fuzz_source("entsoe", &options, bytes, byte_count);
	return 0;
}
