/*
 * What was held since a budget snapshot: sums of each budget, and of each user
 * within one. Inside lt_admit() and its kin; not installed for others.
 */
#ifndef LT_RECENT_H
#define LT_RECENT_H

#include "budget.h"

enum lt_currency_kind { LT_MONEY, LT_CARBON, LT_CURRENCY_KINDS };

struct lt_sums {
	int64_t value[LT_PERIODS][LT_CURRENCY_KINDS];
};

struct lt_user_sums {
	uint32_t budget, uid;
	struct lt_sums held;   /* where the budget has a cap for each user */
	struct lt_sums unseen; /* of submissions */
};

/*
 * One block: this, sums of each budget, sums of users in the order in which
 * they came, and a hash table of indexes to find those.
 */
struct lt_recent {
	bool overflow; /* a sum passed int64_t or no place was left */
	uint32_t budget_count, user_count, user_max, slot_count;
	uint32_t sums_at, users_at, slots_at; /* bytes from the start */
};

/* Sums of a budget, to be changed by whom the block belongs to. Lent. */
struct lt_sums *lt_recent_of_budget(
    const struct lt_recent *recent, uint32_t budget);
/* Sums of a user within it; zeros where nothing was held. Lent. */
const struct lt_user_sums *lt_recent_of_user(
    const struct lt_recent *recent, uint32_t budget, uint32_t uid);
/* The same, made when absent; NULL when there is no place. */
struct lt_user_sums *lt_recent_make_user(
    struct lt_recent *recent, uint32_t budget, uint32_t uid);

#endif
