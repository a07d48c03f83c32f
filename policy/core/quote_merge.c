/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the quote stands in admin_comment, among what other tools keep there:
 * an entry in a text, the last member in a JSON object. Bounded work on
 * bytes; docs/formats.md, "quote".
 */
#include <assert.h>
#include <string.h>

#include "quote.h"

static const char prefix[] = "lowtide:";
static const char version[] = "lowtide:1 ";
static const char key[] = "\"lowtide\"";

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-';
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *
skip_spaces(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

static bool
starts(const char *at, const char *end, const char *word)
{
	const size_t length = strlen(word);

	return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* The first `word` that does not stand inside another word; NULL = none. */
static const char *
find_entry(const char *text, const char *begin, const char *end, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = begin; (size_t)(end - at) >= length; at++) {
		at = memmem(at, (size_t)(end - at), word, length);
		if (at == NULL)
			return NULL;
		if (at == text || !is_word(at[-1]))
			return at;
	}
	return NULL;
}

/* After an entry: its ";" (or, damaged, the end) and the space after it. */
static const char *
skip_entry(const char *entry, const char *end)
{
	const char *at = memchr(entry, ';', (size_t)(end - entry));

	at = at == NULL ? end : at + 1;
	return at + (at < end && *at == ' ');
}

/* True for a JSON object, or text that began as one; its text is kept whole. */
static bool
is_object(const char *at, const char *end)
{
	at = skip_spaces(at, end);
	return at < end && *at == '{' && memchr(at, '}', (size_t)(end - at)) != NULL;
}

struct member { /* ours in an object; value is within its quotes */
	const char *begin, *end, *value, *value_end;
};

/*
 * The first member of ours from begin on. Its key can't stand in another's text: there the quotes
 * have backslashes. Its value ends at its first ";", before which is no quote, backslash or brace.
 */
static bool
find_member(struct member *member, const char *begin, const char *end)
{
	for (const char *at = begin;; at++) {
		at = memmem(at, (size_t)(end - at), key, strlen(key));
		if (at == NULL)
			return false;
		const char *value = skip_spaces(at + strlen(key), end);
		if (value == end || *value != ':')
			continue;
		value = skip_spaces(value + 1, end);
		if (value == end || *value != '"' || !starts(value + 1, end, prefix))
			continue;
		const char *close = value + 1;
		while (close < end && *close != ';' && *close != '\0' &&
		       strchr("\"\\{}", *close) == NULL)
			close++;
		if (end - close < 2 || close[0] != ';' || close[1] != '"')
			continue;
		close++;
		*member = (struct member){at, close + 1, value + 1, close};
		return true;
	}
}

const char *
lt_quote_find(const char *text, size_t length)
{
	const char *const end = text + length;
	struct member member;

	if (!is_object(text, end))
		return find_entry(text, text, end, version);
	return find_member(&member, text, end) && starts(member.value, member.value_end, version)
		   ? member.value
		   : NULL;
}

/* Takes our members out of text, with one comma each; returns the new length. Text that is left may
 * join to another member, so until none is found. */
static size_t
drop_members(char *text, size_t length)
{
	struct member member;

	while (find_member(&member, text, text + length)) {
		const char *const all = text + length;
		const char *begin = member.begin, *end = member.end;

		while (begin > text && is_space(begin[-1]))
			begin--;
		const bool after = begin > text && begin[-1] == ',';
		const char *const next = skip_spaces(end, all);
		if (after)
			begin--;
		else
			begin = member.begin;
		if (!after && next < all && *next == ',')
			end = skip_spaces(next + 1, all);
		memmove(text + (begin - text), end, (size_t)(all - end));
		length -= (size_t)(end - begin);
	}
	return length;
}

/* Our member goes before the last brace. */
static int
merge_member(char *out, size_t size, const char *object, const char *end, const char *ours)
{
	const size_t ours_length = strlen(ours);
	size_t length = (size_t)(end - object);

	if (length >= size)
		goto full;
	memcpy(out, object, length);
	length = drop_members(out, length);
	out[length] = '\0';
	if (ours_length == 0)
		return LT_OK;
	char *const brace = memrchr(out, '}', length);
	const char *last = brace;
	while (last > out && is_space(last[-1]))
		last--;
	const bool comma = last > out && last[-1] != '{';
	const size_t added = comma + strlen(key) + strlen(":\"") + ours_length + strlen("\"");
	if (brace == NULL || added >= size - length)
		goto full;
	memmove(brace + added, brace, length - (size_t)(brace - out) + 1);
	char *at = brace;
	if (comma)
		*at++ = ',';
	at = mempcpy(at, key, strlen(key));
	at = mempcpy(at, ":\"", 2);
	at = mempcpy(at, ours, ours_length);
	*at = '"';
	return LT_OK;
full:
	out[0] = '\0';
	return LT_ELIMIT;
}

int
lt_quote_merge(char *out, size_t size, const char *comment, const char *ours)
{
	assert(size > 0);
	assert(strpbrk(ours, "\"\\{}") == NULL);

	size_t at = strlen(ours);
	const char *const text = comment != NULL ? comment : "";
	const char *const end = text + strlen(text);
	const char *rest = text;
	if (at >= size)
		return LT_ELIMIT;
	const char *after = skip_spaces(text, end);
	while (starts(after, end, prefix))
		after = skip_spaces(skip_entry(after, end), end);
	if (is_object(after, end))
		return merge_member(out, size,
		    starts(skip_spaces(text, end), end, prefix) ? after : text, end, ours);
	memcpy(out, ours, at);
	const size_t start = at;
	while (rest < end) {
		const char *entry = find_entry(text, rest, end, prefix);

		if (entry == NULL)
			entry = end;
		const size_t length = (size_t)(entry - rest);
		const size_t gap = start > 0 && at == start && length > 0;
		if (length + gap >= size - at) {
			out[0] = '\0';
			return LT_ELIMIT;
		}
		if (gap)
			out[at++] = ' ';
		memcpy(out + at, rest, length);
		at += length;
		rest = entry == end ? end : skip_entry(entry, end);
	}
	out[at] = '\0';
	return LT_OK;
}
