/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A family is a name, what it means and its samples; all are gauges, for they
 * are states that lowtided has, and corrections make charges less. Money and
 * mass are integers in memory, and stand here as all of their digits.
 */
#include "metrics.h"

#include <string.h>

#include "daemon.h"
#include "failover.h"
#include "out.h"

struct put { /* where a family's samples go */
	struct lt_out *out;
	const struct lt_metrics_view *view;
	const char *name;
};

/* unit: the end of the name where that is a base unit, else NULL. */
static void
family(struct put *to, const char *name, const char *unit, const char *help)
{
	struct lt_out *const out = to->out;

	to->name = name;
	lt_out_text(out, "# HELP ");
	lt_out_text(out, name);
	lt_out_text(out, " ");
	lt_out_text(out, help);
	lt_out_text(out, "\n# TYPE ");
	lt_out_text(out, name);
	lt_out_text(out, " gauge\n");
	if (unit == NULL || !to->view->is_open)
		return;
	lt_out_text(out, "# UNIT ");
	lt_out_text(out, name);
	lt_out_text(out, " ");
	lt_out_text(out, unit);
	lt_out_text(out, "\n");
}

/* Labels follow, then end(): `name{`, or `,` */
static void
label(struct put *to, char before, const char *key, const char *value)
{
	if (before == '{')
		lt_out_text(to->out, to->name);
	lt_out_bytes(to->out, &before, 1);
	lt_out_text(to->out, key);
	lt_out_bytes(to->out, "=", 1);
	lt_out_quoted(to->out, value);
}

enum { WHOLE = 0, MILLIS = 3, MICROS = 6 }; /* digits behind the point */

/* With all digits: -1 of MICROS is -0.000001. */
static void
put_decimal(struct lt_out *out, int64_t value, int digits)
{
	static const int64_t scales[] = {
	    [WHOLE] = 1, [MILLIS] = 1000, [MICROS] = 1000000};
	const int64_t scale = scales[digits];
	int64_t rest = value % scale;
	char text[MICROS];

	if (value < 0 && value / scale == 0)
		lt_out_bytes(out, "-", 1);
	lt_out_int(out, value / scale);
	if (digits == WHOLE)
		return;
	rest = rest < 0 ? -rest : rest;
	for (int i = digits; i-- > 0; rest /= 10)
		text[i] = (char)('0' + rest % 10);
	lt_out_bytes(out, ".", 1);
	lt_out_bytes(out, text, (size_t)digits);
}

static void
end(struct put *to, int64_t value, int digits)
{
	lt_out_bytes(to->out, "} ", 2);
	put_decimal(to->out, value, digits);
	lt_out_bytes(to->out, "\n", 1);
}

/* A family of one sample without labels. */
static void
single(struct put *to, int64_t value, int digits)
{
	lt_out_text(to->out, to->name);
	lt_out_bytes(to->out, " ", 1);
	put_decimal(to->out, value, digits);
	lt_out_bytes(to->out, "\n", 1);
}

/* ---- the daemon itself ---- */

