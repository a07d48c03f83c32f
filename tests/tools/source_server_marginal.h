/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * WattTime and the Carbon Aware SDK's WebAPI as they answer: under /marginal/watttime and
 * /marginal/sdk, values for any time that is asked.
 */
#ifndef LT_SOURCE_SERVER_MARGINAL_H
#define LT_SOURCE_SERVER_MARGINAL_H

#include <sys/mman.h>

#include "tools/source_server.h"

enum {
	WATTTIME_STEP_S = 300,
	WATTTIME_SPAN_MAX_S = 32 * 86400,
	MARGINAL_BODY_MAX = 4 * 1024 * 1024,
	MARGINAL_TOKEN = 1000, /* number of the token without a state */
};

/* "lowtide:example password" */
#define WATTTIME_BASIC "Basic bG93dGlkZTpleGFtcGxlIHBhc3N3b3Jk"

/* What a test sees of the server, and tells it; shared by its processes. */
struct marginal_state {
	int logins, requests; /* requests with a Bearer, taken or not */
	int good_token;	      /* number of the one token that is taken */
	int both;	      /* logins that brought a Bearer too */
	int gate;	      /* 403 to every token */
	int longest_s;	      /* span of history */
};
/* Set by marginal_start(), before server_start(); NULL: any login is right once, and its token
 * always. */
static struct marginal_state *marginal;

static inline void
marginal_start(void)
{
	marginal = mmap(
	    NULL, sizeof(*marginal), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (marginal == MAP_FAILED) {
		perror("marginal_start");
		exit(1);
	}
}

/* A value of the query, unescaped; "" without it. */
static inline const char *
marginal_query(const struct exchange *exchange, const char *key, char out[128])
{
	const size_t length = strlen(key);
	const char *at = strchr(exchange->path, '?');
	size_t used = 0;

	out[0] = '\0';
	while (at != NULL && (strncmp(at + 1, key, length) != 0 || at[1 + length] != '='))
		at = strchr(at + 1, '&');
	if (at == NULL)
		return out;
	for (at += length + 2; *at != '\0' && *at != '&' && used < 127; at++) {
		unsigned byte = (unsigned char)*at;

		if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1)
			at += 2;
		out[used++] = (char)byte;
	}
	out[used] = '\0';
	return out;
}

/* A day with sun in it: 300 to 900. */
static inline int
marginal_value(int64_t utc_s)
{
	const int minute = (int)((utc_s / 60) % 1440);

	return minute > 960 && minute < 1300 ? 300 + minute % 60 : 800 + minute % 100;
}

static inline void
marginal_json(const struct exchange *exchange, int status, const char *body)
{
	server_answer(exchange, status, "application/json", "", body);
}

/* ---- WattTime ---- */

static inline void
watttime_gate(const struct exchange *exchange)
{
	server_answer(exchange, 403, "text/html", "",
	    "<html>\n  <head>\n    <title>403 Forbidden</title>\n  </head>\n"
	    "  <body>\n    <center><h1>403 Forbidden</h1></center>\n"
	    "    <hr />\n    <center>nginx</center>\n  </body>\n</html>\n");
}

static inline void
watttime_login(const struct exchange *exchange)
{
	char header[512], body[128];
	int token = MARGINAL_TOKEN;

	server_header(exchange, "Authorization", header);
	if (strcmp(header, WATTTIME_BASIC) != 0) {
		watttime_gate(exchange);
		return;
	}
	if (marginal != NULL) {
		marginal->both += strstr(exchange->request, "Bearer") != NULL;
		token = __atomic_add_fetch(&marginal->logins, 1, __ATOMIC_SEQ_CST);
		marginal->good_token = token;
	}
	snprintf(body, sizeof(body), "{\"token\":\"eyJ.test-%d\"}", token);
	marginal_json(exchange, 200, body);
}

