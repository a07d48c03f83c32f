/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closings as answers show them, and those that were undone. What a period came
 * to in all is for who sees all.
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

/* What the closed period's statement comes to, all accounts. */
int lt_closed_cost(struct lt_ledger *ledger, struct lt_span span,
    struct lt_amount *cost, struct lt_error *err);
/* How often its closing was undone; *last: the one that was last. Negative:
 * failed. */
int lt_closed_reopened(struct lt_ledger *ledger, struct lt_span span,
    struct lt_reopened *last, struct lt_error *err);

/* {label,...,checksum,closing,difference}; NULL: failed. */
json_t *lt_closed_json(const struct lt_closings *closings,
    const struct lt_closed *closed, struct lt_error *err);
/* {label,...,reason}, and with what it came to for who sees all. */
json_t *lt_reopened_json(
    const struct lt_closings *closings, const struct lt_reopened *reopened);
/* [{reopened,reopened_by,reason}] of a period; NULL: it never was. */
json_t *lt_reopened_brief(struct lt_ledger *ledger, struct lt_span span);

#endif
