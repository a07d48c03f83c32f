/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the last failure of each step of a pass, so that a failure is logged once, and forgotten
 * when the same step succeeds again.
 */
#ifndef LT_STEPS_H
#define LT_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "message_kinds.h"

enum lt_step_id {
	LT_STEP_TABLES,
	LT_STEP_MARKET,
	LT_STEP_RATES,
	LT_STEP_ABSORB,
	LT_STEP_JOBS,
	LT_STEP_SETTLE,
	LT_STEP_VOID,
	LT_STEP_RELEASE,
	LT_STEP_REPLAN,
	LT_STEP_NOTICE,
	LT_STEP_LIFE,
	LT_STEP_AFTERWARDS,
	LT_STEP_PAUSE,
	LT_STEP_PROOF,
	LT_STEP_CANARY,
	LT_STEP_BUDGET,
	LT_STEP_TERMS,
	LT_STEP_FORECASTS,
	LT_STEP_ALERTS,
	LT_STEP_MAIL,
	LT_STEP_OF_ALERTS, /* and one for each kind of them */
	LT_STEP_PRUNE = LT_STEP_OF_ALERTS + LT_ALERT_KIND_COUNT,
	LT_STEP_HISTORY,
	LT_STEP_USED,
	LT_STEP_COUNT
};
/* NULL: a kind of alerts that lowtided finds in another step. */
const char *lt_step_name(enum lt_step_id step);

static inline enum lt_step_id
lt_step_of_alert(enum lt_message_kind kind)
{
	return (enum lt_step_id)(LT_STEP_OF_ALERTS + (int)kind);
}

struct lt_steps {					/* start as { 0 } */
	char failed[LT_STEP_COUNT][LT_ERROR_TEXT_SIZE]; /* "" = fine */
	uint64_t failures[LT_STEP_COUNT];		/* each is tried again */
};

/* Both return true only when the state changed: a failure that stays the same is not news. */
bool lt_step_failed(struct lt_steps *steps, enum lt_step_id step, const struct lt_error *err);
bool lt_step_worked(struct lt_steps *steps, enum lt_step_id step);

/* "jobs: <text>" of the first step that fails now; "" when all is fine. */
void lt_steps_text(char out[LT_ERROR_TEXT_SIZE], const struct lt_steps *steps);

#endif
