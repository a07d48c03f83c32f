/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scrape keeps lowtided from: the text of 200 teams, each with budgets
 * in money and carbon, and sums of the month.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon.h"
#include "metrics.h"
#include "out.h"

enum { TEAMS = 200, ROUNDS = 301 };

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
make_teams(
    struct lt_daemon *d, struct lt_policy *policy, struct lt_metrics_sums *sums)
{
	static struct lt_budget budgets[TEAMS];
	static struct lt_policy_budget rows[TEAMS];
	static struct lt_metrics_account accounts[TEAMS];

	for (int i = 0; i < TEAMS; i++) {
		struct lt_period *const p = &budgets[i].periods[0];

		snprintf(budgets[i].team, sizeof(budgets[i].team),
		    "department-team%04d", i);
		memcpy(accounts[i].name, budgets[i].team,
		    sizeof(accounts[i].name));
		*p = (struct lt_period){.label = "2026-11",
		    .limit = {true, true, 5000000000, 1000000000},
		    .settled = {true, true, 1234567890 + i, 987654321 - i},
		    .held = {true, true, 234567890 + i, 87654321 - i}};
		for (int k = 0; k < 3; k++)
			accounts[i].line.in[k] =
			    (struct lt_totals){.money_micros = 1234567890 + i,
				.carbon_mg = 987654321,
				.energy_wh = 123456,
				.runs = 1000 + i};
	}
	strcpy(policy->currency, "USD");
	policy->budget_count = TEAMS;
	policy->budgets = rows;
	d->policy = policy;
	d->budget.has_snapshot = d->budget.snapshot.ready = true;
	d->budget.snapshot.budgets = budgets;
	d->budget.snapshot.budget_count = TEAMS;
	*sums = (struct lt_metrics_sums){.has_accounts = true,
	    .window = "2026-11",
	    .account_count = TEAMS,
	    .accounts = accounts};
}

int
main(void)
{
	static struct lt_daemon d;
	static struct lt_policy policy;
	static double took_ms[ROUNDS];
	struct lt_metrics_sums sums;
	size_t bytes = 0;

	make_teams(&d, &policy, &sums);
	for (int i = 0; i < ROUNDS; i++) {
		struct lt_out out = {.most = LT_METRICS_BYTES_MAX};
		const double began_ms = now_ms();

		lt_metrics_text(&out, &(struct lt_metrics_view){.d = &d,
					  .sums = &sums,
					  .has_money = true,
					  .is_open = true,
					  .now_utc_s = 1794000000});
		took_ms[i] = now_ms() - began_ms;
		bytes = out.length;
		lt_out_free(&out);
	}
	qsort(took_ms, ROUNDS, sizeof(*took_ms), compare);
	const double median = took_ms[ROUNDS / 2];
	printf("goal scrape of %d teams (%zu KB), ms, median %5.3f <=1 %s\n",
	    TEAMS, bytes / 1000, median, median <= 1 ? "met" : "missed");
	return median <= 1 ? 0 : 1;
}