static void
put_daemon(struct put *to, const struct lt_daemon *d)
{
	family(to, "lowtide_build_info", NULL,
	    "Version of lowtided, and the batch system that it works for.");
	label(to, '{', "version", LT_VERSION);
	label(to, ',', "system", lt_batch_words.system);
	end(to, 1, WHOLE);
	family(to, "lowtide_acting", NULL,
	    "1: this host's controller is in charge, and lowtided works.");
	single(to, d->acting, WHOLE);
	family(to, "lowtide_ready", NULL,
	    "1: the budgets are known to job_submit with all holds.");
	single(to, d->budget.has_snapshot && d->budget.snapshot.ready, WHOLE);
	family(to, "lowtide_start_time_seconds", "seconds",
	    "When lowtided was started, in Unix time.");
	single(to, d->started_utc_s, WHOLE);
	family(to, "lowtide_policy_load_time_seconds", "seconds",
	    "When the policy in force was read, in Unix time.");
	single(to, d->policy_loaded_utc_s, WHOLE);
	family(to, "lowtide_policy_refused", NULL,
	    "1: the policy file is wrong since, and the one before is in force.");
	single(to, d->policy_error[0] != '\0', WHOLE);
	family(to, "lowtide_pass_start_time_seconds", "seconds",
	    "When the last pass began, in Unix time.");
	single(to, d->pass_utc_s, WHOLE);
	family(to, "lowtide_pass_last_seconds", "seconds",
	    "How long the last whole pass took.");
	single(to, d->pass_took_ms, MILLIS);
	family(to, "lowtide_pass_longest_seconds", "seconds",
	    "How long the longest pass since the start took.");
	single(to, d->pass_longest_ms, MILLIS);
	family(to, "lowtide_step_failing", NULL,
	    "1: this step of a pass fails now; lowtide status says why.");
	for (int i = 0; i < LT_STEP_COUNT; i++) {
		label(to, '{', "step", lt_step_name((enum lt_step_id)i));
		end(to, d->steps.failed[i][0] != '\0', WHOLE);
	}
}

static int64_t
age_s(int64_t now_utc_s, int64_t then_utc_s)
{
	return now_utc_s > then_utc_s ? now_utc_s - then_utc_s : 0;
}

/* What job_submit and SPANK go by, and what they leave. */
static void
put_files(struct put *to, const struct lt_daemon *d)
{
	const int64_t now = to->view->now_utc_s;

	if (d->budget.has_snapshot) {
		family(to, "lowtide_budget_snapshot_age_seconds", "seconds",
		    "Age of the figures that jobs are admitted by.");
		single(
		    to, age_s(now, d->budget.snapshot.compiled_utc_s), WHOLE);
	}
	if (d->has_market) {
		family(to, "lowtide_market_snapshot_age_seconds", "seconds",
		    "Age of the market that jobs are placed by.");
		single(to, age_s(now, d->market.compiled_utc_s), WHOLE);
	}
	family(to, "lowtide_ring_holds", NULL,
	    "Holds of job_submit that are not in the ledger yet.");
	single(to,
	    d->ring.highest > d->ring.ingested
		? (int64_t)(d->ring.highest - d->ring.ingested)
		: 0,
	    WHOLE);
}

static void
put_disk(struct put *to, const struct lt_metrics_sums *sums)
{
	family(to, "lowtide_ledger_bytes", "bytes",
	    "Size of the ledger's files, without their logs.");
	label(to, '{', "file", "ledger.db");
	end(to, sums->ledger_bytes, WHOLE);
	label(to, '{', "file", "signals.db");
	end(to, sums->signals_bytes, WHOLE);
	family(to, "lowtide_journal_refused_lines", NULL,
	    "Adjustments of the journal that the ledger could not take.");
	single(to, sums->refused_adjustments, WHOLE);
	if (!sums->has_spool)
		return;
	family(to, "lowtide_spool_failing", NULL,
	    "1: the folder of messages can't be read.");
	single(to, sums->spool_fails, WHOLE);
	family(to, "lowtide_spool_messages", NULL,
	    "Messages that wait for lowtide-notify.");
	single(to, sums->spool_count, WHOLE);
	family(to, "lowtide_spool_oldest_seconds", "seconds",
	    "How long the oldest of them waits; 0: none does.");
	single(to,
	    sums->spool_oldest_utc_s != 0
		? age_s(to->view->now_utc_s, sums->spool_oldest_utc_s)
		: 0,
	    WHOLE);
}

/* ---- sources and partitions ---- */

static void
source_sample(struct put *to, const struct lt_source *source, int64_t value)
{
	label(to, '{', "source", source->policy->name);
	label(to, ',', "adapter", source->adapter->name);
	end(to, value, WHOLE);
}

