/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the Spot Advisor's file.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options options = {.name = "fuzz",
	    .count = 2,
	    .items = {{"region", "us-east-1", 1, 1}, {"instance_type", "g5.xlarge", 2, 1}}};

	fuzz_source("aws_spot_advisor", &options, bytes, byte_count);
	return 0;
}
