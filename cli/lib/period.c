/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periods as the user writes them, checked here so that a slip is a usage
 * error; lowtided gives them their meaning. And times in the caller's zone.
 */
#include <ctype.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "units.h"

/* Exactly the shape: 0 stands for a digit, all else for itself. */
static bool
has_shape(const char *text, size_t length, const char *shape)
{
	if (length != strlen(shape))
		return false;
	for (size_t i = 0; i < length; i++)
		if (shape[i] == '0' ? !isdigit((unsigned char)text[i])
				    : text[i] != shape[i])
			return false;
	return true;
}

static int
number(const char *text, int digits)
{
	int value = 0;

	while (digits-- > 0)
		value = value * 10 + (*text++ - '0');
	return value;
}

int
lt_period_check(const char *text, struct lt_error *err)
{
	const size_t length = strlen(text);

	if (has_shape(text, length, "0000"))
		return LT_OK;
	if (has_shape(text, length, "0000-Q0") && text[6] >= '1' &&
	    text[6] <= '4')
		return LT_OK;
	if (has_shape(text, length, "0000-00") && number(text + 5, 2) >= 1 &&
	    number(text + 5, 2) <= 12)
		return LT_OK;
	return lt_fail(err, LT_EINPUT,
	    "period: got \"%s\", want 2026-11, 2026-Q4 or 2026", text);
}

const char *
lt_local_time(char *out, size_t size, const char *iso)
{
	struct tm local;
	int64_t utc_s;

	if (iso == NULL) {
		snprintf(out, size, "-");
		return out;
	}
	if (lt_utc_parse(iso, &utc_s, NULL) ||
	    localtime_r(&(time_t){(time_t)utc_s}, &local) == NULL ||
	    !strftime(out, size, "%a %e %b %Y %H:%M %Z", &local))
		snprintf(out, size, "%s", iso);
	return out;
}
