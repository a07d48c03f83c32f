/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EIA's fuel mix and ENTSO-E's generation per type and prices as they answer, under /mix, with
 * times of now and values made up: synthetic, from the documented models. To be set as server_own.
 */
#ifndef LT_SOURCE_SERVER_MIX_H
#define LT_SOURCE_SERVER_MIX_H

#include "tools/source_server.h"

#define MIX_KEY "mix/key+1" /* good, and to be escaped */

enum { MIX_ENTSOE_LATE_S = 14 * 3600, MIX_EIA_PAGE = 5000 };

/* A key of the query, percent-decoded. */
static inline const char *
mix_query(const struct exchange *exchange, const char *key, char out[256])
{
	const char *at = strchr(exchange->path, '?');
	const size_t key_length = strlen(key);
	size_t length = 0;

	out[0] = '\0';
	while (at != NULL && strncmp(at + 1, key, key_length) != 0)
		at = strchr(at + 1, '&');
	if (at == NULL || at[1 + key_length] != '=')
		return out;
	for (at += key_length + 2; *at != '\0' && *at != '&' && length < 255; at++) {
		unsigned byte = (unsigned char)*at;

		if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1)
			at += 2;
		out[length++] = (char)byte;
	}
	out[length] = '\0';
	return out;
}

static inline bool
mix_is(const struct exchange *exchange, const char *prefix)
{
	return strncmp(exchange->path, prefix, strlen(prefix)) == 0;
}

/* ---- EIA ---- */

static const char *const mix_eia_fuels[] = {
    "BAT", "COL", "NG", "NUC", "OIL", "OTH", "PS", "SUN", "WAT", "WND"};
enum { MIX_EIA_FUELS = 10 };

/* MWh of the hour that starts then. */
static inline int
mix_eia_mwh(const char *fuel, int64_t start_utc_s)
{
	const int hour = (int)(start_utc_s / 3600 % 24);
	const int sun = hour >= 6 && hour < 18 ? 6 - abs(hour - 12) : 0;

	switch (fuel[0]) {
	case 'B':
		return sun > 0 ? -900 : 700; /* charges by day */
	case 'C':
		return 1000;
	case 'N':
		return fuel[1] == 'U' ? 2000 : 6000 - 800 * sun;
	case 'P':
		return -300;
	case 'S':
		return sun > 0 ? 1000 * sun : -4; /* its own use at night */
	case 'W':
		return fuel[1] == 'A' ? 500 : 800 + 20 * hour;
	default:
		return fuel[1] == 'I' ? 0 : 100;
	}
}

/* By the factors of docs/model.md, eq. (34). */
static inline double
mix_eia_intensity(int64_t start_utc_s)
{
	static const struct {
		const char *fuel;
		double factor;
	} fuels[] = {{"COL", 820}, {"NG", 490}, {"NUC", 12}, {"OIL", 671}, {"OTH", 700},
	    {"SUN", 48}, {"WAT", 24}, {"WND", 11}};
	double sum_g = 0, sum = 0;

	for (size_t i = 0; i < sizeof(fuels) / sizeof(fuels[0]); i++) {
		const int mwh = mix_eia_mwh(fuels[i].fuel, start_utc_s);

		sum += mwh > 0 ? mwh : 0;
		sum_g += mwh > 0 ? mwh * fuels[i].factor : 0;
	}
	return sum_g / sum;
}

static inline void
mix_eia_row(FILE *file, const char *respondent, int64_t start_utc_s, int fuel, int64_t now_utc_s)
{
	const char *const name = mix_eia_fuels[fuel];
	const int mwh = mix_eia_mwh(name, start_utc_s);
	char period[32], value[32];

	lt_utc_text(period, sizeof(period), start_utc_s + 3600);
	period[13] = '\0';
	snprintf(value, sizeof(value), fuel % 2 == 0 ? "%d" : "\"%d\"", mwh);
	/* Of the newest hour the sun is not known yet. */
	if (strcmp(name, "SUN") == 0 && start_utc_s + 7200 > now_utc_s)
		strcpy(value, "null");
	fprintf(file,
	    "{\"period\":\"%s\",\"respondent\":\"%s\","
	    "\"respondent-name\":\"Synthetic\",\"fueltype\":\"%s\","
	    "\"type-name\":\"Fuel\",\"value\":%s,"
	    "\"value-units\":\"megawatthours\"}",
	    period, respondent, name, value);
}

