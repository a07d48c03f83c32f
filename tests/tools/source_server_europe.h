/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy-Charts, Electricity Maps, Energi Data Service and eCO2mix as they answer, under /europe,
 * /europe/em/v3, /europe/eds and /europe/rte: captured days again and again, up to what is now.
 */
#ifndef LT_SOURCE_SERVER_EUROPE_H
#define LT_SOURCE_SERVER_EUROPE_H

#include "source_server.h"

enum {
	EUROPE_QUARTER_S = 900,
	EUROPE_HOUR_S = 3600,
	EUROPE_DAY_S = 86400,
	EUROPE_RANGE_MAX_S = 370 * EUROPE_DAY_S,
	EUROPE_BODY_SIZE = 1024 * 1024,
};

/* Tenths of g/kWh by quarter hour, France, 4 October 2026: Energy-Charts (Fraunhofer ISE), CC BY
 * 4.0, tests/fixtures/energy_charts. */
static const int europe_co2_day[96] = {648, 647, 640, 638, 626, 627, 626, 625, 620, 608, 607, 596,
    592, 593, 597, 598, 598, 599, 596, 591, 588, 596, 600, 596, 494, 494, 494, 494, 495, 495, 496,
    496, 496, 495, 494, 493, 490, 487, 485, 483, 480, 479, 479, 479, 479, 477, 476, 475, 472, 472,
    470, 470, 470, 468, 468, 468, 469, 469, 469, 470, 472, 472, 473, 475, 478, 479, 481, 483, 486,
    489, 492, 495, 498, 500, 503, 504, 506, 505, 505, 504, 502, 500, 499, 498, 496, 496, 495, 495,
    495, 495, 496, 496, 497, 497, 498, 498};
/* g/kWh by hour of the day, Germany, 5 and 6 March 2024, as captured by jpbede/aioelectricitymaps
 * (MIT), tests/fixtures/electricity_maps. */
static const int europe_em_day[24] = {623, 636, 628, 633, 641, 635, 632, 616, 583, 541, 511, 492,
    503, 526, 563, 613, 627, 633, 663, 689, 599, 607, 599, 606};
/* Cents per MWh by hour: made up, with what exchanges have seen: nothing, and less than nothing. */
static const int europe_price_day[24] = {8312, 7990, 7745, 7601, 7702, 8466, 9910, 11230, 10444,
    7215, 3980, 1205, 0, -1250, -310, 2044, 6120, 9987, 13044, 14821, 13390, 11408, 9933, 8876};

/* A value of the query, decoded; "" without it. */
static inline const char *
europe_query(const struct exchange *exchange, const char *key, char out[64])
{
	const size_t key_length = strlen(key);
	const char *at = strchr(exchange->path, '?');
	size_t length = 0;

	out[0] = '\0';
	while (at != NULL && (strncmp(at + 1, key, key_length) != 0 || at[1 + key_length] != '='))
		at = strchr(at + 1, '&');
	if (at == NULL)
		return out;
	for (at += 2 + key_length; *at != '\0' && *at != '&' && length < 63; at++) {
		unsigned byte;

		if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1) {
			out[length++] = (char)byte;
			at += 2;
		} else {
			out[length++] = *at;
		}
	}
	out[length] = '\0';
	return out;
}

static inline int64_t
europe_floor(int64_t utc_s, int64_t step_s)
{
	return utc_s - utc_s % step_s;
}

/* start and end of the query, or what was put in; false: answered 422. */
static inline bool
europe_range(const struct exchange *exchange, int64_t *start_utc_s, int64_t *end_utc_s)
{
	char start[64], end[64];

	europe_query(exchange, "start", start);
	europe_query(exchange, "end", end);
	if ((start[0] == '\0' || lt_utc_parse(start, start_utc_s, NULL) == LT_OK) &&
	    (end[0] == '\0' || lt_utc_parse(end, end_utc_s, NULL) == LT_OK) &&
	    *end_utc_s - *start_utc_s <= EUROPE_RANGE_MAX_S)
		return true;
	server_answer(exchange, 422, "application/json", "",
	    "{\"detail\":[{\"type\":\"value_error\",\"loc\":[\"query\","
	    "\"start\"],\"msg\":\"Input should be a valid date\"}]}");
	return false;
}

