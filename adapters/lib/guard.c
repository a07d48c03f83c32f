/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds secrets in texts, in whatever form a source repeats them, and hides them. It stands between
 * web.c and secret.c, which know the secrets, and lt_adapter_fetch(). Without memory for a form the
 * text is hidden as far as it is known.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "grow.h"
#include "guard.h"

enum {
	PART = 8,  /* bytes of a secret that give it away */
	LEAST = 3, /* bytes of a secret; shorter ones are not looked for */
	LEAST_ENCODED = 6,
	TEXT_MAX = 2048,   /* of a text; beyond: cut */
	SECRET_MAX = 4096, /* bytes that are looked for; further: not */
};

static struct {
	char **items;
	size_t count, capacity;
} forms;

static bool
is_kept(const char *form)
{
	for (size_t i = 0; i < forms.count; i++)
		if (strcmp(forms.items[i], form) == 0)
			return true;
	return false;
}

/* Keeps form, malloc'd or NULL, and owns it. A form shorter than least would be found in any text
 * and is dropped. */
static void
keep_form(char *form, size_t least)
{
	char **grown = NULL;

	if (form == NULL)
		return;
	if (strlen(form) >= least && !is_kept(form))
		grown = lt_items_grow(forms.items, &forms.capacity, forms.count, sizeof(*grown));
	if (grown != NULL) {
		forms.items = grown;
		forms.items[forms.count++] = form;
		return;
	}
	explicit_bzero(form, strlen(form));
	free(form);
}

/* Bytes that JSON and HTML escape. */
static const struct {
	const char *bytes, *words[5];
} escapes[] = {
    {"\"\\/", {"\\\"", "\\\\", "\\/"}},
    {"\"\\", {"\\\"", "\\\\"}},
    {"&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}},
};
enum { ESCAPES = sizeof(escapes) / sizeof(escapes[0]) };

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       strchr("-._~", c) != NULL;
}

static char *
escaped(size_t way, const char *secret, size_t length)
{
	char *const out = malloc(6 * length + 1), *at = out;

	for (size_t i = 0; out != NULL && i <= length; i++) {
		const char *const found = i < length ? strchr(escapes[way].bytes, secret[i]) : NULL;

		if (found != NULL)
			at = stpcpy(at, escapes[way].words[found - escapes[way].bytes]);
		else
			*at++ = i < length ? secret[i] : '\0';
	}
	return out;
}

static char *
percent_encoded(bool is_upper, const char *secret, size_t length)
{
	char *const out = malloc(3 * length + 1), *at = out;

	for (size_t i = 0; out != NULL && i < length; i++)
		at += is_plain(secret[i])
			  ? sprintf(at, "%c", secret[i])
			  : sprintf(at, is_upper ? "%%%02X" : "%%%02x", (unsigned char)secret[i]);
	return out;
}

/* Returns the base64 digits that depend on the secret alone, behind `before` bytes. */
static char *
encoded(const char *secret, size_t length, size_t before)
{
	unsigned char *const bytes = calloc(1, before + length);
	char *const text = malloc(4 * ((before + length + 2) / 3) + 1);
	char *form = NULL;

	if (bytes != NULL && text != NULL) {
		const size_t first = (before * 8 + 5) / 6, end = (before + length) * 8 / 6;

		memcpy(bytes + before, secret, length);
		lt_base64(text, bytes, before + length);
		if (end > first)
			form = strndup(text + first, end - first);
		explicit_bzero(bytes, before + length);
		explicit_bzero(text, strlen(text));
	}
	free(bytes);
	free(text);
	return form;
}

/* Returns the form for URLs of RFC 4648, section 5. */
static char *
for_url(const char *base64)
{
	char *const form = base64 == NULL ? NULL : strdup(base64);

	for (char *c = form; c != NULL && *c != '\0'; c++)
		*c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
	return form;
}

void
lt_guard_add(const char *secret)
{
	const size_t length = strnlen(secret, SECRET_MAX);

	if (length == 0)
		return;
	keep_form(strndup(secret, length), LEAST);
	keep_form(percent_encoded(false, secret, length), LEAST);
	keep_form(percent_encoded(true, secret, length), LEAST);
	for (size_t i = 0; i < ESCAPES; i++)
		keep_form(escaped(i, secret, length), LEAST);
	for (size_t before = 0; before < 3; before++) {
		char *const form = encoded(secret, length, before);

		keep_form(for_url(form), LEAST_ENCODED);
		keep_form(form, LEAST_ENCODED);
	}
}

/* Marks the bytes of text that are a part of form. */
static void
mark_parts(bool *marks, const char *text, size_t length, const char *form)
{
	const size_t whole = strlen(form), part = whole < PART ? whole : PART;

	for (size_t i = 0; i + part <= length; i++)
		for (size_t k = 0; k + part <= whole; k++)
			if (memcmp(text + i, form + k, part) == 0) {
				memset(marks + i, true, part);
				break;
			}
}

void
lt_guard_hide(char *text)
{
	const size_t length = strnlen(text, TEXT_MAX);
	bool marks[TEXT_MAX + 1] = {false};
	size_t to = 0;

	for (size_t i = 0; i < forms.count; i++)
		mark_parts(marks, text, length, forms.items[i]);
	for (size_t i = 0, run = 0; i < length; i++) {
		run = marks[i] ? run + 1 : 0;
		if (run == 0)
			text[to++] = text[i];
		else if (run <= 3)
			text[to++] = '*';
	}
	text[to] = '\0';
}

void
lt_guard_forget(void)
{
	for (size_t i = 0; i < forms.count; i++) {
		explicit_bzero(forms.items[i], strlen(forms.items[i]));
		free(forms.items[i]);
	}
	free(forms.items);
	forms.items = NULL;
	forms.count = forms.capacity = 0;
}
