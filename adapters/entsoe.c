/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ENTSO-E's Transparency Platform: actual generation per type of a European
 * area as an average intensity. entsoe_xml.c reads its answers;
 * docs/sources/entsoe.md.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "entsoe.h"
#include "source.h"
#include "web.h"

enum {
	LATE_S = 16 * LT_HOUR_S, /* measured by others: 12 to 16 hours */
	/* To ask for: that a type comes later than the others shows only
	 * beside enough hours that have it. */
	LEAST_S = 3 * LT_DAY_S,
	/* A year may be asked for at once, but 10 days of quarter hours of 20
	 * types are 2 MB already. */
	SPAN_S = 10 * LT_DAY_S,
	SPAN_LEAST_S = 6 * LT_HOUR_S, /* not split further */
	REQUESTS_MAX = 24,	      /* of one fetch; then older hours miss */
	BAN_S = 600, /* after too many requests: 400 a minute are allowed */
};

static const struct lt_adapter_option entsoe_options[] = {
    {"area", true, "EIC code, or short as DE, FR, NO1", NULL},
    {"token_file", false, "file with the security token, mode 0600", NULL},
    {"token_env", false, "or the environment variable that has it", NULL},
    {"emission_factors", false, "lifecycle or direct", "lifecycle"},
    {"url", false, "base URL of a mirror", "https://web-api.tp.entsoe.eu"},
    {"timeout", false, "how long it may be silent before it fails", "90s"},
    {NULL, false, NULL, NULL},
};
enum { ENTSOE_URL = 4 };

static enum lt_quantity
entsoe_quantity(const struct lt_source_options *options)
{
	(void)options;
	return LT_QUANTITY_CARBON;
}

static int
read_area(const struct lt_source_options *options, const char **eic,
    struct lt_error *err)
{
	const char *const area = lt_source_option(options, "area", "");

	*eic = lt_entsoe_area(area);
	if (*eic != NULL)
		return LT_OK;
	return lt_option_fail(options, "area", err,
	    "%s: area: got \"%s\", want a known short code such as DE, FR or NO1, or an EIC code of 16 characters whose check character is right",
	    options->name, area);
}

static int
entsoe_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *eic;
	int code = read_area(options, &eic, err);

	if (code == LT_OK)
		code = lt_secret_check(options, "token", true, err);
	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

static int
refused(const struct lt_entsoe_answer *answer, struct lt_error *err)
{
	return lt_fail(err, LT_ENET, "%s: %s",
	    answer->kind == LT_ENTSOE_NO_DATA ? "no data" : "the source says",
	    answer->reason[0] == '\0' ? "no reason" : answer->reason);
}

static int
entsoe_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_entsoe_answer said;
	struct lt_mix mix = {0};
	const char *eic;
	int code = read_area(options, &eic, err);

	if (code == LT_OK)
		code = lt_mix_start(&mix, lt_entsoe_fuels,
		    answer->now_utc_s - LT_MIX_SPAN_S, answer->now_utc_s, err);
	if (code == LT_OK)
		code = lt_entsoe_read(answer, eic, &mix, &said, err);
	if (code == LT_OK && said.kind != LT_ENTSOE_DATA)
		code = refused(&said, err);
	if (code == LT_OK)
		code = lt_mix_points(
		    &mix, options, answer->now_utc_s, points, err);
	lt_mix_free(&mix);
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

struct span {
	int64_t from_utc_s, to_utc_s;
};

struct job { /* one fetch */
	struct lt_web web;
	const char *eic, *secret_query;
	struct lt_mix mix;
	int requests;
	bool has_data;
	char missing[LT_POINTS_NOTE_SIZE]; /* why older hours are not here */
};

static void
entsoe_error_text(char *out, size_t size, const char *body, size_t length)
{
	struct lt_entsoe_answer answer;

	out[0] = '\0';
	if (lt_entsoe_read(&(struct lt_answer){body, length, 0}, "", NULL,
		&answer, NULL) == LT_OK)
		snprintf(out, size, "%.190s", answer.reason);
}

static int
make_url(char out[LT_URL_SIZE], const struct job *job, struct span span,
    struct lt_error *err)
{
	char start[24], end[24];

	const struct {
		const char *key, *value;
	} query[] = {
	    {"documentType", "A75"},
	    {"processType", "A16"},
	    {"in_Domain", job->eic},
	    {"periodStart", start},
	    {"periodEnd", end},
	};
	const time_t from = (time_t)span.from_utc_s, to = (time_t)span.to_utc_s;
	struct tm parts;
	int code = lt_url_start(out,
	    lt_source_option(
		job->web.options, "url", entsoe_options[ENTSOE_URL].fallback),
	    "api", err);

	gmtime_r(&from, &parts);
	strftime(start, sizeof(start), "%Y%m%d%H%M", &parts);
	gmtime_r(&to, &parts);
	strftime(end, sizeof(end), "%Y%m%d%H%M", &parts);
	for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++)
		if (code == LT_OK)
			code =
			    lt_url_add(out, query[i].key, query[i].value, err);
	return code;
}

