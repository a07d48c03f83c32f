/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of the Carbon Aware SDK's WebAPI, as average
 * and as marginal intensity, and its errors.
 */
#include "source.h"
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options average = {
	    .name = "fuzz", .count = 1, .items = {{"location", "eastus", 1, 1}}};
	static const struct lt_source_options marginal = {.name = "fuzz",
	    .count = 2,
	    .items = {{"location", "IE", 1, 1}, {"intensity", "marginal", 2, 1}}};

	char text[64];

	fuzz_source("carbon_aware_sdk", &average, bytes, byte_count);
	fuzz_source("carbon_aware_sdk", &marginal, bytes, byte_count);
	lt_carbon_error(text, sizeof(text), (const char *)bytes, byte_count);
	if (strnlen(text, sizeof(text)) == sizeof(text))
		__builtin_trap();
	return 0;
}
