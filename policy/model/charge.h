/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges a finished run, hour by hour, and measures its share of the nodes. Pure arithmetic;
 * price.c feeds it from the ledger's runs and rates.
 */
#ifndef LT_CHARGE_H
#define LT_CHARGE_H

#include "market.h"
#include "calendar.h"
#include "rate.h"
#include "size.h"

/* Integrates over [from, to) in value x seconds, as a charge has it; *worst is raised to the worst
 * quality met. */
double lt_rates_integral(
    const struct lt_rates *rates, int64_t from_utc_s, int64_t to_utc_s, enum lt_quality *worst);

struct lt_charge_input {
	int64_t start_utc_s, end_utc_s;
	/* Hours are cut where a day begins in this zone; NULL: they are not. */
	const struct lt_offsets *offsets;
	uint32_t nodes;
	struct lt_fraction share;
	double watts;	    /* of the job, at the plug, PUE in it: */
	bool watts_unknown; /* missing is never zero: no carbon then */
	double pue;	    /* this one; 0 = whichever it is, it stays */
	double embodied_g_per_node_hour;
	struct lt_rates price, carbon;
	/* Values over time, instead of the two above; count 0 = never known. */
	struct lt_rates pues, embodied;
	/* Micros per tonne of CO2e; count 0: nothing. */
	struct lt_rates carbon_charge;
	/* The part of the time, 0 to 1, in which it was suspended, and what it kept then; evenly
	 * over the run, for slurmdbd has the sum only. */
	double suspended;
	struct lt_fraction suspended_share;
	double suspended_watts;
};

struct lt_charge_hour {	  /* of one UTC hour and one day; exact, not rounded */
	int64_t at_utc_s; /* start of the part */
	/* money: all; of it for its carbon: */
	double money_micros, carbon_mg, energy_wh, carbon_charge_micros;
};

struct lt_charge {
	bool priced, has_carbon; /* a rate is missing: false, never zero */
	/* The run, exact. */
	double money_micros, carbon_mg, energy_wh, carbon_charge_micros;
	enum lt_quality worst_quality;
	uint32_t hour_count;
	struct lt_charge_hour *hours; /* malloc'd; lt_charge_free() */
};

/*
 * money = nodes x share x integral of price; energy = watts x time; carbon =
 * energy x intensity + embodied x nodes x share x time; a charge for that
 * is money, too, and without an intensity there is no price then. Before the
 * first step the first holds, after the last the last. An empty run has no
 * hours and costs nothing. LT_ENOMEM, LT_ELIMIT (more than ten years) only.
 * docs/model.md, eqs. (27), (27a), (29).
 */
int lt_charge_run(
    struct lt_charge *charge, const struct lt_charge_input *input, struct lt_error *err);
void lt_charge_free(struct lt_charge *charge);

/*
 * Whole parts that add up to `total`: part i is the growth of the rounded running sum, the last
 * takes what is left. exact: the parts in order.
 */
void lt_charge_split(int64_t *parts, const double *exact, uint32_t count, int64_t total);

/*
 * ---- what a run has of the nodes of a partition ----
 *
 * Its share, its power, and what it keeps of both while it is suspended. Pure.
 */

enum { LT_PLACE_SHAPES_MAX = 64 };

struct lt_place {
	bool known; /* the policy has or had it */
	/* The policy has it no more since; 0 = it has. */
	int64_t left_utc_s;
	double idle_w, cpu_w, gpu_w, pue, embodied_g_per_node_hour;
	bool exclusive;
	uint32_t shape_count;
	struct lt_shape shapes[LT_PLACE_SHAPES_MAX]; /* cpus, gpus, memory */
};

/* True if the place has a known power: one without is unknown, not free of carbon. */
bool lt_place_has_power(const struct lt_place *place);

/* Fills in nodes, shares, watts and embodied carbon of the input: eqs. (2), (5). */
void lt_usage_of(
    struct lt_charge_input *input, const struct lt_resources *used, const struct lt_place *place);

/* Returns the share of its nodes that it keeps while it is suspended: of memory and GPUs, of the
 * shape that its share is of. */
struct lt_fraction lt_kept_share(const struct lt_resources *used, const struct lt_place *place);

#endif
