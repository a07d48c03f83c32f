/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dates as day numbers and back. Counts in eras of 400 years that start in March, so that the leap
 * day is the last day of a year. Pure; no time zone, no C library calls.
 */
#include <assert.h>

#include "date.h"
#include "units.h"

enum { ERA_DAYS = 146097, FROM_MARCH_0000 = 719468 }; /* to 1970-01-01 */

/* Rounded down. */
static int64_t
quotient(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

int64_t
lt_day_of_date(int64_t year, int month, int day)
{
	assert(month >= 1 && month <= 12 && day >= 1 && day <= 31);

	const int64_t y = month <= 2 ? year - 1 : year;
	const int64_t era = quotient(y, 400);
	const int64_t of_era = y - era * 400;
	const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
	       FROM_MARCH_0000;
}

struct lt_date
lt_date_of_day(int64_t day)
{
	const int64_t shifted = day + FROM_MARCH_0000;
	const int64_t era = quotient(shifted, ERA_DAYS);
	const int64_t of_era = shifted - era * ERA_DAYS;
	const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	const int64_t march_month = (5 * of_year + 2) / 153;
	const int month = (int)((march_month + 2) % 12) + 1;

	return (struct lt_date){.year = era * 400 + year + (month <= 2),
	    .month = month,
	    .day = (int)(of_year - (153 * march_month + 2) / 5 + 1)};
}

int64_t
lt_day_of_second(int64_t second)
{
	return quotient(second, LT_DAY_S);
}
