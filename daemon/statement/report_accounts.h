/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounts of a report by their names, and their labels: copied of the
 * policy in the loop, written beside it.
 */
#ifndef LT_SERVE_REPORT_ACCOUNTS_H
#define LT_SERVE_REPORT_ACCOUNTS_H

#include <jansson.h>
#include <stddef.h>

#include "accounts.h"
#include "policy.h"

struct lt_report_account;
struct lt_report_work;

/* Among the work's accounts; NULL, -1: it is not in the snapshot. */
const struct lt_report_account *lt_report_account_of(
    const struct lt_report_work *work, const char *name);
int lt_report_account_index(
    const struct lt_report_work *work, const char *name);

/* The index of the account above that one then; -1: none. */
int64_t lt_report_account_parent(const struct lt_report_work *work,
    const struct lt_account_moves *moves, int64_t account, int64_t at_utc_s);

/* Of all teams. */
size_t lt_report_labels_count(const struct lt_policy *policy);
/* Into `room` for all of them: each account of the work, whose parents are
 * known, gets its own, else those of the nearest account above that has some.
 * `room` must outlast the work. */
void lt_report_labels_take(struct lt_report_work *work,
    struct lt_policy_label *room, const struct lt_policy *policy);
struct lt_report_view;
/* {account: {key: text}} of the period: as now, or as it was closed with. */
int lt_report_labels_all(
    json_t **labels, const struct lt_report_view *view, struct lt_error *err);
/* {key: text}; in the policy's order. NULL: no memory. */
json_t *lt_report_labels_json(const struct lt_report_account *account);

#endif
