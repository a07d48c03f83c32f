/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/report, and with "after" the runs in it: the statement of a period, a
 * row per account that had entries or has a budget. Each entry is in exactly
 * one row, so rows add up to the total.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api.h"
#include "daemon.h"
#include "explain.h"
#include "settle.h"
#include "units.h"

enum { FIGURES = 12, RUNS_PAGE_MAX = 600 };
static const char *const names[FIGURES] = {"opening_micros", "charges_micros",
    "corrections_micros", "adjustments_micros", "closing_micros", "opening_mg",
    "charges_mg", "corrections_mg", "adjustments_mg", "closing_mg", "energy_wh",
    "runs"};

struct line { /* sums of one account, or of all */
	int64_t figures[FIGURES];
	int64_t baseline_micros, baseline_mg, moved_runs, unpriced_runs;
	int64_t replay_runs, provisional_runs;
	/* by slurmctld's record, and known to nobody */
	int64_t gpus_slurmctld_runs, gpus_unknown_runs;
};

static int
fill_line(struct line *line, struct lt_ledger *ledger, const char *account,
    const struct lt_period *period, struct lt_error *err)
{
	struct lt_totals before[3], in[3];
	int code = lt_ledger_totals(
	    ledger, account, 0, period->start_utc_s, before, err);

	if (code == LT_OK)
		code = lt_ledger_totals(ledger, account, period->start_utc_s,
		    period->end_utc_s, in, err);
	if (code != LT_OK)
		return code;
	*line = (struct line){0};
	int64_t *const f = line->figures;
	for (int k = 0; k < 3; k++) {
		f[0] += before[k].money_micros;
		f[5] += before[k].carbon_mg;
		f[1 + k] = in[k].money_micros;
		f[6 + k] = in[k].carbon_mg;
		f[10] += in[k].energy_wh;
		line->baseline_micros += in[k].baseline_money_micros;
		line->baseline_mg += in[k].baseline_carbon_mg;
	}
	f[4] = f[0] + f[1] + f[2] + f[3];
	f[9] = f[5] + f[6] + f[7] + f[8];
	f[11] = in[LT_ENTRY_CHARGE].runs;
	const struct lt_totals *const charged = &in[LT_ENTRY_CHARGE];
	line->moved_runs = charged->moved_runs;
	line->unpriced_runs = charged->unpriced_runs;
	line->replay_runs = charged->replay_runs;
	line->provisional_runs = charged->provisional_runs;
	line->gpus_slurmctld_runs = charged->gpus_slurmctld_runs;
	line->gpus_unknown_runs = charged->gpus_unknown_runs;
	return LT_OK;
}

static void
add_line(struct line *sum, const struct line *line)
{
	for (int i = 0; i < FIGURES; i++)
		sum->figures[i] += line->figures[i];
	sum->baseline_micros += line->baseline_micros;
	sum->baseline_mg += line->baseline_mg;
	sum->moved_runs += line->moved_runs;
	sum->unpriced_runs += line->unpriced_runs;
	sum->replay_runs += line->replay_runs;
	sum->provisional_runs += line->provisional_runs;
	sum->gpus_slurmctld_runs += line->gpus_slurmctld_runs;
	sum->gpus_unknown_runs += line->gpus_unknown_runs;
}

static bool
is_empty(const struct line *line)
{
	for (int i = 0; i < FIGURES; i++)
		if (line->figures[i] != 0)
			return false;
	return true;
}

/* The budget of a team for exactly this period; NULL = none now. */
static const struct lt_period *
budget_of(const struct lt_budget_snapshot *snapshot, const char *team,
    const struct lt_period *period)
{
	for (uint32_t i = 0; i < snapshot->budget_count; i++)
		for (int p = 0; p < LT_PERIODS; p++) {
			const struct lt_budget *const b = &snapshot->budgets[i];

			if (strcmp(b->team, team) == 0 &&
			    b->periods[p].start_utc_s == period->start_utc_s &&
			    b->periods[p].end_utc_s == period->end_utc_s)
				return &b->periods[p];
		}
	return NULL;
}

static void
set_budget(json_t *to, const struct lt_period *b, const struct line *line)
{
	const struct lt_amount none = {0};
	const struct lt_amount *const limit = b != NULL ? &b->limit : &none;
	const struct lt_amount *const held = b != NULL ? &b->held : &none;
	const int64_t *const f = line->figures;
	/* A budget covers the accounts below too; without one, its own. */
	const int64_t money =
	    b != NULL ? b->settled.money_micros : f[1] + f[2] + f[3];
	const int64_t carbon =
	    b != NULL ? b->settled.carbon_mg : f[6] + f[7] + f[8];

	json_object_set_new(to, "budget_micros",
	    lt_api_optional(limit->has_money, limit->money_micros));
	json_object_set_new(to, "budget_mg",
	    lt_api_optional(limit->has_carbon, limit->carbon_mg));
	json_object_set_new(to, "actual_micros", json_integer(money));
	json_object_set_new(to, "actual_mg", json_integer(carbon));
	json_object_set_new(
	    to, "held_micros", lt_api_optional(b, held->money_micros));
	json_object_set_new(to, "held_mg", lt_api_optional(b, held->carbon_mg));
	json_object_set_new(to, "available_micros",
	    lt_api_optional(limit->has_money,
		limit->money_micros - money - held->money_micros));
	json_object_set_new(to, "available_mg",
	    lt_api_optional(limit->has_carbon,
		limit->carbon_mg - carbon - held->carbon_mg));
}

