/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes weather forecasts in Open-Meteo's format.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const char *const variables[] = {
	    "windspeed_80m", "shortwave_radiation", "temperature_2m"};

	for (int i = 0; i < 3; i++) {
		const struct lt_source_options options = {.name = "fuzz",
		    .count = 2,
		    .items = {{"places", "52.5,13.4", 1, 1}, {"variable", variables[i], 2, 1}}};

		fuzz_source("open_meteo", &options, bytes, byte_count);
	}
	return 0;
}
