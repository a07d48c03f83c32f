/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/budget, POST /v1/budget/adjust, GET /v1/balance, GET /v1/balances:
 * budgets with what is spent, held and left, for teams and for users; an adjustment is written to
 * the ledger. Budgets are read from the snapshot in memory. Without one the answer is 503; an
 * adjustment that the ledger refuses is an error and changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "alerts.h"
#include "daemon.h"
#include "log.h"
#include "lookup.h"

struct figures { /* of a team or of one capped user, one period */
	const struct lt_amount *limit, *settled, *held;
};

static void
add_figures(json_t *to, const struct figures *f)
{
	json_object_set_new(
	    to, "limit_micros", lt_api_optional(f->limit->has_money, f->limit->money_micros));
	json_object_set_new(
	    to, "limit_mg", lt_api_optional(f->limit->has_carbon, f->limit->carbon_mg));
	json_object_set_new(to, "spent_micros", json_integer(f->settled->money_micros));
	json_object_set_new(to, "spent_mg", json_integer(f->settled->carbon_mg));
	json_object_set_new(to, "held_micros", json_integer(f->held->money_micros));
	json_object_set_new(to, "held_mg", json_integer(f->held->carbon_mg));
	json_object_set_new(to, "available_micros",
	    lt_api_optional(f->limit->has_money,
		f->limit->money_micros - f->settled->money_micros - f->held->money_micros));
	json_object_set_new(to, "available_mg",
	    lt_api_optional(f->limit->has_carbon,
		f->limit->carbon_mg - f->settled->carbon_mg - f->held->carbon_mg));
}

static const char *
period_name(const struct lt_policy *policy, uint32_t budget)
{
	static const char *const names[LT_PERIOD_KIND_COUNT] = {[LT_MONTH] = "month",
	    [LT_QUARTER] = "quarter",
	    [LT_YEAR] = "year",
	    [LT_FIXED] = "fixed"};

	if ((int)budget >= policy->budget_count)
		return "month";
	return LT_WORD(names, policy->budgets[budget].period);
}

/* The alerts of a team's budget; a capped user has none. */
static json_t *
alerts_json(
    const struct lt_budget_snapshot *snapshot, const struct lt_policy *policy, uint32_t index)
{
	int passed[LT_ALERTS_MAX], count = 0;

	if ((int)index < policy->budget_count)
		count = lt_alerts_passed(
		    passed, &policy->budgets[index], &snapshot->budgets[index].periods[0]);
	json_t *const list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_integer(passed[i]));
	return list;
}

static json_t *
row(const struct lt_budget_snapshot *snapshot, const struct lt_policy *policy, uint32_t index,
    const char *user, const struct figures *f)
{
	const struct lt_budget *const b = &snapshot->budgets[index];
	const struct lt_period *const p = &b->periods[0];
	json_t *const all =
	    json_pack("{s:s,s:s?,s:s,s:s,s:o,s:o,s:s}", "team", b->team, "user", user, "period",
		period_name(policy, index), "label", p->label, "start", lt_api_time(p->start_utc_s),
		"end", lt_api_time(p->end_utc_s), "on_exceed", lt_rule_name(b->on_exceed));

	if (all != NULL)
		add_figures(all, f);
	json_object_set_new(
	    all, "alerts", user != NULL ? json_null() : alerts_json(snapshot, policy, index));
	return all;
}

static void
add_users(const struct lt_daemon *d, const struct lt_access *access, uint32_t index, json_t *list)
{
	static const struct lt_amount none;
	const struct lt_budget_snapshot *const snapshot = &d->budget.snapshot;
	const char *const team = snapshot->budgets[index].team;
	bool saw_self = false;
	char name[LT_NAME_SIZE];

	if (!snapshot->budgets[index].has_per_user)
		return;
	for (uint32_t i = 0; i < snapshot->usage_count; i++) {
		const struct lt_usage *const u = &snapshot->usages[i];

		if (u->budget != index || !lt_access_cap(access, u->uid, team))
			continue;
		saw_self |= u->uid == access->uid;
		const struct figures f = {
		    &snapshot->budgets[index].per_user_limit, &u->settled[0], &u->held[0]};
		json_array_append_new(list,
		    row(snapshot, d->site.policy, index, lt_api_user_name(d, name, u->uid), &f));
	}
	if (!saw_self && !lt_access_runs(access, team)) {
		const struct figures f = {&snapshot->budgets[index].per_user_limit, &none, &none};

		json_array_append_new(list, row(snapshot, d->site.policy, index,
						lt_api_user_name(d, name, access->uid), &f));
	}
}

