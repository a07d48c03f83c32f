/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arrays that grow by doubling.
 */
#ifndef LT_GROW_H
#define LT_GROW_H

#include <stddef.h>

/*
 * The array with room for one item more than count: items itself, or moved, and
 * *capacity is what it has room for. items NULL, *capacity 0: a first one. NULL
 * without memory; items stays as it is. The caller frees it.
 */
void *lt_items_grow(void *items, size_t *capacity, size_t count, size_t item_bytes);

#endif
