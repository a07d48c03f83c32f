/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a cost went to GPUs and CPUs that did nothing; (54) of docs/model.md.
 */
#ifndef LT_SERVE_IDLE_H
#define LT_SERVE_IDLE_H

#include "ledger.h"

/* At least so much of it; false: nobody says what the run used. */
bool lt_idle_of(
    int64_t *idle_micros, const struct lt_run *run, int64_t cost_micros);

#endif
