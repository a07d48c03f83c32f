/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a finished run costs, hour by hour. Pure arithmetic; settle.c feeds it
 * from slurmdbd and the ledger's rates.
 */
#ifndef LT_CHARGE_H
#define LT_CHARGE_H

#include "ledger.h"

struct lt_resources { /* of the whole job, as AllocTRES has them */
	uint32_t nodes, cpus, gpus;
	uint64_t memory_mib; /* 0 = not counted */
	bool exclusive;
};

struct lt_fraction {
	int64_t numerator, denominator;
}; /* lowest terms */

/*
 * Share of the job's nodes: the largest of its GPUs, CPUs and memory over
 * those of as many nodes of the smallest shape that can hold it; at most 1;
 * 1 if exclusive or when no shape is known.
 */
struct lt_fraction lt_charge_share(const struct lt_resources *resources,
    const struct lt_shape *shapes, uint32_t shape_count);

/* The shape that lt_charge_share() took; -1 = none. */
int lt_charge_shape(const struct lt_resources *resources,
    const struct lt_shape *shapes, uint32_t shape_count);

struct lt_rates { /* of one kind over the run; count 0 = never known */
	uint32_t count;
	const struct lt_rate_step *steps; /* rising, as lt_ledger_rates() */
};

/* Over [from, to) in value x seconds, as a charge has it; *worst is raised to
 * the worst quality met. */
double lt_rates_integral(const struct lt_rates *rates, int64_t from_utc_s,
    int64_t to_utc_s, enum lt_quality *worst);

struct lt_charge_input {
	int64_t start_utc_s, end_utc_s;
	uint32_t nodes;
	struct lt_fraction share;
	double watts; /* of the job, at the plug, PUE in it */
	double embodied_g_per_node_hour;
	struct lt_rates price, carbon;
};

struct lt_charge_hour {	  /* part of one UTC hour; exact, not yet rounded */
	int64_t at_utc_s; /* start of the part */
	double money_micros, carbon_mg, energy_wh;
};

struct lt_charge {
	bool priced, has_carbon; /* a rate is missing: false, never zero */
	double money_micros, carbon_mg, energy_wh; /* the run, exact */
	enum lt_quality worst_quality;
	uint32_t hour_count;
	struct lt_charge_hour *hours; /* malloc'd; lt_charge_free() */
};

/*
 * money = nodes x share x integral of price; energy = watts x time; carbon =
 * energy x intensity + embodied x nodes x share x time. Before the first
 * step the first holds, after the last the last. An empty run has no hours
 * and costs nothing. LT_ENOMEM, LT_ELIMIT (more than ten years) only.
 * docs/model.md, eqs. (27), (29).
 */
int lt_charge_run(struct lt_charge *charge, const struct lt_charge_input *input,
    struct lt_error *err);
void lt_charge_free(struct lt_charge *charge);

/*
 * Whole parts that add up to `total`: part i is the growth of the rounded
 * running sum, the last takes what is left. exact: the parts in order.
 */
void lt_charge_split(
    int64_t *parts, const double *exact, uint32_t count, int64_t total);

#endif
