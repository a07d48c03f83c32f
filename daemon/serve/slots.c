/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections by who holds them. Few enough for one array and no order.
 */
#include <stddef.h>

#include "slots.h"

struct lt_slot *
lt_slot_take(
    struct lt_slots *slots, int fd, uint32_t who, bool is_admin, int64_t now_ms)
{
	struct lt_slot *unused = NULL;
	int own = 0, others = 0;

	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		struct lt_slot *const slot = &slots->slots[i];

		if (!slot->taken)
			unused = slot;
		else if (!slot->is_admin)
			others++;
		own += slot->taken && slot->who == who;
	}
	if (unused == NULL ||
	    (!is_admin && (own >= LT_SLOTS_PER_USER ||
			      others >= LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS)))
		return NULL;
	*unused = (struct lt_slot){.taken = true,
	    .is_admin = is_admin,
	    .fd = fd,
	    .who = who,
	    .deadline_ms = now_ms + LT_SLOT_REQUEST_MS};
	return unused;
}

void
lt_slot_free(struct lt_slot *slot)
{
	*slot = (struct lt_slot){0};
}

void
lt_slots_expire(struct lt_slots *slots, int64_t now_ms, void (*end)(int fd))
{
	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		struct lt_slot *const slot = &slots->slots[i];

		if (!slot->taken || slot->deadline_ms > now_ms)
			continue;
		slot->deadline_ms = INT64_MAX;
		end(slot->fd);
	}
}

int
lt_slots_wait_ms(const struct lt_slots *slots, int64_t now_ms, int most_ms)
{
	int64_t wait_ms = most_ms;

	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		const struct lt_slot *const slot = &slots->slots[i];

		if (slot->taken && slot->deadline_ms - now_ms < wait_ms)
			wait_ms = slot->deadline_ms - now_ms;
	}
	return wait_ms < 0 ? 0 : (int)wait_ms;
}
