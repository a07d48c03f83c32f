/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of accounts, as they are booked now or were when the period was
 * closed; of periods that the budget snapshot has no more with the limits of
 * then.
 */
#include <stdlib.h>
#include <string.h>

#include "report_parts.h"

static int
compare_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_report_account *)account)->name);
}

const struct lt_report_account *
lt_report_account_of(const struct lt_report_work *w, const char *name)
{
	return bsearch(name, w->accounts, w->account_count,
	    sizeof(w->accounts[0]), compare_name);
}

struct lines { /* of one period, to be given */
	const struct lt_report_view *view;
	lt_line_function *take;
	void *context;
	struct lt_amount *trees; /* what each account and all below it cost;
				  * malloc'd when it is asked for */
};

static int
sum_trees(struct lines *lines, struct lt_error *err)
{
	const struct lt_report_work *const w = lines->view->work;
	struct lt_account_sum *sums = NULL;
	uint32_t count = 0;

	if (lines->trees != NULL)
		return LT_OK;
	int code = lt_ledger_sums(lines->view->ledger,
	    lt_report_span(lines->view->period), &sums, &count, err);
	lines->trees = calloc(w->account_count + 1u, sizeof(*lines->trees));
	if (code == LT_OK && lines->trees == NULL)
		code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_report_account *const a =
		    lt_report_account_of(w, sums[i].account);

		for (int64_t at = a != NULL ? a - w->accounts : -1; at >= 0;
		     at = w->accounts[at].parent) {
			lines->trees[at].money_micros += sums[i].money_micros;
			lines->trees[at].carbon_mg += sums[i].carbon_mg;
		}
	}
	free(sums);
	return code;
}

/* The account's budget of the period into *to: 1; 0: there was none. */
static int
budget_of(struct lt_period *to, struct lines *lines,
    const struct lt_report_account *account, struct lt_error *err)
{
	const struct lt_report_view *const v = lines->view;

	if (account->own_sums)
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
    struct lt_error *err)
{
	const struct lt_report_view *const v = lines->view;
	struct lt_report_line line;
	struct lt_period budget;
	const struct lt_runs_asked asked = {.account = account->name,
	    .from_utc_s = v->period->start_utc_s,
	    .to_utc_s = v->period->end_utc_s,
	    .of_one = account->own_sums,
	    .uid = v->work->uid};
	const int code = lt_report_line_fill(&line, v->ledger, &asked, err);

	if (code != LT_OK)
		return code;
	const int has_budget = budget_of(&budget, lines, account, err);
	if (has_budget < 0)
		return has_budget;
	return has_budget || !lt_report_line_is_empty(&line)
		   ? lines->take(lines->context, account->name, &line,
			 has_budget ? &budget : NULL, err)
		   : LT_OK;
}

/* A row as it was when the period was closed. */
static int
take_kept(
    struct lines *lines, const struct lt_closed_row *row, struct lt_error *err)
{
	const struct lt_report_view *const v = lines->view;
	const struct lt_report_account *const account =
	    lt_report_account_of(v->work, row->account);
	struct lt_period budget = *v->period;
	struct lt_report_line line;
	bool has_budget;

	if (account == NULL || !account->is_seen)
		return LT_OK;
	if (account->own_sums)
		return take_line(lines, account, err);
	if (!lt_report_line_unpack(&line, &budget, &has_budget, row->figures))
		return lt_fail(err, LT_EINPUT,
		    "%s, closed: the row of %s is damaged", v->period->label,
		    row->account);
	return lines->take(lines->context, row->account, &line,
	    has_budget ? &budget : NULL, err);
}

static int
take_all_kept(struct lines *lines, struct lt_error *err)
{
	struct lt_closed_row *rows = NULL;
	uint32_t count = 0;
	int code = lt_ledger_closed_rows(lines->view->ledger,
	    lt_report_span(lines->view->period), &rows, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		code = take_kept(lines, &rows[i], err);
	free(rows);
	return code;
}

int
lt_report_lines(const struct lt_report_view *view, lt_line_function *take,
    void *context, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	struct lines lines = {.view = view, .take = take, .context = context};
	int code = LT_OK;

	if (view->is_closed)
		return take_all_kept(&lines, err);
	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++)
		if (w->accounts[i].is_seen)
			code = take_line(&lines, &w->accounts[i], err);
	free(lines.trees);
	return code;
}
