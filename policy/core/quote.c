/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a quote of a request and its plan. The quote says what was asked, where and when the job
 * runs, what that is expected to cost, against what, by which levers, and why the other candidates
 * lost; and it has the most that the job can be charged, which is held before the job exists:
 * lt_decide() -> lt_quote_hold() -> lt_admit(). quote_text.c writes it into admin_comment.
 *
 * job_submit, SPANK and lowtided decide; all of them fill the quote here. Amounts are rounded once,
 * here. Fails when the nodes or the time limit of a partition are not known, or when an amount
 * passes int64_t.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu_kinds.h"
#include "quote.h"
#include "size.h"
#include "units.h"

/* ---- The plan in the quote ---- */

enum { MIB_PER_GIB = 1024 };

struct lt_amount
lt_amount_of(const struct lt_estimate *estimate)
{
	return (struct lt_amount){
	    estimate->has_cost, estimate->has_carbon, estimate->cost_micros, estimate->carbon_mg};
}

/* ---- why the others lost ---- */

enum { RANKS = 4 };

/* Returns the rank in which a reason is written, from 0; -1 = no candidate. */
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
	const double cut = value < most ? (value > -most ? value : -most) : most;

	return (int64_t)(cut < 0 ? cut - 0.5 : cut + 0.5);
}

void
lt_why_of_plan(struct lt_whys *whys, const struct lt_plan *plan, const struct lt_market *market)
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
			const struct lt_candidate *const from = &plan->candidates[i];
			struct lt_why *const why = &whys->entries[whys->count++];

			memcpy(why->partition, market->partitions[i].name, sizeof(why->partition));
			why->reject = from->reject;
			why->wanted = whole(from->wanted);
			why->found = whole(from->found);
			why->best = lt_amount_of(&from->best);
		}
}

void
lt_quote_set_why(struct lt_quote *quote, const struct lt_plan *plan, const struct lt_market *market)
{
	struct lt_whys whys;

	lt_why_of_plan(&whys, plan, market);
	if (lt_why_pack(quote->why, sizeof(quote->why), &whys) != LT_OK)
		quote->why[0] = '\0';
}

/* ---- the levers of its saving ---- */

/* Home's over there's; 1 where one is nothing, or not known. */
static uint32_t
ratio_ppm(double home, double there)
{
	static const double most = 4e9;
	const double ratio = home * LT_MICROS / there;

	return ratio >= 1 && ratio < most ? (uint32_t)(ratio + 0.5) : (uint32_t)LT_MICROS;
}

bool
lt_levers_of_plan(struct lt_levers *levers, const struct lt_plan *plan)
{
	*levers = (struct lt_levers){0};
	if (!plan->moved || !plan->fits)
		return false;
	*levers = (struct lt_levers){
	    .size_ppm = ratio_ppm(plan->home.task_nodes, plan->chosen.task_nodes),
	    .power_ppm = ratio_ppm(plan->home.task_w, plan->chosen.task_w),
	    .home_then = lt_amount_of(&plan->home_then),
	    .there_now = lt_amount_of(&plan->there_now),
	    .there_slow = lt_amount_of(&plan->there_slow),
	    .room_utc_s = plan->room_utc_s > plan->home.start_utc_s ? plan->room_utc_s : 0};
	return true;
}

void
lt_quote_set_levers(struct lt_quote *quote, const struct lt_plan *plan)
{
	struct lt_levers levers;

	if (!lt_levers_of_plan(&levers, plan) ||
	    lt_levers_pack(quote->levers, sizeof(quote->levers), &levers) != LT_OK)
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
		run->ratio_ppm =
		    (uint32_t)fmin(fmax(chosen->time_ratio * LT_MICROS + 0.5, 1), UINT32_MAX);
	if (!(chosen->expected_interruptions < most_s && chosen->expected_lost_s < most_s))
		return;
	run->interruptions_ppm = llround(chosen->expected_interruptions * LT_MICROS);
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
	    .movable = request->named_count == 0 && request->features[0] == '\0' &&
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
	request->checkpoint = (struct lt_checkpoint){wish->checkpoint, (double)wish->write_s,
	    (double)wish->every_s, (double)wish->size_mib / MIB_PER_GIB, wish->keep, wish->signal};
}

struct lt_wish
lt_wish_none(void)
{
	struct lt_wish wish = {.pins = LT_PIN_FREQUENCY, .deadline_utc_s = LT_UNSET_64};

#define WISH(type, name, unset) wish.name = unset;
	LT_WISHES(WISH)
#undef WISH
	return wish;
}

