/*
 * Slurm's --array text ("0-15,20,30-40:2%4") counted, bounded, never
 * expanded: job_submit gets the raw text.
 */
#ifndef LT_ARRAY_TEXT_H
#define LT_ARRAY_TEXT_H

#include <stdint.h>

#include "error.h"

/*
 * *tasks: how many distinct ids (overlaps count twice: an upper bound);
 * *parallel: %N, 0 = none. LT_EINPUT with the column for bad text,
 * LT_ELIMIT when an id reaches max_array_size (0: LT_ARRAY_TASKS_MAX).
 */
int lt_array_count(const char *text, uint32_t max_array_size, uint32_t *tasks, uint32_t *parallel,
    struct lt_error *err);

#endif
