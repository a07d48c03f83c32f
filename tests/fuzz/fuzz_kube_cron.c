/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes schedules of CronJobs: whatever is written there, the next tick is later, and there is one
 * or a refusal.
 */
#include <stdint.h>
#include <string.h>

#include "kube_facts.h"

enum { AT_UTC_S = 1795665600, SCHEDULE_SIZE = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char schedule[SCHEDULE_SIZE] = "";
	int64_t next_utc_s;

	if (byte_count >= sizeof(schedule))
		byte_count = sizeof(schedule) - 1;
	memcpy(schedule, bytes, byte_count);
	if (lt_kube_cron_next(&next_utc_s, schedule, AT_UTC_S, -3600) && next_utc_s <= AT_UTC_S)
		__builtin_trap();
	return 0;
}