static json_t *
line_json(
    const char *team, const struct line *line, const struct lt_period *budget)
{
	const int64_t *const f = line->figures;
	json_t *const all = json_object();

	if (team != NULL)
		json_object_set_new(all, "team", json_string(team));
	for (int i = 0; i < FIGURES; i++)
		json_object_set_new(all, names[i], json_integer(f[i]));
	set_budget(all, budget, line);
	json_object_set_new(
	    all, "base_micros", json_integer(line->baseline_micros));
	json_object_set_new(all, "base_mg", json_integer(line->baseline_mg));
	json_object_set_new(all, "saved_micros",
	    json_integer(line->baseline_micros - f[1] - f[2]));
	json_object_set_new(
	    all, "saved_mg", json_integer(line->baseline_mg - f[6] - f[7]));
	json_object_set_new(all, "moved_runs", json_integer(line->moved_runs));
	json_object_set_new(
	    all, "unpriced_runs", json_integer(line->unpriced_runs));
	json_object_set_new(all, "gpus_slurmctld_runs",
	    json_integer(line->gpus_slurmctld_runs));
	json_object_set_new(
	    all, "gpus_unknown_runs", json_integer(line->gpus_unknown_runs));
	json_object_set_new(all, "replay", json_boolean(line->replay_runs > 0));
	return all;
}

struct report {
	json_t *teams;
	struct line total;
};

static int
add_account(struct report *r, struct lt_daemon *d, const char *account,
    const struct lt_period *period, struct lt_error *err)
{
	struct line line;
	const struct lt_period *const budget =
	    budget_of(&d->budget.snapshot, account, period);
	const int code = fill_line(&line, d->ledger, account, period, err);

	if (code != LT_OK || (is_empty(&line) && budget == NULL))
		return code;
	add_line(&r->total, &line);
	json_array_append_new(r->teams, line_json(account, &line, budget));
	return LT_OK;
}

/* Is `account` the team, or below it? */
static bool
belongs(const struct lt_budget_snapshot *snapshot,
    const struct lt_tables *tables, uint32_t account, const char *team)
{
	enum { DEPTH_MAX = 64 };
	const char *name = snapshot->accounts[account].name;

	for (int depth = 0; name != NULL && depth < DEPTH_MAX; depth++) {
		const char *parent = NULL;

		if (strcasecmp(name, team) == 0)
			return true;
		for (uint32_t i = 0; i < tables->account_count; i++)
			if (strcasecmp(tables->accounts[i].name, name) == 0)
				parent = tables->accounts[i].parent;
		name = parent != NULL && parent[0] ? parent : NULL;
	}
	return false;
}

/* All rows that are due are in: nothing waits in slurmctld's queue, nothing
 * is provisional. */
static bool
is_complete(const struct lt_budget_state *budget,
    const struct lt_jobs_state *jobs, const struct lt_period *period,
    int64_t now_utc_s, bool provisional)
{
	const int64_t end = period->end_utc_s < now_utc_s
				? period->end_utc_s
				: now_utc_s - 2 * LT_SETTLE_EVERY_S;

	return budget->settled_until_utc_s >= end && jobs->ended_count == 0 &&
	       !provisional;
}

/* Of the accounts asked for, may this one be seen? */
static bool
is_asked(const struct lt_daemon *d, const struct lt_api_request *request,
    uint32_t account)
{
	const char *const team = lt_api_value(request, "team");

	return (team == NULL ||
		   belongs(&d->budget.snapshot, &d->tables, account, team)) &&
	       lt_api_sees(&d->budget, request,
		   d->budget.snapshot.accounts[account].name);
}

/* Where a page begins: "END.JOB.SUBMIT.ACCOUNT" of the run before it. */
struct place {
	struct lt_runs_asked asked;
	char account[LT_ACCOUNT_SIZE];
};

static bool
parse_place(struct place *p, const char *text)
{
	long long end, submit;
	unsigned job_id;
	int used = 0;

	if (sscanf(text, "%lld.%u.%lld.%n", &end, &job_id, &submit, &used) !=
		3 ||
	    used == 0 || text[used] == '\0' ||
	    strlen(text + used) >= sizeof(p->account))
		return false;
	snprintf(p->account, sizeof(p->account), "%s", text + used);
	p->asked.after_end_utc_s = end;
	p->asked.after = (struct lt_run_key){job_id, submit};
	return true;
}

