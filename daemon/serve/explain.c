/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every number of a job with where it came from: what was planned, what it
 * was compared with, what is held, what each run was charged and by which
 * rates. Numbers in brackets are the equations of docs/model.md.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_signals.h"
#include "baseline.h"
#include "capped.h"
#include "charge.h"
#include "daemon.h"
#include "explain.h"
#include "explain_availability.h"
#include "explain_class.h"
#include "explain_proof.h"
#include "failover.h"
#include "hazard.h"
#include "levers.h"
#include "policy_load.h"
#include "price.h"
#include "replan.h"
#include "pause_text.h"
#include "units.h"

struct text {
	char *out;
	size_t size, used;
};

static void say(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
say(struct text *t, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	const int wrote =
	    vsnprintf(t->out + t->used, t->size - t->used, format, list);
	va_end(list);
	if (wrote > 0)
		t->used += (size_t)wrote;
	if (t->used >= t->size)
		t->used = t->size - 1;
}

/* To the micro, without the zeros at its end: "0.0017 USD". */
static const char *
exact_text(char *out, size_t size, int64_t micros, const char *currency)
{
	const uint64_t value =
	    micros < 0 ? 0 - (uint64_t)micros : (uint64_t)micros;
	char digits[48];
	int length = snprintf(digits, sizeof(digits), "%s%llu.%06llu",
	    micros < 0 ? "-" : "", (unsigned long long)(value / LT_MICROS),
	    (unsigned long long)(value % LT_MICROS));

	for (int i = 0; i < 4 && digits[length - 1] == '0'; i++)
		digits[--length] = '\0';
	snprintf(out, size, "%s %s", digits, currency);
	return out;
}

/* What makes a partition lose; 0 = no equation, a fact of Slurm's. */
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
say_candidate(struct text *t, const struct lt_why *why, const char *currency)
{
	const struct lt_amount *const best = &why->best;
	const bool priced = best->has_money || best->has_carbon;
	const struct lt_candidate candidate = {.reject = why->reject,
	    .wanted = (double)why->wanted,
	    .found = (double)why->found};
	char money[48] = "-", carbon[48] = "-", reason[256];

	if (best->has_money && currency[0])
		lt_money_text(
		    money, sizeof(money), best->money_micros, currency);
	if (best->has_carbon)
		lt_carbon_text(carbon, sizeof(carbon), best->carbon_mg);
	lt_reject_text(reason, sizeof(reason), &candidate);
	say(t, "  %c %-15s %12s %9s  %s",
	    why->reject == LT_REJECT_NONE ? '*' : ' ', why->partition, money,
	    carbon, reason);
	if (why->reject == LT_REJECT_DEARER && !priced)
		say(t, ", seen by its bound (20)");
	else if (equations[why->reject])
		say(t, " (%d)", equations[why->reject]);
	say(t, "\n");
}

/* As the quote has them: what was known then is not looked up again. */
static void
say_candidates(struct text *t, const struct lt_quote *q, const char *currency)
{
	struct lt_whys whys;
	struct lt_error err = {0};

	if (q->why[0] == '\0')
		return;
	if (lt_why_unpack(&whys, q->why, strlen(q->why), &err) != LT_OK) {
		say(t, "Candidates at the decision: %s\n", err.text);
		return;
	}
	say(t,
	    "Candidates at the decision (all tasks, at the best start looked at; by docs/model.md:\n  cost (6) to (8), CO2e (9), objective (21), rule (24)):\n");
	say(t, "    %-15s %12s %9s  %s\n", "PARTITION", "COST", "CO2e", "WHY");
	for (uint32_t i = 0; i < whys.count; i++)
		say_candidate(t, &whys.entries[i], currency);
	if (whys.more > 0)
		say(t, "    and %u more\n", whys.more);
}

/* By what it was planned, as the quote has it. */
static void
say_expected(struct text *t, const struct lt_quote *q, uint32_t confidence_ppm)
{
	struct lt_quote_run run;
	char text[160], length[48];

	if (q->run[0] == '\0' ||
	    lt_quote_run_unpack(&run, q->run, strlen(q->run), NULL) != LT_OK)
		return;
	lt_expected_text(text, sizeof(text), &run.expected, run.limit_s);
	if (text[0] != '\0') {
		say(t, "  %s", text);
		if (run.expected.upper_s > 0)
			say(t, " (44), %.4g %% within %s (45)",
			    (double)confidence_ppm / (LT_MICROS / 100),
			    lt_duration_text(
				length, sizeof(length), run.expected.upper_s));
		say(t, "\n");
	}
	lt_interruptions_text(text, sizeof(text),
	    (double)run.interruptions_ppm / LT_MICROS, (double)run.lost_s);
	if (text[0] != '\0')
		say(t, "  %s (10), (11)\n", text);
}

/* Decided again, or for the first time: each with why it took the place of the
 * one before. */
static void
say_plans(struct text *t, const struct lt_zone *zone, const char *currency,
    const struct lt_story *s, int64_t now_utc_s)
{
	static const char *const words[LT_REPLAN_WHY_COUNT] = {
	    [LT_REPLAN_KEEP] = "",
	    [LT_REPLAN_BETTER] = "better by newer figures",
	    [LT_REPLAN_NO_ROOM] = "the one before had no room any more",
	    [LT_REPLAN_CANNOT_RUN] = "the partition before can't run it now",
	    [LT_REPLAN_TOGETHER] =
		"together with others it costs less, or has room in time",
	    [LT_REPLAN_NOW] = "its user starts it now",
	    [LT_REPLAN_INTERRUPTED] =
		"interrupted too often: off preemptible nodes",
	    [LT_REPLAN_DEADLINE] = "no more time to wait for preemptible nodes",
	    [LT_REPLAN_OVER_BUDGET] =
		"stays on preemptible nodes: its team's budget allows no others",
	    [LT_REPLAN_PAUSED] =
		"back in the queue until then, where the rest costs less"};
	char at[64], from[64], expected[128];

	if (s->plan_count == 0)
		return;
	say(t, "Decided %u times:\n", s->plan_count);
	for (uint32_t i = 0; i < s->plan_count; i++) {
		const struct lt_plan_made *const plan = &s->plans[i];
		const int why = lt_replan_find(plan->why);

		say(t, "  %s  %s from %s: %s%s%s\n",
		    lt_zone_text(
			at, sizeof(at), zone, plan->made_utc_s, now_utc_s),
		    plan->partition,
		    lt_zone_text(
			from, sizeof(from), zone, plan->start_utc_s, now_utc_s),
		    lt_amount_text(expected, sizeof(expected), &plan->expected,
			currency, "not known"),
		    why < 0 ? "" : "; ", why < 0 ? "" : words[why]);
	}
}

static void
say_quote(struct text *t, const struct lt_market *market,
    const struct lt_policy *policy, const struct lt_ledger_hold *hold,
    int64_t now_utc_s)
{
	const struct lt_quote *const q = &hold->quote;
	const struct lt_zone *const zone = &market->zone;
	char a[128], b[128], levers[512];

	say(t, "Decided by objective %s in mode %s.\n",
	    lt_objective_name(q->objective), lt_mode_name(q->mode));
	if (q->home[0]) {
		say(t, "  plan             %s from %s: %s\n", q->partition,
		    lt_zone_text(
			a, sizeof(a), zone, q->plan_start_utc_s, now_utc_s),
		    lt_amount_text(b, sizeof(b), &q->plan_expected,
			policy->currency, "not known"));
		say(t, "  without lowtide  %s from %s: %s\n", q->home,
		    lt_zone_text(
			a, sizeof(a), zone, q->home_start_utc_s, now_utc_s),
		    lt_amount_text(b, sizeof(b), &q->home_expected,
			policy->currency, "not known"));
	}
	say(t, "%s",
	    lt_levers_text(levers, sizeof(levers), q, policy->currency));
	say_expected(t, q, policy->deadline_confidence_ppm);
	say(t, "%s",
	    lt_capped_line(levers, sizeof(levers), q, zone, now_utc_s));
	if (q->flags & LT_QUOTE_HELD_OUT)
		say(t,
		    "Kept where it was, as one of the share that is kept for comparison (holdout, (58)).\n");
	say_candidates(t, q, policy->currency);
	static const char *const states[] = {[LT_HOLD_OPEN] = "open",
	    [LT_HOLD_SETTLED] = "settled",
	    [LT_HOLD_VOID] = "void"};
	say(t,
	    "Hold (most that one run may cost, by its time limit, (25), (26)): %s a task, %u of %u tasks live, %s%s%s.\n",
	    lt_amount_text(
		a, sizeof(a), &q->hold_per_task, policy->currency, "not known"),
	    hold->live_tasks, q->tasks, states[hold->state],
	    hold->why[0] ? ": " : "", hold->why);
	if (q->flags & LT_QUOTE_BUDGET_HOLD)
		say(t,
		    "Held back: the budget of %s does not allow it now. lowtide releases it when it does.\n",
		    q->account);
	if (q->flags & LT_QUOTE_LOCK)
		say(t,
		    "Held after a requeue (%s): lowtide releases it when the budget allows another run.\n",
		    lt_batch_words.lock);
	if (q->flags & LT_QUOTE_UNDERHELD)
		say(t,
		    "Requeued by lowtide: at its start it was given more than was held for it (on_underheld: requeue).\n"
		    "  The hold is what it was given then; when the budget allows that, it is yours to release.\n");
	if (q->flags & LT_QUOTE_UNKNOWN)
		say(t,
		    "Held back: its balance, or a price of where it may run, was not known when it was submitted.\n");
}

struct signal { /* of a partition */
	const char *what;
	int series;   /* in the market */
	double scale; /* of what the series has, to the unit */
	const char *unit;
};

static void
say_signal(struct text *t, const struct lt_daemon *d,
    const struct signal *signal, int64_t now_utc_s)
{
	char age[40];

	if (signal->series == LT_NO_SERIES) {
		say(t, "    %-8s not known\n", signal->what);
		return;
	}
	const struct lt_series *const s = &d->market.series[signal->series];
	say(t, "    %-8s %.6g %s now, %s%s%s", signal->what,
	    lt_series_at(s, now_utc_s) / signal->scale, signal->unit,
	    lt_quality_name(s->quality), s->source[0] ? ", source " : "",
	    s->source);
	if (s->quality == LT_QUALITY_REPLAY)
		say(t, " (a recording, not real)");
	const struct lt_source *const source =
	    lt_api_source(&d->signals, s->source);
	if (source != NULL)
		say(t, ", %s old%s",
		    lt_duration_text(
			age, sizeof(age), now_utc_s - source->issued_utc_s),
		    now_utc_s - s->issued_utc_s > d->policy->stale_after_s
			? ": STALE, moves nothing"
			: "");
	say(t, "\n");
}

/* What is published, what happened here, and the weight of each. */
static void
say_hazard(
    struct text *t, struct lt_daemon *d, const char *name, int64_t now_utc_s)
{
	const struct lt_policy_partition *const partition =
	    lt_daemon_policy_partition(d->policy, name);

	if (partition == NULL)
		return;
	const struct lt_hazard hazard = lt_hazard_of(
	    &d->signals, d->ledger, d->policy, partition, now_utc_s);
	if (!partition->preemptible && !hazard.known)
		return; /* none of its nodes failed here */
	if (!hazard.known) {
		say(t, "    interruptions: no source has said anything yet\n");
		return;
	}
	say(t, "    interruptions %.4g/node-h", hazard.value);
	if (hazard.counts_own)
		say(t,
		    " (35): %.0f %% from this cluster (%u in %.0f node-h of %d days), %.0f %% from",
		    100 * hazard.own_share, hazard.own.interruptions,
		    hazard.own.node_hours, LT_OWN_DAYS,
		    100 * (1 - hazard.own_share));
	else
		say(t, ", from");
	say(t, " %s%s: %.4g\n",
	    hazard.source != NULL    ? "source "
	    : partition->preemptible ? "the policy file"
				     : "published failures of GPU nodes",
	    hazard.source != NULL ? hazard.source->policy->name : "",
	    hazard.published);
	if (partition->score.source_count == 0)
		return;
	const struct lt_source *const score = lt_signal_source(
	    &d->signals, d->policy, &partition->score, now_utc_s);
	if (score != NULL)
		say(t, "    placement score %.0f of 10, a hint of %s\n",
		    lt_source_value(score, now_utc_s), score->policy->name);
}

static void
say_partition(
    struct text *t, struct lt_daemon *d, const char *name, int64_t now_utc_s)
{
	char unit[32], seen[256];
	const int index = lt_market_partition(&d->market, name);

	if (index < 0)
		return;
	const struct lt_partition *const p = &d->market.partitions[index];
	say(t, "  %s:\n", name);
	snprintf(unit, sizeof(unit), "%s/node-h", d->policy->currency);
	if (d->policy->currency[0])
		say_signal(t, d,
		    &(struct signal){"price", p->price_series, LT_MICROS, unit},
		    now_utc_s);
	say_signal(t, d,
	    &(struct signal){"carbon", p->carbon_series, 1,
		d->policy->intensity == LT_INTENSITY_MARGINAL
		    ? "g CO2e/kWh (marginal)"
		    : "g CO2e/kWh"},
	    now_utc_s);
	snprintf(unit, sizeof(unit), "%s/kWh", d->policy->currency);
	if (p->tariff_series != LT_NO_SERIES)
		say_signal(t, d,
		    &(struct signal){
			"tariff", p->tariff_series, LT_MICROS, unit},
		    now_utc_s);
	say(t,
	    "    power    %.0f W idle + %.0f W CPUs + %.0f W GPUs a node, PUE %.2f\n",
	    p->node_idle_w, p->node_cpu_w, p->node_gpu_w, p->pue);
	say_hazard(t, d, name, now_utc_s);
	say(t, "%s", lt_explain_availability(seen, sizeof(seen), p));
}

/* The mean over the run of a rate that was recorded, and by how many values
 * it went. False: there was none. */
static bool
rate_of(double *mean, uint32_t *values, struct lt_ledger *ledger,
    const struct lt_run *run, enum lt_rate rate)
{
	struct lt_rates rates = {0};
	struct lt_rate_step *steps = NULL;
	enum lt_quality worst = LT_QUALITY_NONE;
	const int64_t from = run->start_utc_s, to = run->end_utc_s;

	if (from <= 0 || to <= from ||
	    lt_ledger_rates(ledger,
		&(struct lt_rates_asked){run->partition, rate, {from, to}},
		&steps, &rates.count, NULL) != LT_OK)
		return false;
	rates.steps = steps;
	*mean =
	    lt_rates_integral(&rates, from, to, &worst) / (double)(to - from);
	*values = rates.count > 0;
	for (uint32_t i = 1; i < rates.count; i++)
		*values += steps[i].start_utc_s > from &&
			   steps[i].start_utc_s < to &&
			   steps[i].value != steps[i - 1].value;
	free(steps);
	return rates.count > 0;
}

/* " (mean of 3 values)" */
static void
say_values(struct text *t, uint32_t values)
{
	if (values > 1)
		say(t, " (mean of %u values)", values);
}

/* Share x seconds: its share while it ran, what it kept while suspended. */
static double
shares_s(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_run *run)
{
	const struct lt_fraction kept = lt_suspended_share(run, market, ledger);
	const double ran =
	    (double)(run->end_utc_s - run->start_utc_s - run->suspended_s);

	return ran * (double)run->share_numerator /
		   (double)run->share_denominator +
	       (double)run->suspended_s * (double)kept.numerator /
		   (double)kept.denominator;
}

/* "1/8 x 100 s", or "(1/8 x 100 s + 1/16 x 20 s suspended)" */
static void
say_time(struct text *t, const struct lt_market *market,
    struct lt_ledger *ledger, const struct lt_run *run)
{
	const int64_t seconds =
	    run->end_utc_s - run->start_utc_s - run->suspended_s;
	const bool suspended = run->suspended_s > 0;

	say(t, "%s%lld/%lld x %lld s", suspended ? "(" : "",
	    (long long)run->share_numerator, (long long)run->share_denominator,
	    (long long)seconds);
	if (seconds >= LT_HOUR_S)
		say(t, " (%.4g h)", (double)seconds / LT_HOUR_S);
	if (!suspended)
		return;
	const struct lt_fraction kept = lt_suspended_share(run, market, ledger);
	say(t, " + %lld/%lld x %lld s suspended)", (long long)kept.numerator,
	    (long long)kept.denominator, (long long)run->suspended_s);
}

static void
say_money(struct text *t, const struct lt_daemon *d, const struct lt_run *run)
{
	char text[64];
	const char *const currency = d->policy->currency;
	double mean;
	uint32_t values;

	if (run->gpus_from == LT_GPUS_UNKNOWN) {
		say(t,
		    "  money: how many GPUs it had is not known: not charged. AccountingStorageTRES=gres/gpu in slurm.conf makes slurmdbd count them\n");
		return;
	}
	if (!run->priced) {
		say(t, "  money: no price known for %s: not charged yet\n",
		    run->partition);
		return;
	}
	say(t, "  money = ");
	const bool known =
	    rate_of(&mean, &values, d->ledger, run, LT_RATE_PRICE);
	if (known) {
		say(t, "%s/node-h",
		    exact_text(
			text, sizeof(text), (int64_t)llround(mean), currency));
		say_values(t, values);
		say(t, " x %u node%s x ", run->nodes,
		    run->nodes == 1 ? "" : "s");
		say_time(t, &d->market, d->ledger, run);
		say(t, " = ");
	}
	say(t, "%s (27)%s%s\n",
	    exact_text(text, sizeof(text), run->money_micros, currency),
	    run->over_reason[0] ? ", above its hold because of: " : "",
	    run->over_reason);
	if (run->over_reason[0] && run->held.has_money)
		say(t, "  admitted were %s a task\n",
		    exact_text(
			text, sizeof(text), run->held.money_micros, currency));
	/* The carry is one micro at most. */
	if (known && run->share_denominator > 0 &&
	    fabs(mean * run->nodes * shares_s(&d->market, d->ledger, run) /
		     LT_HOUR_S -
		 (double)run->money_micros) > 1.5)
		say(t,
		    "  the price of that time was recorded anew since: charged is what was known then\n");
}

static void
say_carbon(struct text *t, const struct lt_market *market,
    struct lt_ledger *ledger, const struct lt_run *run)
{
	char carbon[48];
	double mean;
	uint32_t values;
	const int index = lt_market_partition(market, run->partition);

	say(t, "  energy = power (5) x time = %lld Wh\n",
	    (long long)run->energy_wh);
	if (!run->has_carbon) {
		say(t, "  carbon: no intensity known for %s\n", run->partition);
		return;
	}
	say(t, "  carbon = energy x ");
	if (rate_of(&mean, &values, ledger, run, LT_RATE_CARBON)) {
		say(t, "%.4g g CO2e/kWh", mean);
		say_values(t, values);
	} else {
		say(t, "intensity");
	}
	if (index >= 0 &&
	    market->partitions[index].embodied_g_per_node_hour > 0)
		say(t, " + embodied");
	say(t, " = %s CO2e (%lld mg) (9), worst data: %s\n",
	    lt_carbon_text(carbon, sizeof(carbon), run->carbon_mg),
	    (long long)run->carbon_mg, lt_quality_name(run->worst_quality));
}

static void
say_run(struct text *t, const struct lt_daemon *d, const struct lt_run *run,
    int64_t now_utc_s)
{
	char start[64], money[48], carbon[48], length[48];

	say(t, "Run from %s on %s: %s, %u node%s, share %lld/%lld, %s.\n",
	    lt_zone_text(start, sizeof(start), &d->market.zone,
		run->start_utc_s, now_utc_s),
	    run->partition,
	    lt_duration_text(
		length, sizeof(length), run->end_utc_s - run->start_utc_s),
	    run->nodes, run->nodes == 1 ? "" : "s",
	    (long long)run->share_numerator, (long long)run->share_denominator,
	    run->state_text);
	if (run->gpus_from == LT_GPUS_SLURMCTLD)
		say(t,
		    "  %u GPU%s by slurmctld's record: slurmdbd does not count them\n",
		    run->gpus, run->gpus == 1 ? "" : "s");
	if (d->policy->currency[0])
		say_money(t, d, run);
	say_carbon(t, &d->market, d->ledger, run);
	if (run->has_baseline)
		say(t, "  without lowtide (%s): %s, %s CO2e (30)\n",
		    run->baseline_text,
		    lt_money_text(money, sizeof(money),
			run->baseline_money_micros, d->policy->currency),
		    lt_carbon_text(
			carbon, sizeof(carbon), run->baseline_carbon_mg));
	if (run->provisional)
		say(t, "  provisional: from %s\n", lt_batch_words.record);
}

void
lt_explain_text(char *out, size_t size, struct lt_daemon *d,
    const struct lt_story *story, int64_t now_utc_s)
{
	const struct lt_batch_job *const job = story->job;
	const struct lt_ledger_hold *const hold =
	    story->has_hold ? &story->hold : NULL;
	struct text t = {out, size, 0};
	char pause[1024];

	out[0] = '\0';
	say(&t, story->name[0] != '\0' ? "Job %u (%s)" : "Job %u%s",
	    story->job_id, story->name);
	if (job != NULL)
		say(&t, ": %s in %s, account %s", job->state_text,
		    job->partition, job->account);
	say(&t, "\n");
	if (hold != NULL)
		say_quote(&t, &d->market, d->policy, hold, now_utc_s);
	char class[768];
	lt_explain_class(class, sizeof(class), d, story);
	say(&t, "%s", class);
	if (hold != NULL)
		say_plans(
		    &t, &d->market.zone, d->policy->currency, story, now_utc_s);
	else
		say(&t, "No quote: lowtide did not price it before it ran.\n");
	char proof[320];
	lt_explain_proof(proof, sizeof(proof), d, job);
	say(&t, "%s", proof);
	if (job != NULL)
		say(&t, "%s",
		    lt_pause_text(pause, sizeof(pause), d, job, now_utc_s));
	for (uint32_t i = 0; i < story->count; i++)
		say_run(&t, d, &story->runs[i], now_utc_s);
	say(&t, "Signals:\n");
	if (hold != NULL && hold->quote.home[0]) {
		say_partition(&t, d, hold->quote.partition, now_utc_s);
		if (strcmp(hold->quote.partition, hold->quote.home) != 0)
			say_partition(&t, d, hold->quote.home, now_utc_s);
	} else if (story->count > 0) {
		say_partition(&t, d, story->runs[0].partition, now_utc_s);
	}
}
