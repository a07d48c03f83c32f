/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers what charge.c needs of a run: the shape it ran on, its power, and
 * the rates that held.
 */
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "price.h"

static struct lt_resources
resources_of(const struct lt_run *run, const struct lt_place *place)
{
	return (struct lt_resources){.nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .shards = run->shards,
	    .memory_mib = run->memory_mib,
	    .exclusive = place->exclusive};
}

static double
part_of(double used, double full)
{
	return full > 0 ? used / full : 0;
}

/*
 * Watts of the whole job at the plug: its share of the idle power, its CPUs'
 * part of the CPU power, its GPUs' part of the GPU power, times PUE.
 * docs/model.md, eq. (5).
 */
static double
watts_of(const struct lt_resources *r, struct lt_fraction share,
    const struct lt_place *p)
{
	const int index = lt_charge_shape(r, p->shapes, p->shape_count);
	const double nodes = r->nodes;
	const double part = (double)share.numerator / (double)share.denominator;
	double cpu = part, gpu = part;
	if (index >= 0 && p->shapes[index].cpus > 0)
		cpu = r->cpus / (nodes * p->shapes[index].cpus);
	if (index >= 0)
		gpu = part_of(r->gpus, nodes * p->shapes[index].gpus) +
		      part_of(r->shards, nodes * p->shapes[index].shards);
	return nodes * p->pue *
	       (p->idle_w * part + p->cpu_w * (cpu < 1 ? cpu : 1) +
		   p->gpu_w * (gpu < 1 ? gpu : 1));
}

/* What a suspended job keeps: memory, GPUs and shards of them; Slurm gives its
 * CPUs away. */
static struct lt_resources
kept_of(const struct lt_resources *r)
{
	struct lt_resources kept = *r;
	kept.cpus = 0;
	kept.exclusive = false;
	return kept;
}

/* Of the shape that its share is of. */
static struct lt_fraction
kept_share(const struct lt_resources *r, const struct lt_place *p)
{
	const struct lt_fraction none = {0, 1}, whole = {1, 1};
	const struct lt_resources kept = kept_of(r);
	const int index = lt_charge_shape(r, p->shapes, p->shape_count);
	if (kept.gpus == 0 && kept.shards == 0 && kept.memory_mib == 0)
		return none;
	return index < 0 ? whole : lt_charge_share(&kept, &p->shapes[index], 1);
}

/* The part of its time in which it was suspended, 0 to 1. */
static double
suspended_part(const struct lt_run *run)
{
	const int64_t length = run->end_utc_s - run->start_utc_s;
	return length > 0 ? (double)run->suspended_s / (double)length : 0;
}

struct lt_fraction
lt_suspended_share(const struct lt_run *run, const struct lt_daemon *d)
{
	struct lt_place place;
	if (run->suspended_s == 0)
		return (struct lt_fraction){0, 1};
	lt_place_of(&place, d, run->partition);
	const struct lt_resources r = resources_of(run, &place);
	return kept_share(&r, &place);
}

static void
size_of(struct lt_charge_input *input, const struct lt_run *run,
    const struct lt_place *place)
{
	const struct lt_resources r = resources_of(run, place);
	const struct lt_resources kept = kept_of(&r);
	input->share = lt_charge_share(&r, place->shapes, place->shape_count);
	input->suspended_share = kept_share(&r, place);
	if (r.nodes > 0) {
		input->watts = watts_of(&r, input->share, place);
		input->suspended_watts =
		    watts_of(&kept, input->suspended_share, place);
	}
	input->embodied_g_per_node_hour = place->embodied_g_per_node_hour;
}

static int
price_at(struct lt_charge *charge, struct lt_charge_input *input,
    const struct lt_place *place, const char *partition, struct lt_daemon *d,
    struct lt_error *err)
{
	struct lt_rate_step *price = NULL, *carbon = NULL;
	int code = lt_ledger_rates(d->ledger, partition, LT_RATE_PRICE,
	    input->start_utc_s, input->end_utc_s, &price, &input->price.count,
	    err);
	if (code == LT_OK)
		code = lt_ledger_rates(d->ledger, partition, LT_RATE_CARBON,
		    input->start_utc_s, input->end_utc_s, &carbon,
		    &input->carbon.count, err);
	input->price.steps = price;
	input->carbon.steps = carbon;
	/* A node without a known power is unknown, not free of carbon. */
	if (place->idle_w + place->cpu_w + place->gpu_w <= 0)
		input->carbon.count = 0;
	if (code == LT_OK)
		code = lt_charge_run(charge, input, err);
	free(price);
	free(carbon);
	return code;
}

int
lt_price_as(struct lt_charge *charge, const struct lt_run *run,
    const char *partition, int64_t start_utc_s, int64_t end_utc_s,
    struct lt_daemon *d, struct lt_error *err)
{
	struct lt_place place;
	struct lt_charge_input input = {.start_utc_s = start_utc_s,
	    .end_utc_s = end_utc_s,
	    .nodes = run->nodes,
	    .suspended = suspended_part(run)};
	*charge = (struct lt_charge){0};
	lt_place_of(&place, d, partition);
	size_of(&input, run, &place);
	return price_at(charge, &input, &place, partition, d, err);
}

int
lt_price_run(struct lt_charge *charge, struct lt_run *run, struct lt_daemon *d,
    struct lt_error *err)
{
	struct lt_place place;
	struct lt_charge_input input = {.start_utc_s = run->start_utc_s,
	    .end_utc_s = run->end_utc_s,
	    .nodes = run->nodes,
	    .suspended = suspended_part(run)};
	*charge = (struct lt_charge){0};
	lt_place_of(&place, d, run->partition);
	size_of(&input, run, &place);
	const int code =
	    price_at(charge, &input, &place, run->partition, d, err);
	struct lt_fraction share = input.share;
	if (code == LT_OK && run->gpus_from == LT_GPUS_UNKNOWN) {
		/* Missing is never zero: neither a price nor a share. */
		lt_charge_free(charge);
		share = (struct lt_fraction){0, 1};
	} else if (code == LT_OK && !lt_place_charges(&place, run, d)) {
		lt_charge_free(charge);
	}
	run->share_numerator = share.numerator;
	run->share_denominator = share.denominator;
	run->priced = charge->priced;
	run->has_carbon = charge->has_carbon;
	run->worst_quality = charge->worst_quality;
	return code;
}
