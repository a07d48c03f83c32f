/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs in the ledger beside the quotes of their jobs, to see how good quotes are and what moving
 * saves. LT_OK or an error of SQLite.
 */
#ifndef LT_QUOTED_H
#define LT_QUOTED_H

#include "ledger.h"

enum lt_quoted_end {
	LT_QUOTED_OTHER,
	LT_QUOTED_COMPLETED,
	LT_QUOTED_OUT_OF_TIME, /* DEADLINE, TIMEOUT */
};

struct lt_quoted {
	struct lt_run_key run;
	uint64_t quote_id;
	char account[LT_ACCOUNT_SIZE];
	enum lt_compared compared;
	uint64_t draw;		     /* lt_holdout_draw() at its submission */
	struct lt_amount plan, home; /* of a task, as they were expected */
	/* Amounts of the run; base: eq. (30), work: lt_work_at_home(). */
	struct lt_amount charged, base, work;
	int64_t end_utc_s;
	enum lt_quoted_end end;
	bool left;		/* kept, and it ran elsewhere all the same */
	int64_t deadline_utc_s; /* 0 = none */
	uint32_t stated_ppm;	/* how surely it was to be met */
	/* Read: how much later than at home its hold had it start; 0 where the ledger has no hold
	 * of it any more. */
	int64_t waited_s;
};
/* Puts it in place of what is known of the run. */
int lt_ledger_put_quoted(
    struct lt_ledger *ledger, const struct lt_quoted *quoted, struct lt_error *err);
typedef int lt_quoted_function(void *context, const struct lt_quoted *quoted, struct lt_error *err);
/* Reads those that ended within the span; runs of a job one after the other, by their
 * submission. */
int lt_ledger_each_quoted(struct lt_ledger *ledger, struct lt_span span, lt_quoted_function *take,
    void *context, struct lt_error *err);

/* Jobs that came since and that their class would have refused in mode enforce, for want of a smoke
 * run. */
int lt_ledger_no_smoke(
    struct lt_ledger *ledger, int64_t since_utc_s, uint32_t *count, struct lt_error *err);

#endif
