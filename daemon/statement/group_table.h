/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The groups of one grouping, found by the texts of their dimensions.
 */
#ifndef LT_SERVE_GROUP_TABLE_H
#define LT_SERVE_GROUP_TABLE_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The figures of a group, in the order of their keys. */
enum lt_group_figure {
	LT_GROUP_RUNS,
	LT_GROUP_COST,
	LT_GROUP_CARBON,
	LT_GROUP_ENERGY,
	LT_GROUP_BASE,
	LT_GROUP_BASE_MG,
	LT_GROUP_CPU_S,
	LT_GROUP_GPU_S,
	LT_GROUP_NODE_S,
	LT_GROUP_FAILED_RUNS,
	LT_GROUP_FAILED,
	LT_GROUP_ESTIMATED_RUNS,
	LT_GROUP_ESTIMATED_MG,
	LT_GROUP_MEASURED,	/* cost of runs of which the use is known, */
	LT_GROUP_IDLE,		/* and what of it was idle, at least */
	LT_GROUP_CARBON_CHARGE, /* in its cost */
	LT_GROUP_DISCOUNT,	/* taken off it */
	LT_GROUP_UNPRICED,	/* runs without a known price, in no cost */
	LT_GROUP_EARLIER,	/* of the cost: of hours before the period; of
				 * groupings by day or month
				 * never */
	LT_GROUP_ENDED,		/* runs that ended in the period; not told */
	LT_GROUP_FIGURES
};
enum { LT_GROUP_KEY_SIZE = 1024 };
struct lt_group_key { /* texts of the dimensions, each with its NUL */
	char bytes[LT_GROUP_KEY_SIZE];
	size_t length;
	bool is_adjustment;
};
struct lt_group {
	char *key; /* texts of its dimensions, each with its NUL; malloc'd */
	size_t key_bytes;
	bool is_adjustment;
	int64_t figures[LT_GROUP_FIGURES];
};

struct lt_group_table { /* of one grouping */
	struct lt_group *items;
	uint32_t count;
	size_t capacity;
	uint32_t *places; /* of twice as many at least: item + 1; 0: free */
	uint32_t place_count;
};

/* The group of that key; a new one is all 0. LT_ELIMIT: there are too many. */
int lt_group_find(struct lt_group_table *table, const struct lt_group_key *key,
    struct lt_group **group, struct lt_error *err);
void lt_group_table_free(struct lt_group_table *table);

#endif
