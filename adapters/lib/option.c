/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a source in the policy file: looks up values, and places errors at the line and
 * column of an option.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "option.h"
#include "text_mend.h"

static int
option_index(const struct lt_source_options *options, const char *key)
{
	for (int i = 0; i < options->count; i++)
		if (strcmp(options->items[i].key, key) == 0)
			return i;
	return -1;
}

const char *
lt_source_option(const struct lt_source_options *options, const char *key, const char *fallback)
{
	const int index = option_index(options, key);

	return index < 0 ? fallback : options->items[index].value;
}

void
lt_option_at(const struct lt_source_options *options, const char *key, struct lt_error *err)
{
	const int index = option_index(options, key);

	if (index >= 0)
		lt_error_at(err, options->items[index].line, options->items[index].column);
}

int
lt_option_fail(const struct lt_source_options *options, const char *key, struct lt_error *err,
    const char *format, ...)
{
	char text[LT_ERROR_TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	lt_fail(err, LT_EINPUT, "%s", text);
	lt_option_at(options, key, err);
	return LT_EINPUT;
}
