/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of a statement: the sums of one account or user, their JSON, the text in which a closed
 * period keeps them, and all rows of a period by account. Open periods are read from the ledger's
 * entries, closed ones from their kept rows; a budget that the snapshot no longer has gets the
 * limits of that time.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "account_tree.h"
#include "accounts.h"
#include "api.h"
#include "figures.h"
#include "lookup.h"
#include "report_line.h"
#include "report_parts.h"
#include "text.h"

int
lt_report_line_fill(struct lt_report_line *line, struct lt_ledger *ledger,
    const struct lt_runs_asked *asked, struct lt_error *err)
{
	*line = (struct lt_report_line){0};
	return asked->of_one
		   ? lt_ledger_totals_of_user(ledger, asked, line->in, err)
		   : lt_ledger_totals(ledger, asked->account,
			 (struct lt_span){asked->from_utc_s, asked->to_utc_s}, line->in, err);
}

enum {
	TOTALS = 18,
	TOTALS_FIRST = 16, /* those that were kept from the first release on */
	BUDGET_FIGURES = 9
};

/* Lists all totals of a kind of entry, in the order in which statements of closed periods keep
 * them: it never changes. */
static void
figures_of(int64_t *out[TOTALS], struct lt_totals *t)
{
	int64_t *const all[TOTALS] = {&t->money_micros, &t->carbon_mg, &t->energy_wh,
	    &t->baseline_money_micros, &t->baseline_carbon_mg, &t->saved_by.time_micros,
	    &t->saved_by.time_mg, &t->saved_by.gpu_micros, &t->saved_by.gpu_mg, &t->runs,
	    &t->moved_runs, &t->unpriced_runs, &t->replay_runs, &t->provisional_runs,
	    &t->gpus_slurmctld_runs, &t->gpus_unknown_runs, &t->parts.carbon_charge_micros,
	    &t->parts.discount_micros};

	memcpy(out, all, sizeof(all));
}

static void
add_totals(struct lt_totals *sum, const struct lt_totals *totals)
{
	struct lt_totals copy = *totals;
	int64_t *to[TOTALS], *from[TOTALS];

	figures_of(to, sum);
	figures_of(from, &copy);
	for (int i = 0; i < TOTALS; i++)
		*to[i] += *from[i];
}

void
lt_report_line_add(struct lt_report_line *sum, const struct lt_report_line *line)
{
	for (int k = 0; k < 3; k++)
		add_totals(&sum->in[k], &line->in[k]);
}

bool
lt_report_line_is_empty(const struct lt_report_line *line)
{
	for (int k = 0; k < 3; k++) {
		const struct lt_totals *const t = &line->in[k];

		if (t->money_micros != 0 || t->carbon_mg != 0 || t->energy_wh != 0 || t->runs != 0)
			return false;
	}
	return true;
}

struct lt_amount
lt_report_line_cost(const struct lt_report_line *line)
{
	struct lt_amount cost = {.has_money = true, .has_carbon = true};

	for (int k = 0; k < 3; k++) {
		cost.money_micros += line->in[k].money_micros;
		cost.carbon_mg += line->in[k].carbon_mg;
	}
	return cost;
}

/* ---- as JSON: in an order that stays, for statements are compared by it ---- */

static void
set_json(json_t *to, enum lt_team_figure figure, json_t *value)
{
	json_object_set_new(to, LT_ROW(lt_team_figures, figure).key, value);
}

static void
set_int(json_t *to, enum lt_team_figure figure, int64_t value)
{
	set_json(to, figure, json_integer(value));
}

static void
set_known(json_t *to, enum lt_team_figure figure, bool is_known, int64_t value)
{
	set_json(to, figure, lt_api_optional(is_known, value));
}

static void
set_booked(json_t *to, const struct lt_report_line *line)
{
	static const enum lt_team_figure booked[][2] = {{LT_TEAM_CHARGES, LT_TEAM_CHARGES_MG},
	    {LT_TEAM_CORRECTIONS, LT_TEAM_CORRECTIONS_MG},
	    {LT_TEAM_ADJUSTMENTS, LT_TEAM_ADJUSTMENTS_MG}};
	const struct lt_amount cost = lt_report_line_cost(line);
	struct lt_parts parts = {0};

	for (int k = 0; k < 3; k++) {
		parts.carbon_charge_micros += line->in[k].parts.carbon_charge_micros;
		parts.discount_micros += line->in[k].parts.discount_micros;
		set_int(to, booked[k][0], line->in[k].money_micros);
		set_int(to, booked[k][1], line->in[k].carbon_mg);
	}
	set_int(to, LT_TEAM_COST, cost.money_micros);
	set_int(to, LT_TEAM_NODES,
	    lt_of_nodes(cost.money_micros - line->in[LT_ENTRY_ADJUSTMENT].money_micros, &parts));
	set_int(to, LT_TEAM_CARBON_CHARGE, parts.carbon_charge_micros);
	set_int(to, LT_TEAM_DISCOUNT, parts.discount_micros);
	set_int(to, LT_TEAM_CARBON, cost.carbon_mg);
}

