/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan as text: the one or two lines of a submission, and the table of all
 * candidates for `plan` and `explain`. The only place where a plan is worded.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "holdout.h"
#include "lookup.h"
#include "quote.h"
#include "text.h"
#include "units.h"

enum { SOON_S = 60 }; /* "now" */
#define COMMANDS "Why: lowtide explain <job>."

static const char *
name_of(const struct lt_market *market, int partition)
{
	return partition >= 0 && (uint32_t)partition < market->partition_count
		   ? market->partitions[partition].name
		   : "?";
}

static bool
shows_money(const struct lt_market *market, const struct lt_estimate *estimate)
{
	return market->currency[0] != '\0' && estimate->has_cost;
}

bool
lt_plan_waits_for_room(const struct lt_plan *plan)
{
	return plan->moved && plan->fits &&
	       plan->chosen.partition == plan->home.partition &&
	       (plan->chosen.too_late ||
		   plan->chosen.start_utc_s == plan->home.start_utc_s);
}

/* "$41.20, 3.1 kg CO2e", "3.1 kg CO2e", "" */
static void
put_figures(struct lt_text *text, const struct lt_market *market,
    const struct lt_estimate *estimate, const char *unit)
{
	const bool money = shows_money(market, estimate);
	char amount[64];

	if (money)
		lt_text_put(text, "%s",
		    lt_money_text(amount, sizeof(amount), estimate->cost_micros,
			market->currency));
	if (estimate->has_carbon)
		lt_text_put(text, "%s%s%s", money ? ", " : "",
		    lt_carbon_text(amount, sizeof(amount), estimate->carbon_mg),
		    unit);
	if (!money && !estimate->has_carbon)
		lt_text_put(text, "no price and no carbon intensity known");
}

/* "$3.00, 1.5 kg to 5.3 kg": of all hours in which it may start. */
static void
put_range(struct lt_text *text, const struct lt_market *market,
    const struct lt_plan *plan)
{
	const struct lt_line *const line = &plan->line;
	const bool money = shows_money(market, &plan->home);
	char least[64], most[64];

	if (money) {
		lt_money_text(
		    least, sizeof(least), line->least_micros, market->currency);
		lt_money_text(
		    most, sizeof(most), line->most_micros, market->currency);
		lt_text_put(text, strcmp(least, most) == 0 ? "%s" : "%s to %s",
		    least, most);
	}
	if (plan->home.has_carbon) {
		lt_carbon_text(least, sizeof(least), line->least_mg);
		lt_carbon_text(most, sizeof(most), line->most_mg);
		lt_text_put(text, "%s", money ? ", " : "");
		lt_text_put(text,
		    strcmp(least, most) == 0 ? "%s CO2e" : "%s to %s CO2e",
		    least, most);
	}
	if (!money && !plan->home.has_carbon)
		lt_text_put(text, "no price and no carbon intensity known");
}

/* Does Slurm start it when it can, by no begin time of lowtide's? */
static bool
waits_in_line(const struct lt_plan *plan)
{
	return !plan->moved && plan->fits && plan->line.known;
}

/* ", about 1.2 interruptions expected, ...", or nothing. */
static void
put_interruptions(struct lt_text *text, const struct lt_estimate *estimate)
{
	char words[96];

	lt_interruptions_text(words, sizeof(words),
	    estimate->expected_interruptions, estimate->expected_lost_s);
	lt_text_put(text, "%s%s", words[0] ? ", " : "", words);
}

/* "; then you have $958.80, 40 kg left in vision", or nothing where no budget
 * binds. It may be a share of its user that is the least: what nobody has left,
 * or what is not known, is 0. */
