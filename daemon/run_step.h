/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step of a pass: it may fail alone, and is tried again in the next.
 */
#ifndef LT_RUN_STEP_H
#define LT_RUN_STEP_H

#include "steps.h"

struct lt_daemon;

typedef int lt_step_function(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

/* Keeps how a step ended; logs a failure once until it changes, and its end. True: it worked. */
bool lt_end_step(struct lt_daemon *d, enum lt_step_id id, int code, const struct lt_error *err);
/* Runs the step, and ends it so. */
bool lt_run_step(
    struct lt_daemon *d, enum lt_step_id id, lt_step_function *step, int64_t now_utc_s);

#endif
