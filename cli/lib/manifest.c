/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a manifest of Kubernetes, YAML or JSON, into jansson's objects. libyaml's events build the
 * tree, with one entry of the stack for each level of the document; JSON is read by jansson itself.
 * Reports an error as "FILE:LINE:COL: ...".
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "json.h"
#include "manifest.h"
#include "text_mend.h"

struct level {
	json_t *node; /* borrowed from the level around it */
	char *key;    /* of the next value, in an object; malloc'd */
};

struct reading {
	const struct lt_manifest_text *text;
	struct lt_error *err;
	json_t *root; /* ours */
	struct level levels[LT_MANIFEST_DEPTH_MAX];
	int depth;
};

static int complain(struct reading *reading, const yaml_mark_t *at, const char *what,
    const char *which) __attribute__((warn_unused_result));

static int
complain(struct reading *reading, const yaml_mark_t *at, const char *what, const char *which)
{
	lt_fail(reading->err, LT_EINPUT, "%.200s:%zu:%zu: %s%.80s", reading->text->name,
	    at->line + 1, at->column + 1, what, which);
	return lt_error_mend(reading->err, LT_EINPUT);
}

/* ---- plain scalars ---- */

static bool
is_one_of(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

/* Returns the number in text; NULL if it is not one. */
static json_t *
number_of(const char *text)
{
	const char *const digits = text + strspn(text, "+-");
	char *end;

	if (digits > text + 1 || !(isdigit((unsigned char)digits[0]) || digits[0] == '.') ||
	    digits[strspn(digits, "0123456789abcdefxABCDEF.+-")] != '\0')
		return NULL;
	errno = 0;
	/* Base 0, as YAML 1.1 has 0x1f and 017. */
	const long long whole = strtoll(text, &end, 0);
	if (*end == '\0' && errno == 0)
		return json_integer(whole);
	if (strpbrk(digits, "xX") != NULL)
		return NULL;
	errno = 0;
	const double real = strtod(text, &end);
	return *end == '\0' && errno == 0 ? json_real(real) : NULL;
}

/* Reads a text without quotes and tag as kubectl does. */
static json_t *
read_plain(const char *text)
{
	static const char *const nothing[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const yes[] = {
	    "true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", NULL};
	static const char *const no[] = {
	    "false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF", NULL};

	if (is_one_of(text, nothing))
		return json_null();
	if (is_one_of(text, yes))
		return json_true();
	if (is_one_of(text, no))
		return json_false();
	json_t *const number = number_of(text);
	return number != NULL ? number : json_string(text);
}

/* ---- the tree ---- */

/* Puts value, which it owns, at the place that is open in the tree. */
static int
put_value(struct reading *reading, const yaml_event_t *event, json_t *value)
{
	struct level *const level =
	    reading->depth > 0 ? &reading->levels[reading->depth - 1] : NULL;

	if (value == NULL)
		return complain(reading, &event->start_mark, "not UTF-8, or out of memory", "");
	if (level == NULL) {
		reading->root = value;
		return LT_OK;
	}
	if (json_is_array(level->node)) {
		json_array_append_new(level->node, value);
		return LT_OK;
	}
	if (json_object_get(level->node, level->key) != NULL) {
		json_decref(value);
		return complain(reading, &event->start_mark, "there twice: ", level->key);
	}
	const int failed = json_object_set_new(level->node, level->key, value);
	free(level->key);
	level->key = NULL;
	return failed == 0
		   ? LT_OK
		   : complain(reading, &event->start_mark, "not UTF-8, or out of memory", "");
}

static bool
wants_key(const struct reading *reading)
{
	const struct level *const level =
	    reading->depth > 0 ? &reading->levels[reading->depth - 1] : NULL;

	return level != NULL && json_is_object(level->node) && level->key == NULL;
}

static int
take_scalar(struct reading *reading, const yaml_event_t *event)
{
	const char *const text = (const char *)event->data.scalar.value;
	const char *const tag = (const char *)event->data.scalar.tag;
	const bool is_text = tag != NULL && strcmp(tag, YAML_STR_TAG) == 0;

	if (strlen(text) != event->data.scalar.length)
		return complain(reading, &event->start_mark, "a NUL in a text", "");
	if (tag != NULL && !is_text && strcmp(tag, "!") != 0)
		return complain(reading, &event->start_mark, "a tag is not read here: ", tag);
	if (wants_key(reading)) {
		struct level *const level = &reading->levels[reading->depth - 1];

		if (strcmp(text, "<<") == 0)
			return complain(
			    reading, &event->start_mark, "a merge key is not read here: ", text);
		level->key = strdup(text);
		return level->key != NULL
			   ? LT_OK
			   : complain(reading, &event->start_mark, "out of memory", "");
	}
	return put_value(reading, event,
	    event->data.scalar.plain_implicit && tag == NULL ? read_plain(text)
							     : json_string(text));
}

/* Puts node, which it owns, and makes it the open level. */
static int
open_level(struct reading *reading, const yaml_event_t *event, json_t *node)
{
	int code = LT_OK;

	if (wants_key(reading))
		code = complain(reading, &event->start_mark, "a key must be a text", "");
	else if (reading->depth == LT_MANIFEST_DEPTH_MAX)
		code = complain(reading, &event->start_mark, "nested too deep", "");
	if (code != LT_OK) {
		json_decref(node);
		return code;
	}
	code = put_value(reading, event, node);
	if (code == LT_OK)
		reading->levels[reading->depth++] = (struct level){.node = node};
	return code;
}

/* ---- the stream ---- */

static int
take_event(struct reading *reading, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		/* An empty text between two "---" is not a document. */
		if (reading->root != NULL && !json_is_null(reading->root))
			return complain(reading, &event->start_mark,
			    "a second document, want one Job or Pod", "");
		json_decref(reading->root);
		reading->root = NULL;
		return LT_OK;
	case YAML_ALIAS_EVENT:
		return complain(reading, &event->start_mark,
		    "an alias is not read here, write it out: *",
		    (const char *)event->data.alias.anchor);
	case YAML_SCALAR_EVENT:
		return take_scalar(reading, event);
	case YAML_MAPPING_START_EVENT:
		return open_level(reading, event, json_object());
	case YAML_SEQUENCE_START_EVENT:
		return open_level(reading, event, json_array());
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		reading->depth--;
		return LT_OK;
	default:
		return LT_OK;
	}
}

static int
read_yaml(struct reading *reading)
{
	yaml_parser_t parser;
	bool more = true;
	int code = LT_OK;

	if (!yaml_parser_initialize(&parser))
		return lt_fail(reading->err, LT_ENOMEM, "out of memory");
	yaml_parser_set_input_string(
	    &parser, (const unsigned char *)reading->text->bytes, reading->text->length);
	while (more && code == LT_OK) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			code = complain(reading, &parser.problem_mark,
			    "YAML: ", parser.problem != NULL ? parser.problem : "out of memory");
			break;
		}
		more = event.type != YAML_STREAM_END_EVENT;
		code = take_event(reading, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	for (int i = 0; i < LT_MANIFEST_DEPTH_MAX; i++)
		free(reading->levels[i].key);
	return code;
}

int
lt_manifest_parse(json_t **manifest, const struct lt_manifest_text *text, struct lt_error *err)
{
	struct lt_error ignored = {0};
	struct reading reading = {.text = text, .err = err != NULL ? err : &ignored};
	int code = LT_OK;

	if (text->length > LT_MANIFEST_BYTES_MAX)
		return lt_fail(err, LT_ELIMIT, "%.200s: %zu bytes, limit %d", text->name,
		    text->length, LT_MANIFEST_BYTES_MAX);
	/* Most JSON is YAML too, and libyaml names the place of an error. */
	if (text->length == 0 || text->bytes[0] != '{' ||
	    lt_json_load(&reading.root, text->bytes, text->length, NULL) != LT_OK)
		code = read_yaml(&reading);
	if (code == LT_OK && !json_is_object(reading.root))
		code = lt_fail(
		    reading.err, LT_EINPUT, "%.200s: got no object, want a Job or Pod", text->name);
	if (code != LT_OK) {
		json_decref(reading.root);
		return code;
	}
	*manifest = reading.root;
	return LT_OK;
}
