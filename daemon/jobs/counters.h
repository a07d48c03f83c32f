/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of what happened to jobs since lowtided was started, for metrics. Each event counts
 * where it happens, and once: when the ledger has it.
 */
#ifndef LT_COUNTERS_H
#define LT_COUNTERS_H

#include "budget_state.h"
#include "ledger.h"
#include "replan.h"

enum lt_decided { /* of a decision */
	LT_DECIDED_KEPT,
	LT_DECIDED_LATER,
	LT_DECIDED_ELSEWHERE,
	LT_DECIDED_BOTH,
	LT_DECIDED_COUNT
};
enum lt_refusal { LT_REFUSAL_REJECTED, LT_REFUSAL_HELD, LT_REFUSAL_COUNT };

struct lt_refused { /* by a budget */
	char account[LT_ACCOUNT_SIZE];
	uint64_t jobs[LT_REFUSAL_COUNT];
};

struct lt_counters { /* start as { 0 } */
	uint64_t decided[LT_MODE_COUNT][LT_OBJECTIVE_COUNT][LT_DECIDED_COUNT];
	int64_t delay_s[LT_MODE_COUNT]; /* of those that are to start later */
	uint64_t replans[LT_REPLAN_WHY_COUNT];
	uint64_t broken; /* plans */
	/* Refused because nobody knew a balance or a price. */
	uint64_t unknown[LT_REFUSAL_COUNT];
	struct lt_refused *refused;
	uint32_t refused_count;
	size_t refused_capacity;
};

/* True if this run has just started, more than an hour after its plan. before:
 * its hold as it was. False after a requeue, and for an array. */
bool lt_counters_breaks_plan(const struct lt_live *live, const struct lt_ledger_hold *hold,
    const struct lt_ledger_hold *before);
/* Records of slurmctld that the ledger has followed for good, and what is live of their quotes:
 * those that are new, and those that broke their plans. */
void lt_counters_followed(struct lt_counters *tally, struct lt_ledger *ledger,
    const struct lt_batch_jobs *followed, const struct lt_jobs_state *jobs);
/* Makes a row for the account. */
void lt_counters_account(struct lt_counters *tally, const char *account);
/* Counts a refused job. flags: LT_QUOTE_UNKNOWN, else it is the account's budget. */
void lt_counters_refused(
    struct lt_counters *tally, const char *account, enum lt_refusal refusal, uint32_t flags);
/* Counts a new plan that slurmctld has taken. why: lt_replan_word(). */
void lt_counters_replan(struct lt_counters *tally, const char *why);
void lt_counters_free(struct lt_counters *tally);

#endif
