/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The groups of one grouping, found by the texts of their dimensions.
 */
#ifndef LT_SERVE_GROUP_TABLE_H
#define LT_SERVE_GROUP_TABLE_H

#include "error.h"
#include "figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
