/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statement of a period, a row per account that had entries or has a
 * budget, and the runs in it, a line each. Each entry is in exactly one row, so
 * rows add up to the total.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "report.h"
#include "run_json.h"

enum { FIGURES = 12 };
static const char *const names[FIGURES] = {"opening_micros", "charges_micros",
    "corrections_micros", "adjustments_micros", "closing_micros", "opening_mg",
    "charges_mg", "corrections_mg", "adjustments_mg", "closing_mg", "energy_wh",
    "runs"};

struct line { /* sums of one account, or of all */
	int64_t figures[FIGURES];
	int64_t baseline_micros, baseline_mg, moved_runs, unpriced_runs;
	struct lt_saved_by saved_by;
	int64_t replay_runs, provisional_runs;
	/* by slurmctld's record, and known to nobody */
	int64_t gpus_slurmctld_runs, gpus_unknown_runs;
};

static void
add_saved_by(struct lt_saved_by *sum, const struct lt_saved_by *by)
{
	sum->time_micros += by->time_micros;
	sum->time_mg += by->time_mg;
	sum->gpu_micros += by->gpu_micros;
	sum->gpu_mg += by->gpu_mg;
}

/* The three add up to what was saved. */
static json_t *
saved_by_json(int64_t saved, int64_t time, int64_t gpu)
{
	return json_pack("{s:I,s:I,s:I}", "time", (json_int_t)time, "place",
	    (json_int_t)(saved - time - gpu), "gpu", (json_int_t)gpu);
}

/* Of a whole account. */
static int
read_totals(struct lt_totals in[3], struct lt_amount *before,
    struct lt_ledger *ledger, const struct lt_runs_asked *asked,
    struct lt_error *err)
{
	const int code = lt_ledger_before(
	    ledger, asked->account, asked->from_utc_s, before, err);

	return code != LT_OK
		   ? code
		   : lt_ledger_totals(ledger, asked->account,
			 (struct lt_span){asked->from_utc_s, asked->to_utc_s},
			 in, err);
}

/* The same of one user in it. */
static int
read_own_totals(struct lt_totals in[3], struct lt_amount *before,
    struct lt_ledger *ledger, const struct lt_runs_asked *asked,
    struct lt_error *err)
{
	struct lt_runs_asked earlier = *asked;

	earlier.to_utc_s = asked->from_utc_s;
	earlier.from_utc_s = 0;
	const int code = lt_ledger_totals_of_user(ledger, &earlier, in, err);
	*before = (struct lt_amount){
	    .money_micros = in[LT_ENTRY_CHARGE].money_micros +
			    in[LT_ENTRY_CORRECTION].money_micros,
	    .carbon_mg = in[LT_ENTRY_CHARGE].carbon_mg +
			 in[LT_ENTRY_CORRECTION].carbon_mg};
	return code != LT_OK ? code
			     : lt_ledger_totals_of_user(ledger, asked, in, err);
}

static int
fill_line(struct line *line, struct lt_ledger *ledger,
    const struct lt_report_account *account, const struct lt_report_work *w,
    struct lt_error *err)
{
	const struct lt_runs_asked asked = {.account = account->name,
	    .from_utc_s = w->period.start_utc_s,
	    .to_utc_s = w->period.end_utc_s,
	    .of_one = account->own_sums,
	    .uid = w->uid};
	struct lt_totals in[3];
	struct lt_amount before;
	const int code = (account->own_sums ? read_own_totals : read_totals)(
	    in, &before, ledger, &asked, err);

