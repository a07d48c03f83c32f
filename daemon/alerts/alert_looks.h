/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alerts that lowtided looks for by itself, where the policy has them: runs, GPUs, days. A finding
 * is due, once; alert_send.c sends it.
 */
#ifndef LT_ALERT_LOOKS_H
#define LT_ALERT_LOOKS_H

#include "ledger.h"
#include "message_kinds.h"
#include "quote.h"

struct lt_alerter;

/* True if lowtided looks for that kind by itself, has what it takes for that, and it is time. */
bool lt_alert_look_is_due(const struct lt_alerter *by, enum lt_message_kind kind);

/* Looks for one kind, now, and sets when it is due again: a failure waits as long. */
int lt_alert_look(const struct lt_alerter *by, enum lt_message_kind kind, struct lt_error *err);

/* Looks at the steps of a run that has ended, for all kinds. Within a transaction. */
int lt_alerts_look_at_run(
    const struct lt_alerter *by, const struct lt_run *run, struct lt_error *err);

/* ---- a run that has cost several times what its quote expected of it ---- */

/* Returns the expected cost of one task; has_x false: not known, or nothing. Pure. */
struct lt_amount lt_run_cost_expected(const struct lt_quote *quote);

/* True if it is above so many times the expected cost: in money, and where no money is expected in
 * carbon. Pure. */
bool lt_run_cost_is_above(
    const struct lt_amount *cost, const struct lt_amount *expected, double times);

/* ---- a run whose GPUs did nothing ---- */

/* All its GPUs' most that counts as idle: gauges of whole percents show 0. */
enum { LT_IDLE_GPUS_PPM = 10000 };

/* True if it had GPUs for least_s or longer that did nothing. False if that is not known. Pure. */
bool lt_idle_gpus_are(const struct lt_run *run, int64_t least_s);

/* ---- a day on which a team spent far more than on the same weekdays before
 * ---- */

enum {
	LT_UNUSUAL_WEEKS = 4,
	LT_UNUSUAL_WEEKS_LEAST = 3, /* fewer that are known: no alert */
};

struct lt_unusual {  /* in one of the two currencies */
	int64_t day; /* that it is about */
	/* The same weekday before, last first. */
	int64_t weeks[LT_UNUSUAL_WEEKS];
	int known; /* of these, from the first on */
	uint32_t percent;
	int64_t floor;
};

/* True if the day is more than that percentage above the mean of the known weeks, and by more than
 * the floor. *mean: rounded half away from zero; 0 if there are none. Pure. */
bool lt_unusual_is(const struct lt_unusual *of, int64_t *mean);

#endif
