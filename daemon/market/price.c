/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prices a run: where it ran, what it used there, and the rates that held.
 *
 * The place of a run is kept in the ledger, so that jobs outlive their partition's line in the
 * policy, as text: "IDLE CPU GPU PUE EMBODIED EXCLUSIVE" and, for each shape of nodes, "
 * CPUS:GPUS:MIB:SHARDS", on Kubernetes with ":mMILLICORES:KIB", and with ":COUNTxWATTS" for each
 * kind of GPU.
 *
 * Reads the market and the ledger. Without a rate the run is not priced; an error of the ledger is
 * the caller's.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "charge.h"
#include "ledger.h"
#include "log.h"
#include "market.h"
#include "policy_load.h"
#include "price.h"
#include "units.h"

enum { SHAPE_SIZE = 110, KIND_SIZE = 40 };

static_assert(
    LT_PLACE_FACTS_SIZE >= 200 + LT_PLACE_SHAPES_MAX * (SHAPE_SIZE + LT_GPU_KINDS_MAX * KIND_SIZE),
    "all shapes have room");

static int
pack_kinds(char *out, size_t size, const struct lt_shape *shape)
{
	int used = 0;

	for (int i = 0; i < LT_GPU_KINDS_MAX && (size_t)used < size && shape->kinds[i].watts > 0;
	     i++)
		used += snprintf(out + used, size - (size_t)used, ":%ux%.17g",
		    shape->kinds[i].count, shape->kinds[i].watts);
	return used;
}

static int
pack_exact(char *out, size_t size, const struct lt_exact *exact)
{
	if (exact->cpu_milli == 0)
		return 0;
	return snprintf(out, size, ":m%" PRIu64 ":%" PRIu64 ":g%" PRIu64, exact->cpu_milli,
	    exact->memory_kib, exact->gpu_micro);
}

/* Behind it. */
static const char *
unpack_exact(struct lt_exact *exact, const char *text)
{
	int at = 0, gpus_at = 0;

	*exact = (struct lt_exact){0};
	if (sscanf(text, ":m%" SCNu64 ":%" SCNu64 "%n:g%" SCNu64 "%n", &exact->cpu_milli,
		&exact->memory_kib, &at, &exact->gpu_micro, &gpus_at) >= 2)
		return text + (gpus_at > 0 ? gpus_at : at);
	*exact = (struct lt_exact){0};
	return text;
}

/* Reads the kinds; returns the text behind them. */
static const char *
unpack_kinds(struct lt_shape *shape, const char *text)
{
	unsigned count;
	int at = 0;

	for (int i = 0; i < LT_GPU_KINDS_MAX; i++, text += at) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];

		if (sscanf(text, ":%ux%lg%n", &count, &kind->watts, &at) != 2)
			break;
		kind->count = count;
		kind->gpu_index = -1;
	}
	return text;
}

void
lt_place_pack(char *out, size_t size, const struct lt_place *place)
{
	int used =
	    snprintf(out, size, "%.17g %.17g %.17g %.17g %.17g %d", place->idle_w, place->cpu_w,
		place->gpu_w, place->pue, place->embodied_g_per_node_hour, place->exclusive);

	for (uint32_t i = 0; i < place->shape_count && (size_t)used < size; i++) {
		used += snprintf(out + used, size - (size_t)used, " %u:%u:%" PRIu64 ":%u",
		    place->shapes[i].cpus, place->shapes[i].gpus, place->shapes[i].memory_mib,
		    place->shapes[i].shards);
		if ((size_t)used < size)
			used +=
			    pack_exact(out + used, size - (size_t)used, &place->shapes[i].exact);
		if ((size_t)used < size)
			used += pack_kinds(out + used, size - (size_t)used, &place->shapes[i]);
	}
}

