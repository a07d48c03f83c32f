/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission: settled + open holds + this hold <= limit for every budget, currency and period that
 * the hold touches, or nothing is added. Also the look-ups before it in a loaded budget snapshot
 * (accounts, their members, which budgets bind them), and the table of what was held since that
 * snapshot.
 *
 * Integers only, no allocation, no clock: the caller holds the lock. Fails with the budget that has
 * no room; sums that pass int64_t and a full table refuse, too.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "lookup.h"
#include "units.h"

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
 * Sums held since a snapshot, in one block: this struct, the sums of each budget, the sums of users
 * in the order in which they came, and a hash table of indexes that finds those.
 */
struct lt_recent {
	bool overflow; /* a sum passed int64_t or no place was left */
	uint32_t budget_count, user_count, user_max, slot_count;
	uint32_t sums_at, users_at, slots_at; /* bytes from the start */
};

/* ---- Look-ups in a budget snapshot ---- */

const char *
lt_rule_name(enum lt_rule rule)
{
	static const char *const names[LT_RULE_COUNT] = {
	    [LT_RULE_REJECT] = "reject",
	    [LT_RULE_HOLD] = "hold",
	    [LT_RULE_WARN] = "warn",
	    [LT_RULE_ALLOW] = "allow",
	};

	return LT_WORD(names, rule);
}

static int
by_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_account *)account)->name);
}

int
lt_sheet_account(const struct lt_budget_snapshot *snapshot, const char *name)
{
	char lower[LT_ACCOUNT_SIZE];
	size_t length = 0;

	for (; name[length] != '\0'; length++) {
		if (length == sizeof(lower) - 1)
			return -1;
		lower[length] = name[length];
		if (lower[length] >= 'A' && lower[length] <= 'Z')
			lower[length] = (char)(lower[length] - 'A' + 'a');
	}
	lower[length] = '\0';
	const struct lt_account *const found =
	    snapshot->account_count == 0 ? NULL
					 : bsearch(lower, snapshot->accounts,
					       snapshot->account_count, sizeof(*found), by_name);
	return found == NULL ? -1 : (int)(found - snapshot->accounts);
}

