/*
 * Gregorian dates as day numbers, without the C library's time zones.
 */
#ifndef LT_DATE_H
#define LT_DATE_H

#include <stdint.h>

struct lt_date {
	int64_t year;
	int month, day; /* from 1 */
};

/* Days from 1970-01-01 to a date, and back. */
int64_t lt_day_of_date(int64_t year, int month, int day);
struct lt_date lt_date_of_day(int64_t day);

/* The day that a second since 1970 is in. */
int64_t lt_day_of_second(int64_t second);

#endif