/* Errors by region, as the API words them. */
static inline bool
watttime_error(const struct exchange *exchange, const char *region)
{
	static const struct {
		const char *region;
		int status;
		const char *body;
	} errors[] = {
	    {"NOT_IN_PLAN", 403,
		"{\"error\":\"Invalid query parameters\",\"message\":"
		"\"Invalid scope. You do not have sufficient access to this "
		"resource.\"}"},
	    {"WRONG", 422,
		"{\"detail\":[{\"loc\":[\"query\",\"region\"],\"msg\":"
		"\"unknown region\",\"type\":\"value_error\"}]}"},
	    {"BUSY", 429, "{\"error\":\"Too many requests\"}"},
	    {"NOT_JSON", 200, "{\"data\":["},
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(region, errors[i].region) == 0) {
			server_answer(exchange, errors[i].status, "application/json",
			    errors[i].status == 429 ? "Retry-After: 7\r\n" : "", errors[i].body);
			return true;
		}
	return false;
}

static inline int
watttime_row(char *out, int64_t utc_s, const char *more)
{
	char time_text[32];

	lt_utc_text(time_text, sizeof(time_text), utc_s);
	time_text[19] = '\0';
	return sprintf(out, "{\"point_time\":\"%s+00:00\",\"value\":%d.0%s}", time_text,
	    marginal_value(utc_s), more);
}

static inline void
watttime_rows(const struct exchange *exchange, const char *region, int64_t from_utc_s,
    int64_t to_utc_s, const char *more, const char *meta)
{
	static char body[MARGINAL_BODY_MAX];
	int length = sprintf(body, "{\"data\":[");

	for (int64_t at = from_utc_s; at <= to_utc_s && length < MARGINAL_BODY_MAX - 1024;
	     at += WATTTIME_STEP_S) {
		if (at > from_utc_s)
			body[length++] = ',';
		length += watttime_row(body + length, at, more);
	}
	sprintf(body + length,
	    "],\"meta\":{\"data_point_period_seconds\":300,"
	    "\"region\":\"%s\",\"signal_type\":\"co2_moer\","
	    "\"units\":\"%s\",\"warnings\":[],"
	    "\"model\":{\"date\":\"2023-03-01\"}%s}}",
	    strcmp(region, "ELSEWHERE") == 0 ? "CAISO_NORTH" : region,
	    strcmp(region, "PERCENT") == 0 ? "percentile" : "lbs_co2_per_mwh", meta);
	marginal_json(exchange, 200, body);
}

static inline void
watttime_forecast(const struct exchange *exchange, const char *region)
{
	const int64_t now_utc_s = server_time() / WATTTIME_STEP_S * WATTTIME_STEP_S;
	char hours[128], issued[32], meta[128];

	marginal_query(exchange, "horizon_hours", hours);
	if (strcmp(region, "ONE_DAY") == 0 && atoi(hours) > 24) {
		marginal_json(exchange, 400,
		    "{\"error\":\"Invalid query parameters\","
		    "\"message\":\"horizon_hours\"}");
		return;
	}
	lt_utc_text(issued, sizeof(issued), now_utc_s);
	snprintf(meta, sizeof(meta), ",\"generated_at\":\"%s\",\"generated_at_period_seconds\":300",
	    issued);
	watttime_rows(exchange, region, now_utc_s, now_utc_s + atoi(hours) * 3600 - WATTTIME_STEP_S,
	    "", meta);
}

static inline void
watttime_historical(const struct exchange *exchange, const char *region)
{
	char start[128], end[128];
	int64_t start_utc_s, end_utc_s;

	marginal_query(exchange, "start", start);
	marginal_query(exchange, "end", end);
	if (lt_utc_parse(start, &start_utc_s, NULL) != LT_OK ||
	    lt_utc_parse(end, &end_utc_s, NULL) != LT_OK ||
	    end_utc_s - start_utc_s > WATTTIME_SPAN_MAX_S || strcmp(region, "NO_HISTORY") == 0) {
		marginal_json(exchange, 400,
		    "{\"error\":\"Invalid query parameters\","
		    "\"message\":\"start, end: at most 32 days\"}");
		return;
	}
	if (marginal != NULL && end_utc_s - start_utc_s > marginal->longest_s)
		marginal->longest_s = (int)(end_utc_s - start_utc_s);
	/* The last quarter of an hour is not known yet. */
	if (end_utc_s > server_time() - 900)
		end_utc_s = server_time() - 900;
	start_utc_s += WATTTIME_STEP_S - 1;
	start_utc_s -= start_utc_s % WATTTIME_STEP_S;
	watttime_rows(exchange, region, start_utc_s, end_utc_s,
	    ",\"last_updated\":\"2023-10-01T00:00:00+00:00\","
	    "\"imputed_data_used\":false",
	    "");
}

