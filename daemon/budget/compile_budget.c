/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budget snapshot: limits from the policy, teams and users from Slurm,
 * settled sums and open holds from the ledger, and W of the ring with those
 * holds in its figures.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile_budget.h"
#include "daemon.h"
#include "grow.h"
#include "budget_snapshot.h"
#include "units.h"

struct build {
	struct lt_budget_snapshot snapshot;
	int *parents;	   /* by account index; -1 = none */
	int *first, *next; /* budgets by account */
	size_t binding_capacity, usage_capacity;
	int64_t now_utc_s;
};

static void
lower(char *out, size_t size, const char *text)
{
	size_t i = 0;
	for (; text[i] && i + 1 < size; i++)
		out[i] = (char)tolower((unsigned char)text[i]);
	out[i] = '\0';
}

static int
compare_accounts(const void *a, const void *b)
{
	return strcmp(((const struct lt_account *)a)->name,
	    ((const struct lt_account *)b)->name);
}

/* Slurm's accounts, and teams of the policy that Slurm no longer has: what
 * they spent still counts. */
static int
fill_accounts(struct build *b, const struct lt_tables *tables,
    const struct lt_policy *policy, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	const size_t most =
	    (size_t)tables->account_count + (size_t)policy->budget_count + 1;
	if (tables->account_count > LT_ACCOUNTS_MAX)
		return lt_fail(err, LT_ELIMIT,
		    "Slurm has %u accounts, limit %d", tables->account_count,
		    LT_ACCOUNTS_MAX);
	s->accounts = calloc(most, sizeof(*s->accounts));
	b->parents = calloc(most, sizeof(*b->parents));
	if (!s->accounts || !b->parents)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	uint32_t n = 0;
	for (uint32_t i = 0; i < tables->account_count; i++)
		lower(s->accounts[n++].name, LT_ACCOUNT_SIZE,
		    tables->accounts[i].name);
	for (int i = 0; i < policy->budget_count; i++)
		lower(s->accounts[n++].name, LT_ACCOUNT_SIZE,
		    policy->budgets[i].team);
	qsort(s->accounts, n, sizeof(*s->accounts), compare_accounts);
	for (uint32_t i = 0; i < n; i++)
		if (s->account_count == 0 ||
		    strcmp(s->accounts[i].name,
			s->accounts[s->account_count - 1].name) != 0)
			s->accounts[s->account_count++] = s->accounts[i];
	for (uint32_t i = 0; i < s->account_count; i++)
		b->parents[i] = -1;
	for (uint32_t i = 0; i < tables->account_count; i++) {
		const int account =
		    lt_sheet_account(s, tables->accounts[i].name);
		if (account >= 0 && tables->accounts[i].parent[0])
			b->parents[account] =
			    lt_sheet_account(s, tables->accounts[i].parent);
	}
	for (uint32_t i = 0; i < s->account_count; i++)
		s->accounts[i].parent = (uint32_t)(b->parents[i] + 1);
	return LT_OK;
}

static int
compare_pairs(const void *a, const void *b)
{
	const struct lt_pair *const x = a, *const y = b;
	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->account < y->account ? -1 : x->account > y->account;
}

static int
fill_pairs(
    struct build *b, const struct lt_tables *tables, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	if (tables->pair_count > LT_PAIRS_MAX)
		return lt_fail(err, LT_ELIMIT,
		    "Slurm has %u associations, limit %d", tables->pair_count,
		    LT_PAIRS_MAX);
	s->pairs = calloc((size_t)tables->pair_count + 1, sizeof(*s->pairs));
	if (!s->pairs)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	for (uint32_t i = 0; i < tables->pair_count; i++) {
		const int account =
		    lt_sheet_account(s, tables->pairs[i].account);
		if (account < 0)
			continue;
		s->pairs[s->pair_count++] =
		    (struct lt_pair){.uid = tables->pairs[i].uid,
			.account = (uint32_t)account,
			.is_default = tables->pairs[i].is_default};
	}
	qsort(s->pairs, s->pair_count, sizeof(*s->pairs), compare_pairs);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->pair_count; i++) {
		if (n > 0 && !compare_pairs(&s->pairs[i], &s->pairs[n - 1])) {
			s->pairs[n - 1].is_default |= s->pairs[i].is_default;
			continue;
		}
		s->pairs[n++] = s->pairs[i];
	}
	s->pair_count = n;
	return LT_OK;
}

static int
compare_managers(const void *a, const void *b)
{
	const struct lt_manager *const x = a, *const y = b;
	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->account < y->account ? -1 : x->account > y->account;
}

