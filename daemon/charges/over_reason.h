/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a run was settled above its hold. Pure.
 */
#ifndef LT_OVER_REASON_H
#define LT_OVER_REASON_H

#include <stdbool.h>
#include <stdint.h>

struct lt_over {	      /* of one currency: micros, or mg */
	double charged, held; /* held: what was admitted, of one task */
	/* A further run of a job whose quote had no share left to end. */
	bool share_missing;
	bool is_resized; /* by its user while it ran: it may have more now */
	/* The hold was made from: the worst rate of its window per node-hour, with its margin, and
	 * the limit, with OverTimeLimit; 0 = not known. */
	double held_rate;
	int64_t held_limit_s;
	/* The run had: nodes x share, without suspensions; Slurm's limit at the end (INT64_MAX =
	 * none, 0 = not known), without OverTimeLimit. */
	double node_shares;
	int64_t active_s, limit_s, over_time_limit_s;
	double suspended; /* the part of charged for suspended time */
};

/*
 * One word: of the causes that the facts prove, in the order requeue, resize, size, admin,
 * OverTimeLimit, suspend, price, the first without which charged would not pass held; else the
 * first of them; else "unknown". "" when charged does not pass held. docs/budgets.md.
 */
const char *lt_over_reason(const struct lt_over *over);

/* Words that say that a hold did not cover what it is to cover. */
bool lt_over_is_defect(const char *reason);

#endif
