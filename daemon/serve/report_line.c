/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "api.h"
#include "report_line.h"

int
lt_report_line_fill(struct lt_report_line *line, struct lt_ledger *ledger,
    const char *account, struct lt_span span, struct lt_error *err)
{
	*line = (struct lt_report_line){0};
	return lt_ledger_totals(ledger, account, span, line->in, err);
}

static void
add_totals(struct lt_totals *sum, const struct lt_totals *t)
{
	sum->money_micros += t->money_micros;
	sum->carbon_mg += t->carbon_mg;
	sum->energy_wh += t->energy_wh;
	sum->baseline_money_micros += t->baseline_money_micros;
	sum->baseline_carbon_mg += t->baseline_carbon_mg;
	sum->saved_by.time_micros += t->saved_by.time_micros;
	sum->saved_by.time_mg += t->saved_by.time_mg;
	sum->saved_by.gpu_micros += t->saved_by.gpu_micros;
	sum->saved_by.gpu_mg += t->saved_by.gpu_mg;
	sum->runs += t->runs;
	sum->moved_runs += t->moved_runs;
	sum->unpriced_runs += t->unpriced_runs;
	sum->replay_runs += t->replay_runs;
	sum->provisional_runs += t->provisional_runs;
	sum->gpus_slurmctld_runs += t->gpus_slurmctld_runs;
	sum->gpus_unknown_runs += t->gpus_unknown_runs;
}

void
lt_report_line_add(
    struct lt_report_line *sum, const struct lt_report_line *line)
{
	for (int k = 0; k < 3; k++)
		add_totals(&sum->in[k], &line->in[k]);
}

bool
lt_report_line_is_empty(const struct lt_report_line *line)
{
	for (int k = 0; k < 3; k++) {
		const struct lt_totals *const t = &line->in[k];

		if (t->money_micros != 0 || t->carbon_mg != 0 ||
		    t->energy_wh != 0 || t->runs != 0)
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

static void
set_int(json_t *to, const char *key, int64_t value)
{
	json_object_set_new(to, key, json_integer(value));
}

static void
set_booked(json_t *to, const struct lt_report_line *line)
{
	static const char *const money[] = {
	    "charges_micros", "corrections_micros", "adjustments_micros"};
	static const char *const carbon[] = {
	    "charges_mg", "corrections_mg", "adjustments_mg"};
	const struct lt_amount cost = lt_report_line_cost(line);

	for (int k = 0; k < 3; k++) {
		set_int(to, money[k], line->in[k].money_micros);
		set_int(to, carbon[k], line->in[k].carbon_mg);
	}
	set_int(to, "cost_micros", cost.money_micros);
	set_int(to, "carbon_mg", cost.carbon_mg);
}

/* A budget covers the accounts below too; without one, its own. */
static void
set_budget(json_t *to, const struct lt_period *b, const struct lt_amount *cost)
{
	const struct lt_amount none = {0};
	const struct lt_amount *const limit = b != NULL ? &b->limit : &none;
	const struct lt_amount *const held = b != NULL ? &b->held : &none;
	const int64_t money =
	    b != NULL ? b->settled.money_micros : cost->money_micros;
	const int64_t carbon =
	    b != NULL ? b->settled.carbon_mg : cost->carbon_mg;

	json_object_set_new(to, "budget_micros",
	    lt_api_optional(limit->has_money, limit->money_micros));
	json_object_set_new(to, "budget_mg",
	    lt_api_optional(limit->has_carbon, limit->carbon_mg));
	set_int(to, "actual_micros", money);
	set_int(to, "actual_mg", carbon);
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
	const int64_t micros = runs.baseline_money_micros - runs.money_micros;
	const int64_t mg = runs.baseline_carbon_mg - runs.carbon_mg;
	const struct lt_saved_by *const by = &runs.saved_by;

	set_int(to, "base_micros", runs.baseline_money_micros);
	set_int(to, "base_mg", runs.baseline_carbon_mg);
	set_int(to, "saved_micros", micros);
	set_int(to, "saved_mg", mg);
	json_object_set_new(to, "saved_by_micros",
	    saved_by_json(micros, by->time_micros, by->gpu_micros));
	json_object_set_new(
	    to, "saved_by_mg", saved_by_json(mg, by->time_mg, by->gpu_mg));
}

json_t *
lt_report_line_json(const char *team, const struct lt_report_line *line,
    const struct lt_period *budget)
{
	const struct lt_totals *const charged = &line->in[LT_ENTRY_CHARGE];
	const struct lt_amount cost = lt_report_line_cost(line);
	json_t *const all = json_object();

	if (team != NULL)
		json_object_set_new(all, "team", json_string(team));
	set_booked(all, line);
	set_budget(all, budget, &cost);
	set_int(all, "energy_wh",
	    charged->energy_wh + line->in[LT_ENTRY_CORRECTION].energy_wh +
		line->in[LT_ENTRY_ADJUSTMENT].energy_wh);
	set_saved(all, line);
	set_int(all, "runs", charged->runs);
	set_int(all, "moved_runs", charged->moved_runs);
	set_int(all, "unpriced_runs", charged->unpriced_runs);
	set_int(all, "gpus_slurmctld_runs", charged->gpus_slurmctld_runs);
	set_int(all, "gpus_unknown_runs", charged->gpus_unknown_runs);
	json_object_set_new(
	    all, "replay", json_boolean(charged->replay_runs > 0));
	return all;
}