/* A coordinator of an account is one of those below it: Slurm names them all,
 * the snapshot only those of which the account above is not his. */
static bool
is_implied(const struct lt_budget_snapshot *s, const struct lt_manager *manager)
{
	const uint32_t above =
	    manager->account ? s->accounts[manager->account - 1].parent : 0;
	const struct lt_manager parent = {manager->uid, above};
	return above > 0 && bsearch(&parent, s->managers, s->manager_count,
				sizeof(parent), compare_managers);
}

static int
fill_managers(
    struct build *b, const struct lt_tables *tables, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	struct lt_manager *const kept =
	    calloc((size_t)tables->manager_count + 1, sizeof(*kept));
	s->managers = calloc((size_t)tables->manager_count + 1, sizeof(*kept));
	if (!s->managers || !kept) {
		free(kept);
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	}
	for (uint32_t i = 0; i < tables->manager_count; i++) {
		const struct lt_slurm_manager *const from =
		    &tables->managers[i];
		const int account =
		    from->account[0] ? lt_sheet_account(s, from->account) : -1;
		if (!from->account[0] || account >= 0)
			s->managers[s->manager_count++] = (struct lt_manager){
			    from->uid, (uint32_t)(account + 1)};
	}
	qsort(s->managers, s->manager_count, sizeof(*kept), compare_managers);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->manager_count; i++)
		if (!is_implied(s, &s->managers[i]) &&
		    (n == 0 || compare_managers(&kept[n - 1], &s->managers[i])))
			kept[n++] = s->managers[i];
	free(s->managers);
	s->managers = kept;
	s->manager_count = n;
	return LT_OK;
}

/* Where tasks of an array wait, which get job ids of their own. */
static void
mark_arrays(struct build *b, const struct lt_slurm_jobs *list)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct lt_slurm_job *const job = &list->jobs[i];
		const int account = lt_sheet_account(s, job->account);
		const struct lt_pair wanted = {
		    .uid = job->uid, .account = (uint32_t)account};
		if (job->state != LT_JOB_PENDING || !job->array_job_id ||
		    job->array_task != UINT32_MAX || account < 0)
			continue;
		struct lt_pair *const pair = bsearch(&wanted, s->pairs,
		    s->pair_count, sizeof(wanted), compare_pairs);
		if (pair)
			pair->has_array = true;
	}
}

static void
fill_periods(struct lt_budget *budget, const struct lt_policy_budget *from,
    const struct lt_offsets *offsets, int64_t now_utc_s)
{
	for (int p = 0; p < LT_PERIODS; p++) {
		struct lt_period *const period = &budget->periods[p];
		if (from->period != LT_FIXED)
			lt_calendar_period(
			    period, offsets, from->period, now_utc_s, p);
		else if (p == 0 && now_utc_s < from->end_utc_s) {
			period->start_utc_s = from->start_utc_s;
			period->end_utc_s = from->end_utc_s;
			snprintf(period->label, sizeof(period->label),
			    "the fixed period");
		} else
			continue;
		period->limit = from->limit;
		period->settled.has_money = period->settled.has_carbon = true;
		period->held = period->settled;
	}
}

static int
fill_budgets(struct build *b, const struct lt_policy *policy,
    const struct lt_offsets *offsets, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	s->budget_count = (uint32_t)policy->budget_count;
	s->budgets = calloc(s->budget_count + 1u, sizeof(*s->budgets));
	if (!s->budgets)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	for (uint32_t i = 0; i < s->budget_count; i++) {
		const struct lt_policy_budget *const from = &policy->budgets[i];
		struct lt_budget *const budget = &s->budgets[i];
		lower(budget->team, sizeof(budget->team), from->team);
		budget->on_exceed = from->on_exceed;
		budget->per_user_limit = from->per_user;
		budget->has_per_user =
		    from->per_user.has_money || from->per_user.has_carbon;
		fill_periods(budget, from, offsets, b->now_utc_s);
	}
	return LT_OK;
}

static int
bind_one(struct build *b, uint32_t budget, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	uint32_t *const grown = lt_items_grow(s->bindings, &b->binding_capacity,
	    s->binding_count, sizeof(*grown));
	if (!grown)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	s->bindings = grown;
	s->bindings[s->binding_count++] = budget;
	return LT_OK;
}