static inline void
watttime_region(const struct exchange *exchange)
{
	char latitude[128];

	if (atof(marginal_query(exchange, "latitude", latitude)) != 0)
		marginal_json(exchange, 200,
		    "{\"region\":\"PSCO\",\"region_full_name\":\"Public "
		    "Service Co of Colorado\",\"signal_type\":\"co2_moer\"}");
	else
		marginal_json(exchange, 404,
		    "{\"error\":\"No coverage available for these coordinates "
		    "and signal_type\",\"latitude\":\"0\"}");
}

static inline bool
watttime_token_is_good(const struct exchange *exchange)
{
	char header[512];
	int token = -1;

	server_header(exchange, "Authorization", header);
	sscanf(header, "Bearer eyJ.test-%d", &token);
	if (marginal == NULL)
		return token == MARGINAL_TOKEN;
	__atomic_add_fetch(&marginal->requests, 1, __ATOMIC_SEQ_CST);
	return !marginal->gate && token == marginal->good_token;
}

static inline void
serve_watttime(const struct exchange *exchange, const char *path)
{
	char region[128];

	marginal_query(exchange, "region", region);
	if (strcmp(path, "/login") == 0)
		watttime_login(exchange);
	else if (!watttime_token_is_good(exchange))
		watttime_gate(exchange);
	else if (strncmp(path, "/v3/region-from-loc?", 20) == 0)
		watttime_region(exchange);
	else if (watttime_error(exchange, region))
		return;
	else if (strncmp(path, "/v3/forecast?", 13) == 0)
		watttime_forecast(exchange, region);
	else if (strncmp(path, "/v3/historical?", 15) == 0)
		watttime_historical(exchange, region);
	else
		marginal_json(exchange, 404, "{\"error\":\"Not found\"}");
}

/* ---- the SDK ---- */

static inline bool
sdk_error(const struct exchange *exchange, const char *location, bool ahead)
{
	static const struct {
		const char *location;
		bool ahead_only;
		int status;
		const char *body;
	} errors[] = {
	    {"nowhere", false, 400,
		"{\"title\":\"LocationConversionException\",\"status\":400,"
		"\"detail\":\"Unknown Location: 'nowhere' not found\","
		"\"errors\":{},\"traceId\":\"00-1\"}"},
	    {"invalid", false, 400,
		"{\"type\":\"https://tools.ietf.org/html/rfc7231\","
		"\"title\":\"One or more validation errors occurred.\","
		"\"status\":400,\"errors\":{\"location\":[\"The location "
		"field is required.\"]}}"},
	    {"nologin", false, 401,
		"{\"title\":\"WattTimeClientHttpException\",\"status\":401,"
		"\"detail\":\"Login failed for user: 'site'\"}"},
	    {"broken", false, 500, "{\"title\":\"InternalServerError\",\"status\":500}"},
	    {"noforecast", true, 501,
		"{\"title\":\"NotImplementedException\",\"status\":501,"
		"\"detail\":\"The method or operation is not implemented.\"}"},
	    {"neither", true, 501, "{\"title\":\"NotImplementedException\",\"status\":501}"},
	    {"neither", false, 500, "{\"title\":\"InternalServerError\"}"},
	    {"text", false, 200, "\"no list\""},
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(location, errors[i].location) == 0 && (ahead || !errors[i].ahead_only)) {
			server_answer(exchange, errors[i].status, "application/problem+json", "",
			    errors[i].body);
			return true;
		}
	return false;
}

