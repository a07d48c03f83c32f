/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the text of `lowtide explain`: every number of a job with its source, from the plan and
 * the candidates that it was compared with to the hold and the charge of each run. Reads the story,
 * the market and the ledger. Numbers in brackets are equations of docs/model.md, shown on request.
 * A text that is too long is cut.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_signals.h"
#include "baseline.h"
#include "daemon.h"
#include "equations.h"
#include "explain.h"
#include "explain_facts.h"
#include "gpu_kinds.h"
#include "hazard.h"
#include "lookup.h"
#include "notice.h"
#include "policy_load.h"
#include "price.h"
#include "replan.h"
#include "text.h"
#include "units.h"

/* The equation by which a partition loses; 0: none, a fact of Slurm's. */
static const int equations[LT_REJECT_COUNT] = {
    [LT_REJECT_DEARER] = 24,
    [LT_REJECT_MAX_TIME] = 3,
    [LT_REJECT_NO_PRICE] = 21,
    [LT_REJECT_NO_CARBON] = 21,
    [LT_REJECT_STALE] = 21,
    [LT_REJECT_RISK] = 13,
    [LT_REJECT_DEADLINE] = 16,
    [LT_REJECT_CAPACITY] = 17,
    [LT_REJECT_BUDGET] = 25,
    [LT_REJECT_MAX_COST] = 22,
    [LT_REJECT_MAX_PRICE] = 22,
};

static void
say_candidate(struct lt_text *t, const struct lt_why *why, const char *currency)
{
	const struct lt_amount *const best = &why->best;
	const bool priced = best->has_money || best->has_carbon;
	const struct lt_candidate candidate = {
	    .reject = why->reject, .wanted = (double)why->wanted, .found = (double)why->found};
	char money[48] = "-", carbon[48] = "-", reason[256];

	if (best->has_money && currency[0])
		lt_money_text(money, sizeof(money), best->money_micros, currency);
	if (best->has_carbon)
		lt_carbon_text(carbon, sizeof(carbon), best->carbon_mg);
	lt_reject_text(reason, sizeof(reason), &candidate, currency);
	lt_text_put(t, "  %c %-15s %12s %9s  %s", why->reject == LT_REJECT_NONE ? '*' : ' ',
	    why->partition, money, carbon, reason);
	if (why->reject == LT_REJECT_DEARER && !priced)
		lt_text_put(t, ", seen by its bound" LT_EQUATION(" (20)"));
	else if (LT_ROW(equations, why->reject))
		lt_text_put(t, LT_EQUATION(" (%d)"), LT_ROW(equations, why->reject));
	lt_text_put(t, "\n");
}

/* As the quote has them: what was known then is not looked up again. */
static void
say_candidates(struct lt_text *t, const struct lt_quote *q, const char *currency)
{
	struct lt_whys whys;
	struct lt_error err = {0};

	if (q->why[0] == '\0')
		return;
	if (lt_why_unpack(&whys, q->why, strlen(q->why), &err) != LT_OK) {
		lt_text_put(t, "Candidates at the decision: %s\n", err.text);
		return;
	}
	lt_text_put(t,
	    "Candidates at the decision (all tasks, at the best start looked at" LT_EQUATION(
		"; by docs/model.md:\n  cost (6) to (8), CO2e (9), objective (21), rule (24)") "):\n");
	lt_text_put(t, "    %-15s %12s %9s  %s\n", "PARTITION", "COST", "CO2e", "WHY");
	for (uint32_t i = 0; i < whys.count; i++)
		say_candidate(t, &whys.entries[i], currency);
	if (whys.more > 0)
		lt_text_put(t, "    and %u more\n", whys.more);
}

