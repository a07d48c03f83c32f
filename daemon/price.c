/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers what charge.c needs of a run: the shape it ran on, its power, and
 * the rates that held.
 */
#include <stdlib.h>
#include <string.h>

#include "price.h"

static struct lt_resources
resources_of(const struct lt_run *run, const struct lt_partition *partition)
{
	return (struct lt_resources){.nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .memory_mib = run->memory_mib,
	    .exclusive =
		partition && (partition->flags & LT_PARTITION_EXCLUSIVE)};
}

/*
 * Watts of the whole job at the plug: its share of the idle power, its CPUs'
 * part of the CPU power, its GPUs' part of the GPU power, times PUE.
 * docs/model.md, eq. (5).
 */
static double
watts_of(const struct lt_resources *r, struct lt_fraction share,
    const struct lt_partition *p, const struct lt_shape *shapes)
{
	const int index = lt_charge_shape(r, shapes, p->shape_count);
	const double nodes = r->nodes;
	const double part = (double)share.numerator / (double)share.denominator;
	double cpu = part, gpu = part;
	if (index >= 0 && shapes[index].cpus > 0)
		cpu = r->cpus / (nodes * shapes[index].cpus);
	if (index >= 0)
		gpu = shapes[index].gpus > 0
			  ? r->gpus / (nodes * shapes[index].gpus)
			  : 0;
	return nodes * p->pue *
	       (p->node_idle_w * part + p->node_cpu_w * (cpu < 1 ? cpu : 1) +
		   p->node_gpu_w * (gpu < 1 ? gpu : 1));
}

int
lt_price_as(struct lt_charge *charge, const struct lt_run *run,
    const char *partition, int64_t start_utc_s, int64_t end_utc_s,
    struct lt_daemon *d, struct lt_error *err)
{
	struct lt_rate_step *price = NULL, *carbon = NULL;
	struct lt_charge_input input = {.start_utc_s = start_utc_s,
	    .end_utc_s = end_utc_s,
	    .nodes = run->nodes,
	    .share = {1, 1}};
	const int index = lt_market_partition(&d->market, partition);
	*charge = (struct lt_charge){0};
	if (index >= 0) {
		const struct lt_partition *const p =
		    &d->market.partitions[index];
		const struct lt_shape *const shapes =
		    d->market.shapes + p->first_shape;
		const struct lt_resources r = resources_of(run, p);
		input.share = lt_charge_share(&r, shapes, p->shape_count);
		if (r.nodes > 0)
			input.watts = watts_of(&r, input.share, p, shapes);
		input.embodied_g_per_node_hour = p->embodied_g_per_node_hour;
	}
	int code = lt_ledger_rates(d->ledger, partition, LT_RATE_PRICE,
	    start_utc_s, end_utc_s, &price, &input.price.count, err);
	if (code == LT_OK)
		code = lt_ledger_rates(d->ledger, partition, LT_RATE_CARBON,
		    start_utc_s, end_utc_s, &carbon, &input.carbon.count, err);
	input.price.steps = price;
	input.carbon.steps = carbon;
	if (code == LT_OK)
		code = lt_charge_run(charge, &input, err);
	free(price);
	free(carbon);
	return code;
}

int
lt_price_run(struct lt_charge *charge, struct lt_run *run, struct lt_daemon *d,
    struct lt_error *err)
{
	const int index = lt_market_partition(&d->market, run->partition);
	struct lt_fraction share = {1, 1};
	if (index >= 0) {
		const struct lt_partition *const p =
		    &d->market.partitions[index];
		const struct lt_resources r = resources_of(run, p);
		share = lt_charge_share(
		    &r, d->market.shapes + p->first_shape, p->shape_count);
	}
	const int code = lt_price_as(charge, run, run->partition,
	    run->start_utc_s, run->end_utc_s, d, err);
	run->share_numerator = share.numerator;
	run->share_denominator = share.denominator;
	run->priced = charge->priced;
	run->has_carbon = charge->has_carbon;
	run->worst_quality = charge->worst_quality;
	return code;
}