bool
lt_place_unpack(struct lt_place *place, const char *text)
{
	int exclusive, at = 0;

	*place = (struct lt_place){0};
	if (sscanf(text, "%lg %lg %lg %lg %lg %d%n", &place->idle_w, &place->cpu_w, &place->gpu_w,
		&place->pue, &place->embodied_g_per_node_hour, &exclusive, &at) != 6)
		return false;
	place->exclusive = exclusive != 0;
	for (text += at; *text != '\0';) {
		struct lt_shape *const s = &place->shapes[place->shape_count];
		unsigned cpus, gpus, shards;

		if (place->shape_count == LT_PLACE_SHAPES_MAX ||
		    sscanf(text, " %u:%u:%" SCNu64 ":%u%n", &cpus, &gpus, &s->memory_mib, &shards,
			&at) != 4)
			return false;
		s->cpus = cpus;
		s->gpus = gpus;
		s->shards = shards;
		place->shape_count++;
		text = unpack_kinds(s, unpack_exact(&s->exact, text + at));
	}
	place->known = true;
	return true;
}

static void
of_market(struct lt_place *place, const struct lt_partition *p, const struct lt_market *market)
{
	/* Each run asks: its many shapes are not cleared first. */
	place->known = true;
	place->left_utc_s = 0;
	place->idle_w = p->node_idle_w;
	place->cpu_w = p->node_cpu_w;
	place->gpu_w = p->node_gpu_w;
	place->pue = p->pue;
	place->embodied_g_per_node_hour = p->embodied_g_per_node_hour;
	place->exclusive = (p->flags & LT_PARTITION_EXCLUSIVE) != 0;
	place->shape_count = 0;
	for (uint32_t i = 0; i < p->shape_count && place->shape_count < LT_PLACE_SHAPES_MAX; i++)
		place->shapes[place->shape_count++] = market->shapes[p->first_shape + i];
}

void
lt_place_of(struct lt_place *place, const struct lt_market *market, struct lt_ledger *ledger,
    const char *partition)
{
	struct lt_place_kept kept;
	const int index = lt_market_partition(market, partition);
	const struct lt_partition *const p = index < 0 ? NULL : &market->partitions[index];

	if (p != NULL && (p->flags & LT_PARTITION_MANAGED)) {
		of_market(place, p, market);
		return;
	}
	*place = (struct lt_place){0};
	if (lt_ledger_place(ledger, partition, &kept, NULL) == LT_OK &&
	    lt_place_unpack(place, kept.facts)) {
		place->left_utc_s = kept.left_utc_s;
	} else if (p != NULL) {
		of_market(place, p, market);
		place->known = false;
	}
}

bool
lt_place_charges(const struct lt_place *place, const struct lt_run *run, struct lt_ledger *ledger)
{
	struct lt_ledger_hold hold;

	/* The pass in which the partition left still ingests what was submitted just before. */
	return place->left_utc_s == 0 || run->start_utc_s <= place->left_utc_s ||
	       (run->quote_id != 0 && lt_ledger_hold(ledger, run->quote_id, &hold, NULL) == LT_OK &&
		   hold.made_utc_s <= place->left_utc_s);
}

static int
note_place(const struct lt_market *market, struct lt_ledger *ledger, const struct lt_partition *p,
    struct lt_error *err)
{
	struct lt_place_kept known;
	char text[sizeof(known.facts)];
	struct lt_place place;

	of_market(&place, p, market);
	lt_place_pack(text, sizeof(text), &place);
	if (lt_ledger_place(ledger, p->name, &known, NULL) == LT_OK && known.left_utc_s == 0 &&
	    strcmp(text, known.facts) == 0)
		return LT_OK;
	return lt_ledger_put_place(ledger, p->name, text, 0, err);
}

static int
note_left(struct lt_ledger *ledger, const struct lt_policy *policy, int64_t now_utc_s,
    struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	struct lt_place_kept kept;
	uint32_t count = 0;
	int code = lt_ledger_places(ledger, &names, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		if (lt_policy_partition_find(policy, names[i]) != NULL)
			continue;
		code = lt_ledger_place(ledger, names[i], &kept, err);
		if (code == LT_OK)
			code = lt_ledger_put_place(ledger, names[i], kept.facts, now_utc_s, err);
		lt_log("partition_left", "partition=%s", names[i]);
	}
	free(names);
	return code;
}

int
lt_places_note(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < market->partition_count; i++) {
		const struct lt_partition *const p = &market->partitions[i];

		/* The market may be older than the policy. */
		if ((p->flags & LT_PARTITION_MANAGED) &&
		    lt_policy_partition_find(policy, p->name) != NULL)
			code = note_place(market, ledger, p, err);
	}
	return code == LT_OK ? note_left(ledger, policy, now_utc_s, err) : code;
}

