/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What its user would else find out later: beside the lines of a plan.
 */
#include <stdio.h>

#include "plan_line.h"
#include "units.h"

/* By its limit, as Slurm goes: it ends the job at its deadline. A job that is
 * moved keeps the limit that home gives it. */
static void
note_deadline(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_request *const request = told->request;
	const int64_t limit_s =
	    lt_limit_of(request, told->market, request->home);
	char when[64], limit[48];

	if (request->deadline_utc_s == LT_UNSET_64 || limit_s <= 0 ||
	    told->plan->chosen.start_utc_s + limit_s <= request->deadline_utc_s)
		return;
	lt_brief_put(out, LT_NOTE_DEADLINE, "; ",
	    "Slurm ends it at its deadline, %s",
	    lt_zone_text(when, sizeof(when), &told->market->zone,
		request->deadline_utc_s, told->now_utc_s));
	lt_brief_put(out, LT_NOTE_DETAILS + LT_NOTE_DEADLINE, ", ",
	    "as its limit of %s ends later",
	    lt_duration_text(limit, sizeof(limit), limit_s));
}

/* Where money is shown. */
static void
note_charge(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_market *const market = told->market;
	char charge[64];

	if (told->submits || market->charge_micros_per_tonne <= 0 ||
	    !told->plan->chosen.has_cost)
		return;
	lt_brief_put(out, LT_NOTE_CHARGE, "; ",
	    "costs include %s for each tonne of CO2e",
	    lt_money_text(charge, sizeof(charge),
		market->charge_micros_per_tonne, market->currency));
}

void
lt_plan_notes(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_request *const request = told->request;
	const int64_t limit_s =
	    lt_limit_of(request, told->market, request->home);
	char expected[48], limit[48];

	if (told->plan->chosen.partition < 0)
		return;
	note_deadline(out, told);
	if (request->expected_run_s != LT_UNSET_64 && limit_s > 0 &&
	    request->expected_run_s > limit_s)
		lt_brief_put(out, LT_NOTE_EXPECTED, "; ",
		    "its expected time of %s is beyond its limit of %s",
		    lt_duration_text(
			expected, sizeof(expected), request->expected_run_s),
		    lt_duration_text(limit, sizeof(limit), limit_s));
	if (request->pins & LT_PIN_INTERACTIVE)
		lt_brief_put(out, LT_NOTE_INTERACTIVE, "; ",
		    "srun and salloc are never delayed");
	note_charge(out, told);
}

const char *
lt_interruptions_text(
    char *out, size_t size, double interruptions, double lost_s)
{
	static const double least = 0.05; /* 0.1 as it is shown */
	static const double most_s = 1e12;
	char lost[48];

	if (size > 0)
		out[0] = '\0';
	if (interruptions >= least && lost_s < most_s)
		snprintf(out, size,
		    "about %.1f interruptions expected, %s of work lost",
		    interruptions,
		    lt_hours_text(lost, sizeof(lost), (int64_t)lost_s));
	return out;
}

void
lt_precision_text(char *out, size_t size, const struct lt_request *request,
    const struct lt_market *market, int partition)
{
	const struct lt_gpu *const gpu = lt_market_gpu(market, partition);
	const enum lt_precision wanted = request->precision;

	if (size > 0)
		out[0] = '\0';
	if (gpu == NULL || !lt_request_wants_gpus(request) ||
	    !lt_gpu_lacks(gpu, wanted))
		return;
	const struct lt_precision_words *const used = lt_precision_words(
	    lt_precision_used(wanted, lt_gpu_top_precision(gpu)));

	snprintf(out, size, "no %s on %s: %s",
	    lt_precision_words(wanted)->accelerate, gpu->name,
	    used != NULL ? used->accelerate : "single precision");
}
