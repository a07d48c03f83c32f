/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run times as lowtided would know them: from the jobs that have ended by now.
 */
#ifndef LT_SIM_LEARN_H
#define LT_SIM_LEARN_H

#include "run_lengths.h"
#include "simulate.h"

/* It has ended. LT_ENOMEM. */
int lt_sim_learn(struct lt_lengths *lengths, const struct lt_sim_job *job);
/* What is expected of it; 0 = nothing is known, the limit counts. */
struct lt_expected lt_sim_learned(
    struct lt_lengths *lengths, const struct lt_sim_job *job);

#endif