static struct lt_resources
resources_of(const struct lt_run *run, const struct lt_place *place)
{
	return (struct lt_resources){.nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .shards = run->shards,
	    .memory_mib = run->memory_mib,
	    .exclusive = place->exclusive,
	    .exact = run->size.pod};
}

/* Narrows the place to the node that a pod was on, whether that is still there or not, as its share
 * and power are that node's: by the GPUs of a node with as many. */
static void
narrow(struct lt_place *place, const struct lt_run *run)
{
	const struct lt_pod_size *const size = &run->size;
	struct lt_shape own = {.gpus = size->node_gpus, .gpu_index = -1};

	if (size->node.cpu_milli == 0)
		return;
	for (uint32_t i = 0; i < place->shape_count; i++)
		if (place->shapes[i].gpus == size->node_gpus)
			own = place->shapes[i];
	own.cpus = (uint32_t)(size->node.cpu_milli / 1000);
	own.memory_mib = size->node.memory_kib / 1024;
	own.exact = size->node;
	place->shapes[0] = own;
	place->shape_count = 1;
}

/* Returns the suspended part of its time, 0 to 1. */
static double
suspended_part(const struct lt_run *run)
{
	const int64_t length = run->end_utc_s - run->start_utc_s;

	return length > 0 ? (double)run->suspended_s / (double)length : 0;
}

struct lt_fraction
lt_suspended_share(
    const struct lt_run *run, const struct lt_market *market, struct lt_ledger *ledger)
{
	struct lt_place place;

	if (run->suspended_s == 0)
		return (struct lt_fraction){0, 1};
	lt_place_of(&place, market, ledger, run->partition);
	const struct lt_resources r = resources_of(run, &place);
	return lt_kept_share(&r, &place);
}

struct site { /* where a run is priced */
	const char *partition;
	const struct lt_place *place;
	struct lt_ledger *ledger;
};

static int
price_at(struct lt_charge *charge, struct lt_charge_input *input, const struct site *site,
    struct lt_error *err)
{
	const bool has_power = lt_place_has_power(site->place);
	const struct {
		enum lt_rate rate;
		bool is_asked;
		struct lt_rates *to;
	} all[] = {{LT_RATE_PRICE, true, &input->price},
	    {LT_RATE_CARBON, has_power, &input->carbon}, {LT_RATE_PUE, has_power, &input->pues},
	    {LT_RATE_EMBODIED, has_power, &input->embodied},
	    {LT_RATE_CHARGE, true, &input->carbon_charge}};
	enum { ALL = sizeof(all) / sizeof(all[0]) };
	struct lt_rate_step *steps[ALL] = {NULL};
	int code = LT_OK;

	for (int i = 0; code == LT_OK && i < ALL; i++) {
		if (all[i].is_asked)
			code = lt_ledger_rates(site->ledger,
			    &(struct lt_rates_asked){.partition = site->partition,
				.rate = all[i].rate,
				.span = {input->start_utc_s, input->end_utc_s}},
			    &steps[i], &all[i].to->count, err);
		all[i].to->steps = steps[i];
	}
	if (code == LT_OK)
		code = lt_charge_run(charge, input, err);
	for (int i = 0; i < ALL; i++)
		free(steps[i]);
	return code;
}

/* Returns share x ppm; a numerator that is too large for that is rounded down. */
static struct lt_fraction
times_ppm(struct lt_fraction share, int64_t ppm)
{
	int64_t numerator;

	if (!__builtin_mul_overflow(share.numerator, ppm, &numerator) &&
	    share.denominator <= INT64_MAX / LT_MICROS)
		return (struct lt_fraction){numerator, share.denominator * LT_MICROS};
	return (struct lt_fraction){
	    (int64_t)((double)share.numerator * (double)ppm / LT_MICROS), share.denominator};
}

