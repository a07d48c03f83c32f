/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a login node believes of a lowtided's answer: any bytes.
 */
#include <stdint.h>
#include <string.h>

/* The plugins' objects are in no library: the parsers come whole. */
#include "../../plugin/spank/spank_ask.c"
#include "../../plugin/spank/spank_balance.c"

struct lt_spank lt_spank;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct lt_balance balance;
	char text[BALANCE_BYTES];

	if (byte_count >= sizeof(text))
		byte_count = sizeof(text) - 1;
	memcpy(text, bytes, byte_count);
	text[byte_count] = '\0';
	if (!lt_balance_parse(&balance, text))
		return 0;
	for (int i = 0; i < 2; i++) {
		const struct lt_balance_by_rule *const of =
		    i == 0 ? &balance.binding : &balance.warning;

		if (strnlen(of->team, sizeof(of->team)) == sizeof(of->team) ||
		    strnlen(of->label, sizeof(of->label)) == sizeof(of->label))
			__builtin_trap();
	}
	return 0;
}
