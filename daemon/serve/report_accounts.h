/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounts of a report by their names, and their labels: copied of the
 * policy in the loop, written beside it.
 */
#ifndef LT_SERVE_REPORT_ACCOUNTS_H
#define LT_SERVE_REPORT_ACCOUNTS_H

#include <jansson.h>
#include <stddef.h>

#include "policy.h"

struct lt_report_account;
struct lt_report_work;

/* Among the work's accounts; NULL, -1: it is not in the snapshot. */
const struct lt_report_account *lt_report_account_of(
    const struct lt_report_work *work, const char *name);
int lt_report_account_index(
    const struct lt_report_work *work, const char *name);

/* Of all teams. */
size_t lt_report_labels_count(const struct lt_policy *policy);
/* Into `room` for all of them: each account of the work, whose parents are
 * known, gets its own, else those of the nearest account above that has some.
 * `room` must outlast the work. */
void lt_report_labels_take(struct lt_report_work *work,
    struct lt_policy_label *room, const struct lt_policy *policy);
/* {key: text}; in the policy's order. NULL: no memory. */
json_t *lt_report_labels_json(const struct lt_report_account *account);

#endif
