/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "group_table.h"
#include "grow.h"
#include "report_groups.h"

static uint32_t
hash_of(const char *key, size_t bytes)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)key[i]) * 16777619u;
	return hash;
}

/* Where it is, or would be. */
static uint32_t *
place_of(
    struct lt_group_table *t, const char *key, size_t bytes, bool is_adjustment)
{
	uint32_t at = hash_of(key, bytes);

	for (;; at++) {
		uint32_t *const place = &t->places[at % t->place_count];
		const struct lt_group *const group =
		    *place > 0 ? &t->items[*place - 1] : NULL;

		if (group == NULL ||
		    (group->key_bytes == bytes &&
			group->is_adjustment == is_adjustment &&
			memcmp(group->key, key, bytes) == 0))
			return place;
	}
}

static int
make_room(struct lt_group_table *t, struct lt_error *err)
{
	if (t->place_count > 2 * (t->count + 1))
		return LT_OK;
	free(t->places);
	t->place_count = 8 * (t->count + 8);
	t->places = calloc(t->place_count, sizeof(*t->places));
	if (t->places == NULL)
		return lt_fail(err, LT_ENOMEM, "by: no memory");
	for (uint32_t i = 0; i < t->count; i++)
		*place_of(t, t->items[i].key, t->items[i].key_bytes,
		    t->items[i].is_adjustment) = i + 1;
	return LT_OK;
}

int
lt_group_find(struct lt_group_table *t, const struct lt_group_key *key,
    struct lt_group **group, struct lt_error *err)
{
	const int rc = make_room(t, err);

	if (rc != LT_OK)
		return rc;
	uint32_t *const place =
	    place_of(t, key->bytes, key->length, key->is_adjustment);
	if (*place == 0) {
		if (t->count == LT_GROUPS_MAX)
			return lt_fail(err, LT_ELIMIT,
			    "by: more than %d groups; ask for a team, or a shorter time",
			    LT_GROUPS_MAX);
		struct lt_group *const grown = lt_items_grow(
		    t->items, &t->capacity, t->count, sizeof(*grown));
		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "by: no memory");
		t->items = grown;
		grown[t->count] = (struct lt_group){.key = malloc(key->length),
		    .key_bytes = key->length,
		    .is_adjustment = key->is_adjustment};
		if (grown[t->count].key == NULL)
			return lt_fail(err, LT_ENOMEM, "by: no memory");
		memcpy(grown[t->count].key, key->bytes, key->length);
		*place = ++t->count;
	}
	*group = &t->items[*place - 1];
	return LT_OK;
}

void
lt_group_table_free(struct lt_group_table *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->items[i].key);
	free(t->items);
	free(t->places);
	*t = (struct lt_group_table){0};
}