/* First pair at or after (uid, account). */
static uint32_t
pair_from(const struct lt_budget_snapshot *snapshot, uint32_t uid, uint32_t account)
{
	uint32_t low = 0, high = snapshot->pair_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct lt_pair *const pair = &snapshot->pairs[middle];

		if (pair->uid < uid || (pair->uid == uid && pair->account < account))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
lt_sheet_default_account(const struct lt_budget_snapshot *snapshot, uint32_t uid)
{
	for (uint32_t i = pair_from(snapshot, uid, 0);
	     i < snapshot->pair_count && snapshot->pairs[i].uid == uid; i++)
		if (snapshot->pairs[i].is_default)
			return (int)snapshot->pairs[i].account;
	return -1;
}

const struct lt_pair *
lt_sheet_pair(const struct lt_budget_snapshot *snapshot, uint32_t uid, int account)
{
	if (account < 0)
		return NULL;
	const uint32_t i = pair_from(snapshot, uid, (uint32_t)account);
	return i < snapshot->pair_count && snapshot->pairs[i].uid == uid &&
		       snapshot->pairs[i].account == (uint32_t)account
		   ? &snapshot->pairs[i]
		   : NULL;
}

bool
lt_sheet_budgeted(const struct lt_budget_snapshot *snapshot, int account)
{
	return account >= 0 && (uint32_t)account < snapshot->account_count &&
	       snapshot->accounts[account].binding_count > 0;
}

/* First manager at or after (uid, account). */
static uint32_t
manager_from(const struct lt_budget_snapshot *snapshot, uint32_t uid, uint32_t account)
{
	uint32_t low = 0, high = snapshot->manager_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct lt_manager *const m = &snapshot->managers[middle];

		if (m->uid < uid || (m->uid == uid && m->account < account))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
is_manager(const struct lt_budget_snapshot *snapshot, uint32_t uid, uint32_t account)
{
	const uint32_t i = manager_from(snapshot, uid, account);

	return i < snapshot->manager_count && snapshot->managers[i].uid == uid &&
	       snapshot->managers[i].account == account;
}

bool
lt_sheet_is_manager(const struct lt_budget_snapshot *snapshot, uint32_t uid)
{
	const uint32_t i = manager_from(snapshot, uid, 0);

	return i < snapshot->manager_count && snapshot->managers[i].uid == uid;
}

bool
lt_sheet_manages(const struct lt_budget_snapshot *snapshot, uint32_t uid, int account)
{
	assert(account >= -1 && account < (int)snapshot->account_count);

	enum { DEPTH_MAX = 64 }; /* a loop in the tree ends here */
	if (is_manager(snapshot, uid, 0))
		return true;
	uint32_t at = (uint32_t)(account + 1);
	for (int depth = 0; at > 0 && depth < DEPTH_MAX; depth++) {
		if (is_manager(snapshot, uid, at))
			return true;
		at = snapshot->accounts[at - 1].parent;
	}
	return false;
}

/* ---- Held since the snapshot ---- */

#define NO_ENTRY UINT32_MAX

/* Most (budget, uid) that can come: each pair with each budget of its account, no more than the
 * ring has holds; and room for one hold more, which lt_admit() asks for before it knows that the
 * entries are there already. */
static uint32_t
user_max(const struct lt_budget_snapshot *snapshot)
{
	uint64_t count = LT_BINDINGS_MAX;

	for (uint32_t i = 0; i < snapshot->pair_count; i++) {
		count += snapshot->accounts[snapshot->pairs[i].account].binding_count;
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
lt_recent_init(struct lt_recent *recent, const struct lt_budget_snapshot *snapshot)
{
	(void)lay_out(recent, snapshot);
	unsigned char *const base = (unsigned char *)recent;
	memset(base + recent->sums_at, 0, snapshot->budget_count * sizeof(struct lt_sums));
	memset(base + recent->slots_at, 0xff, recent->slot_count * sizeof(uint32_t));
}

/* Returns a budget's sums, lent; the block's owner may change them. */
static struct lt_sums *
recent_of_budget(const struct lt_recent *recent, uint32_t budget)
{
	void *const table = (unsigned char *)(uintptr_t)recent + recent->sums_at;

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
		const struct lt_user_sums *const user = (const struct lt_user_sums *)users + *slot;
		if (user->budget == budget && user->uid == uid)
			return slot;
	}
}

/* Returns the sums of a user within a budget, lent; zeros where nothing was held. */
static const struct lt_user_sums *
recent_of_user(const struct lt_recent *recent, uint32_t budget, uint32_t uid)
{
	static const struct lt_user_sums none;
	/* The look-up writes nothing. */
	struct lt_recent *const same = (struct lt_recent *)(uintptr_t)recent;
	const uint32_t index = *user_slot(same, budget, uid);
	const void *const users = (const unsigned char *)recent + recent->users_at;

	return index == NO_ENTRY ? &none : (const struct lt_user_sums *)users + index;
}

/* The same, made when absent; NULL when there is no place. */
static struct lt_user_sums *
make_recent_user(struct lt_recent *recent, uint32_t budget, uint32_t uid)
{
	uint32_t *const slot = user_slot(recent, budget, uid);
	void *const users = (unsigned char *)recent + recent->users_at;

	if (*slot == NO_ENTRY) {
		if (recent->user_count == recent->user_max)
			return NULL;
		*slot = recent->user_count++;
		struct lt_user_sums *const user = (struct lt_user_sums *)users + *slot;
		memset(user, 0, sizeof(*user));
		user->budget = budget;
		user->uid = uid;
	}
	return (struct lt_user_sums *)users + *slot;
}

/* ---- one hold against one budget ---- */

/* ---- Admission ---- */

static bool
amount_has(const struct lt_amount *amount, int currency)
{
	return currency == LT_MONEY ? amount->has_money : amount->has_carbon;
}

static int64_t
amount_of(const struct lt_amount *amount, int currency)
{
	return currency == LT_MONEY ? amount->money_micros : amount->carbon_mg;
}

/* Half-open; a hold without length counts as one second. */
static bool
overlaps(const struct lt_period *period, int64_t start_utc_s, int64_t end_utc_s)
{
	if (period->start_utc_s >= period->end_utc_s)
		return false;
	return start_utc_s < period->end_utc_s &&
	       (end_utc_s > period->start_utc_s || start_utc_s >= period->start_utc_s);
}

static int
by_budget_and_uid(const void *key, const void *usage)
{
	const struct lt_usage *const a = key, *const b = usage;

	if (a->budget != b->budget)
		return a->budget < b->budget ? -1 : 1;
	return (a->uid > b->uid) - (a->uid < b->uid);
}

static const struct lt_usage *
usage_find(const struct lt_budget_snapshot *snapshot, uint32_t budget, uint32_t uid)
{
	const struct lt_usage key = {.budget = budget, .uid = uid};

	return snapshot->usage_count == 0 ? NULL
					  : bsearch(&key, snapshot->usages, snapshot->usage_count,
						sizeof(key), by_budget_and_uid);
}

/* Limit, settled, held (recent included) and the rest of one budget or user cap in one period and
 * currency. */
struct balance {
	bool limited;
	int64_t limit, settled, held, available;
};

struct parts { /* of a balance, in one period */
	const struct lt_amount *limit;
	const struct lt_amount *settled, *held; /* NULL = none */
	const int64_t *recent;			/* by currency */
};

/* False when a sum passes int64_t. */
static bool
balance_of(struct balance *balance, const struct parts *parts, int currency)
{
	memset(balance, 0, sizeof(*balance));
	balance->limited = amount_has(parts->limit, currency);
	if (!balance->limited)
		return true;
	balance->limit = amount_of(parts->limit, currency);
	balance->settled = parts->settled != NULL ? amount_of(parts->settled, currency) : 0;
	balance->held = parts->held != NULL ? amount_of(parts->held, currency) : 0;
	if (!lt_add(&balance->held, parts->recent[currency]))
		return false;
	return !__builtin_sub_overflow(balance->limit, balance->settled, &balance->available) &&
	       !__builtin_sub_overflow(balance->available, balance->held, &balance->available);
}

/* Which limits of one budget: its own, then the user's cap. */
struct view {
	const struct lt_budget_snapshot *snapshot;
	const struct lt_recent *recent;
	uint32_t budget, uid;
	bool is_user_cap;
};

static bool
view_balance(struct balance *balance, const struct view *view, int period, int currency)
{
	const struct lt_budget *const budget = &view->snapshot->budgets[view->budget];
	const struct lt_period *const p = &budget->periods[period];

	if (!view->is_user_cap)
		return balance_of(balance,
		    &(struct parts){.limit = &p->limit,
			.settled = &p->settled,
			.held = &p->held,
			.recent = recent_of_budget(view->recent, view->budget)->value[period]},
		    currency);
	const struct lt_usage *const usage = usage_find(view->snapshot, view->budget, view->uid);
	const struct lt_user_sums *const sums =
	    recent_of_user(view->recent, view->budget, view->uid);
	const struct parts parts = {
	    .limit = &budget->per_user_limit,
	    .settled = usage != NULL ? &usage->settled[period] : NULL,
	    .held = usage != NULL ? &usage->held[period] : NULL,
	    .recent = sums->held.value[period],
	};
	return balance_of(balance, &parts, currency);
}

/*
 * Call `visit` for each limit that binds a hold of uid and account over [start, end): budgets,
 * periods, the user's cap, both currencies. A balance that passes int64_t comes as NULL.
 */
struct visit {
	const struct view *view;
	const struct lt_budget *budget;
	int period, currency;
	const struct balance *balance;
};
typedef void visitor(void *context, const struct visit *visit);

static void
visit_budget(
    struct view *view, int64_t start_utc_s, int64_t end_utc_s, visitor *call, void *context)
{
	const struct lt_budget *const budget = &view->snapshot->budgets[view->budget];

	for (int period = 0; period < LT_PERIODS; period++) {
		if (!overlaps(&budget->periods[period], start_utc_s, end_utc_s))
			continue;
		for (int cap = 0; cap <= budget->has_per_user; cap++)
			for (int c = 0; c < LT_CURRENCY_KINDS; c++) {
				struct balance balance;

				view->is_user_cap = cap == 1;
				const bool good = view_balance(&balance, view, period, c);
				const struct visit visit = {
				    view, budget, period, c, good ? &balance : NULL};
				if (!good || balance.limited)
					call(context, &visit);
			}
	}
}

static void
visit_all(const struct lt_budget_snapshot *snapshot, const struct lt_recent *recent,
    const struct lt_hold *hold, visitor *call, void *context)
{
	const struct lt_account *const account = &snapshot->accounts[hold->account];

	for (uint32_t i = 0; i < account->binding_count; i++) {
		struct view view = {snapshot, recent,
		    snapshot->bindings[account->first_binding + i], hold->uid, false};

		visit_budget(&view, hold->start_utc_s, hold->end_utc_s, call, context);
	}
}

/* ---- admission ---- */

struct admission {
	const struct lt_hold *hold;
	struct lt_verdict *verdict;
	const char *unknown; /* why */
};

/* The strictest rule first, then the tightest; money before carbon. */
static bool
tighter(const struct lt_verdict *verdict, const struct visit *visit)
{
	const bool is_carbon = visit->currency == LT_CARBON;

	if (verdict->code != LT_OVER)
		return true;
	if (visit->budget->on_exceed != verdict->rule)
		return visit->budget->on_exceed < verdict->rule;
	if (is_carbon != verdict->is_carbon)
		return !is_carbon;
	return visit->balance->available < verdict->available;
}

static void
fill_over(struct lt_verdict *verdict, const struct visit *visit, int64_t asked)
{
	verdict->code = LT_OVER;
	verdict->rule = visit->budget->on_exceed;
	memcpy(verdict->team, visit->budget->team, sizeof(verdict->team));
	memcpy(verdict->label, visit->budget->periods[visit->period].label, sizeof(verdict->label));
	verdict->is_user_cap = visit->view->is_user_cap;
	verdict->is_carbon = visit->currency == LT_CARBON;
	verdict->asked = asked;
	verdict->limit = visit->balance->limit;
	verdict->settled = visit->balance->settled;
	verdict->held = visit->balance->held;
	verdict->available = visit->balance->available;
}

static void
weigh(void *context, const struct visit *visit)
{
	struct admission *const admission = context;
	struct lt_verdict *const verdict = admission->verdict;
	const struct lt_amount *const amount = &admission->hold->amount;

	if (visit->balance == NULL) {
		admission->unknown = "a sum of the budget passes its range";
		return;
	}
	if (!amount_has(amount, visit->currency)) {
		admission->unknown =
		    visit->currency == LT_MONEY
			? "the budget limits money and the job's price is unknown"
			: "the budget limits carbon and the job's carbon is unknown";
		return;
	}
	const int64_t asked = amount_of(amount, visit->currency);
	/* An amount that costs nothing or frees makes nothing worse. */
	if (asked <= 0 || asked <= visit->balance->available || !tighter(verdict, visit))
		return;
	fill_over(verdict, visit, asked);
}

/* Adds what a user holds unseen, but for components of the same job. */
static bool
unseen_of(int64_t *sum, const struct visit *visit, const struct lt_hold *hold)
{
	const struct view *const view = visit->view;
	const struct lt_usage *const usage = usage_find(view->snapshot, view->budget, view->uid);

	*sum = recent_of_user(view->recent, view->budget, view->uid)
		   ->unseen.value[visit->period][visit->currency];
	return (usage == NULL ||
		   lt_add(sum, amount_of(&usage->unseen[visit->period], visit->currency))) &&
	       !__builtin_sub_overflow(*sum, amount_of(&hold->own, visit->currency), sum);
}

/* Lets one job through in any case, and more only while they are few of what is left, lest a loop
 * of --test-only holds it all. */
static void
bound_unseen(void *context, const struct visit *visit)
{
	struct admission *const admission = context;
	const int64_t asked = amount_of(&admission->hold->amount, visit->currency);
	struct lt_verdict *const verdict = admission->verdict;
	int64_t unseen, left;

	if (visit->balance == NULL || visit->view->is_user_cap || asked <= 0 ||
	    verdict->is_unseen || visit->budget->on_exceed > LT_RULE_HOLD ||
	    !unseen_of(&unseen, visit, admission->hold) || unseen <= 0 ||
	    __builtin_add_overflow(visit->balance->available, unseen, &left) ||
	    asked <= left / LT_UNSEEN_PART - unseen)
		return;
	fill_over(verdict, visit, asked);
	verdict->rule = LT_RULE_HOLD;
	verdict->is_unseen = true;
	verdict->available = left;
	verdict->held = unseen;
}

/* direction: +1 adds, -1 takes back. */
static bool
sums_add(struct lt_sums *sums, int period, const struct lt_amount *amount, int direction)
{
	const int64_t add[LT_CURRENCY_KINDS] = {
	    amount->has_money ? amount->money_micros : 0,
	    amount->has_carbon ? amount->carbon_mg : 0,
	};
	bool good = true;

	for (int c = 0; c < LT_CURRENCY_KINDS; c++) {
		int64_t *const sum = &sums->value[period][c];
		int64_t result;
		const bool over = direction > 0 ? __builtin_add_overflow(*sum, add[c], &result)
						: __builtin_sub_overflow(*sum, add[c], &result);

		if (!over)
			*sum = result;
		good = good && !over;
	}
	return good;
}

static bool
user_add(struct lt_recent *recent, uint32_t budget, int period, const struct lt_hold *hold,
    int direction)
{
	struct lt_user_sums *const user = make_recent_user(recent, budget, hold->uid);

	return user != NULL && sums_add(&user->held, period, &hold->amount, direction) &&
	       (!hold->is_new || sums_add(&user->unseen, period, &hold->amount, direction));
}

static void
apply(struct lt_recent *recent, const struct lt_budget_snapshot *snapshot,
    const struct lt_hold *hold, int direction)
{
	if (!lt_sheet_budgeted(snapshot, hold->account))
		return;
	const struct lt_account *const account = &snapshot->accounts[hold->account];
	for (uint32_t i = 0; i < account->binding_count; i++) {
		const uint32_t index = snapshot->bindings[account->first_binding + i];
		const struct lt_budget *const budget = &snapshot->budgets[index];

		for (int period = 0; period < LT_PERIODS; period++) {
			if (!overlaps(&budget->periods[period], hold->start_utc_s, hold->end_utc_s))
				continue;
			bool good = sums_add(
			    recent_of_budget(recent, index), period, &hold->amount, direction);
			if (budget->has_per_user || hold->is_new)
				good = user_add(recent, index, period, hold, direction) && good;
			if (!good)
				recent->overflow = true;
		}
	}
}

void
lt_recent_add(
    struct lt_recent *recent, const struct lt_budget_snapshot *snapshot, const struct lt_hold *hold)
{
	assert(recent->budget_count == snapshot->budget_count);

	apply(recent, snapshot, hold, 1);
}

void
lt_recent_remove(
    struct lt_recent *recent, const struct lt_budget_snapshot *snapshot, const struct lt_hold *hold)
{
	assert(recent->budget_count == snapshot->budget_count);

	apply(recent, snapshot, hold, -1);
}

void
lt_admit(struct lt_verdict *verdict, const struct lt_budget_snapshot *snapshot,
    struct lt_recent *recent, const struct lt_hold *hold)
{
	assert(recent->budget_count == snapshot->budget_count);

	memset(verdict, 0, sizeof(*verdict));
	verdict->code = LT_ADMIT;
	verdict->rule = LT_RULE_ALLOW;
	if (!lt_sheet_budgeted(snapshot, hold->account))
		return;
	struct admission admission = {hold, verdict, NULL};
	if (recent->overflow ||
	    recent->user_count + snapshot->accounts[hold->account].binding_count > recent->user_max)
		admission.unknown = "too much was held since the snapshot";
	visit_all(snapshot, recent, hold, weigh, &admission);
	/* A certain refusal outranks a doubt, unless doubt is ruled harder. */
	if (admission.unknown != NULL &&
	    (verdict->code != LT_OVER || snapshot->on_unknown < verdict->rule)) {
		memset(verdict, 0, sizeof(*verdict));
		verdict->code = LT_UNKNOWN;
		verdict->rule = snapshot->on_unknown;
		verdict->why = admission.unknown;
		return;
	}
	if (hold->is_bounded && (verdict->code == LT_ADMIT || verdict->rule == LT_RULE_WARN))
		visit_all(snapshot, recent, hold, bound_unseen, &admission);
	if (verdict->code == LT_ADMIT || verdict->rule == LT_RULE_WARN)
		lt_recent_add(recent, snapshot, hold);
}

struct narrowing {
	struct lt_amount *available;
	uint32_t rules;
};

static void
narrow(void *context, const struct visit *visit)
{
	const struct narrowing *const narrowing = context;
	struct lt_amount *const available = narrowing->available;
	int64_t *const least =
	    visit->currency == LT_MONEY ? &available->money_micros : &available->carbon_mg;
	bool *const has =
	    visit->currency == LT_MONEY ? &available->has_money : &available->has_carbon;
	/* Out of range: nothing is known to be left. */
	const int64_t left = visit->balance != NULL ? visit->balance->available : 0;

	if (!(narrowing->rules >> visit->budget->on_exceed & 1))
		return;
	*has = true;
	if (left < *least)
		*least = left;
}

void
lt_available(struct lt_amount *available, const struct lt_budget_snapshot *snapshot,
    const struct lt_recent *recent, uint32_t rules, uint32_t uid, int account, int64_t start_utc_s,
    int64_t end_utc_s)
{
	assert(recent->budget_count == snapshot->budget_count);

	*available = (struct lt_amount){.money_micros = INT64_MAX, .carbon_mg = INT64_MAX};
	if (!lt_sheet_budgeted(snapshot, account))
		return;
	const struct lt_hold hold = {
	    .uid = uid, .account = account, .start_utc_s = start_utc_s, .end_utc_s = end_utc_s};
	visit_all(snapshot, recent, &hold, narrow,
	    &(struct narrowing){.available = available, .rules = rules});
}

bool
lt_sheet_new_period(const struct lt_budget_snapshot *snapshot, const struct lt_hold *held,
    int64_t start_utc_s, int64_t end_utc_s)
{
	assert(held->account >= 0 && (uint32_t)held->account < snapshot->account_count);

	const struct lt_account *const account = &snapshot->accounts[held->account];
	for (uint32_t i = 0; i < account->binding_count; i++) {
		const struct lt_period *const periods =
		    snapshot->budgets[snapshot->bindings[account->first_binding + i]].periods;

		for (int p = 0; p < LT_PERIODS; p++)
			if (overlaps(&periods[p], start_utc_s, end_utc_s) &&
			    !overlaps(&periods[p], held->start_utc_s, held->end_utc_s))
				return true;
	}
	return false;
}

bool
lt_sheet_has_time(const struct lt_budget_snapshot *snapshot, int account, int64_t utc_s)
{
	assert(account >= 0 && (uint32_t)account < snapshot->account_count);

	const struct lt_account *const of = &snapshot->accounts[account];
	for (uint32_t i = 0; i < of->binding_count; i++) {
		const struct lt_period *const periods =
		    snapshot->budgets[snapshot->bindings[of->first_binding + i]].periods;

		if (!overlaps(&periods[0], utc_s, utc_s) && !overlaps(&periods[1], utc_s, utc_s))
			return false;
	}
	return true;
}
