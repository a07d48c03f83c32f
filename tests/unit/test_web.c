/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of adapters against a server: what counts as an answer, what is kept of it, and how long
 * a fetch may take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "web_fixture.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- what counts as an answer ---- */

static void
say_message(char *out, size_t size, const char *body, size_t length)
{
	const char *const found = strstr(body, "\"message\":\"");

	assert_int_equal(strlen(body), length);
	snprintf(out, size, "%s", found == NULL ? "" : "as \x1byou\nlike");
}

static void
say_nothing(char *out, size_t size, const char *body, size_t length)
{
	(void)body;
	(void)length;
	assert_true(size > 100);
	out[0] = '\0';
}

static const struct {
	int status;
	int64_t retry_after_s;
} statuses[] = {
    {400, 0},
    {401, 0},
    {403, 0},
    {404, 0},
    {429, 7},
    {500, 0},
    {503, 7},
    {302, 0},
    {204, 0},
    {206, 0},
    {304, 0},
};

static void
test_statuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(statuses); i++) {
		char path[32], says[96];
		struct lt_http_response response;
		struct lt_error err = {0};

		snprintf(path, sizeof(path), "/status/%d", statuses[i].status);
		const struct lt_web_request request = {
		    .url = url_of(path), .error_text = say_message};
		snprintf(says, sizeof(says), "127.0.0.1: HTTP status %d, want 200%s",
		    statuses[i].status, statuses[i].retry_after_s > 0 ? ", asks to wait 7 s" : "");
		begin();
		points.retry_after_s = 99; /* of a request before */
		assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ENET);
		assert_says(path, &err, says);
		if (response.body_length > 0)
			assert_says(path, &err, ": as ?you?like");
		assert_int_equal(response.status, statuses[i].status);
		assert_int_equal(points.retry_after_s, statuses[i].retry_after_s);
		assert_int_equal(memory.trace[0].status, statuses[i].status);
		lt_http_free(&response);
	}
}

/* Where no message is documented, or none is there: the body's words. */
static void
test_words(void **state)
{
	struct lt_web_request request = {.url = url_of("/status/403")};
	struct lt_http_response response;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct lt_error err = {0};

		request.error_text = i == 0 ? NULL : say_nothing;
		begin();
		assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ENET);
		assert_says("words", &err,
		    "127.0.0.1: HTTP status 403, want 200: {\"error\":{"
		    "\"code\":\"Status\"");
		lt_http_free(&response);
	}
}

static const struct {
	const char *type;
	enum lt_web_type wanted;
	const char *says; /* NULL = good */
} types[] = {
    {"application/json", LT_WEB_JSON, NULL},
    {"application/json;+charset=utf-8", LT_WEB_JSON, NULL},
    {"application/problem+json", LT_WEB_JSON, NULL},
    {"Application/JSON", LT_WEB_JSON, NULL},
    {"", LT_WEB_JSON, NULL},
    {"text/plain", LT_WEB_JSON, "127.0.0.1: got text/plain, want JSON"},
    {"text/html", LT_WEB_JSON, "127.0.0.1: got text/html, want JSON"},
    {"application/xml", LT_WEB_JSON, "got application/xml, want JSON"},
    {"text/xml;charset=UTF-8", LT_WEB_XML, NULL},
    {"application/xml", LT_WEB_XML, NULL},
    {"TEXT/XML", LT_WEB_XML, NULL},
    {"application/json", LT_WEB_XML, "got application/json, want XML"},
    {"application/zip", LT_WEB_XML, "got application/zip, want XML"},
    {"application/xhtml+xml", LT_WEB_XML, "got application/xhtml xml, want XML"},
    {"text/csv", LT_WEB_TEXT, NULL},
    {"text/plain", LT_WEB_TEXT, NULL},
    {"application/octet-stream", LT_WEB_TEXT, NULL},
    {"binary/octet-stream", LT_WEB_TEXT, NULL},
    {"text/html;+charset=utf-8", LT_WEB_TEXT, "got text/html; charset=utf-8, want data"},
    {"Text/HTML", LT_WEB_TEXT, "got Text/HTML, want data"},
};

static void
test_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		char path[64];
		struct lt_http_response response;
		struct lt_error err = {0};

		snprintf(path, sizeof(path), "/type/%s", types[i].type);
		const struct lt_web_request request = {
		    .url = url_of(path), .type = types[i].wanted};
		begin();
		const int code = lt_web_do(&web, &request, &response, &err);
		if (code != (types[i].says == NULL ? LT_OK : LT_ENET))
			fail_msg("%s: %d %s", types[i].type, code, err.text);
		if (code != LT_OK)
			assert_says(types[i].type, &err, types[i].says);
		lt_http_free(&response);
	}
}