	if (code != LT_OK)
		return code;
	*line = (struct line){0};
	int64_t *const f = line->figures;
	f[0] = before.money_micros;
	f[5] = before.carbon_mg;
	for (int k = 0; k < 3; k++) {
		f[1 + k] = in[k].money_micros;
		f[6 + k] = in[k].carbon_mg;
		f[10] += in[k].energy_wh;
		line->baseline_micros += in[k].baseline_money_micros;
		line->baseline_mg += in[k].baseline_carbon_mg;
		add_saved_by(&line->saved_by, &in[k].saved_by);
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
	add_saved_by(&sum->saved_by, &line->saved_by);
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
	const int64_t saved_micros = line->baseline_micros - f[1] - f[2];
	const int64_t saved_mg = line->baseline_mg - f[6] - f[7];
	const struct lt_saved_by *const by = &line->saved_by;
	json_object_set_new(all, "saved_micros", json_integer(saved_micros));
	json_object_set_new(all, "saved_mg", json_integer(saved_mg));
	json_object_set_new(all, "saved_by_micros",
	    saved_by_json(saved_micros, by->time_micros, by->gpu_micros));
	json_object_set_new(all, "saved_by_mg",
	    saved_by_json(saved_mg, by->time_mg, by->gpu_mg));
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

struct sums {
	json_t *teams;
	struct line total;
};

static int
add_account(struct sums *sums, const struct lt_report_work *w, uint32_t i,
    struct lt_ledger *ledger, struct lt_error *err)
{
	const struct lt_report_account *const account = &w->accounts[i];
	struct line line;
	const int code = fill_line(&line, ledger, account, w, err);

	if (code != LT_OK || (is_empty(&line) && !account->has_budget))
		return code;
	add_line(&sums->total, &line);
	json_array_append_new(
	    sums->teams, line_json(account->name, &line,
			     account->has_budget ? &account->budget : NULL));
	return LT_OK;
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

/* Without the brace that ends it. What needs no ledger goes first, and at
 * once. */
static int
put_statement(struct lt_out *out, const struct lt_report_work *w,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct sums sums = {.teams = json_array()};
	int code = LT_OK;

	lt_out_text(out, "{");
	put_members(out,
	    json_pack("{s:{s:s,s:o,s:o},s:s,s:s,s:s?,s:s,s:b,s:b}", "period",
		"label", w->period.label, "start",
		lt_api_time(w->period.start_utc_s), "end",
		lt_api_time(w->period.end_utc_s), "currency", w->currency,
		"carbon_intensity", w->is_marginal ? "marginal" : "average",
		"emission_factors", w->basis[0] != '\0' ? w->basis : NULL,
		"cluster", w->cluster, "own_runs", w->users.own_runs,
		"own_figures", w->users.own_figures));
	lt_out_text(out, ",");
	lt_out_flush(out);
	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++)
		code = add_account(&sums, w, i, ledger, err);
	put_members(out, json_pack("{s:b,s:o,s:o}", "complete",
			     w->is_settled && sums.total.provisional_runs == 0,
			     "teams", sums.teams, "total",
			     line_json(NULL, &sums.total,
				 w->has_budget ? &w->budget : NULL)));
	return code;
}

struct rows {
	struct lt_out *out;
	bool hides_users;
	uint32_t count,
	    left; /* left of a page: room for so many more; of all: 0 */
	struct lt_run last;
};

static int
put_run(void *context, const struct lt_run *run, struct lt_error *err)
{
	struct rows *const rows = context;

	lt_out_text(rows->out, rows->count++ > 0 ? ",\n" : "\n");
	if (rows->hides_users) {
		struct lt_run nobodys = *run;

		lt_run_erase_user(&nobodys);
		lt_run_write(rows->out, &nobodys);
	} else {
		lt_run_write(rows->out, run);
	}
	if (rows->left > 0 && --rows->left == 0)
		rows->last = *run;
	return rows->out->failed
		   ? lt_fail(err, LT_EIO, "nobody takes the answer")
		   : LT_OK;
}

static int
compare_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_report_account *)account)->name);
}

struct everyone {
	struct rows rows;
	const struct lt_report_work *w;
};

