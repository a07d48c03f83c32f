/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TRES and Gres texts of any bytes: the readers end, stay within their buffers, and a GPU type is
 * always a text.
 */
#include <stdlib.h>
#include <string.h>

#include "slurm_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_tres_id ids[] = {
	    {1001, false, false}, {1002, true, false}, {1003, false, true}};
	char *const text = malloc(byte_count + 1);
	struct lt_tres tres;
	struct lt_shape shape = {0};

	if (text == NULL)
		return 0;
	if (byte_count > 0)
		memcpy(text, bytes, byte_count);
	text[byte_count] = '\0';
	lt_tres_parse(&tres, text);
	if (tres.energy_joules < -1)
		__builtin_trap();
	lt_tres_parse_ids(&tres, text, ids, 3);
	if (tres.energy_joules < -1)
		__builtin_trap();
	lt_gres_parse(text, &shape);
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++)
		if (memchr(shape.kinds[i].type, '\0', sizeof(shape.kinds[i].type)) == NULL)
			__builtin_trap();
	free(text);
	return 0;
}
