/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What its user would else find out later: beside the lines of a plan.
 */
#include <stdio.h>

#include "text.h"
#include "units.h"

#include "decide.h"

static void
note(struct lt_text *text, const char *beginning, const char *words)
{
	lt_text_put(
	    text, "%s%s%s", text->out[0] != '\0' ? ". " : "", beginning, words);
}

/* By its limit, as Slurm goes: it ends the job at its deadline. A job that is
 * moved keeps the limit that home gives it. */
static void
note_deadline(struct lt_text *text, const struct lt_request *request,
    const struct lt_market *market, const struct lt_plan *plan,
    int64_t now_utc_s)
{
	const int64_t limit_s = lt_limit_of(request, market, request->home);
	char when[64], limit[48], words[192];

	if (request->deadline_utc_s == LT_UNSET_64 || limit_s <= 0 ||
	    plan->chosen.start_utc_s + limit_s <= request->deadline_utc_s)
		return;
	(void)snprintf(words, sizeof(words),
	    "%s: with its limit of %s it ends later, and Slurm ends it then",
	    lt_zone_text(when, sizeof(when), &market->zone,
		request->deadline_utc_s, now_utc_s),
	    lt_duration_text(limit, sizeof(limit), limit_s));
	note(text, "Its deadline is ", words);
}

/* Where money is shown. */
static void
note_charge(struct lt_text *text, const struct lt_market *market,
    const struct lt_plan *plan)
{
	char charge[64], words[128];

	if (market->charge_micros_per_tonne <= 0 || !plan->chosen.has_cost)
		return;
	(void)snprintf(words, sizeof(words), "%s for each tonne of CO2e",
	    lt_money_text(charge, sizeof(charge),
		market->charge_micros_per_tonne, market->currency));
	note(text, "Costs include ", words);
}

void
lt_notes_text(char *out, size_t size, const struct lt_request *request,
    const struct lt_market *market, const struct lt_plan *plan,
    int64_t now_utc_s)
{
	struct lt_text text = {.out = out, .size = size};
	char words[64], expected[48], limit[48];

	if (size > 0)
		out[0] = '\0';
	if (size == 0 || plan->chosen.partition < 0)
		return;
	const int64_t limit_s = lt_limit_of(request, market, request->home);

	if (request->array_tasks > 1) {
		(void)snprintf(words, sizeof(words), "for all %u tasks",
		    request->array_tasks);
		note(&text, "These figures are ", words);
	}
	if (request->pins & LT_PIN_INTERACTIVE)
		note(&text, "srun and salloc are never delayed", "");
	if (request->expected_run_s != LT_UNSET_64 && limit_s > 0 &&
	    request->expected_run_s > limit_s) {
		(void)snprintf(words, sizeof(words),
		    "%s is beyond its limit of %s",
		    lt_duration_text(
			expected, sizeof(expected), request->expected_run_s),
		    lt_duration_text(limit, sizeof(limit), limit_s));
		note(&text, "Its expected time of ", words);
	}
	note_deadline(&text, request, market, plan, now_utc_s);
	note_charge(&text, market, plan);
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