static void
put_left(struct lt_text *text, const struct lt_request *request,
    const struct lt_market *market, const struct lt_estimate *estimate)
{
	const bool money = request->has_available &&
			   request->available_micros > 0 &&
			   request->available_micros != INT64_MAX &&
			   shows_money(market, estimate);
	const bool carbon =
	    request->has_available && request->available_mg > 0 &&
	    request->available_mg != INT64_MAX && estimate->has_carbon;
	char amount[64];

	if (!money && !carbon)
		return;
	lt_text_put(text, "; then you have ");
	if (money)
		lt_text_put(text, "%s",
		    lt_money_text(amount, sizeof(amount),
			request->available_micros - estimate->cost_micros,
			market->currency));
	if (carbon)
		lt_text_put(text, "%s%s", money ? ", " : "",
		    lt_carbon_text(amount, sizeof(amount),
			request->available_mg - estimate->carbon_mg));
	lt_text_put(text, request->account[0] != '\0' ? " left in %s" : " left",
	    request->account);
}

/* What the figures rest on, where that is less than a measurement or a
 * forecast; "" else. The worst of the partition's signals speaks. */
static const char *
caveat(const struct lt_market *market, int partition)
{
	static const char *const words[LT_QUALITY_COUNT] = {
	    [LT_QUALITY_CLIMATOLOGY] = " (typical values, no forecast)",
	    [LT_QUALITY_LAST_VALUE] = " (last known values)",
	    [LT_QUALITY_REPLAY] = " (replayed signals)",
	};
	enum lt_quality worst = LT_QUALITY_NONE;

	if (partition < 0 || (uint32_t)partition >= market->partition_count)
		return "";
	const struct lt_partition *p = &market->partitions[partition];
	const int series[] = {
	    p->price_series, p->carbon_series, p->tariff_series};
	for (int i = 0; i < 3; i++)
		if (series[i] != LT_NO_SERIES &&
		    market->series[series[i]].quality > worst)
			worst = market->series[series[i]].quality;
	return LT_WORD_OR(words, worst, "");
}

/* "from Sat 02:00 GMT, done by Sat 09:40" or "now, done by 09:40 GMT" */
static void
put_window(struct lt_text *text, const struct lt_market *market,
    const struct lt_estimate *estimate, int64_t now_utc_s)
{
	const bool later = estimate->start_utc_s > now_utc_s + SOON_S;
	char start[64], end[64];

	lt_zone_text(start, sizeof(start), &market->zone, estimate->start_utc_s,
	    now_utc_s);
	if (!later) {
		lt_zone_text(end, sizeof(end), &market->zone,
		    estimate->end_utc_s, now_utc_s);
		lt_text_put(text, "now, done by %s", end);
		return;
	}
	lt_zone_text_short(end, sizeof(end), &market->zone, estimate->end_utc_s,
	    estimate->start_utc_s, now_utc_s);
	lt_text_put(text, "from %s, done by %s", start, end);
}

static bool
all_reject(const struct lt_plan *plan, enum lt_reject reject)
{
	bool any = false;

	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		any |= plan->candidates[i].reject == reject;
		if (plan->candidates[i].reject != reject &&
		    plan->candidates[i].reject != LT_REJECT_UNMANAGED)
			return false;
	}
	return any;
}

/* What keeps the job in its partition, as options: "--begin, --switches". */
static void
put_pins(struct lt_text *text, const char *before, uint32_t pins,
    const struct lt_plan *plan)
{
	for (uint32_t bit = 1; bit < LT_PIN_END; bit <<= 1) {
		if (!(pins & bit))
			continue;
		lt_text_put(text, "%s%s", before,
		    bit == LT_PIN_OTHER && plan->pinned_by[0] != '\0'
			? plan->pinned_by
			: lt_pin_name((enum lt_pin)bit));
		before = ", ";
	}
}

