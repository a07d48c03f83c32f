/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the budget snapshot: limits from the policy, teams and users from Slurm, settled sums and
 * open holds from the ledger, and W, the ring's position up to which holds are in these figures.
 *
 * Also keeps in the ledger the limits of each period, for reports when it is over, and the secret
 * by which users are drawn into the holdout: made once, given to job_submit in the snapshot.
 *
 * On failure the snapshot before stays.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "books.h"
#include "breath.h"
#include "fits.h"
#include "budget_state.h"
#include "compile_budget.h"
#include "compile_members.h"
#include "files.h"
#include "grow.h"
#include "ledger.h"
#include "paths.h"
#include "policy_load.h"
#include "site.h"
#include "text.h"
#include "units.h"

static const char holdout_name[] = "holdout_key";

static int
make_key(uint64_t key[2], struct lt_ledger *ledger, struct lt_error *err)
{
	char text[40];

	if (getrandom(key, 2 * sizeof(*key), 0) != (ssize_t)(2 * sizeof(*key)))
		return lt_fail(err, LT_EIO, "no random numbers for a key");
	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, key[0], key[1]);
	return lt_ledger_put(ledger, holdout_name, text, err);
}

/* Loads the holdout's key, or makes one if there is none yet. share_ppm 0: no holdout, and no
 * key. */
static int
load_holdout(
    struct lt_holdout *holdout, struct lt_ledger *ledger, uint32_t share_ppm, struct lt_error *err)
{
	char text[40];

	*holdout = (struct lt_holdout){.share_ppm = share_ppm};
	if (share_ppm == 0)
		return LT_OK;
	const int code = lt_ledger_get(ledger, holdout_name, text, sizeof(text), err);

	if (code == LT_OK &&
	    sscanf(text, "%16" SCNx64 "%16" SCNx64, &holdout->key[0], &holdout->key[1]) == 2)
		return LT_OK;
	/* Another key would draw other users: make one only if there is none. */
	if (code != LT_OK && code != LT_ENOENT)
		return code;
	if (err != NULL)
		*err = (struct lt_error){0};
	return make_key(holdout->key, ledger, err);
}

static bool
is_same(const struct lt_budget *a, const struct lt_budget *b)
{
	const struct lt_period *const p = &a->periods[0], *const q = &b->periods[0];

	return strcmp(a->team, b->team) == 0 && p->start_utc_s == q->start_utc_s &&
	       p->end_utc_s == q->end_utc_s && p->limit.has_money == q->limit.has_money &&
	       p->limit.money_micros == q->limit.money_micros &&
	       p->limit.has_carbon == q->limit.has_carbon &&
	       p->limit.carbon_mg == q->limit.carbon_mg;
}

static int
put_limit(struct lt_ledger *ledger, const struct lt_budget *b, bool *begun, struct lt_error *err)
{
	const struct lt_period *const p = &b->periods[0];
	const int code = *begun ? LT_OK : lt_ledger_begin(ledger, err);

	if (code != LT_OK)
		return code;
	*begun = true;
	return lt_ledger_put_limit(
	    ledger, b->team, (struct lt_span){p->start_utc_s, p->end_utc_s}, &p->limit, err);
}

/* Keeps in the ledger what the present budgets allow, for reports of this period when it is over.
 * had: as it was kept last; NULL = not yet. */
static int
keep_limits(struct lt_ledger *ledger, const struct lt_budget_snapshot *had,
    const struct lt_budget_snapshot *has, struct lt_error *err)
{
	bool begun = false; /* nearly always there is nothing to write */
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < has->budget_count; i++) {
		const struct lt_budget *const b = &has->budgets[i];
		const bool is_known =
		    had != NULL && i < had->budget_count && is_same(&had->budgets[i], b);

		if (!is_known && b->periods[0].start_utc_s != b->periods[0].end_utc_s)
			code = put_limit(ledger, b, &begun, err);
	}
	if (begun && code == LT_OK)
		code = lt_ledger_commit(ledger, err);
	if (begun && code != LT_OK)
		lt_ledger_rollback(ledger);
	return code;
}

