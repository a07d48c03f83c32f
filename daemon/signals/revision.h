/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a source says otherwise than before.
 */
#ifndef LT_REVISION_H
#define LT_REVISION_H

#include "points.h"
#include "rate.h"

/*
 * How many measured values of known, count steps in order, points (sorted)
 * have otherwise, and the largest change, 0 without one. An estimate that
 * becomes measured is no revision. Pure.
 */
uint32_t lt_revisions(const struct lt_rate_step *known, uint32_t count,
    const struct lt_points *points, double *most);

#endif
