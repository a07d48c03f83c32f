/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statement of a period, a row per account that had entries or has a
 * budget, and the rows of its runs, a line each. Each entry is in exactly one
 * of each, so that both add up to the total.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "report.h"
#include "report_line.h"
#include "run_json.h"

static struct lt_span
span_of(const struct lt_period *period)
{
	return (struct lt_span){period->start_utc_s, period->end_utc_s};
}

/* ---- budgets of periods that the snapshot has no more ---- */

static int
compare_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_report_account *)account)->name);
}

static const struct lt_report_account *
account_of(const struct lt_report_work *w, const char *name)
{
	return bsearch(name, w->accounts, w->account_count,
	    sizeof(w->accounts[0]), compare_name);
}

struct budgets { /* of one period */
	const struct lt_period *period;
	bool is_current;	 /* the work has them */
	struct lt_amount *trees; /* what each account and all below it cost;
				  * malloc'd when it is asked for */
	struct lt_error err;
};

static int
sum_trees(
    struct budgets *b, const struct lt_report_work *w, struct lt_ledger *ledger)
{
	struct lt_account_sum *sums = NULL;
	uint32_t count = 0;

	if (b->trees != NULL)
		return LT_OK;
	int code =
	    lt_ledger_sums(ledger, span_of(b->period), &sums, &count, &b->err);
	b->trees = calloc(w->account_count + 1u, sizeof(*b->trees));
	if (code == LT_OK && b->trees == NULL)
		code = lt_fail(&b->err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_report_account *const a =
		    account_of(w, sums[i].account);

		for (int64_t at = a != NULL ? a - w->accounts : -1; at >= 0;
		     at = w->accounts[at].parent) {
			b->trees[at].money_micros += sums[i].money_micros;
			b->trees[at].carbon_mg += sums[i].carbon_mg;
		}
	}
	free(sums);
	return code;
}

/* The account's budget of the period into *to; false: there was none. */
static bool
budget_of(struct lt_period *to, struct budgets *b,
    const struct lt_report_work *w, const struct lt_report_account *account,
    struct lt_ledger *ledger)
{
	if (b->is_current && account->has_budget) {
		*to = account->budget;
		return true;
	}
	*to = *b->period;
	if (lt_ledger_limit(ledger, account->name, span_of(b->period),
		&to->limit, NULL) != LT_OK ||
	    sum_trees(b, w, ledger) != LT_OK)
		return false;
	to->held = (struct lt_amount){.has_money = true, .has_carbon = true};
	to->settled = b->trees[account - w->accounts];
	return true;
}

/* ---- the statement ---- */

struct sums {
	json_t *teams;
	struct lt_report_line total;
};

static int
add_account(struct sums *sums, struct budgets *b,
    const struct lt_report_work *w, const struct lt_report_account *account,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_report_line line;
	struct lt_period budget;
	const int code = lt_report_line_fill(
	    &line, ledger, account->name, span_of(b->period), err);

	if (code != LT_OK)
		return code;
	const bool has_budget = budget_of(&budget, b, w, account, ledger);
	if (b->err.code != LT_OK)
		return lt_fail(err, b->err.code, "%s", b->err.text);
	if (lt_report_line_is_empty(&line) && !has_budget)
		return LT_OK;
	lt_report_line_add(&sums->total, &line);
	json_array_append_new(
	    sums->teams, lt_report_line_json(account->name, &line,
			     has_budget ? &budget : NULL));
	return LT_OK;
}

static int
add_accounts(struct sums *sums, const struct lt_report_work *w,
    const struct lt_period *period, struct lt_ledger *ledger,
    struct lt_error *err)
{
	struct budgets b = {
	    .period = period, .is_current = period == &w->period};
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++)
		if (w->accounts[i].is_seen)
			code = add_account(
			    sums, &b, w, &w->accounts[i], ledger, err);
	free(b.trees);
	return code;
}

/* A JSON object without the brace that ends it, and that begins it. */
static void
put_members(struct lt_out *out, json_t *object)
{
	char *const text =
	    object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;

	if (text != NULL)
		lt_out_bytes(out, text + 1, strlen(text) - 2);
	else
		out->failed = true;
	free(text);
	json_decref(object);
}

static const char *
state_of(const struct lt_period *period, int64_t now_utc_s)
{
	if (now_utc_s < period->start_utc_s)
		return "future";
	return now_utc_s < period->end_utc_s ? "open" : "ended";
}

static json_t *
period_json(const struct lt_report_work *w, const struct lt_period *period)
{
	char first[LT_DAY_TEXT_SIZE], last[LT_DAY_TEXT_SIZE];
	int64_t start, end;

	lt_calendar_day(first, &start, &end, &w->offsets, period->start_utc_s);
	lt_calendar_day(last, &start, &end, &w->offsets, period->end_utc_s - 1);
	return json_pack("{s:s,s:o,s:o,s:s,s:s,s:s}", "label", period->label,
	    "start", lt_api_time(period->start_utc_s), "end",
	    lt_api_time(period->end_utc_s), "first_day", first, "last_day",
	    last, "state", state_of(period, w->now_utc_s));
}

