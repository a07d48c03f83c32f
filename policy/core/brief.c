/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line that leaves out whole parts until it is as short as it has to be.
 */
#include "brief.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

/* Of a name, before "..." */
enum { NAME_SHOWN = 21, NAME_SHORT = NAME_SHOWN + 3 };

void
lt_brief_put(struct lt_brief *line, uint16_t keep, const char *before,
    const char *format, ...)
{
	assert(line->used <= sizeof(line->text));

	const size_t room = sizeof(line->text) - line->used;
	va_list list;

	if (line->count == LT_BRIEF_PARTS)
		return;
	va_start(list, format);
	const int length =
	    vsnprintf(line->text + line->used, room, format, list);
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
lt_brief_put_name(struct lt_brief *line, uint16_t keep, uint16_t keep_end,
    const char *before, const char *name)
{
	const char *end = name;
	int columns = 0;

	if (lt_text_width(name) <= NAME_SHORT) {
		lt_brief_put(line, keep, before, "%s", name);
		return;
	}
	/* The first bytes of characters: what continues one has no width. */
	while (*end != '\0' &&
	       (columns < NAME_SHOWN || ((unsigned char)*end & 0xc0) == 0x80))
		columns += ((unsigned char)*end++ & 0xc0) != 0x80;
	lt_brief_put(line, keep, before, "%.*s", (int)(end - name), name);
	lt_brief_put(line, keep_end, "", "%s", end);
	if (line->count > 0)
		line->parts[line->count - 1].instead = "...";
}

/* What of the part is written, with the parts up to keep, and in one of them
 * those before the end. */
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
		    (columns > 0 ? lt_text_width(line->parts[i].before) : 0) +
		    lt_text_width(words);
	}
	return columns;
}

/* One part less, the least important; false: there is none. */
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
			lt_text_put(&text, "%s%s",
			    text.at > 0 ? line->parts[i].before : "", words);
	}
	return out;
}
