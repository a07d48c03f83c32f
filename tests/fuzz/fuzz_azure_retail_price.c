/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of Azure's price list, as one who asks for spot on Linux
 * and as one who asks for a Windows VM on demand, in euros; the words of
 * errors.
 */
#include "azure.h"
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char text[64] = "";
	static const struct lt_source_options spot = {.name = "fuzz",
	    .count = 2,
	    .items = {{"region", "eastus", 1, 1}, {"sku", "Standard_NC4as_T4_v3", 2, 1}}};
	static const struct lt_source_options windows = {.name = "fuzz",
	    .count = 5,
	    .items = {{"region", "eastus", 1, 1}, {"sku", "Standard_NC4as_T4_v3", 2, 1},
		{"capacity", "on_demand", 3, 1}, {"os", "windows", 4, 1},
		{"currency", "EUR", 5, 1}}};

	fuzz_source("azure_retail_price", &spot, bytes, byte_count);
	fuzz_source("azure_retail_price", &windows, bytes, byte_count);
	lt_azure_error_text(text, sizeof(text), (const char *)bytes, byte_count);
	if (strnlen(text, sizeof(text)) == sizeof(text))
		__builtin_trap();
	return 0;
}