struct adjustments {
	const struct lt_report_work *w;
	struct lt_report_groups *groups;
	json_t *list;
};

static int
take_adjustment(
    void *context, const struct lt_entry *entry, struct lt_error *err)
{
	struct adjustments *const all = context;
	const struct lt_report_account *const account =
	    account_of(all->w, entry->account);
	char day[LT_DAY_TEXT_SIZE];
	int64_t start, end;

	if (account == NULL || !account->is_seen)
		return LT_OK;
	if (all->groups != NULL)
		return lt_report_groups_adjustment(all->groups, entry, err);
	lt_calendar_day(day, &start, &end, &all->w->offsets, entry->at_utc_s);
	json_t *const row = json_pack("{s:o,s:s,s:s,s:I,s:I,s:s,s:s}", "made",
	    lt_api_time(entry->made_utc_s), "day", day, "team", entry->account,
	    "money_micros", (json_int_t)entry->money_micros, "carbon_mg",
	    (json_int_t)entry->carbon_mg, "who", entry->who, "reason",
	    entry->reason);
	return json_array_append_new(all->list, row) == 0
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM,
			 "report: no memory, or a text that is not UTF-8");
}

static int
put_adjustments(struct lt_out *out, const struct lt_report_work *w,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct adjustments all = {.w = w, .list = json_array()};
	const int code = lt_ledger_adjustments(
	    ledger, span_of(&w->period), take_adjustment, &all, err);

	put_members(out, json_pack("{s:o}", "adjustments", all.list));
	return code;
}

static int
put_previous(struct lt_out *out, const struct lt_report_work *w,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct sums sums = {.teams = json_array()};
	const int code = add_accounts(&sums, w, &w->previous, ledger, err);

	lt_out_text(out, ",\"previous\":{");
	put_members(
	    out, json_pack("{s:o,s:o,s:o}", "period",
		     period_json(w, &w->previous), "teams", sums.teams, "total",
		     lt_report_line_json(NULL, &sums.total, NULL)));
	lt_out_text(out, "}");
	return code;
}

/* ---- rows of runs ---- */

struct rows {
	const struct lt_report_work *w;
	struct lt_report_groups *groups; /* they are added to; or NULL: */
	struct lt_out *out;
	uint32_t count, left; /* left of a page: room for so many more; of all:
			       * 0 */
	struct lt_run last;   /* of a full page */
	bool last_late;
};

static int
take_row(void *context, const struct lt_run *run,
    const struct lt_booked *booked, struct lt_error *err)
{
	struct rows *const rows = context;

	if (rows->groups != NULL)
		return lt_report_groups_run(rows->groups, run, booked, err);
	lt_out_text(rows->out, rows->count++ > 0 ? ",\n" : "\n");
	lt_run_write(rows->out, run, booked, &rows->w->offsets);
	if (rows->left > 0 && --rows->left == 0) {
		rows->last = *run;
		rows->last_late = booked->is_late;
	}
	return rows->out->failed
		   ? lt_fail(err, LT_EIO, "nobody takes the answer")
		   : LT_OK;
}

/* A run of an account that no statement has is in none. */
static int
take_seen(void *context, const struct lt_run *run,
    const struct lt_booked *booked, struct lt_error *err)
{
	struct rows *const rows = context;

	return account_of(rows->w, booked->account) != NULL
		   ? take_row(rows, run, booked, err)
		   : LT_OK;
}

static struct lt_runs_asked
asked_of(const struct lt_report_work *w)
{
	return (struct lt_runs_asked){.from_utc_s = w->period.start_utc_s,
	    .to_utc_s = w->period.end_utc_s};
}

/* Of each account in turn, until there is no room. */
static int
take_by_account(struct rows *rows, struct lt_ledger *ledger, uint32_t most,
    struct lt_error *err)
{
	const struct lt_report_work *const w = rows->w;
	bool begun = !w->has_after;
	int code = LT_OK;

	rows->left = most;
	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++) {
		const struct lt_report_account *const account = &w->accounts[i];
		struct lt_runs_asked asked = asked_of(w);

		if (!account->is_seen)
			continue;
		if (!begun && strcmp(account->name, w->after.account) == 0) {
			asked.after = &w->after;
			asked.after_late = w->after_late;
		} else if (!begun) {
			continue;
		}
		begun = true;
		asked.account = account->name;
		asked.most = rows->left;
		code = lt_ledger_runs(ledger, &asked, take_row, rows, err);
		if (most > 0 && rows->left == 0) {
			memcpy(rows->last.account, account->name,
			    sizeof(rows->last.account));
			break;
		}
	}
	return code;
}

static int
take_rows(struct rows *rows, struct lt_ledger *ledger, struct lt_error *err)
{
	const struct lt_runs_asked asked = asked_of(rows->w);

	return rows->w->is_everyones
		   ? lt_ledger_runs(ledger, &asked, take_seen, rows, err)
		   : take_by_account(rows, ledger, 0, err);
}

