/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that never move, filled in order, and a hash table (open addressing) of what was shared.
 * Only memory can lack: then NULL, and nothing is changed.
 */
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

/* Large enough that the system has it back when it is freed. */
enum { BLOCK_BYTES = 256 * 1024, FIRST_PLACES = 256 };

struct block {
	struct block *next;
	alignas(8) char bytes[];
};

struct place {
	const void *bytes; /* NULL: none */
	uint32_t count, hash;
};

struct lt_pool {
	struct block *blocks; /* the last first */
	size_t used, room;    /* of that */
	struct place *places; /* open addressing; at most half are used */
	size_t place_count, shared_count;
};

static struct lt_pool *
make_pool(struct lt_pool **pool)
{
	if (*pool == NULL)
		*pool = calloc(1, sizeof(**pool));
	return *pool;
}

static char *
room_for(struct lt_pool *pool, size_t count)
{
	/* Numbers are of 8 bytes and more; texts need no gaps. */
	if (count % 8 == 0)
		pool->used = (pool->used + 7) / 8 * 8;
	if (pool->blocks == NULL || pool->used > pool->room || pool->room - pool->used < count) {
		const size_t room = BLOCK_BYTES - sizeof(struct block) > count
					? BLOCK_BYTES - sizeof(struct block)
					: count;
		struct block *const block = malloc(sizeof(*block) + room);

		if (block == NULL)
			return NULL;
		block->next = pool->blocks;
		pool->blocks = block;
		pool->used = 0;
		pool->room = room;
	}
	char *const at = pool->blocks->bytes + pool->used;
	pool->used += count;
	return at;
}

const void *
lt_pool_add(struct lt_pool **pool, const void *bytes, size_t count)
{
	char *const at = make_pool(pool) != NULL ? room_for(*pool, count) : NULL;

	return at != NULL ? memcpy(at, bytes, count) : NULL;
}

/* FNV-1a. */
static uint32_t
hash_of(const void *bytes, size_t count)
{
	const unsigned char *const at = bytes;
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * 16777619U;
	return hash;
}

static struct place *
place_of(const struct lt_pool *pool, const struct place *wanted)
{
	size_t i = wanted->hash & (pool->place_count - 1);

	for (;; i = (i + 1) & (pool->place_count - 1)) {
		struct place *const place = &pool->places[i];

		if (place->bytes == NULL ||
		    (place->hash == wanted->hash && place->count == wanted->count &&
			memcmp(place->bytes, wanted->bytes, wanted->count) == 0))
			return place;
	}
}

static bool
grow_places(struct lt_pool *pool)
{
	const struct lt_pool before = *pool;

	if (pool->shared_count < pool->place_count / 2)
		return true;
	const size_t wanted = before.place_count == 0 ? FIRST_PLACES : 2 * before.place_count;
	struct place *const places = calloc(wanted, sizeof(*places));
	if (places == NULL)
		return false;
	pool->places = places;
	pool->place_count = wanted;
	for (size_t i = 0; i < before.place_count; i++)
		if (before.places[i].bytes != NULL)
			*place_of(pool, &before.places[i]) = before.places[i];
	free(before.places);
	return true;
}

const void *
lt_pool_share(struct lt_pool **pool, const void *bytes, size_t count)
{
	const struct place wanted = {bytes, (uint32_t)count, hash_of(bytes, count)};

	if (make_pool(pool) == NULL || !grow_places(*pool))
		return NULL;
	struct place *const place = place_of(*pool, &wanted);
	if (place->bytes == NULL) {
		const void *const copy = lt_pool_add(pool, bytes, count);

		if (copy == NULL)
			return NULL;
		*place = wanted;
		place->bytes = copy;
		(*pool)->shared_count++;
	}
	return place->bytes;
}

void
lt_pool_close(struct lt_pool *pool)
{
	if (pool == NULL)
		return;
	free(pool->places);
	pool->places = NULL;
	pool->place_count = pool->shared_count = 0;
}

void
lt_pool_free(struct lt_pool *pool)
{
	struct block *next;

	if (pool == NULL)
		return;
	lt_pool_close(pool);
	for (struct block *block = pool->blocks; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	free(pool);
}
