/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections by who holds them. Few enough for one array and no order.
 */
#include <stddef.h>

#include "slots.h"

/* Slots of users who are known: of this one, and of all who are no admins. */
struct known {
	int own, others;
};

static struct known
count_known(const struct lt_slots *slots, uint32_t who)
{
	struct known known = {0};

	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		const struct lt_slot *const slot = &slots->slots[i];

		if (!slot->taken || slot->is_stranger)
			continue;
		known.own += slot->who == who;
		known.others += !slot->is_admin;
	}
	return known;
}

static struct lt_slot *
find_unused(struct lt_slots *slots)
{
	for (int i = 0; i < LT_SLOTS_MAX; i++)
		if (!slots->slots[i].taken)
			return &slots->slots[i];
	return NULL;
}

struct lt_slot *
lt_slot_take(
    struct lt_slots *slots, int fd, uint32_t who, bool is_admin, int64_t now_ms)
{
	const struct known known = count_known(slots, who);
	struct lt_slot *const unused = find_unused(slots);

	if (unused == NULL ||
	    (!is_admin &&
		(known.own >= LT_SLOTS_PER_USER ||
		    known.others >= LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS)))
		return NULL;
	*unused = (struct lt_slot){.taken = true,
	    .is_admin = is_admin,
	    .fd = fd,
	    .who = who,
	    .since_ms = now_ms,
	    .deadline_ms = now_ms + LT_SLOT_REQUEST_MS};
	return unused;
}

static bool
is_waiting(const struct lt_slot *slot)
{
	return slot->taken && slot->is_stranger && !slot->is_ending;
}

static int
count_strangers(const struct lt_slots *slots, uint32_t host)
{
	int count = 0;

	for (int i = 0; i < LT_SLOTS_MAX; i++)
		count +=
		    is_waiting(&slots->slots[i]) && slots->slots[i].who == host;
	return count;
}

struct lt_slot *
lt_slot_take_stranger(
    struct lt_slots *slots, int fd, uint32_t host, int64_t now_ms)
{
	struct lt_slot *const unused = find_unused(slots);
	int all = 0;

	for (int i = 0; i < LT_SLOTS_MAX; i++)
		all += is_waiting(&slots->slots[i]);
	if (unused == NULL || all >= LT_SLOTS_STRANGERS ||
	    count_strangers(slots, host) >= LT_SLOTS_PER_HOST)
		return NULL;
	*unused = (struct lt_slot){.taken = true,
	    .is_stranger = true,
	    .fd = fd,
	    .who = host,
	    .since_ms = now_ms,
	    .deadline_ms = now_ms + LT_SLOT_SHOW_MS};
	return unused;
}

void
lt_slots_drop_stranger(
    struct lt_slots *slots, uint32_t host, void (*end)(int fd))
{
	struct lt_slot *first = NULL;
	int most = count_strangers(slots, host);

	if (most < LT_SLOTS_PER_HOST)
		for (int i = 0; i < LT_SLOTS_MAX; i++) {
			const struct lt_slot *const slot = &slots->slots[i];
			const int count =
			    is_waiting(slot) ? count_strangers(slots, slot->who)
					     : 0;

			if (count > most) {
				most = count;
				host = slot->who;
			}
		}
	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		struct lt_slot *const slot = &slots->slots[i];

		if (is_waiting(slot) && slot->who == host &&
		    (first == NULL || slot->since_ms < first->since_ms))
			first = slot;
	}
	if (first == NULL)
		return;
	first->is_ending = true;
	first->deadline_ms = INT64_MAX;
	end(first->fd);
}

bool
lt_slot_show(struct lt_slots *slots, struct lt_slot *slot, uint32_t who,
    bool is_admin, int64_t now_ms)
{
	enum {
		USERS = LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS - LT_SLOTS_STRANGERS
	};
	const struct known known = count_known(slots, who);

	if (!is_admin &&
	    (known.own >= LT_SLOTS_PER_USER || known.others >= USERS))
		return false;
	slot->is_stranger = false;
	slot->is_admin = is_admin;
	slot->who = who;
	slot->since_ms = now_ms;
	slot->deadline_ms = now_ms + LT_SLOT_REQUEST_MS;
	return true;
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
