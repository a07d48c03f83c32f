/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which instance type a partition is: what --map says, then where its price
 * comes from.
 */
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "reconcile_tie.h"

int
lt_tie_type_find(const struct lt_tie_map *map, const char *type)
{
	for (int i = 0; i < map->type_count; i++)
		if (strcasecmp(map->types[i], type) == 0)
			return i;
	return -1;
}

int
lt_tie_type_of(const struct lt_tie_map *map, const char *partition)
{
	for (int i = 0; i < map->count; i++)
		if (strcmp(map->partitions[i].name, partition) == 0)
			return map->partitions[i].type;
	return -1;
}

static int
name_check(const char *name, struct lt_error *err)
{
	const size_t length = strlen(name);

	return length > 0 && length < LT_TIE_NAME_SIZE
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT,
			 "\"%.80s\": want a name of 1 to %d bytes", name,
			 LT_TIE_NAME_SIZE - 1);
}

int
lt_tie_map_add(struct lt_tie_map *map, const char *partition, const char *type,
    struct lt_error *err)
{
	int index = lt_tie_type_find(map, type);

	if (name_check(partition, err) || name_check(type, err))
		return err->code;
	if (lt_tie_type_of(map, partition) >= 0)
		return LT_OK;
	if (map->count == LT_TIE_PARTITIONS_MAX)
		return lt_fail(err, LT_ELIMIT, "more than %d partitions",
		    LT_TIE_PARTITIONS_MAX);
	if (index < 0) {
		index = map->type_count++;
		strcpy(map->types[index], type);
	}
	strcpy(map->partitions[map->count].name, partition);
	map->partitions[map->count++].type = index;
	return LT_OK;
}

/* One "P=TYPE" of that length. */
static int
parse_pair(struct lt_tie_map *map, const char *text, size_t length,
    struct lt_error *err)
{
	char pair[2 * LT_TIE_NAME_SIZE];
	char *equals;

	if (length < sizeof(pair)) {
		memcpy(pair, text, length);
		pair[length] = '\0';
		equals = strchr(pair, '=');
		if (equals != NULL) {
			*equals = '\0';
			return lt_tie_map_add(map, pair, equals + 1, err);
		}
	}
	return lt_fail(err, LT_EINPUT,
	    "got \"%.*s\", want PARTITION=TYPE, as spot=p4d.24xlarge",
	    (int)(length < 80 ? length : 80), text);
}

int
lt_tie_map_parse(struct lt_tie_map *map, const char *text, struct lt_error *err)
{
	for (const char *at = text;; at++) {
		const size_t length = strcspn(at, ",");

		if (parse_pair(map, at, length, err))
			return err->code;
		at += length;
		if (*at == '\0')
			return LT_OK;
	}
}

/* The use of a source as a partition's price, at that place. */
static int
add_uses(struct lt_tie_map *map, const json_t *source, int64_t wanted,
    struct lt_error *err)
{
	const char *const type = lt_json_text(source, "instance_type", "");
	size_t index;
	const json_t *use;

	json_array_foreach(json_object_get(source, "used_by"), index, use) {
		int64_t place = 0;

		if (!type[0] || !lt_json_int(use, "place", &place) ||
		    place != wanted ||
		    strcmp(lt_json_text(use, "key", ""),
			"price_per_node_hour") != 0)
			continue;
		if (lt_tie_map_add(
			map, lt_json_text(use, "partition", ""), type, err))
			return err->code;
	}
	return LT_OK;
}

int
lt_tie_map_signals(
    struct lt_tie_map *map, const json_t *signals, struct lt_error *err)
{
	enum { PLACES_MAX = 16 }; /* sources of one signal, and more */
	const json_t *const sources = json_object_get(signals, "sources");
	size_t index;
	const json_t *source;

	for (int place = 1; place <= PLACES_MAX; place++)
		json_array_foreach(sources, index, source)
			if (add_uses(map, source, place, err))
				return err->code;
	return LT_OK;
}
