/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/plan/manifest: the decision for a Job or Pod if it were created now, made in the same
 * way as for one that exists. Reads the market and the budget snapshot; nothing is stored. A
 * manifest that can't be read gets 400.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "daemon.h"
#include "first_plan.h"
#include "units.h"

struct answer {
	const struct lt_batch_manifest *manifest;
	const struct lt_first *real;  /* what would be done */
	const struct lt_first *shown; /* whose plan is shown */
	struct lt_amount available;   /* of the team; without either: unknown */
	int64_t now_utc_s;
};

static bool
is_asked(const struct answer *a)
{
	return a->real == a->shown;
}

/* ---- as text ---- */

static void
budget_text(char *out, size_t size, const struct answer *a, const struct lt_market *market)
{
	static const uint32_t held = LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN;
	const struct lt_quote *const quote = &a->real->hold.quote;
	const char *const team = quote->account;
	char most[128], left[128];

	lt_amount_text(most, sizeof(most), &quote->hold_per_task, market->currency, "");
	lt_amount_text(left, sizeof(left), &a->available, market->currency, "");
	const bool is_known = a->real->is_priced && most[0] != '\0';

	if (!is_known && a->manifest->unknown[0] != '\0')
		snprintf(out, size, "%s: %s nobody knows what it may cost at most.",
		    quote->flags & held ? "It would wait" : "Nothing is held for it",
		    a->manifest->unknown);
	else if (!is_known)
		snprintf(out, size, "What it may cost at most is not known: %s.",
		    quote->flags & held ? "it would wait, as nothing can be held for it"
					: "nothing is held for it");
	else
		snprintf(out, size, "It may cost at most %s%s%s%s%s%s.", most,
		    left[0] != '\0' ? "; " : "", left[0] != '\0' ? team : "",
		    left[0] != '\0' ? " has " : "", left,
		    left[0] == '\0'	  ? ""
		    : quote->flags & held ? ": it would wait for budget"
					  : " available");
}

/* Says what happens to the job if that is not what the table shows. */
static const char *
becomes(const struct answer *a, enum lt_mode mode)
{
	if (a->manifest->note[0] != '\0')
		return a->manifest->note;
	if (!lt_mode_may(mode, LT_MAY_EDIT))
		return "In this mode lowtide moves nothing: it starts at once";
	if (a->shown->is_planned && !is_asked(a))
		return "Without lowtide.dev/carbon-aware it starts as soon as it has its hold; the table is what it could ask for";
	return "";
}

static char *
text_of(const struct answer *a, const struct lt_daemon *d)
{
	char *const text = malloc(LT_MESSAGE_SIZE);
	char table[LT_MESSAGE_SIZE / 2] = "", budget[512];
	const char *const more = becomes(a, d->site.policy->mode);

	if (text == NULL)
		return NULL;
	if (a->shown->is_planned)
		lt_plan_table(table, sizeof(table), &a->shown->plan, &a->shown->made.request,
		    &d->site.market, a->now_utc_s);
	else
		snprintf(table, sizeof(table), "no plan: %s",
		    a->manifest->unknown[0] != '\0' ? "what it may cost is not known"
						    : "no pool of the policy can take it");
	budget_text(budget, sizeof(budget), a, &d->site.market);
	snprintf(text, LT_MESSAGE_SIZE, "%s\n%s\n%s%sThis was a plan: nothing was created.\n",
	    table, budget, more, more[0] != '\0' ? ".\n" : "");
	return text;
}

/* ---- as JSON ---- */

static json_t *
estimate_json(const struct lt_estimate *estimate, const struct lt_market *market)
{
	const struct lt_amount amount = lt_amount_of(estimate);

	if (estimate->partition < 0)
		return json_null();
	return json_pack("{s:s,s:o,s:o,s:o}", "partition",
	    market->partitions[estimate->partition].name, "start",
	    lt_api_time(estimate->start_utc_s), "end", lt_api_time(estimate->end_utc_s), "expected",
	    lt_api_amount(&amount));
}

