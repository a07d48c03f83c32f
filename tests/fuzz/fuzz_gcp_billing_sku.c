/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes pages of Google's SKUs, as one who asks for a spot machine with
 * GPUs and as one who asks for a GPU on demand.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options spot = {.name = "fuzz",
	    .count = 6,
	    .items = {{"region", "r", 1, 1}, {"cpu_family", "A2", 2, 1}, {"vcpus", "12", 3, 1},
		{"memory_gib", "0.5", 4, 1}, {"gpu", "G", 5, 1}, {"gpus", "1", 6, 1}}};
	static const struct lt_source_options on_demand = {.name = "fuzz",
	    .count = 5,
	    .items = {{"region", "us-central1", 1, 1}, {"gpu", "Nvidia Tesla A100", 2, 1},
		{"gpus", "1000000", 3, 1}, {"capacity", "on_demand", 4, 1},
		{"currency", "USD", 5, 1}}};

	fuzz_source("gcp_billing_sku", &spot, bytes, byte_count);
	fuzz_source("gcp_billing_sku", &on_demand, bytes, byte_count);
	return 0;
}
