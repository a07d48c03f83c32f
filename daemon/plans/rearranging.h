/*
 * Jobs that wait for the starts they were given, decided together: some of
 * them in each pass, so that what frees room is seen in time, and that who
 * came late finds some.
 */
#ifndef LT_REARRANGING_H
#define LT_REARRANGING_H

#include <stdint.h>

#include "error.h"

struct lt_books;
struct lt_replan_state;

/* Starts nothing where fewer changes are left to a pass than a group may
 * make. */
int lt_rearrange_some(const struct lt_books *books,
    struct lt_replan_state *replan, uint32_t changes_left, int64_t now_utc_s,
    struct lt_error *err);

#endif
