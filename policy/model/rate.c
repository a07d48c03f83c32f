/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bridges the holes of a step function, and marks where it is a guess.
 * signals.c calls it; the stored points keep their holes. Pure: writes at most
 * `room` steps.
 */
#include "rate.h"

static struct lt_rate_step
fill_of(const struct lt_rate_step *left, const struct lt_rate_step *right)
{
	struct lt_rate_step fill = *left;

	fill.start_utc_s = left->end_utc_s;
	fill.end_utc_s = right->start_utc_s;
	if (fill.end_utc_s - fill.start_utc_s <= LT_BRIDGE_S) {
		fill.value = (left->value + right->value) / 2;
		fill.quality = LT_QUALITY_ESTIMATED;
	} else {
		fill.quality = LT_QUALITY_LAST_VALUE;
	}
	return fill;
}

uint32_t
lt_bridge(struct lt_rate_step *out, uint32_t room, const struct lt_rate_step *known, uint32_t count)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count && used < room; i++) {
		if (i > 0 && known[i].start_utc_s > known[i - 1].end_utc_s)
			out[used++] = fill_of(&known[i - 1], &known[i]);
		if (used < room)
			out[used++] = known[i];
	}
	return used;
}
