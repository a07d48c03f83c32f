/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that are still to happen, by time: the one queue of run.c and site_loop.c.
 */
#ifndef LT_SIM_EVENTS_H
#define LT_SIM_EVENTS_H

#include <stdint.h>

#include "error.h"

struct lt_sim_event {
	int64_t at_utc_s;
	/* The least goes first of events at one time; equals in an order that is the same each
	 * time. */
	uint64_t rank;
	uint32_t kind, job; /* what happens, as its loop counts it */
};

struct lt_sim_events {		   /* start as { 0 } */
	struct lt_sim_event *heap; /* the first is next, the others as a heap */
	uint32_t count, room;
};

/* LT_ENOMEM. */
int lt_sim_events_push(
    struct lt_sim_events *events, struct lt_sim_event event, struct lt_error *err);
/* The first, of at least one. */
struct lt_sim_event lt_sim_events_pop(struct lt_sim_events *events);
void lt_sim_events_free(struct lt_sim_events *events);

#endif
