/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/report: the statement of a period; with "after" a page of the runs in it, with "runs" all
 * of them behind it. The parts that are in the loop's memory are copied here; a thread makes the
 * rest (report.c). A value of the query that is malformed gets 400, one that the user may not ask
 * for 403.
 */
#include <stdlib.h>
#include <string.h>

#include "api_signals.h"
#include "budget_forecast.h"
#include "daemon.h"
#include "report.h"
#include "report_accounts.h"
#include "settle.h"
#include "units.h"

enum { RUNS_PAGE_MAX = 240, CENTURY_DAYS = 36525 };

/* The budget of a team for exactly this period; NULL = none now. */
static const struct lt_period *
budget_of(
    const struct lt_budget_snapshot *snapshot, const char *team, const struct lt_period *period)
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

/* All rows that are due are in: none of it waits in slurmctld's queue. */
static bool
is_settled(const struct lt_charges *charges, const struct lt_jobs_state *jobs,
    const struct lt_period *period, int64_t now_utc_s)
{
	const int64_t end =
	    period->end_utc_s < now_utc_s ? period->end_utc_s : now_utc_s - 2 * LT_SETTLE_EVERY_S;

	if (charges->settled_until_utc_s < end)
		return false;
	for (uint32_t i = 0; i < jobs->ended_count; i++)
		if (jobs->ended[i].run.start_utc_s < period->end_utc_s)
			return false;
	return true;
}

/* All are taken, for sums of trees; those that may be seen are marked. */
static void
take_account(struct lt_report_work *w, const struct lt_daemon *d, const struct lt_access *access,
    uint32_t index, const struct lt_report_asked *asked)
{
	const char *const name = d->budget.snapshot.accounts[index].name;
	struct lt_report_account *const to = &w->accounts[w->account_count++];
	const bool sums = lt_access_sums(access, name);
	const struct lt_period *const budget =
	    sums ? budget_of(&d->budget.snapshot, name, &w->period) : NULL;

	snprintf(to->name, sizeof(to->name), "%s", name);
	to->parent = -1;
	to->asked = lt_report_asked_span(asked, name);
	to->is_seen =
	    to->asked.from_utc_s < to->asked.to_utc_s && (sums || lt_access_own(access, name));
	to->own_sums = !sums;
	to->own_runs = !lt_access_runs(access, name);
	to->has_budget = budget != NULL;
	if (budget != NULL)
		to->budget = *budget;
	w->users.own_figures |= to->is_seen && to->own_sums;
	w->users.own_runs |= to->is_seen && to->own_runs;
	w->is_everyones &= to->is_seen && !to->own_runs && to->asked.from_utc_s == INT64_MIN &&
			   to->asked.to_utc_s == INT64_MAX;
}

static void
link_parents(struct lt_report_work *w, const struct lt_tables *tables)
{
	for (uint32_t i = 0; i < tables->account_count; i++) {
		const int at = lt_report_account_index(w, tables->accounts[i].name);

		if (at >= 0)
			w->accounts[at].parent =
			    lt_report_account_index(w, tables->accounts[i].parent);
	}
}

static int
by_account(const void *left, const void *right)
{
	const struct lt_report_budget *const one = left, *const two = right;

	return one->account != two->account ? (one->account < two->account ? -1 : 1)
	       : one->period.end_utc_s < two->period.end_utc_s ? -1
							       : 1;
}

/* Takes the one period of each budget that contains the report's, shorter ones of an account
 * first. */
static void
take_budgets(struct lt_report_work *w, const struct lt_budget_state *budget)
{
	const struct lt_budget_snapshot *const snapshot = &budget->snapshot;
	const struct lt_period_forecast none = {0};

	for (uint32_t i = 0; i < snapshot->budget_count; i++) {
		const struct lt_budget *const b = &snapshot->budgets[i];
		const int at = lt_report_account_index(w, b->team);

		if (at < 0 || !w->accounts[at].is_seen ||
		    w->accounts[at].asked.to_utc_s <= w->period.start_utc_s ||
		    w->accounts[at].own_sums)
			continue;
		for (int p = 0; p < LT_PERIODS; p++)
			if (b->periods[p].start_utc_s <= w->period.start_utc_s &&
			    b->periods[p].end_utc_s >= w->period.end_utc_s)
				w->budgets[w->budget_count++] =
				    (struct lt_report_budget){at, b->periods[p],
					p == 0 ? lt_budget_forecast_of(budget, i) : none};
	}
	qsort(w->budgets, w->budget_count, sizeof(w->budgets[0]), by_account);
}

