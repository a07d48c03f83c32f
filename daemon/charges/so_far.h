/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job that runs has cost by now.
 */
#ifndef LT_SO_FAR_H
#define LT_SO_FAR_H

#include "batch.h"
#include "ledger.h"
#include "quote.h"

/* As if it ended now: by the rates that held since its start, (27) and (29) of
 * docs/model.md, with the fractions of a micro that settling carries left out.
 * has_x false: no price or intensity is known, or it does not run. */
struct lt_amount lt_so_far(const struct lt_batch_job *job,
    const struct lt_market *market, struct lt_ledger *ledger,
    int64_t now_utc_s);

#endif
