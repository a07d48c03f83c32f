/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Documents by paths of members, times as the API writes them, and an object's name. No state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server.h"

json_t *
json_at(const json_t *root, const char *path)
{
	const json_t *at = root;

	while (at != NULL && *path != '\0') {
		const size_t length = strcspn(path, ".");

		at = json_object_getn(at, path, length);
		path += length + (path[length] == '.');
	}
	return (json_t *)at;
}

const char *
json_text_at(const json_t *root, const char *path)
{
	const char *const text = json_string_value(json_at(root, path));

	return text == NULL ? "" : text;
}

int64_t
json_int_at(const json_t *root, const char *path, int64_t otherwise)
{
	const json_t *const value = json_at(root, path);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

bool
json_true_at(const json_t *root, const char *path)
{
	return json_is_true(json_at(root, path));
}

void
json_put_at(json_t *root, const char *path, json_t *value)
{
	json_t *at = root;

	for (;;) {
		const size_t length = strcspn(path, ".");
		json_t *next;

		if (path[length] == '\0')
			break;
		next = json_object_getn(at, path, length);
		if (!json_is_object(next)) {
			next = json_object();
			json_object_setn_new(at, path, length, next);
		}
		at = next;
		path += length + 1;
	}
	json_object_set_new(at, path, value);
}

void
json_default_at(json_t *root, const char *path, json_t *value)
{
	const json_t *const has = json_at(root, path);

	if (has == NULL || json_is_null(has))
		json_put_at(root, path, value);
	else
		json_decref(value);
}

json_t *
json_member(const json_t *list, const char *member, const char *is)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const char *const text = json_string_value(json_object_get(item, member));

		if (text != NULL && strcmp(text, is) == 0)
			return item;
	}
	return NULL;
}

json_t *
json_time(int64_t utc_ms)
{
	const time_t seconds = (time_t)(utc_ms / 1000);
	struct tm tm;
	char text[32];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

int64_t
json_time_ms(const char *text)
{
	struct tm tm = {0};

	if (strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) == NULL)
		return INT64_MIN;
	return (int64_t)timegm(&tm) * 1000;
}

int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *
object_name(const struct object *object)
{
	const char *const slash = strchr(object->key, '/');

	return slash == NULL ? object->key : slash + 1;
}

const char *
object_space(const struct object *object, char out[256])
{
	const char *const slash = strchr(object->key, '/');

	snprintf(out, 256, "%.*s", slash == NULL ? 0 : (int)(slash - object->key), object->key);
	return out;
}

json_t *
object_edit(const struct object *object)
{
	return json_deep_copy(object->now->document);
}
