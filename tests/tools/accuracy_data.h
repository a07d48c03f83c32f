/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hourly carbon intensity and weather forecasts of a grid, as the public data of EnsembleCI
 * (github.com/emmayly/EnsembleCI) has them. Read, never shipped:
 * that repository names no licence.
 */
#ifndef LT_TEST_ACCURACY_DATA_H
#define LT_TEST_ACCURACY_DATA_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forecast_view.h"
#include "tools/carbon_zone.h"

enum {
	GRID_HOURS = 3 * 366 * 24, /* 2019 to 2021, and a little */
	GRID_LINE_SIZE = 1024,
	GRID_KELVIN_MIN = 100, /* rows of zeros stand for none */
};
static const double grid_kelvin = 273.15;

struct grid {
	const char *name;
	int64_t first_hour, end_hour; /* of what was read, before 2022 */
	struct lt_rate_step *steps, *weather[LT_WEATHER_COUNT];
	uint32_t count, weather_count;
	double *values; /* by hour from 2019 on; NAN = none */
};

static inline int64_t
grid_epoch(int year)
{
	return zone_days(year, 1, 1) * 24;
}

static inline struct lt_rate_step
grid_step(int64_t hour, double value)
{
	return (struct lt_rate_step){.start_utc_s = hour * LT_HOUR_S,
	    .end_utc_s = (hour + 1) * LT_HOUR_S,
	    .value = value,
	    .quality = LT_QUALITY_MEASURED,
	    .source = "grid"};
}

/* The hour of "2021-1-2 3:00..."; -1 = no such thing, or not of the years. */
static inline int64_t
grid_hour(const char *text)
{
	int year, month, day, hour;

	if (sscanf(text, "%4d-%2d-%2d %2d", &year, &month, &day, &hour) != 4 || year < 2019 ||
	    year > 2021 || month < 1 || month > 12)
		return -1;
	return zone_days(year, month, day) * 24 + hour;
}

/* Both layouts: of the checkout, and of its data folder alone. */
static inline FILE *
grid_open(const char *directory, const char *name, const char *what)
{
	static const char *const layouts[] = {"%s/data/%s/%s_%s.csv", "%s/%s/%s_%s.csv"};
	char path[512];
	FILE *file = NULL;

	for (int i = 0; file == NULL && i < 2; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		(void)snprintf(path, sizeof(path), layouts[i], directory, name, name, what);
#pragma GCC diagnostic pop
		file = fopen(path, "r");
	}
	return file;
}

static inline bool
grid_load_values(struct grid *grid, const char *directory)
{
	char line[GRID_LINE_SIZE];
	FILE *const file = grid_open(directory, grid->name, "lifecycle_emissions");

	if (file == NULL)
		return false;
	for (int i = 0; i < GRID_HOURS; i++)
		grid->values[i] = NAN;
	while (fgets(line, sizeof(line), file) != NULL) {
		char *rest = line;

		(void)zone_field(&rest); /* the row's number */
		const char *const time = zone_field(&rest);
		const int64_t hour = time == NULL ? -1 : grid_hour(time);
		const double value = rest == NULL ? 0 : strtod(zone_field(&rest), NULL);
		if (hour < 0 || !(value > 0) || (grid->count > 0 && hour < grid->end_hour))
			continue;
		if (grid->count == 0)
			grid->first_hour = hour;
		grid->end_hour = hour + 1;
		grid->values[hour - grid_epoch(2019)] = value;
		grid->steps[grid->count++] = grid_step(hour, value);
	}
	(void)fclose(file);
	return grid->count > 0;
}

/* Columns: time, wind m/s, temperature K, dew point K, sun W/m2, rain. */
static inline bool
grid_load_weather(struct grid *grid, const char *directory)
{
	char line[GRID_LINE_SIZE];
	FILE *const file = grid_open(directory, grid->name, "weather_forecast");
	int64_t before = -1;

	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL) {
		const int64_t hour = grid_hour(line);
		double wind, kelvin, dew, sun;

		if (hour <= before ||
		    sscanf(line, "%*[^,],%lf,%lf,%lf,%lf", &wind, &kelvin, &dew, &sun) != 4 ||
		    kelvin < GRID_KELVIN_MIN)
			continue;
		before = hour;
		grid->weather[LT_WEATHER_WIND][grid->weather_count] = grid_step(hour, wind);
		grid->weather[LT_WEATHER_SUN][grid->weather_count] = grid_step(hour, sun);
		grid->weather[LT_WEATHER_WARMTH][grid->weather_count++] =
		    grid_step(hour, kelvin - grid_kelvin);
	}
	(void)fclose(file);
	return grid->weather_count > 0;
}

/* False when a file is not there or has nothing; freed by grid_free(). */
static inline bool
grid_load(struct grid *grid, const char *directory)
{
	bool ok = true;

	grid->steps = calloc(GRID_HOURS, sizeof(*grid->steps));
	grid->values = calloc(GRID_HOURS, sizeof(*grid->values));
	for (int i = 0; i < LT_WEATHER_COUNT; i++) {
		grid->weather[i] = calloc(GRID_HOURS, sizeof(*grid->steps));
		ok = ok && grid->weather[i] != NULL;
	}
	return ok && grid->steps != NULL && grid->values != NULL &&
	       grid_load_values(grid, directory) && grid_load_weather(grid, directory);
}

static inline void
grid_free(struct grid *grid)
{
	free(grid->steps);
	free(grid->values);
	for (int i = 0; i < LT_WEATHER_COUNT; i++)
		free(grid->weather[i]);
}

static inline double
grid_at(const struct grid *grid, int64_t hour)
{
	const int64_t index = hour - grid_epoch(2019);

	return index >= 0 && index < GRID_HOURS ? grid->values[index] : NAN;
}

#endif
