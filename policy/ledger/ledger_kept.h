/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the ledger: sums of spans, kept from one look to the next.
 */
#ifndef LT_LEDGER_KEPT_H
#define LT_LEDGER_KEPT_H

#include "ledger_db.h"

/* Sums by account and user, or of discounts by account, of each piece of the
 * span between two moves of accounts; items: malloc'd. */
int lt_sums_read(struct lt_sums *sums, struct lt_ledger *ledger,
    enum lt_sql sql, struct lt_span span, struct lt_error *err);
/* To the spans that it lies in, once it is put. */
void lt_kept_add(struct lt_ledger *ledger, const struct lt_entry *entry);
/* The same as what lt_sums_read() reads; the items are the caller's. Not within
 * a transaction: what it undoes would be kept. */
int lt_kept_sums(struct lt_ledger *ledger, struct lt_span span,
    struct lt_sums *sums, struct lt_error *err);

#endif
