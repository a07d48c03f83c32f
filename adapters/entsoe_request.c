/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to ENTSO-E's Transparency Platform: the areas that it knows, by short codes and energy
 * identification codes with their check characters; requests in parts that it takes, split where it
 * finds them too large, with the token out of sight. For all of its adapters.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "entsoe.h"
#include "text_mend.h"
#include "units.h"

/* ---- areas ---- */

/* Zones as the Transparency Platform lists them; national where A75 is published for a country. */
static const struct {
	const char *code, *eic;
} areas[] = {
    {"AL", "10YAL-KESH-----5"},
    {"AT", "10YAT-APG------L"},
    {"BA", "10YBA-JPCC-----D"},
    {"BE", "10YBE----------2"},
    {"BG", "10YCA-BULGARIA-R"},
    {"CH", "10YCH-SWISSGRIDZ"},
    {"CY", "10YCY-1001A0003J"},
    {"CZ", "10YCZ-CEPS-----N"},
    {"DE", "10Y1001A1001A83F"},
    {"DE-LU", "10Y1001A1001A82H"},
    {"DK", "10Y1001A1001A65H"},
    {"DK1", "10YDK-1--------W"},
    {"DK2", "10YDK-2--------M"},
    {"EE", "10Y1001A1001A39I"},
    {"ES", "10YES-REE------0"},
    {"FI", "10YFI-1--------U"},
    {"FR", "10YFR-RTE------C"},
    {"GR", "10YGR-HTSO-----Y"},
    {"HR", "10YHR-HEP------M"},
    {"HU", "10YHU-MAVIR----U"},
    {"IE", "10YIE-1001A00010"},
    {"IE-SEM", "10Y1001A1001A59C"},
    {"IT", "10YIT-GRTN-----B"},
    {"IT-NORTH", "10Y1001A1001A73I"},
    {"LT", "10YLT-1001A0008Q"},
    {"LU", "10YLU-CEGEDEL-NQ"},
    {"LV", "10YLV-1001A00074"},
    {"ME", "10YCS-CG-TSO---S"},
    {"MK", "10YMK-MEPSO----8"},
    {"NL", "10YNL----------L"},
    {"NO", "10YNO-0--------C"},
    {"NO1", "10YNO-1--------2"},
    {"NO2", "10YNO-2--------T"},
    {"NO3", "10YNO-3--------J"},
    {"NO4", "10YNO-4--------9"},
    {"NO5", "10Y1001A1001A48H"},
    {"PL", "10YPL-AREA-----S"},
    {"PT", "10YPT-REN------W"},
    {"RO", "10YRO-TEL------P"},
    {"RS", "10YCS-SERBIATSOV"},
    {"SE", "10YSE-1--------K"},
    {"SE1", "10Y1001A1001A44P"},
    {"SE2", "10Y1001A1001A45N"},
    {"SE3", "10Y1001A1001A46L"},
    {"SE4", "10Y1001A1001A47J"},
    {"SI", "10YSI-ELES-----O"},
    {"SK", "10YSK-SEPS-----K"},
    {"UA", "10Y1001C--00003F"},
    {"XK", "10Y1001C--00100H"},
};

/* 16 characters, the last a check: 36 - (sum of weight * value - 1) mod 37, weights 16 to 2, "-" is
 * 36 (ENTSO-E, EIC data exchange guide). */
static bool
is_eic(const char *text)
{
	static const char values[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-";
	int sum = 0;

	if (strlen(text) != LT_EIC_SIZE - 1 || strspn(text, values) != LT_EIC_SIZE - 1)
		return false;
	for (int i = 0; i < LT_EIC_SIZE - 2; i++)
		sum += (16 - i) * (int)(strchr(values, text[i]) - values);
	return text[LT_EIC_SIZE - 2] == values[36 - (sum + 36) % 37];
}

const char *
lt_entsoe_area(const char *text)
{
	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++)
		if (strcmp(areas[i].code, text) == 0)
			return areas[i].eic;
	return is_eic(text) ? text : NULL;
}

int
lt_entsoe_area_option(
    const struct lt_source_options *options, const char **eic, struct lt_error *err)
{
	const char *const area = lt_source_option(options, "area", "");

	*eic = lt_entsoe_area(area);
	if (*eic != NULL)
		return LT_OK;
	return lt_option_fail(options, "area", err,
	    "%s: area: got \"%s\", want a known short code such as DE, FR or NO1, or an EIC code of 16 characters whose check character is right",
	    options->name, area);
}

/* ---- requests ---- */

enum {
	/* A year may be asked for at once, but 10 days of quarter hours of 20 types are 2 MB
	 * already; and of prices an answer holds 100 series:
	 * 10 days of two auctions ahead and three within the day are 50. */
	SPAN_S = 10 * LT_DAY_S,
	TIME_MAX_S = 40 * LT_DAY_S,   /* of a fetch; before that: cut */
	SPAN_LEAST_S = 6 * LT_HOUR_S, /* not split further */
	REQUESTS_MAX = 24,	      /* of one fetch; then older hours miss */
	BAN_S = 600,		      /* after too many requests: 400 a minute are allowed */
};

int
lt_entsoe_refused(const struct lt_entsoe_answer *answer, struct lt_error *err)
{
	return lt_fail(err, LT_ENET, "%s: %s",
	    answer->kind == LT_ENTSOE_NO_DATA ? "no data" : "the source says",
	    answer->reason[0] == '\0' ? "no reason" : answer->reason);
}

struct span {
	int64_t from_utc_s, to_utc_s;
};

