/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the text of /metrics. Gauges show states of lowtided and sums of the month, which
 * corrections lower; counters show events since the start. Reads the daemon's memory and the sums
 * of metrics_sums.c only. A text that passes its bound sets out->failed. docs/metrics.md lists the
 * names.
 */
#include <math.h>
#include <string.h>

#include "daemon.h"
#include "hazard.h"
#include "lookup.h"
#include "metrics.h"
#include "metrics_put.h"
#include "units.h"

/* ---- counters since the start. All that can be are here from the first scrape
 * on, at 0: what appears with its first event is no increase to Prometheus ---- */

static void
put_step_counters(struct lt_put *to)
{
	const struct lt_daemon *const d = to->view->d;

	lt_put_counter(to, "lowtide_step_failures", NULL,
	    "How often this step of a pass failed; each time it is tried again.");
	for (int i = 0; i < LT_STEP_COUNT; i++) {
		if (lt_step_name((enum lt_step_id)i) == NULL)
			continue;
		lt_put_label(to, "{step=", lt_step_name((enum lt_step_id)i));
		lt_put_end(to, (int64_t)d->steps.failures[i], LT_PUT_WHOLE);
	}
}

static void
source_count(struct lt_put *to, const struct lt_source *source, uint64_t value)
{
	lt_put_label(to, "{source=", source->policy->name);
	lt_put_label(to, ",adapter=", source->adapter->name);
	lt_put_end(to, (int64_t)value, LT_PUT_WHOLE);
}

static void
put_tries(struct lt_put *to, const struct lt_signals_state *signals)
{
	if (signals->source_count == 0)
		return;
	lt_put_counter(to, "lowtide_source_tries", NULL, "How often the source was asked.");
	for (int i = 0; i < signals->source_count; i++)
		source_count(to, &signals->sources[i], signals->sources[i].tries);
	lt_put_counter(to, "lowtide_source_failed_tries", NULL,
	    "How often that failed; each time it is tried again.");
	for (int i = 0; i < signals->source_count; i++)
		source_count(to, &signals->sources[i], signals->sources[i].failed_tries);
}

/* Modes that the site is not in have samples only once they were counted. */
static void
put_decided(struct lt_put *to, const struct lt_counters *tally, enum lt_mode mode)
{
	static const char *const outcomes[LT_DECIDED_COUNT] = {[LT_DECIDED_KEPT] = "kept",
	    [LT_DECIDED_LATER] = "later",
	    [LT_DECIDED_ELSEWHERE] = "elsewhere",
	    [LT_DECIDED_BOTH] = "both"};
	const bool is_now = mode == to->view->d->site.policy->mode;

	for (int i = LT_OBJECTIVE_OFF + 1; i < LT_OBJECTIVE_COUNT; i++)
		for (int k = 0; k < LT_DECIDED_COUNT; k++) {
			const uint64_t jobs = tally->decided[mode][i][k];

			if (!is_now && jobs == 0)
				continue;
			lt_put_label(to, "{mode=", lt_mode_name(mode));
			lt_put_label(to, ",objective=", lt_objective_name((enum lt_objective)i));
			lt_put_label(to, ",outcome=", outcomes[k]);
			lt_put_end(to, (int64_t)jobs, LT_PUT_WHOLE);
		}
}

static void
put_decisions(struct lt_put *to, const struct lt_counters *tally)
{
	lt_put_counter(to, "lowtide_decided_jobs", NULL,
	    "Jobs that lowtide was to place, by what it decided.");
	for (int i = 0; i < LT_MODE_COUNT; i++)
		put_decided(to, tally, (enum lt_mode)i);
	lt_put_counter(to, "lowtide_planned_delay_seconds", "seconds",
	    "By how much later they were to start, all together.");
	for (int i = 0; i < LT_MODE_COUNT; i++) {
		lt_put_label(to, "{mode=", lt_mode_name((enum lt_mode)i));
		lt_put_end(to, tally->delay_s[i], LT_PUT_WHOLE);
	}
}