/* ---- conditional requests ---- */

static int parse_code, parse_count;
static char parsed[64];

static int
parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *into, struct lt_error *err)
{
	const struct lt_point point = {.start_utc_s = 0, .end_utc_s = 1, .value = 1};

	assert_string_equal(options->name, "src");
	assert_int_equal(answer->now_utc_s, 42);
	assert_int_equal(strlen(answer->bytes), answer->byte_count);
	snprintf(parsed, sizeof(parsed), "%s", answer->bytes);
	parse_count++;
	if (parse_code == LT_OK)
		return lt_points_add(into, &point, err);
	lt_fail(err, (enum lt_code)parse_code, "not \x1b what we want");
	lt_error_at(err, 3, 9);
	return parse_code;
}

static int
fetch_cached(const char *path, bool conditional, struct lt_error *err)
{
	const struct lt_web_request request = {
	    .url = url_of(path), .type = LT_WEB_TEXT, .conditional = conditional};

	*err = (struct lt_error){0};
	parse_count = 0;
	begin();
	const int code = lt_web_points(&web, &request, parse, 42, err);
	lt_points_free(&points);
	return code;
}

static void
test_conditional(void **state)
{
	struct lt_error err;

	(void)state;
	memory = (struct lt_source_memory){0};
	/* An answer that parse refuses is asked for again, whole. */
	parse_code = LT_EINPUT;
	assert_int_equal(fetch_cached("/cache", true, &err), LT_EINPUT);
	assert_string_equal(err.text, "127.0.0.1: line 3, column 9: not ? what we want");
	assert_int_equal(err.line, 0);
	assert_string_equal(memory.etag, "");
	assert_string_equal(memory.last_modified, "");
	parse_code = LT_OK;
	assert_int_equal(fetch_cached("/cache", true, &err), LT_OK);
	assert_string_equal(parsed, "first");
	assert_false(points.unchanged);
	assert_string_equal(memory.etag, "\"v1\"");
	assert_string_equal(memory.last_modified, "Sat, 20 Jan 2018 12:00:00 GMT");
	/* Now the server knows that we have it. */
	assert_int_equal(fetch_cached("/cache", true, &err), LT_OK);
	assert_true(points.unchanged);
	assert_int_equal(parse_count, 0);
	assert_int_equal(memory.trace[0].status, 304);
	assert_string_equal(memory.etag, "\"v1\"");
	/* One that is not conditional sends and keeps nothing. */
	assert_int_equal(fetch_cached("/cache", false, &err), LT_OK);
	assert_string_equal(parsed, "first");
	assert_false(points.unchanged);
	assert_string_equal(memory.etag, "\"v1\"");
	/* A changed answer that is refused: what we have still holds. */
	strcpy(memory.etag, "\"v0\"");
	parse_code = LT_EINPUT;
	assert_int_equal(fetch_cached("/cache", true, &err), LT_EINPUT);
	assert_string_equal(parsed, "\"v0\"");
	assert_string_equal(memory.etag, "\"v0\"");
	/* An answer without validators clears those of the last. */
	parse_code = LT_OK;
	assert_int_equal(fetch_cached("/cache-none", true, &err), LT_OK);
	assert_string_equal(memory.etag, "");
	assert_string_equal(memory.last_modified, "");
}

static void
test_304_unasked(void **state)
{
	struct lt_error err;

	(void)state;
	assert_int_equal(fetch_cached("/always-304", false, &err), LT_ENET);
	assert_says("304", &err, "127.0.0.1: HTTP status 304, want 200");
	assert_int_equal(parse_count, 0);
}

/* Without a memory of the source there is nothing to be conditional on. */
static void
test_without_memory(void **state)
{
	static const struct lt_source_options options = {.name = "src"};
	static struct lt_web own;
	const struct lt_web_request request = {
	    .url = url_of("/cache"), .type = LT_WEB_TEXT, .conditional = true};

	(void)state;
	parse_code = LT_OK;
	for (int i = 0; i < 2; i++) {
		lt_web_start(&own, &options, &points);
		assert_ptr_equal(own.memory, &own.own);
		assert_int_equal(lt_web_points(&own, &request, parse, 42, NULL), LT_OK);
		assert_string_equal(parsed, "first");
		assert_int_equal(own.memory->trace_count, 1);
		lt_points_free(&points);
	}
}

