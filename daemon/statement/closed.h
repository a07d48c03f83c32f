/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closings of periods as answers show them, and closings that were undone. Only those who see all
 * accounts get the total of a period.
 */
#ifndef LT_SERVE_CLOSED_H
#define LT_SERVE_CLOSED_H

#include <jansson.h>

#include "periods.h"

struct lt_closings { /* what shows them */
	struct lt_ledger *ledger;
	const char *currency;
	bool sees_all;
};

/* Sums the closed period's statement over all accounts. */
int lt_closed_cost(
    struct lt_ledger *ledger, struct lt_span span, struct lt_amount *cost, struct lt_error *err);
/* Returns how often the closing was undone, and the last time in *last; negative on failure. */
int lt_closed_reopened(
    struct lt_ledger *ledger, struct lt_span span, struct lt_reopened *last, struct lt_error *err);

/* {label,...,checksum,closing,difference}; NULL: failed. */
json_t *lt_closed_json(
    const struct lt_closings *closings, const struct lt_closed *closed, struct lt_error *err);
/* {label,...,reason}, with the total for those who see all accounts. */
json_t *lt_reopened_json(const struct lt_closings *closings, const struct lt_reopened *reopened);
/* [{reopened,reopened_by,reason}] of a period; NULL: it never was. */
json_t *lt_reopened_brief(struct lt_ledger *ledger, struct lt_span span);

#endif
