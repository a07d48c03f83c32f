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
		if (shape[i] == '0' ? !isdigit((unsigned char)text[i]) :
				      text[i] != shape[i])
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

static bool
is_date(const char *text, size_t length)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
		31 };

	if (!has_shape(text, length, "0000-00-00"))
		return false;
	const int year = number(text, 4), month = number(text + 5, 2),
		  day = number(text + 8, 2);
	const bool leap =
	    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month >= 1 && month <= 12 && day >= 1 &&
	    day <= days[month - 1] + (month == 2 && leap);
}

int
lt_period_check(const char *text, struct lt_error *err)
{
	const size_t length = strlen(text);
	const char *const dots = strstr(text, "..");

	if (has_shape(text, length, "0000"))
		return LT_OK;
	if (has_shape(text, length, "0000-Q0") && text[6] >= '1' &&
	    text[6] <= '4')
		return LT_OK;
	if (has_shape(text, length, "0000-00") && number(text + 5, 2) >= 1 &&
	    number(text + 5, 2) <= 12)
		return LT_OK;
	if (dots && is_date(text, (size_t)(dots - text)) &&
	    is_date(dots + 2, strlen(dots + 2))) {
		if (strncmp(text, dots + 2, 10) < 0)
			return LT_OK;
		return lt_fail(err, LT_EINPUT,
		    "--period: \"%s\" ends before it begins", text);
	}
	return lt_fail(err, LT_EINPUT,
	    "--period: got \"%s\", want 2026-11, 2026-Q4, 2026 or "
	    "2026-11-01..2026-12-01 (the last day is not in it)",
	    text);
}

const char *
lt_local_time(char *out, size_t size, const char *iso)
{
	struct tm local;
	int64_t utc_s;

	if (!iso) {
		snprintf(out, size, "-");
		return out;
	}
	if (lt_utc_parse(iso, &utc_s, NULL) ||
	    !localtime_r(&(time_t){ (time_t)utc_s }, &local) ||
	    !strftime(out, size, "%a %e %b %Y %H:%M %Z", &local))
		snprintf(out, size, "%s", iso);
	return out;
}