/* Takes the grid zones of the sources of carbon intensity. */
static void
take_zones(struct lt_report_work *w, const struct lt_signals_state *signals)
{
	for (int i = 0; i < signals->source_count; i++) {
		struct lt_carbon_zone *const to = &w->zones[w->zone_count++];

		snprintf(to->source, sizeof(to->source), "%s", signals->sources[i].policy->name);
		lt_api_where(to->where, &signals->sources[i]);
		to->adapter = signals->sources[i].adapter->name;
		to->version = signals->sources[i].adapter->version;
	}
}

/* Copies the parts of the loop's memory that the text needs; NULL: no memory. */
struct lt_report_work *
lt_report_take(
    struct lt_daemon *d, const struct lt_api_request *request, const struct lt_period *period)
{
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;
	const struct lt_access access = lt_access_of(d, request);
	const char *const team = lt_api_value(request, "team");
	const struct lt_period *const budget =
	    team != NULL && lt_access_sums(&access, team) ? budget_of(s, team, period) : NULL;
	const size_t labels = lt_report_labels_count(d->site.policy);
	struct lt_report_asked asked = {.team = team,
	    .has_trend =
		lt_api_value(request, "trend") != NULL || lt_api_value(request, "balance") != NULL,
	    .tree = lt_tables_tree(&d->site.tables)};
	struct lt_report_work *const w =
	    lt_report_cut(&asked, period)
		? calloc(1, sizeof(*w) + s->account_count * sizeof(w->accounts[0]) +
				s->budget_count * sizeof(w->budgets[0]) +
				labels * sizeof(struct lt_policy_label))
		: NULL;

	if (w == NULL) {
		free(asked.cuts);
		return NULL;
	}
	w->work.write = lt_report_statement;
	w->period = *period;
	w->now_utc_s = request->now_utc_s;
	w->offsets = d->site.offsets;
	lt_tcto_site_of(&w->tcto, d->site.policy);
	w->billing = d->site.policy->billing;
	w->is_marginal = d->site.policy->intensity == LT_INTENSITY_MARGINAL;
	w->basis = lt_basis_name(lt_signals_basis(&d->signals, d->site.policy));
	w->is_settled = is_settled(&d->charges, &d->jobs, period, request->now_utc_s);
	w->has_budget = budget != NULL;
	if (budget != NULL)
		w->budget = *budget;
	snprintf(w->currency, sizeof(w->currency), "%s", d->site.policy->currency);
	snprintf(w->cluster, sizeof(w->cluster), "%s", d->site.tables.conf.cluster);
	w->is_everyones = true;
	w->sees_site = team == NULL && lt_access_site(&access);
	w->uid = access.uid;
	for (uint32_t i = 0; i < s->account_count; i++)
		take_account(w, d, &access, i, &asked);
	free(asked.cuts);
	link_parents(w, &d->site.tables);
	w->budgets = (void *)&w->accounts[s->account_count];
	take_budgets(w, &d->budget);
	lt_report_labels_take(w, (void *)&w->budgets[s->budget_count], d->site.policy);
	take_zones(w, &d->signals);
	return w;
}

