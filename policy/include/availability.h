/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about a partition's nodes: whether they are there, and how long work waits for them: before
 * its first second and each time that they are taken, all together. Learned from what the cluster
 * saw; docs/model.md, eqs. (15c) and (15d).
 */
#ifndef LT_AVAILABILITY_H
#define LT_AVAILABILITY_H

#include <stdint.h>

enum {
	LT_WAIT_NEEDS = 2, /* one node; all of the partition */
	LT_WAIT_COSTS = 3,
	LT_WAIT_WORKS = 10,
	LT_WAIT_CHANCES = 8,
};
/* Work is looked up that fits ten times into what was seen; longer work waits in proportion. Less
 * than that for an hour's work is no history. */
#define LT_WAIT_FITS 10
#define LT_WAIT_SEEN_S (LT_WAIT_FITS * 3600)
#define LT_WAIT_UNKNOWN UINT32_MAX /* longer than was ever seen */

extern const uint32_t lt_wait_works_s[LT_WAIT_WORKS]; /* rising from 0 */
extern const uint32_t lt_wait_costs_s[LT_WAIT_COSTS]; /* the same */
extern const double lt_wait_chances[LT_WAIT_CHANCES]; /* falling */

struct lt_wait { /* of so much work */
	uint32_t mean_s;
	uint32_t passed_s[LT_WAIT_CHANCES]; /* with that chance it is longer */
};

struct lt_availability {
	uint32_t seen_s;    /* so long it was looked at; from LT_WAIT_SEEN_S on
			     * there is a history */
	uint32_t there_ppm; /* part of that time with a node there */
	uint32_t taken_ppm; /* of it, how often an hour none was left, x 1e6 */
	uint32_t part_ppm;  /* of its nodes, on average */
	/* How much its nodes come and go as one: 1e6 all at once, 1e6 / n as n groups that do not
	 * mind each other. */
	uint32_t together_ppm;
	struct lt_wait waits[LT_WAIT_NEEDS][LT_WAIT_COSTS][LT_WAIT_WORKS];
};

struct lt_wait_ask {
	double work_s; /* with its nodes, >= 0 */
	double cost_s; /* of each time that all are taken, work and restart */
	double need;   /* 0: one node .. 1: all of them */
};

/* Seconds more than its work, on average; 0 without a history, INFINITY where that is longer than
 * was ever seen. Pure. */
double lt_wait_mean_s(const struct lt_availability *availability, const struct lt_wait_ask *ask);

/* The same, that is passed with that chance, above 0 and below 1. */
double lt_wait_passed_s(
    const struct lt_availability *availability, const struct lt_wait_ask *ask, double chance);

#endif