/* A budget covers the accounts below too; without one, its own. */
static void
set_budget(json_t *to, const struct lt_period *b, const struct lt_amount *cost)
{
	const struct lt_amount none = {0};
	const struct lt_amount *const limit = b != NULL ? &b->limit : &none;
	const struct lt_amount *const held = b != NULL ? &b->held : &none;
	const int64_t money = b != NULL ? b->settled.money_micros : cost->money_micros;
	const int64_t carbon = b != NULL ? b->settled.carbon_mg : cost->carbon_mg;

	set_known(to, LT_TEAM_BUDGET, limit->has_money, limit->money_micros);
	set_known(to, LT_TEAM_BUDGET_MG, limit->has_carbon, limit->carbon_mg);
	set_int(to, LT_TEAM_ACTUAL, money);
	set_int(to, LT_TEAM_ACTUAL_MG, carbon);
	set_known(to, LT_TEAM_HELD, b != NULL, held->money_micros);
	set_known(to, LT_TEAM_HELD_MG, b != NULL, held->carbon_mg);
	set_known(to, LT_TEAM_AVAILABLE, limit->has_money,
	    limit->money_micros - money - held->money_micros);
	set_known(to, LT_TEAM_AVAILABLE_MG, limit->has_carbon,
	    limit->carbon_mg - carbon - held->carbon_mg);
}

/* The three add up to what was saved. */
static json_t *
saved_by_json(int64_t saved, int64_t time, int64_t gpu)
{
	return json_pack("{s:I,s:I,s:I}", "time", (json_int_t)time, "place",
	    (json_int_t)(saved - time - gpu), "gpu", (json_int_t)gpu);
}

/* Adjustments save nothing. */
static void
set_saved(json_t *to, const struct lt_report_line *line)
{
	struct lt_totals runs = line->in[LT_ENTRY_CHARGE];

	add_totals(&runs, &line->in[LT_ENTRY_CORRECTION]);
	const int64_t micros =
	    runs.baseline_money_micros - lt_before_discount(runs.money_micros, &runs.parts);
	const int64_t mg = runs.baseline_carbon_mg - runs.carbon_mg;
	const struct lt_saved_by *const by = &runs.saved_by;

	set_int(to, LT_TEAM_BASE, runs.baseline_money_micros);
	set_int(to, LT_TEAM_BASE_MG, runs.baseline_carbon_mg);
	set_int(to, LT_TEAM_SAVED, micros);
	set_int(to, LT_TEAM_SAVED_MG, mg);
	json_object_set_new(
	    to, "saved_by_micros", saved_by_json(micros, by->time_micros, by->gpu_micros));
	json_object_set_new(to, "saved_by_mg", saved_by_json(mg, by->time_mg, by->gpu_mg));
}

json_t *
lt_report_line_json(
    const char *team, const struct lt_report_line *line, const struct lt_period *budget)
{
	const struct lt_totals *const charged = &line->in[LT_ENTRY_CHARGE];
	const struct lt_amount cost = lt_report_line_cost(line);
	json_t *const all = json_object();

	if (team != NULL)
		json_object_set_new(all, "team", json_string(team));
	set_booked(all, line);
	set_budget(all, budget, &cost);
	set_int(all, LT_TEAM_ENERGY,
	    charged->energy_wh + line->in[LT_ENTRY_CORRECTION].energy_wh +
		line->in[LT_ENTRY_ADJUSTMENT].energy_wh);
	set_saved(all, line);
	set_int(all, LT_TEAM_RUNS, charged->runs);
	set_int(all, LT_TEAM_MOVED_RUNS, charged->moved_runs);
	set_int(all, LT_TEAM_UNPRICED_RUNS, charged->unpriced_runs);
	set_int(all, LT_TEAM_GPUS_SLURMCTLD_RUNS, charged->gpus_slurmctld_runs);
	set_int(all, LT_TEAM_GPUS_UNKNOWN_RUNS, charged->gpus_unknown_runs);
	set_json(all, LT_TEAM_REPLAY, json_boolean(charged->replay_runs > 0));
	return all;
}

/* ---- as it is kept ---- */

static void
put_figures(struct lt_text *text, const struct lt_report_line *line, int from, int to)
{
	struct lt_report_line copy = *line;
	int64_t *figures[TOTALS];

	for (int k = 0; k < 3; k++) {
		figures_of(figures, &copy.in[k]);
		for (int i = from; i < to; i++)
			lt_text_put(text, "%lld ", (long long)*figures[i]);
	}
}

void
lt_report_line_pack(
    struct lt_text *text, const struct lt_report_line *line, const struct lt_period *budget)
{
	put_figures(text, line, 0, TOTALS_FIRST);
	if (budget == NULL)
		lt_text_put(text, "0 ");
	else
		lt_text_put(text, "1 %d %lld %d %lld %lld %lld %lld %lld ", budget->limit.has_money,
		    (long long)budget->limit.money_micros, budget->limit.has_carbon,
		    (long long)budget->limit.carbon_mg, (long long)budget->settled.money_micros,
		    (long long)budget->settled.carbon_mg, (long long)budget->held.money_micros,
		    (long long)budget->held.carbon_mg);
	put_figures(text, line, TOTALS_FIRST, TOTALS);
}

