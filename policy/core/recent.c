/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was held since a budget snapshot: the tables. No allocation, no clock:
 * the caller holds the lock.
 */
#include "recent.h"

#include <string.h>

#define NO_ENTRY UINT32_MAX

/* Most (budget, uid) that can come: each pair with each budget of its account,
 * no more than the ring has holds; and room for one hold more, which lt_admit()
 * asks for before it knows that the entries are there already. */
static uint32_t
user_max(const struct lt_budget_snapshot *snapshot)
{
	uint64_t count = LT_BINDINGS_MAX;

	for (uint32_t i = 0; i < snapshot->pair_count; i++) {
		count += snapshot->accounts[snapshot->pairs[i].account]
			     .binding_count;
		if (count >= LT_RING_SLOTS)
			return LT_RING_SLOTS;
	}
	return (uint32_t)count;
}

static size_t
lay_out(struct lt_recent *recent, const struct lt_budget_snapshot *snapshot)
{
	size_t at = (sizeof(*recent) + 15) & ~(size_t)15;

	memset(recent, 0, sizeof(*recent));
	recent->budget_count = snapshot->budget_count;
	recent->user_max = user_max(snapshot);
	recent->slot_count = 1;
	while (recent->slot_count < 2 * recent->user_max)
		recent->slot_count *= 2;
	recent->sums_at = (uint32_t)at;
	at += snapshot->budget_count * sizeof(struct lt_sums);
	recent->slots_at = (uint32_t)at;
	at += recent->slot_count * sizeof(uint32_t);
	recent->users_at = (uint32_t)at;
	return at + recent->user_max * sizeof(struct lt_user_sums);
}

size_t
lt_recent_size(const struct lt_budget_snapshot *snapshot)
{
	struct lt_recent recent;

	return lay_out(&recent, snapshot);
}

void
lt_recent_init(
    struct lt_recent *recent, const struct lt_budget_snapshot *snapshot)
{
	(void)lay_out(recent, snapshot);
	unsigned char *const base = (unsigned char *)recent;
	memset(base + recent->sums_at, 0,
	    snapshot->budget_count * sizeof(struct lt_sums));
	memset(base + recent->slots_at, 0xff,
	    recent->slot_count * sizeof(uint32_t));
}

struct lt_sums *
lt_recent_of_budget(const struct lt_recent *recent, uint32_t budget)
{
	void *const table =
	    (unsigned char *)(uintptr_t)recent + recent->sums_at;

	return (struct lt_sums *)table + budget;
}

/* The slot of (budget, uid): its entry's, or the empty one it would get. */
static uint32_t *
user_slot(struct lt_recent *recent, uint32_t budget, uint32_t uid)
{
	void *const slots = (unsigned char *)recent + recent->slots_at;
	const void *const users = (unsigned char *)recent + recent->users_at;
	const uint32_t mask = recent->slot_count - 1;
	/* Odd multipliers spread both; at most half of the slots are used. */
	uint32_t at = (budget * 2654435761u ^ uid * 2246822519u);

	at ^= at >> 15;
	for (;; at++) {
		uint32_t *const slot = (uint32_t *)slots + (at & mask);

		if (*slot == NO_ENTRY)
			return slot;
		const struct lt_user_sums *const user =
		    (const struct lt_user_sums *)users + *slot;
		if (user->budget == budget && user->uid == uid)
			return slot;
	}
}

const struct lt_user_sums *
lt_recent_of_user(const struct lt_recent *recent, uint32_t budget, uint32_t uid)
{
	static const struct lt_user_sums none;
	/* The look-up writes nothing. */
	struct lt_recent *const same = (struct lt_recent *)(uintptr_t)recent;
	const uint32_t index = *user_slot(same, budget, uid);
	const void *const users =
	    (const unsigned char *)recent + recent->users_at;

	return index == NO_ENTRY ? &none
				 : (const struct lt_user_sums *)users + index;
}

struct lt_user_sums *
lt_recent_make_user(struct lt_recent *recent, uint32_t budget, uint32_t uid)
{
	uint32_t *const slot = user_slot(recent, budget, uid);
	void *const users = (unsigned char *)recent + recent->users_at;

	if (*slot == NO_ENTRY) {
		if (recent->user_count == recent->user_max)
			return NULL;
		*slot = recent->user_count++;
		struct lt_user_sums *const user =
		    (struct lt_user_sums *)users + *slot;
		memset(user, 0, sizeof(*user));
		user->budget = budget;
		user->uid = uid;
	}
	return (struct lt_user_sums *)users + *slot;
}