/* A run of an account that no statement has is in none. */
static int
put_known_run(void *context, const struct lt_run *run, struct lt_error *err)
{
	struct everyone *const all = context;

	return bsearch(run->account, all->w->accounts, all->w->account_count,
		   sizeof(all->w->accounts[0]), compare_name) != NULL
		   ? put_run(&all->rows, run, err)
		   : LT_OK;
}

static int
put_everyones(struct lt_out *out, const struct lt_report_work *w,
    struct lt_ledger *ledger, struct lt_error *err)
{
	const struct lt_runs_asked asked = {.from_utc_s = w->period.start_utc_s,
	    .to_utc_s = w->period.end_utc_s};
	struct everyone all = {
	    .rows = {.out = out, .hides_users = w->users.are_hidden}, .w = w};

	lt_out_text(out, "\"runs\":[");
	return lt_ledger_runs(ledger, &asked, put_known_run, &all, err);
}

/* Of each account in turn, until there is no room. */
static int
put_runs(struct rows *rows, const struct lt_report_work *w,
    struct lt_ledger *ledger, uint32_t most, struct lt_error *err)
{
	bool begun = !w->has_after;
	int code = LT_OK;

	rows->left = most;
	lt_out_text(rows->out, "\"runs\":[");
	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++) {
		const char *const account = w->accounts[i].name;
		struct lt_runs_asked asked = {.account = account,
		    .from_utc_s = w->period.start_utc_s,
		    .to_utc_s = w->period.end_utc_s,
		    .most = rows->left,
		    .of_one = w->accounts[i].own_runs,
		    .uid = w->uid};

		if (!begun && strcmp(account, w->after.account) == 0)
			asked.after = &w->after;
		else if (!begun)
			continue;
		begun = true;
		code = lt_ledger_runs(ledger, &asked, put_run, rows, err);
		if (most > 0 && rows->left == 0)
			break;
	}
	return code;
}

bool
lt_report_place(struct lt_run *after, const char *text)
{
	long long end, start, submit;
	unsigned moved, priced, job_id;
	int used = 0;

	if (sscanf(text, "%lld.%lld.%u.%u.%u.%lld.%n", &end, &start, &moved,
		&priced, &job_id, &submit, &used) != 6 ||
	    used == 0 || text[used] == '\0' ||
	    strlen(text + used) >= sizeof(after->account))
		return false;
	*after = (struct lt_run){.end_utc_s = end,
	    .start_utc_s = start,
	    .moved = moved != 0,
	    .priced = priced != 0,
	    .key = {job_id, submit}};
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
	struct rows rows = {.out = out, .hides_users = w->users.are_hidden};
	struct lt_error err = {0};
	char next[LT_ACCOUNT_SIZE + 128];

	lt_out_text(out, "{");
	if (put_runs(&rows, w, ledger, w->most, &err) != LT_OK)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, "\n],\"next\":");
	snprintf(next, sizeof(next), "%lld.%lld.%d.%d.%u.%lld.%s",
	    (long long)rows.last.end_utc_s, (long long)rows.last.start_utc_s,
	    rows.last.moved, rows.last.priced, rows.last.key.job_id,
	    (long long)rows.last.key.submit_utc_s, rows.last.account);
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
	struct rows rows = {.out = out, .hides_users = w->users.are_hidden};
	struct lt_error err = {0};
	int code = put_statement(out, w, ledger, &err);

	if (code != LT_OK && !out->taken)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, ",");
	if (code == LT_OK && w->is_everyones)
		code = put_everyones(out, w, ledger, &err);
	else if (code == LT_OK)
		code = put_runs(&rows, w, ledger, 0, &err);
	else
		lt_out_text(out, "\"runs\":[");
	lt_out_text(
	    out, code == LT_OK ? "\n],\"next\":null}" : "\n],\"error\":");
	if (code != LT_OK) {
		lt_out_quoted(out, err.text);
		lt_out_text(out, "}");
	}
	return 200;
}