/* ---- the quote ---- */

void
lt_quote_of_request(struct lt_quote *quote, const struct lt_request *request, enum lt_mode mode)
{
	quote->tasks = request->array_tasks;
	quote->objective = request->objective;
	quote->mode = mode;
	snprintf(quote->account, sizeof(quote->account), "%s", request->account);
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
		snprintf(
		    quote->home, sizeof(quote->home), "%s", partitions[plan->home.partition].name);
	lt_quote_set_base(quote, plan);
	lt_quote_set_compared(quote, plan);
}

/* ---- The hold ---- */

enum {
	PPM = 1000000,
	LIMIT_MAX_S = INT32_MAX, /* 68 years: longer is held as that */
};

/* The share and time of one task on one partition. */
struct task {
	struct lt_share share;
	double part;	 /* that bounds its power */
	int64_t limit_s; /* OverTimeLimit added */
	int64_t start_utc_s, end_utc_s;
	uint32_t margin_ppm;
	bool uses_gpus;
};

/*
 * rate (micros per node-hour) x nodes x share x hours x (1 + margin), each step rounded up, plus 1
 * since settling may round a part up. Nothing for nothing: a rate of 0 or less holds 0.
 */
static bool
hold_money(const struct task *task, double rate, int64_t *micros)
{
	if (!(rate < 9e15))
		return false;
	*micros = 0;
	if (rate <= 0.0)
		return true;
	int64_t node_s;
	if (__builtin_mul_overflow(task->limit_s, (int64_t)task->share.nodes, &node_s))
		return false;
	int64_t amount;
	return lt_scale_up((int64_t)ceil(rate), node_s, LT_HOUR_S, &amount) &&
	       lt_scale_up(amount, task->share.numerator, task->share.denominator, &amount) &&
	       lt_scale_up(amount, (int64_t)PPM + task->margin_ppm, PPM, &amount) &&
	       !__builtin_add_overflow(amount, 1, micros);
}

/*
 * (whole node's power x PUE x intensity + embodied) x nodes x share x hours x (1 + margin), up,
 * plus 1. W x h x g/kWh = mg. The dominant resource bounds the part of each of the node's.
 */
static bool
hold_carbon(
    const struct task *task, const struct lt_partition *partition, double intensity, int64_t *mg)
{
	const double power_w =
	    partition->node_idle_w + partition->node_cpu_w + partition->node_gpu_w;
	const double hours = (double)task->limit_s / LT_HOUR_S;
	const double rate = power_w * partition->pue * fmax(intensity, 0.0) +
			    partition->embodied_g_per_node_hour * 1000.0;
	/* One part in 10^12 for the rounding of doubles. */
	const double amount = rate * task->share.nodes * task->part * hours *
			      (1.0 + (double)task->margin_ppm / PPM) * (1.0 + 1e-12);

	if (!(amount < 9e18))
		return false;
	*mg = amount > 0.0 ? (int64_t)ceil(amount) + 1 : 0;
	return true;
}

/* Adds the charge for the most carbon, rounded up, plus 1. */
static bool
hold_charge(struct lt_amount *amount, const struct lt_market *market)
{
	int64_t micros;

	if (market->charge_micros_per_tonne == 0 || !amount->has_money)
		return true;
	amount->has_money = amount->has_carbon;
	return !amount->has_carbon ||
	       (lt_scale_up(
		    amount->carbon_mg, market->charge_micros_per_tonne, LT_MG_PER_TONNE, &micros) &&
		   !__builtin_add_overflow(micros, amount->carbon_mg > 0, &micros) &&
		   !__builtin_add_overflow(amount->money_micros, micros, &amount->money_micros));
}

/* The amount on one partition; false when it passes int64_t. */
static bool
hold_on(struct lt_amount *amount, const struct task *task, const struct lt_market *market,
    const struct lt_partition *partition)
{
	*amount = (struct lt_amount){0};
	if (partition->price_series != LT_NO_SERIES && market->currency[0] != '\0') {
		const double price = lt_series_max(
		    &market->series[partition->price_series], task->start_utc_s, task->end_utc_s);

		amount->has_money = true;
		if (!hold_money(task, price, &amount->money_micros))
			return false;
	}
	double intensity = partition->worst_intensity;
	if (partition->carbon_series != LT_NO_SERIES)
		intensity = lt_series_max(
		    &market->series[partition->carbon_series], task->start_utc_s, task->end_utc_s);
	else if (intensity <= 0.0)
		return hold_charge(amount, market);
	/* A node without a known power is unknown, not free of carbon; nor are GPUs. */
	amount->has_carbon =
	    partition->node_idle_w + partition->node_cpu_w + partition->node_gpu_w > 0.0 &&
	    !(task->uses_gpus && lt_gpu_power_unknown(market, partition));
	return (!amount->has_carbon ||
		   hold_carbon(task, partition, intensity, &amount->carbon_mg)) &&
	       hold_charge(amount, market);
}