/* Budgets of each account as lists: first[account], next[budget]; -1 ends. */
static int
list_budgets(struct build *b, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &b->snapshot;
	b->first = malloc((s->account_count + 1u) * sizeof(*b->first));
	b->next = malloc((s->budget_count + 1u) * sizeof(*b->next));
	if (!b->first || !b->next)
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

/* An account is bound by its own budgets and those of all above it. */
static int
fill_bindings(struct build *b, struct lt_error *err)
{
	enum { DEPTH_MAX = 64 }; /* a loop in Slurm's tree ends here */
	struct lt_budget_snapshot *const s = &b->snapshot;
	const int listed = list_budgets(b, err);
	if (listed != LT_OK)
		return listed;
	for (uint32_t i = 0; i < s->account_count; i++) {
		struct lt_account *const account = &s->accounts[i];
		account->first_binding = s->binding_count;
		int at = (int)i;
		for (int depth = 0; at >= 0 && depth < DEPTH_MAX; depth++) {
			for (int k = b->first[at]; k >= 0; k = b->next[k]) {
				const int code = bind_one(b, (uint32_t)k, err);
				if (code != LT_OK)
					return code;
			}
			at = b->parents[at];
		}
		account->binding_count =
		    s->binding_count - account->first_binding;
		if (account->binding_count > LT_BINDINGS_MAX)
			return lt_fail(err, LT_ELIMIT,
			    "account %s: bound by %u budgets, limit %d",
			    account->name, account->binding_count,
			    LT_BINDINGS_MAX);
	}
	return LT_OK;
}

/* The usage row of a capped user, made when absent; kept sorted. */
static struct lt_usage *
usage_of(struct build *b, uint32_t budget, uint32_t uid)
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
	if (low < s->usage_count && s->usages[low].budget == budget &&
	    s->usages[low].uid == uid)
		return &s->usages[low];
	if (s->usage_count >= LT_USAGES_MAX)
		return NULL;
	struct lt_usage *const grown = lt_items_grow(
	    s->usages, &b->usage_capacity, s->usage_count, sizeof(*grown));
	if (!grown)
		return NULL;
	s->usages = grown;
	memmove(&s->usages[low + 1], &s->usages[low],
	    (s->usage_count - low) * sizeof(*s->usages));
	struct lt_usage *const u = &s->usages[low];
	*u = (struct lt_usage){.budget = budget, .uid = uid};
	for (int p = 0; p < LT_PERIODS; p++) {
		u->settled[p].has_money = u->settled[p].has_carbon = true;
		u->held[p] = u->settled[p];
	}
	s->usage_count++;
	return u;
}

static bool
add_amount(struct lt_amount *sum, const struct lt_amount *amount)
{
	return (!amount->has_money ||
		   lt_add(&sum->money_micros, amount->money_micros)) &&
	       (!amount->has_carbon ||
		   lt_add(&sum->carbon_mg, amount->carbon_mg));
}

/* Add to one budget's period, and to its capped user. */
static int
add_to(struct build *b, uint32_t budget, int period, uint32_t uid, bool held,
    const struct lt_amount *amount, struct lt_error *err)
{
	struct lt_budget *const to = &b->snapshot.budgets[budget];
	struct lt_period *const p = &to->periods[period];
	bool fits = add_amount(held ? &p->held : &p->settled, amount);
	if (to->has_per_user) {
		struct lt_usage *const u = usage_of(b, budget, uid);
		if (!u)
			return lt_fail(err, LT_ELIMIT,
			    "budget: more than %d capped users, or out of memory",
			    LT_USAGES_MAX);
		fits = fits &&
		       add_amount(held ? &u->held[period] : &u->settled[period],
			   amount);
	}
	return fits ? LT_OK
		    : lt_fail(err, LT_EOVERFLOW,
			  "budget: sums of team %s pass 64 bits", to->team);
}

/* Settled sums of one period's span into every budget that has that span. */
static int
add_span(struct build *b, struct lt_ledger *ledger,
    const struct lt_period *span, struct lt_error *err)
{
	struct lt_account_sum *sums = NULL;
	uint32_t count = 0;
	int code = lt_ledger_sums(
	    ledger, span->start_utc_s, span->end_utc_s, &sums, &count, err);
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_budget_snapshot *const s = &b->snapshot;
		const int account = lt_sheet_account(s, sums[i].account);
		const struct lt_amount amount = {
		    true, true, sums[i].money_micros, sums[i].carbon_mg};
		if (account < 0)
			continue;
		const struct lt_account *const a = &s->accounts[account];
		for (uint32_t k = 0; k < a->binding_count; k++) {
			const uint32_t budget =
			    s->bindings[a->first_binding + k];
			for (int p = 0; code == LT_OK && p < LT_PERIODS; p++) {
				const struct lt_period *const q =
				    &s->budgets[budget].periods[p];
				if (q->start_utc_s == span->start_utc_s &&
				    q->end_utc_s == span->end_utc_s)
					code = add_to(b, budget, p, sums[i].uid,
					    false, &amount, err);
			}
		}
	}
	free(sums);
	return code;
}

