/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes answers of Electricity Maps, as one who asks for a zone and as one who asks for a data
 * centre, whose zone is not known; and the words of errors.
 */
#include "source.h"
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char text[64] = "";
	static const struct lt_source_options zone = {
	    .name = "fuzz", .count = 1, .items = {{"zone", "DE", 1, 1}}};
	static const struct lt_source_options centre = {.name = "fuzz",
	    .count = 2,
	    .items = {{"data_center_provider", "gcp", 1, 1},
		{"data_center_region", "europe-west1", 2, 1}}};

	fuzz_source("electricity_maps", &zone, bytes, byte_count);
	fuzz_source("electricity_maps", &centre, bytes, byte_count);
	lt_em_error_text(text, sizeof(text), (const char *)bytes, byte_count);
	if (strnlen(text, sizeof(text)) == sizeof(text))
		__builtin_trap();
	return 0;
}
