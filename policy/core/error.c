/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Result codes with a text: the first failure stays, callers add context. Everything that can fail
 * ends here. Writes the caller's struct lt_error, which may be NULL; nothing is allocated, and text
 * that does not fit is cut.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

int
lt_fail(struct lt_error *err, enum lt_code code, const char *format, ...)
{
	va_list arguments;

	if (err == NULL || err->code != LT_OK)
		return code;
	err->code = code;
	va_start(arguments, format);
	vsnprintf(err->text, sizeof(err->text), format, arguments);
	va_end(arguments);
	return code;
}

int
lt_context(struct lt_error *err, const char *format, ...)
{
	char before[LT_ERROR_TEXT_SIZE];
	size_t used, kept;
	va_list arguments;

	if (err == NULL || err->code == LT_OK)
		return LT_EBUG;
	va_start(arguments, format);
	vsnprintf(before, sizeof(before) - 2, format, arguments);
	va_end(arguments);
	strcat(before, ": ");
	used = strlen(before);
	kept = strlen(err->text);
	if (kept > sizeof(err->text) - 1 - used)
		kept = sizeof(err->text) - 1 - used;
	memmove(err->text + used, err->text, kept);
	memcpy(err->text, before, used);
	err->text[used + kept] = '\0';
	return err->code;
}
