/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interruption rate of a partition: what is published, updated by what the ledger saw; and
 * which of several sources counts.
 */
#include "daemon.h"
#include "hazard.h"
#include "ledger_fixture.h"
#include "units.h"

#include <math.h>

enum { NOW = NOVEMBER + 20 * LT_DAY_S };

static struct lt_rate_step step = {
    .start_utc_s = NOVEMBER, .end_utc_s = JANUARY, .value = 0.002, .quality = LT_QUALITY_ESTIMATED};
static struct lt_policy_source policies[3] = {
    {.name = "first"}, {.name = "second"}, {.name = "third"}};
static const struct lt_adapter adapter = {.name = "published"};
static const struct lt_adapter daily = {.name = "daily", .interval_s = LT_DAY_S};
static const struct lt_adapter slow = {.name = "slow", .fresh_s = 30 * LT_DAY_S};
static struct lt_source sources[3];

/* As of one hour ago, 0.002, from one source. */
static void
make(struct lt_daemon *d, struct lt_policy *policy, struct fixture *f)
{
	*policy = (struct lt_policy){.stale_after_s = 3 * LT_HOUR_S};
	*d = (struct lt_daemon){.ledger = f->ledger,
	    .site.policy = policy,
	    .signals.sources = sources,
	    .signals.source_count = 3};
	for (int i = 0; i < 3; i++)
		sources[i] = (struct lt_source){.policy = &policies[i],
		    .adapter = &adapter,
		    .issued_utc_s = NOW - LT_HOUR_S,
		    .steps = &step,
		    .step_count = 1};
}

/* `interrupted` of `runs` jobs, each 4 nodes for 25 hours, ended badly. */
static void
run_jobs(struct fixture *f, int runs, int interrupted)
{
	static uint32_t job_id = 100;

	for (int i = 0; i < runs; i++) {
		const int64_t start = NOVEMBER + i * LT_HOUR_S;
		struct lt_run run = make_run(job_id++, start, start + 25 * LT_HOUR_S, 0);
		const struct lt_entry entry = {.at_utc_s = start,
		    .carbon_mg = run.carbon_mg,
		    .energy_wh = run.energy_wh,
		    .baseline_money_micros = run.baseline_money_micros,
		    .baseline_carbon_mg = run.baseline_carbon_mg,
		    .saved_by = run.saved_by,
		    .parts = run.parts};
		bool changed;

		strcpy(run.partition, "spot");
		run.nodes = 4;
		strcpy(run.state_text, i >= interrupted ? "COMPLETED"
				       : i % 2		? "NODE_FAIL"
							: "PREEMPTED");
		must(f, lt_ledger_settle(f->ledger,
			    &(struct lt_settlement){&run, &entry, 1, NOW, NOW, NOVEMBER, false},
			    &changed, &f->err));
	}
}

