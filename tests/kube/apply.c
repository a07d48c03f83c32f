/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who set which field, in metadata.managedFields, and server-side apply, which goes by that.
 * Source: sigs.k8s.io/structured-merge-diff, merge/update.go, and "Server-Side Apply" of
 * Kubernetes' reference. A set of fields is a document of FieldsV1: {"f:spec":{"f:suspend":{}}};
 * items of lists that have a key are "k:{"name":"main"}", with "." for the item itself. Status is
 * not followed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

bool
apply_is(const struct request *request)
{
	static const char type[] = "application/apply-patch+yaml";

	return strcmp(request->method, "PATCH") == 0 &&
	       strncmp(request->type, type, sizeof(type) - 1) == 0;
}

/* The key of this list's items. NULL: whoever sets one of them sets all. */
static const char *
list_key(const char *name)
{
	static const char *const by_name[] = {
	    "containers", "initContainers", "env", "volumes", "schedulingGates"};

	for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++)
		if (strcmp(by_name[i], name) == 0)
			return "name";
	return strcmp(name, "ownerReferences") == 0 ? "uid" : NULL;
}

/* +mapType=atomic, or what has no members. */
static bool
is_map(const json_t *value, const char *name)
{
	return json_object_size(value) > 0 && strcmp(name, "nodeSelector") != 0;
}

static json_t *
item_field(const json_t *item, const char *key)
{
	json_t *const name = json_pack("{s:O}", key, json_object_get(item, key));
	char *const text = json_dumps(name, JSON_COMPACT);
	json_t *const field = json_sprintf("k:%s", text);

	free(text);
	json_decref(name);
	return field;
}

/* ---- sets ---- */

static json_t *differing(
    const json_t *now, const json_t *other, const char *name, bool only_missing);

/* Takes the set over; NULL is none of it. */
static void
put_field(json_t *set, json_t *field, json_t *of_it)
{
	if (of_it != NULL)
		json_object_set_new(set, json_string_value(field), of_it);
	json_decref(field);
}

static json_t *
differing_items(const json_t *now, const json_t *other, const char *key, bool only_missing)
{
	json_t *const set = json_object();
	json_t *item;
	size_t i;

	json_array_foreach(now, i, item) {
		const json_t *const same = json_member(other, key, json_text_at(item, key));
		json_t *of_it = differing(item, same, "", only_missing);

		if (same == NULL && of_it != NULL)
			json_object_set_new(of_it, ".", json_object());
		put_field(set, item_field(item, key), of_it);
	}
	return set;
}

/* Fields of `now` that `other` has not, or otherwise. NULL: none. */
static json_t *
differing(const json_t *now, const json_t *other, const char *name, bool only_missing)
{
	const char *const key = list_key(name), *member;
	json_t *set, *value;

	if (other != NULL && json_equal(now, other) == 1)
		return NULL;
	if (json_array_size(now) > 0 && key != NULL) {
		set = differing_items(now, other, key, only_missing);
	} else if (is_map(now, name)) {
		set = json_object();
		json_object_foreach((json_t *)now, member, value)
			put_field(set, json_sprintf("f:%s", member),
			    differing(value, json_object_get(other, member), member, only_missing));
	} else {
		return only_missing && other != NULL ? NULL : json_object();
	}
	if (json_object_size(set) > 0)
		return set;
	json_decref(set);
	return NULL;
}

/* Takes fields out of a set. */
static void
set_without(json_t *set, const json_t *fields)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(set, next, name, value)
	{
		json_t *const gone = json_object_get(fields, name);

		if (gone == NULL)
			continue;
		if (json_object_size(gone) == 0)
			json_object_del(value, ".");
		else if (json_object_size(value) > 0)
			set_without(value, gone);
		else
			continue;
		if (json_object_size(value) == 0)
			json_object_del(set, name);
	}
}

/* Paths of the fields that both sets have, as a real server writes them. */
static void
add_common(json_t *paths, const json_t *a, const json_t *b, const char *path)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)a, name, value) {
		const json_t *const other = json_object_get(b, name);
		json_t *key = NULL, *is = NULL;
		const char *member = "";
		char at[1024];

		if (other == NULL || strcmp(name, ".") == 0)
			continue;
		if (name[0] == 'k') {
			key = json_loads(name + 2, 0, NULL);
			member = json_object_iter_key(json_object_iter(key));
			is = json_object_get(key, member);
		}
		if (key != NULL)
			snprintf(
			    at, sizeof(at), "%s[%s=\"%s\"]", path, member, json_string_value(is));
		else
			snprintf(at, sizeof(at), "%s.%s", path, name + 2);
		json_decref(key);
		if (json_object_size(value) == 0 && json_object_size(other) == 0)
			json_array_append_new(paths, json_string(at));
		else
			add_common(paths, value, other, at);
	}
}

