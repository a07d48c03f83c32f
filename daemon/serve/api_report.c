/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/report: the statement of a period; with "after" a page of the runs
 * in it, with "runs" all of them behind it. What of it stands in the memory of
 * the loop is taken here; the rest is made beside it (report.c).
 */
#include <stdlib.h>
#include <string.h>

#include "daemon.h"
#include "report.h"
#include "settle.h"
#include "units.h"

enum { RUNS_PAGE_MAX = 600 };

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

/* All rows that are due are in: nothing waits in slurmctld's queue. */
static bool
is_settled(const struct lt_budget_state *budget,
    const struct lt_jobs_state *jobs, const struct lt_period *period,
    int64_t now_utc_s)
{
	const int64_t end = period->end_utc_s < now_utc_s
				? period->end_utc_s
				: now_utc_s - 2 * LT_SETTLE_EVERY_S;

	return budget->settled_until_utc_s >= end && jobs->ended_count == 0;
}

/* An account, as far as it may be seen. */
static void
take_account(struct lt_report_work *w, const struct lt_daemon *d,
    const struct lt_access *access, const char *name)
{
	const bool sums = lt_access_sums(access, name);

	if (!sums && !lt_access_own(access, name))
		return;
	struct lt_report_account *const to = &w->accounts[w->account_count++];
	const struct lt_period *const budget =
	    sums ? budget_of(&d->budget.snapshot, name, &w->period) : NULL;

	to->own_sums = !sums;
	to->own_runs = !lt_access_runs(access, name);
	w->users.own_figures |= to->own_sums;
	w->users.own_runs |= to->own_runs;
	snprintf(to->name, sizeof(to->name), "%s", name);
	to->has_budget = budget != NULL;
	if (budget != NULL)
		to->budget = *budget;
}

/* What the text needs of the loop's own; NULL: no memory. */
static struct lt_report_work *
take_state(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_access *access, const struct lt_period *period)
{
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;
	const char *const team = lt_api_value(request, "team");
	const struct lt_period *const budget =
	    team != NULL && lt_access_sums(access, team)
		? budget_of(s, team, period)
		: NULL;
	struct lt_report_work *const w =
	    calloc(1, sizeof(*w) + s->account_count * sizeof(w->accounts[0]));

	if (w == NULL)
		return NULL;
	w->work.write = lt_report_statement;
	w->period = *period;
	w->is_marginal = d->policy->intensity == LT_INTENSITY_MARGINAL;
	w->basis = lt_basis_name(lt_signals_basis(&d->signals, d->policy));
	w->is_settled =
	    is_settled(&d->budget, &d->jobs, period, request->now_utc_s);
	w->has_budget = budget != NULL;
	if (budget != NULL)
		w->budget = *budget;
	snprintf(w->currency, sizeof(w->currency), "%s", d->policy->currency);
	snprintf(w->cluster, sizeof(w->cluster), "%s", d->tables.conf.cluster);
	for (uint32_t i = 0; i < s->account_count; i++)
		if (team == NULL || belongs(s, &d->tables, i, team))
			take_account(w, d, access, s->accounts[i].name);
	w->uid = access->uid;
	w->is_everyones =
	    w->account_count == s->account_count && !w->users.own_runs;
	return w;
}

/* A page is small enough for a credential (LT_API_REPLY_MAX) with the longest
 * names. */
static int
take_runs(struct lt_report_work *w, const struct lt_api_request *request,
    json_t **reply)
{
	const char *const after = lt_api_value(request, "after");
	const char *const most = lt_api_value(request, "limit");
	const char *const runs = lt_api_value(request, "runs");
	int64_t limit = RUNS_PAGE_MAX;
	struct lt_error err = {0};

	if (runs != NULL && (strcmp(runs, "all") != 0 || after != NULL))
		return lt_api_error(reply, 400,
		    "runs: got \"%s\", want all, and no after", runs);
	if (after != NULL && after[0] != '\0' &&
	    !lt_report_place(&w->after, after))
		return lt_api_error(reply, 400,
		    "after: got \"%s\", want the \"next\" of a page", after);
	if (most != NULL &&
	    lt_int64_parse(most, 1, RUNS_PAGE_MAX, &limit, &err) != LT_OK)
		return lt_api_error(reply, 400, "limit: %s", err.text);
	w->work.is_stream = runs != NULL;
	w->has_after = after != NULL && after[0] != '\0';
	w->most = (uint32_t)limit;
	if (runs != NULL)
		w->work.write = lt_report_all;
	else if (after != NULL)
		w->work.write = lt_report_page;
	return 200;
}

int
lt_api_report(struct lt_daemon *d, const struct lt_api_request *request,
    struct lt_api_work **work, json_t **reply)
{
	const char *const text = lt_api_value(request, "period");
	struct lt_period period;
	struct lt_error err = {0};

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
	const struct lt_access access = lt_access_of(d, request);
	int status = lt_access_check_any(&access, d, reply);
	if (status != 200)
		return status;
	struct lt_report_work *const w =
	    take_state(d, request, &access, &period);
	if (w == NULL)
		return lt_api_error(reply, 503, "out of memory");
	if (w->account_count == 0 && !w->has_budget &&
	    lt_api_value(request, "team") != NULL)
		status = lt_api_error(reply, 404,
		    "team %s: no account and no budget that you may see",
		    lt_api_value(request, "team"));
	if (status == 200)
		status =
		    lt_access_hides_users(request, &w->users.are_hidden, reply);
	if (status == 200)
		status = lt_access_check_by(request, &w->users, reply);
	if (status == 200)
		status = take_runs(w, request, reply);
	if (status == 200)
		*work = &w->work;
	else
		free(w);
	return status;
}