static int
put_groups(struct lt_out *out, const struct lt_report_work *w,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_report_groups *const groups = lt_report_groups_new(
	    &w->groupings, &w->offsets, ledger, span_of(&w->period));
	struct rows rows = {.w = w, .groups = groups};
	struct adjustments adjustments = {.w = w, .groups = groups};

	if (groups == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	int code = take_rows(&rows, ledger, err);
	if (code == LT_OK)
		code = lt_ledger_adjustments(ledger, span_of(&w->period),
		    take_adjustment, &adjustments, err);
	if (code == LT_OK)
		lt_report_groups_write(out, groups);
	lt_report_groups_free(groups);
	return code;
}

/* Without the brace that ends it. What needs no ledger goes first, and at
 * once. */
static int
put_statement(struct lt_out *out, const struct lt_report_work *w,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct sums sums = {.teams = json_array()};

	lt_out_text(out, "{");
	put_members(out,
	    json_pack("{s:o,s:s,s:s,s:s?,s:s}", "period",
		period_json(w, &w->period), "currency", w->currency,
		"carbon_intensity", w->is_marginal ? "marginal" : "average",
		"emission_factors", w->basis[0] != '\0' ? w->basis : NULL,
		"cluster", w->cluster));
	lt_out_text(out, ",");
	lt_out_flush(out);
	int code = add_accounts(&sums, w, &w->period, ledger, err);
	put_members(
	    out, json_pack("{s:b,s:o,s:o}", "complete",
		     w->is_settled && w->now_utc_s >= w->period.end_utc_s &&
			 sums.total.in[0].provisional_runs == 0,
		     "teams", sums.teams, "total",
		     lt_report_line_json(NULL, &sums.total,
			 w->has_budget ? &w->budget : NULL)));
	lt_out_text(out, ",");
	if (code == LT_OK)
		code = put_adjustments(out, w, ledger, err);
	if (code == LT_OK && w->has_previous)
		code = put_previous(out, w, ledger, err);
	if (code == LT_OK && w->groupings.count + w->groupings.top > 0)
		code = put_groups(out, w, ledger, err);
	return code;
}

bool
lt_report_place(struct lt_run *after, bool *is_late, const char *text)
{
	long long end, start, submit;
	unsigned moved, priced, job_id, late;
	int used = 0;

	if (sscanf(text, "%u.%lld.%lld.%u.%u.%u.%lld.%n", &late, &end, &start,
		&moved, &priced, &job_id, &submit, &used) != 7 ||
	    used == 0 || text[used] == '\0' ||
	    strlen(text + used) >= sizeof(after->account))
		return false;
	*after = (struct lt_run){.end_utc_s = end,
	    .start_utc_s = start,
	    .moved = moved != 0,
	    .priced = priced != 0,
	    .key = {job_id, submit}};
	*is_late = late != 0;
	(void)strcpy(after->account, text + used);
	return true;
}

int
lt_report_statement(const struct lt_api_work *work, struct lt_ledger *ledger,
    struct lt_out *out)
{
	const struct lt_report_work *const w = (const void *)work;
	struct lt_error err = {0};

	if (put_statement(out, w, ledger, &err) != LT_OK)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, "}");
	return 200;
}

int
lt_report_page(const struct lt_api_work *work, struct lt_ledger *ledger,
    struct lt_out *out)
{
	const struct lt_report_work *const w = (const void *)work;
	struct rows rows = {.out = out, .w = w};
	struct lt_error err = {0};
	char next[LT_ACCOUNT_SIZE + 128];

	lt_out_text(out, "{\"runs\":[");
	if (take_by_account(&rows, ledger, w->most, &err) != LT_OK)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, "\n],\"next\":");
	snprintf(next, sizeof(next), "%d.%lld.%lld.%d.%d.%u.%lld.%s",
	    rows.last_late, (long long)rows.last.end_utc_s,
	    (long long)rows.last.start_utc_s, rows.last.moved, rows.last.priced,
	    rows.last.key.job_id, (long long)rows.last.key.submit_utc_s,
	    rows.last.account);
	if (rows.left == 0)
		lt_out_quoted(out, next);
	else
		lt_out_text(out, "null");
	lt_out_text(out, "}");
	return 200;
}

int
lt_report_all(const struct lt_api_work *work, struct lt_ledger *ledger,
    struct lt_out *out)
{
	const struct lt_report_work *const w = (const void *)work;
	struct rows rows = {.out = out, .w = w};
	struct lt_error err = {0};
	int code = put_statement(out, w, ledger, &err);

	if (code != LT_OK && !out->taken)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, ",\"runs\":[");
	if (code == LT_OK)
		code = take_rows(&rows, ledger, &err);
	lt_out_text(
	    out, code == LT_OK ? "\n],\"next\":null}" : "\n],\"error\":");
	if (code != LT_OK) {
		lt_out_quoted(out, err.text);
		lt_out_text(out, "}");
	}
	return 200;
}