static bool
read_number(const char **text, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(*text, &end, 10);
	if (end == *text || errno != 0)
		return false;
	*text = end;
	return true;
}

static bool
read_figures(const char **text, struct lt_report_line *line, int from, int to)
{
	int64_t *figures[TOTALS];
	bool ok = true;

	for (int k = 0; k < 3; k++) {
		figures_of(figures, &line->in[k]);
		for (int i = from; ok && i < to; i++)
			ok = read_number(text, figures[i]);
	}
	return ok;
}

bool
lt_report_line_unpack(
    struct lt_report_line *line, struct lt_period *budget, bool *has_budget, const char *text)
{
	int64_t b[BUDGET_FIGURES - 1], has;

	*line = (struct lt_report_line){0};
	bool ok = read_figures(&text, line, 0, TOTALS_FIRST) && read_number(&text, &has);
	*has_budget = ok && has != 0;
	for (int i = 0; ok && *has_budget && i < BUDGET_FIGURES - 1; i++)
		ok = read_number(&text, &b[i]);
	/* Rows of older releases end here: they had fewer figures. */
	if (ok && text[strspn(text, " ")] != '\0')
		ok = read_figures(&text, line, TOTALS_FIRST, TOTALS);
	if (!ok || !*has_budget)
		return ok;
	budget->limit = (struct lt_amount){.has_money = b[0] != 0,
	    .money_micros = b[1],
	    .has_carbon = b[2] != 0,
	    .carbon_mg = b[3]};
	budget->settled.money_micros = b[4];
	budget->settled.carbon_mg = b[5];
	budget->held.money_micros = b[6];
	budget->held.carbon_mg = b[7];
	return true;
}

/* ---- all rows of a period ---- */

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
		code = lt_ledger_sums(
		    lines->view->ledger, lt_report_span(lines->view->period), &sums, &count, err);
	lines->trees = calloc(w->account_count + 1u, sizeof(*lines->trees));
	if (code == LT_OK && lines->trees == NULL)
		code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_report_account *const a = lt_report_account_of(w, sums[i].account);

		int64_t at = a != NULL ? a - w->accounts : -1;

		for (int depth = 0; at >= 0 && depth < LT_TREE_DEPTH_MAX; depth++) {
			lines->trees[at].money_micros += sums[i].money_micros;
			lines->trees[at].carbon_mg += sums[i].carbon_mg;
			at = lt_report_account_parent(w, &moves, at, sums[i].tree_utc_s);
		}
	}
	free(moves.list);
	free(sums);
	return code;
}

/* The account's budget of the period into *to: 1; 0: there was none. */
static int
budget_of(struct lt_period *to, struct lines *lines, const struct lt_report_account *account,
    struct lt_error *err)
{
	const struct lt_report_view *const v = lines->view;

	if (account->own_sums || v->no_budgets)
		return 0;
	if (v->period == &v->work->period && account->has_budget) {
		*to = account->budget;
		return 1;
	}
	*to = *v->period;
	if (lt_ledger_limit(
		v->ledger, account->name, lt_report_span(v->period), &to->limit, NULL) != LT_OK)
		return 0;
	const int code = sum_trees(lines, err);
	if (code != LT_OK)
		return code;
	to->held = (struct lt_amount){.has_money = true, .has_carbon = true};
	to->settled = lines->trees[account - v->work->accounts];
	return 1;
}

static int
take_line(struct lines *lines, const struct lt_report_account *account, json_t *labels,
    struct lt_error *err)
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
take_now(struct lines *lines, const struct lt_report_account *account, struct lt_error *err)
{
	json_t *const labels = lt_report_labels_json(account);
	const int code = labels != NULL ? take_line(lines, account, labels, err)
					: lt_fail(err, LT_ENOMEM, "report: out of memory");

	json_decref(labels);
	return code;
}

/* Gives a row as it was when the period was closed. For one user, or for a part of the period, the
 * sums are made anew, with the labels of that time. */
static int
take_closed(struct lines *lines, const struct lt_report_account *account,
    const struct lt_closed_row *row, json_t *labels, struct lt_error *err)
{
	struct lt_period budget = *lines->view->period;
	struct lt_report_line line;
	bool has_budget;

	if (!json_is_object(labels) ||
	    !lt_report_line_unpack(&line, &budget, &has_budget, row->figures))
		return lt_fail(err, LT_EINPUT, "%s, closed: the row of %s is damaged", budget.label,
		    row->account);
	const struct lt_span span = lt_report_asked(account, lines->view->period);
	if (account->own_sums || span.from_utc_s > lines->view->period->start_utc_s ||
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
lt_report_lines(
    const struct lt_report_view *view, lt_row_function *take, void *context, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	struct lines lines = {.view = view, .take = take, .context = context};
	int code = LT_OK;

	if (view->is_closed)
		return lt_ledger_closed_rows(
		    view->ledger, lt_report_span(view->period), take_kept, &lines, err);
	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++)
		if (w->accounts[i].is_seen)
			code = take_now(&lines, &w->accounts[i], err);
	free(lines.trees);
	return code;
}
