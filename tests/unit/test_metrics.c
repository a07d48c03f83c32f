/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /metrics: digits, labels, what is left out without a token, and what is read of a
 * ledger for it.
 */
#include <stdio.h>
#include <time.h>

#include "accounts.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "metrics.h"
#include "out.h"

static struct lt_budget budget = {.team = "vision",
    .periods = {{.label = "2026-11",
	.limit = {.has_money = true, .money_micros = 5000000000},
	.settled = {.money_micros = 1234567, .carbon_mg = 1},
	.held = {.money_micros = -1}}}};
static struct lt_policy_budget budget_policy = {.team = "vision", .period = LT_MONTH};
static const struct lt_metrics_sums no_sums;

static char *
text_of(struct lt_daemon *d, const struct lt_metrics_sums *sums, int has, int open)
{
	struct lt_out out = {.most = LT_METRICS_BYTES_MAX};

	lt_metrics_text(&out, &(struct lt_metrics_view){.d = d,
				  .sums = sums,
				  .has_money = has != 0,
				  .is_open = open != 0,
				  .now_utc_s = NOVEMBER});
	lt_out_bytes(&out, "", 1);
	assert_false(out.failed);
	return out.bytes;
}

static struct lt_policy_source day = {.name = "day"};
static const struct lt_adapter replay = {.name = "replay"};
static struct lt_source sources[] = {
    {.policy = &day, .adapter = &replay, .tries = 9, .failed_tries = 4}};

/* Looked at for long enough; too shortly; not preemptible. */
static struct lt_partition places[] = {
    {.name = "spot",
	.flags = LT_PARTITION_PREEMPTIBLE,
	.hazard_per_node_hour = 0.02,
	.availability =
	    {.seen_s = 360000, .there_ppm = 987654, .part_ppm = 500000, .taken_ppm = 1500000}},
    {.name = "young",
	.flags = LT_PARTITION_PREEMPTIBLE,
	.availability = {.seen_s = LT_WAIT_SEEN_S - 1, .there_ppm = 1}},
    {.name = "ondemand", .availability = {.seen_s = 360000}},
};

static void
make_tally(struct lt_counters *tally)
{
	tally->decided[LT_MODE_ENFORCE][LT_OBJECTIVE_CARBON][LT_DECIDED_BOTH] = 3;
	tally->decided[LT_MODE_ADVISE][LT_OBJECTIVE_COST][LT_DECIDED_LATER] = 2;
	tally->delay_s[LT_MODE_ENFORCE] = 7201;
	tally->broken = 5;
	lt_counters_replan(tally, "better");
	lt_counters_account(tally, "nlp");
	lt_counters_refused(tally, "vision", LT_REFUSAL_REJECTED, LT_QUOTE_BUDGET_HOLD);
	lt_counters_refused(tally, "vision", LT_REFUSAL_HELD, LT_QUOTE_UNKNOWN);
}

static void
make_world(struct lt_daemon *d, struct lt_policy *policy)
{
	strcpy(policy->currency, "USD");
	policy->mode = LT_MODE_ENFORCE;
	policy->budget_count = 1;
	policy->budgets = &budget_policy;
	*d = (struct lt_daemon){.site.policy = policy,
	    .acting = true,
	    .pass_took_ms = 1005,
	    .budget = {.has_snapshot = true,
		.snapshot = {.ready = true,
		    .budgets = &budget,
		    .budget_count = 1,
		    .compiled_utc_s = NOVEMBER - 7}}};
	strcpy(d->steps.failed[LT_STEP_SETTLE], "slurmdbd");
	d->steps.failures[LT_STEP_SETTLE] = 2;
	d->signals.sources = sources;
	d->signals.source_count = 1;
	d->site.has_market = true;
	d->site.market.partitions = places;
	d->site.market.partition_count = 3;
	d->budget.open.held_back = 6;
	make_tally(&d->tally);
}

