/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The market of spot.c: nodes that are taken, and nodes that stay.
 */
#ifndef LT_SIM_SPOT_MARKET_H
#define LT_SIM_SPOT_MARKET_H

#include "interruption.h"
#include "replan.h"
#include "spot.h"

struct lt_sim_spot_ask {
	int64_t now_s, came_s;
	bool is_spot;
	int64_t waits_since_s; /* or works */
	int64_t limit_s;       /* as it stands */
	int64_t done_s;
	uint32_t interruptions;
};

struct lt_sim_spot_answer {
	enum lt_replan_why why;
	bool is_spot;
	int64_t start_s;
	int64_t limit_s; /* that it then has */
};

struct lt_sim_spot_market;
int lt_sim_spot_market_open(struct lt_sim_spot_market **market,
    const struct lt_sim_spot *spot, struct lt_error *err);
void lt_sim_spot_market_close(struct lt_sim_spot_market *market);

/* Where it goes when it comes, by lt_decide(). */
int lt_sim_spot_first(struct lt_sim_spot_answer *answer,
    struct lt_sim_spot_market *market, const struct lt_sim_spot_ask *ask,
    struct lt_error *err);
/* Of one that waits, by lt_replan(). */
int lt_sim_spot_again(struct lt_sim_spot_answer *answer,
    struct lt_sim_spot_market *market, const struct lt_sim_spot_ask *ask,
    struct lt_error *err);

/* Of one that works on demand, by lt_replan_return(): is it to be requeued? */
int lt_sim_spot_back(bool *returns, struct lt_sim_spot_market *market,
    const struct lt_sim_spot_ask *ask, struct lt_error *err);

int64_t lt_sim_spot_limit_s(const struct lt_sim_spot_options *options);
int64_t lt_sim_spot_deadline_s(
    const struct lt_sim_spot_options *options, int64_t came_s);
struct lt_checkpoint lt_sim_spot_checkpoint(
    const struct lt_sim_spot_options *options);
/* Of a node that is there, by the trace itself. */
double lt_sim_spot_hazard_per_hour(const struct lt_sim_spot_trace *trace);

#endif
