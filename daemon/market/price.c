/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers what a charge needs of a run: where it ran, what it used there, and
 * the rates that held.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "market.h"
#include "place.h"
#include "price.h"
#include "units.h"
#include "charge.h"

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

/* A pod's share and power are of the node that it was on, be that there still
 * or not: of the GPUs of a node with as many. */
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

/* The part of its time in which it was suspended, 0 to 1. */
static double
suspended_part(const struct lt_run *run)
{
	const int64_t length = run->end_utc_s - run->start_utc_s;

	return length > 0 ? (double)run->suspended_s / (double)length : 0;
}

struct lt_fraction
lt_suspended_share(const struct lt_run *run, const struct lt_market *market,
    struct lt_ledger *ledger)
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
price_at(struct lt_charge *charge, struct lt_charge_input *input,
    const struct site *site, struct lt_error *err)
{
	const bool has_power = lt_place_has_power(site->place);
	const struct {
		enum lt_rate rate;
		bool is_asked;
		struct lt_rates *to;
	} all[] = {{LT_RATE_PRICE, true, &input->price},
	    {LT_RATE_CARBON, has_power, &input->carbon},
	    {LT_RATE_PUE, has_power, &input->pues},
	    {LT_RATE_EMBODIED, has_power, &input->embodied},
	    {LT_RATE_CHARGE, true, &input->carbon_charge}};
	enum { ALL = sizeof(all) / sizeof(all[0]) };
	struct lt_rate_step *steps[ALL] = {NULL};
	int code = LT_OK;

	for (int i = 0; code == LT_OK && i < ALL; i++) {
		if (all[i].is_asked)
			code = lt_ledger_rates(site->ledger,
			    &(struct lt_rates_asked){site->partition,
				all[i].rate,
				{input->start_utc_s, input->end_utc_s}},
			    &steps[i], &all[i].to->count, err);
		all[i].to->steps = steps[i];
	}
	if (code == LT_OK)
		code = lt_charge_run(charge, input, err);
	for (int i = 0; i < ALL; i++)
		free(steps[i]);
	return code;
}

/* share x ppm; a numerator that is too large for that is rounded down. */
static struct lt_fraction
times_ppm(struct lt_fraction share, int64_t ppm)
{
	int64_t numerator;

	if (!__builtin_mul_overflow(share.numerator, ppm, &numerator) &&
	    share.denominator <= INT64_MAX / LT_MICROS)
		return (struct lt_fraction){
		    numerator, share.denominator * LT_MICROS};
	return (struct lt_fraction){
	    (int64_t)((double)share.numerator * (double)ppm / LT_MICROS),
	    share.denominator};
}

/* As large there as it was decided, by what it has here. */
static void
resize(struct lt_charge_input *input, const struct lt_run *run,
    const struct lt_elsewhere *there, const struct lt_market *market,
    struct lt_ledger *ledger)
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
    const struct lt_elsewhere *there, const struct lt_market *market,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_place place;
	const struct site site = {there->partition, &place, ledger};
	struct lt_charge_input input = {.start_utc_s = there->span.from_utc_s,
	    .end_utc_s = there->span.to_utc_s};

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
lt_price_run(struct lt_charge *charge, struct lt_run *run,
    const struct lt_priced_by *by, struct lt_error *err)
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
	} else if (code == LT_OK &&
		   !lt_place_charges(&place, run, by->ledger)) {
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
