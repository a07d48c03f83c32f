/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collections of a policy file, which are lists or mappings of items, and the sources with their
 * options. Reads YAML nodes, grows the arrays of struct lt_policy. A wrong item is a complaint with
 * its line, and the others are still read.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

static const yaml_node_t *
node_of(const struct lt_reader *reader, int index)
{
	return yaml_document_get_node(reader->document, index);
}

/* Reads into the next item a name that none of the count items before has. */
static bool
take_item_name(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node,
    char *array, int count)
{
	char *const name = array + (size_t)count * key->items->item_size;
	const struct lt_key named = {
	    .name = key->name, .want = "a name without spaces, commas or quotes"};

	if (!lt_take_name(reader, &named, node, name, key->items->name_size))
		return false;
	if (key->items->is_account)
		lt_lower(name);
	for (int i = 0; i < count; i++) {
		if (strcmp(array + (size_t)i * key->items->item_size, name) == 0) {
			lt_complain(
			    reader, node, "%s: got %s twice, want it once", key->name, name);
			return false;
		}
	}
	return true;
}

/* Reports a bad item and keeps going. */
void
lt_read_items(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const struct lt_items *items = key->items;
	const bool is_named = items->name_size > 0;

	if (lt_is_nothing(node))
		return; /* every entry is commented out */
	if (node->type != (is_named ? YAML_MAPPING_NODE : YAML_SEQUENCE_NODE)) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	const yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
	const yaml_node_item_t *list = node->data.sequence.items.start;
	const ptrdiff_t count =
	    is_named ? node->data.mapping.pairs.top - pairs : node->data.sequence.items.top - list;
	if (count > items->max) {
		lt_complain(reader, node, "%s: got %td entries, want at most %d", key->name, count,
		    items->max);
		return;
	}
	if (count == 0)
		return;
	char *array = calloc((size_t)count, items->item_size);
	if (array == NULL) {
		lt_complain(reader, node, "%s: out of memory", key->name);
		return;
	}
	memcpy((char *)object + key->offset, &array, sizeof(array));
	int *used = (void *)((char *)object + items->count_offset);
	for (ptrdiff_t i = 0; i < count && !lt_errors_full(reader); i++) {
		char *item = array + (size_t)*used * items->item_size;
		const yaml_node_t *name = is_named ? node_of(reader, pairs[i].key) : NULL;

		if (is_named && !take_item_name(reader, key, name, array, *used))
			continue;
		items->read(
		    reader, name, node_of(reader, is_named ? pairs[i].value : list[i]), item);
		(*used)++;
	}
}

bool
lt_read_body(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	if (node->type != YAML_MAPPING_NODE) {
		lt_unwanted(reader, key, node, "");
		return false;
	}
	lt_read_mapping(reader, key->keys, node, object);
	return true;
}

/* A mapping within the same struct. */
void
lt_read_keys(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	(void)lt_read_body(reader, key, node, object);
}

void
lt_place(const yaml_node_t *node, int *line, int *column)
{
	*line = (int)node->start_mark.line + 1;
	*column = (int)node->start_mark.column + 1;
}

/* ---- sources ---- */

static void
read_adapter(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_source *source = object;

	if (!lt_take_name(reader, key, node, source->adapter, key->size))
		return;
	if (reader->known_adapters == NULL)
		return;
	for (const char *const *known = reader->known_adapters; *known != NULL; known++)
		if (strcmp(*known, source->adapter) == 0)
			return;
	char hint[384];
	lt_suggest(hint, sizeof(hint), source->adapter, reader->known_adapters);
	lt_unwanted(reader, key, node, hint);
}

/* Reads the weather sources of its forecasts: names, checked when all sources are known
 * (signals_check.c). */
static void
read_weather(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_weather *const weather = (void *)((char *)object + key->offset);

	lt_place(node, &weather->line, &weather->column);
	if (node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.top - node->data.sequence.items.start !=
		LT_SOURCE_WEATHER_MAX) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++)
		if (lt_take_name(reader, key, node_of(reader, *item),
			weather->names[weather->count], key->size))
			weather->count++;
}