/* ---- Energy-Charts ---- */

/* Measured up to an hour ago, forecast for 19 hours, then nothing yet. */
static inline int
europe_co2(char *out, int64_t utc_s, int64_t now_utc_s, bool forecast)
{
	const int value = europe_co2_day[utc_s % EUROPE_DAY_S / EUROPE_QUARTER_S];
	const bool measured = utc_s <= now_utc_s - EUROPE_HOUR_S;

	if (measured == forecast || (forecast && utc_s > now_utc_s + 19 * EUROPE_HOUR_S))
		return sprintf(out, "null, ");
	return sprintf(out, "%d.%d, ", value / 10, value % 10);
}

/* A list without its last comma. */
static inline int
europe_close(char *body, int length, const char *rest)
{
	if (body[length - 1] == ' ')
		length -= 2;
	return length + sprintf(body + length, "]%s", rest);
}

/* /europe/co2eq?country=fr[&start=&end=]; ch has hours, all others quarters. */
static inline void
serve_europe_co2(const struct exchange *exchange)
{
	static char body[EUROPE_BODY_SIZE];
	static const char *const lists[] = {"co2eq", "co2eq_forecast"};
	const int64_t now_utc_s = server_time();
	int64_t start_utc_s = europe_floor(now_utc_s, EUROPE_DAY_S);
	int64_t end_utc_s = start_utc_s + 2 * EUROPE_DAY_S - EUROPE_QUARTER_S;
	char country[64];
	int length;

	europe_query(exchange, "country", country);
	const int64_t step_s = strcmp(country, "ch") == 0 ? EUROPE_HOUR_S : EUROPE_QUARTER_S;
	if (strcmp(country, "fr") != 0 && strcmp(country, "de") != 0 &&
	    strcmp(country, "ch") != 0) {
		server_answer(exchange, 400, "text/plain; charset=utf-8", "",
		    "'xx' is not the code for an available country. Please "
		    "refer to the API doc for information about available "
		    "countries");
		return;
	}
	if (!europe_range(exchange, &start_utc_s, &end_utc_s))
		return;
	start_utc_s = europe_floor(start_utc_s + step_s - 1, step_s);
	length = sprintf(body, "{\"unix_seconds\": [");
	for (int64_t at = start_utc_s; at <= end_utc_s; at += step_s)
		length += sprintf(body + length, "%lld, ", (long long)at);
	length = europe_close(body, length, "");
	for (int i = 0; i < 2; i++) {
		length += sprintf(body + length, ", \"%s\": [", lists[i]);
		for (int64_t at = start_utc_s; at <= end_utc_s; at += step_s)
			length += europe_co2(body + length, at, now_utc_s, i == 1);
		length = europe_close(body, length, "");
	}
	strcpy(body + length, ", \"deprecated\": false}");
	server_answer(exchange, 200, "application/json", "", body);
}

