/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text: the one builder of text and the one escaping function for the
 * plugins, the daemon's log and the command; lines that leave out whole parts
 * until they are short enough (brief.h); and the known word that is nearest
 * to a wrong one.
 *
 * Reads and writes the caller's buffers only. Nothing fails: text that does not fit is cut, and the
 * builder remembers that it was.
 */
#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "brief.h"
#include "counts.h"
#include "text.h"

/* ---- Building and escaping text ---- */

void
lt_text_put(struct lt_text *text, const char *format, ...)
{
	assert(text->at <= text->size);

	const size_t left = text->size - text->at;
	va_list arguments;

	va_start(arguments, format);
	const int length = vsnprintf(text->out + text->at, left, format, arguments);
	va_end(arguments);
	text->full = text->full || length < 0 || (size_t)length >= left;
	if (!text->full)
		text->at += (size_t)length;
	else if (left > 0)
		text->at = text->size - 1;
}

void
lt_text_put_bytes(struct lt_text *text, const char *bytes, size_t count)
{
	assert(text->at <= text->size);

	const size_t left = text->size - text->at;
	const size_t fits = count < left ? count : left > 0 ? left - 1 : 0;

	text->full = text->full || count >= left;
	memcpy(text->out + text->at, bytes, fits);
	text->at += fits;
	if (left > 0)
		text->out[text->at] = '\0';
}

