/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mean days by month of a zone: what make_climatology writes as a table, and
 * what bench_forecast makes of a part of the hours and tries on the others.
 */
#ifndef LT_TEST_CARBON_PROFILE_H
#define LT_TEST_CARBON_PROFILE_H

#include <time.h>

#include "carbon_zone.h"

struct profile_zone {
	struct carbon_zone zone;
	int held_out_year; /* 0 = too few years: weeks, even and odd */
	const char *years; /* of the whole file */
};

static struct profile_zone profile_zones[] = {
    {{.name = "AU-SA", .file = "AU-SA.csv", .column = "Life cycle"}, 2024,
	"2021-2024"},
    {{.name = "DE", .file = "DE-2021-2024.csv.gz", .column = "Life cycle"},
	2024, "2021-2024"},
    {{.name = "ES", .file = "ES_2022_hourly.csv", .column = "LCA"}, 0, "2022"},
    {{.name = "FR", .file = "FR.csv", .column = "carbon_intensity_avg"}, 0,
	"2021-10 to 2022-12"},
    {{.name = "GB", .file = "GB.csv", .column = "carbon_intensity_avg"}, 0,
	"2021-10 to 2022-12"},
    {{.name = "US-CAL-CISO",
	 .file = "US-CAL-CISO.csv",
	 .column = "carbon_intensity_avg"},
	0, "2021-10 to 2022-12"},
};
enum { PROFILE_ZONES = sizeof(profile_zones) / sizeof(*profile_zones) };

enum profile_part { PROFILE_ALL, PROFILE_LEARN, PROFILE_TRY };

static inline int
profile_month(const struct carbon_zone *zone, int64_t index, int *year)
{
	const time_t at = (zone->first_hour + index) * LT_HOUR_S;
	struct tm parts;

	(void)gmtime_r(&at, &parts);
	if (year != NULL)
		*year = parts.tm_year + 1900;
	return parts.tm_mon;
}

/* odd: learn from odd weeks and try on even ones, else the other way. */
static inline bool
profile_has(const struct profile_zone *profile, int64_t index,
    enum profile_part part, bool odd)
{
	int year;

	if (part == PROFILE_ALL)
		return true;
	(void)profile_month(&profile->zone, index, &year);
	if (profile->held_out_year != 0)
		return part == PROFILE_LEARN ? year < profile->held_out_year
					     : year == profile->held_out_year;
	const bool week = (profile->zone.first_hour + index) / 168 % 2 == 1;
	return (part == PROFILE_LEARN) == (week == odd);
}

/* Means by month and UTC hour; NAN = never seen. */
static inline void
profile_make(const struct profile_zone *profile, enum profile_part part,
    bool odd, double means[12][24])
{
	const struct carbon_zone *const zone = &profile->zone;
	double sums[12][24] = {{0}};
	int counts[12][24] = {{0}};

	for (int64_t i = 0; i < zone->hours; i++) {
		if (isnan(zone_at(zone, i)) ||
		    !profile_has(profile, i, part, odd))
			continue;
		const int month = profile_month(zone, i, NULL);
		const int hour = (int)((zone->first_hour + i) % 24);
		sums[month][hour] += zone_at(zone, i);
		counts[month][hour]++;
	}
	for (int month = 0; month < 12; month++)
		for (int hour = 0; hour < 24; hour++)
			means[month][hour] =
			    counts[month][hour] == 0
				? NAN
				: sums[month][hour] / counts[month][hour];
}

#endif
