/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the values of lowtide's job options: the first byte chooses the option, the rest is its
 * value; accepted within bounds or refused with a reason and nothing changed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct lt_options options, before;
	struct lt_error err = {0};

	if (byte_count == 0)
		return 0;
	char *const value = malloc(byte_count);
	if (value == NULL)
		abort();
	memcpy(value, bytes + 1, byte_count - 1);
	value[byte_count - 1] = '\0';
	lt_options_init(&options);
	lt_options_init(&before);
	const int code =
	    lt_option_parse(&options, (enum lt_option_id)(bytes[0] % LT_OPTION_COUNT), value, &err);
	if (code != LT_OK) {
		if (err.text[0] == '\0' || memcmp(&options, &before, sizeof(options)) != 0)
			__builtin_trap();
	} else if (options.checkpoint.write_s < 0 || options.checkpoint.every_s < 0 ||
		   (options.checkpoint.size_gib > 0) != (options.checkpoint.keep > 0) ||
		   options.max_cost_micros < -1 || strlen(options.checkpoint_signal) > 4) {
		__builtin_trap();
	}
	free(value);
	return 0;
}