static inline bool
mix_hour(const char *text, int64_t *utc_s)
{
	char whole[32];

	snprintf(whole, sizeof(whole), "%.13s:00Z", text);
	return strlen(text) == 13 && lt_utc_parse(whole, utc_s, NULL) == LT_OK;
}

static inline void
mix_eia_data(const struct exchange *exchange, const char *respondent)
{
	char text[256], *body = NULL;
	size_t size;
	FILE *const file = open_memstream(&body, &size);
	const int64_t now_utc_s = server_time();
	int64_t start = 0, end = 0;
	int row = 0;

	if (!mix_hour(mix_query(exchange, "start", text), &start) ||
	    !mix_hour(mix_query(exchange, "end", text), &end) ||
	    strcmp(mix_query(exchange, "frequency", text), "hourly") != 0) {
		server_answer(exchange, 400, "application/json", "",
		    "{\"error\":\"Invalid frequency, start or end.\","
		    "\"code\":400}");
		fclose(file);
		free(body);
		return;
	}
	if (end > now_utc_s)
		end = now_utc_s - now_utc_s % 3600;
	const int first = atoi(mix_query(exchange, "offset", text));
	const int total = (int)((end - start) / 3600 + 1) * MIX_EIA_FUELS;
	fprintf(file,
	    mix_is(exchange, "/mix/eia-int/") ? "{\"response\":{\"total\":%d,\"data\":["
					      : "{\"response\":{\"total\":\"%d\",\"data\":[",
	    total);
	for (int64_t at = end; at >= start; at -= 3600)
		for (int i = 0; i < MIX_EIA_FUELS; i++, row++) {
			if (row < first || row >= first + MIX_EIA_PAGE)
				continue;
			if (row > first)
				fputc(',', file);
			mix_eia_row(file, respondent, at - 3600, i, now_utc_s);
		}
	fprintf(file, "],\"dateFormat\":\"YYYY-MM-DD\\\"T\\\"HH24\","
		      "\"frequency\":\"hourly\"},\"apiVersion\":\"2.1.8\"}");
	fclose(file);
	server_answer(exchange, 200, "application/json", "", body);
	free(body);
}

/* /mix/eia: the API. -int: total as a number. -old-fails: the second page fails. -other: another
 * respondent's rows. */
static inline void
serve_mix_eia(const struct exchange *exchange)
{
	char key[256], respondent[256], offset[256];

	mix_query(exchange, "api_key", key);
	mix_query(exchange, "facets%5Brespondent%5D%5B%5D", respondent);
	if (key[0] == '\0')
		server_answer(exchange, 403, "application/json", "",
		    "{\"error\":{\"code\":\"API_KEY_MISSING\",\"message\":"
		    "\"No api_key was supplied. Please register for one at "
		    "https://www.eia.gov/opendata/register.php\"}}");
	else if (strcmp(key, "busy") == 0)
		server_answer(exchange, 429, "application/json", "",
		    "{\"error\":{\"code\":\"OVER_RATE_LIMIT\",\"message\":"
		    "\"You have exceeded your rate limit. Try again "
		    "later.\"}}");
	else if (strcmp(key, MIX_KEY) != 0 && strcmp(key, "DEMO_KEY") != 0)
		server_answer(exchange, 403, "application/json", "",
		    "{\"error\":{\"code\":\"API_KEY_INVALID\",\"message\":"
		    "\"An invalid api_key was supplied. Get one at "
		    "https://www.eia.gov/opendata/register.php\"}}");
	else if (mix_is(exchange, "/mix/eia-400/"))
		server_answer(exchange, 400, "application/json", "",
		    "{\"error\":\"Invalid facet 'respondent'.\",\"code\":400}");
	else if (mix_is(exchange, "/mix/eia-old-fails/") &&
		 atoi(mix_query(exchange, "offset", offset)) > 0)
		server_answer(exchange, 503, "text/html", "", "<html>busy");
	else if (strcmp(respondent, "NONE") == 0)
		server_answer(exchange, 200, "application/json", "",
		    "{\"response\":{\"total\":\"0\",\"data\":[]}}");
	else
		mix_eia_data(exchange, mix_is(exchange, "/mix/eia-other/") ? "XX" : respondent);
}

