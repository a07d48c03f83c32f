/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes one slot of the holds ring: torn bytes are refused, accepted ones pack again to the same
 * bytes.
 */
#include <stdint.h>
#include <string.h>

#include "container.h"
#include "ring.h"
#include "units.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

enum { GENERATION = 42, AT_CRC = LT_RING_SLOT_BYTES - 4 };

static void
try_one(const unsigned char slot[LT_RING_SLOT_BYTES])
{
	struct lt_ring_record record;
	struct lt_error err = {0};
	unsigned char again[LT_RING_SLOT_BYTES];

	if (lt_ring_unpack(&record, slot, GENERATION, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap();
		return;
	}
	lt_ring_pack(again, &record, GENERATION);
	if (memcmp(again, slot, sizeof(again)) != 0 || record.sequence == 0 ||
	    strlen(record.account) >= sizeof(record.account))
		__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	unsigned char slot[LT_RING_SLOT_BYTES] = {0}, seed[8];

	memcpy(slot, bytes, byte_count < sizeof(slot) ? byte_count : sizeof(slot));
	try_one(slot);
	lt_put_u64(seed, GENERATION);
	lt_put_u32(slot + AT_CRC, lt_crc32c(lt_crc32c(0, seed, sizeof(seed)), slot, AT_CRC));
	try_one(slot);
	return 0;
}
