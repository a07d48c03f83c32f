/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collections of a policy file and what they hold: sources with their
 * options, signals that name them, GPUs, partitions. Called by keys.c.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "units.h"

static const yaml_node_t *
node_of(const struct lt_reader *reader, int index)
{
	return yaml_document_get_node(reader->document, index);
}

/* A name that no earlier item of the collection has, into the item. */
static bool
take_item_name(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, const char *first, int count, char *name)
{
	const struct lt_key named = {.name = key->name,
	    .want = "a name without spaces, commas or quotes"};
	if (!lt_take_name(reader, &named, node, name, key->items->name_size))
		return false;
	for (int i = 0; i < count; i++) {
		if (strcmp(first + (size_t)i * key->items->item_size, name) ==
		    0) {
			lt_complain(reader, node,
			    "%s: got %s twice, want it once", key->name, name);
			return false;
		}
	}
	return true;
}

/* A wrong item is told and read over, so that those after it are checked. */
void
lt_read_items(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
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
	const ptrdiff_t count = is_named ? node->data.mapping.pairs.top - pairs
					 : node->data.sequence.items.top - list;
	if (count > items->max) {
		lt_complain(reader, node,
		    "%s: got %td entries, want at most "
		    "%d",
		    key->name, count, items->max);
		return;
	}
	if (count == 0)
		return;
	char *array = calloc((size_t)count, items->item_size);
	if (!array) {
		lt_complain(reader, node, "%s: out of memory", key->name);
		return;
	}
	memcpy((char *)object + key->offset, &array, sizeof(array));
	int *used = (void *)((char *)object + items->count_offset);
	for (ptrdiff_t i = 0; i < count && !lt_errors_full(reader); i++) {
		char *item = array + (size_t)*used * items->item_size;
		const yaml_node_t *name =
		    is_named ? node_of(reader, pairs[i].key) : NULL;
		if (is_named &&
		    !take_item_name(reader, key, name, array, *used, item))
			continue;
		items->read(reader, name,
		    node_of(reader, is_named ? pairs[i].value : list[i]), item);
		(*used)++;
	}
}

/* A mapping within the same struct. */
void
lt_read_keys(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	if (node->type == YAML_MAPPING_NODE)
		lt_read_mapping(reader, key->keys, node, object);
	else
		lt_unwanted(reader, key, node, "");
}

/* The body of an item; false when it is no mapping. */
bool
lt_read_body(struct lt_reader *reader, const struct lt_key *keys,
    const char *name, const char *want, const yaml_node_t *node, void *object)
{
	if (node->type == YAML_MAPPING_NODE) {
		lt_read_mapping(reader, keys, node, object);
		return true;
	}
	const struct lt_key body = {.name = name, .want = want};
	lt_unwanted(reader, &body, node, "");
	return false;
}

void
lt_place(const yaml_node_t *node, int *line, int *column)
{
	*line = (int)node->start_mark.line + 1;
	*column = (int)node->start_mark.column + 1;
}

/* ---- sources ---- */

static void
read_adapter(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	struct lt_policy_source *source = object;
	if (!lt_take_name(reader, key, node, source->adapter, key->size))
		return;
	struct lt_nearest nearest;
	lt_nearest_init(&nearest, source->adapter);
	for (const char *const *known = reader->known_adapters; known && *known;
	     known++) {
		if (strcmp(*known, source->adapter) == 0)
			return;
		lt_nearest_try(&nearest, *known);
	}
	char hint[384];
	lt_nearest_text(&nearest, hint, sizeof(hint));
	lt_unwanted(reader, key, node, hint);
}