static void
put_sources(struct put *to, const struct lt_daemon *d)
{
	const int64_t now = to->view->now_utc_s;
	const struct lt_source *const sources = d->signals.sources;
	const int count = d->signals.source_count;

	if (count == 0)
		return;
	family(to, "lowtide_source_age_seconds", "seconds",
	    "How long ago the source made what lowtided has of it.");
	for (int i = 0; i < count; i++)
		if (sources[i].issued_utc_s != 0)
			source_sample(to, &sources[i],
			    age_s(now, sources[i].issued_utc_s));
	family(to, "lowtide_source_stale", NULL,
	    "1: older than stale_after, or nothing came yet: it moves no job.");
	for (int i = 0; i < count; i++)
		source_sample(to, &sources[i],
		    lt_source_step(&sources[i], now) == NULL ||
			now > lt_source_made(&sources[i], now) +
				  d->policy->stale_after_s);
	family(to, "lowtide_source_failing", NULL,
	    "1: the last try failed; lowtide signals says why.");
	for (int i = 0; i < count; i++)
		source_sample(
		    to, &sources[i], sources[i].last_error[0] != '\0');
	family(
	    to, "lowtide_source_failures", NULL, "Tries in a row that failed.");
	for (int i = 0; i < count; i++)
		source_sample(to, &sources[i], sources[i].failures);
}

static void
put_places(struct put *to, const struct lt_metrics_sums *sums)
{
	if (sums->place_count > 0)
		family(to, "lowtide_partition_nodes_there", NULL,
		    "Nodes of a preemptible partition that take jobs or would.");
	for (uint32_t i = 0; i < sums->place_count; i++) {
		label(to, '{', "partition", sums->places[i].name);
		end(to, sums->places[i].nodes_there, WHOLE);
	}
}

/* ---- budgets: the period that is now, as GET /v1/budget has it ---- */

enum figure { LIMIT, SPENT, HELD };

static void
budget_sample(struct put *to, uint32_t index, enum figure figure, bool is_money)
{
	static const char *const kinds[] = {[LT_MONTH] = "month",
	    [LT_QUARTER] = "quarter",
	    [LT_YEAR] = "year",
	    [LT_FIXED] = "fixed"};
	const struct lt_daemon *const d = to->view->d;
	const struct lt_budget *const b = &d->budget.snapshot.budgets[index];
	const struct lt_period *const p = &b->periods[0];
	const struct lt_amount *const of = figure == LIMIT   ? &p->limit
					   : figure == SPENT ? &p->settled
							     : &p->held;

	if (is_money ? !p->limit.has_money : !p->limit.has_carbon)
		return;
	label(to, '{', "account", b->team);
	label(to, ',', "period",
	    (int)index < d->policy->budget_count
		? kinds[d->policy->budgets[index].period]
		: "");
	label(to, ',', "window", p->label);
	if (is_money)
		label(to, ',', "currency", d->policy->currency);
	end(to, is_money ? of->money_micros : of->carbon_mg,
	    is_money ? MICROS : MILLIS);
}

static void
put_budgets(struct put *to, const struct lt_daemon *d)
{
	static const struct {
		const char *name, *help;
		enum figure figure;
		bool is_money;
	} families[] = {
	    {"lowtide_budget_limit",
		"What an account may spend in the window, in money.", LIMIT,
		true},
	    {"lowtide_budget_spent",
		"What of it is charged: runs that ended, and adjustments.",
		SPENT, true},
	    {"lowtide_budget_held",
		"What of it is held for jobs that wait or run.", HELD, true},
	    {"lowtide_budget_limit_grams",
		"What an account may emit in the window, in CO2e.", LIMIT,
		false},
	    {"lowtide_budget_spent_grams", "What of it is charged, in CO2e.",
		SPENT, false},
	    {"lowtide_budget_held_grams",
		"What of it is held for jobs that wait or run, in CO2e.", HELD,
		false},
	};
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;

	if (!d->budget.has_snapshot || !s->ready || s->budget_count == 0)
		return;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		family(to, families[i].name,
		    families[i].is_money ? NULL : "grams", families[i].help);
		for (uint32_t k = 0; k < s->budget_count; k++)
			budget_sample(
			    to, k, families[i].figure, families[i].is_money);
	}
}