static int
add_settled(struct build *b, struct lt_ledger *ledger, struct lt_error *err)
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

static int
add_hold(
    struct build *b, const struct lt_ledger_hold *hold, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &b->snapshot;
	const int account = lt_sheet_account(s, hold->quote.account);
	if (account < 0 || !lt_hold_counts(hold))
		return LT_OK;
	const struct lt_account *const a = &s->accounts[account];
	for (uint32_t k = 0; k < a->binding_count; k++) {
		const uint32_t budget = s->bindings[a->first_binding + k];
		for (int p = 0; p < LT_PERIODS; p++) {
			struct lt_amount part;
			if (!lt_hold_part(&part, hold,
				&s->budgets[budget].periods[p], b->now_utc_s))
				continue;
			const int code =
			    add_to(b, budget, p, hold->uid, true, &part, err);
			if (code != LT_OK)
				return code;
		}
	}
	return LT_OK;
}

static int
add_holds(struct build *b, struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_ledger_hold *holds = NULL;
	uint32_t count = 0;
	int code = lt_ledger_open_holds(ledger, &holds, &count, err);
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		code = add_hold(b, &holds[i], err);
	free(holds);
	return code;
}

/* When it was last judged who fits into the periods; 0 = never. */
static int64_t
judged_utc_s(struct lt_ledger *ledger)
{
	char value[32];
	int64_t at = 0;
	if (lt_ledger_get(ledger, "periods_judged", value, sizeof(value),
		NULL) != LT_OK ||
	    lt_int64_parse(value, 1, INT64_MAX, &at, NULL) != LT_OK)
		return 0;
	return at;
}

int
lt_period_judged(struct lt_budget_state *budget, struct lt_ledger *ledger,
    int64_t now_utc_s, struct lt_error *err)
{
	char value[32];
	snprintf(value, sizeof(value), "%lld", (long long)now_utc_s);
	budget->period_began = false;
	return lt_ledger_put(ledger, "periods_judged", value, err);
}

static int
publish(struct lt_daemon *d, const struct lt_budget_snapshot *snapshot,
    struct lt_error *err)
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
	int64_t judged = judged_utc_s(d->ledger);
	if (judged > snapshot->compiled_utc_s)
		judged = 0; /* by a clock that has been set back since */
	for (uint32_t i = 0; i < loaded.budget_count; i++)
		if (loaded.budgets[i].periods[0].start_utc_s > judged)
			d->budget.period_began = true;
	if (d->budget.has_snapshot)
		lt_sheet_free(&d->budget.snapshot);
	d->budget.snapshot = loaded;
	d->budget.has_snapshot = true;
	return lt_sheet_save(&d->budget.snapshot, d->paths.snapshot, err);
}

int
lt_compile_budget(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct build b = {.now_utc_s = now_utc_s};
	struct lt_budget_snapshot *const s = &b.snapshot;
	s->generation =
	    d->budget.has_snapshot ? d->budget.snapshot.generation + 1 : 0;
	if (s->generation < (uint64_t)now_utc_s)
		s->generation = (uint64_t)now_utc_s; /* rises over restarts */
	s->compiled_utc_s = now_utc_s;
	s->ring_generation = d->ring.generation;
	s->ring_absorbed = d->ring.ingested;
	s->ready = d->jobs.quotes_loaded;
	/* job_submit may have no market to learn the mode from. */
	s->on_unknown = lt_mode_may(d->policy->mode, LT_MAY_REFUSE)
			    ? d->policy->on_unknown
			    : LT_RULE_ALLOW;
	s->stale_after_s = LT_SHEET_STALE_S;
	s->jobs_utc_s = d->jobs.followed ? d->jobs.list.begun_utc_s : 0;
	int code = fill_accounts(&b, &d->tables, d->policy, err);
	if (code == LT_OK)
		code = fill_pairs(&b, &d->tables, err);
	if (code == LT_OK)
		code = fill_managers(&b, &d->tables, err);
	if (code == LT_OK)
		mark_arrays(&b, &d->jobs.list);
	if (code == LT_OK)
		code = fill_budgets(&b, d->policy, &d->offsets, err);
	if (code == LT_OK)
		code = fill_bindings(&b, err);
	if (code == LT_OK)
		code = add_settled(&b, d->ledger, err);
	if (code == LT_OK)
		code = add_holds(&b, d->ledger, err);
	if (code == LT_OK)
		code = publish(d, s, err);
	if (code == LT_OK && !d->budget.counted_utc_s)
		d->budget.counted_utc_s = now_utc_s;
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
