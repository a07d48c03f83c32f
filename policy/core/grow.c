/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Grows arrays by doubling: the one way in which arrays grow. Without memory it returns NULL, and
 * the caller's array stays as it is.
 */
#include <assert.h>
#include <stdlib.h>

#include "grow.h"

enum { FIRST_COUNT = 64 };

void *
lt_items_grow(void *items, size_t *capacity, size_t count, size_t item_bytes)
{
	assert(count <= *capacity && item_bytes > 0);
	assert((items == NULL) == (*capacity == 0));

	if (count < *capacity)
		return items;
	const size_t wanted = *capacity == 0 ? FIRST_COUNT : 2 * *capacity;
	void *const grown = reallocarray(items, wanted, item_bytes);
	if (grown != NULL)
		*capacity = wanted;
	return grown;
}
