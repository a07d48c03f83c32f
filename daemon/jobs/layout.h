/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a record points to, as a table: for who copies or moves it.
 */
#ifndef LT_LAYOUT_H
#define LT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "batch.h"

struct lt_part {     /* that a record points to */
	size_t at;   /* the pointer */
	size_t size; /* 0: a text */
	bool is_own; /* seldom another's, too */
};

struct lt_layout { /* a record */
	size_t size;
	int part_count;
	struct lt_part parts[15];
};

extern const struct lt_layout lt_layout_of_job, lt_layout_of_run;

const void *lt_part_get(const void *record, const struct lt_part *part);
void lt_part_set(void *record, const struct lt_part *part, const void *at);
/* NULL has none. */
size_t lt_part_length(const void *at, const struct lt_part *part);
/* Into a pool. NULL: no memory. */
const void *lt_part_pool(
    struct lt_pool **pool, const struct lt_part *part, const void *at);

#endif
