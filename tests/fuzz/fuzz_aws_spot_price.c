/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers with spot prices, as one who asks for a zone by id, for one by name, and for all
 * of them.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options by_id = {.name = "fuzz",
	    .count = 3,
	    .items = {{"region", "us-west-2", 1, 1}, {"instance_type", "m1.small", 2, 1},
		{"zone_id", "usw2-az1", 3, 1}}};
	static const struct lt_source_options by_name = {.name = "fuzz",
	    .count = 3,
	    .items = {{"region", "us-west-2", 1, 1}, {"instance_type", "m1.small", 2, 1},
		{"zone", "us-west-2b", 3, 1}}};
	static const struct lt_source_options any = {.name = "fuzz",
	    .count = 3,
	    .items = {{"region", "us-west-2", 1, 1}, {"instance_type", "m1.small", 2, 1},
		{"zone", "any", 3, 1}}};

	fuzz_source("aws_spot_price", &by_id, bytes, byte_count);
	fuzz_source("aws_spot_price", &by_name, bytes, byte_count);
	fuzz_source("aws_spot_price", &any, bytes, byte_count);
	return 0;
}
