/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mean days by month of a zone, as the shipped ones are made: what bench_forecast makes of one year
 * and tries on the year after.
 */
#ifndef LT_TEST_CARBON_PROFILE_H
#define LT_TEST_CARBON_PROFILE_H

#include <time.h>

#include "carbon_zone.h"

enum { PROFILE_YEAR = 2023, PROFILE_TRY_YEAR = 2024 };

#define PROFILE_ZONE(zone)                                                                         \
	{                                                                                          \
		.name = zone, .file = zone ".csv", .column = "Life cycle"                          \
	}
/* data/forecasting-data of nesl/CarbonX. */
static struct carbon_zone profile_zones[] = {
    PROFILE_ZONE("AU-SA"),
    PROFILE_ZONE("CA-ON"),
    PROFILE_ZONE("DE"),
    PROFILE_ZONE("ES"),
    PROFILE_ZONE("FR"),
    PROFILE_ZONE("GB"),
    PROFILE_ZONE("NL"),
    PROFILE_ZONE("PL"),
    PROFILE_ZONE("US-CAL-CISO"),
    PROFILE_ZONE("US-MIDA-PJM"),
    PROFILE_ZONE("US-NE-ISNE"),
    PROFILE_ZONE("US-TEX-ERCO"),
};
enum { PROFILE_ZONES = sizeof(profile_zones) / sizeof(*profile_zones) };

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

static inline bool
profile_has(const struct carbon_zone *zone, int64_t index, int wanted)
{
	int year;

	(void)profile_month(zone, index, &year);
	return year == wanted;
}

/* Means by month and UTC hour; NAN = never seen. */
static inline void
profile_make(const struct carbon_zone *zone, int year, double means[12][24])
{
	double sums[12][24] = {{0}};
	int counts[12][24] = {{0}};

	for (int64_t i = 0; i < zone->hours; i++) {
		if (isnan(zone_at(zone, i)) || !profile_has(zone, i, year))
			continue;
		const int month = profile_month(zone, i, NULL);
		const int hour = (int)((zone->first_hour + i) % 24);
		sums[month][hour] += zone_at(zone, i);
		counts[month][hour]++;
	}
	for (int month = 0; month < 12; month++)
		for (int hour = 0; hour < 24; hour++)
			means[month][hour] = counts[month][hour] == 0
						 ? NAN
						 : sums[month][hour] / counts[month][hour];
}

#endif
