/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes files of SkyPilot's catalog, as one who asks for a machine, for one with GPUs of their own
 * in a zone, and for GPUs alone.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options machine = {.name = "fuzz",
	    .count = 3,
	    .items = {{"cloud", "aws", 1, 1}, {"region", "r", 2, 1}, {"instance_type", "t", 3, 1}}};
	static const struct lt_source_options with_gpus = {.name = "fuzz",
	    .count = 7,
	    .items = {{"cloud", "gcp", 1, 1}, {"region", "r", 2, 1}, {"instance_type", "t", 3, 1},
		{"zone", "z", 4, 1}, {"accelerator", "A100", 5, 1},
		{"accelerator_count", "4", 6, 1}, {"capacity", "on_demand", 7, 1}}};
	static const struct lt_source_options gpus = {.name = "fuzz",
	    .count = 4,
	    .items = {{"cloud", "gcp", 1, 1}, {"region", "r", 2, 1}, {"accelerator", "A100", 3, 1},
		{"accelerator_count", "4", 4, 1}}};

	fuzz_source("skypilot_catalog", &machine, bytes, byte_count);
	fuzz_source("skypilot_catalog", &with_gpus, bytes, byte_count);
	fuzz_source("skypilot_catalog", &gpus, bytes, byte_count);
	return 0;
}