/* /europe/price?bzn=DE-LU[&start=&end=]: known up to the end of tomorrow. */
static inline void
serve_europe_price(const struct exchange *exchange)
{
	static char body[EUROPE_BODY_SIZE];
	const int64_t today_utc_s = europe_floor(server_time(), EUROPE_DAY_S);
	const int64_t known_utc_s = today_utc_s + 2 * EUROPE_DAY_S;
	int64_t start_utc_s = today_utc_s;
	int64_t end_utc_s = today_utc_s + EUROPE_DAY_S - EUROPE_QUARTER_S;
	char zone[64];
	int length;

	europe_query(exchange, "bzn", zone);
	if (strcmp(zone, "DE-LU") != 0 && strcmp(zone, "FR") != 0) {
		server_answer(exchange, 400, "text/plain; charset=utf-8", "",
		    "'XX' is not the code for an available bidding zone.");
		return;
	}
	if (!europe_range(exchange, &start_utc_s, &end_utc_s))
		return;
	start_utc_s = europe_floor(start_utc_s + EUROPE_QUARTER_S - 1, EUROPE_QUARTER_S);
	if (end_utc_s >= known_utc_s)
		end_utc_s = known_utc_s - EUROPE_QUARTER_S;
	if (start_utc_s > end_utc_s) {
		server_answer(exchange, 404, "text/plain", "", "no content available");
		return;
	}
	length = sprintf(body, "{\"license_info\": \"CC BY 4.0 (creativecommons.org/licenses/by/"
			       "4.0) from Bundesnetzagentur | SMARD.de\", \"unix_seconds\": [");
	for (int64_t at = start_utc_s; at <= end_utc_s; at += EUROPE_QUARTER_S)
		length += sprintf(body + length, "%lld, ", (long long)at);
	length = europe_close(body, length, ", \"price\": [");
	for (int64_t at = start_utc_s; at <= end_utc_s; at += EUROPE_QUARTER_S)
		length += sprintf(body + length, "%.2f, ",
		    europe_price_day[at % EUROPE_DAY_S / EUROPE_HOUR_S] / 100.0);
	europe_close(body, length, ", \"unit\": \"EUR / MWh\", \"deprecated\": false}");
	server_answer(exchange, 200, "application/json", "", body);
}

/* ---- Electricity Maps ---- */

/* Keys: europe-key may all, free-key has no forecast and no past-range, sandbox-key gets made-up
 * values. */
static inline void
europe_em_refuse(const struct exchange *exchange, int status, const char *body)
{
	server_answer(exchange, status, "application/json; charset=utf-8", "", body);
}

/* The zone that is answered for, "" = refused. */
static inline void
europe_em_zone(const struct exchange *exchange, char zone[64])
{
	char provider[64], region[64], fallback[64];

	europe_query(exchange, "dataCenterProvider", provider);
	europe_query(exchange, "dataCenterRegion", region);
	europe_query(exchange, "shouldUseFallbackCallerLookup", fallback);
	europe_query(exchange, "zone", zone);
	if (strcmp(provider, "gcp") == 0 && strcmp(region, "europe-west1") == 0)
		strcpy(zone, "BE");
	else if (strcmp(zone, "DE") == 0 || strcmp(zone, "US-CAR-DUK") == 0)
		return;
	else if (strcmp(fallback, "false") == 0)
		zone[0] = '\0';
	else
		strcpy(zone, "DK-DK2"); /* where the caller seems to be */
}

static inline int
europe_em_row(char *out, const char *zone, int64_t utc_s, bool made_up)
{
	const int64_t now_utc_s = server_time();
	const bool estimated = utc_s > now_utc_s - 3 * EUROPE_HOUR_S;
	char from[32];

	lt_utc_text(from, sizeof(from), utc_s);
	return sprintf(out,
	    "{\"zone\":\"%s\",\"carbonIntensity\":%d,\"datetime\":\"%.19s.000Z"
	    "\",\"updatedAt\":\"%.4s-01-02T03:04:05.678Z\",\"createdAt\":"
	    "\"2020-01-01T00:00:00.000Z\",\"emissionFactorType\":"
	    "\"lifecycle\",\"isEstimated\":%s,\"estimationMethod\":%s%s%s},",
	    zone, europe_em_day[utc_s % EUROPE_DAY_S / EUROPE_HOUR_S], from, from,
	    estimated || made_up ? "true" : "false", estimated || made_up ? "\"" : "",
	    made_up	? "SANDBOX_MODE_DATA"
	    : estimated ? "TIME_SLICER_AVERAGE"
			: "null",
	    estimated || made_up ? "\"" : "");
}

