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
	    span_of(lines->view->period), &sums, &count, err);
	lines->trees = calloc(w->account_count + 1u, sizeof(*lines->trees));
	if (code == LT_OK && lines->trees == NULL)
		code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_report_account *const a =
		    account_of(w, sums[i].account);

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
	if (lt_ledger_limit(v->ledger, account->name, span_of(v->period),
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
	    account_of(v->work, row->account);
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
	    span_of(lines->view->period), &rows, &count, err);

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

/* ---- the statement ---- */

struct sums {
	json_t *teams;
	struct lt_report_line total;
};

static int
add_line(void *context, const char *account, const struct lt_report_line *line,
    const struct lt_period *budget, struct lt_error *err)
{
	struct sums *const sums = context;

	lt_report_line_add(&sums->total, line);
	return json_array_append_new(
		   sums->teams, lt_report_line_json(account, line, budget)) == 0
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM, "report: out of memory");
}

static void
look_at(struct lt_report_view *v, const struct lt_report_work *w,
    const struct lt_period *period, struct lt_ledger *ledger)
{
	*v = (struct lt_report_view){
	    .work = w, .period = period, .ledger = ledger};
	v->is_closed = lt_ledger_closed(
			   ledger, span_of(period), &v->closed, NULL) == LT_OK;
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
state_of(const struct lt_report_view *v)
{
	const int64_t now_utc_s = v->work->now_utc_s;

	if (v->is_closed)
		return "closed";
	if (now_utc_s < v->period->start_utc_s)
		return "future";
	return now_utc_s < v->period->end_utc_s ? "open" : "ended";
}

static json_t *
period_json(const struct lt_report_view *v)
{
	const struct lt_report_work *const w = v->work;
	const struct lt_period *const period = v->period;
	char first[LT_DAY_TEXT_SIZE], last[LT_DAY_TEXT_SIZE];
	int64_t start, end;

	lt_calendar_day(first, &start, &end, &w->offsets, period->start_utc_s);
	lt_calendar_day(last, &start, &end, &w->offsets, period->end_utc_s - 1);
	return json_pack("{s:s,s:o,s:o,s:s,s:s,s:s,s:o,s:s?,s:s?}", "label",
	    period->label, "start", lt_api_time(period->start_utc_s), "end",
	    lt_api_time(period->end_utc_s), "first_day", first, "last_day",
	    last, "state", state_of(v), "closed",
	    lt_api_time(v->closed.closed_utc_s), "closed_by",
	    v->is_closed ? v->closed.who : NULL, "checksum",
	    v->is_closed ? v->closed.checksum : NULL);
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

	if (account == NULL || !account->is_seen || account->own_sums)
		return LT_OK;
	if (all->groups != NULL)
		return lt_report_groups_adjustment(all->groups, entry, err);
	lt_calendar_day(day, &start, &end, &all->w->offsets, entry->at_utc_s);
	json_t *const row = json_pack("{s:o,s:s,s:s,s:I,s:I,s:s?,s:s}", "made",
	    lt_api_time(entry->made_utc_s), "day", day, "team", entry->account,
	    "money_micros", (json_int_t)entry->money_micros, "carbon_mg",
	    (json_int_t)entry->carbon_mg, "who",
	    all->w->users.are_hidden ? NULL : entry->who, "reason",
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
	struct lt_report_view v;

	look_at(&v, w, &w->previous, ledger);
	const int code = lt_report_lines(&v, add_line, &sums, err);
	lt_out_text(out, ",\"previous\":{");
	put_members(out, json_pack("{s:o,s:o,s:o}", "period", period_json(&v),
			     "teams", sums.teams, "total",
			     lt_report_line_json(NULL, &sums.total, NULL)));
	lt_out_text(out, "}");
	return code;
}

/* ---- rows of runs ---- */

struct rows {
	const struct lt_report_work *w;
	int64_t closed_utc_s; /* as it was then; 0 = as it is */
	/* they are added to; or both NULL: */
	struct lt_report_groups *groups;
	struct lt_report_carbon *carbon;
	bool are_sums; /* of runs that are not shown, too */
	struct lt_out *out;
	uint32_t count, left; /* left of a page: room for so many more; of all:
			       * 0 */
	struct lt_run last;   /* of a full page */
	bool last_late;
};

/* Or does it only count in the sums of its team? */
static bool
is_shown(const struct lt_report_work *w, const struct lt_run *run,
    const struct lt_booked *booked)
{
	const struct lt_report_account *const account =
	    account_of(w, booked->account);

	return run->uid == w->uid || account == NULL || !account->own_runs;
}

static int
take_row(void *context, const struct lt_run *whose,
    const struct lt_booked *booked, struct lt_error *err)
{
	struct rows *const rows = context;
	const struct lt_run *run = whose;
	struct lt_run nobodys;

	if (rows->w->users.are_hidden) {
		nobodys = *whose;
		lt_run_erase_user(&nobodys);
		run = &nobodys;
	}
	if (rows->groups != NULL)
		return lt_report_groups_run(rows->groups, run, booked,
		    is_shown(rows->w, whose, booked), err);
	if (rows->carbon != NULL)
		return lt_report_carbon_run(
		    rows->carbon, run, booked->account, err);
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
asked_of(const struct rows *rows)
{
	return (struct lt_runs_asked){.from_utc_s = rows->w->period.start_utc_s,
	    .to_utc_s = rows->w->period.end_utc_s,
	    .closed_utc_s = rows->closed_utc_s};
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
		struct lt_runs_asked asked = asked_of(rows);

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
		asked.of_one =
		    rows->are_sums ? account->own_sums : account->own_runs;
		asked.uid = w->uid;
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
	const struct lt_runs_asked asked = asked_of(rows);

	return rows->w->is_everyones
		   ? lt_ledger_runs(ledger, &asked, take_seen, rows, err)
		   : take_by_account(rows, ledger, 0, err);
}

static int
put_groups(
    struct lt_out *out, const struct lt_report_view *v, struct lt_error *err)
{
	const struct lt_report_work *const w = v->work;
	struct lt_report_groups *const groups = lt_report_groups_new(
	    &w->groupings, &w->offsets, v->ledger, span_of(&w->period));
	struct rows rows = {.w = w,
	    .groups = groups,
	    .are_sums = true,
	    .closed_utc_s = v->closed.closed_utc_s};
	struct adjustments adjustments = {.w = w, .groups = groups};

	if (groups == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	int code = take_rows(&rows, v->ledger, err);
	if (code == LT_OK)
		code = lt_ledger_adjustments(v->ledger, span_of(&w->period),
		    take_adjustment, &adjustments, err);
	if (code == LT_OK)
		lt_report_groups_write(out, groups);
	lt_report_groups_free(groups);
	return code;
}

/* The head as it is, or as it was when the period was closed. */
static json_t *
head_of(const struct lt_report_view *v)
{
	return v->is_closed ? json_loads(v->closed.head, 0, NULL)
			    : lt_report_head(v->work);
}

/* hours: each hour of each run goes there; NULL: sums to out. */
static int
put_carbon(struct lt_out *out, const struct lt_report_view *v,
    struct lt_out *hours, struct lt_error *err)
{
	const struct lt_report_work *const w = v->work;
	struct lt_report_carbon *const carbon =
	    lt_report_carbon_new(&(struct lt_carbon_asked){.ledger = v->ledger,
		.offsets = &w->offsets,
		.period = span_of(v->period),
		.zones = w->zones,
		.zone_count = w->zone_count,
		.hours = hours});
	struct rows rows = {.w = w,
	    .carbon = carbon,
	    .are_sums = hours == NULL,
	    .closed_utc_s = v->closed.closed_utc_s};

	if (carbon == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	const int code = take_rows(&rows, v->ledger, err);
	json_t *const head = head_of(v);
	if (code == LT_OK && hours == NULL)
		lt_report_carbon_write(out, carbon, head);
	json_decref(head);
	lt_report_carbon_free(carbon);
	return code;
}

json_t *
lt_report_head(const struct lt_report_work *w)
{
	return json_pack("{s:s,s:s,s:s?,s:s}", "currency", w->currency,
	    "carbon_intensity", w->is_marginal ? "marginal" : "average",
	    "emission_factors", w->basis[0] != '\0' ? w->basis : NULL,
	    "cluster", w->cluster);
}

/* What needs no sums goes first, and at once. */
static void
put_head(struct lt_out *out, const struct lt_report_view *v)
{
	const struct lt_access_users *const users = &v->work->users;
	json_t *const head =
	    json_pack("{s:o,s:b,s:b}", "period", period_json(v), "own_runs",
		users->own_runs, "own_figures", users->own_figures);
	json_t *const more = head_of(v);

	if (json_object_update(head, more) != 0)
		out->failed = true;
	json_decref(more);
	put_members(out, head);
	lt_out_flush(out);
}

/* Without the brace that ends it. */
static int
put_statement(
    struct lt_out *out, const struct lt_report_view *v, struct lt_error *err)
{
	const struct lt_report_work *const w = v->work;
	struct sums sums = {.teams = json_array()};

	lt_out_text(out, "{");
	put_head(out, v);
	lt_out_text(out, ",");
	int code = lt_report_lines(v, add_line, &sums, err);
	const bool is_complete = w->is_settled &&
				 w->now_utc_s >= w->period.end_utc_s &&
				 sums.total.in[0].provisional_runs == 0;
	put_members(
	    out, json_pack("{s:b,s:o,s:o}", "complete",
		     v->is_closed || is_complete, "teams", sums.teams, "total",
		     lt_report_line_json(NULL, &sums.total,
			 w->has_budget ? &w->budget : NULL)));
	lt_out_text(out, ",");
	if (code == LT_OK)
		code = put_adjustments(out, w, v->ledger, err);
	if (code == LT_OK && w->has_previous)
		code = put_previous(out, w, v->ledger, err);
	if (code == LT_OK && w->groupings.count + w->groupings.top > 0)
		code = put_groups(out, v, err);
	if (code == LT_OK && w->has_carbon)
		code = put_carbon(out, v, NULL, err);
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
	struct lt_error err = {0};
	struct lt_report_view v;

	look_at(&v, (const void *)work,
	    &((const struct lt_report_work *)(const void *)work)->period,
	    ledger);
	if (put_statement(out, &v, &err) != LT_OK)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, "}");
	return 200;
}

int
lt_report_page(const struct lt_api_work *work, struct lt_ledger *ledger,
    struct lt_out *out)
{
	const struct lt_report_work *const w = (const void *)work;
	struct lt_error err = {0};
	struct lt_report_view v;
	char next[LT_ACCOUNT_SIZE + 128];

	look_at(&v, w, &w->period, ledger);
	struct rows rows = {
	    .out = out, .w = w, .closed_utc_s = v.closed.closed_utc_s};
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
	struct lt_error err = {0};
	struct lt_report_view v;

	look_at(&v, w, &w->period, ledger);
	struct rows rows = {
	    .out = out, .w = w, .closed_utc_s = v.closed.closed_utc_s};
	int code = put_statement(out, &v, &err);
	if (code != LT_OK && !out->taken)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, w->has_hours ? ",\"hours\":[" : ",\"runs\":[");
	if (code == LT_OK)
		code = w->has_hours ? put_carbon(out, &v, out, &err)
				    : take_rows(&rows, ledger, &err);
	lt_out_text(
	    out, code == LT_OK ? "\n],\"next\":null}" : "\n],\"error\":");
	if (code != LT_OK) {
		lt_out_quoted(out, err.text);
		lt_out_text(out, "}");
	}
	return 200;
}