static void
put_holds(struct put *to, const struct lt_daemon *d)
{
	const struct lt_open_holds *const open = &d->budget.open;

	if (!d->budget.has_snapshot)
		return;
	family(
	    to, "lowtide_holds_open", NULL, "Holds of jobs that wait or run.");
	single(to, open->count, WHOLE);
	family(to, "lowtide_holds_pending", NULL, "Those of jobs that wait.");
	single(to, open->pending, WHOLE);
	family(to, "lowtide_holds_pending_money", NULL,
	    "What is held for jobs that wait.");
	label(to, '{', "currency", d->policy->currency);
	end(to, open->pending_money_micros, MICROS);
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
					 lt_before_discount(
					     in[k].money_micros, &in[k].parts);
			break;
		case SAVED_GRAMS:
			if (k != LT_ENTRY_ADJUSTMENT)
				value +=
				    in[k].baseline_carbon_mg - in[k].carbon_mg;
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
put_accounts(struct put *to, const struct lt_metrics_sums *sums)
{
	static const struct {
		const char *name, *unit, *help;
		enum sum sum;
		int digits;
	} families[] = {
	    {"lowtide_account_spent", NULL,
		"What is charged to an account in the month, in money.", MONEY,
		MICROS},
	    {"lowtide_account_spent_grams", "grams", "The same in CO2e.", GRAMS,
		MILLIS},
	    {"lowtide_account_energy_joules", "joules",
		"Energy of the runs that it is charged.", JOULES, WHOLE},
	    {"lowtide_account_saved", NULL,
		"What its runs would have cost more without lowtide.", SAVED,
		MICROS},
	    {"lowtide_account_saved_grams", "grams", "The same in CO2e.",
		SAVED_GRAMS, MILLIS},
	    {"lowtide_account_runs", NULL, "Runs that it is charged.", RUNS,
		WHOLE},
	    {"lowtide_account_moved_runs", NULL,
		"Those of them that lowtide placed or put off.", MOVED, WHOLE},
	    {"lowtide_account_unpriced_runs", NULL,
		"Those of them that have no known price.", UNPRICED, WHOLE},
	};
	const char *const currency = to->view->d->policy->currency;

	if (!sums->has_accounts || sums->account_count == 0)
		return;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		family(
		    to, families[i].name, families[i].unit, families[i].help);
		for (uint32_t k = 0; k < sums->account_count; k++) {
			label(to, '{', "account", sums->accounts[k].name);
			label(to, ',', "window", sums->window);
			if (families[i].digits == MICROS)
				label(to, ',', "currency", currency);
			end(to,
			    sum_of(&sums->accounts[k].line, families[i].sum),
			    families[i].digits);
		}
	}
}

static void
put_over(struct put *to, const struct lt_metrics_sums *sums)
{
	if (sums->over_count > 0)
		family(to, "lowtide_runs_above_hold", NULL,
		    "Runs of the last 30 days that cost more than was held.");
	for (int i = 0; i < sums->over_count; i++) {
		label(to, '{', "reason", sums->over[i].reason);
		end(to, sums->over[i].runs, WHOLE);
	}
}

void
lt_metrics_text(struct lt_out *out, const struct lt_metrics_view *view)
{
	struct put to = {.out = out, .view = view};

	put_daemon(&to, view->d);
	put_files(&to, view->d);
	put_disk(&to, view->sums);
	if (view->has_money) {
		put_sources(&to, view->d);
		put_places(&to, view->sums);
		put_budgets(&to, view->d);
		put_holds(&to, view->d);
		put_accounts(&to, view->sums);
		put_over(&to, view->sums);
	}
	if (view->is_open)
		lt_out_text(out, "# EOF\n");
}
