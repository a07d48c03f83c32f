/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounts of a report by name, and their labels: copied from the policy in the loop, written
 * by the report's thread.
 */
#ifndef LT_SERVE_REPORT_ACCOUNTS_H
#define LT_SERVE_REPORT_ACCOUNTS_H

#include <jansson.h>
#include <stddef.h>

#include "account_tree.h"
#include "accounts.h"
#include "budget.h"
#include "policy.h"

struct lt_report_account;
struct lt_report_work;

/* Among the work's accounts; NULL, -1: it is not in the snapshot. */
const struct lt_report_account *lt_report_account_of(
    const struct lt_report_work *work, const char *name);
int lt_report_account_index(const struct lt_report_work *work, const char *name);

/* The index of the account above that one then; -1: none. */
int64_t lt_report_account_parent(const struct lt_report_work *work,
    const struct lt_account_moves *moves, int64_t account, int64_t at_utc_s);

/* Counts the labels of all teams. */
size_t lt_report_labels_count(const struct lt_policy *policy);
/* Into `room` for all of them: each account of the work, whose parents are known, gets its own,
 * else those of the nearest account above that has some. `room` must outlast the work. */
void lt_report_labels_take(
    struct lt_report_work *work, struct lt_policy_label *room, const struct lt_policy *policy);
struct lt_report_view;
/* {account: {key: text}} of the period: as now, or as it was closed with. */
int lt_report_labels_all(json_t **labels, const struct lt_report_view *view, struct lt_error *err);
/* {key: text}; in the policy's order. NULL: no memory. */
json_t *lt_report_labels_json(const struct lt_report_account *account);

/* ---- when an account was in the team ---- */

/* An account that left the team and came back counts as below it all between. */
struct lt_report_asked {  /* a team, and the time that the report may look at */
	const char *team; /* NULL: all */
	bool has_trend;
	struct lt_account_tree tree;
	int64_t *cuts; /* in it, when accounts were moved; malloc'd */
	uint32_t cut_count;
};
/* Makes the cuts of the period and the one before it, of a trend of the year before it. False: no
 * memory. */
bool lt_report_cut(struct lt_report_asked *asked, const struct lt_period *period);
/* Between two cuts no account was moved: cut_count + 1 parts, from the first to INT64_MAX. */
struct lt_span lt_report_cut_part(const struct lt_report_asked *asked, uint32_t part);
/* Empty: never below the team. */
struct lt_span lt_report_asked_span(const struct lt_report_asked *asked, const char *account);
/* Extends the span to the end of that part. */
void lt_report_span_add(struct lt_span *span, struct lt_span part);
#define LT_REPORT_NEVER ((struct lt_span){INT64_MAX, INT64_MIN})

#endif