/* ---- ENTSO-E ---- */

static inline bool
mix_minute(const char *text, int64_t *utc_s)
{
	char whole[32];

	if (strlen(text) != 12)
		return false;
	snprintf(whole, sizeof(whole), "%.4s-%.2s-%.2sT%.2s:%.2sZ", text, text + 4, text + 6,
	    text + 8, text + 10);
	return lt_utc_parse(whole, utc_s, NULL) == LT_OK;
}

/* MW at a time; steps of A03 are those of nuclear and biomass. */
static inline int
mix_entsoe_mw(const char *fuel, int64_t utc_s)
{
	const int hour = (int)(utc_s / 3600 % 24);

	if (strcmp(fuel, "B01") == 0)
		return 400;
	if (strcmp(fuel, "B04") == 0)
		return 3000 + 40 * hour + (int)(utc_s / 900 % 4) * 10;
	if (strcmp(fuel, "B14") == 0)
		return hour < 12 ? 40000 : 39000;
	if (strcmp(fuel, "B19") == 0)
		return 5000 - 100 * hour;
	return 900; /* B10, both ways */
}

static inline double
mix_entsoe_intensity(int64_t start_utc_s)
{
	static const struct {
		const char *fuel;
		double factor;
	} fuels[] = {{"B01", 230}, {"B04", 490}, {"B14", 12}, {"B19", 11}};
	double sum_g = 0, sum = 0;

	for (size_t i = 0; i < sizeof(fuels) / sizeof(fuels[0]); i++)
		for (int64_t at = 0; at < 3600; at += 900) {
			const int mw = mix_entsoe_mw(fuels[i].fuel, start_utc_s + at);

			sum += mw;
			sum_g += mw * fuels[i].factor;
		}
	return sum_g / sum;
}

struct mix_series {
	const char *fuel, *resolution, *curve, *direction;
	int step_s;
};

static inline void
mix_entsoe_series(
    FILE *file, const struct mix_series *series, const char *area, int64_t start, int64_t end)
{
	char from[32], to[32];
	int last = -1;

	lt_utc_text(from, sizeof(from), start);
	lt_utc_text(to, sizeof(to), end);
	from[16] = to[16] = '\0';
	fprintf(file,
	    "<TimeSeries><mRID>1</mRID><businessType>A01</businessType>"
	    "<objectAggregation>A08</objectAggregation>"
	    "<%sBiddingZone_Domain.mRID codingScheme=\"A01\">%s"
	    "</%sBiddingZone_Domain.mRID><quantity_Measure_Unit.name>MAW"
	    "</quantity_Measure_Unit.name><curveType>%s</curveType>"
	    "<MktPSRType><psrType>%s</psrType></MktPSRType><Period>"
	    "<timeInterval><start>%sZ</start><end>%sZ</end></timeInterval>"
	    "<resolution>%s</resolution>\n",
	    series->direction, area, series->direction, series->curve, series->fuel, from, to,
	    series->resolution);
	for (int64_t at = start; at < end; at += series->step_s) {
		const int mw = mix_entsoe_mw(series->fuel, at);

		if (mw != last || strcmp(series->curve, "A03") != 0)
			fprintf(file,
			    "<Point><position>%d</position><quantity>%d"
			    "</quantity></Point>\n",
			    (int)((at - start) / series->step_s) + 1, mw);
		last = mw;
	}
	fprintf(file, "</Period></TimeSeries>");
}

static inline void
mix_entsoe_reason(const struct exchange *exchange, int status, const char *text)
{
	char body[1024];

	snprintf(body, sizeof(body),
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<Acknowledgement_MarketDocument xmlns=\"urn:iec62325.351:"
	    "tc57wg16:451-1:acknowledgementdocument:7:0\"><mRID>1</mRID>"
	    "<Reason><code>999</code><text>%s</text></Reason>"
	    "</Acknowledgement_MarketDocument>",
	    text);
	server_answer(exchange, status, "text/xml", "", body);
}