/* Appends the figures that the job was planned by, from its quote. */
static void
say_expected(struct lt_text *t, const struct lt_quote *q, uint32_t confidence_ppm)
{
	struct lt_quote_run run;
	char text[160], length[48];

	if (q->run[0] == '\0' || lt_quote_run_unpack(&run, q->run, strlen(q->run), NULL) != LT_OK)
		return;
	lt_expected_text(text, sizeof(text), &run.expected, run.limit_s);
	if (text[0] != '\0') {
		lt_text_put(t, "  %s", text);
		if (run.expected.upper_s > 0 && run.expected.runs >= LT_HISTORY_RUNS_SURE)
			lt_text_put(t,
			    LT_EQUATION(" (44)") ", %.4g %% within %s" LT_EQUATION(" (45)"),
			    (double)confidence_ppm / (LT_MICROS / 100),
			    lt_duration_text(length, sizeof(length), run.expected.upper_s));
		lt_text_put(t, "\n");
	}
	lt_interruptions_text(
	    text, sizeof(text), (double)run.interruptions_ppm / LT_MICROS, (double)run.lost_s);
	if (text[0] != '\0')
		lt_text_put(t, "  %s" LT_EQUATION(" (10), (11)") "\n", text);
}

/* Decided again, or for the first time: each with why it took the place of the one before. */
static void
say_plans(struct lt_text *t, const struct lt_zone *zone, const char *currency,
    const struct lt_story *s, int64_t now_utc_s)
{
	static const char *const words[LT_REPLAN_WHY_COUNT] = {[LT_REPLAN_KEEP] = "",
	    [LT_REPLAN_BETTER] = "better by newer figures",
	    [LT_REPLAN_NO_ROOM] = "the one before had no room any more",
	    [LT_REPLAN_CANNOT_RUN] = "the partition before can't run it now",
	    [LT_REPLAN_TOGETHER] = "together with others it costs less, or has room in time",
	    [LT_REPLAN_NOW] = "its user starts it now",
	    [LT_REPLAN_INTERRUPTED] = "interrupted too often: off preemptible nodes",
	    [LT_REPLAN_DEADLINE] = "no more time to wait for preemptible nodes",
	    [LT_REPLAN_OVER_BUDGET] =
		"stays on preemptible nodes: its team's budget allows no others",
	    [LT_REPLAN_PAUSED] = "back in the queue until then, where the rest costs less",
	    [LT_REPLAN_CANNOT_START] = "back home: Slurm can't start it where lowtide had put it",
	    [LT_REPLAN_STUCK] =
		"Slurm can't start it here; home is over its budget or its highest price, or Slurm refused"};
	char at[64], from[64], expected[128];

	if (s->plan_count == 0)
		return;
	lt_text_put(t, "Decided %u times:\n", s->plan_count);
	for (uint32_t i = 0; i < s->plan_count; i++) {
		const struct lt_plan_made *const plan = &s->plans[i];
		const int why = lt_replan_find(plan->why);

		lt_text_put(t, "  %s  %s from %s: %s%s%s\n",
		    lt_zone_text(at, sizeof(at), zone, plan->made_utc_s, now_utc_s),
		    plan->partition,
		    lt_zone_text(from, sizeof(from), zone, plan->start_utc_s, now_utc_s),
		    lt_amount_text(
			expected, sizeof(expected), &plan->expected, currency, "not known"),
		    why < 0 ? "" : "; ", LT_WORD_OR(words, why, ""));
	}
}