void
lt_text_put_number(struct lt_text *text, int64_t number)
{
	char digits[20];
	size_t first = sizeof(digits);
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

	do {
		digits[--first] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (number < 0)
		digits[--first] = '-';
	lt_text_put_bytes(text, digits + first, sizeof(digits) - first);
}

static bool
continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Returns the length of the UTF-8 character that begins with this byte; 1 = none does. */
static int
length_of(unsigned char first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 1;
}

/* Bytes of the character here, 0 = it is no UTF-8. */
static int
character_bytes(const char *at)
{
	const unsigned char first = (unsigned char)at[0];
	const int length = length_of(first);

	if (first < 0x80)
		return 1;
	for (int i = 1; i < length; i++)
		if (!continues(at[i]))
			return 0;
	return length > 1 ? length : 0;
}

/* U+2028 to U+202E, U+2066 to U+2069: ends of lines, and what turns the order of all text after it
 * around. */
static bool
steers_order(const unsigned char *at)
{
	return at[0] == 0xe2 && ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
				    (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

int
lt_control_bytes(const char *at)
{
	const unsigned char c = (unsigned char)at[0];

	if (c < 0x20 || c == 0x7f || character_bytes(at) == 0)
		return 1;
	if (steers_order((const unsigned char *)at))
		return 3;
	return c == 0xc2 && (unsigned char)at[1] <= 0x9f ? 2 : 0;
}

static void
escape(char *text, bool is_line)
{
	while (*text >= ' ' && *text <= '~')
		text++; /* as most of it is */
	const char *from = text;
	while (*from) {
		const bool stays = !is_line && (*from == '\n' || *from == '\t');
		const int bytes = stays ? 0 : lt_control_bytes(from);
		const int kept = bytes ? 0 : character_bytes(from);

		if (bytes)
			*text++ = '?';
		for (int i = 0; i < kept; i++)
			*text++ = from[i];
		from += bytes ? bytes : kept;
	}
	*text = '\0';
}

void
lt_text_line(char *text)
{
	escape(text, true);
}

void
lt_text_lines(char *text)
{
	escape(text, false);
}

void
lt_copy(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text == NULL ? "" : text);
}

void
lt_copy_lower(char *out, size_t size, const char *text)
{
	lt_copy(out, size, text);
	for (char *c = out; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
}

const char *
lt_name_word(char *out, size_t size, const char *name)
{
	struct lt_text text = {.out = out, .size = size};

	if (name[0] == '\0')
		lt_text_put_bytes(&text, "-", 1);
	else if (strcmp(name, "-") == 0)
		lt_text_put(&text, "%%%02X", '-');
	else
		for (const char *c = name; *c != '\0'; c++)
			if ((unsigned char)*c <= ' ' || *c == '%' || *c == '\177')
				lt_text_put(&text, "%%%02X", (unsigned char)*c);
			else
				lt_text_put_bytes(&text, c, 1);
	return out;
}

void
lt_name_of_word(char *out, size_t size, const char *word)
{
	struct lt_text text = {.out = out, .size = size};

	out[0] = '\0';
	for (const char *c = strcmp(word, "-") == 0 ? "" : word; *c != '\0'; c++) {
		char byte = *c;

		if (*c == '%' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2])) {
			const char digits[] = {c[1], c[2], '\0'};

			byte = (char)strtoul(digits, NULL, 16);
			c += 2;
		}
		lt_text_put_bytes(&text, &byte, byte != '\0');
	}
}

bool
lt_text_is_among(const char *name, const char *names)
{
	const size_t length = strlen(name);

	for (const char *at = names; at != NULL && *at != '\0';) {
		const size_t part = strcspn(at, ",");

		if (part == length && strncmp(at, name, length) == 0)
			return true;
		at += part + (at[part] == ',');
	}
	return false;
}

/* Behind the character at text, or the escape sequence: ESC [ ... letter. */
static const char *
skip_one(const char *text, int *width)
{
	if (text[0] != '\033' || text[1] != '[') {
		*width += !continues(*text);
		return text + 1;
	}
	for (text += 2; *text != '\0' && !isalpha((unsigned char)*text);)
		text++;
	return *text != '\0' ? text + 1 : text;
}

int
lt_text_width(const char *text)
{
	int width = 0;

	while (*text != '\0')
		text = skip_one(text, &width);
	return width;
}

size_t
lt_text_words(const char *text, int columns)
{
	const char *at = text, *fits = text, *cell = text;
	int width = 0;

	while (*at != '\0') {
		if (width > columns / 2 && at[0] == ' ' && at[1] == ' ')
			cell = at;
		for (; *at == ' '; at++)
			width++;
		while (*at != ' ' && *at != '\0')
			at = skip_one(at, &width);
		if (width > columns && fits > text)
			return (size_t)((cell > text ? cell : fits) - text);
		fits = at;
	}
	return (size_t)(fits - text);
}

void
lt_text_wrap(char *text, int columns)
{
	while (*text != '\0') {
		char *const end = text + strcspn(text, "\n");
		const char was = *end;

		*end = '\0';
		text += lt_text_words(text, columns);
		*end = was;
		if (text < end)
			*text = '\n';
		text += *text != '\0';
	}
}

/* ---- Lines that leave out parts ---- */

/* Length of a name that is shown before "..." */
enum { NAME_SHOWN = 21, NAME_SHORT = NAME_SHOWN + 3 };

void
lt_brief_put(struct lt_brief *line, uint16_t keep, const char *before, const char *format, ...)
{
	assert(line->used <= sizeof(line->text));

	const size_t room = sizeof(line->text) - line->used;
	va_list list;

	if (line->count == LT_BRIEF_PARTS)
		return;
	va_start(list, format);
	const int length = vsnprintf(line->text + line->used, room, format, list);
	va_end(list);
	if (length < 0 || (size_t)length >= room)
		return;
	line->parts[line->count].before = before;
	line->parts[line->count].instead = NULL;
	line->parts[line->count].at = (uint16_t)line->used;
	line->parts[line->count].keep = keep;
	line->count++;
	line->used += (uint32_t)length + 1;
}

void
lt_brief_put_name(
    struct lt_brief *line, uint16_t keep, uint16_t keep_end, const char *before, const char *name)
{
	const char *end = name;
	int columns = 0;

	if (lt_text_width(name) <= NAME_SHORT) {
		lt_brief_put(line, keep, before, "%s", name);
		return;
	}
	/* The first bytes of characters: what continues one has no width. */
	while (*end != '\0' && (columns < NAME_SHOWN || ((unsigned char)*end & 0xc0) == 0x80))
		columns += ((unsigned char)*end++ & 0xc0) != 0x80;
	lt_brief_put(line, keep, before, "%.*s", (int)(end - name), name);
	lt_brief_put(line, keep_end, "", "%s", end);
	if (line->count > 0)
		line->parts[line->count - 1].instead = "...";
}

/* The part of the text that is written: the parts up to keep, and in one of them the details before
 * the end. */
struct kept {
	uint16_t keep;
	uint32_t end; /* of the parts of just this keep */
};

static const char *
shown(const struct lt_brief *line, uint32_t i, const struct kept *kept)
{
	const uint16_t keep = line->parts[i].keep;

	return keep < kept->keep || (keep == kept->keep && i < kept->end)
		   ? line->text + line->parts[i].at
		   : line->parts[i].instead;
}

static int
width(const struct lt_brief *line, const struct kept *kept)
{
	int columns = 0;

	for (uint32_t i = 0; i < line->count; i++) {
		const char *const words = shown(line, i, kept);

		if (words == NULL)
			continue;
		columns +=
		    (columns > 0 ? lt_text_width(line->parts[i].before) : 0) + lt_text_width(words);
	}
	return columns;
}

/* Leaves out the least important part; false: no part is left. */
static bool
leave_out(struct kept *kept, const struct lt_brief *line)
{
	struct kept less = {0, 0};
	bool any = false;

	for (uint32_t i = 0; i < line->count; i++) {
		const uint16_t keep = line->parts[i].keep;

		if (keep > kept->keep || (keep == kept->keep && i >= kept->end))
			continue;
		if (!any || keep >= less.keep)
			less = (struct kept){keep, i};
		any = true;
	}
	*kept = less;
	return any;
}

const char *
lt_brief_text(char *out, size_t size, const struct lt_brief *line, int columns)
{
	assert(line->count <= LT_BRIEF_PARTS);

	struct lt_text text = {.out = out, .size = size};
	struct kept kept = {UINT16_MAX, LT_BRIEF_PARTS};

	if (size > 0)
		out[0] = '\0';
	while (width(line, &kept) > columns && leave_out(&kept, line))
		continue;
	for (uint32_t i = 0; i < line->count; i++) {
		const char *const words = shown(line, i, &kept);

		if (words != NULL)
			lt_text_put(&text, "%s%s", text.at > 0 ? line->parts[i].before : "", words);
	}
	return out;
}

/* ---- The nearest word ---- */

enum { WORD_MAX = 64, BEGINNING_MIN = 3 }; /* longer: near to none */

static size_t
distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			const size_t changed = diagonal + (tolower((unsigned char)a[i - 1]) !=
							      tolower((unsigned char)b[j - 1]));

			diagonal = row[j];
			row[j] = smaller(changed, smaller(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_length];
}

const char *
lt_nearest_word(const char *word, const char *const *names)
{
	const char *nearest = NULL;
	const size_t length = strlen(word);
	size_t limit = (length < 6 ? 2 : length / 3) + 1;

	if (length > WORD_MAX)
		return NULL;
	for (; *names != NULL; names++) {
		const size_t width = strlen(*names);

		if (width > WORD_MAX)
			continue;
		const size_t apart =
		    length >= BEGINNING_MIN && strncasecmp(word, *names, length) == 0
			? 1
			: distance(word, length, *names, width);

		if (apart < limit && apart < width && apart < length) {
			limit = apart;
			nearest = *names;
		}
	}
	return nearest;
}
