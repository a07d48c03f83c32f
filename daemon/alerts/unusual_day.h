/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A day on which a team spent far more than on the same weekdays before: told
 * once, where the policy has unusual_day.
 */
#ifndef LT_UNUSUAL_DAY_H
#define LT_UNUSUAL_DAY_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct lt_daemon;

enum {
	LT_UNUSUAL_WEEKS = 4,
	LT_UNUSUAL_WEEKS_LEAST = 3, /* fewer that are known: nothing is told */
};

struct lt_unusual {  /* in one of the two currencies */
	int64_t day; /* that it is about */
	int64_t
	    weeks[LT_UNUSUAL_WEEKS]; /* the same weekday before, last first */
	int known;		     /* of these, from the first on */
	uint32_t percent;
	int64_t floor;
};

/* Is the day more than that percentage above the mean of those weeks that are
 * known, and by more than the floor? *mean: rounded half away from zero; 0 of
 * none. Pure. */
bool lt_unusual_is(const struct lt_unusual *of, int64_t *mean);

/* Looks at the last whole day of UTC once all of it is settled: of a team with
 * a budget or owners a row of the ledger that is due; alert_send.c tells it.
 * Hourly, for what comes late. */
int lt_unusual_days(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
