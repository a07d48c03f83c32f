/*
 * Why a job is refused, in the words of all front-ends.
 */
#ifndef LT_REFUSAL_H
#define LT_REFUSAL_H

#include "budget.h"
#include "decide.h"

struct lt_over { /* a job that its team can't pay; all pointers are lent */
	const struct lt_verdict *verdict; /* LT_OVER */
	const struct lt_request *request;
	const struct lt_market *market;
	const struct lt_plan *plan; /* NULL: don't look for what would fit */
	struct lt_amount available; /* of all that binds it */
	bool asked;		    /* for --carbon-aware */
};

/*
 * lt_verdict_text(), and what would fit: " It would fit at --time=2:23:00, or
 * on spot with --carbon-aware at --time=8:10:00". Writes at most size bytes,
 * ended; size is at least 1. Pure.
 */
void lt_over_text(char *out, size_t size, const struct lt_over *over);

/*
 * Why the plan can't give what the user asked of lowtide alone, which Slurm
 * would not notice: --gpu-memory, --max-cost or the most that
 * a node-hour may cost. True when so, with the text.
 */
bool lt_plan_refusal(char *out, size_t size, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market);

#endif
