/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three kinds of PATCH: merge (RFC 7396), operations (RFC 6902), and
 * strategic merge, of which this has maps, lists that go by a key, and $patch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

json_t *
patch_merge(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	if (!json_is_object(patch)) {
		json_decref(target);
		return json_deep_copy(patch);
	}
	if (!json_is_object(target)) {
		json_decref(target);
		target = json_object();
	}
	json_object_foreach((json_t *)patch, key, value) {
		if (json_is_null(value))
			json_object_del(target, key);
		else
			json_object_set_new(target, key,
			    patch_merge(json_incref(json_object_get(target, key)), value));
	}
	return target;
}

/* Lists that strategic merge goes through by a key of their items. */
static const char *
merge_key(const char *list)
{
	static const struct {
		const char *list, *key;
	} keys[] = {
	    {"schedulingGates", "name"},
	    {"containers", "name"},
	    {"initContainers", "name"},
	    {"env", "name"},
	    {"volumes", "name"},
	    {"conditions", "type"},
	    {"ownerReferences", "uid"},
	    {"taints", "key"},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].list, list) == 0)
			return keys[i].key;
	return NULL;
}

static const char *
patch_word(const json_t *patch)
{
	return json_text_at(patch, "$patch");
}

static void
merge_item(json_t *list, const json_t *item, const char *key)
{
	const char *const name = json_text_at(item, key);
	json_t *const found = json_member(list, key, name);
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		if (json_array_get(list, i) == found)
			break;
	if (strcmp(patch_word(item), "delete") == 0) {
		if (found != NULL)
			json_array_remove(list, i);
		return;
	}
	if (found == NULL)
		json_array_append_new(list, json_deep_copy(item));
	else
		json_array_set_new(list, i, patch_strategic(json_incref(found), item));
}

static json_t *
merge_list(json_t *target, const json_t *patch, const char *key)
{
	json_t *item;
	size_t i;

	if (!json_is_array(target)) {
		json_decref(target);
		target = json_array();
	}
	json_array_foreach(patch, i, item) {
		if (strcmp(patch_word(item), "replace") == 0)
			json_array_clear(target);
		else
			merge_item(target, item, key);
	}
	return target;
}

static void
merge_member(json_t *target, const char *name, const json_t *value)
{
	json_t *const now = json_incref(json_object_get(target, name));
	const char *const key = merge_key(name);

	if (json_is_object(value))
		json_object_set_new(target, name, patch_strategic(now, value));
	else if (json_is_array(value) && key != NULL)
		json_object_set_new(target, name, merge_list(now, value, key));
	else {
		json_decref(now);
		json_object_set_new(target, name, json_deep_copy(value));
	}
}

json_t *
patch_strategic(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	if (!json_is_object(target)) {
		json_decref(target);
		target = json_object();
	}
	if (strcmp(patch_word(patch), "replace") == 0)
		json_object_clear(target);
	json_object_foreach((json_t *)patch, key, value) {
		if (key[0] == '$')
			continue;
		if (json_is_null(value) || strcmp(patch_word(value), "delete") == 0)
			json_object_del(target, key);
		else
			merge_member(target, key, value);
	}
	return target;
}

/* A place in a document: a container, and the key or index in it. */
struct place {
	json_t *in;
	char key[512];
	size_t index;
	bool is_end; /* "-" */
};

/* Decodes the first part of a pointer; what follows it. */
static const char *
pointer_part(const char *pointer, char out[512])
{
	size_t length = 0;

	for (pointer++; *pointer != '\0' && *pointer != '/'; pointer++) {
		char c = *pointer;

		if (c == '~' && (pointer[1] == '0' || pointer[1] == '1'))
			c = *++pointer == '0' ? '~' : '/';
		if (length < 511)
			out[length++] = c;
	}
	out[length] = '\0';
	return pointer;
}

static json_t *
place_value(const struct place *place)
{
	if (json_is_array(place->in))
		return place->is_end ? NULL : json_array_get(place->in, place->index);
	return json_object_get(place->in, place->key);
}

static bool
place_find(json_t *root, const char *pointer, struct place *place)
{
	json_t *at = root;

	if (pointer[0] != '/')
		return false;
	while (*pointer == '/') {
		char *end;

		*place = (struct place){.in = at};
		pointer = pointer_part(pointer, place->key);
		place->is_end = strcmp(place->key, "-") == 0;
		place->index = strtoul(place->key, &end, 10);
		if (!json_is_object(at) && !(json_is_array(at) && (place->is_end || *end == '\0')))
			return false;
		at = place_value(place);
	}
	return true;
}

static bool
place_add(const struct place *place, const json_t *value)
{
	json_t *const copy = json_deep_copy(value);

	if (copy == NULL)
		return false;
	if (json_is_object(place->in))
		return json_object_set_new(place->in, place->key, copy) == 0;
	return json_array_insert_new(
		   place->in, place->is_end ? json_array_size(place->in) : place->index, copy) == 0;
}

static bool
place_remove(const struct place *place)
{
	if (json_is_object(place->in))
		return json_object_del(place->in, place->key) == 0;
	return json_array_remove(place->in, place->index) == 0;
}

static bool
place_replace(const struct place *place, const json_t *value)
{
	json_t *const copy = json_deep_copy(value);

	if (copy == NULL)
		return false;
	if (json_is_object(place->in))
		return json_object_set_new(place->in, place->key, copy) == 0;
	return json_array_set_new(place->in, place->index, copy) == 0;
}

static bool
operation_move(json_t *root, const json_t *operation, bool removes)
{
	struct place from, to;
	json_t *value;
	bool is_done;

	if (!place_find(root, json_text_at(operation, "from"), &from) ||
	    (value = place_value(&from)) == NULL)
		return false;
	json_incref(value);
	if (removes)
		place_remove(&from);
	is_done = place_find(root, json_text_at(operation, "path"), &to) && place_add(&to, value);
	json_decref(value);
	return is_done;
}

static bool
operation_do(json_t *root, const json_t *operation)
{
	const char *const word = json_text_at(operation, "op");
	const json_t *const value = json_object_get(operation, "value");
	struct place place;

	if (strcmp(word, "move") == 0 || strcmp(word, "copy") == 0)
		return operation_move(root, operation, word[0] == 'm');
	if (!place_find(root, json_text_at(operation, "path"), &place))
		return false;
	if (strcmp(word, "add") == 0)
		return place_add(&place, value);
	if (strcmp(word, "test") == 0)
		return place_value(&place) != NULL ? json_equal(place_value(&place), value) == 1
						   : json_is_null(value);
	if (place_value(&place) == NULL)
		return false;
	if (strcmp(word, "remove") == 0)
		return place_remove(&place);
	return strcmp(word, "replace") == 0 && place_replace(&place, value);
}

json_t *
patch_operations(json_t *target, const json_t *operations)
{
	json_t *operation;
	size_t i;

	json_array_foreach(operations, i, operation)
		if (!operation_do(target, operation)) {
			json_decref(target);
			return NULL;
		}
	return target;
}
