/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounts of a report: looked up by name, their labels, and the time in which each was that of
 * the team that the report is about. Labels come from the policy, or from the ledger for a closed
 * period. No memory and damaged rows are errors of the caller's.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_accounts.h"
#include "units.h"

static int
compare_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_report_account *)account)->name);
}

const struct lt_report_account *
lt_report_account_of(const struct lt_report_work *w, const char *name)
{
	return bsearch(name, w->accounts, w->account_count, sizeof(w->accounts[0]), compare_name);
}

int
lt_report_account_index(const struct lt_report_work *w, const char *name)
{
	const struct lt_report_account *const at = lt_report_account_of(w, name);

	return at != NULL ? (int)(at - w->accounts) : -1;
}

int64_t
lt_report_account_parent(const struct lt_report_work *w, const struct lt_account_moves *moves,
    int64_t account, int64_t at_utc_s)
{
	const char *const then = lt_account_parent_then(moves, w->accounts[account].name, at_utc_s);

	return then != NULL ? lt_report_account_index(w, then) : w->accounts[account].parent;
}

/* ---- labels ---- */

size_t
lt_report_labels_count(const struct lt_policy *policy)
{
	size_t count = 0;

	for (int i = 0; i < policy->team_count; i++)
		count += (size_t)policy->teams[i].label_count;
	return count;
}

/* Its own, else those above it; none: *account itself. */
static const struct lt_report_account *
labelled(const struct lt_report_work *w, const struct lt_report_account *account)
{
	enum { DEPTH_MAX = 64 };
	const struct lt_report_account *at = account;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		if (at->label_count > 0)
			return at;
		if (at->parent < 0)
			break;
		at = &w->accounts[at->parent];
	}
	return account;
}

void
lt_report_labels_take(
    struct lt_report_work *w, struct lt_policy_label *room, const struct lt_policy *policy)
{
	for (int i = 0; i < policy->team_count; i++) {
		const struct lt_policy_team *const team = &policy->teams[i];
		const size_t count = (size_t)team->label_count;
		const int at = lt_report_account_index(w, team->name);

		if (at < 0 || count == 0)
			continue;
		memcpy(room, team->labels, count * sizeof(*room));
		w->accounts[at].labels = room;
		w->accounts[at].label_count = team->label_count;
		room += count;
	}
	for (uint32_t i = 0; i < w->account_count; i++) {
		struct lt_report_account *const account = &w->accounts[i];
		const struct lt_report_account *const from = labelled(w, account);

		account->labels = from->labels;
		account->label_count = from->label_count;
	}
}

json_t *
lt_report_labels_json(const struct lt_report_account *account)
{
	json_t *const json = json_object();

	for (int i = 0; i < account->label_count; i++)
		if (json_object_set_new(
			json, account->labels[i].key, json_string(account->labels[i].value)) != 0) {
			json_decref(json);
			return NULL;
		}
	return json;
}

static int
take_closed(void *all, const struct lt_closed_row *row, struct lt_error *err)
{
	return json_object_set_new(all, row->account, json_loads(row->labels, 0, NULL)) == 0
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "closed: the labels of %s are damaged", row->account);
}

int
lt_report_labels_all(json_t **labels, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;

	*labels = json_object();
	if (view->is_closed)
		return lt_ledger_closed_rows(view->ledger,
		    (struct lt_span){view->period->start_utc_s, view->period->end_utc_s},
		    take_closed, *labels, err);
	for (uint32_t i = 0; i < w->account_count; i++)
		if (json_object_set_new(
			*labels, w->accounts[i].name, lt_report_labels_json(&w->accounts[i])) != 0)
			return lt_fail(err, LT_ENOMEM, "report: out of memory");
	return LT_OK;
}

/* ---- when an account was in the team ---- */

enum { TREND_DAYS = 366 };

static int
by_time(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

bool
lt_report_cut(struct lt_report_asked *asked, const struct lt_period *period)
{
	const struct lt_account_moves *const moves = &asked->tree.moves;
	/* The period before it, and of a trend a year, are asked for, too. */
	const int64_t length = period->end_utc_s - period->start_utc_s;
	const int64_t back = asked->has_trend && length < TREND_DAYS * LT_DAY_S
				 ? TREND_DAYS * LT_DAY_S
				 : length + LT_DAY_S;
	const int64_t from_utc_s = period->start_utc_s - back;

	asked->cuts = calloc((size_t)moves->count + 1, sizeof(*asked->cuts));
	if (asked->cuts == NULL)
		return false;
	for (uint32_t i = 0; i < moves->count; i++)
		if (moves->list[i].until_utc_s > from_utc_s &&
		    moves->list[i].until_utc_s < period->end_utc_s)
			asked->cuts[asked->cut_count++] = moves->list[i].until_utc_s;
	qsort(asked->cuts, asked->cut_count, sizeof(*asked->cuts), by_time);
	uint32_t n = 0;
	for (uint32_t i = 0; i < asked->cut_count; i++)
		if (n == 0 || asked->cuts[i] != asked->cuts[n - 1])
			asked->cuts[n++] = asked->cuts[i];
	asked->cut_count = n;
	return true;
}

struct lt_span
lt_report_cut_part(const struct lt_report_asked *asked, uint32_t part)
{
	return (struct lt_span){part > 0 ? asked->cuts[part - 1] : INT64_MIN,
	    part < asked->cut_count ? asked->cuts[part] : INT64_MAX};
}

void
lt_report_span_add(struct lt_span *span, struct lt_span part)
{
	if (span->from_utc_s == INT64_MAX)
		span->from_utc_s = part.from_utc_s;
	span->to_utc_s = part.to_utc_s;
}

struct lt_span
lt_report_asked_span(const struct lt_report_asked *asked, const char *account)
{
	struct lt_span span = LT_REPORT_NEVER;

	if (asked->team == NULL)
		return (struct lt_span){INT64_MIN, INT64_MAX};
	for (uint32_t i = 0; i <= asked->cut_count; i++) {
		const struct lt_span part = lt_report_cut_part(asked, i);

		if (lt_account_is_below(&asked->tree, account, asked->team, part.to_utc_s - 1))
			lt_report_span_add(&span, part);
	}
	return span;
}