#define TEAM "{account=\"vision\",period=\"month\",window=\"2026-11\""
#define DAY "{source=\"day\",adapter=\"replay\""
static const struct {
	const char *why;
	int has_money, is_open;
	const char *has, *has_not; /* NULL: nothing */
} texts[] = {
    {"it ends as OpenMetrics does", 1, 1, "\n# EOF\n", NULL},
    {"the older format has no end", 1, 0, "lowtide_ready 1\n", "# EOF"},
    {"and no units", 1, 0, "lowtide_ready 1\n", "# UNIT"},
    {"health only: no money", 0, 1, "lowtide_ready 1\n", "vision"},
    {"health only: no currency", 0, 1, "lowtide_ready 1\n", "USD"},
    {"milliseconds are seconds", 0, 1, "\nlowtide_pass_last_seconds 1.005\n", NULL},
    {"a step that fails", 0, 1, "\nlowtide_step_failing{step=\"settle\"} 1\n", "slurmdbd"},
    {"one that does not", 0, 1, "\nlowtide_step_failing{step=\"used\"} 0\n", NULL},
    {"an age", 0, 1, "\nlowtide_budget_snapshot_age_seconds 7\n", NULL},
    {"a unit has its line", 0, 1, "\n# UNIT lowtide_pass_last_seconds seconds\n", NULL},
    {"all digits of micros", 1, 1, "\nlowtide_budget_spent" TEAM ",currency=\"USD\"} 1.234567\n",
	NULL},
    {"a whole amount", 1, 1, "\nlowtide_budget_limit" TEAM ",currency=\"USD\"} 5000.000000\n",
	NULL},
    {"less than nothing, by less than one", 1, 1,
	"\nlowtide_budget_held" TEAM ",currency=\"USD\"} -0.000001\n", NULL},
    {"what is not limited has no sample", 1, 1, "\n# TYPE lowtide_budget_spent_grams gauge\n",
	"lowtide_budget_spent_grams{"},
    {"a counter's head has no suffix", 0, 1, "\n# TYPE lowtide_step_failures counter\n", NULL},
    {"in the older format it has", 0, 0, "\n# TYPE lowtide_step_failures_total counter\n", NULL},
    {"its samples have it", 0, 1, "\nlowtide_step_failures_total{step=\"settle\"} 2\n", NULL},
    {"of jobs nothing is told without a token", 0, 1,
	"\nlowtide_step_failures_total{step=\"jobs\"} 0\n", "lowtide_decided_jobs"},
    {"a source's tries", 1, 1, "\nlowtide_source_tries_total" DAY "} 9\n", NULL},
    {"and those that failed", 1, 1, "\nlowtide_source_failed_tries_total" DAY "} 4\n", NULL},
    {"decisions", 1, 1, "{mode=\"enforce\",objective=\"carbon\",outcome=\"both\"} 3\n",
	"mode=\"observe\",objective"},
    {"none yet", 1, 1, "{mode=\"enforce\",objective=\"fast\",outcome=\"kept\"} 0\n",
	"objective=\"off\""},
    {"of a mode that was", 1, 1, "{mode=\"advise\",objective=\"cost\",outcome=\"later\"} 2\n",
	"mode=\"advise\",objective=\"cost\",outcome=\"kept\""},
    {"delays", 1, 1, "\nlowtide_planned_delay_seconds_total{mode=\"enforce\"} 7201\n", NULL},
    {"a unit is without the suffix", 1, 1, "\n# UNIT lowtide_planned_delay_seconds seconds\n",
	NULL},
    {"plans changed", 1, 1, "\nlowtide_replans_total{why=\"better\"} 1\n", "why=\"keep\""},
    {"plans broken", 1, 1, "\nlowtide_plans_broken_total 5\n", NULL},
    {"a refusal", 1, 1, "\nlowtide_refused_jobs_total{account=\"vision\",action=\"reject\"} 1\n",
	NULL},
    {"an account without one", 1, 1,
	"\nlowtide_refused_jobs_total{account=\"nlp\",action=\"hold\"} 0\n", NULL},
    {"nobody knew", 1, 1, "\nlowtide_unknown_balance_jobs_total{action=\"hold\"} 1\n", NULL},
    {"held back now", 1, 1, "\nlowtide_holds_held_back 6\n", NULL},
    {"nodes there", 1, 1, "\nlowtide_partition_there_ratio{partition=\"spot\"} 0.987654\n",
	"there_ratio{partition=\"young\""},
    {"taken more than once an hour", 1, 1,
	"\nlowtide_partition_emptied_per_hour{partition=\"spot\"} 1.500000\n",
	"partition=\"ondemand\""},
    {"seen for how long", 1, 1, "\nlowtide_partition_seen_seconds{partition=\"young\"} 35999\n",
	NULL},
    {"interruptions", 1, 1,
	"\nlowtide_partition_interruptions_per_node_hour{partition=\"spot\"} 0.020000\n", NULL},
    {"no nodes of its own", 1, 1, "lowtide_holds_open 0\n", "lowtide_partition_paid"},
    {"sums that were not read yet", 1, 1, "lowtide_holds_open 0\n", "lowtide_account_"},
};

static void
test_text(void **state)
{
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {0};

	(void)state;
	make_world(d, &policy);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *const text = text_of(d, &no_sums, texts[i].has_money, texts[i].is_open);

		if (strstr(text, texts[i].has) == NULL)
			fail_msg("%s: %s", texts[i].why, text);
		if (texts[i].has_not != NULL && strstr(text, texts[i].has_not) != NULL)
			fail_msg("%s: %s", texts[i].why, text);
		free(text);
	}
	lt_counters_free(&d->tally);
	free(d);
}

