/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a settled run came to beside what its job was quoted.
 */
#ifndef LT_QUOTED_RUN_H
#define LT_QUOTED_RUN_H

#include "ledger.h"

struct lt_budget_state;
struct lt_market;
struct lt_batch_run;

struct lt_quoted_of {
	const struct lt_run *run; /* as settled */
	const struct lt_quote *quote;
	const struct lt_batch_run *row; /* has what the user asked */
	int64_t open_since_utc_s;	/* what ended before stays as it is */
};
/* Into the ledger, of a job that asked and that lowtide may move; of others
 * nothing. */
int lt_quoted_settled(const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_budget_state *budget, const struct lt_quoted_of *of,
    struct lt_error *err);

#endif
