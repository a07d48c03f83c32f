/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the ledger: sums of spans, kept from one look to the next.
 */
#ifndef LT_LEDGER_KEPT_H
#define LT_LEDGER_KEPT_H

#include "ledger_db.h"

struct lt_split { /* what LT_SQL_PERIOD binds */
	int64_t from_utc_s, to_utc_s, first_day, end_day;
	int64_t head_end_utc_s, tail_utc_s;
};

/* Whole UTC days inside [from, to), and the edges around them. */
struct lt_split lt_split_period(struct lt_span span);
#define LT_BIND_PERIOD(p)                                                      \
	LT_INT((p).from_utc_s), LT_INT((p).to_utc_s), LT_INT((p).first_day),   \
	    LT_INT((p).end_day), LT_INT((p).head_end_utc_s),                   \
	    LT_INT((p).tail_utc_s)

/* To the spans that it lies in, once it is put. */
void lt_kept_add(struct lt_ledger *ledger, const struct lt_entry *entry);
#endif
