/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers which users submitted a job for a budget's money in the last minutes. From that
 * job_modify knows that a new job, which the terms do not have yet, belongs to an account without
 * budget. There is one time for each hash of a uid: users who share a hash are taken for each
 * other, which only asks for more care.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "job_state.h"

enum {
	SLOTS = 1024,
	/* A job may be in no list for as long after its submission. */
	UNSEEN_S = 60,
};

static atomic_llong asked_utc_s[SLOTS];
static atomic_llong began_utc_s;

void
lt_asked_forget(int64_t now_utc_s)
{
	for (int i = 0; i < SLOTS; i++)
		atomic_store(&asked_utc_s[i], 0);
	atomic_store(&began_utc_s, now_utc_s);
}

void
lt_asked_note(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, int account, int64_t now_utc_s)
{
	if (snapshot == NULL || account < 0 || lt_sheet_budgeted(snapshot, account))
		atomic_store(&asked_utc_s[uid % SLOTS], now_utc_s);
}

/* Also true for some who have none, and where this process has not looked on since before that
 * list. */
static bool
asked_since(uint32_t uid, int64_t listed_utc_s)
{
	const int64_t since = listed_utc_s - UNSEEN_S;

	return atomic_load(&began_utc_s) >= since ||
	       atomic_load(&asked_utc_s[uid % SLOTS]) >= since;
}

/* In an account that a budget binds; one where tasks of an array wait. */
static bool
has_pair(const struct lt_budget_snapshot *snapshot, uint32_t uid, bool array)
{
	uint32_t low = 0, high = snapshot->pair_count;

	if (snapshot->account_count == 0) /* nobody's accounts are known */
		return snapshot->missing != NULL;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (snapshot->pairs[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < snapshot->pair_count && snapshot->pairs[low].uid == uid; low++)
		if (lt_sheet_budgeted(snapshot, (int)snapshot->pairs[low].account) &&
		    (!array || snapshot->pairs[low].has_array))
			return true;
	return false;
}

bool
lt_user_budgeted(const struct lt_budget_snapshot *snapshot, uint32_t uid)
{
	return has_pair(snapshot, uid, false);
}

bool
lt_asked_nothing(const struct lt_budget_snapshot *snapshot, uint32_t uid)
{
	uint64_t generation;
	int64_t made_utc_s;

	return uid != 0 && uid != geteuid() && !lt_sheet_is_manager(snapshot, uid) &&
	       !has_pair(snapshot, uid, true) && !asked_since(uid, snapshot->jobs_utc_s) &&
	       lt_file_stamp(&generation, &made_utc_s, lt_state_terms_path(), true, NULL) ==
		   LT_OK &&
	       generation == snapshot->generation;
}
