/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes datagrams of jobs' progress: one that is read is written back byte for byte, and its
 * markers are read or refused.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "life.h"
#include "progress_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct lt_progress_message message = {0};
	struct lt_marker marker;
	char back[LT_PROGRESS_BYTES_MAX];

	if (!lt_progress_unpack(&message, (const char *)bytes, byte_count))
		return 0;
	if (lt_progress_pack(back, &message) != byte_count || memcmp(back, bytes, byte_count) != 0)
		__builtin_trap();
	if (lt_marker_parse(&marker, message.newest) &&
	    !(marker.progress >= 0 && marker.progress <= 1e15))
		__builtin_trap();
	return 0;
}
