/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes what says that a node is taken back: any bytes give a notice whose end can be, none, or a
 * refusal that says why. The first byte chooses who says it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reclaim.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

enum { NOW = 1587748184 }; /* 2020-04-24T17:09:44Z */

static int
parse(struct lt_reading *reading, uint8_t by, char *text, size_t length, struct lt_error *err)
{
	const struct lt_http_response response = {.body = text, .body_length = length};

	switch (by) {
	case 'a':
		return lt_aws_action_parse(reading, text, length, NOW, err);
	case 'g':
		return lt_gcp_parse(reading, text, text, 0, err);
	case 'c':
		return lt_command_parse(reading, text, NOW, err);
	default:
		return lt_azure_events_parse(reading, "myspotvm", &response, NOW, err);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct lt_reading reading = {0};
	struct lt_error err = {0};

	if (byte_count == 0)
		return 0;
	char *const text = malloc(byte_count);
	if (text == NULL)
		abort();
	memcpy(text, bytes + 1, byte_count - 1);
	text[byte_count - 1] = '\0';
	if (parse(&reading, bytes[0], text, byte_count - 1, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap();
	} else if (reading.is_noticed && reading.has_end &&
		   (reading.end_utc_s > NOW + LT_NODE_FUTURE_S ||
		       reading.end_utc_s < NOW - LT_NODE_PAST_S)) {
		__builtin_trap();
	}
	free(text);
	return 0;
}
