/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the bytes that records of a long list point to, in one place that is freed whole. Most
 * records say the same, and share one copy.
 */
#ifndef LT_POOL_H
#define LT_POOL_H

#include <stddef.h>

struct lt_pool; /* NULL: an empty one */

/* A copy of the bytes, aligned for any type from 8 bytes on; the one that is there, where these
 * were shared before. NULL without memory. */
const void *lt_pool_share(struct lt_pool **pool, const void *bytes, size_t count);
/* A copy of its own of bytes that no other has. */
const void *lt_pool_add(struct lt_pool **pool, const void *bytes, size_t count);
/* Nothing comes any more: what it needs to find copies goes. */
void lt_pool_close(struct lt_pool *pool);
void lt_pool_free(struct lt_pool *pool);

#endif
