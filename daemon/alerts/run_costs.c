/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs have cost so far beside their quotes, once a minute; less often
 * where they are very many. A row of the ledger that is there was raised.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "alert.h"
#include "breath.h"
#include "daemon.h"
#include "http.h"
#include "log.h"
#include "run_costs.h"
#include "so_far.h"
#include "text.h"
#include "units.h"

enum {
	EVERY_S = 60,
	PART = 20, /* of the time */
};

struct lt_amount
lt_run_cost_expected(const struct lt_quote *quote)
{
	const int64_t tasks = quote->tasks > 0 ? quote->tasks : 1;
	struct lt_amount one = quote->plan_expected;

	one.money_micros /= tasks;
	one.carbon_mg /= tasks;
	/* Nothing, or a credit, has no multiples. */
	one.has_money &= one.money_micros > 0;
	one.has_carbon &= one.carbon_mg > 0;
	return one;
}

bool
lt_run_cost_is_above(const struct lt_amount *cost,
    const struct lt_amount *expected, double times)
{
	if (cost->has_money && expected->has_money)
		return (double)cost->money_micros >
		       times * (double)expected->money_micros;
	return cost->has_carbon && expected->has_carbon &&
	       (double)cost->carbon_mg > times * (double)expected->carbon_mg;
}

struct run_cost { /* one that is above */
	const struct lt_batch_job *job;
	struct lt_amount cost, expected;
	char cost_text[64], expected_text[64];
};

static void
write_figures(struct run_cost *of, const char *currency)
{
	if (of->cost.has_money && of->expected.has_money) {
		lt_money_text(of->cost_text, sizeof(of->cost_text),
		    of->cost.money_micros, currency);
		lt_money_text(of->expected_text, sizeof(of->expected_text),
		    of->expected.money_micros, currency);
	} else {
		lt_carbon_text(
		    of->cost_text, sizeof(of->cost_text), of->cost.carbon_mg);
		lt_carbon_text(of->expected_text, sizeof(of->expected_text),
		    of->expected.carbon_mg);
	}
}

static void
write_text(struct lt_alert *alert, const struct run_cost *of,
    const struct lt_daemon *d, int64_t now_utc_s)
{
	const struct lt_batch_job *const job = of->job;
	char address[LT_JOB_ADDRESS_SIZE], since[64];
	struct lt_text text = {.out = alert->text, .size = sizeof(alert->text)};
	const bool has_name = job->name != NULL && job->name[0] != '\0';

	lt_job_address(address, job);
	lt_zone_text(since, sizeof(since), &d->site.market.zone,
	    job->start_utc_s, now_utc_s);
	snprintf(alert->subject, sizeof(alert->subject),
	    "lowtide: job %s has cost more than %g times what was expected",
	    address, d->site.policy->notify.run_above);
	lt_text_put(&text,
	    "Job %s%s%.200s%s of %s in %s has cost %s since %s: %s was expected of all of it.\n"
	    "It runs on.\n\n"
	    "How it went: lowtide explain %s\n"
	    "Cancel it:   scancel %s\n",
	    address, has_name ? " (" : "", has_name ? job->name : "",
	    has_name ? ")" : "", job->user, job->account, of->cost_text, since,
	    of->expected_text, address, address);
	lt_text_lines(alert->text);
}

/* Whom its user lets Slurm mail, else he himself; where there are users. */
static void
write_to(struct lt_alert *alert, const struct lt_batch_job *job)
{
	const char *const to = job->mail_to != NULL ? job->mail_to
			       : lt_batch_is_near() ? ""
						    : job->user;

	if (lt_address_is(to))
		snprintf(alert->to, sizeof(alert->to), "%s", to);
}

static int
raise_run(struct lt_daemon *d, struct run_cost *of,
    const struct lt_quote *quote, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_batch_job *const job = of->job;
	struct lt_alert alert = {.kind = LT_ALERT_RUN,
	    .uid = job->uid,
	    .job_id = job->job_id,
	    .quote_id = quote->id,
	    .times = 1,
	    .is_over = true,
	    .made_utc_s = now_utc_s};
	struct lt_alert known;

	snprintf(alert.name, sizeof(alert.name),
	    "run:%u:%016" PRIx64 ":%" PRId64, job->job_id, quote->id,
	    job->start_utc_s);
	snprintf(alert.begins, sizeof(alert.begins), "%s", alert.name);
	int code = lt_ledger_alert(d->ledger, alert.name, &known, err);
	if (code != LT_ENOENT)
		return code;
	lt_copy_lower(alert.team, sizeof(alert.team), job->account);
	write_figures(of, d->site.policy->currency);
	write_text(&alert, of, d, now_utc_s);
	write_to(&alert, job);
	code = lt_ledger_put_alert(d->ledger, &alert, err);
	if (code == LT_OK)
		lt_log("run_alert",
		    "job=%u team=%s cost=\"%s\" expected=\"%s\"", job->job_id,
		    alert.team, of->cost_text, of->expected_text);
	return code;
}

static int
look_at(struct lt_daemon *d, const struct lt_batch_job *job, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_quote quote;
	struct run_cost of = {.job = job};

	/* Of a heterogeneous job the quote is of all its components. */
	if (job->state != LT_JOB_RUNNING || job->het_job_id != 0 ||
	    job->admin_comment == NULL ||
	    lt_quote_unpack(&quote, job->admin_comment,
		strlen(job->admin_comment), NULL) != LT_OK)
		return LT_OK;
	of.expected = lt_run_cost_expected(&quote);
	if (!of.expected.has_money && !of.expected.has_carbon)
		return LT_OK;
	of.cost = lt_so_far(job, &d->site.market, d->ledger, now_utc_s);
	return lt_run_cost_is_above(
		   &of.cost, &of.expected, d->site.policy->notify.run_above)
		   ? raise_run(d, &of, &quote, now_utc_s, err)
		   : LT_OK;
}

int
lt_run_costs(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const int64_t began_ms = lt_monotonic_ms();

	d->next.run_costs = now_utc_s + EVERY_S;
	if (!(d->site.policy->notify.run_above > 0))
		return LT_OK;
	lt_breath(LT_TURN_COMMITTED);
	/* One that fails keeps nobody: the first failure is the step's. */
	for (uint32_t i = 0; i < d->jobs.list.count; i++) {
		struct lt_error failed = {0};

		lt_breath(LT_TURN_READ);
		if (look_at(d, &d->jobs.list.jobs[i], now_utc_s, &failed) !=
			LT_OK &&
		    err->code == LT_OK)
			(void)lt_fail(err, failed.code, "%s", failed.text);
	}
	const int64_t wait_s = PART * (lt_monotonic_ms() - began_ms) / 1000;
	if (wait_s > EVERY_S)
		d->next.run_costs = now_utc_s + wait_s;
	return err->code;
}
