/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the ledger: sums of spans, kept from one look to the next.
 */
#ifndef LT_LEDGER_KEPT_H
#define LT_LEDGER_KEPT_H

#include "ledger_db.h"

/* All rows of a statement; items: malloc'd, NULL where there are none. */
int lt_sums_read(struct lt_ledger *ledger, struct lt_bound bound,
    struct lt_sums *sums, struct lt_error *err);
/* To the spans that it lies in, once it is put. */
void lt_kept_add(struct lt_ledger *ledger, const struct lt_entry *entry);
/* The same as what `whole` reads, of that span; the items are the caller's.
 * Not within a transaction: what it undoes would be kept. */
int lt_kept_sums(struct lt_ledger *ledger, struct lt_span span,
    struct lt_bound whole, struct lt_sums *sums, struct lt_error *err);

#endif