static void
test_posterior(void **state)
{
	/* Each is checked by hand: interruptions = rate x node-hours +
	 * ln(rate / published) / 3, and the share of rate x node-hours in that
	 * plus 1 / 3. */
	static const struct {
		const char *why;
		bool preemptible;
		int runs, interrupted;
		double constant; /* -1 = the source's 0.002 */
		int own_history;
		double published, interruptions, node_hours;
	} cases[] = {
	    {"nothing seen: as published", true, 0, 0, -1, LT_OWN_DEFAULT, 0.002, 0, 0},
	    {"nodes that nobody takes: none failed", false, 0, 0, -1, LT_OWN_DEFAULT, 0, 0, 0},
	    {"1000 quiet node-hours", true, 10, 0, -1, LT_OWN_DEFAULT, 0.002, 0, 1000},
	    {"interruptions raise it", true, 10, 6, -1, LT_OWN_DEFAULT, 0.002, 6, 2000},
	    {"not when the admin says so", true, 0, 0, -1, 0, 0.002, 0, 0},
	    {"a written figure stays", true, 0, 0, 0.01, LT_OWN_DEFAULT, 0.01, 0, 0},
	    {"unless it shall learn", true, 0, 0, 0.01, 1, 0.01, 6, 2000},
	    {"nodes that nobody takes fail, too", false, 0, 0, -1, LT_OWN_DEFAULT,
		LT_FAILURES_PER_NODE_HOUR, 6, 2000},
	};
	struct fixture *const f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_daemon d;
		struct lt_policy policy;
		const bool written = cases[i].constant >= 0;
		const struct lt_policy_partition partition = {.name = "spot",
		    .preemptible = cases[i].preemptible,
		    .own_history = cases[i].own_history,
		    .hazard = {.is_set = true,
			.is_constant = written,
			.constant = cases[i].constant,
			.source_count = !written}};

		run_jobs(f, cases[i].runs, cases[i].interrupted);
		make(&d, &policy, f);
		const struct lt_hazard hazard =
		    lt_hazard_of(&d.signals, d.ledger, d.site.policy, &partition, NOW);
		free(d.signals.seen);
		const double seen = hazard.value * cases[i].node_hours;
		const double published = cases[i].published;

		if (hazard.known != (published > 0))
			fail_msg("%s: known %d", cases[i].why, hazard.known);
		if (published > 0 && !(fabs(seen + log(hazard.value / published) / 3 -
					    cases[i].interruptions) < 1e-9))
			fail_msg("%s: %.9f", cases[i].why, hazard.value);
		if (!(fabs(hazard.own_share - seen / (seen + 1 / 3.0)) < 1e-9))
			fail_msg("%s: share %.9f", cases[i].why, hazard.own_share);
	}
}

static void
test_unknown(void **state)
{
	struct lt_daemon d;
	struct lt_policy policy;
	const struct lt_policy_partition partition = {.name = "spot",
	    .preemptible = true,
	    .own_history = LT_OWN_DEFAULT,
	    .hazard = {.is_set = true, .source_count = 1}};

	make(&d, &policy, *state);
	sources[0].step_count = 0;
	assert_false(lt_hazard_of(&d.signals, d.ledger, d.site.policy, &partition, NOW).known);
}

/* Which of three counts, by when each was issued (hours ago; -1 = no data). */
static void
test_failover(void **state)
{
	static const struct {
		const char *why;
		int hours[3];
		const struct lt_adapter *adapter; /* of the first */
		int want;			  /* -1 = none */
	} cases[] = {
	    {"all fresh: the first", {1, 1, 1}, &adapter, 0},
	    {"stale: the second", {4, 1, 1}, &adapter, 1},
	    {"without data: the second", {-1, 1, 1}, &adapter, 1},
	    {"two stale", {4, 4, 3}, &adapter, 2},
	    {"all stale: the first with data", {-1, 5, 9}, &adapter, 1},
	    {"none has data", {-1, -1, -1}, &adapter, -1},
	    {"asked once a day, nothing newer could be there", {26, 1, 1}, &daily, 0},
	    {"but then three hours count", {28, 1, 1}, &daily, 1},
	    {"late by nature is not stale", {500, 1, 1}, &slow, 0},
	};
	const struct lt_policy_signal signal = {
	    .is_set = true, .source_count = 3, .sources = {0, 1, 2}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_daemon d;
		struct lt_policy policy;

		make(&d, &policy, *state);
		sources[0].adapter = cases[i].adapter;
		for (int k = 0; k < 3; k++) {
			sources[k].step_count = cases[i].hours[k] >= 0;
			sources[k].issued_utc_s = NOW - cases[i].hours[k] * LT_HOUR_S;
		}
		const struct lt_source *const source =
		    lt_signal_source(&d.signals, d.site.policy, &signal, NOW);
		if ((source != NULL ? source - sources : -1) != cases[i].want)
			fail_msg(
			    "%s: %s", cases[i].why, source != NULL ? source->policy->name : "none");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_posterior, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_unknown, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_failover, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