static inline void
europe_em_list(const struct exchange *exchange, const char *zone, const char *list,
    int64_t start_utc_s, int64_t end_utc_s, bool made_up)
{
	static char body[EUROPE_BODY_SIZE];
	int length = sprintf(body, "{\"zone\":\"%s\",\"%s\":[", zone, list);

	for (int64_t at = europe_floor(start_utc_s + EUROPE_HOUR_S - 1, EUROPE_HOUR_S);
	     at <= end_utc_s; at += EUROPE_HOUR_S)
		length += europe_em_row(body + length, zone, at, made_up);
	if (body[length - 1] == ',')
		length--;
	strcpy(body + length, "]}");
	server_answer(exchange, 200, "application/json", "", body);
}

static inline void
europe_em_forecast(const struct exchange *exchange, const char *zone)
{
	static char body[EUROPE_BODY_SIZE];
	const int64_t hour_utc_s = europe_floor(server_time(), EUROPE_HOUR_S);
	char hours[64], text[32];
	int length = sprintf(body, "{\"zone\":\"%s\",\"forecast\":[", zone);

	europe_query(exchange, "horizonHours", hours);
	for (int i = 0; i <= atoi(hours); i++) {
		const int64_t utc_s = hour_utc_s + i * EUROPE_HOUR_S;

		lt_utc_text(text, sizeof(text), utc_s);
		length += sprintf(body + length,
		    "%s{\"carbonIntensity\":%d,\"datetime\":\"%.19s.000Z\"}", i == 0 ? "" : ",",
		    europe_em_day[utc_s % EUROPE_DAY_S / EUROPE_HOUR_S] - 7, text);
	}
	lt_utc_text(text, sizeof(text), hour_utc_s - EUROPE_HOUR_S / 2);
	sprintf(body + length, "],\"updatedAt\":\"%.19s.123Z\"}", text);
	server_answer(exchange, 200, "application/json", "", body);
}

/* /europe/em/v3/carbon-intensity/{latest,history,past-range,forecast} */
static inline void
serve_europe_em(const struct exchange *exchange)
{
	const char *const endpoint = strstr(exchange->path, "/carbon-intensity/");
	const int64_t hour_utc_s = europe_floor(server_time(), EUROPE_HOUR_S);
	int64_t start_utc_s = 0, end_utc_s = hour_utc_s;
	char key[512], zone[64], body[1024];

	server_header(exchange, "auth-token", key);
	const bool is_free = strcmp(key, "free-key") == 0;
	const bool made_up = strcmp(key, "sandbox-key") == 0;
	europe_em_zone(exchange, zone);
	if (!is_free && !made_up && strcmp(key, "europe-key") != 0)
		europe_em_refuse(exchange, 401, "{\"error\":\"Invalid auth-token\"}");
	else if (zone[0] == '\0')
		europe_em_refuse(
		    exchange, 401, "{\"error\":\"Token unauthorized for zoneKey=ZZ\"}");
	else if (endpoint == NULL)
		europe_em_refuse(exchange, 404, "{\"error\":\"Not found\"}");
	else if (strncmp(endpoint + 18, "latest", 6) == 0) {
		const int length = europe_em_row(body, zone, hour_utc_s, made_up);

		body[length - 1] = '\0';
		server_answer(exchange, 200, "application/json", "", body);
	} else if (strncmp(endpoint + 18, "history", 7) == 0)
		europe_em_list(exchange, zone, "history", hour_utc_s - 23 * EUROPE_HOUR_S,
		    hour_utc_s, made_up);
	else if (is_free && strncmp(endpoint + 18, "past-range", 10) == 0)
		europe_em_refuse(exchange, 401,
		    "{\"error\":\"Request unauthorized for zoneKey=DE,"
		    "requestType=past-range,dataType=carbon-intensity.\","
		    "\"message\":\"You do not have access to this specific "
		    "endpoint for this specific zone.\"}");
	else if (is_free)
		europe_em_refuse(exchange, 403, "{\"message\":\"Endpoint not available\"}");
	else if (strncmp(endpoint + 18, "forecast", 8) == 0)
		europe_em_forecast(exchange, zone);
	else if (!europe_range(exchange, &start_utc_s, &end_utc_s))
		return;
	else if (end_utc_s - start_utc_s > 10 * EUROPE_DAY_S)
		europe_em_refuse(exchange, 400, "{\"error\":\"The range is limited to 10 days\"}");
	else
		europe_em_list(exchange, zone, "data", start_utc_s,
		    end_utc_s < hour_utc_s ? end_utc_s : hour_utc_s, made_up);
}

