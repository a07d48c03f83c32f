/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits, users and names for traces that have none, by a seed.
 */
#ifndef LT_SIM_GENERATE_H
#define LT_SIM_GENERATE_H

#include "simulate.h"

struct lt_sim_generator {
	uint64_t seed;
	double limit_factor; /* limit = run x this (its median); 0 = as it is */
	double limit_sigma; /* of the factor's logarithm; 0 = always the same */
	uint32_t names;	    /* programs; 0 = as it is */
	uint32_t users;	    /* whose these are */
};

/*
 * Limits are whole minutes, up, and no job ran longer than its own. Jobs of a
 * name are alike, not equal: their lengths, each times a lognormal factor with
 * sigma 0.5, are sorted and cut into as many rows of equal count as there are
 * names. LT_ENOMEM.
 */
int lt_sim_generate(struct lt_sim_trace *trace,
    const struct lt_sim_generator *generator, struct lt_error *err);

#endif