/* How long one task may run on a partition; < 0 when there is no limit. */
static int64_t
task_limit_s(const struct lt_request *request, const struct lt_market *market, int partition)
{
	int64_t limit_s = lt_limit_of(request, market, partition);

	if (limit_s <= 0)
		return LT_UNSET_64;
	if (limit_s > LIMIT_MAX_S)
		limit_s = LIMIT_MAX_S;
	return limit_s + lt_overrun_s(&market->partitions[partition]);
}

/* Returns the latest end: of the last of ceil(tasks / %N) runs from the earliest start on, or the
 * deadline. */
static int64_t
latest_end_s(const struct lt_request *request, int64_t start_utc_s, int64_t limit_s)
{
	int64_t runs = 1, end_utc_s;

	if (request->array_parallel > 0)
		runs = ((int64_t)request->array_tasks + request->array_parallel - 1) /
		       request->array_parallel;
	if (runs < 1)
		runs = 1;
	if (__builtin_add_overflow(start_utc_s, runs * limit_s, &end_utc_s))
		end_utc_s = INT64_MAX;
	return request->deadline_utc_s > end_utc_s ? request->deadline_utc_s : end_utc_s;
}

/* The larger of both in each currency; unknown in one is unknown. */
static void
widen(struct lt_amount *most, const struct lt_amount *amount)
{
	most->has_money &= amount->has_money;
	most->has_carbon &= amount->has_carbon;
	if (amount->money_micros > most->money_micros)
		most->money_micros = amount->money_micros;
	if (amount->carbon_mg > most->carbon_mg)
		most->carbon_mg = amount->carbon_mg;
}

int
lt_quote_hold(struct lt_quote *quote, const struct lt_request *request,
    const struct lt_market *market, const int *partitions, int count, int64_t earliest_start_utc_s,
    struct lt_error *err)
{
	struct lt_amount most = {0};
	int64_t end_utc_s = earliest_start_utc_s;

	if (count <= 0)
		return lt_fail(err, LT_EINPUT, "no partition to price");
	for (int i = 0; i < count; i++) {
		if (partitions[i] < 0 || (uint32_t)partitions[i] >= market->partition_count)
			return lt_fail(err, LT_EBUG, "partition %d of %u", partitions[i],
			    market->partition_count);
		const struct lt_partition *const partition = &market->partitions[partitions[i]];
		if (partition->shape_count == 0)
			return lt_fail(err, LT_ENOENT, "no node of partition %s is known yet",
			    partition->name);
		struct task task = {
		    .share = lt_share_most(request, market, partitions[i]),
		    .limit_s = task_limit_s(request, market, partitions[i]),
		    .start_utc_s = earliest_start_utc_s,
		    .margin_ppm = market->hold_margin_ppm,
		};
		task.part = lt_part_most(request, market, partitions[i], task.share);
		task.uses_gpus = lt_request_wants_gpus(request) || request->shards_per_node > 0 ||
				 task.share.numerator == task.share.denominator;
		if (task.limit_s < 0)
			return lt_fail(err, LT_EINPUT,
			    "no time limit known in partition %s: say --time", partition->name);
		task.end_utc_s = latest_end_s(request, earliest_start_utc_s, task.limit_s);
		struct lt_amount amount;
		if (task.share.denominator <= 0 || task.share.numerator < 0 ||
		    !hold_on(&amount, &task, market, partition))
			return lt_fail(err, LT_EOVERFLOW,
			    "what the job may cost in partition %s passes what can be counted",
			    partition->name);
		if (i == 0)
			most = amount;
		else
			widen(&most, &amount);
		if (task.end_utc_s > end_utc_s)
			end_utc_s = task.end_utc_s;
	}
	quote->hold_per_task = most;
	quote->tasks = request->array_tasks > 0 ? request->array_tasks : 1;
	quote->start_utc_s = earliest_start_utc_s;
	quote->end_utc_s = end_utc_s;
	return LT_OK;
}
