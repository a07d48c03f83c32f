/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the parts of a JSON text without building it. Between the bytes of a
 * list and jansson.
 */
#include <string.h>

#include "page.h"

static void
skip_blanks(struct lt_kube_span *span)
{
	while (span->at < span->end && memchr(" \t\r\n", *span->at, 4) != NULL)
		span->at++;
}

/* From a quote to after the one that ends it; NULL without that. */
static const char *
text_end(struct lt_kube_span span)
{
	for (const char *at = span.at + 1; at < span.end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			return at + 1;
	}
	return NULL;
}

/* From the first byte of a value to after its last; NULL if it has no end. */
static const char *
value_end(struct lt_kube_span span)
{
	size_t depth = 0;

	for (; span.at < span.end; span.at++) {
		if (*span.at == '"') {
			const char *const after = text_end(span);

			if (after == NULL || depth == 0)
				return after;
			span.at = after - 1;
		} else if (*span.at == '{' || *span.at == '[') {
			depth++;
		} else if (*span.at == '}' || *span.at == ']') {
			if (depth <= 1) /* 0: of what this value stands in */
				return depth == 1 ? span.at + 1 : span.at;
			depth--;
		} else if (depth == 0 &&
			   memchr(", \t\r\n", *span.at, 5) != NULL) {
			return span.at;
		}
	}
	return depth == 0 ? span.end : NULL;
}

/* Reads `"name": value` and what parts it from the next; false at the end. */
static bool
next_member(struct lt_kube_span *rest, struct lt_kube_span *name,
    struct lt_kube_span *value)
{
	skip_blanks(rest);
	if (rest->at == rest->end || *rest->at != '"')
		return false;
	name->at = rest->at + 1;
	rest->at = text_end(*rest);
	if (rest->at == NULL)
		return false;
	name->end = rest->at - 1;
	skip_blanks(rest);
	if (rest->at == rest->end || *rest->at != ':')
		return false;
	rest->at++;
	skip_blanks(rest);
	value->at = rest->at;
	value->end = value_end(*rest);
	if (value->end == NULL || value->end == value->at)
		return false;
	rest->at = value->end;
	skip_blanks(rest);
	if (rest->at < rest->end && *rest->at == ',')
		rest->at++;
	return true;
}

bool
lt_kube_member(
    struct lt_kube_span object, const char *name, struct lt_kube_span *value)
{
	const size_t length = strlen(name);
	struct lt_kube_span key;

	skip_blanks(&object);
	if (object.at == object.end || *object.at != '{')
		return false;
	object.at++;
	while (next_member(&object, &key, value))
		if ((size_t)(key.end - key.at) == length &&
		    memcmp(key.at, name, length) == 0)
			return true;
	return false;
}

bool
lt_kube_elements(struct lt_kube_span array, struct lt_kube_span *rest)
{
	if (array.at == array.end || *array.at != '[')
		return false;
	*rest = array;
	rest->at++;
	return true;
}

int
lt_kube_next(struct lt_kube_span *rest, struct lt_kube_span *element)
{
	skip_blanks(rest);
	if (rest->at < rest->end && *rest->at == ']')
		return 0;
	element->at = rest->at;
	element->end = value_end(*rest);
	if (element->end == NULL || element->end == element->at)
		return -1;
	rest->at = element->end;
	skip_blanks(rest);
	if (rest->at < rest->end && *rest->at == ',')
		rest->at++;
	return 1;
}

void
lt_kube_text(struct lt_kube_span value, char *out, size_t size)
{
	const size_t length = (size_t)(value.end - value.at);

	out[0] = '\0';
	if (length < 2 || length - 2 >= size || value.at[0] != '"' ||
	    memchr(value.at, '\\', length) != NULL ||
	    memchr(value.at, '\0', length) != NULL)
		return;
	memcpy(out, value.at + 1, length - 2);
	out[length - 2] = '\0';
}
