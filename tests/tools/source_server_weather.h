/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open-Meteo's forecast API as it answers, under /weather: a captured day of Berlin again and
 * again; north of 55 degrees the wind is doubled.
 */
#ifndef LT_SOURCE_SERVER_WEATHER_H
#define LT_SOURCE_SERVER_WEATHER_H

#include "source_server.h"
#include "source_server_europe.h"

#define WEATHER_KEY "meteo-key"

/* 25 November 2021 by hour: tests/fixtures/open_meteo (CC BY 4.0). */
static const struct {
	const char *name, *unit;
	double hours[24];
} weather_days[] = {
    {"wind_speed_80m", "km/h",
	{14.1, 13.8, 14, 12.1, 12.3, 12.8, 12.3, 11.4, 12.5, 11.3, 9.7, 9.2, 9.3, 12, 20, 19.4,
	    16.4, 20.5, 21.8, 21.8, 22.3, 23.6, 24.6, 25.8}},
    {"shortwave_radiation", "W/m\u00b2",
	{0, 0, 0, 0, 0, 0, 0, 0, 0.7, 32.4, 77.2, 109.4, 124.7, 120.1, 93.1, 26.9, 14.6, 0, -0.0, 0,
	    -0.0, 0, 0, -0.0}},
    {"temperature_2m", "\u00b0C",
	{5.4, 5.1, 5, 4.9, 4.2, 3.2, 2.2, 1.5, 0.8, 0.2, 0.6, 1.8, 2.7, 3.8, 4.5, 4.5, 4.4, 4.2,
	    3.9, 3.9, 4, 3.9, 3.9, 3.8}},
};
enum { WEATHER_KINDS = sizeof(weather_days) / sizeof(weather_days[0]) };

static inline void
weather_refuse(const struct exchange *exchange, const char *reason)
{
	char body[256];

	snprintf(body, sizeof(body), "{\"error\":true,\"reason\":\"%s\"}", reason);
	server_answer(exchange, 400, "application/json; charset=utf-8", "", body);
}

/* What it says of an hour, m/s for wind. */
static inline double
weather_value(int kind, double latitude, int64_t utc_s)
{
	const double value = weather_days[kind].hours[utc_s % EUROPE_DAY_S / EUROPE_HOUR_S];

	return kind != 0 ? value : value / 3.6 * (latitude > 55 ? 2 : 1);
}

/* Whole days from past_days ago; the last two days of what is to come have
 * no sun yet. */
static inline void
weather_answer(const struct exchange *exchange, int kind, double latitude)
{
	static char body[EUROPE_BODY_SIZE];
	const int64_t today_utc_s = europe_floor(server_time(), EUROPE_DAY_S);
	char past[64], ahead[64], text[32];
	const int64_t from_utc_s =
	    today_utc_s - atoi(europe_query(exchange, "past_days", past)) * (int64_t)EUROPE_DAY_S;
	const int64_t to_utc_s =
	    today_utc_s +
	    atoi(europe_query(exchange, "forecast_days", ahead)) * (int64_t)EUROPE_DAY_S;
	int length = sprintf(body,
	    "{\"latitude\":%.2f,\"longitude\":13.419998,\"generationtime_ms\":"
	    "0.05,\"utc_offset_seconds\":0,\"timezone\":\"GMT\",\"timezone_"
	    "abbreviation\":\"GMT\",\"elevation\":38.0,\"hourly_units\":{"
	    "\"time\":\"iso8601\",\"%s\":\"%s\"},\"hourly\":{\"time\":[",
	    latitude, weather_days[kind].name, kind == 0 ? "m/s" : weather_days[kind].unit);

	for (int64_t at = from_utc_s; at < to_utc_s; at += EUROPE_HOUR_S) {
		lt_utc_text(text, sizeof(text), at);
		length += sprintf(body + length, "%s\"%.16s\"", at == from_utc_s ? "" : ",", text);
	}
	length += sprintf(body + length, "],\"%s\":[", weather_days[kind].name);
	for (int64_t at = from_utc_s; at < to_utc_s; at += EUROPE_HOUR_S)
		length += at >= to_utc_s - 2 * EUROPE_DAY_S && kind == 1
			      ? sprintf(body + length, "null,")
			      : sprintf(body + length, "%.17g,", weather_value(kind, latitude, at));
	strcpy(body + length - 1, "]}}");
	server_answer(exchange, 200, "application/json; charset=utf-8", "", body);
}

static inline bool
serve_weather(const struct exchange *exchange)
{
	char key[64], text[64], variable[64];
	int kind = 0;

	if (strncmp(exchange->path, "/weather/v1/forecast?", 21) != 0)
		return false;
	const double latitude = atof(europe_query(exchange, "latitude", text));
	europe_query(exchange, "apikey", key);
	europe_query(exchange, "hourly", variable);
	while (kind < WEATHER_KINDS && strcmp(weather_days[kind].name, variable) != 0)
		kind++;
	if (key[0] != '\0' && strcmp(key, WEATHER_KEY) != 0)
		weather_refuse(exchange, "The supplied API key is invalid.");
	else if (kind == WEATHER_KINDS)
		weather_refuse(exchange, "Data corrupted at path ''. Cannot initialize "
					 "VariableAndPreset from invalid String value.");
	else if (strcmp(europe_query(exchange, "timezone", text), "GMT") != 0 ||
		 strcmp(europe_query(exchange, "wind_speed_unit", variable), "ms") != 0)
		weather_refuse(exchange, "played for GMT and m/s only");
	else
		weather_answer(exchange, kind, latitude);
	return true;
}

#endif