int
lt_api_budget(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *const team = lt_api_value(request, "team");
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;

	if (!d->budget.has_snapshot)
		return lt_api_error(reply, 503, "no budget snapshot yet");
	const struct lt_access access = lt_access_of(d, request);
	const int status = lt_access_check_any(&access, d, reply);
	if (status != 200)
		return status;
	json_t *const list = json_array();
	for (uint32_t i = 0; i < s->budget_count; i++) {
		const char *const name = s->budgets[i].team;
		const struct lt_period *const p = &s->budgets[i].periods[0];

		if ((team != NULL && strcmp(team, name) != 0) || p->start_utc_s == p->end_utc_s)
			continue;
		const struct figures f = {&p->limit, &p->settled, &p->held};
		if (lt_access_sums(&access, name))
			json_array_append_new(list, row(s, d->site.policy, i, NULL, &f));
		if (lt_access_sums(&access, name) || lt_access_own(&access, name))
			add_users(d, &access, i, list);
	}
	if (team == NULL && json_array_size(list) == 0 && lt_access_hides_usage(&access)) {
		json_decref(list);
		return lt_api_error(reply, 403,
		    "Slurm's PrivateData=usage hides what teams have spent, and no budget has a cap of yours");
	}
	if (team != NULL && json_array_size(list) == 0) {
		json_decref(list);
		return lt_api_error(reply, 404, "team %s: no budget that you may see", team);
	}
	*reply = json_pack("{s:s,s:o}", "currency", d->site.policy->currency, "budgets", list);
	return 200;
}

int
lt_api_adjust(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *team = NULL, *reason = NULL;
	json_int_t money = 0, carbon = 0;
	struct lt_error err = {0};
	json_error_t error;

	if (request->body == NULL ||
	    json_unpack_ex(request->body, &error, 0, "{s:s,s?I,s?I,s:s}", "team", &team,
		"money_micros", &money, "carbon_mg", &carbon, "reason", &reason) != 0)
		return lt_api_error(reply, 400, "want {team, money_micros, carbon_mg, reason}");
	if (!d->budget.has_snapshot || lt_sheet_account(&d->budget.snapshot, team) < 0)
		return lt_api_error(reply, 404, "team %s: no such account", team);
	if (reason[0] == '\0' || (money == 0 && carbon == 0))
		return lt_api_error(reply, 400, "want a reason and an amount that is not 0");
	struct lt_entry entry = {.kind = LT_ENTRY_ADJUSTMENT,
	    .at_utc_s = request->now_utc_s,
	    .made_utc_s = request->now_utc_s,
	    .uid = request->uid,
	    .money_micros = money,
	    .carbon_mg = carbon};
	if (strlen(reason) >= sizeof(entry.reason))
		return lt_api_error(reply, 400, "reason: %zu bytes, want at most %zu",
		    strlen(reason), sizeof(entry.reason) - 1);
	snprintf(entry.account, sizeof(entry.account), "%s",
	    d->budget.snapshot.accounts[lt_sheet_account(&d->budget.snapshot, team)].name);
	snprintf(entry.reason, sizeof(entry.reason), "%s", reason);
	lt_api_user_name(d, entry.who, request->uid);
	const int code = lt_ledger_adjust(d->ledger, &entry, &err);
	if (code != LT_OK)
		return lt_api_error(reply,
		    code == LT_EINPUT	   ? 400
		    : code == LT_EOVERFLOW ? 409
					   : 503,
		    "%s", err.text);
	lt_log("adjusted", "team=%s money_micros=%lld carbon_mg=%lld who=%s", entry.account,
	    (long long)money, (long long)carbon, entry.who);
	d->budget.dirty = true;
	d->jobs.next.list = 0; /* what waits for this money is freed at once */
	/* Its id is where its line ends in the journal. */
	int64_t id;
	if (!lt_ledger_get_number(d->ledger, "adjustments_bytes", 0, &id))
		id = 0;
	*reply = json_pack("{s:I}", "id", (json_int_t)id);
	return 200;
}