static void
say_quote(struct lt_text *t, const struct lt_market *market, const struct lt_policy *policy,
    const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	const struct lt_quote *const q = &hold->quote;
	const struct lt_zone *const zone = &market->zone;
	char a[128], b[128], levers[512];

	lt_text_put(t, "Decided by objective %s in mode %s.\n", lt_objective_name(q->objective),
	    lt_mode_name(q->mode));
	if (q->home[0]) {
		lt_text_put(t, "  plan             %s from %s: %s\n", q->partition,
		    lt_zone_text(a, sizeof(a), zone, q->plan_start_utc_s, now_utc_s),
		    lt_amount_text(b, sizeof(b), &q->plan_expected, policy->currency, "not known"));
		lt_zone_text(a, sizeof(a), zone, q->home_start_utc_s, now_utc_s);
		lt_text_put(t, "  without lowtide  %s%s%s: %s\n", q->home,
		    q->flags & LT_QUOTE_NOT_HOME ? " can't run it; best start then elsewhere"
						 : " from ",
		    q->flags & LT_QUOTE_NOT_HOME ? "" : a,
		    lt_amount_text(b, sizeof(b), &q->home_expected, policy->currency, "not known"));
	}
	lt_text_put(t, "%s", lt_levers_text(levers, sizeof(levers), q, policy->currency));
	say_expected(t, q, policy->deadline_confidence_ppm);
	lt_text_put(t, "%s", lt_capped_line(levers, sizeof(levers), q, zone, now_utc_s));
	if (q->flags & LT_QUOTE_HELD_OUT)
		lt_text_put(t,
		    "Kept where it was, as one of the share that is kept for comparison (holdout" LT_EQUATION(
			", (58)") ").\n");
	say_candidates(t, q, policy->currency);
	static const char *const states[LT_HOLDS] = {
	    [LT_HOLD_OPEN] = "open", [LT_HOLD_SETTLED] = "settled", [LT_HOLD_VOID] = "void"};
	lt_text_put(t,
	    "Hold (most that one run may cost, by its time limit" LT_EQUATION(
		", (25), (26)") "): %s a task, %u of %u tasks live, %s%s%s.\n",
	    lt_amount_text(a, sizeof(a), &q->hold_per_task, policy->currency, "not known"),
	    hold->live_tasks, q->tasks, LT_WORD(states, hold->state), hold->why[0] ? ": " : "",
	    hold->why);
	if (q->flags & LT_QUOTE_BUDGET_HOLD)
		lt_text_put(t,
		    "Held back: the budget of %s does not allow it now. lowtide releases it when it does.\n",
		    q->account);
	if (q->flags & LT_QUOTE_LOCK)
		lt_text_put(t,
		    "Held after a requeue (%s): lowtide releases it when the budget allows another run.\n",
		    lt_batch_words.lock);
	if (q->flags & LT_QUOTE_UNDERHELD)
		lt_text_put(t,
		    "Requeued by lowtide: at its start it was given more than was held for it (on_underheld: requeue).\n"
		    "  The hold is what it was given then; when the budget allows that, it is yours to release.\n");
	if (q->flags & LT_QUOTE_UNKNOWN)
		lt_text_put(t,
		    "Held back: its balance, or a price of where it may run, was not known when it was submitted.\n");
	if (q->flags & LT_QUOTE_LET)
		lt_text_put(t,
		    "Not all that it may cost of the budget of %s was known: it was let go all the same (on_unknown: allow).\n",
		    q->account);
}

struct signal { /* of a partition */
	const char *what;
	int series;   /* in the market */
	double scale; /* of what the series has, to the unit */
	const char *unit;
};

static void
say_signal(
    struct lt_text *t, const struct lt_daemon *d, const struct signal *signal, int64_t now_utc_s)
{
	char age[40];

	if (signal->series == LT_NO_SERIES) {
		lt_text_put(t, "    %-8s not known\n", signal->what);
		return;
	}
	const struct lt_series *const s = &d->site.market.series[signal->series];
	lt_text_put(t, "    %-8s %.6g %s now, %s%s%s", signal->what,
	    lt_series_at(s, now_utc_s) / signal->scale, signal->unit, lt_quality_name(s->quality),
	    s->source[0] ? ", source " : "", s->source);
	if (s->quality == LT_QUALITY_REPLAY)
		lt_text_put(t, " (a recording, not real)");
	const struct lt_source *const source = lt_api_source(&d->signals, s->source);
	if (source != NULL)
		lt_text_put(t, ", %s old%s",
		    lt_duration_text(age, sizeof(age), now_utc_s - source->issued_utc_s),
		    now_utc_s - s->issued_utc_s > d->site.policy->stale_after_s
			? ": STALE, moves nothing"
			: "");
	lt_text_put(t, "\n");
}

