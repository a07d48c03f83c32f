/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The age of figures that lowtide brings along, for the notes of their
 * adapters and for `lowtide doctor`.
 */
#include <time.h>

#include "table_age.h"

bool
lt_table_is_old(int year, int64_t now_utc_s)
{
	const time_t before = now_utc_s - 1; /* the end itself is not over */
	struct tm parts;

	(void)gmtime_r(&before, &parts);
	return parts.tm_year + 1900 > year + LT_TABLE_YEARS_MAX;
}

void
lt_table_age_note(struct lt_points *points, int year, int64_t now_utc_s)
{
	if (lt_table_is_old(year, now_utc_s))
		lt_note_add(points, "%d ended more than %d years ago", year,
		    LT_TABLE_YEARS_MAX);
}
