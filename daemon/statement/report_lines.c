/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of accounts, as they are booked now or were when the period was
 * closed; of periods that the budget snapshot has no more with the limits of
 * then.
 */
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "account_tree.h"
#include "report_parts.h"

struct lines { /* of one period, to be given */
	const struct lt_report_view *view;
	lt_row_function *take;
	void *context;
	struct lt_amount *trees; /* what each account and all below it cost;
				  * malloc'd when it is asked for */
};

static int
sum_trees(struct lines *lines, struct lt_error *err)
{
	const struct lt_report_work *const w = lines->view->work;
	struct lt_account_moves moves = {0};
	struct lt_account_sum *sums = NULL;
	uint32_t count = 0;

	if (lines->trees != NULL)
		return LT_OK;
	int code = lt_ledger_account_moves(lines->view->ledger, &moves, err);
	if (code == LT_OK)
		code = lt_ledger_sums(lines->view->ledger,
		    lt_report_span(lines->view->period), &sums, &count, err);
	lines->trees = calloc(w->account_count + 1u, sizeof(*lines->trees));
	if (code == LT_OK && lines->trees == NULL)
		code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_report_account *const a =
		    lt_report_account_of(w, sums[i].account);

		int64_t at = a != NULL ? a - w->accounts : -1;

		for (int depth = 0; at >= 0 && depth < LT_TREE_DEPTH_MAX;
		     depth++) {
			lines->trees[at].money_micros += sums[i].money_micros;
			lines->trees[at].carbon_mg += sums[i].carbon_mg;
			at = lt_report_account_parent(
			    w, &moves, at, sums[i].tree_utc_s);
		}
	}
	free(moves.list);
	free(sums);
	return code;
}

/* The account's budget of the period into *to: 1; 0: there was none. */
static int
budget_of(struct lt_period *to, struct lines *lines,
    const struct lt_report_account *account, struct lt_error *err)
{
	const struct lt_report_view *const v = lines->view;

	if (account->own_sums || v->no_budgets)
		return 0;
	if (v->period == &v->work->period && account->has_budget) {
		*to = account->budget;
		return 1;
	}
	*to = *v->period;
	if (lt_ledger_limit(v->ledger, account->name, lt_report_span(v->period),
		&to->limit, NULL) != LT_OK)
		return 0;
	const int code = sum_trees(lines, err);
	if (code != LT_OK)
		return code;
	to->held = (struct lt_amount){.has_money = true, .has_carbon = true};
	to->settled = lines->trees[account - v->work->accounts];
	return 1;
}

/* ---- the rows of accounts ---- */

static int
take_line(struct lines *lines, const struct lt_report_account *account,
    json_t *labels, struct lt_error *err)
{
	const struct lt_report_view *const v = lines->view;
	const struct lt_span span = lt_report_asked(account, v->period);
	struct lt_report_line line;
	struct lt_period budget;
	const struct lt_runs_asked asked = {.account = account->name,
	    .from_utc_s = span.from_utc_s,
	    .to_utc_s = span.to_utc_s,
	    .of_one = account->own_sums,
	    .uid = v->work->uid};

	if (span.from_utc_s == span.to_utc_s)
		return LT_OK;
	const int code = lt_report_line_fill(&line, v->ledger, &asked, err);

	if (code != LT_OK)
		return code;
	const int has_budget = budget_of(&budget, lines, account, err);
	if (has_budget < 0)
		return has_budget;
	if (!has_budget && lt_report_line_is_empty(&line))
		return LT_OK;
	return lines->take(lines->context,
	    &(struct lt_report_row){.account = account->name,
		.line = &line,
		.budget = has_budget ? &budget : NULL,
		.labels = labels},
	    err);
}

static int
take_now(struct lines *lines, const struct lt_report_account *account,
    struct lt_error *err)
{
	json_t *const labels = lt_report_labels_json(account);
	const int code = labels != NULL
			     ? take_line(lines, account, labels, err)
			     : lt_fail(err, LT_ENOMEM, "report: out of memory");

	json_decref(labels);
	return code;
}

/* A row as it was when the period was closed; what of it is one user's, or of a
 * part of the period, is summed up, with the labels of then. */
static int
take_closed(struct lines *lines, const struct lt_report_account *account,
    const struct lt_closed_row *row, json_t *labels, struct lt_error *err)
{
	struct lt_period budget = *lines->view->period;
	struct lt_report_line line;
	bool has_budget;

	if (!json_is_object(labels) ||
	    !lt_report_line_unpack(&line, &budget, &has_budget, row->figures))
		return lt_fail(err, LT_EINPUT,
		    "%s, closed: the row of %s is damaged", budget.label,
		    row->account);
	const struct lt_span span =
	    lt_report_asked(account, lines->view->period);
	if (account->own_sums ||
	    span.from_utc_s > lines->view->period->start_utc_s ||
	    span.to_utc_s < lines->view->period->end_utc_s)
		return take_line(lines, account, labels, err);
	return lines->take(lines->context,
	    &(struct lt_report_row){.account = row->account,
		.line = &line,
		.budget = has_budget ? &budget : NULL,
		.labels = labels},
	    err);
}

static int
take_kept(void *context, const struct lt_closed_row *row, struct lt_error *err)
{
	struct lines *const lines = context;
	const struct lt_report_account *const account =
	    lt_report_account_of(lines->view->work, row->account);

	if (account == NULL || !account->is_seen)
		return LT_OK;
	json_t *const labels = json_loads(row->labels, 0, NULL);
	const int code = take_closed(lines, account, row, labels, err);

	json_decref(labels);
	return code;
}

int
lt_report_lines(const struct lt_report_view *view, lt_row_function *take,
    void *context, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	struct lines lines = {.view = view, .take = take, .context = context};
	int code = LT_OK;

	if (view->is_closed)
		return lt_ledger_closed_rows(view->ledger,
		    lt_report_span(view->period), take_kept, &lines, err);
	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++)
		if (w->accounts[i].is_seen)
			code = take_now(&lines, &w->accounts[i], err);
	free(lines.trees);
	return code;
}