static void
put_plans(struct lt_put *to, const struct lt_counters *tally)
{
	lt_put_counter(
	    to, "lowtide_replans", NULL, "Plans of jobs that wait that lowtide changed.");
	for (int i = LT_REPLAN_KEEP + 1; i < LT_REPLAN_WHY_COUNT; i++) {
		lt_put_label(to, "{why=", lt_replan_word((enum lt_replan_why)i));
		lt_put_end(to, (int64_t)tally->replans[i], LT_PUT_WHOLE);
	}
	lt_put_counter(to, "lowtide_plans_broken", NULL,
	    "Jobs that started more than an hour after their last plan.");
	lt_put_single(to, (int64_t)tally->broken, LT_PUT_WHOLE);
}

static const char *const refusals[LT_REFUSAL_COUNT] = {
    [LT_REFUSAL_REJECTED] = "reject", [LT_REFUSAL_HELD] = "hold"};

/* Each account that has a budget, or had a job refused. */
static void
put_refused(struct lt_put *to, const struct lt_counters *tally)
{
	lt_put_counter(
	    to, "lowtide_refused_jobs", NULL, "Jobs that a budget rejected or held back.");
	for (uint32_t i = 0; i < tally->refused_count; i++)
		for (int k = 0; k < LT_REFUSAL_COUNT; k++) {
			const struct lt_refused *const row = &tally->refused[i];

			lt_put_label(to, "{account=", row->account);
			lt_put_label(to, ",action=", refusals[k]);
			lt_put_end(to, (int64_t)row->jobs[k], LT_PUT_WHOLE);
		}
	lt_put_counter(to, "lowtide_unknown_balance_jobs", NULL,
	    "Jobs rejected or held back because a balance or price is not known.");
	for (int k = 0; k < LT_REFUSAL_COUNT; k++) {
		lt_put_label(to, "{action=", refusals[k]);
		lt_put_end(to, (int64_t)tally->unknown[k], LT_PUT_WHOLE);
	}
}

static void
put_counters(struct lt_put *to)
{
	const struct lt_daemon *const d = to->view->d;

	put_tries(to, &d->signals);
	put_decisions(to, &d->tally);
	put_plans(to, &d->tally);
	put_refused(to, &d->tally);
}

/* ---- the daemon itself ---- */

static void
put_daemon(struct lt_put *to, const struct lt_daemon *d)
{
	lt_put_gauge(to, "lowtide_build_info", NULL,
	    "Version of lowtided, and the batch system that it works for.");
	lt_put_label(to, "{version=", LT_VERSION);
	lt_put_label(to, ",system=", lt_batch_words.system);
	lt_put_end(to, 1, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_acting", NULL,
	    "1: this host's controller is in charge, and lowtided works.");
	lt_put_single(to, d->acting, LT_PUT_WHOLE);
	lt_put_gauge(
	    to, "lowtide_ready", NULL, "1: the budgets are known to job_submit with all holds.");
	lt_put_single(to, d->budget.has_snapshot && d->budget.snapshot.ready, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_start_time_seconds", "seconds",
	    "When lowtided was started, in Unix time.");
	lt_put_single(to, d->started_utc_s, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_policy_load_time_seconds", "seconds",
	    "When the policy in force was read, in Unix time.");
	lt_put_single(to, d->site.policy_loaded_utc_s, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_policy_refused", NULL,
	    "1: the policy file is wrong since, and the one before is in force.");
	lt_put_single(to, d->policy_error[0] != '\0', LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_off", NULL,
	    "1: switched off by lowtide off; jobs pass as without lowtide.");
	lt_put_single(to, d->site.off.is_off, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_moved_accounts", NULL,
	    "Accounts moved in Slurm out of or into a budget; no admin has accepted it.");
	lt_put_single(to, d->site.tables.moved.count, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_pass_start_time_seconds", "seconds",
	    "When the last pass began, in Unix time.");
	lt_put_single(to, d->pass.utc_s, LT_PUT_WHOLE);
	lt_put_gauge(
	    to, "lowtide_pass_last_seconds", "seconds", "How long the last whole pass took.");
	lt_put_single(to, d->pass_took_ms, LT_PUT_MILLIS);
	lt_put_gauge(to, "lowtide_pass_longest_seconds", "seconds",
	    "How long the longest pass since the start took.");
	lt_put_single(to, d->pass_longest_ms, LT_PUT_MILLIS);
	lt_put_gauge(to, "lowtide_step_failing", NULL,
	    "1: this step of a pass fails now; lowtide status says why.");
	for (int i = 0; i < LT_STEP_COUNT; i++) {
		if (lt_step_name((enum lt_step_id)i) == NULL)
			continue;
		lt_put_label(to, "{step=", lt_step_name((enum lt_step_id)i));
		lt_put_end(to, d->steps.failed[i][0] != '\0', LT_PUT_WHOLE);
	}
}