struct page {
	json_t *runs;
	uint32_t left;			 /* room for so many more */
	char next[LT_ACCOUNT_SIZE + 64]; /* "": these were the last */
};

static int
add_runs(struct page *page, struct lt_ledger *ledger,
    struct lt_runs_asked *asked, struct lt_error *err)
{
	struct lt_run *runs = NULL;
	uint32_t count = 0;

	asked->most = page->left;
	const int code = lt_ledger_runs(ledger, asked, &runs, &count, err);
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		json_array_append_new(page->runs, lt_run_json(&runs[i]));
	page->left -= count;
	if (code == LT_OK && page->left == 0) {
		const struct lt_run *const last = &runs[count - 1];

		snprintf(page->next, sizeof(page->next), "%lld.%u.%lld.%s",
		    (long long)last->end_utc_s, last->key.job_id,
		    (long long)last->key.submit_utc_s, asked->account);
	}
	free(runs);
	return code;
}

/* A page is small enough for a credential (LT_API_REPLY_MAX) with the longest
 * names. */
static int
answer_runs(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_period *period, json_t **reply)
{
	const char *const after = lt_api_value(request, "after");
	const char *const most = lt_api_value(request, "limit");
	struct place from = {.account = ""};
	int64_t limit = RUNS_PAGE_MAX;
	struct lt_error err = {0};

	if (after[0] != '\0' && !parse_place(&from, after))
		return lt_api_error(reply, 400,
		    "after: got \"%s\", want the \"next\" of a page", after);
	if (most != NULL &&
	    lt_int64_parse(most, 1, RUNS_PAGE_MAX, &limit, &err) != LT_OK)
		return lt_api_error(reply, 400, "limit: %s", err.text);
	struct page page = {.runs = json_array(), .left = (uint32_t)limit};
	bool begun = from.account[0] == '\0';
	for (uint32_t i = 0;
	     page.left > 0 && i < d->budget.snapshot.account_count; i++) {
		const char *const account = d->budget.snapshot.accounts[i].name;
		struct lt_runs_asked asked = {.account = account};

		if (!begun && strcmp(account, from.account) == 0)
			asked = from.asked;
		else if (!begun)
			continue;
		begun = true;
		asked.account = account;
		asked.from_utc_s = period->start_utc_s;
		asked.to_utc_s = period->end_utc_s;
		if (is_asked(d, request, i) &&
		    add_runs(&page, d->ledger, &asked, &err) != LT_OK) {
			json_decref(page.runs);
			return lt_api_error(reply, 503, "%s", err.text);
		}
	}
	*reply = json_pack("{s:o,s:s?}", "runs", page.runs, "next",
	    page.next[0] ? page.next : NULL);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

int
lt_api_report(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *const team = lt_api_value(request, "team");
	const char *const text = lt_api_value(request, "period");
	struct lt_period period;
	struct lt_error err = {0};
	struct report r = {0};

	if (!d->budget.has_snapshot)
		return lt_api_error(reply, 503, "no budget snapshot yet");
	if (text != NULL && text[0]) {
		if (lt_calendar_parse(&period, &d->offsets, text, &err) !=
		    LT_OK)
			return lt_api_error(reply, 400, "%s", err.text);
	} else {
		lt_calendar_period(
		    &period, &d->offsets, LT_MONTH, request->now_utc_s, 0);
	}
	if (lt_api_value(request, "after") != NULL)
		return answer_runs(d, request, &period, reply);
	r.teams = json_array();
	for (uint32_t i = 0; i < d->budget.snapshot.account_count; i++) {
		if (is_asked(d, request, i) &&
		    add_account(&r, d, d->budget.snapshot.accounts[i].name,
			&period, &err) != LT_OK) {
			json_decref(r.teams);
			return lt_api_error(reply, 503, "%s", err.text);
		}
	}
	*reply =
	    json_pack("{s:{s:s,s:o,s:o},s:s,s:s,s:s,s:b,s:o,s:o}", "period",
		"label", period.label, "start", lt_api_time(period.start_utc_s),
		"end", lt_api_time(period.end_utc_s), "currency",
		d->policy->currency, "carbon_intensity",
		d->policy->intensity == LT_INTENSITY_MARGINAL ? "marginal"
							      : "average",
		"cluster", d->tables.conf.cluster, "complete",
		is_complete(&d->budget, &d->jobs, &period, request->now_utc_s,
		    r.total.provisional_runs > 0),
		"teams", r.teams, "total",
		line_json(NULL, &r.total,
		    team != NULL ? budget_of(&d->budget.snapshot, team, &period)
				 : NULL));
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}