/* An option of the adapter: kept as text, checked by the adapter. */
static void
read_option(struct lt_reader *reader, struct lt_policy_source *source,
    const yaml_node_t *name, const yaml_node_t *value)
{
	const struct lt_key option_name = {
	    .name = source->name, .want = "the name of an option"};
	if (source->option_count == LT_OPTION_MAX) {
		lt_complain(reader, name,
		    "%s: got more than %d options, "
		    "the limit",
		    source->name, LT_OPTION_MAX);
		return;
	}
	struct lt_policy_option *option =
	    &source->options[source->option_count];
	if (!lt_take_name(
		reader, &option_name, name, option->key, sizeof(option->key)))
		return;
	for (int i = 0; i < source->option_count; i++) {
		if (strcmp(source->options[i].key, option->key) == 0) {
			lt_complain(reader, name,
			    "%s: got it twice (line %d "
			    "has the first), want it once",
			    option->key, source->options[i].line);
			return;
		}
	}
	const struct lt_key option_value = {
	    .name = option->key, .want = "a text or number"};
	const char *text = lt_scalar_peek(value);
	if (!text) {
		lt_unwanted(reader, &option_value, value, "");
		return;
	}
	if (strlen(text) >= sizeof(option->value)) {
		lt_complain(reader, value,
		    "%s: got %zu bytes, want at most "
		    "%zu",
		    option->key, strlen(text), sizeof(option->value) - 1);
		return;
	}
	snprintf(option->value, sizeof(option->value), "%s", text);
	lt_place(value, &option->line, &option->column);
	source->option_count++;
}

void
lt_read_source(struct lt_reader *reader, const yaml_node_t *name,
    const yaml_node_t *node, void *item)
{
	static const struct lt_key adapter = {"adapter", read_adapter,
	    .size = LT_NAME_SIZE, .want = "an adapter"};
	struct lt_policy_source *source = item;
	lt_place(name, &source->line, &source->column);
	if (strchr("0123456789+-.", source->name[0])) {
		lt_complain(reader, name,
		    "%s: a source's name begins with a "
		    "letter, or it would read as a number",
		    source->name);
		return;
	}
	if (node->type != YAML_MAPPING_NODE) {
		lt_read_body(reader, NULL, source->name,
		    "a mapping such as "
		    "{adapter: uk_carbon_intensity, region: 13}",
		    node, item);
		return;
	}
	const yaml_node_t *seen = NULL;
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && !lt_errors_full(reader);
	     pair++) {
		const yaml_node_t *key = node_of(reader, pair->key);
		const yaml_node_t *value = node_of(reader, pair->value);
		const char *text = lt_scalar_peek(key);
		if (!text || strcmp(text, adapter.name) != 0) {
			read_option(reader, source, key, value);
		} else if (seen) {
			lt_complain(reader, key,
			    "adapter: got it twice (line "
			    "%zu has the first), want it once",
			    seen->start_mark.line + 1);
		} else {
			seen = key;
			read_adapter(reader, &adapter, value, source);
		}
	}
	if (!seen)
		lt_complain(reader, name,
		    "%s: adapter: missing, want an "
		    "adapter such as uk_carbon_intensity",
		    source->name);
}

static void
add_source(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, struct lt_policy_signal *signal)
{
	const struct lt_policy *policy = reader->policy;
	const struct lt_key wanted = {
	    .name = key->name, .want = "a source under sources:"};
	const char *text = lt_scalar_peek(node);
	if (!text) {
		lt_unwanted(reader, &wanted, node, "");
		return;
	}
	struct lt_nearest nearest;
	lt_nearest_init(&nearest, text);
	for (int i = 0; i < signal->source_count; i++)
		if (strcmp(policy->sources[signal->sources[i]].name, text) ==
		    0) {
			lt_complain(reader, node,
			    "%s: got %s twice, want each source once",
			    key->name, text);
			return;
		}
	for (int i = 0; i < policy->source_count; i++) {
		if (strcmp(policy->sources[i].name, text) == 0) {
			signal->sources[signal->source_count++] = i;
			signal->is_set = true;
			return;
		}
		lt_nearest_try(&nearest, policy->sources[i].name);
	}
	char hint[384];
	lt_nearest_text(&nearest, hint, sizeof(hint));
	lt_unwanted(reader, &wanted, node, hint);
}

