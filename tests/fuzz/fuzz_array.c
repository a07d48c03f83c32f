/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the --array text: counted within the bounds, or refused with a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const uint32_t sizes[] = {0, 1, 1001};
	char *const text = malloc(byte_count + 1);

	if (text == NULL)
		abort();
	memcpy(text, bytes, byte_count);
	text[byte_count] = '\0';
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t tasks = 0, parallel = 0;
		struct lt_error err = {0};
		const uint32_t most = sizes[i] != 0 ? sizes[i] : LT_ARRAY_TASKS_MAX;

		if (lt_array_count(text, sizes[i], &tasks, &parallel, &err) == LT_OK) {
			if (tasks == 0 || tasks > most)
				__builtin_trap();
		} else if (err.text[0] == '\0') {
			__builtin_trap();
		}
	}
	free(text);
	return 0;
}