static int64_t
age_s(int64_t now_utc_s, int64_t then_utc_s)
{
	return now_utc_s > then_utc_s ? now_utc_s - then_utc_s : 0;
}

/* The files that job_submit and SPANK read, and those that they leave. */
static void
put_files(struct lt_put *to, const struct lt_daemon *d)
{
	const int64_t now = to->view->now_utc_s;

	if (d->budget.has_snapshot) {
		lt_put_gauge(to, "lowtide_budget_snapshot_age_seconds", "seconds",
		    "Age of the figures that jobs are admitted by.");
		lt_put_single(to, age_s(now, d->budget.snapshot.compiled_utc_s), LT_PUT_WHOLE);
	}
	if (d->site.has_market) {
		lt_put_gauge(to, "lowtide_market_snapshot_age_seconds", "seconds",
		    "Age of the market that jobs are placed by.");
		lt_put_single(to, age_s(now, d->site.market.compiled_utc_s), LT_PUT_WHOLE);
	}
	lt_put_gauge(
	    to, "lowtide_ring_holds", NULL, "Holds of job_submit that are not in the ledger yet.");
	lt_put_single(to,
	    d->ring.highest > d->ring.ingested ? (int64_t)(d->ring.highest - d->ring.ingested) : 0,
	    LT_PUT_WHOLE);
}

static void
put_disk(struct lt_put *to, const struct lt_metrics_sums *sums)
{
	lt_put_gauge(
	    to, "lowtide_ledger_bytes", "bytes", "Size of the ledger's files, without their logs.");
	lt_put_label(to, "{file=", "ledger.db");
	lt_put_end(to, sums->ledger_bytes, LT_PUT_WHOLE);
	lt_put_label(to, "{file=", "signals.db");
	lt_put_end(to, sums->signals_bytes, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_journal_refused_lines", NULL,
	    "Adjustments of the journal that the ledger could not take.");
	lt_put_single(to, sums->refused_adjustments, LT_PUT_WHOLE);
	if (!sums->has_spool)
		return;
	lt_put_gauge(to, "lowtide_spool_failing", NULL, "1: the folder of messages can't be read.");
	lt_put_single(to, sums->spool_fails, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_spool_messages", NULL, "Messages that wait for lowtide-notify.");
	lt_put_single(to, sums->spool_count, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_spool_oldest_seconds", "seconds",
	    "How long the oldest of them waits; 0: none does.");
	lt_put_single(to,
	    sums->spool_oldest_utc_s != 0 ? age_s(to->view->now_utc_s, sums->spool_oldest_utc_s)
					  : 0,
	    LT_PUT_WHOLE);
}

/* ---- sources and partitions ---- */

static void
source_sample(struct lt_put *to, const struct lt_source *source, int64_t value)
{
	lt_put_label(to, "{source=", source->policy->name);
	lt_put_label(to, ",adapter=", source->adapter->name);
	lt_put_end(to, value, LT_PUT_WHOLE);
}

static void
put_sources(struct lt_put *to, const struct lt_daemon *d)
{
	const int64_t now = to->view->now_utc_s;
	const struct lt_source *const sources = d->signals.sources;
	const int count = d->signals.source_count;

	if (count == 0)
		return;
	lt_put_gauge(to, "lowtide_source_age_seconds", "seconds",
	    "How long ago the source made what lowtided has of it.");
	for (int i = 0; i < count; i++)
		if (sources[i].issued_utc_s != 0)
			source_sample(to, &sources[i], age_s(now, sources[i].issued_utc_s));
	lt_put_gauge(to, "lowtide_source_stale", NULL,
	    "1: older than stale_after, or nothing came yet: it moves no job.");
	for (int i = 0; i < count; i++)
		source_sample(to, &sources[i],
		    lt_source_step(&sources[i], now) == NULL ||
			now > lt_source_made(&sources[i], now) + d->site.policy->stale_after_s);
	lt_put_gauge(to, "lowtide_source_failing", NULL,
	    "1: the last try failed; lowtide signals says why.");
	for (int i = 0; i < count; i++)
		source_sample(to, &sources[i], sources[i].last_error[0] != '\0');
	lt_put_gauge(to, "lowtide_source_failures", NULL, "Tries in a row that failed.");
	for (int i = 0; i < count; i++)
		source_sample(to, &sources[i], sources[i].failures);
}

/* Figures that lowtided has learned of preemptible partitions. */
enum learned { SEEN, THERE, NODES, EMPTIED, HAZARD, LEARNED_COUNT };

static void
place_sample(struct lt_put *to, const struct lt_partition *place, enum learned learned)
{
	const struct lt_availability *const seen = &place->availability;
	const int64_t figures[LEARNED_COUNT] = {[SEEN] = seen->seen_s,
	    [THERE] = seen->there_ppm,
	    [NODES] = seen->part_ppm,
	    [EMPTIED] = seen->taken_ppm,
	    [HAZARD] = llround(place->hazard_per_node_hour * LT_MICROS)};
	const bool has_history = seen->seen_s >= LT_WAIT_SEEN_S;

	if (!(place->flags & LT_PARTITION_PREEMPTIBLE) ||
	    (!has_history && learned != SEEN && learned != HAZARD))
		return;
	lt_put_label(to, "{partition=", place->name);
	lt_put_end(to, LT_ROW(figures, learned), learned == SEEN ? LT_PUT_WHOLE : LT_PUT_MICROS);
}

static void
put_learned(struct lt_put *to, const struct lt_daemon *d)
{
	static const struct {
		const char *name, *unit, *help;
		enum learned learned;
	} families[] = {
	    {"lowtide_partition_seen_seconds", "seconds",
		"How long lowtided has looked at a preemptible partition.", SEEN},
	    {"lowtide_partition_there_ratio", "ratio", "Part of that time with a node there.",
		THERE},
	    {"lowtide_partition_nodes_there_ratio", "ratio",
		"Part of its nodes that are there, on average.", NODES},
	    {"lowtide_partition_emptied_per_hour", NULL,
		"How often in an hour with nodes none was left.", EMPTIED},
	    {"lowtide_partition_interruptions_per_node_hour", NULL,
		"How often a node is taken back or fails, as jobs are placed by.", HAZARD},
	};

	if (!d->site.has_market)
		return;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		lt_put_gauge(to, families[i].name, families[i].unit, families[i].help);
		for (uint32_t k = 0; k < d->site.market.partition_count; k++)
			place_sample(to, &d->site.market.partitions[k], families[i].learned);
	}
}

