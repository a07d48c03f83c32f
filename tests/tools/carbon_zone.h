/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zone's hourly carbon intensity from a CSV file, as feeds really behave:
 * hours are missing, and of hours that stand twice the later row holds. Used by bench_forecast,
 * test_forecast_real and the tools that make tables.
 */
#ifndef LT_TEST_CARBON_ZONE_H
#define LT_TEST_CARBON_ZONE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "units.h"

enum { ZONE_HOURS_MAX = 6 * 366 * 24, ZONE_LINE_SIZE = 1024 };

struct carbon_zone {
	const char *name, *file;
	const char *column; /* a part of its title */
	/* Filled by zone_load(). */
	int64_t first_hour; /* since 1970 */
	int hours;
	double *values; /* NAN = missing */
};

/* The column of a header or row, NULL at the end; cuts it out of *rest. */
static inline char *
zone_field(char **rest)
{
	char *const field = *rest;

	if (field == NULL)
		return NULL;
	field[strcspn(field, "\r\n")] = '\0';
	*rest = strchr(field, ',');
	if (*rest != NULL)
		*(*rest)++ = '\0';
	return field;
}

static inline bool
zone_header(char *line, const char *column, int *time_index, int *value_index)
{
	char *rest = line, *field;

	*time_index = *value_index = -1;
	for (int i = 0; (field = zone_field(&rest)) != NULL; i++) {
		if (strcmp(field, "zone_datetime") == 0 || strcmp(field, "Datetime (UTC)") == 0)
			*time_index = i;
		if (strstr(field, column) != NULL)
			*value_index = i;
	}
	return *time_index >= 0 && *value_index >= 0;
}

/* Days since 1970 of a date (proleptic Gregorian, year after 1970). */
static inline int64_t
zone_days(int year, int month, int day)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	const int leaps = year / 4 - year / 100 + year / 400 - (year % 4 == 0 && month < 3);

	return (int64_t)(year - 1970) * 365 + leaps - 477 + before[month - 1] + day - 1;
}

static inline bool
zone_row(struct carbon_zone *zone, char *line, int time_index, int value_index)
{
	int year = 0, month = 0, day = 0, hour = 0;
	double value = 0;
	char *rest = line, *field;

	for (int i = 0; (field = zone_field(&rest)) != NULL; i++) {
		if (i == time_index &&
		    sscanf(field, "%4d-%2d-%2d%*c%2d", &year, &month, &day, &hour) != 4)
			return false;
		if (i == value_index)
			value = strtod(field, NULL);
	}
	if (month < 1 || month > 12)
		return false;
	const int64_t at = zone_days(year, month, day) * 24 + hour;
	if (zone->hours == 0)
		zone->first_hour = at;
	const int64_t index = at - zone->first_hour;
	if (index < 0 || index >= ZONE_HOURS_MAX || !(value > 0))
		return false;
	for (; zone->hours <= index; zone->hours++)
		zone->values[zone->hours] = NAN;
	zone->values[index] = value;
	return true;
}

/* False when the file cannot be read or has no such column. */
static inline bool
zone_load(struct carbon_zone *zone, const char *directory)
{
	const bool packed = strstr(zone->file, ".gz") != NULL;
	char path[512], line[ZONE_LINE_SIZE];
	int time_index, value_index;

	(void)snprintf(
	    path, sizeof(path), packed ? "gzip -dc '%s/%s'" : "%s/%s", directory, zone->file);
	FILE *const file = packed ? popen(path, "r") : fopen(path, "r");
	if (file == NULL)
		return false;
	zone->hours = 0;
	zone->values = malloc(ZONE_HOURS_MAX * sizeof(*zone->values));
	const bool ok = zone->values != NULL && fgets(line, sizeof(line), file) != NULL &&
			zone_header(line, zone->column, &time_index, &value_index);
	while (ok && fgets(line, sizeof(line), file) != NULL)
		(void)zone_row(zone, line, time_index, value_index);
	(void)(packed ? pclose(file) : fclose(file));
	return ok && zone->hours > 0;
}

static inline double
zone_at(const struct carbon_zone *zone, int64_t index)
{
	return index >= 0 && index < zone->hours ? zone->values[index] : NAN;
}

/* What lowtided would have had of [from, to) (indices): steps of an hour with holes. Returns how
 * many. */
static inline uint32_t
zone_steps(const struct carbon_zone *zone, int64_t from, int64_t to, struct lt_rate_step *steps)
{
	uint32_t count = 0;

	for (int64_t i = from; i < to; i++) {
		if (isnan(zone_at(zone, i)))
			continue;
		steps[count++] =
		    (struct lt_rate_step){.start_utc_s = (zone->first_hour + i) * LT_HOUR_S,
			.end_utc_s = (zone->first_hour + i + 1) * LT_HOUR_S,
			.value = zone_at(zone, i),
			.quality = LT_QUALITY_MEASURED,
			.source = "zone"};
	}
	return count;
}

#endif
