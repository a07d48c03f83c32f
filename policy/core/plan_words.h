/*
 * What the line of a plan and its table have in common.
 */
#ifndef LT_PLAN_WORDS_H
#define LT_PLAN_WORDS_H

#include "decide.h"
#include "text.h"

enum { LT_SOON_S = 60 }; /* a start this close is "now" */

/* Is the estimate's cost known, and money shown at all? */
bool lt_plan_shows_money(
    const struct lt_market *market, const struct lt_estimate *estimate);

/* What the figures rest on, where that is less than a measurement or a
 * forecast, "" else; the worst of the partition's signals speaks. */
struct lt_caveat {
	const char *full, *brief;
};
struct lt_caveat lt_plan_caveat(const struct lt_market *market, int partition);

/* The name of the option that this pin is. */
const char *lt_plan_pin(const struct lt_plan *plan, uint32_t bit);

/* Why it was left out, in words; and " (16384 MiB, wants 40960 MiB)" where the
 * figures say more, "" else. */
const char *lt_plan_reason(const struct lt_candidate *candidate);
void lt_plan_figures(struct lt_text *text, const struct lt_candidate *candidate,
    const char *currency);

#endif