/* A page is small enough for a credential (LT_API_REPLY_MAX) with the longest names. */
static int
take_runs(struct lt_report_work *w, const struct lt_api_request *request, json_t **reply)
{
	const char *const after = lt_api_value(request, "after");
	const char *const most = lt_api_value(request, "limit");
	const char *const runs = lt_api_value(request, "runs");
	const char *const carbon = lt_api_value(request, "carbon");
	int64_t limit = RUNS_PAGE_MAX;
	struct lt_error err = {0};

	if (runs != NULL && (strcmp(runs, "all") != 0 || after != NULL))
		return lt_api_error(reply, 400, "runs: got \"%s\", want all, and no after", runs);
	w->has_hours = carbon != NULL && strcmp(carbon, "hours") == 0;
	w->has_carbon = carbon != NULL && !w->has_hours;
	if (w->has_carbon && strcmp(carbon, "1") != 0)
		return lt_api_error(reply, 400, "carbon: got \"%s\", want 1, or hours", carbon);
	if (w->has_hours && (runs != NULL || after != NULL))
		return lt_api_error(
		    reply, 400, "carbon: hours are instead of runs; ask for one of them");
	if (after != NULL && after[0] != '\0' && !lt_report_place(&w->after, &w->after_late, after))
		return lt_api_error(
		    reply, 400, "after: got \"%s\", want the \"next\" of a page", after);
	if (most != NULL && lt_int64_parse(most, 1, RUNS_PAGE_MAX, &limit, &err) != LT_OK)
		return lt_api_error(reply, 400, "limit: %s", err.text);
	w->work.is_stream = runs != NULL || w->has_hours;
	w->has_after = after != NULL && after[0] != '\0';
	w->most = (uint32_t)limit;
	if (w->work.is_stream)
		w->work.write = lt_report_all;
	else if (after != NULL)
		w->work.write = lt_report_page;
	return 200;
}

/* "from" and "to", of which the day of `to` is the last one. */
static int
asked_days(struct lt_period *period, const struct lt_offsets *offsets, const char *from,
    const char *to, struct lt_error *err)
{
	char first[LT_DAY_TEXT_SIZE], last[LT_DAY_TEXT_SIZE];
	const bool is_day = strlen(to) == strlen("2026-11-21");
	int64_t start, end;
	int code = lt_calendar_time(&period->start_utc_s, offsets, from, err);

	if (code != LT_OK)
		return lt_context(err, "from");
	code = lt_calendar_time(&period->end_utc_s, offsets, to, err);
	if (code != LT_OK)
		return lt_context(err, "to");
	if (is_day)
		lt_calendar_day(last, &start, &period->end_utc_s, offsets, period->end_utc_s);
	if (period->end_utc_s <= period->start_utc_s)
		return lt_fail(err, LT_EINPUT, "to: %s is not after %s", to, from);
	lt_calendar_day(first, &start, &end, offsets, period->start_utc_s);
	lt_calendar_day(last, &start, &end, offsets, period->end_utc_s - 1);
	snprintf(period->label, sizeof(period->label), "%.10s..%.10s", first, last);
	return LT_OK;
}

static int
asked_period(struct lt_period *period, const struct lt_daemon *d,
    const struct lt_api_request *request, struct lt_error *err)
{
	const char *const text = lt_api_value(request, "period");
	const char *const from = lt_api_value(request, "from");
	const char *const to = lt_api_value(request, "to");

	*period = (struct lt_period){0};
	if ((from != NULL) != (to != NULL) || (from != NULL && text != NULL))
		return lt_fail(err, LT_EINPUT, "want period, or both from and to, or none of them");
	if (from != NULL)
		return asked_days(period, &d->site.offsets, from, to, err);
	if (text != NULL && text[0])
		return lt_calendar_parse(period, &d->site.offsets, text, err);
	lt_calendar_period(period, &d->site.offsets, LT_MONTH, request->now_utc_s, 0);
	return LT_OK;
}

/* The one of the same kind before it; of days as long. */
static void
set_whole_previous(struct lt_report_work *w, const struct lt_api_request *request)
{
	const struct lt_period *const p = &w->period;
	const size_t length = strlen(p->label);
	const int64_t before = p->start_utc_s - 1;
	const enum lt_period_kind kind = length == 4	      ? LT_YEAR
					 : p->label[5] == 'Q' ? LT_QUARTER
							      : LT_MONTH;

	if (lt_api_value(request, "from") == NULL) {
		lt_calendar_period(&w->previous, &w->offsets, kind, before, 0);
		return;
	}
	w->previous = (struct lt_period){
	    .start_utc_s = 2 * p->start_utc_s - p->end_utc_s, .end_utc_s = p->start_utc_s};
	snprintf(w->previous.label, sizeof(w->previous.label), "before");
}