/* An account is from now on where Slurm has it. */
int
lt_api_moved(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_moved_accounts *const all = &d->site.tables.moved;
	const struct lt_moved_account *move = NULL;
	const char *account = NULL;
	struct lt_error err = {0};

	if (request->body == NULL || json_unpack(request->body, "{s:s}", "account", &account) != 0)
		return lt_api_error(reply, 400, "want {account}");
	for (uint32_t i = 0; i < all->count; i++)
		if (strcasecmp(all->list[i].name, account) == 0)
			move = &all->list[i];
	if (move == NULL)
		return lt_api_error(reply, 404,
		    "account %s: not one that was moved out of or into a budget", account);
	if (lt_moved_accept(d->ledger, move, request->now_utc_s, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	lt_log("account_accepted", "account=%s from=%s to=%s uid=%u", move->name, move->from,
	    move->to, request->uid);
	d->site.next.tables = 0;
	*reply =
	    json_pack("{s:s,s:s,s:s}", "account", move->name, "from", move->from, "to", move->to);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

const struct lt_budget *
lt_api_tightest(const struct lt_budget_snapshot *s, int account, uint32_t rules)
{
	const struct lt_budget *best = NULL;
	int64_t least = INT64_MAX;
	const struct lt_account *const a = &s->accounts[account];

	for (uint32_t k = 0; k < a->binding_count; k++) {
		const struct lt_budget *const b = &s->budgets[s->bindings[a->first_binding + k]];
		const struct lt_period *const p = &b->periods[0];

		if (p->start_utc_s == p->end_utc_s || !(rules >> b->on_exceed & 1))
			continue;
		const int64_t available =
		    p->limit.has_money
			? p->limit.money_micros - p->settled.money_micros - p->held.money_micros
			: INT64_MAX - 1;
		if (best == NULL || available < least) {
			best = b;
			least = available;
		}
	}
	return best;
}

static void
add_figure(json_t *to, const char *prefix, const char *name, json_t *value)
{
	char key[40];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	json_object_set_new(to, key, value);
}

struct asked_balance {
	const struct lt_access *access;
	const struct lt_budget_snapshot *snapshot;
	const struct lt_recent *recent;
	uint32_t uid;
	int account;
	int64_t now_utc_s;
};

/* Adds what is left in the budgets of these rules, and the tightest one's figures; all are null
 * without such a budget. */
static void
add_balance(json_t *to, const char *prefix, const struct asked_balance *asked, uint32_t rules)
{
	static const struct lt_period none;
	const struct lt_budget *const b = lt_api_tightest(asked->snapshot, asked->account, rules);
	/* sbatch shows users what is left too, but not what others used. */
	const struct lt_period *const p =
	    b != NULL && lt_access_sums(asked->access, b->team) ? &b->periods[0] : &none;
	struct lt_amount left = {0};

	lt_available(&left, asked->snapshot, asked->recent, rules, asked->uid, asked->account,
	    asked->now_utc_s, asked->now_utc_s + 1);
	const struct {
		const char *name;
		bool has;
		int64_t value;
	} figures[] = {
	    {"available_micros", left.money_micros != INT64_MAX, left.money_micros},
	    {"available_mg", left.carbon_mg != INT64_MAX, left.carbon_mg},
	    {"limit_micros", p->limit.has_money, p->limit.money_micros},
	    {"spent_micros", p != &none, p->settled.money_micros},
	    {"held_micros", p != &none, p->held.money_micros},
	    {"limit_mg", p->limit.has_carbon, p->limit.carbon_mg},
	    {"spent_mg", p != &none, p->settled.carbon_mg},
	    {"held_mg", p != &none, p->held.carbon_mg},
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		add_figure(to, prefix, figures[i].name,
		    lt_api_optional(b != NULL && figures[i].has, figures[i].value));
	add_figure(to, prefix, "team", b != NULL ? json_string(b->team) : json_null());
	add_figure(to, prefix, "label", b != NULL ? json_string(b->periods[0].label) : json_null());
}

int
lt_api_balance(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_budget_snapshot *const snapshot = &d->budget.snapshot;
	const char *const name = lt_api_value(request, "account");
	uint32_t uid;
	const int status = lt_access_whose(request, &uid, reply);

	if (status != 200)
		return status;
	if (!d->budget.has_snapshot || !snapshot->ready)
		return lt_api_error(reply, 503, "the balance is not known yet");
	const int account = name != NULL && name[0] ? lt_sheet_account(snapshot, name)
						    : lt_sheet_default_account(snapshot, uid);
	const struct lt_access access = lt_access_of(d, request);
	const bool is_own =
	    account >= 0 && lt_access_own(&access, snapshot->accounts[account].name);
	/* sbatch waits for it: a user's own balance needs no role. */
	if (account >= 0 && !is_own && !lt_access_is_known(d, request))
		return LT_API_LATER;
	if (account < 0 || (!lt_access_all(&access) && !is_own))
		return lt_api_error(reply, 404, "account %s: not one of yours",
		    name != NULL && name[0] ? name : "(default)");
	struct lt_recent *const recent = calloc(1, lt_recent_size(snapshot));
	const struct asked_balance asked = {
	    &access, snapshot, recent, uid, account, request->now_utc_s};
	if (recent == NULL)
		return lt_api_error(reply, 503, "out of memory");
	lt_recent_init(recent, snapshot);
	*reply = json_pack("{s:b,s:s}", "budgeted",
	    lt_api_tightest(snapshot, account, LT_RULES_BIND | LT_RULES_WARN) != NULL, "currency",
	    d->site.policy->currency);
	add_balance(*reply, "", &asked, LT_RULES_BIND);
	add_balance(*reply, "warn_", &asked, LT_RULES_WARN);
	free(recent);
	return 200;
}

/* The amount that a user may still spend in an account of theirs; NULL: no budget. */
static json_t *
balance_of(const struct lt_daemon *d, const struct lt_recent *none, const struct lt_pair *pair,
    int64_t now_utc_s)
{
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;
	static const uint32_t rules = LT_RULES_BIND | LT_RULES_WARN;
	struct lt_amount available = {0};

	if (lt_api_tightest(s, (int)pair->account, rules) == NULL)
		return NULL;
	lt_available(
	    &available, s, none, rules, pair->uid, (int)pair->account, now_utc_s, now_utc_s + 1);
	return json_pack("{s:I,s:s,s:o,s:o}", "uid", (json_int_t)pair->uid, "account",
	    s->accounts[pair->account].name, "available_micros",
	    lt_api_optional(available.money_micros != INT64_MAX, available.money_micros),
	    "available_mg", lt_api_optional(available.carbon_mg != INT64_MAX, available.carbon_mg));
}

int
lt_api_balances(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;

	if (!d->budget.has_snapshot || !s->ready)
		return lt_api_error(reply, 503, "the balances are not known yet");
	struct lt_recent *const none = calloc(1, lt_recent_size(s));

	if (none == NULL)
		return lt_api_error(reply, 503, "out of memory");
	lt_recent_init(none, s);
	const struct lt_access access = lt_access_of(d, request);
	json_t *const list = json_array();

	for (uint32_t i = 0; i < s->pair_count; i++) {
		json_t *const balance =
		    lt_access_cap(&access, s->pairs[i].uid, s->accounts[s->pairs[i].account].name)
			? balance_of(d, none, &s->pairs[i], request->now_utc_s)
			: NULL;

		if (balance != NULL)
			json_array_append_new(list, balance);
	}
	free(none);
	*reply = json_pack("{s:s,s:o}", "currency", d->site.policy->currency, "balances", list);
	return 200;
}