/* Appends the interruption rate that is published, the one seen here, and their weights. */
static void
say_hazard(struct lt_text *t, struct lt_daemon *d, const char *name, int64_t now_utc_s)
{
	const struct lt_policy_partition *const partition =
	    lt_policy_partition_find(d->site.policy, name);

	if (partition == NULL)
		return;
	const struct lt_hazard hazard =
	    lt_hazard_of(&d->signals, d->ledger, d->site.policy, partition, now_utc_s);
	if (!partition->preemptible && !hazard.known)
		return; /* none of its nodes failed here */
	if (!hazard.known) {
		lt_text_put(t, "    interruptions: no source has said anything yet\n");
		return;
	}
	lt_text_put(t, "    interruptions %.4g/node-h", hazard.value);
	if (hazard.counts_own)
		lt_text_put(t,
		    LT_EQUATION(
			" (35)") ": %.0f %% from this cluster (%u in %.0f node-h of %d days), %.0f %% from",
		    100 * hazard.own_share, hazard.own.interruptions, hazard.own.node_hours,
		    LT_OWN_DAYS, 100 * (1 - hazard.own_share));
	else
		lt_text_put(t, ", from");
	lt_text_put(t, " %s%s: %.4g\n",
	    hazard.source != NULL    ? "source "
	    : partition->preemptible ? "the policy file"
				     : "published failures of GPU nodes",
	    hazard.source != NULL ? hazard.source->policy->name : "", hazard.published);
	if (partition->score.source_count == 0)
		return;
	const struct lt_source *const score =
	    lt_signal_source(&d->signals, d->site.policy, &partition->score, now_utc_s);
	if (score != NULL)
		lt_text_put(t, "    placement score %.0f of 10, a hint of %s\n",
		    lt_source_value(score, now_utc_s), score->policy->name);
}

static void
say_partition(struct lt_text *t, struct lt_daemon *d, const char *name, int64_t now_utc_s)
{
	char unit[32], seen[256];
	const int index = lt_market_partition(&d->site.market, name);

	if (index < 0)
		return;
	const struct lt_partition *const p = &d->site.market.partitions[index];
	lt_text_put(t, "  %s:\n", name);
	snprintf(unit, sizeof(unit), "%s/node-h", d->site.policy->currency);
	if (d->site.policy->currency[0])
		say_signal(t, d,
		    &(struct signal){.what = "price",
			.series = p->price_series,
			.scale = LT_MICROS,
			.unit = unit},
		    now_utc_s);
	say_signal(t, d,
	    &(struct signal){.what = "carbon",
		.series = p->carbon_series,
		.scale = 1,
		.unit = d->site.policy->intensity == LT_INTENSITY_MARGINAL ? "g CO2e/kWh (marginal)"
									   : "g CO2e/kWh"},
	    now_utc_s);
	if (d->site.market.charge_micros_per_tonne > 0)
		lt_text_put(t, "    charge   %s a tonne of CO2e" LT_EQUATION(" (6a)") "\n",
		    lt_money_text(seen, sizeof(seen), d->site.market.charge_micros_per_tonne,
			d->site.policy->currency));
	snprintf(unit, sizeof(unit), "%s/kWh", d->site.policy->currency);
	if (p->tariff_series != LT_NO_SERIES)
		say_signal(t, d,
		    &(struct signal){.what = "tariff",
			.series = p->tariff_series,
			.scale = LT_MICROS,
			.unit = unit},
		    now_utc_s);
	lt_text_put(t, "    power    %.0f W idle + %.0f W CPUs + ", p->node_idle_w, p->node_cpu_w);
	if (lt_gpu_power_unknown(&d->site.market, p))
		lt_text_put(t, "GPUs that nobody knows the power of");
	else
		lt_text_put(t, "%.0f W GPUs", p->node_gpu_w);
	lt_text_put(t, " a node, PUE %.2f\n", p->pue);
	say_hazard(t, d, name, now_utc_s);
	lt_text_put(t, "%s", lt_explain_availability(seen, sizeof(seen), p));
}

