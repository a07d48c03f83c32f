/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of a job that SPANK placed, in its quote.
 */
#ifndef LT_ANNOUNCED_PLAN_H
#define LT_ANNOUNCED_PLAN_H

#include "announced.h"

/* Of lt_quote_of_job()'s quote all that a plan has: what was asked, as it was
 * told, and what that comes to, by this market. */
void lt_announced_lay(struct lt_quote *quote, const struct lt_market *market,
    const struct lt_announced_state *announced, const struct lt_batch_job *job,
    const struct lt_announced *told);

#endif