/* Makes the run as large there as it was decided, by what it has here. */
static void
resize(struct lt_charge_input *input, const struct lt_run *run, const struct lt_elsewhere *there,
    const struct lt_market *market, struct lt_ledger *ledger)
{
	struct lt_charge_input here = {0};
	struct lt_place place;

	lt_place_of(&place, market, ledger, run->partition);
	narrow(&place, run);
	const struct lt_resources used = resources_of(run, &place);
	lt_usage_of(&here, &used, &place);
	input->nodes = here.nodes;
	input->share = times_ppm(here.share, there->size_ppm);
	input->watts = here.watts * there->power_ppm / LT_MICROS;
	input->pue = 0; /* power_ppm has both */
}

int
lt_price_undisturbed(struct lt_charge *charge, const struct lt_run *run,
    const struct lt_elsewhere *there, const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_error *err)
{
	struct lt_place place;
	const struct site site = {there->partition, &place, ledger};
	struct lt_charge_input input = {
	    .start_utc_s = there->span.from_utc_s, .end_utc_s = there->span.to_utc_s};

	*charge = (struct lt_charge){0};
	lt_place_of(&place, market, ledger, site.partition);
	if (strcmp(site.partition, run->partition) == 0)
		narrow(&place, run);
	const struct lt_resources used = resources_of(run, &place);
	lt_usage_of(&input, &used, &place);
	if (there->size_ppm > 0)
		resize(&input, run, there, market, ledger);
	return price_at(charge, &input, &site, err);
}

int
lt_price_run(struct lt_charge *charge, struct lt_run *run, const struct lt_priced_by *by,
    struct lt_error *err)
{
	struct lt_place place;
	const struct site site = {run->partition, &place, by->ledger};
	struct lt_charge_input input = {.start_utc_s = run->start_utc_s,
	    .end_utc_s = run->end_utc_s,
	    .offsets = by->offsets,
	    .suspended = suspended_part(run)};

	*charge = (struct lt_charge){0};
	lt_place_of(&place, by->market, by->ledger, site.partition);
	narrow(&place, run);
	const struct lt_resources used = resources_of(run, &place);
	lt_usage_of(&input, &used, &place);
	const int code = price_at(charge, &input, &site, err);
	struct lt_fraction share = input.share;
	if (code == LT_OK && run->gpus_from == LT_GPUS_UNKNOWN) {
		/* Missing is never zero: neither a price nor a share. */
		lt_charge_free(charge);
		share = (struct lt_fraction){0, 1};
	} else if (code == LT_OK && !lt_place_charges(&place, run, by->ledger)) {
		lt_charge_free(charge);
	}
	run->share_numerator = share.numerator;
	run->share_denominator = share.denominator;
	run->priced = charge->priced;
	run->has_carbon = charge->has_carbon;
	if (charge->worst_quality > run->worst_quality)
		run->worst_quality = charge->worst_quality;
	return code;
}

struct lt_amount
lt_so_far(const struct lt_batch_job *job, const struct lt_market *market, struct lt_ledger *ledger,
    int64_t now_utc_s)
{
	struct lt_amount cost = {0};
	struct lt_charge charge = {0};
	struct lt_run run = {.key = {job->job_id, job->submit_utc_s},
	    .array_job_id = job->array_job_id,
	    .uid = job->uid,
	    .start_utc_s = job->start_utc_s,
	    .end_utc_s = now_utc_s,
	    .nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .size.pod = job->exact,
	    .suspended_s = job->suspended_s,
	    .gpus_from = LT_GPUS_SLURMCTLD};

	if ((job->state != LT_JOB_RUNNING && job->state != LT_JOB_SUSPENDED) ||
	    job->start_utc_s == 0 || job->start_utc_s > now_utc_s)
		return cost;
	snprintf(run.account, sizeof(run.account), "%s", job->account);
	snprintf(run.partition, sizeof(run.partition), "%.*s", (int)strcspn(job->partition, ","),
	    job->partition);
	if (lt_price_run(&charge, &run, &(struct lt_priced_by){.market = market, .ledger = ledger},
		NULL) != LT_OK)
		return cost;
	cost = (struct lt_amount){.has_money = charge.priced,
	    .has_carbon = charge.has_carbon,
	    .money_micros = llround(charge.money_micros),
	    .carbon_mg = llround(charge.carbon_mg)};
	lt_charge_free(&charge);
	return cost;
}