/* Why a job that asked stays where it is. */
static void
put_unmoved(struct lt_text *text, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market,
    int64_t now_utc_s)
{
	const int home = plan->home.partition;
	const struct lt_candidate *at = &plan->candidates[home];
	const uint32_t pins = plan->pins & ~(uint32_t)LT_PIN_INTERACTIVE;
	char kept[80], when[64];

	lt_text_put(text, "%s, ", name_of(market, home));
	if (at->reject == LT_REJECT_NO_NODES) {
		lt_text_put(text,
		    "left as it is: no node is there now, nor was any before");
		return;
	}
	if (at->reject == LT_REJECT_NO_LIMIT) {
		lt_text_put(
		    text, "left as it is: it has no time limit; say --time");
		return;
	}
	if (!plan->fits) {
		lt_text_put(text,
		    "can't run this job: %s; nor can another partition",
		    lt_reject_name(at->reject));
		return;
	}
	if (waits_in_line(plan)) {
		lt_zone_text(when, sizeof(when), &market->zone,
		    plan->home.start_utc_s, now_utc_s);
		lt_text_put(text, "in line, until about %s: ", when);
		put_range(text, market, plan);
	} else {
		put_window(text, market, &plan->chosen, now_utc_s);
		lt_text_put(text, ": ");
		put_figures(text, market, &plan->chosen, " CO2e");
	}
	lt_text_put(text, "%s", caveat(market, home));
	put_interruptions(text, &plan->chosen);
	put_left(text, request, market, &plan->chosen);
	lt_text_put(text, ". ");
	if (plan->compared == LT_COMPARED_KEPT)
		lt_text_put(text, "%s",
		    lt_holdout_text(kept, sizeof(kept), plan->holdout_ppm));
	else if (at->reject == LT_REJECT_STALE ||
		 all_reject(plan, LT_REJECT_STALE))
		lt_text_put(text, "Not moved: the signals are too old");
	else if (pins)
		put_pins(text, "Bound by ", pins, plan);
	else
		lt_text_put(text, at->reject == LT_REJECT_MAX_PRICE
				      ? "A node-hour is too dear"
				  : plan->home.start_utc_s <= now_utc_s + SOON_S
				      ? "Nothing better was found"
				  : plan->home_was_dear
				      ? "Before, a node-hour is too dear"
				      : "There is no room before");
}

/* The second line: what the choice is measured against. */
static void
put_home(struct lt_text *text, const struct lt_plan *plan,
    const struct lt_market *market, int64_t now_utc_s)
{
	const int home = plan->home.partition;
	char from[64];

	if (!plan->fits) {
		lt_text_put(text, "%s can't run it: %s. ",
		    name_of(market, home),
		    lt_reject_name(plan->candidates[home].reject));
		return;
	}
	if (lt_plan_waits_for_room(plan)) {
		lt_text_put(text,
		    plan->chosen.too_late ? "There may be no room by then. "
		    : plan->home_was_dear ? "Before, a node-hour is too dear. "
					  : "There is no room before. ");
		if (plan->line.known) {
			lt_text_put(
			    text, "In line it could start at any hour: ");
			put_range(text, market, plan);
			lt_text_put(text, ". ");
		}
		return;
	}
	if (plan->home.start_utc_s > now_utc_s + SOON_S)
		lt_text_put(text, "%s %s from %s, where it would be ",
		    name_of(market, home),
		    plan->home_was_dear ? "is not too dear" : "has room",
		    lt_zone_text(from, sizeof(from), &market->zone,
			plan->home.start_utc_s, now_utc_s));
	else
		lt_text_put(
		    text, "now on %s it would be ", name_of(market, home));
	put_figures(text, market, &plan->home, "");
	lt_text_put(text, ". ");
}

void
lt_plan_lines(char *out, size_t size, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market,
    int64_t now_utc_s)
{
	assert(plan->candidate_count <= market->partition_count);

	struct lt_text text = {.out = out, .size = size};

	if (size > 0)
		out[0] = '\0';
	if (plan->home.partition < 0 || plan->objective == LT_OBJECTIVE_OFF)
		return;
	if (!plan->moved) {
		put_unmoved(&text, plan, request, market, now_utc_s);
		return;
	}
	lt_text_put(&text, "%s, ", name_of(market, plan->chosen.partition));
	put_window(&text, market, &plan->chosen, now_utc_s);
	lt_text_put(&text, ": ");
	put_figures(&text, market, &plan->chosen, " CO2e");
	lt_text_put(&text, "%s", caveat(market, plan->chosen.partition));
	put_interruptions(&text, &plan->chosen);
	put_left(&text, request, market, &plan->chosen);
	lt_text_put(&text, "\n");
	put_home(&text, plan, market, now_utc_s);
	lt_text_put(&text, COMMANDS);
	if (plan->chosen.start_utc_s > now_utc_s + SOON_S)
		lt_text_put(&text, " Sooner: lowtide now <job>");
}