/* Nodes of the site's own: what they cost, and what of it nobody used. */
static void
test_owned(void **state)
{
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {0};
	struct lt_unused_row rows[] = {{"free", 0, 0, 0, false, 0, 1},
	    {"own", 0, 0, 0, true, 5000000, 1234567}, {"sold", 0, 0, 0, true, 1, 2}};
	const struct lt_metrics_sums sums = {
	    .owned_window = "2026-11", .owned_count = 3, .owned = rows};
	static const char *const lines[] = {
	    "paid{partition=\"own\",window=\"2026-11\",currency=\"USD\"} 5.000000\n",
	    "unused{partition=\"own\",window=\"2026-11\",currency=\"USD\"} 3.765433\n",
	    "unused{partition=\"sold\",window=\"2026-11\",currency=\"USD\"} -0.000001\n",
	};

	(void)state;
	make_world(d, &policy);
	char *const text = text_of(d, &sums, 1, 1);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char line[256];

		snprintf(line, sizeof(line), "\nlowtide_partition_%s", lines[i]);
		if (strstr(text, line) == NULL)
			fail_msg("no %s in %s", line, text);
	}
	assert_null(strstr(text, "partition=\"free\""));
	free(text);
	lt_counters_free(&d->tally);
	free(d);
}

static void
test_labels(void **state)
{
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {0};
	struct lt_metrics_account account = {.name = "a\"b\\c\nd"};
	const struct lt_metrics_sums sums = {
	    .has_accounts = true, .window = "2026-11", .account_count = 1, .accounts = &account};

	(void)state;
	make_world(d, &policy);
	char *const text = text_of(d, &sums, 1, 1);
	if (strstr(text,
		"\nlowtide_account_runs{account=\"a\\\"b\\\\c?d\",window=\"2026-11\"} 0\n") == NULL)
		fail_msg("%s", text);
	free(text);
	lt_counters_free(&d->tally);
	free(d);
}

/* Charges, a correction and an adjustment, and an account without any. */
static void
test_sums(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {0};
	struct lt_metrics_sums sums = {0};
	struct lt_run run = make_run(1, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR, 3000007);
	bool changed;

	make_world(d, &policy);
	d->ledger = f->ledger;
	run.carbon_mg = 1500;
	run.energy_wh = 2;
	run.baseline_money_micros = 4000000;
	run.moved = true;
	const struct lt_entry entry = {.at_utc_s = NOVEMBER + HOUR,
	    .money_micros = run.money_micros,
	    .carbon_mg = run.carbon_mg,
	    .energy_wh = run.energy_wh,
	    .baseline_money_micros = run.baseline_money_micros,
	    .baseline_carbon_mg = run.baseline_carbon_mg,
	    .saved_by = run.saved_by,
	    .parts = run.parts};
	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){
			&run, &entry, 1, NOVEMBER + 3 * HOUR, NOVEMBER + 3 * HOUR, NOVEMBER, true},
		    &changed, &f->err));
	must(f, lt_ledger_adjust(f->ledger,
		    &(struct lt_entry){.kind = LT_ENTRY_ADJUSTMENT,
			.at_utc_s = NOVEMBER + HOUR,
			.account = "vision",
			.money_micros = -1000000,
			.who = "root",
			.reason = "test"},
		    &f->err));
	must(f, lt_ledger_put_account(f->ledger, "vision", "", 0, &f->err));
	must(f, lt_ledger_put_account(f->ledger, "idle", "", 0, &f->err));
	lt_metrics_soon();
	for (int i = 0; i < 1000 && !sums.has_accounts; i++) {
		usleep(10000); /* some more is read each so often */
		lt_metrics_read(&sums, d, true, NOVEMBER + 4 * HOUR);
	}
	assert_true(sums.has_accounts);
	assert_int_equal(sums.account_count, 1);
	assert_true(sums.ledger_bytes > 0);
	char *const text = text_of(d, &sums, 1, 1);
	static const char *const lines[] = {
	    "spent{account=\"vision\",window=\"2026-11\",currency=\"USD\"} 2.000007\n",
	    "spent_grams{account=\"vision\",window=\"2026-11\"} 1.500\n",
	    "energy_joules{account=\"vision\",window=\"2026-11\"} 7200\n",
	    /* Without the discount of 3 micros, which saved nothing. */
	    "saved{account=\"vision\",window=\"2026-11\",currency=\"USD\"} 0.999990\n",
	    "moved_runs{account=\"vision\",window=\"2026-11\"} 1\n",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char line[256];

		snprintf(line, sizeof(line), "\nlowtide_account_%s", lines[i]);
		if (strstr(text, line) == NULL)
			fail_msg("no %s in %s", line, text);
	}
	free(text);
	/* Read lately: nothing is due. */
	free(sums.accounts);
	sums.accounts = NULL;
	sums.account_count = 0;
	lt_metrics_read(&sums, d, true, NOVEMBER + 4 * HOUR);
	assert_int_equal(sums.account_count, 0);
	lt_metrics_forget(&sums);
	lt_counters_free(&d->tally);
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_owned),
	    cmocka_unit_test(test_labels),
	    EACH(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