/* ---- Energi Data Service ---- */

/* g/kWh by five minutes. */
static inline int
europe_eds_co2(int64_t utc_s)
{
	return 60 + (int)(utc_s % EUROPE_DAY_S / 300) % 100;
}

/* "2026-10-05T22:00", in Danish time (of winter). */
static inline bool
europe_eds_time(const struct exchange *exchange, const char *key, int64_t *utc_s)
{
	char text[64], whole[68];

	europe_query(exchange, key, text);
	if (text[0] == '\0')
		return true;
	snprintf(whole, sizeof(whole), "%s:00Z", text);
	if (strlen(text) != 16 || lt_utc_parse(whole, utc_s, NULL) != LT_OK)
		return false;
	*utc_s -= EUROPE_HOUR_S;
	return true;
}

/* Newest first, both areas but with a filter. */
static inline void
europe_eds_rows(
    const struct exchange *exchange, const char *dataset, int64_t start_utc_s, int64_t end_utc_s)
{
	static char body[2 * EUROPE_BODY_SIZE];
	const bool is_price = strcmp(dataset, "DayAheadPrices") == 0;
	const int64_t step_s = is_price ? EUROPE_QUARTER_S : 300;
	char filter[64], time_text[32];
	int length =
	    sprintf(body, "{\"total\":99,\"limit\":0,\"dataset\":\"%s\",\"records\":[", dataset);

	europe_query(exchange, "filter", filter);
	for (int64_t at = europe_floor(end_utc_s - 1, step_s); at >= start_utc_s; at -= step_s) {
		const double eur = europe_price_day[at % EUROPE_DAY_S / EUROPE_HOUR_S] / 100.0;

		lt_utc_text(time_text, sizeof(time_text), at);
		time_text[19] = '\0';
		length += sprintf(body + length,
		    is_price ? "{\"TimeUTC\":\"%s\",\"PriceArea\":\"%s\","
			       "\"DayAheadPriceEUR\":%.6f,"
			       "\"DayAheadPriceDKK\":%.6f},"
			     : "{\"Minutes5UTC\":\"%s\",\"PriceArea\":\"%s\","
			       "\"CO2Emission\":%.6f},",
		    time_text, strstr(filter, "\"DK2\"") != NULL ? "DK2" : "DK1",
		    is_price ? eur : europe_eds_co2(at), eur * 7.464);
	}
	if (body[length - 1] == ',')
		length--;
	strcpy(body + length, "]}");
	server_answer(exchange, 200, "application/json; charset=utf-8", "", body);
}

/* /europe/eds/dataset/NAME?start=[&end=]&filter=...; -busy: history is asked for too often; -odd: a
 * forecast of another form. */
