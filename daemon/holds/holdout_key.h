/*
 * The site's holdout with its secret, from the ledger.
 */
#ifndef LT_HOLDOUT_KEY_H
#define LT_HOLDOUT_KEY_H

#include "holdout.h"
#include "ledger.h"

/* share_ppm 0: none, and no secret. Made where there is none yet. */
int lt_holdout_of(struct lt_holdout *holdout, struct lt_ledger *ledger,
    uint32_t share_ppm, struct lt_error *err);

#endif
