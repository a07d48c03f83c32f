/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as JSON: one row of `runs` in docs/api.md.
 */
#ifndef LT_RUN_JSON_H
#define LT_RUN_JSON_H

#include <jansson.h>

#include "calendar.h"
#include "ledger.h"
#include "out.h"

/* booked: what of it stands in a statement; NULL: all of it. offsets: of the months that
 * corrections name. */
void lt_run_write(struct lt_out *out, const struct lt_run *run, const struct lt_booked *booked,
    const struct lt_offsets *offsets);
json_t *lt_run_json(const struct lt_run *run); /* NULL: no memory */

/* The part of a cost that went to GPUs and CPUs that did nothing, at least; (54) of docs/model.md.
 * False if it is not known what the run used. */
bool lt_idle_of(int64_t *idle_micros, const struct lt_run *run, int64_t cost_micros);

#endif