static void
put_places(struct lt_put *to, const struct lt_metrics_sums *sums)
{
	if (sums->place_count > 0)
		lt_put_gauge(to, "lowtide_partition_nodes_there", NULL,
		    "Nodes of a preemptible partition that take jobs or would.");
	for (uint32_t i = 0; i < sums->place_count; i++) {
		lt_put_label(to, "{partition=", sums->places[i].name);
		lt_put_end(to, sums->places[i].nodes_there, LT_PUT_WHOLE);
	}
}

/* ---- budgets: the period that is now, as GET /v1/budget has it ---- */

struct budget_family {
	const char *name, *help;
	enum { LIMIT, SPENT, HELD } figure;
	bool is_money;
};

static void
budget_labels(struct lt_put *to, uint32_t index)
{
	static const char *const kinds[LT_PERIOD_KIND_COUNT] = {[LT_MONTH] = "month",
	    [LT_QUARTER] = "quarter",
	    [LT_YEAR] = "year",
	    [LT_FIXED] = "fixed"};
	const struct lt_daemon *const d = to->view->d;
	const struct lt_budget *const b = &d->budget.snapshot.budgets[index];

	lt_put_label(to, "{account=", b->team);
	lt_put_label(to, ",period=",
	    (int)index < d->site.policy->budget_count
		? LT_WORD(kinds, d->site.policy->budgets[index].period)
		: "");
	lt_put_label(to, ",window=", b->periods[0].label);
}

static void
budget_sample(struct lt_put *to, const struct lt_put_rows *rows, uint32_t index,
    const struct budget_family *family)
{
	const struct lt_daemon *const d = to->view->d;
	const struct lt_period *const p = &d->budget.snapshot.budgets[index].periods[0];
	const struct lt_amount *const of = family->figure == LIMIT   ? &p->limit
					   : family->figure == SPENT ? &p->settled
								     : &p->held;

	if (family->is_money ? !p->limit.has_money : !p->limit.has_carbon)
		return;
	lt_put_row(to, rows, index);
	if (family->is_money)
		lt_put_label(to, ",currency=", d->site.policy->currency);
	lt_put_end(to, family->is_money ? of->money_micros : of->carbon_mg,
	    family->is_money ? LT_PUT_MICROS : LT_PUT_MILLIS);
}