/* What managers may set: without what identifies it, and what the server writes. */
static json_t *
managed_part(const json_t *document)
{
	static const char *const own[] = {"name", "namespace", "uid", "resourceVersion",
	    "creationTimestamp", "generation", "generateName", "deletionTimestamp",
	    "deletionGracePeriodSeconds", "managedFields"};
	json_t *const part = document == NULL ? json_object() : json_deep_copy(document);

	json_object_del(part, "kind");
	json_object_del(part, "apiVersion");
	json_object_del(part, "status");
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		json_object_del(json_at(part, "metadata"), own[i]);
	return part;
}

/* ---- managers ---- */

static json_t *
manager_find(const json_t *managers, const char *name, const char *operation)
{
	json_t *manager;
	size_t i;

	json_array_foreach(managers, i, manager)
		if (strcmp(json_text_at(manager, "manager"), name) == 0 &&
		    strcmp(json_text_at(manager, "operation"), operation) == 0)
			return manager;
	return NULL;
}

/* Its own set is from now on this, which is taken over. */
static void
manager_put(json_t *managers, const struct request *request, json_t *set)
{
	const char *const operation = apply_is(request) ? "Apply" : "Update";
	json_t *manager = manager_find(managers, request->manager, operation);

	if (manager == NULL) {
		manager = json_pack("{s:s,s:s,s:s,s:s,s:{}}", "manager", request->manager,
		    "operation", operation, "apiVersion", kinds[request->kind].api_version,
		    "fieldsType", "FieldsV1", "fieldsV1");
		json_array_append_new(managers, manager);
	}
	if (json_equal(json_object_get(manager, "fieldsV1"), set) == 1) {
		json_decref(set);
		return;
	}
	json_object_set_new(manager, "fieldsV1", set);
	json_object_set_new(manager, "time", json_time(now_ms()));
}

static void
managers_without(json_t *managers, const json_t *fields, const json_t *but)
{
	size_t i = 0;

	while (fields != NULL && i < json_array_size(managers)) {
		json_t *const manager = json_array_get(managers, i);
		json_t *const set = json_object_get(manager, "fieldsV1");

		if (manager != but)
			set_without(set, fields);
		if (json_object_size(set) == 0)
			json_array_remove(managers, i);
		else
			i++;
	}
}

static json_t *
managers_of(const json_t *document)
{
	json_t *const managers =
	    document == NULL ? NULL : json_at(document, "metadata.managedFields");

	return managers == NULL ? json_array() : json_deep_copy(managers);
}

static void
managers_put(json_t *document, json_t *managers)
{
	if (json_array_size(managers) > 0)
		json_put_at(document, "metadata.managedFields", managers);
	else
		json_decref(managers);
}

void
apply_note_update(const struct request *request, const json_t *before, json_t *after)
{
	json_t *const was = managed_part(before), *const is = managed_part(after);
	json_t *const changed = differing(is, was, "", false);
	json_t *const removed = differing(was, is, "", true);
	json_t *const managers = managers_of(before);
	const json_t *own = manager_find(managers, request->manager, "Update");
	json_t *const set =
	    own == NULL ? json_object() : json_deep_copy(json_object_get(own, "fieldsV1"));

	if (changed != NULL)
		json_object_update_recursive(set, changed);
	if (removed != NULL)
		set_without(set, removed);
	if (own != NULL || json_object_size(set) > 0)
		manager_put(managers, request, json_incref(set));
	own = manager_find(managers, request->manager, "Update");
	managers_without(managers, changed, own);
	managers_without(managers, removed, NULL);
	managers_put(after, managers);
	json_decref(set);
	json_decref(changed);
	json_decref(removed);
	json_decref(was);
	json_decref(is);
}

/* ---- apply ---- */

