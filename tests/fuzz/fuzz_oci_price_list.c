/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes Oracle Cloud's price list.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options options = {.name = "fuzz",
	    .count = 6,
	    .items = {{"ocpu_part", "B1", 1, 1}, {"ocpus", "8", 2, 1},
		{"memory_part", "B2", 3, 1}, {"memory_gb", "32", 4, 1},
		{"gpu_part", "B3", 5, 1}, {"gpus", "1", 6, 1}}};

	fuzz_source("oci_price_list", &options, bytes, byte_count);
	return 0;
}