/* LT_OK when there is an answer: also one that says why there is no data,
 * which comes with status 200 or 400. */
static int
request_span(struct job *job, struct span span, struct lt_entsoe_answer *answer,
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
		    &(struct lt_answer){response.body, response.body_length, 0},
		    job->eic, &job->mix, answer, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	} else if (response.status == 400 &&
		   lt_entsoe_read(&(struct lt_answer){response.body,
				      response.body_length, 0},
		       "", NULL, answer, NULL) == LT_OK &&
		   (answer->kind == LT_ENTSOE_NO_DATA ||
		       answer->kind == LT_ENTSOE_TOO_MUCH)) {
		code = LT_OK;
	}
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

/* The later half of a span that is too long, then the earlier. */
static bool
split(struct span *spans, int *count, struct span span)
{
	const int64_t half_s =
	    (span.to_utc_s - span.from_utc_s) / 2 / LT_HOUR_S * LT_HOUR_S;

	if (span.to_utc_s - span.from_utc_s < 2 * SPAN_LEAST_S)
		return false;
	spans[(*count)++] =
	    (struct span){span.from_utc_s, span.from_utc_s + half_s};
	spans[(*count)++] =
	    (struct span){span.from_utc_s + half_s, span.to_utc_s};
	return true;
}

/* From the newest span to the oldest: what fails after data has come costs
 * the older hours only. */
static int
request_all(struct job *job, struct lt_error *err)
{
	/* A split takes one and puts two: at most one more per request. */
	struct span spans[LT_MIX_SPAN_S / SPAN_S + 1 + REQUESTS_MAX];
	const int64_t from_utc_s = job->mix.start_utc_s;
	int64_t to_utc_s =
	    from_utc_s + (int64_t)job->mix.hour_count * LT_HOUR_S;
	struct lt_entsoe_answer answer = {0};
	struct lt_error inner = {0};
	int count = 0, code = LT_OK;

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
			 (answer.kind != LT_ENTSOE_TOO_MUCH ||
			     !split(spans, &count, span)))
			code = refused(&answer, &inner);
	}
	if (!job->has_data) {
		if (code == LT_OK)
			code = refused(&answer, &inner);
		return lt_error_give(err, code, &inner);
	}
	job->web.points->past_lost = code != LT_OK;
	if (code != LT_OK || count > 0)
		snprintf(job->missing, sizeof(job->missing),
		    "without older hours: %.120s",
		    code == LT_OK ? "too many requests" : inner.text);
	return LT_OK;
}

/* "securityToken=..."; the caller wipes out. */
static int
make_secret(char *out, size_t size, const struct lt_source_options *options,
    struct lt_error *err)
{
	static const char key[] = "securityToken=";
	char token[LT_SECRET_SIZE];
	int code = lt_secret_read(options, "token", token, sizeof(token), err);

	strcpy(out, key);
	if (code == LT_OK)
		code = lt_url_escape(
		    out + strlen(key), size - strlen(key), token, err);
	explicit_bzero(token, sizeof(token));
	return code;
}

static int
entsoe_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	char secret_query[LT_SECRET_SIZE];
	struct job job = {.secret_query = secret_query};
	int64_t from_utc_s = window->from_utc_s;
	int code = read_area(options, &job.eic, err);

	points->quantity = LT_QUANTITY_CARBON;
	lt_web_start(&job.web, options, points);
	if (from_utc_s > window->now_utc_s - LEAST_S)
		from_utc_s = window->now_utc_s - LEAST_S;
	if (code == LT_OK)
		code = lt_mix_start(&job.mix, lt_entsoe_fuels, from_utc_s,
		    window->to_utc_s < window->now_utc_s ? window->to_utc_s
							 : window->now_utc_s,
		    err);
	if (code == LT_OK)
		code = make_secret(
		    secret_query, sizeof(secret_query), options, err);
	if (code == LT_OK)
		code = request_all(&job, err);
	explicit_bzero(secret_query, sizeof(secret_query));
	if (code == LT_OK)
		code = lt_mix_points(
		    &job.mix, options, window->now_utc_s, points, err);
	if (code == LT_OK && job.missing[0] != '\0')
		memcpy(points->note, job.missing, sizeof(points->note));
	lt_mix_free(&job.mix);
	lt_text_mend(points->note);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_entsoe = {
    .name = "entsoe",
    .usage = "ENTSO-E: generation per type of a European area",
    .options = entsoe_options,
    .interval_s = LT_HOUR_S,
    .fresh_s = LATE_S,
    .quantity = entsoe_quantity,
    .timeout_s = 90,
    .basis = LT_BASIS_LIFECYCLE,
    .check = entsoe_check,
    .fetch = entsoe_fetch,
    .parse = entsoe_parse,
};
