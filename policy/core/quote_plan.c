/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request and its plan into a quote: what was asked, where and when the job
 * runs and what that is expected to cost, against what, by which levers, and
 * why the other candidates lost. job_submit, SPANK and lowtided decide; this is
 * the only place that writes a decision into a quote. Its hold is made in
 * quote.c, its text in quote_text.c. Nothing here fails: what can't be written
 * is left out of the quote.
 */
#include "quote.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

enum { MIB_PER_GIB = 1024 };

struct lt_amount
lt_amount_of(const struct lt_estimate *estimate)
{
	return (struct lt_amount){estimate->has_cost, estimate->has_carbon,
	    estimate->cost_micros, estimate->carbon_mg};
}

/* ---- why the others lost ---- */

enum { RANKS = 4 };

/* Rank by which a reason is told, from 0; -1 = no candidate. */
static int
rank_of(enum lt_reject reject)
{
	switch (reject) {
	case LT_REJECT_NONE:
		return 0;
	case LT_REJECT_DEARER:
		return 1;
	case LT_REJECT_PINNED:
		return 3;
	case LT_REJECT_UNMANAGED:
		return -1;
	default:
		return 2;
	}
}

/* Half away from zero; far from anything real a large number. */
static int64_t
whole(double value)
{
	static const double most = 1e18;
	const double cut =
	    value < most ? (value > -most ? value : -most) : most;

	return (int64_t)(cut < 0 ? cut - 0.5 : cut + 0.5);
}

void
lt_why_of_plan(struct lt_whys *whys, const struct lt_plan *plan,
    const struct lt_market *market)
{
	assert(plan->candidate_count <= market->partition_count);

	uint16_t first[RANKS][LT_WHY_MAX]; /* of each rank, by index */
	uint32_t counts[RANKS] = {0};

	memset(whys, 0, sizeof(*whys));
	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		const int rank = rank_of(plan->candidates[i].reject);

		if (rank < 0)
			continue;
		if (counts[rank] < LT_WHY_MAX)
			first[rank][counts[rank]] = (uint16_t)i;
		counts[rank]++;
	}
	for (int rank = 0; rank < RANKS; rank++)
		for (uint32_t k = 0; k < counts[rank]; k++) {
			if (whys->count == LT_WHY_MAX) {
				whys->more += counts[rank] - k;
				break;
			}
			const uint16_t i = first[rank][k];
			const struct lt_candidate *const from =
			    &plan->candidates[i];
			struct lt_why *const why =
			    &whys->entries[whys->count++];

			memcpy(why->partition, market->partitions[i].name,
			    sizeof(why->partition));
			why->reject = from->reject;
			why->wanted = whole(from->wanted);
			why->found = whole(from->found);
			why->best = lt_amount_of(&from->best);
		}
}

void
lt_quote_set_why(struct lt_quote *quote, const struct lt_plan *plan,
    const struct lt_market *market)
{
	struct lt_whys whys;

	lt_why_of_plan(&whys, plan, market);
	if (lt_why_pack(quote->why, sizeof(quote->why), &whys) != LT_OK)
		quote->why[0] = '\0';
}

/* ---- by which levers it saves ---- */

/* Home's over there's; 1 where one is nothing, or not known. */
static uint32_t
ratio_ppm(double home, double there)
{
	static const double most = 4e9;
	const double ratio = home * LT_MICROS / there;

	return ratio >= 1 && ratio < most ? (uint32_t)(ratio + 0.5)
					  : (uint32_t)LT_MICROS;
}

bool
lt_levers_of_plan(struct lt_levers *levers, const struct lt_plan *plan)
{
	*levers = (struct lt_levers){0};
	if (!plan->moved || !plan->fits)
		return false;
	*levers = (struct lt_levers){
	    .size_ppm =
		ratio_ppm(plan->home.task_nodes, plan->chosen.task_nodes),
	    .power_ppm = ratio_ppm(plan->home.task_w, plan->chosen.task_w),
	    .home_then = lt_amount_of(&plan->home_then),
	    .there_now = lt_amount_of(&plan->there_now),
	    .there_slow = lt_amount_of(&plan->there_slow),
	    .room_utc_s = plan->room_utc_s > plan->home.start_utc_s
			      ? plan->room_utc_s
			      : 0};
	return true;
}

void
lt_quote_set_levers(struct lt_quote *quote, const struct lt_plan *plan)
{
	struct lt_levers levers;

	if (!lt_levers_of_plan(&levers, plan) ||
	    lt_levers_pack(quote->levers, sizeof(quote->levers), &levers) !=
		LT_OK)
		quote->levers[0] = '\0';
}

void
lt_quote_set_base(struct lt_quote *quote, const struct lt_plan *plan)
{
	quote->home_expected = lt_amount_of(lt_plan_base(plan));
	if (!plan->fits && plan->elsewhere.partition >= 0)
		quote->flags |= LT_QUOTE_NOT_HOME;
}

void
lt_quote_set_compared(struct lt_quote *quote, const struct lt_plan *plan)
{
	quote->flags |= plan->compared == LT_COMPARED_MOVED  ? LT_QUOTE_COMPARED
			: plan->compared == LT_COMPARED_KEPT ? LT_QUOTE_HELD_OUT
							     : 0;
}

/* ---- how long it runs ---- */