/* Like for like: as far as an open period is. */
static void
set_previous(struct lt_report_work *w, const struct lt_api_request *request)
{
	w->has_previous = true;
	set_whole_previous(w, request);
	if (w->now_utc_s >= w->period.start_utc_s && w->now_utc_s < w->period.end_utc_s)
		w->previous.end_utc_s =
		    lt_calendar_same_part(&w->offsets, &w->period, &w->previous, w->now_utc_s);
}

/* Words that are 1, or not there. */
static int
take_flags(struct lt_report_work *w, const struct lt_api_request *request, json_t **reply)
{
	bool has_previous = false;
	const struct {
		const char *word;
		bool *has;
	} flags[] = {
	    {"previous", &has_previous},
	    {"tcto", &w->has_tcto},
	    {"unused", &w->has_unused},
	    {"tree", &w->has_tree},
	    {"trend", &w->has_trend},
	    {"balance", &w->has_balance},
	    {"months", &w->has_months},
	    {"incurred", &w->has_incurred},
	    {"corrections", &w->has_corrections},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const char *const text = lt_api_value(request, flags[i].word);

		if (text != NULL && strcmp(text, "1") != 0)
			return lt_api_error(
			    reply, 400, "%s: got \"%s\", want 1", flags[i].word, text);
		*flags[i].has = text != NULL;
	}
	if (has_previous)
		set_previous(w, request);
	if (w->has_months &&
	    w->period.end_utc_s - w->period.start_utc_s > (int64_t)CENTURY_DAYS * LT_DAY_S)
		return lt_api_error(reply, 400, "months: want a century at most");
	if (w->has_tcto && w->users.own_figures)
		return lt_api_error(
		    reply, 403, "tcto: Slurm's PrivateData=usage hides what others used");
	return 200;
}

/* Takes the parts that are asked for beside the statement itself. */
static int
take_more(struct lt_report_work *w, const struct lt_api_request *request, json_t **reply)
{
	const char *const by = lt_api_value(request, "by");
	const char *const top = lt_api_value(request, "top");
	struct lt_error err = {0};
	int64_t count = 0;

	if (by != NULL && lt_groupings_parse(&w->groupings, by, &err) != LT_OK)
		return lt_api_error(reply, 400, "%s", err.text);
	if (top != NULL && lt_int64_parse(top, 1, LT_TOP_MAX, &count, &err) != LT_OK)
		return lt_api_error(reply, 400, "top: %s", err.text);
	w->groupings.top = (uint32_t)count;
	w->groupings.shown = w->groupings.count;
	const int status = take_flags(w, request, reply);
	if (status != 200)
		return status;
	if (w->has_tcto && lt_groupings_parse(&w->groupings, "partition,state", &err) != LT_OK)
		return lt_api_error(reply, 400, "%s", err.text);
	return take_runs(w, request, reply);
}

static bool
sees_any(const struct lt_report_work *w)
{
	for (uint32_t i = 0; i < w->account_count; i++)
		if (w->accounts[i].is_seen)
			return true;
	return false;
}

int
lt_api_report(struct lt_daemon *d, const struct lt_api_request *request, struct lt_api_work **work,
    json_t **reply)
{
	struct lt_period period;
	struct lt_error err = {0};

	if (!d->budget.has_snapshot)
		return lt_api_error(reply, 503, "no budget snapshot yet");
	if (asked_period(&period, d, request, &err) != LT_OK)
		return lt_api_error(reply, 400, "%s", err.text);
	const struct lt_access access = lt_access_of(d, request);
	int status = lt_access_check_any(&access, d, reply);
	if (status != 200)
		return status;
	struct lt_report_work *const w = lt_report_take(d, request, &period);
	if (w == NULL)
		return lt_api_error(reply, 503, "out of memory");
	if (!sees_any(w) && !w->has_budget && lt_api_value(request, "team") != NULL)
		status =
		    lt_api_error(reply, 404, "team %s: no account and no budget that you may see",
			lt_api_value(request, "team"));
	if (status == 200)
		status = lt_access_hides_users(request, &w->users.are_hidden, reply);
	if (status == 200)
		status = lt_access_check_by(request, &w->users, reply);
	if (status == 200)
		status = take_more(w, request, reply);
	if (status == 200)
		*work = &w->work;
	else
		free(w);
	return status;
}