static void
put_budgets(struct lt_put *to, const struct lt_daemon *d)
{
	static const struct budget_family families[] = {
	    {"lowtide_budget_limit", "What an account may spend in the window, in money.", LIMIT,
		true},
	    {"lowtide_budget_spent", "What of it is charged: runs that ended, and adjustments.",
		SPENT, true},
	    {"lowtide_budget_held", "What of it is held for jobs that wait or run.", HELD, true},
	    {"lowtide_budget_limit_grams", "What an account may emit in the window, in CO2e.",
		LIMIT, false},
	    {"lowtide_budget_spent_grams", "What of it is charged, in CO2e.", SPENT, false},
	    {"lowtide_budget_held_grams", "What of it is held for jobs that wait or run, in CO2e.",
		HELD, false},
	};
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;
	struct lt_put_rows rows;

	if (!d->budget.has_snapshot || !s->ready || s->budget_count == 0)
		return;
	const bool has_rows = lt_put_rows_make(&rows, to, s->budget_count, budget_labels);
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		lt_put_gauge(
		    to, families[i].name, families[i].is_money ? NULL : "grams", families[i].help);
		for (uint32_t k = 0; has_rows && k < s->budget_count; k++)
			budget_sample(to, &rows, k, &families[i]);
	}
	lt_put_rows_free(&rows);
}

static void
put_holds(struct lt_put *to, const struct lt_daemon *d)
{
	const struct lt_open_holds *const open = &d->budget.open;

	if (!d->budget.has_snapshot)
		return;
	lt_put_gauge(to, "lowtide_holds_open", NULL, "Holds of jobs that wait or run.");
	lt_put_single(to, open->count, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_holds_pending", NULL, "Those of jobs that wait.");
	lt_put_single(to, open->pending, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_holds_held_back", NULL,
	    "Those of jobs that a budget, or an unknown balance, holds back.");
	lt_put_single(to, open->held_back, LT_PUT_WHOLE);
	lt_put_gauge(to, "lowtide_holds_pending_money", NULL, "What is held for jobs that wait.");
	lt_put_label(to, "{currency=", d->site.policy->currency);
	lt_put_end(to, open->pending_money_micros, LT_PUT_MICROS);
}

/* ---- what was booked, as the report of the month has it ---- */

enum sum { MONEY, GRAMS, JOULES, SAVED, SAVED_GRAMS, RUNS, MOVED, UNPRICED };

static int64_t
sum_of(const struct lt_report_line *line, enum sum sum)
{
	const struct lt_totals *const in = line->in;
	int64_t value = 0;

	for (int k = 0; k < 3; k++)
		switch (sum) {
		case MONEY:
			value += in[k].money_micros;
			break;
		case GRAMS:
			value += in[k].carbon_mg;
			break;
		case JOULES: /* a watt-hour is 3600 of them */
			value += in[k].energy_wh * 3600;
			break;
		case SAVED: /* adjustments save nothing */
			if (k != LT_ENTRY_ADJUSTMENT)
				value += in[k].baseline_money_micros -
					 lt_before_discount(in[k].money_micros, &in[k].parts);
			break;
		case SAVED_GRAMS:
			if (k != LT_ENTRY_ADJUSTMENT)
				value += in[k].baseline_carbon_mg - in[k].carbon_mg;
			break;
		case RUNS:
			value += k == LT_ENTRY_CHARGE ? in[k].runs : 0;
			break;
		case MOVED:
			value += k == LT_ENTRY_CHARGE ? in[k].moved_runs : 0;
			break;
		case UNPRICED:
			value += k == LT_ENTRY_CHARGE ? in[k].unpriced_runs : 0;
			break;
		}
	return value;
}

static void
account_labels(struct lt_put *to, uint32_t index)
{
	const struct lt_metrics_sums *const sums = to->view->sums;

	lt_put_label(to, "{account=", sums->accounts[index].name);
	lt_put_label(to, ",window=", sums->window);
}

static void
put_accounts(struct lt_put *to, const struct lt_metrics_sums *sums)
{
	static const struct {
		const char *name, *unit, *help;
		enum sum sum;
		int digits;
	} families[] = {
	    {"lowtide_account_spent", NULL, "What is charged to an account in the month, in money.",
		MONEY, LT_PUT_MICROS},
	    {"lowtide_account_spent_grams", "grams", "The same in CO2e.", GRAMS, LT_PUT_MILLIS},
	    {"lowtide_account_energy_joules", "joules", "Energy of the runs that it is charged.",
		JOULES, LT_PUT_WHOLE},
	    {"lowtide_account_saved", NULL, "What its runs would have cost more without lowtide.",
		SAVED, LT_PUT_MICROS},
	    {"lowtide_account_saved_grams", "grams", "The same in CO2e.", SAVED_GRAMS,
		LT_PUT_MILLIS},
	    {"lowtide_account_runs", NULL, "Runs that it is charged.", RUNS, LT_PUT_WHOLE},
	    {"lowtide_account_moved_runs", NULL, "Those of them that lowtide placed or put off.",
		MOVED, LT_PUT_WHOLE},
	    {"lowtide_account_unpriced_runs", NULL, "Those of them that have no known price.",
		UNPRICED, LT_PUT_WHOLE},
	};
	const char *const currency = to->view->d->site.policy->currency;
	struct lt_put_rows rows;

	if (!sums->has_accounts || sums->account_count == 0)
		return;
	const bool has_rows = lt_put_rows_make(&rows, to, sums->account_count, account_labels);
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		lt_put_gauge(to, families[i].name, families[i].unit, families[i].help);
		for (uint32_t k = 0; has_rows && k < sums->account_count; k++) {
			lt_put_row(to, &rows, k);
			if (families[i].digits == LT_PUT_MICROS)
				lt_put_label(to, ",currency=", currency);
			lt_put_end(to, sum_of(&sums->accounts[k].line, families[i].sum),
			    families[i].digits);
		}
	}
	lt_put_rows_free(&rows);
}

