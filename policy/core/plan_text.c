/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan as text: the table of all candidates, for `plan`, with its line under
 * it.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "plan_line.h"
#include "plan_words.h"
#include "quote.h"
#include "units.h"

/* What keeps the job in its partition, as options: "--begin, --switches". */
static void
put_pins(struct lt_text *text, const struct lt_plan *plan, uint32_t pins)
{
	const char *before = "bound by ";

	for (uint32_t bit = 1; bit < LT_PIN_END; bit <<= 1) {
		if (!(pins & bit))
			continue;
		lt_text_put(text, "%s%s", before, lt_plan_pin(plan, bit));
		before = ", ";
	}
}

static void
put_reason(struct lt_text *text, const struct lt_candidate *candidate,
    const char *currency)
{
	lt_text_put(text, "%s", lt_plan_reason(candidate));
	lt_plan_figures(text, candidate, currency);
}

void
lt_reject_text(char *out, size_t size, const struct lt_candidate *candidate,
    const char *currency)
{
	struct lt_text text = {.out = out, .size = size};

	assert((unsigned)candidate->reject < LT_REJECT_COUNT);
	if (size > 0)
		out[0] = '\0';
	put_reason(&text, candidate, currency);
}

static void
put_row(struct lt_text *text, const struct lt_plan *plan,
    const struct lt_market *market, uint32_t i, int64_t now_utc_s)
{
	const struct lt_candidate *candidate = &plan->candidates[i];
	const bool chosen = (int)i == plan->chosen.partition;
	const bool home = (int)i == plan->home.partition;
	const bool priced = candidate->reject == LT_REJECT_NONE ||
			    candidate->reject == LT_REJECT_DEARER ||
			    candidate->reject == LT_REJECT_HOLDOUT;
	const struct lt_estimate *at = chosen		    ? &plan->chosen
				       : home && plan->fits ? &plan->home
							    : &candidate->best;
	char start[64] = "-", end[64] = "-", cost[64] = "-", carbon[64] = "-";

	if (priced) {
		if (at->start_utc_s > now_utc_s + LT_SOON_S)
			lt_zone_text(start, sizeof(start), &market->zone,
			    at->start_utc_s, now_utc_s);
		else
			snprintf(start, sizeof(start), "now");
		lt_zone_text(
		    end, sizeof(end), &market->zone, at->end_utc_s, now_utc_s);
		if (lt_plan_shows_money(market, at))
			lt_money_text(cost, sizeof(cost), at->cost_micros,
			    market->currency);
		if (at->has_carbon)
			lt_carbon_text(carbon, sizeof(carbon), at->carbon_mg);
	}
	lt_text_put(text, "%c %-15s %-21s %-21s %12s %9s  ",
	    chosen && priced ? '*' : ' ', market->partitions[i].name, start,
	    end, cost, carbon);
	const uint32_t pins =
	    plan->pins & ~(uint32_t)(LT_PIN_INTERACTIVE | LT_PIN_BEGIN);

	if (candidate->reject == LT_REJECT_PINNED && pins != 0)
		put_pins(text, plan, pins);
	else
		put_reason(text, candidate, market->currency);
	if (home)
		lt_text_put(text, "; where it goes without lowtide");
	lt_text_put(
	    text, "%s\n", priced ? lt_plan_caveat(market, (int)i).full : "");
}

static bool
has_preemptible(const struct lt_market *market)
{
	const uint32_t wanted = LT_PARTITION_PREEMPTIBLE | LT_PARTITION_MANAGED;

	for (uint32_t i = 0; i < market->partition_count; i++)
		if ((market->partitions[i].flags & wanted) == wanted)
			return true;
	return false;
}

void
lt_proof_note(struct lt_brief *notes, const struct lt_request *request,
    const struct lt_market *market)
{
	if (!request->checkpoint.enabled || lt_resume_counts(request, market) ||
	    !has_preemptible(market))
		return;
	const struct lt_class *const class = lt_request_class(request, market);

	lt_brief_put(
	    notes, LT_NOTE_PROOF, "; ", "no proof yet that it can resume");
	lt_brief_put(notes, 2 * LT_NOTE_DETAILS + LT_NOTE_PROOF, ": ",
	    "priced as starting over on preemptible nodes");
	if (request->script_hash != 0)
		lt_brief_put(notes, LT_NOTE_DETAILS + LT_NOTE_PROOF, "; ", "%s",
		    class != NULL && class->canary
			? "it will be signalled and requeued once to see"
			: "to prove it while it runs: lowtide canary <job>");
}