static inline void
mix_entsoe_data(const struct exchange *exchange, int64_t start, int64_t end)
{
	static const struct mix_series series[] = {
	    {"B01", "PT60M", "A03", "in", 3600},
	    {"B04", "PT15M", "A01", "in", 900},
	    {"B10", "PT60M", "A01", "in", 3600},
	    {"B10", "PT60M", "A01", "out", 3600},
	    {"B14", "PT30M", "A03", "in", 1800},
	    {"B19", "PT60M", "A01", "in", 3600},
	};
	char area[256], *body = NULL;
	size_t size;
	FILE *const file = open_memstream(&body, &size);

	mix_query(exchange, "in_Domain", area);
	if (mix_is(exchange, "/mix/entsoe-other/"))
		strcpy(area, "10YFI-1--------U");
	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<GL_MarketDocument xmlns=\"urn:iec62325.351:tc57wg16:"
		      "451-6:generationloaddocument:3:0\"><mRID>1</mRID>"
		      "<type>A75</type>");
	/* The wind is an hour later than the others. */
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
		const int64_t late = strcmp(series[i].fuel, "B19") == 0 &&
					     end + 2 * MIX_ENTSOE_LATE_S > server_time()
					 ? 3600
					 : 0;

		if (end - late > start)
			mix_entsoe_series(file, &series[i], area, start, end - late);
	}
	fprintf(file, "</GL_MarketDocument>");
	fclose(file);
	server_answer(exchange, 200,
	    mix_is(exchange, "/mix/entsoe-zip/") ? "application/zip" : "application/xml", "", body);
	free(body);
}

/* Hundredths of EUR per MWh by quarter hour; some are skipped in A03. */
static inline int
mix_entsoe_cents(int64_t utc_s)
{
	const int hour = (int)(utc_s / 3600 % 24);

	return hour == 13 ? -450 : hour == 3 ? 0 : 5000 + 100 * hour;
}

/* An auction's series of a day: as DE-LU's two of the day before, and as one within the day. */
static inline void
mix_entsoe_auction(FILE *file, const char *area, int which, int64_t start)
{
	static const struct {
		const char *contract, *sequence;
		int more;
	} auctions[] = {{"A01", "2", 700}, {"A01", "1", 0}, {"A07", "1", 900}};
	char from[32], to[32];
	int last = INT32_MAX;

	lt_utc_text(from, sizeof(from), start);
	lt_utc_text(to, sizeof(to), start + 86400);
	from[16] = to[16] = '\0';
	fprintf(file,
	    "<TimeSeries><mRID>1</mRID><auction.type>A01</auction.type>"
	    "<businessType>A62</businessType><in_Domain.mRID codingScheme="
	    "\"A01\">%s</in_Domain.mRID><out_Domain.mRID codingScheme="
	    "\"A01\">%s</out_Domain.mRID><contract_MarketAgreement.type>%s"
	    "</contract_MarketAgreement.type><currency_Unit.name>EUR"
	    "</currency_Unit.name><price_Measure_Unit.name>MWH"
	    "</price_Measure_Unit.name><classificationSequence_"
	    "AttributeInstanceComponent.position>%s</classificationSequence_"
	    "AttributeInstanceComponent.position><curveType>A03</curveType>"
	    "<Period><timeInterval><start>%sZ</start><end>%sZ</end>"
	    "</timeInterval><resolution>PT15M</resolution>\n",
	    area, area, auctions[which].contract, auctions[which].sequence, from, to);
	for (int64_t at = start; at < start + 86400; at += 900) {
		const int cents = mix_entsoe_cents(at) + auctions[which].more;

		if (cents != last)
			fprintf(file,
			    "<Point><position>%d</position><price.amount>%g"
			    "</price.amount></Point>\n",
			    (int)((at - start) / 900) + 1, cents / 100.0);
		last = cents;
	}
	fprintf(file, "</Period></TimeSeries>");
}