/* Nodes of the site's own, as the report's unused. */
static void
put_owned(struct lt_put *to, const struct lt_metrics_sums *sums)
{
	static const struct {
		const char *name, *help;
		bool is_unused;
	} families[] = {
	    {"lowtide_partition_paid", "What the site's own nodes cost it in the month, up to now.",
		false},
	    {"lowtide_partition_unused", "What of that no run is charged yet.", true},
	};

	if (sums->owned_count == 0)
		return;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		lt_put_gauge(to, families[i].name, NULL, families[i].help);
		for (uint32_t k = 0; k < sums->owned_count; k++) {
			const struct lt_unused_row *const row = &sums->owned[k];

			if (!row->has_micros)
				continue;
			lt_put_label(to, "{partition=", row->partition);
			lt_put_label(to, ",window=", sums->owned_window);
			lt_put_label(to, ",currency=", to->view->d->site.policy->currency);
			lt_put_end(to,
			    families[i].is_unused ? row->paid_micros - row->used_micros
						  : row->paid_micros,
			    LT_PUT_MICROS);
		}
	}
}

static void
put_over(struct lt_put *to, const struct lt_metrics_sums *sums)
{
	if (sums->over_count > 0)
		lt_put_gauge(to, "lowtide_runs_above_hold", NULL,
		    "Runs of the last 30 days that cost more than was held.");
	for (int i = 0; i < sums->over_count; i++) {
		lt_put_label(to, "{reason=", sums->over[i].reason);
		lt_put_end(to, sums->over[i].runs, LT_PUT_WHOLE);
	}
}

void
lt_metrics_text(struct lt_out *out, const struct lt_metrics_view *view)
{
	struct lt_put to = {.out = out, .view = view};

	put_daemon(&to, view->d);
	put_files(&to, view->d);
	put_disk(&to, view->sums);
	put_step_counters(&to);
	if (view->has_money) {
		put_sources(&to, view->d);
		put_places(&to, view->sums);
		put_learned(&to, view->d);
		put_budgets(&to, view->d);
		put_holds(&to, view->d);
		put_accounts(&to, view->sums);
		put_owned(&to, view->sums);
		put_over(&to, view->sums);
		put_counters(&to);
	}
	if (view->is_open)
		lt_out_text(out, "# EOF\n");
}
