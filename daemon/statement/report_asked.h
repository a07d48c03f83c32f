/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When an account was that of a team, or below it. An account that left it and
 * came back was below it all between.
 */
#ifndef LT_SERVE_REPORT_ASKED_H
#define LT_SERVE_REPORT_ASKED_H

#include "account_tree.h"
#include "budget.h"

struct lt_report_asked {  /* a team, and the time that the report may look at */
	const char *team; /* NULL: all */
	bool has_trend;
	struct lt_account_tree tree;
	int64_t *cuts; /* in it, when accounts were moved; malloc'd */
	uint32_t cut_count;
};
/* Makes the cuts of the period and the one before it, of a trend of the year
 * before it. False: no memory. */
bool lt_report_cut(
    struct lt_report_asked *asked, const struct lt_period *period);
/* Between two cuts no account was moved: cut_count + 1 parts, from the first
 * to INT64_MAX. */
struct lt_span lt_report_cut_part(
    const struct lt_report_asked *asked, uint32_t part);
/* Empty: never below the team. */
struct lt_span lt_report_asked_span(
    const struct lt_report_asked *asked, const char *account);
/* To what the span was so far comes that part. */
void lt_report_span_add(struct lt_span *span, struct lt_span part);
#define LT_REPORT_NEVER ((struct lt_span){INT64_MAX, INT64_MIN})

#endif