/* Appends until when lowtide delays the job, and how to start it now. */
static void
say_waiting(
    struct lt_text *t, const struct lt_story *story, const struct lt_zone *zone, int64_t now_utc_s)
{
	const struct lt_batch_job *const job = story->job;
	const struct lt_quote *const q = &story->hold.quote;
	char start[64], id[16];

	if (job == NULL || !story->has_hold || job->state != LT_JOB_PENDING || job->held ||
	    !lt_mode_may(q->mode, LT_MAY_EDIT) || q->plan_start_utc_s <= now_utc_s ||
	    q->plan_start_utc_s <= q->home_start_utc_s ||
	    q->plan_start_utc_s != job->eligible_utc_s)
		return;
	snprintf(id, sizeof(id), "%u", story->job_id);
	lt_text_put(t, "lowtide lets it wait until %s. At once: lowtide now %s\n",
	    lt_zone_text(start, sizeof(start), zone, q->plan_start_utc_s, now_utc_s),
	    lt_batch_words.name != NULL ? story->name : id);
}

void
lt_explain_text(
    char *out, size_t size, struct lt_daemon *d, const struct lt_story *story, int64_t now_utc_s)
{
	const struct lt_batch_job *const job = story->job;
	const struct lt_ledger_hold *const hold = story->has_hold ? &story->hold : NULL;
	struct lt_text t = {.out = out, .size = size};
	char pause[1024];

	out[0] = '\0';
	lt_text_put(
	    &t, story->name[0] != '\0' ? "Job %u (%s)" : "Job %u%s", story->job_id, story->name);
	if (job != NULL)
		lt_text_put(
		    &t, ": %s in %s, account %s", job->state_text, job->partition, job->account);
	lt_text_put(&t, "\n");
	const char *const awaited = job != NULL ? lt_notice_awaited(&d->notice, job) : NULL;
	if (awaited != NULL)
		lt_text_put(&t,
		    "It named node %s, which was taken back: it waits until the node is there again.\n",
		    awaited);
	say_waiting(&t, story, &d->site.market.zone, now_utc_s);
	if (hold != NULL)
		say_quote(&t, &d->site.market, d->site.policy, hold, now_utc_s);
	char class[768];
	lt_explain_class(class, sizeof(class), d, story);
	lt_text_put(&t, "%s", class);
	if (hold != NULL)
		say_plans(&t, &d->site.market.zone, d->site.policy->currency, story, now_utc_s);
	else
		lt_text_put(&t, "No quote: lowtide did not price it before it ran.\n");
	char proof[320];
	lt_explain_proof(proof, sizeof(proof), d, job);
	lt_text_put(&t, "%s", proof);
	if (job != NULL)
		lt_text_put(&t, "%s", lt_pause_text(pause, sizeof(pause), d, job, now_utc_s));
	for (uint32_t i = 0; i < story->count; i++)
		lt_explain_run(&t, d, &story->runs[i], now_utc_s);
	lt_text_put(&t, "Signals:\n");
	if (hold != NULL && hold->quote.home[0]) {
		say_partition(&t, d, hold->quote.partition, now_utc_s);
		if (strcmp(hold->quote.partition, hold->quote.home) != 0)
			say_partition(&t, d, hold->quote.home, now_utc_s);
	} else if (story->count > 0) {
		say_partition(&t, d, story->runs[0].partition, now_utc_s);
	}
	lt_equations_settle(out, story->formulas);
}