static void
fill_periods(struct lt_budget *budget, const struct lt_policy_budget *from,
    const struct lt_offsets *offsets, int64_t now_utc_s)
{
	for (int p = 0; p < LT_PERIODS; p++) {
		struct lt_period *const period = &budget->periods[p];

		if (from->period != LT_FIXED)
			lt_calendar_period(period, offsets, from->period, now_utc_s, p);
		else if (p == 0 && now_utc_s < from->end_utc_s) {
			period->start_utc_s = from->start_utc_s;
			period->end_utc_s = from->end_utc_s;
			snprintf(period->label, sizeof(period->label), "the fixed period");
		} else
			continue;
		period->limit = from->limit;
		period->settled.has_money = period->settled.has_carbon = true;
		period->held = period->settled;
	}
}

static int
fill_budgets(struct lt_budget_build *b, const struct lt_policy *policy,
    const struct lt_offsets *offsets, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;

	s->budget_count = (uint32_t)policy->budget_count;
	s->budgets = calloc(s->budget_count + 1u, sizeof(*s->budgets));
	if (s->budgets == NULL)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	for (uint32_t i = 0; i < s->budget_count; i++) {
		const struct lt_policy_budget *const from = &policy->budgets[i];
		struct lt_budget *const budget = &s->budgets[i];

		lt_copy_lower(budget->team, sizeof(budget->team), from->team);
		budget->on_exceed = from->on_exceed;
		budget->per_user_limit = from->per_user;
		budget->has_per_user = from->per_user.has_money || from->per_user.has_carbon;
		fill_periods(budget, from, offsets, b->now_utc_s);
	}
	return LT_OK;
}

static int
bind_one(struct lt_budget_build *b, uint32_t budget, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	uint32_t *const grown =
	    lt_items_grow(s->bindings, &b->binding_capacity, s->binding_count, sizeof(*grown));

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	s->bindings = grown;
	s->bindings[s->binding_count++] = budget;
	return LT_OK;
}

/* Budgets of each account as lists: first[account], next[budget]; -1 ends. */
static int
list_budgets(struct lt_budget_build *b, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &b->snapshot;

	b->first = malloc((s->account_count + 1u) * sizeof(*b->first));
	b->next = malloc((s->budget_count + 1u) * sizeof(*b->next));
	if (b->first == NULL || b->next == NULL)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	for (uint32_t i = 0; i < s->account_count; i++)
		b->first[i] = -1;
	for (uint32_t k = s->budget_count; k-- > 0;) {
		const int account = lt_sheet_account(s, s->budgets[k].team);

		b->next[k] = -1;
		if (account < 0)
			continue;
		b->next[k] = b->first[account];
		b->first[account] = (int)k;
	}
	return LT_OK;
}

/* Binds each account by its own budgets and those of all above it. */
static int
fill_bindings(struct lt_budget_build *b, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	const int listed = list_budgets(b, err);

	if (listed != LT_OK)
		return listed;
	for (uint32_t i = 0; i < s->account_count; i++) {
		struct lt_account *const account = &s->accounts[i];

		account->first_binding = s->binding_count;
		int at = (int)i;
		for (int depth = 0; at >= 0 && depth < LT_TREE_DEPTH_MAX; depth++) {
			for (int k = b->first[at]; k >= 0; k = b->next[k]) {
				const int code = bind_one(b, (uint32_t)k, err);

				if (code != LT_OK)
					return code;
			}
			at = b->parents[at];
		}
		account->binding_count = s->binding_count - account->first_binding;
		if (account->binding_count > LT_BINDINGS_MAX)
			return lt_fail(err, LT_ELIMIT, "account %s: bound by %u budgets, limit %d",
			    account->name, account->binding_count, LT_BINDINGS_MAX);
	}
	return LT_OK;
}

