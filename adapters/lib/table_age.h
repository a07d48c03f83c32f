/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How old the figures are that lowtide brings along. Grids change: figures of
 * years ago still tell one grid from another, but no longer how clean it is.
 */
#ifndef LT_TABLE_AGE_H
#define LT_TABLE_AGE_H

#include "points.h"

enum { LT_TABLE_YEARS_MAX = 2 };

/* Did the year end more than LT_TABLE_YEARS_MAX years ago? Pure. */
bool lt_table_is_old(int year, int64_t now_utc_s);

/* Says so in the note of points, if it is. */
void lt_table_age_note(struct lt_points *points, int year, int64_t now_utc_s);

#endif