static void
entsoe_error_text(char *out, size_t size, const char *body, size_t length)
{
	struct lt_entsoe_answer answer;

	out[0] = '\0';
	if (lt_entsoe_read(&(struct lt_answer){.bytes = body, .byte_count = length}, NULL, NULL,
		&answer, NULL) == LT_OK)
		snprintf(out, size, "%.190s", answer.reason);
}

static int
make_url(
    char out[LT_URL_SIZE], const struct lt_entsoe_job *job, struct span span, struct lt_error *err)
{
	char start[24], end[24];

	const struct lt_query times[] = {
	    {"periodStart", start},
	    {"periodEnd", end},
	    {NULL, NULL},
	};
	const time_t from = (time_t)span.from_utc_s, to = (time_t)span.to_utc_s;
	struct tm parts;
	int code =
	    lt_url_start(out, lt_source_option(job->web.options, "url", LT_ENTSOE_URL), "api", err);

	gmtime_r(&from, &parts);
	strftime(start, sizeof(start), "%Y%m%d%H%M", &parts);
	gmtime_r(&to, &parts);
	strftime(end, sizeof(end), "%Y%m%d%H%M", &parts);
	if (code == LT_OK)
		code = lt_url_query(out, job->query, err);
	return code == LT_OK ? lt_url_query(out, times, err) : code;
}

/* LT_OK when there is an answer: also one that says why there is no data, which comes with status
 * 200 or 400. */
static int
request_span(struct lt_entsoe_job *job, struct span span, struct lt_entsoe_answer *answer,
    struct lt_error *err)
{
	char url[LT_URL_SIZE];
	struct lt_http_response response = {0};
	struct lt_error inner = {0};
	const struct lt_web_request request = {
	    .url = url,
	    .secret_query = job->secret_query,
	    .type = LT_WEB_XML,
	    .gap_ms = 200,
	    .error_text = entsoe_error_text,
	};
	int code = make_url(url, job, span, &inner);

	if (code == LT_OK)
		code = lt_web_do(&job->web, &request, &response, &inner);
	job->requests++;
	if (response.status == 429 && job->web.points->retry_after_s < BAN_S)
		job->web.points->retry_after_s = BAN_S;
	if (code == LT_OK) {
		code = lt_entsoe_read(
		    &(struct lt_answer){.bytes = response.body, .byte_count = response.body_length},
		    job->document, job->sink, answer, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	} else if (response.status == 400 &&
		   lt_entsoe_read(&(struct lt_answer){.bytes = response.body,
				      .byte_count = response.body_length},
		       NULL, NULL, answer, NULL) == LT_OK &&
		   (answer->kind == LT_ENTSOE_NO_DATA || answer->kind == LT_ENTSOE_TOO_MUCH)) {
		code = LT_OK;
	}
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

/* The later half of a span that is too long, then the earlier. */
static bool
split(struct span *spans, int *count, struct span span)
{
	const int64_t half_s = (span.to_utc_s - span.from_utc_s) / 2 / LT_HOUR_S * LT_HOUR_S;

	if (span.to_utc_s - span.from_utc_s < 2 * SPAN_LEAST_S)
		return false;
	spans[(*count)++] = (struct span){span.from_utc_s, span.from_utc_s + half_s};
	spans[(*count)++] = (struct span){span.from_utc_s + half_s, span.to_utc_s};
	return true;
}

static int
request_all(struct lt_entsoe_job *job, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	/* A split takes one and puts two: at most one more per request. */
	struct span spans[TIME_MAX_S / SPAN_S + 1 + REQUESTS_MAX];
	struct lt_entsoe_answer answer = {0};
	struct lt_error inner = {0};
	int count = 0, code = LT_OK;

	if (from_utc_s < to_utc_s - TIME_MAX_S)
		from_utc_s = to_utc_s - TIME_MAX_S;
	for (int64_t at = from_utc_s; at < to_utc_s; count++) {
		const int64_t rest_s = (to_utc_s - at) % SPAN_S;
		const int64_t end_utc_s = at + (rest_s == 0 ? SPAN_S : rest_s);

		spans[count] = (struct span){at, end_utc_s};
		at = end_utc_s;
	}
	while (count > 0 && code == LT_OK && job->requests < REQUESTS_MAX) {
		const struct span span = spans[--count];

		code = request_span(job, span, &answer, &inner);
		if (code != LT_OK)
			break;
		if (answer.kind == LT_ENTSOE_DATA)
			job->has_data = true;
		else if (answer.kind != LT_ENTSOE_NO_DATA &&
			 (answer.kind != LT_ENTSOE_TOO_MUCH || !split(spans, &count, span)))
			code = lt_entsoe_refused(&answer, &inner);
	}
	if (!job->has_data) {
		if (code == LT_OK)
			code = lt_entsoe_refused(&answer, &inner);
		return lt_error_give(err, code, &inner);
	}
	job->web.points->past_lost = code != LT_OK;
	if (code != LT_OK || count > 0)
		snprintf(job->missing, sizeof(job->missing), "without older hours: %.120s",
		    code == LT_OK ? "too many requests" : inner.text);
	return LT_OK;
}

int
lt_entsoe_fetch(
    struct lt_entsoe_job *job, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	char secret_query[LT_SECRET_SIZE];
	int code =
	    lt_web_secret_query(secret_query, job->web.options, "token", "securityToken", err);

	job->secret_query = secret_query;
	if (code == LT_OK)
		code = request_all(job, from_utc_s, to_utc_s, err);
	job->secret_query = NULL;
	explicit_bzero(secret_query, sizeof(secret_query));
	return code;
}