/* Takes now over. */
static json_t *
merged(json_t *now, const json_t *config, const char *name)
{
	const char *const key = list_key(name), *member;
	json_t *value;
	size_t i, at;

	if (is_map(config, name) && json_is_object(now)) {
		json_object_foreach((json_t *)config, member, value)
			json_object_set_new(now, member,
			    merged(json_incref(json_object_get(now, member)), value, member));
		return now;
	}
	if (!json_is_array(config) || key == NULL || !json_is_array(now)) {
		json_decref(now);
		return json_deep_copy(config);
	}
	json_array_foreach(config, i, value) {
		json_t *const same = json_member(now, key, json_text_at(value, key));

		for (at = 0; same != NULL && json_array_get(now, at) != same;)
			at++;
		if (same == NULL)
			json_array_append_new(now, json_deep_copy(value));
		else
			json_array_set_new(now, at, merged(json_incref(same), value, ""));
	}
	return now;
}

/* Takes these fields out of a document. */
static void
prune(json_t *document, const json_t *fields)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)fields, name, value) {
		json_t *const in = json_object_get(document, name + 2);

		if (name[0] != 'f')
			continue;
		if (json_is_array(in) && json_object_size(value) > 0) {
			for (size_t i = json_array_size(in); i-- > 0;) {
				json_t *const item = json_array_get(in, i);
				json_t *const field = item_field(item, list_key(name + 2));
				const json_t *const of_it =
				    json_object_get(value, json_string_value(field));

				json_decref(field);
				if (json_object_get(of_it, ".") != NULL)
					json_array_remove(in, i);
				else
					prune(item, of_it);
			}
		} else if (json_object_size(value) > 0) {
			prune(in, value);
		}
		if (json_object_size(value) == 0 ||
		    (json_object_size(in) == 0 && json_array_size(in) == 0))
			json_object_del(document, name + 2);
	}
}

/* What this manager applied last, and neither it nor another applier does
 * now, goes. */
static void
prune_left(json_t *document, const json_t *managers, json_t *left)
{
	json_t *manager;
	size_t i;

	json_array_foreach(managers, i, manager)
		if (strcmp(json_text_at(manager, "operation"), "Apply") == 0)
			set_without(left, json_object_get(manager, "fieldsV1"));
	prune(document, left);
}

/* False with a reply: others have set some of these fields. */
static bool
no_conflicts(const struct request *request, const json_t *managers, const json_t *changed,
    struct reply *reply)
{
	json_t *const causes = json_array();
	json_t *manager, *path;
	size_t i, k;

	json_array_foreach(managers, i, manager) {
		json_t *const paths = json_array();

		if (strcmp(json_text_at(manager, "operation"), "Apply") != 0 ||
		    strcmp(json_text_at(manager, "manager"), request->manager) != 0)
			add_common(paths, json_object_get(manager, "fieldsV1"), changed, "");
		json_array_foreach(paths, k, path)
			json_array_append_new(causes,
			    json_pack("{s:s,s:o,s:O}", "reason", "FieldManagerConflict", "message",
				json_sprintf("conflict with \"%s\" using %s",
				    json_text_at(manager, "manager"),
				    json_text_at(manager, "apiVersion")),
				"field", path));
		json_decref(paths);
	}
	const bool are_none = json_array_size(causes) == 0;
	if (!are_none)
		reply_conflicts(reply, causes);
	json_decref(causes);
	return are_none;
}

json_t *
apply_to(
    const struct request *request, const json_t *live, const json_t *config, struct reply *reply)
{
	json_t *const was = managed_part(live);
	json_t *const asked = managed_part(config);
	json_t *const managers = managers_of(live);
	const json_t *const last = manager_find(managers, request->manager, "Apply");
	json_t *const left =
	    last == NULL ? json_object() : json_deep_copy(json_object_get(last, "fieldsV1"));
	json_t *const set = differing(asked, NULL, "", false);
	json_t *result = merged(live == NULL ? json_object() : json_deep_copy(live), config, "");

	manager_put(managers, request, set == NULL ? json_object() : set);
	prune_left(result, managers, left);
	json_t *const is = managed_part(result);
	json_t *const changed = differing(is, was, "", false);
	json_t *const removed = differing(was, is, "", true);
	if (request->force || no_conflicts(request, managers, changed, reply)) {
		managers_without(
		    managers, changed, manager_find(managers, request->manager, "Apply"));
		managers_without(managers, removed, NULL);
		managers_put(result, json_incref(managers));
	} else {
		json_decref(result);
		result = NULL;
	}
	json_decref(changed);
	json_decref(removed);
	json_decref(is);
	json_decref(left);
	json_decref(managers);
	json_decref(asked);
	json_decref(was);
	return result;
}