static void
expect(struct lt_quote_run *run, const struct lt_estimate *chosen)
{
	static const double most_s = 1e12;

	run->ratio_ppm = LT_MICROS;
	run->interruptions_ppm = run->lost_s = 0;
	/* Seconds on one GPU over days on another may be any number. */
	if (chosen->time_ratio > 0)
		run->ratio_ppm = (uint32_t)fmin(
		    fmax(chosen->time_ratio * LT_MICROS + 0.5, 1), UINT32_MAX);
	if (!(chosen->expected_interruptions < most_s &&
		chosen->expected_lost_s < most_s))
		return;
	run->interruptions_ppm =
	    llround(chosen->expected_interruptions * LT_MICROS);
	if (run->interruptions_ppm > 0)
		run->lost_s = llround(chosen->expected_lost_s);
}

void
lt_quote_set_run(struct lt_quote *quote, const struct lt_quote_run *run,
    const struct lt_estimate *chosen, const struct lt_capped *capped)
{
	struct lt_quote_run all = *run;

	expect(&all, chosen);
	all.capped = capped != NULL ? *capped : (struct lt_capped){0};
	if (all.limit_s < 0)
		all.limit_s = 0;
	if (lt_quote_run_pack(quote->run, sizeof(quote->run), &all) != LT_OK)
		quote->run[0] = '\0';
}

/* ---- what was asked ---- */

void
lt_wish_of_request(struct lt_wish *wish, const struct lt_request *request)
{
	*wish = (struct lt_wish){.known = true,
	    .movable =
		request->named_count == 0 && request->features[0] == '\0' &&
		request->gpu_type[0] == '\0' && request->tmp_disk_mib == 0 &&
		request->excluded_nodes == 0 && request->cores_per_socket == 0,
	    .pins = request->pins,
	    .deadline_utc_s = request->deadline_utc_s,
	    .precision = request->precision,
	    .checkpoint = request->checkpoint.enabled,
	    .write_s = llround(request->checkpoint.write_s),
	    .every_s = llround(request->checkpoint.every_s),
	    .size_mib = llround(request->checkpoint.size_gib * MIB_PER_GIB),
	    .keep = request->checkpoint.keep,
	    .signal = request->checkpoint.signal,
	    .script_hash = request->script_hash,
	    .asked = request->asked};
#define WISH(type, name, unset) wish->name = request->name;
	LT_WISHES(WISH)
#undef WISH
}

void
lt_wish_lay(struct lt_request *request, const struct lt_wish *wish)
{
	request->pins = wish->pins;
	request->deadline_utc_s = wish->deadline_utc_s;
#define WISH(type, name, unset) request->name = wish->name;
	LT_WISHES(WISH)
#undef WISH
	request->precision = wish->precision;
	request->asked = wish->asked;
	/* --amp=auto is as good as nothing said, where no rule is. */
	request->precision_said = wish->precision != LT_PRECISION_AUTO;
	request->script_hash = wish->script_hash;
	request->checkpoint = (struct lt_checkpoint){wish->checkpoint,
	    (double)wish->write_s, (double)wish->every_s,
	    (double)wish->size_mib / MIB_PER_GIB, wish->keep, wish->signal};
}

struct lt_wish
lt_wish_none(void)
{
	struct lt_wish wish = {
	    .pins = LT_PIN_FREQUENCY, .deadline_utc_s = LT_UNSET_64};

#define WISH(type, name, unset) wish.name = unset;
	LT_WISHES(WISH)
#undef WISH
	return wish;
}

/* ---- the quote ---- */

void
lt_quote_of_request(
    struct lt_quote *quote, const struct lt_request *request, enum lt_mode mode)
{
	quote->tasks = request->array_tasks;
	quote->objective = request->objective;
	quote->mode = mode;
	snprintf(
	    quote->account, sizeof(quote->account), "%s", request->account);
	if (request->checkpoint.enabled)
		quote->flags |= LT_QUOTE_CHECKPOINT;
	if (request->plane)
		quote->flags |= LT_QUOTE_PLANE;
}

void
lt_quote_of_plan(struct lt_quote *quote, const struct lt_case *of)
{
	const struct lt_partition *const partitions = of->market->partitions;
	const struct lt_plan *const plan = of->plan;

	assert(plan->chosen.partition >= 0);
	quote->plan_expected = lt_amount_of(&plan->chosen);
	lt_quote_set_levers(quote, plan);
	if (of->run.kind != 0)
		lt_quote_set_run(quote, &of->run, &plan->chosen, &plan->capped);
	if (of->kind == LT_CASE_STANDS)
		return;
	quote->plan_start_utc_s = plan->chosen.start_utc_s;
	snprintf(quote->partition, sizeof(quote->partition), "%s",
	    partitions[plan->chosen.partition].name);
	if (quote->objective != LT_OBJECTIVE_OFF)
		lt_quote_set_why(quote, plan, of->market);
	if (of->kind == LT_CASE_AGAIN)
		return;
	assert(plan->home.partition >= 0);
	quote->home_start_utc_s = plan->home.start_utc_s;
	if (quote->home[0] == '\0')
		snprintf(quote->home, sizeof(quote->home), "%s",
		    partitions[plan->home.partition].name);
	lt_quote_set_base(quote, plan);
	lt_quote_set_compared(quote, plan);
}