static inline void
serve_europe_eds(const struct exchange *exchange)
{
	static const char *const datasets[] = {"CO2Emis?", "CO2EmisProg?", "DayAheadPrices?"};
	const int64_t now_utc_s = server_time();
	const int64_t known_utc_s[] = {now_utc_s - 600, now_utc_s + 9 * EUROPE_HOUR_S,
	    europe_floor(now_utc_s, EUROPE_DAY_S) + 2 * EUROPE_DAY_S};
	const char *const name = strstr(exchange->path, "/dataset/");
	int64_t start_utc_s = now_utc_s - EUROPE_DAY_S, end_utc_s = INT64_MAX;
	size_t i = 0;
	char dataset[32];

	while (i < 3 && (name == NULL || strncmp(name + 9, datasets[i], strlen(datasets[i])) != 0))
		i++;
	if (i == 3) {
		server_answer(exchange, 404, "text/plain", "", "Not Found");
		return;
	}
	if (strncmp(exchange->path, "/europe/eds-busy/", 17) == 0 && i == 0) {
		server_answer(exchange, 429, "text/plain", "", "Too many requests");
		return;
	}
	if (strncmp(exchange->path, "/europe/eds-odd/", 16) == 0 && i == 1) {
		server_answer(exchange, 200, "application/json", "",
		    "{\"dataset\":\"CO2EmisProg\",\"rows\":[]}");
		return;
	}
	if (!europe_eds_time(exchange, "start", &start_utc_s) ||
	    !europe_eds_time(exchange, "end", &end_utc_s)) {
		server_answer(exchange, 400, "text/plain", "", "Invalid period specified");
		return;
	}
	snprintf(dataset, sizeof(dataset), "%.*s", (int)strlen(datasets[i]) - 1, datasets[i]);
	europe_eds_rows(exchange, dataset, start_utc_s,
	    end_utc_s < known_utc_s[i] ? end_utc_s : known_utc_s[i]);
}

/* ---- eCO2mix ---- */

static inline int
europe_rte(int64_t utc_s)
{
	return 10 + (int)(utc_s % EUROPE_DAY_S / EUROPE_QUARTER_S) % 50;
}

/* /europe/rte/.../exports/json?...&where=date_heure IN [date'..' TO date'..'[:
 * known up to an hour ago, then null. */
static inline void
serve_europe_rte(const struct exchange *exchange)
{
	static char body[EUROPE_BODY_SIZE];
	static const char from[] = "date%27";
	const int64_t now_utc_s = server_time();
	const char *at = exchange->path;
	int64_t times[2] = {0, 0};
	char text[32];
	int length = sprintf(body, "[");

	for (int i = 0; i < 2; i++) {
		at = at == NULL ? NULL : strstr(at, from);
		if (at == NULL)
			break;
		at += strlen(from);
		snprintf(text, sizeof(text), "%.13s:%.2s:%.2sZ", at, at + 16, at + 21);
		if (lt_utc_parse(text, &times[i], NULL) != LT_OK)
			break;
	}
	if (times[1] == 0 || strstr(exchange->path, "/eco2mix-national-tr/exports/json?") == NULL) {
		server_answer(exchange, 400, "application/json", "",
		    "{\"error_code\":\"ODSQLError\",\"message\":\"ODSQL query "
		    "is malformed\"}");
		return;
	}
	for (int64_t t = europe_floor(times[0] + EUROPE_QUARTER_S - 1, EUROPE_QUARTER_S);
	     t < times[1]; t += EUROPE_QUARTER_S) {
		lt_utc_text(text, sizeof(text), t);
		length +=
		    sprintf(body + length, "{\"date_heure\":\"%.19s+00:00\",\"taux_co2\":", text);
		length += t > now_utc_s - EUROPE_HOUR_S
			      ? sprintf(body + length, "null},")
			      : sprintf(body + length, "%d},", europe_rte(t));
	}
	if (body[length - 1] == ',')
		length--;
	strcpy(body + length, "]");
	server_answer(exchange, 200, "application/json; charset=utf-8", "", body);
}

static inline bool
serve_europe(const struct exchange *exchange)
{
	static const struct {
		const char *path;
		void (*serve)(const struct exchange *exchange);
	} routes[] = {
	    {"/europe/co2eq?", serve_europe_co2},
	    {"/europe/price?", serve_europe_price},
	    {"/europe/em/", serve_europe_em},
	    {"/europe/eds", serve_europe_eds},
	    {"/europe/rte/", serve_europe_rte},
	};

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strncmp(exchange->path, routes[i].path, strlen(routes[i].path)) == 0) {
			routes[i].serve(exchange);
			return true;
		}
	return false;
}

#endif
