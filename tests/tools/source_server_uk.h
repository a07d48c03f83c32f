/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Carbon Intensity API as it answers: under /uk, a captured day again
 * and again, with its quirks. Included by source_server.h.
 */
#ifndef LT_SOURCE_SERVER_UK_H
#define LT_SOURCE_SERVER_UK_H

enum { UK_SLOT_S = 1800, UK_SLOTS_MAX = 14 * 48 };

/* g/kWh by half hour, from 12:30 UTC: 4 and 5 May 2023 as captured by CATS (GreenScheduler, MIT),
 * tests/fixtures/uk_carbon_intensity. */
static const int uk_day[48] = {11, 15, 15, 18, 19, 17, 16, 11, 11, 11, 11, 11, 17, 22, 20, 20, 21,
    15, 15, 13, 13, 14, 14, 15, 15, 17, 15, 8, 8, 8, 9, 9, 9, 9, 9, 11, 11, 15, 14, 18, 14, 10, 10,
    9, 6, 7, 7, 10};

/* A time on the half hour gets the half hour before it first. */
static inline int64_t
uk_first_slot(int64_t utc_s)
{
	const int64_t slot_utc_s = utc_s - utc_s % UK_SLOT_S;

	return slot_utc_s == utc_s ? slot_utc_s - UK_SLOT_S : slot_utc_s;
}

static inline int
uk_slot(char *out, size_t size, int64_t utc_s, bool regional)
{
	const int64_t end_utc_s = utc_s + UK_SLOT_S;
	const int value = uk_day[(utc_s / UK_SLOT_S + 48 - 25) % 48];
	char from[32], to[32], actual[32] = "\"actual\":null,";

	lt_utc_text(from, sizeof(from), utc_s);
	lt_utc_text(to, sizeof(to), end_utc_s);
	from[16] = to[16] = '\0'; /* no seconds */
	if (end_utc_s <= server_time())
		snprintf(actual, sizeof(actual), "\"actual\":%d,", value + 1);
	return snprintf(out, size,
	    "{\"from\":\"%sZ\",\"to\":\"%sZ\",\"intensity\":{"
	    "\"forecast\":%d,%s\"index\":\"low\"}}",
	    from, to, value, regional ? "" : actual);
}

static inline void
uk_bad_request(const struct exchange *exchange)
{
	server_answer(exchange, 400, "application/json", "",
	    "{\"error\":{\"code\":\"400 Bad Request\",\"message\":"
	    "\"Please enter a valid date in ISO8601 format YYYY-MM-DDThh:mmZ "
	    "i.e. 2017-08-25T15:30Z.\"}}");
}

/* /uk[/regional]/intensity/{from}/{fw48h or to}[/regionid/{n}] */
static inline void
serve_uk(const struct exchange *exchange)
{
	static char body[UK_SLOTS_MAX * 160];
	const bool regional = strncmp(exchange->path, "/uk/regional/", 13) == 0;
	const char *const path = exchange->path + strlen(regional ? "/uk/regional" : "/uk");
	char from[32] = "", span[32] = "";
	int64_t from_utc_s, to_utc_s;
	int region = 0, length = 0, slots = 0;

	sscanf(path, "/intensity/%31[^/]/%31[^/]/regionid/%d", from, span, &region);
	if (strlen(from) != 17 || lt_utc_parse(from, &from_utc_s, NULL) != LT_OK) {
		uk_bad_request(exchange);
		return;
	}
	to_utc_s = from_utc_s + 2 * 86400;
	if (strcmp(span, "fw48h") != 0 &&
	    (strlen(span) != 17 || lt_utc_parse(span, &to_utc_s, NULL) != LT_OK)) {
		uk_bad_request(exchange);
		return;
	}
	if (to_utc_s - from_utc_s > 14 * 86400) {
		server_answer(exchange, 400, "application/json", "",
		    "{\"error\":{\"code\":\"400 Bad Request\",\"message\":"
		    "\"The maximum duration is 14 days.\"}}");
		return;
	}
	if (regional)
		length = sprintf(body,
		    "{\"data\":{\"regionid\":%d,\"shortname\":\"Region\","
		    "\"data\":[",
		    region);
	else
		length = sprintf(body, "{\"data\":[");
	for (int64_t at = uk_first_slot(from_utc_s); at < to_utc_s && slots < UK_SLOTS_MAX;
	     at += UK_SLOT_S) {
		if (slots++ > 0)
			body[length++] = ',';
		length += uk_slot(body + length, 160, at, regional);
	}
	strcpy(body + length, regional ? "]}}" : "]}");
	server_answer(exchange, 200, "application/json; charset=utf-8", "", body);
}

#endif
