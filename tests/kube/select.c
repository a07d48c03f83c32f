/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selectors of a list or a watch: the namespace, labels (a=b, a==b, a!=b, a, !a), and fields (a=b,
 * a!=b). Sets, "a in (b,c)", are not understood.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { TERM_MAX = 16 };

enum test { TEST_IS, TEST_IS_NOT, TEST_EXISTS, TEST_ABSENT };

struct term {
	enum test test;
	bool is_field;
	char name[256], value[256];
};

struct selector {
	char prefix[260]; /* of keys: "namespace/" */
	char name[256];	  /* of the path, "" for any */
	struct term terms[TERM_MAX];
	int count;
};

static bool
term_read(struct term *term, const char *text, bool is_field)
{
	const char *const equals = strchr(text, '=');

	*term = (struct term){.is_field = is_field, .test = TEST_EXISTS};
	if (strpbrk(text, "() ") != NULL || strlen(text) > 250)
		return false;
	if (equals == NULL) {
		term->test = text[0] == '!' ? TEST_ABSENT : TEST_EXISTS;
		snprintf(term->name, sizeof(term->name), "%s", text + (text[0] == '!'));
		return !is_field;
	}
	const bool is_not = equals > text && equals[-1] == '!';

	term->test = is_not ? TEST_IS_NOT : TEST_IS;
	snprintf(term->name, sizeof(term->name), "%.*s", (int)(equals - text) - is_not, text);
	snprintf(term->value, sizeof(term->value), "%s", equals + 1 + (equals[1] == '='));
	return true;
}

static bool
terms_read(struct selector *selector, const char *text, bool is_field)
{
	char copy[2048], *rest = copy, *part;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((part = strsep(&rest, ",")) != NULL) {
		if (part[0] == '\0')
			continue;
		if (selector->count == TERM_MAX ||
		    !term_read(&selector->terms[selector->count++], part, is_field))
			return false;
	}
	return true;
}

struct selector *
selector_read(const struct request *request, bool *bad)
{
	struct selector *const selector = calloc(1, sizeof(*selector));

	if (request->space[0] != '\0')
		snprintf(selector->prefix, sizeof(selector->prefix), "%s/", request->space);
	snprintf(selector->name, sizeof(selector->name), "%s", request->name);
	*bad = !terms_read(selector, request->labels, false) ||
	       !terms_read(selector, request->fields, true);
	if (!*bad)
		return selector;
	free(selector);
	return NULL;
}

bool
selector_is_empty(const struct selector *selector)
{
	return selector->count == 0;
}

static bool
term_has(const struct term *term, const json_t *labels, const json_t *fields)
{
	const char *const value =
	    json_string_value(json_object_get(term->is_field ? fields : labels, term->name));

	switch (term->test) {
	case TEST_IS:
		return value != NULL && strcmp(value, term->value) == 0;
	case TEST_IS_NOT:
		return value == NULL || strcmp(value, term->value) != 0;
	case TEST_EXISTS:
		return value != NULL;
	case TEST_ABSENT:
		return value == NULL;
	}
	return false;
}

bool
selector_has(
    const struct selector *selector, const char *key, const json_t *labels, const json_t *fields)
{
	if (strncmp(key, selector->prefix, strlen(selector->prefix)) != 0)
		return false;
	if (selector->name[0] != '\0' &&
	    strcmp(key + strlen(selector->prefix), selector->name) != 0)
		return false;
	for (int i = 0; i < selector->count; i++)
		if (!term_has(&selector->terms[i], labels, fields))
			return false;
	return true;
}

void
selector_free(struct selector *selector)
{
	free(selector);
}