/* More requests than lines: all are counted, the last line is the last's. */
static void
test_trace_count(void **state)
{
	struct lt_http_response response;

	(void)state;
	begin();
	for (int i = 0; i < LT_TRACE_MAX + 3; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/ok?n=%d", i);
		const struct lt_web_request request = {.url = url_of(path)};
		assert_int_equal(lt_web_do(&web, &request, &response, NULL), LT_OK);
		lt_http_free(&response);
	}
	assert_int_equal(memory.trace_count, LT_TRACE_MAX + 3);
	assert_non_null(strstr(memory.trace[0].request, "?n=0"));
	assert_non_null(strstr(memory.trace[LT_TRACE_MAX - 1].request, "?n=10"));
	begin(); /* a new fetch forgets them */
	assert_int_equal(memory.trace_count, 0);
}

static void
test_refuse(void **state)
{
	static const char url[] = "https://h.example:8443/secret?key=k";
	struct lt_error err = {.code = LT_EINPUT, .line = 2, .column = 5, .text = "bad \x01 word"};

	(void)state;
	assert_int_equal(lt_web_refuse(url, &err), LT_EINPUT);
	assert_string_equal(err.text, "h.example: line 2, column 5: bad ? word");
	assert_int_equal(err.line, 0);
	assert_int_equal(err.column, 0);
	err = (struct lt_error){.code = LT_ELIMIT, .text = "too much"};
	assert_int_equal(lt_web_refuse(url, &err), LT_ELIMIT);
	assert_string_equal(err.text, "h.example: too much");
}

/* ---- time ---- */

static void
test_fetch_limit(void **state)
{
	struct lt_web_request request = {.url = url_of("/ok")};
	struct lt_http_response response;
	struct lt_error err = {0};

	(void)state;
	begin();
	assert_true(web.end_ms > monotonic_ms() + lt_web_fetch_ms(web.options) - 1000);
	web.end_ms = monotonic_ms();
	assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ENET);
	assert_string_equal(err.text, "127.0.0.1: more than 60 s for one fetch of many requests");
	assert_int_equal(memory.trace_count, 0);
	lt_http_free(&response);
	/* What is left is the last request's, below its own limit. */
	err = (struct lt_error){0};
	request.url = url_of("/blackhole");
	web.end_ms = monotonic_ms() + 300;
	const int64_t begin_ms = monotonic_ms();
	assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ENET);
	assert_says("silent", &err, "127.0.0.1: ");
	assert_between(monotonic_ms() - begin_ms, 200, 5000);
	assert_int_equal(memory.trace[0].status, 0);
	lt_http_free(&response);
}

/* A source that thinks for three seconds: one is too short, five are not. */
static void
test_timeout(void **state)
{
	const struct lt_web_request request = {.url = url_of("/thinking")};
	struct lt_source_options options = {.timeout_s = 1};
	struct lt_http_response response;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_web_request_ms(&options), 11000);
	lt_web_start(&web, &options, &points);
	assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ENET);
	assert_says("a second", &err,
	    "transferred the last 1 seconds; its option timeout (1s) waits longer");
	lt_http_free(&response);
	options.timeout_s = 5;
	lt_web_start(&web, &options, &points);
	assert_int_equal(lt_web_do(&web, &request, &response, NULL), LT_OK);
	lt_http_free(&response);
}

static int64_t
time_of_two(const char *first, const char *second, int gap_ms)
{
	const int64_t begin_ms = monotonic_ms();
	struct lt_web_request request = {.gap_ms = gap_ms};
	struct lt_http_response response;

	begin();
	for (int i = 0; i < 2; i++) {
		char url[64];

		snprintf(url, sizeof(url), "http://%s:%d/ok", i == 0 ? first : second, server.port);
		request.url = url;
		assert_int_equal(lt_web_do(&web, &request, &response, NULL), LT_OK);
		lt_http_free(&response);
	}
	return monotonic_ms() - begin_ms;
}

static void
test_gap(void **state)
{
	(void)state;
	assert_true(time_of_two("127.0.0.1", "127.0.0.1", 300) >= 290);
	assert_true(time_of_two("localhost", "127.0.0.1", 5000) < 4000);
	assert_true(time_of_two("127.0.0.1", "127.0.0.1", 0) < 4000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_statuses),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_types),
	    cmocka_unit_test(test_conditional),
	    cmocka_unit_test(test_304_unasked),
	    cmocka_unit_test(test_without_memory),
	    cmocka_unit_test(test_trace_count),
	    cmocka_unit_test(test_refuse),
	    cmocka_unit_test(test_fetch_limit),
	    cmocka_unit_test(test_timeout),
	    cmocka_unit_test(test_gap),
	};

	return cmocka_run_group_tests(tests, web_start, web_end);
}