static inline void
sdk_forecast(const struct exchange *exchange, const char *location)
{
	static char body[MARGINAL_BODY_MAX];
	const int64_t now_utc_s = server_time() / 300 * 300;
	char at[32];
	int length;

	lt_utc_text(at, sizeof(at), now_utc_s);
	length = sprintf(body,
	    "[{\"generatedAt\":\"%s\",\"requestedAt\":\"%s\","
	    "\"location\":\"%s\",\"windowSize\":5,\"optimalDataPoints\":[{"
	    "\"location\":\"IE\",\"timestamp\":\"%s\",\"duration\":5,"
	    "\"value\":1}],\"forecastData\":[",
	    at, at, strcmp(location, "elsewhere") == 0 ? "westus" : location, at);
	for (int i = 0; i < 288; i++) {
		lt_utc_text(at, sizeof(at), now_utc_s + i * 300);
		length += sprintf(body + length,
		    "%s{\"location\":\"IE\",\"timestamp\":\"%s\","
		    "\"duration\":5,\"value\":%d.25}",
		    i == 0 ? "" : ",", at, marginal_value(now_utc_s + i * 300) / 2);
	}
	strcpy(body + length, "]}]");
	marginal_json(exchange, 200, body);
}

/* A day more than was asked, as issue 570 of the SDK has it. */
static inline void
sdk_bylocation(const struct exchange *exchange, const char *location)
{
	static char body[MARGINAL_BODY_MAX];
	char time_text[128], to[128], at[32];
	int64_t from_utc_s, to_utc_s;
	int length = sprintf(body, "[");

	marginal_query(exchange, "time", time_text);
	marginal_query(exchange, "toTime", to);
	if (lt_utc_parse(time_text, &from_utc_s, NULL) != LT_OK ||
	    lt_utc_parse(to, &to_utc_s, NULL) != LT_OK || to_utc_s - from_utc_s > 10 * 86400) {
		marginal_json(exchange, 400,
		    "{\"title\":\"ArgumentException\",\"status\":400,"
		    "\"detail\":\"Invalid parameters\"}");
		return;
	}
	if (strcmp(location, "empty") == 0) {
		server_answer(exchange, 204, "application/json", "", "");
		return;
	}
	for (int64_t hour = from_utc_s / 3600 * 3600 - 86400; hour < to_utc_s; hour += 3600) {
		lt_utc_text(at, sizeof(at), hour);
		at[19] = '\0';
		length += sprintf(body + length,
		    "%s{\"location\":\"%s\",\"time\":\"%s+00:00\","
		    "\"rating\":%d,\"duration\":\"01:00:00\"}",
		    length == 1 ? "" : ",", location, at, marginal_value(hour) / 2);
	}
	strcpy(body + length, "]");
	marginal_json(exchange, 200, body);
}

static inline void
serve_sdk(const struct exchange *exchange, const char *path)
{
	const bool ahead = strncmp(path, "/emissions/forecasts/current?", 29) == 0;
	char location[128];

	marginal_query(exchange, "location", location);
	if (sdk_error(exchange, location, ahead))
		return;
	if (ahead)
		sdk_forecast(exchange, location);
	else if (strncmp(path, "/emissions/bylocation?", 22) == 0)
		sdk_bylocation(exchange, location);
	else
		marginal_json(exchange, 404, "{\"title\":\"Not Found\"}");
}

static inline bool
serve_marginal(const struct exchange *exchange)
{
	static const char watttime[] = "/marginal/watttime", sdk[] = "/marginal/sdk";
	const char *const path = exchange->path;

	if (strncmp(path, watttime, strlen(watttime)) == 0)
		serve_watttime(exchange, path + strlen(watttime));
	else if (strncmp(path, sdk, strlen(sdk)) == 0)
		serve_sdk(exchange, path + strlen(sdk));
	else
		return false;
	return true;
}

#endif