/* How often nodes that can be taken were there, where that was seen. */
static void
put_availability(struct lt_text *text, const struct lt_market *market)
{
	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const part = &market->partitions[i];
		const struct lt_availability *const seen = &part->availability;
		char age[48];

		if (seen->seen_s >= LT_WAIT_SEEN_S)
			lt_text_put(text,
			    "  %s: nodes there %.0f %% of the %s that lowtided looked; its end has the waits in it\n",
			    part->name, seen->there_ppm / 1e4,
			    lt_duration_text(age, sizeof(age), seen->seen_s));
	}
}

/* How often it writes, by the same rule as the variable on the node. */
static void
put_checkpoints(struct lt_text *text, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market)
{
	const struct lt_estimate *const at =
	    plan->moved ? &plan->chosen : &plan->home;
	char every[48], notice[48];

	if (!request->checkpoint.enabled || at->partition < 0 || !plan->fits)
		return;
	const struct lt_partition *const there =
	    &market->partitions[at->partition];
	const struct lt_checkpoint checkpoint =
	    lt_checkpoint_there(&request->checkpoint, there->storage_gib_per_s);
	lt_text_put(text, "  checkpoints: every %s",
	    lt_duration_text(every, sizeof(every),
		(int64_t)round(lt_checkpoint_told_s(at->interval_s))));
	if (there->notice_s > 0)
		lt_text_put(text, "; one %s into the notice of %s",
		    lt_checkpoint_fits(&checkpoint, there->notice_s)
			? "fits"
			: "does not fit",
		    lt_duration_text(
			notice, sizeof(notice), (int64_t)there->notice_s));
	lt_text_put(text, "\n");
}

static void
put_cap(struct lt_text *text, const struct lt_plan *plan)
{
	char words[160];

	lt_capped_text(words, sizeof(words), &plan->capped);
	if (words[0] != '\0')
		lt_text_put(text, "  capped: %s\n", words);
}

void
lt_plan_table(char *out, size_t size, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market,
    int64_t now_utc_s)
{
	assert(plan->candidate_count <= market->partition_count);

	struct lt_text text = {.out = out, .size = size};
	char line[LT_ERROR_TEXT_SIZE * 4], words[512];
	const struct lt_expected expected = lt_expected_of(request);

	if (size > 0)
		out[0] = '\0';
	lt_text_put(&text, "plan: %s%s\n", lt_objective_name(plan->objective),
	    request->checkpoint.enabled ? ", with checkpoints" : "");
	lt_expected_text(line, sizeof(line), &expected,
	    lt_limit_of(request, market, request->home));
	if (line[0] != '\0')
		lt_text_put(&text, "  %s\n", line);
	lt_class_text(line, sizeof(line), request, market);
	if (line[0] != '\0')
		lt_text_put(&text, "  %s\n", line);
	lt_text_put(&text, "  %-15s %-21s %-21s %12s %9s  %s\n", "PARTITION",
	    "START", "DONE BY", "COST", "CO2e", "WHY");
	for (uint32_t i = 0; i < plan->candidate_count; i++)
		put_row(&text, plan, market, i, now_utc_s);
	put_checkpoints(&text, plan, request, market);
	put_availability(&text, market);
	put_cap(&text, plan);
	const struct lt_told told = {plan, request, market, now_utc_s, false};
	struct lt_brief said = {.count = 0};

	lt_proof_note(&said, request, market);
	lt_brief_text(words, sizeof(words), &said, LT_BRIEF_ALL);
	if (words[0] != '\0')
		lt_text_put(&text, "  %s\n", words);
	lt_plan_line(&said, &told);
	lt_text_put(&text, "%s",
	    lt_brief_text(line, sizeof(line), &said, LT_BRIEF_ALL));
	said.count = said.used = 0;
	lt_plan_notes(&said, &told);
	lt_brief_text(words, sizeof(words), &said, LT_BRIEF_ALL);
	if (words[0] != '\0')
		lt_text_put(&text, "\n%s", words);
	lt_precision_text(words, sizeof(words), request, market,
	    plan->moved ? plan->chosen.partition : plan->home.partition);
	lt_text_put(&text, "%s%s",
	    words[0] != '\0' && line[0] != '\0' ? "\n" : "", words);
}

const char *
lt_amount_text(char *out, size_t size, const struct lt_amount *amount,
    const char *currency, const char *none)
{
	char money[48] = "", carbon[48] = "";

	if (amount->has_money && currency[0] != '\0')
		lt_money_text(
		    money, sizeof(money), amount->money_micros, currency);
	if (amount->has_carbon)
		lt_carbon_text(carbon, sizeof(carbon), amount->carbon_mg);
	snprintf(out, size, "%s%s%s%s", money,
	    money[0] != '\0' && carbon[0] != '\0' ? ", " : "", carbon,
	    carbon[0] != '\0'  ? " CO2e"
	    : money[0] != '\0' ? ""
			       : none);
	return out;
}