/* An option of the adapter: kept as text, checked by the adapter. */
static void
read_option(struct lt_reader *reader, struct lt_policy_source *source, const yaml_node_t *name,
    const yaml_node_t *value)
{
	const struct lt_key option_name = {.name = source->name, .want = "the name of an option"};

	if (source->option_count == LT_OPTION_MAX) {
		lt_complain(reader, name, "%s: got more than %d options, the limit", source->name,
		    LT_OPTION_MAX);
		return;
	}
	struct lt_policy_option *option = &source->options[source->option_count];
	if (!lt_take_name(reader, &option_name, name, option->key, sizeof(option->key)))
		return;
	for (int i = 0; i < source->option_count; i++) {
		if (strcmp(source->options[i].key, option->key) == 0) {
			lt_complain(reader, name,
			    "%s: got it twice (line %d has the first), want it once", option->key,
			    source->options[i].line);
			return;
		}
	}
	const struct lt_key option_value = {.name = option->key, .want = "a text or number"};
	const char *text = lt_scalar_peek(value);
	if (text == NULL) {
		lt_unwanted(reader, &option_value, value, "");
		return;
	}
	if (strlen(text) >= sizeof(option->value)) {
		lt_complain(reader, value, "%s: got %zu bytes, want at most %zu", option->key,
		    strlen(text), sizeof(option->value) - 1);
		return;
	}
	snprintf(option->value, sizeof(option->value), "%s", text);
	lt_place(value, &option->line, &option->column);
	source->option_count++;
}

/* All others are options of the adapter. */
static const struct lt_key own_keys[] = {
    {"adapter", read_adapter, .size = LT_NAME_SIZE, .want = "an adapter"},
    {"weather", read_weather, .offset = offsetof(struct lt_policy_source, weather),
	.size = LT_NAME_SIZE, .want = "a list of three sources: of wind, sun and temperature"},
    {"day_ahead", read_weather, .offset = offsetof(struct lt_policy_source, day_ahead),
	.size = LT_NAME_SIZE,
	.want = "a list of three sources: of wind power, solar power and load"},
};
enum { OWN_KEYS = sizeof(own_keys) / sizeof(own_keys[0]) };

/* OWN_KEYS = no such option. */
static int
own_key(const char *name)
{
	int i = 0;

	while (i < OWN_KEYS && (name == NULL || strcmp(own_keys[i].name, name) != 0))
		i++;
	return i;
}

void
lt_read_source(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	struct lt_policy_source *source = item;
	const yaml_node_t *seen[OWN_KEYS] = {NULL};

	lt_place(name, &source->line, &source->column);
	if (strchr("0123456789+-.", source->name[0]) != NULL) {
		lt_complain(reader, name,
		    "%s: a source's name begins with a letter, or it would read as a number",
		    source->name);
		return;
	}
	if (node->type != YAML_MAPPING_NODE) {
		const struct lt_key body = {.name = source->name,
		    .want = "a mapping such as {adapter: uk_carbon_intensity, region: 13}"};

		lt_unwanted(reader, &body, node, "");
		return;
	}
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && !lt_errors_full(reader); pair++) {
		const yaml_node_t *key = node_of(reader, pair->key);
		const yaml_node_t *value = node_of(reader, pair->value);
		const int own = own_key(lt_scalar_peek(key));

		if (own == OWN_KEYS) {
			read_option(reader, source, key, value);
		} else if (seen[own] != NULL) {
			lt_complain(reader, key,
			    "%s: got it twice (line %zu has the first), want it once",
			    own_keys[own].name, seen[own]->start_mark.line + 1);
		} else {
			seen[own] = key;
			own_keys[own].read(reader, &own_keys[own], value, source);
		}
	}
	if (seen[0] == NULL)
		lt_complain(reader, name,
		    "%s: adapter: missing, want an adapter such as uk_carbon_intensity",
		    source->name);
}