static json_t *
candidates_json(const struct lt_plan *plan, const struct lt_market *market)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		const struct lt_candidate *const c = &plan->candidates[i];

		json_array_append_new(
		    list, json_pack("{s:s,s:s,s:o,s:o}", "partition", market->partitions[i].name,
			      "reject", lt_reject_word(c->reject), "cost_micros",
			      lt_api_optional(c->best.has_cost, c->best.cost_micros), "carbon_mg",
			      lt_api_optional(c->best.has_carbon, c->best.carbon_mg)));
	}
	return list;
}

static json_t *
json_of(const struct answer *a, const struct lt_daemon *d, const char *text)
{
	static const uint32_t held = LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN;
	const struct lt_plan *const plan = &a->shown->plan;
	const struct lt_quote *const quote = &a->real->hold.quote;
	const bool planned = a->shown->is_planned;
	const char *const more = becomes(a, d->site.policy->mode);

	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:s?}", "name",
	    a->manifest->name, "team", quote->account, "text", text, "mode",
	    lt_mode_name(d->site.policy->mode), "asked", is_asked(a), "moved",
	    planned && plan->moved, "objective",
	    planned ? json_string(lt_objective_name(plan->objective)) : json_null(), "plan",
	    planned ? estimate_json(&plan->chosen, &d->site.market) : json_null(), "home",
	    planned ? estimate_json(&plan->home, &d->site.market) : json_null(), "candidates",
	    planned ? candidates_json(plan, &d->site.market) : json_array(), "hold",
	    lt_api_amount(&quote->hold_per_task), "waits_for_budget", (quote->flags & held) != 0,
	    "carbon_charge_micros_per_tonne",
	    lt_api_optional(
		d->site.market.charge_micros_per_tonne > 0, d->site.market.charge_micros_per_tonne),
	    "note", more[0] != '\0' ? more : NULL);
}

/* ---- the request ---- */

/* A team's balance is for those who see its figures. */
static void
find_available(struct answer *a, const struct lt_access *access)
{
	const struct lt_request *const request = &a->shown->made.request;

	a->available = (struct lt_amount){0};
	if (!a->shown->is_planned || !request->has_available ||
	    !lt_access_sums(access, request->account))
		return;
	a->available = (struct lt_amount){.has_money = request->available_micros != INT64_MAX,
	    .money_micros = request->available_micros,
	    .has_carbon = request->available_mg != INT64_MAX,
	    .carbon_mg = request->available_mg};
}

static int
answer(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_batch_manifest *manifest, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	struct lt_first_asked asked = {
	    .job = &manifest->jobs.jobs[0], .now_utc_s = request->now_utc_s, .is_question = true};
	struct lt_first *const both = calloc(2, sizeof(*both));
	struct answer a = {
	    .manifest = manifest, .real = both, .shown = both, .now_utc_s = request->now_utc_s};
	char *text = NULL;

	if (both == NULL)
		return lt_api_error(reply, 503, "out of memory");
	lt_first_decide(&both[0], &d->site, d->ledger, &d->jobs, &d->budget, &d->replan, &asked);
	if (!both[0].is_planned) {
		asked.plan = true;
		lt_first_decide(
		    &both[1], &d->site, d->ledger, &d->jobs, &d->budget, &d->replan, &asked);
		a.shown = &both[1];
	}
	find_available(&a, &access);
	text = text_of(&a, d);
	if (text != NULL)
		*reply = json_of(&a, d, text);
	if (*reply != NULL)
		json_object_set_new(*reply, "available", lt_api_amount(&a.available));
	free(text);
	free(both);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

int
lt_api_plan_manifest(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_batch_manifest manifest;
	struct lt_error err = {0};
	char *const text = json_dumps(request->body, JSON_COMPACT);

	if (text == NULL)
		return lt_api_error(reply, 400, "plan: want a manifest as JSON");
	if (!d->site.has_market || !d->acting) {
		free(text);
		return lt_api_error(reply, 503, "no market here");
	}
	const int code = lt_batch_job_of_manifest(&manifest, text, strlen(text), &err);
	free(text);
	if (code != LT_OK)
		return lt_api_error(reply, code == LT_ENOMEM ? 503 : 400, "%s", err.text);
	const int status = answer(d, request, &manifest, reply);
	lt_batch_jobs_free(&manifest.jobs);
	return status;
}
