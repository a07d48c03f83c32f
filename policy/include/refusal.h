/*
 * Why a job is refused, in the words of all front-ends.
 */
#ifndef LT_REFUSAL_H
#define LT_REFUSAL_H

#include "brief.h"
#include "budget.h"
#include "decide.h"

struct lt_over {			  /* a job that its team can't pay; all pointers are lent */
	const struct lt_verdict *verdict; /* LT_OVER */
	const struct lt_request *request;
	const struct lt_market *market;
	const struct lt_plan *plan; /* NULL: don't look for what would fit */
	struct lt_amount available; /* of all that binds it */
	bool asked;		    /* for --carbon-aware */
};

/*
 * lt_verdict_text(), and what would fit: " It would fit at --time=2:23:00, or on spot with
 * --carbon-aware at --time=8:10:00", in lines of LT_ERROR_COLUMNS at most. Writes at most size
 * bytes, ended; size is at least 1. Pure.
 */
void lt_over_text(char *out, size_t size, const struct lt_over *over);

/* "held until the budget allows it: $312.50 left of $5,000.00 in vision for
 * 2026-11, it may cost $9,437.76", the beginning being what: of a job that is
 * not refused. */
void lt_over_note(struct lt_brief *notes, const char *what, const struct lt_verdict *verdict,
    const char *currency);

/*
 * Why the plan can't give what the user asked of lowtide alone, which Slurm
 * would not notice: --gpu-memory, --max-cost or the most that
 * a node-hour may cost. True when so, with the words in parts, without a full
 * stop.
 */
bool lt_plan_refusal(struct lt_brief *why, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market);

#endif