/* Returns the usage row of a user, made when absent; kept sorted. */
static struct lt_usage *
usage_of(struct lt_budget_build *b, uint32_t budget, uint32_t uid)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	uint32_t low = 0, high = s->usage_count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;
		const struct lt_usage *const u = &s->usages[middle];

		if (u->budget < budget || (u->budget == budget && u->uid < uid))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < s->usage_count && s->usages[low].budget == budget && s->usages[low].uid == uid)
		return &s->usages[low];
	if (s->usage_count >= LT_USAGES_MAX)
		return NULL;
	struct lt_usage *const grown =
	    lt_items_grow(s->usages, &b->usage_capacity, s->usage_count, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	s->usages = grown;
	memmove(&s->usages[low + 1], &s->usages[low], (s->usage_count - low) * sizeof(*s->usages));
	struct lt_usage *const u = &s->usages[low];
	*u = (struct lt_usage){.budget = budget, .uid = uid};
	for (int p = 0; p < LT_PERIODS; p++) {
		u->settled[p].has_money = u->settled[p].has_carbon = true;
		u->unseen[p] = u->held[p] = u->settled[p];
	}
	s->usage_count++;
	return u;
}

static bool
add_amount(struct lt_amount *sum, const struct lt_amount *amount)
{
	return (!amount->has_money || lt_add(&sum->money_micros, amount->money_micros)) &&
	       (!amount->has_carbon || lt_add(&sum->carbon_mg, amount->carbon_mg));
}

struct addend {
	uint32_t budget;
	int period;
	uint32_t uid;
	bool is_held; /* false: settled */
	bool is_unseen;
	struct lt_amount amount;
};

static bool
add_usage(struct lt_usage *u, const struct addend *from)
{
	struct lt_amount *const of = from->is_held ? u->held : u->settled;

	return add_amount(&of[from->period], &from->amount) &&
	       (!from->is_unseen || add_amount(&u->unseen[from->period], &from->amount));
}

/* Adds to one budget's period, and to its user. */
static int
add_to(struct lt_budget_build *b, const struct addend *from, struct lt_error *err)
{
	struct lt_budget *const to = &b->snapshot.budgets[from->budget];
	struct lt_period *const p = &to->periods[from->period];
	bool fits = add_amount(from->is_held ? &p->held : &p->settled, &from->amount);

	/* An adjustment, which nobody used, does not raise anybody's cap. */
	if ((to->has_per_user || from->is_unseen) && from->uid != LT_NOBODY_UID) {
		struct lt_usage *const u = usage_of(b, from->budget, from->uid);

		if (u == NULL && to->has_per_user)
			return lt_fail(err, LT_ELIMIT,
			    "budget: more than %d capped users, or out of memory", LT_USAGES_MAX);
		fits = fits && (u == NULL || add_usage(u, from));
	}
	return fits ? LT_OK
		    : lt_fail(err, LT_EOVERFLOW, "budget: sums of team %s pass 64 bits", to->team);
}

/* Adds a span's sum to the periods of a budget that are that span. */
static int
add_sum(struct lt_budget_build *b, struct addend *sum, const struct lt_period *span,
    struct lt_error *err)
{
	int code = LT_OK;

	for (int p = 0; code == LT_OK && p < LT_PERIODS; p++) {
		const struct lt_period *const q = &b->snapshot.budgets[sum->budget].periods[p];

		sum->period = p;
		if (q->start_utc_s == span->start_utc_s && q->end_utc_s == span->end_utc_s)
			code = add_to(b, sum, err);
	}
	return code;
}

/* Adds the settled sums of one period's span to every budget that has that span, by the accounts
 * that were above each when it was booked. */