/* " (16384 MiB, wants 40960 MiB)" where the figures say more than the name. */
static void
put_reason(struct lt_text *text, const struct lt_candidate *candidate,
    const char *currency)
{
	static const char *const units[LT_REJECT_COUNT] = {
	    [LT_REJECT_GPU_MEMORY] = " MiB",
	    [LT_REJECT_MEMORY] = " MiB",
	    [LT_REJECT_CPUS] = "",
	    [LT_REJECT_GPU_COUNT] = "",
	    [LT_REJECT_NODES] = "",
	};
	const char *const unit = LT_WORD_OR(units, candidate->reject, NULL);
	char wanted[48], found[48];

	/* Older than any time: there are none, and no age to tell. */
	if (candidate->reject == LT_REJECT_STALE && candidate->found > 1e15) {
		lt_text_put(text, "no signals");
		return;
	}
	lt_text_put(text, "%s", lt_reject_name(candidate->reject));
	if (unit != NULL)
		lt_text_put(text, " (%.0f%s, wants %.0f%s)", candidate->found,
		    unit, candidate->wanted, unit);
	else if (candidate->reject == LT_REJECT_RISK)
		lt_text_put(text,
		    " (%.0f %%, at most %.0f %% where it starts over)",
		    candidate->found / 1e4, candidate->wanted / 1e4);
	else if (candidate->reject == LT_REJECT_MAX_PRICE)
		lt_text_put(text, " (%s at least, at most %s)",
		    lt_money_digits(found, sizeof(found),
			(int64_t)candidate->found, currency),
		    lt_money_digits(wanted, sizeof(wanted),
			(int64_t)candidate->wanted, currency));
	else if ((candidate->reject == LT_REJECT_MAX_TIME ||
		     candidate->reject == LT_REJECT_STALE) &&
		 candidate->wanted < 1e15 && candidate->found < 1e15)
		lt_text_put(text, " (%s, %s allowed)",
		    lt_duration_text(
			found, sizeof(found), (int64_t)candidate->found),
		    lt_duration_text(
			wanted, sizeof(wanted), (int64_t)candidate->wanted));
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
		if (at->start_utc_s > now_utc_s + SOON_S)
			lt_zone_text(start, sizeof(start), &market->zone,
			    at->start_utc_s, now_utc_s);
		else
			snprintf(start, sizeof(start), "now");
		lt_zone_text(
		    end, sizeof(end), &market->zone, at->end_utc_s, now_utc_s);
		if (shows_money(market, at))
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
		put_pins(text, "bound by ", pins, plan);
	else
		put_reason(text, candidate, market->currency);
	if (home)
		lt_text_put(text, "; where it goes without lowtide");
	lt_text_put(text, "%s\n", priced ? caveat(market, (int)i) : "");
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
lt_proof_text(char *out, size_t size, const struct lt_request *request,
    const struct lt_market *market)
{
	if (size > 0)
		out[0] = '\0';
	if (!request->checkpoint.enabled || lt_resume_counts(request, market) ||
	    !has_preemptible(market))
		return;
	const struct lt_class *const class = lt_request_class(request, market);
	const char *const next =
	    request->script_hash == 0 ? ""
	    : class != NULL && class->canary
		? "; it will be signalled and requeued once to see"
		: "; to prove it while it runs: lowtide canary <job>";

	snprintf(out, size,
	    "no proof yet that it can resume: priced as starting over on preemptible nodes%s",
	    next);
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
	lt_proof_text(words, sizeof(words), request, market);
	if (words[0] != '\0')
		lt_text_put(&text, "  %s\n", words);
	lt_plan_lines(line, sizeof(line), plan, request, market, now_utc_s);
	/* There is no job yet that those commands could name. */
	char *const commands = strstr(line, COMMANDS);

	if (commands != NULL)
		commands[-1] = '\0';
	lt_text_put(&text, "%s", line);
	lt_notes_text(words, sizeof(words), request, market, plan, now_utc_s);
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
