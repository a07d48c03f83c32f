/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a login node believes of the windows that lowtided tells: any bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The plugins' objects are in no library: the parsers come whole. */
#include "../../plugin/spank/spank_ask.c"
#include "../../plugin/spank/spank_booking.c"

struct lt_spank lt_spank;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static struct lt_partition partitions[] = {{.name = "ondemand"}, {.name = "spot"}};
	const struct lt_market market = {.partition_count = 2, .partitions = partitions};
	static struct lt_others others;
	char *const text = malloc(byte_count + 1);

	if (text == NULL)
		return 0;
	if (byte_count > 0)
		memcpy(text, bytes, byte_count);
	text[byte_count] = '\0';
	others.count = 0;
	if (lt_others_parse(&others, &market, text) && others.known)
		__builtin_trap();
	for (uint32_t i = 0; i < others.count; i++)
		if (others.windows[i].partition > 1 || !(others.windows[i].nodes > 0) ||
		    others.windows[i].end_utc_s <= others.windows[i].start_utc_s)
			__builtin_trap();
	free(text);
	return 0;
}