static int
add_span(struct lt_budget_build *b, struct lt_ledger *ledger, const struct lt_period *span,
    struct lt_error *err)
{
	struct lt_account_sum *sums = NULL;
	uint32_t count = 0;
	int code = lt_ledger_sums(
	    ledger, (struct lt_span){span->start_utc_s, span->end_utc_s}, &sums, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		int at = lt_sheet_account(&b->snapshot, sums[i].account);
		struct addend sum = {.uid = sums[i].uid,
		    .amount = {true, true, sums[i].money_micros, sums[i].carbon_mg}};

		for (int depth = 0; at >= 0 && depth < LT_TREE_DEPTH_MAX; depth++) {
			for (int k = b->first[at]; code == LT_OK && k >= 0; k = b->next[k]) {
				sum.budget = (uint32_t)k;
				code = add_sum(b, &sum, span, err);
			}
			at = lt_sheet_parent_then(
			    &b->snapshot, b->moves, (uint32_t)at, sums[i].tree_utc_s);
		}
	}
	free(sums);
	return code;
}

static int
add_settled(struct lt_budget_build *b, struct lt_ledger *ledger, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &b->snapshot;

	for (uint32_t i = 0; i < s->budget_count * LT_PERIODS; i++) {
		const struct lt_period *const span =
		    &s->budgets[i / LT_PERIODS].periods[i % LT_PERIODS];
		bool done = span->start_utc_s >= span->end_utc_s;

		for (uint32_t k = 0; k < i && !done; k++) {
			const struct lt_period *const before =
			    &s->budgets[k / LT_PERIODS].periods[k % LT_PERIODS];

			done = before->start_utc_s == span->start_utc_s &&
			       before->end_utc_s == span->end_utc_s;
		}
		const int code = done ? LT_OK : add_span(b, ledger, span, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

static void
count_hold(struct lt_open_holds *open, const struct lt_ledger_hold *hold)
{
	static const uint32_t held = LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN;
	int64_t money_micros;

	open->count++;
	if (hold->start_utc_s)
		return;
	open->pending++;
	open->held_back += (hold->quote.flags & held) != 0;
	if (!lt_scale_up(
		hold->quote.hold_per_task.money_micros, hold->live_tasks, 1, &money_micros) ||
	    !lt_add(&open->pending_money_micros, money_micros))
		open->pending_money_micros = INT64_MAX; /* in observe nothing bounds it */
}

/* Draws from the hold what its ended runs were charged: the settled sums have that. */
static int
draw(struct lt_amount *held, struct lt_ledger *ledger, const struct lt_ledger_hold *hold,
    struct lt_error *err)
{
	struct lt_amount charged;
	const int code = lt_ledger_charged_of(ledger, hold, &charged, err);

	if (code != LT_OK)
		return code;
	held->money_micros -=
	    charged.money_micros < held->money_micros ? charged.money_micros : held->money_micros;
	held->carbon_mg -=
	    charged.carbon_mg < held->carbon_mg ? charged.carbon_mg : held->carbon_mg;
	return LT_OK;
}

static int
hold_for(struct lt_budget_build *b, uint32_t budget, const struct lt_ledger_hold *hold,
    struct lt_error *err)
{
	struct addend part = {
	    .budget = budget, .uid = hold->uid, .is_held = true, .is_unseen = hold->job_id == 0};
	int code = LT_OK;

	for (int p = 0; code == LT_OK && p < LT_PERIODS; p++) {
		part.period = p;
		if (lt_hold_part(
			&part.amount, hold, &b->snapshot.budgets[budget].periods[p], b->now_utc_s))
			code = add_to(b, &part, err);
	}
	return code;
}

static bool
is_bound(const struct lt_budget_snapshot *s, const struct lt_account *account, uint32_t budget)
{
	for (uint32_t k = 0; k < account->binding_count; k++)
		if (s->bindings[account->first_binding + k] == budget)
			return true;
	return false;
}

/* Holds for the budgets that bound its account when the run began and no longer do: its cost until
 * the move will be booked there. */
static int
hold_for_former(struct lt_budget_build *b, uint32_t account, const struct lt_ledger_hold *hold,
    struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &b->snapshot;
	int at = (int)account, code = LT_OK;

	for (int depth = 0; at >= 0 && depth < LT_TREE_DEPTH_MAX; depth++) {
		for (int k = b->first[at]; code == LT_OK && k >= 0; k = b->next[k])
			if (!is_bound(s, &s->accounts[account], (uint32_t)k))
				code = hold_for(b, (uint32_t)k, hold, err);
		at = lt_sheet_parent_then(s, b->moves, (uint32_t)at, hold->start_utc_s);
	}
	return code;
}

static int
add_hold(void *build, const struct lt_ledger_hold *made, struct lt_error *err)
{
	struct lt_budget_build *const b = build;
	struct lt_ledger_hold drawn;
	const struct lt_ledger_hold *hold = made;
	int code = LT_OK;

	if ((made->quote.flags & LT_QUOTE_DRAWN) && made->start_utc_s != 0) {
		drawn = *made;
		code = draw(&drawn.quote.hold_per_task, b->ledger, made, err);
		if (code != LT_OK)
			return code;
		hold = &drawn;
	}
	const struct lt_budget_snapshot *const s = &b->snapshot;
	const int account = lt_sheet_account(s, hold->quote.account);

	lt_breath(LT_TURN_READ);
	count_hold(&b->open, hold);
	if (account < 0 || !lt_hold_counts(hold))
		return LT_OK;
	const struct lt_account *const a = &s->accounts[account];
	for (uint32_t k = 0; code == LT_OK && k < a->binding_count; k++)
		code = hold_for(b, s->bindings[a->first_binding + k], hold, err);
	if (code == LT_OK && hold->start_utc_s != 0 && b->moves->count > 0)
		code = hold_for_former(b, (uint32_t)account, hold, err);
	return code;
}

/* Returns when it was last judged which holds fit into the periods; 0 = never. */
static int64_t
judged_utc_s(struct lt_ledger *ledger)
{
	int64_t at;

	return lt_ledger_get_number(ledger, "periods_judged", 1, &at) ? at : 0;
}

int
lt_period_judged(struct lt_budget_state *budget, struct lt_ledger *ledger, int64_t now_utc_s,
    struct lt_error *err)
{
	budget->period_began = false;
	return lt_ledger_put_number(ledger, "periods_judged", now_utc_s, err);
}

/* Writes whom budgets bind, for a job_submit that can't read the snapshot:
 * without figures, so only when that changes. */
static int
publish_bound(struct lt_budget_state *budget, const struct lt_paths *paths, struct lt_error *err)
{
	struct lt_budget_snapshot bound = budget->snapshot;
	struct lt_budget *const budgets = calloc(bound.budget_count + 1u, sizeof(*budgets));
	unsigned char *bytes = NULL;
	size_t byte_count = 0;

	if (budgets == NULL)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	for (uint32_t i = 0; i < bound.budget_count; i++)
		memcpy(budgets[i].team, bound.budgets[i].team, sizeof(budgets[i].team));
	bound.budgets = budgets;
	bound.usage_count = 0;
	bound.generation = bound.ring_generation = bound.ring_absorbed = 0;
	bound.compiled_utc_s = bound.jobs_utc_s = 0;
	bound.ready = false;
	bound.holdout = (struct lt_holdout){0};
	int code = lt_sheet_pack(&bound, &bytes, &byte_count, err);
	const uint32_t crc = code == LT_OK ? lt_crc32c(0, bytes, byte_count) : 0;
	if (code == LT_OK && (crc != budget->bound_crc || access(paths->bound, F_OK) != 0))
		code = lt_sheet_save(&bound, paths->bound, err);
	if (code == LT_OK)
		budget->bound_crc = crc;
	free(budgets);
	free(bytes);
	return code;
}

static int
publish(struct lt_ledger *ledger, struct lt_budget_state *budget, const struct lt_paths *paths,
    const struct lt_budget_snapshot *snapshot, struct lt_error *err)
{
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	struct lt_budget_snapshot loaded;
	int code = lt_sheet_pack(snapshot, &bytes, &byte_count, err);

	if (code != LT_OK)
		return code;
	code = lt_sheet_unpack(&loaded, bytes, byte_count, err);
	free(bytes);
	if (code != LT_OK)
		return code;
	code = keep_limits(ledger, budget->has_snapshot ? &budget->snapshot : NULL, &loaded, err);
	if (code != LT_OK) {
		lt_sheet_free(&loaded);
		return code;
	}
	int64_t judged = judged_utc_s(ledger);
	if (judged > snapshot->compiled_utc_s)
		judged = 0; /* by a clock that has been set back since */
	for (uint32_t i = 0; i < loaded.budget_count; i++)
		if (loaded.budgets[i].periods[0].start_utc_s > judged)
			budget->period_began = true;
	if (budget->has_snapshot)
		lt_sheet_free(&budget->snapshot);
	budget->snapshot = loaded;
	budget->has_snapshot = true;
	budget->is_of_other_clock = false;
	code = publish_bound(budget, paths, err);
	return code == LT_OK ? lt_sheet_save(&budget->snapshot, paths->snapshot, err) : code;
}

int
lt_compile_budget(const struct lt_books *books, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_budget_build b = {
	    .ledger = books->ledger, .moves = &books->site->tables.moves, .now_utc_s = now_utc_s};
	struct lt_budget_snapshot *const s = &b.snapshot;

	s->generation = books->budget->has_snapshot ? books->budget->snapshot.generation + 1 : 0;
	if (s->generation < (uint64_t)now_utc_s)
		s->generation = (uint64_t)now_utc_s; /* rises over restarts */
	s->compiled_utc_s = now_utc_s;
	s->ring_generation = books->ring->generation;
	s->ring_absorbed = books->ring->ingested;
	s->ready = books->jobs->quotes_loaded;
	/* job_submit may have no market to learn the mode from. */
	s->on_unknown = lt_policy_unknown_rule(books->site->policy);
	s->stale_after_s = LT_SHEET_STALE_S;
	s->jobs_utc_s = books->jobs->followed ? books->jobs->list.begun_utc_s : 0;
	int code = load_holdout(&s->holdout, books->ledger, books->site->policy->holdout_ppm, err);
	if (code == LT_OK)
		code = lt_fill_accounts(&b, &books->site->tables, books->site->policy, err);
	if (code == LT_OK)
		code = lt_fill_pairs(&b, &books->site->tables, err);
	if (code == LT_OK)
		code = lt_fill_managers(&b, &books->site->tables, err);
	if (code == LT_OK)
		lt_mark_arrays(&b, &books->jobs->list);
	if (code == LT_OK)
		code = fill_budgets(&b, books->site->policy, &books->site->offsets, err);
	if (code == LT_OK)
		code = fill_bindings(&b, err);
	if (code == LT_OK)
		code = add_settled(&b, books->ledger, err);
	if (code == LT_OK)
		code = lt_ledger_each_open(books->ledger, add_hold, &b, err);
	if (code == LT_OK)
		books->budget->open = b.open;
	if (code == LT_OK)
		code = publish(books->ledger, books->budget, books->paths, s, err);
	if (code == LT_OK && !books->budget->counted_utc_s)
		books->budget->counted_utc_s = now_utc_s;
	free(b.parents);
	free(b.first);
	free(b.next);
	free(s->accounts);
	free(s->pairs);
	free(s->managers);
	free(s->budgets);
	free(s->bindings);
	free(s->usages);
	return code;
}

int
lt_renew_budget(struct lt_budget_state *budget, const struct lt_paths *paths, int64_t now_utc_s,
    struct lt_error *err)
{
	budget->snapshot.compiled_utc_s = now_utc_s;
	return lt_sheet_save(&budget->snapshot, paths->snapshot, err);
}
