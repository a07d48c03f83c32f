/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers with placement scores, of a region and of a zone, and the words of EC2's errors.
 */
#include "aws.h"
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char text[64] = "";
	static const struct lt_source_options region = {.name = "fuzz",
	    .count = 2,
	    .items = {{"region", "us-east-2", 1, 1}, {"instance_types", "g5.xlarge", 2, 1}}};
	static const struct lt_source_options zone = {.name = "fuzz",
	    .count = 3,
	    .items = {{"region", "us-east-2", 1, 1}, {"instance_types", "a,b,c", 2, 1},
		{"zone_id", "use2-az1", 3, 1}}};

	fuzz_source("aws_spot_placement_score", &region, bytes, byte_count);
	fuzz_source("aws_spot_placement_score", &zone, bytes, byte_count);
	lt_aws_error_text(text, sizeof(text), (const char *)bytes, byte_count, "ec2:Do");
	if (strnlen(text, sizeof(text)) == sizeof(text))
		__builtin_trap();
	return 0;
}