/* Whole days, up to the end of tomorrow. -exaa: sequence 2 alone. */
static inline void
mix_entsoe_prices(const struct exchange *exchange, int64_t start, int64_t end)
{
	const int64_t known = (server_time() / 86400 + 2) * 86400;
	char area[256], *body = NULL;
	size_t size;
	FILE *const file = open_memstream(&body, &size);

	mix_query(exchange, "in_Domain", area);
	if (mix_is(exchange, "/mix/entsoe-other/"))
		strcpy(area, "10YFI-1--------U");
	fprintf(file, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
		      "<Publication_MarketDocument xmlns=\"urn:iec62325.351:"
		      "tc57wg16:451-3:publicationdocument:7:3\"><mRID>1</mRID>"
		      "<type>A44</type>");
	for (int64_t at = start / 86400 * 86400; at < end && at < known; at += 86400) {
		mix_entsoe_auction(file, area, 0, at);
		if (mix_is(exchange, "/mix/entsoe-exaa/"))
			continue;
		mix_entsoe_auction(file, area, 1, at);
		mix_entsoe_auction(file, area, 2, at);
	}
	fprintf(file, "</Publication_MarketDocument>");
	fclose(file);
	server_answer(exchange, 200, "text/xml", "", body);
	free(body);
}

/* /mix/entsoe: the API. -limit: at most two days at once. -old-fails: what
 * is older than five days fails. -none: never data, with status 400. -other:
 * another area's data. -zip: an archive. */
static inline void
serve_mix_entsoe(const struct exchange *exchange)
{
	const int64_t now_utc_s = server_time();
	char token[256], text[256], type[256];
	int64_t start = 0, end = 0;

	mix_query(exchange, "securityToken", token);
	if (strcmp(token, "busy") == 0) {
		server_answer(exchange, 429, "text/html", "", "<html>Too many requests</html>");
		return;
	}
	if (strcmp(token, MIX_KEY) != 0) {
		mix_entsoe_reason(exchange, 401,
		    "Authentication failed. Please provide valid security "
		    "token.");
		return;
	}
	if (!mix_minute(mix_query(exchange, "periodStart", text), &start) ||
	    !mix_minute(mix_query(exchange, "periodEnd", text), &end) ||
	    (strcmp(mix_query(exchange, "documentType", type), "A75") != 0 &&
		strcmp(type, "A44") != 0)) {
		mix_entsoe_reason(exchange, 400,
		    "Input parameter does not exist: check you request "
		    "against dependency tables.");
		return;
	}
	if (mix_is(exchange, "/mix/entsoe-limit/") && end - start > 172800) {
		mix_entsoe_reason(exchange, 400,
		    "The amount of requested data exceeds allowed limit. "
		    "Allowed: 100, requested: 200");
		return;
	}
	if (mix_is(exchange, "/mix/entsoe-old-fails/") && start < now_utc_s - 12 * 86400) {
		server_answer(exchange, 503, "text/html", "", "<html>down");
		return;
	}
	if (strcmp(type, "A44") == 0 && !mix_is(exchange, "/mix/entsoe-none/")) {
		mix_entsoe_prices(exchange, start, end);
		return;
	}
	if (end > now_utc_s - MIX_ENTSOE_LATE_S)
		end = (now_utc_s - MIX_ENTSOE_LATE_S) / 3600 * 3600;
	if (mix_is(exchange, "/mix/entsoe-none/") || end <= start)
		mix_entsoe_reason(exchange, mix_is(exchange, "/mix/entsoe-none/") ? 400 : 200,
		    "No matching data found for Data item "
		    "AGGREGATED_GENERATION_PER_TYPE_R3 [16.1.B&amp;C].");
	else
		mix_entsoe_data(exchange, start, end);
}

static inline bool
serve_mix(const struct exchange *exchange)
{
	if (mix_is(exchange, "/mix/eia"))
		serve_mix_eia(exchange);
	else if (mix_is(exchange, "/mix/entsoe"))
		serve_mix_entsoe(exchange);
	else
		return false;
	return true;
}

#endif