/* A source, or several in order of preference. */
void
lt_read_source_only(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	struct lt_policy_signal *signal =
	    (void *)((char *)object + key->offset);
	lt_place(node, &signal->line, &signal->column);
	if (node->type != YAML_SEQUENCE_NODE) {
		add_source(reader, key, node, signal);
		return;
	}
	const yaml_node_item_t *list = node->data.sequence.items.start;
	const ptrdiff_t count = node->data.sequence.items.top - list;
	if (count < 1 || count > LT_ORDER_MAX) {
		lt_complain(reader, node, "%s: got %td sources, want 1 to %d",
		    key->name, count, LT_ORDER_MAX);
		return;
	}
	for (ptrdiff_t i = 0; i < count; i++)
		add_source(reader, key, node_of(reader, list[i]), signal);
}

/* A number, or sources. A source's name begins with a letter, so all else is
 * a number. */
void
lt_read_signal(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	struct lt_policy_signal *signal =
	    (void *)((char *)object + key->offset);
	const char *text = lt_scalar_peek(node);
	if (node->type == YAML_SEQUENCE_NODE ||
	    (text && text[0] != '\0' && !strchr("0123456789+-.", text[0]))) {
		lt_read_source_only(reader, key, node, object);
		return;
	}
	lt_place(node, &signal->line, &signal->column);
	int64_t micros = 0;
	double value = 0;
	const bool is_number =
	    text &&
	    (key->is_money ? lt_micros_parse(text, &micros, NULL) == LT_OK
			   : lt_double_parse(text, &value, NULL) == LT_OK);
	const double written =
	    key->is_money ? (double)micros / LT_MICROS : value;
	if (!is_number || written < key->min || written > key->max) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	signal->is_set = true;
	signal->is_constant = true;
	signal->constant = key->is_money ? (double)micros : value;
}

/* ---- GPUs and partitions ---- */

void
lt_read_gpu(struct lt_reader *reader, const yaml_node_t *name,
    const yaml_node_t *node, void *item)
{
	(void)name;
	const struct lt_gpu *gpu = item;
	lt_read_body(reader, lt_gpu_keys, gpu->name,
	    "a mapping such as {memory: 40GiB, power_w: 400}", node, item);
}

void
lt_read_gpu_name(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	const struct lt_policy *policy = reader->policy;
	char *name = (char *)object + key->offset;
	if (!lt_take_name(reader, key, node, name, key->size) ||
	    lt_gpu_find(name))
		return;
	struct lt_nearest nearest;
	lt_nearest_init(&nearest, name);
	for (int i = 0; i < policy->gpu_count; i++) {
		if (strcasecmp(policy->gpus[i].name, name) == 0)
			return;
		lt_nearest_try(&nearest, policy->gpus[i].name);
	}
	int count;
	const struct lt_gpu *table = lt_gpu_table(&count);
	for (int i = 0; i < count; i++)
		lt_nearest_try(&nearest, table[i].name);
	char hint[384];
	lt_nearest_text(&nearest, hint, sizeof(hint));
	lt_unwanted(reader, key, node, hint);
}

void
lt_read_preemptible(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	struct lt_policy_partition *partition = object;
	partition->preemptible = true;
	lt_read_keys(reader, key, node, object);
}

void
lt_read_partition(struct lt_reader *reader, const yaml_node_t *name,
    const yaml_node_t *node, void *item)
{
	struct lt_policy_partition *partition = item;
	lt_place(name, &partition->line, &partition->column);
	partition->pue = 1.0;
	partition->own_history = LT_OWN_DEFAULT;
	if (!lt_read_body(reader, lt_partition_keys, partition->name,
		"a mapping such as {carbon: london, "
		"price_per_node_hour: 32.77}",
		node, item))
		return;
	/* On owned nodes energy is all that a decision weighs. */
	if (partition->owned && partition->price.is_set &&
	    !partition->tariff.is_set)
		lt_complain(reader, name,
		    "%s: owned with a price, but "
		    "electricity_price_per_kwh: is missing, want it: it is "
		    "what running there costs",
		    partition->name);
	/* Elsewhere the price is all that is charged and held, and a second
	 * one beside it would only be shown. */
	if (!partition->owned && partition->tariff.is_set)
		lt_complain(reader, name,
		    "%s: electricity_price_per_kwh: is "
		    "for nodes that the site owns, want owned: yes beside it",
		    partition->name);
}
