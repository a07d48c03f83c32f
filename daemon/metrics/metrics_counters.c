/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened since lowtided was started, as counters. All that can be are
 * there from the first, at 0: what appears with its first event is no increase
 * to Prometheus.
 */
#include "daemon.h"
#include "metrics_put.h"

void
lt_put_step_counters(struct lt_put *to)
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
source_sample(struct lt_put *to, const struct lt_source *source, uint64_t value)
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
	lt_put_counter(to, "lowtide_source_tries", NULL,
	    "How often the source was asked.");
	for (int i = 0; i < signals->source_count; i++)
		source_sample(
		    to, &signals->sources[i], signals->sources[i].tries);
	lt_put_counter(to, "lowtide_source_failed_tries", NULL,
	    "How often that failed; each time it is tried again.");
	for (int i = 0; i < signals->source_count; i++)
		source_sample(
		    to, &signals->sources[i], signals->sources[i].failed_tries);
}

/* Modes that the site is not in have samples only once they were counted. */
static void
put_decided(
    struct lt_put *to, const struct lt_counters *tally, enum lt_mode mode)
{
	static const char *const outcomes[LT_DECIDED_COUNT] = {
	    [LT_DECIDED_KEPT] = "kept",
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
			lt_put_label(to, ",objective=",
			    lt_objective_name((enum lt_objective)i));
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
	lt_put_counter(to, "lowtide_replans", NULL,
	    "Plans of jobs that wait that lowtide changed.");
	for (int i = LT_REPLAN_KEEP + 1; i < LT_REPLAN_WHY_COUNT; i++) {
		lt_put_label(
		    to, "{why=", lt_replan_word((enum lt_replan_why)i));
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
	lt_put_counter(to, "lowtide_refused_jobs", NULL,
	    "Jobs that a budget rejected or held back.");
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

void
lt_put_counters(struct lt_put *to)
{
	const struct lt_daemon *const d = to->view->d;

	put_tries(to, &d->signals);
	put_decisions(to, &d->tally);
	put_plans(to, &d->tally);
	put_refused(to, &d->tally);
}
