/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of Azure Resource Graph to the query for an eviction rate.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options options = {.name = "fuzz",
	    .count = 2,
	    .items = {{"region", "eastus", 1, 1}, {"sku", "Standard_NC4as_T4_v3", 2, 1}}};

	fuzz_source("azure_eviction_rate", &options, bytes, byte_count);
	return 0;
}
