/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secrets of requests: all are sent, and none is in an error or a trace, not even when the other
 * side repeats them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "guard.h"
#include "web_fixture.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *const secrets[] = {
    "hunter1", "hunter2", "hunter3", "hunter4", "aHVudGVy" /* "hunter" of Basic */};

static void
assert_discreet(const struct lt_error *err)
{
	for (size_t i = 0; i < COUNT(secrets); i++) {
		if (strstr(err->text, secrets[i]) != NULL)
			fail_msg("%s is in: %s", secrets[i], err->text);
		for (int j = 0; j < memory.trace_count && j < LT_TRACE_MAX; j++)
			if (strstr(memory.trace[j].request, secrets[i]) != NULL)
				fail_msg("%s is in: %s", secrets[i], memory.trace[j].request);
	}
}

/* All that is secret is sent, and none of it shown. */
static void
test_secrets(void **state)
{
	struct lt_web_request request = {
	    .secret_query = "key=hunter1",
	    .secret_header = "X-Token: hunter2",
	    .secret_login = "user:hunter3",
	    .headers = {"X-Plain: 1", NULL, "X-Third: 3"},
	    .type = LT_WEB_TEXT,
	};
	struct lt_http_response response;
	struct lt_error err = {0};

	(void)state;
	request.url = url_of("/echo?a=b");
	begin();
	assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_OK);
	assert_int_equal(strncmp(response.body, "GET /echo?a=b&key=hunter1 ", 26), 0);
	assert_non_null(strstr(response.body, "X-Token: hunter2\r\n"));
	assert_non_null(strstr(response.body, "X-Plain: 1\r\n"));
	assert_non_null(strstr(response.body, "X-Third: 3\r\n"));
	assert_non_null(strstr(response.body, "Authorization: Basic dXNlcjpodW50ZXIz\r\n"));
	assert_non_null(strstr(memory.trace[0].request, "GET http://127.0.0.1:"));
	assert_non_null(strstr(memory.trace[0].request, "/echo?a=b"));
	assert_int_equal(memory.trace[0].status, 200);
	assert_int_equal(memory.trace[0].body_length, response.body_length);
	assert_discreet(&err);
	lt_http_free(&response);
	/* The first query of a URL, and a body. */
	request.url = url_of("/echo");
	request.body = "word=hunter4";
	assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_OK);
	assert_int_equal(strncmp(response.body, "POST /echo?key=hunter1 ", 23), 0);
	assert_non_null(strstr(response.body, "\r\n\r\nword=hunter4"));
	assert_int_equal(memory.trace_count, 2);
	assert_int_equal(strncmp(memory.trace[1].request, "POST ", 5), 0);
	assert_discreet(&err);
	lt_http_free(&response);
	request.method = "PUT";
	assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_OK);
	assert_int_equal(strncmp(response.body, "PUT /echo?key=hunter1 ", 22), 0);
	assert_int_equal(strncmp(memory.trace[2].request, "PUT ", 4), 0);
	lt_http_free(&response);
}

/* Each way to fail with all secrets at hand. */
static void
test_secrets_in_errors(void **state)
{
	static const struct {
		const char *path, *says;
		enum lt_web_type type;
	} cases[] = {
	    {"/status/401", "HTTP status 401", LT_WEB_JSON},
	    {"/html", "want JSON", LT_WEB_JSON},
	    {"/reset", "127.0.0.1: ", LT_WEB_JSON},
	    {"/redirect-loop", "more than 3 redirects", LT_WEB_JSON},
	    {"/redirect-host", "want the same host", LT_WEB_JSON},
	    {"/bomb", "an answer of more than", LT_WEB_JSON},
	    /* A gateway that repeats the request in its page. */
	    {"/echo-500", "HTTP status 500, want 200: GET /echo-500?key=***", LT_WEB_TEXT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct lt_web_request request = {
		    .url = url_of(cases[i].path),
		    .secret_query = "key=hunter1",
		    .secret_header = "X-Token: hunter2",
		    .secret_login = "hunter3:hunter4",
		    .type = cases[i].type,
		};
		struct lt_http_response response;
		struct lt_error err = {0};

		begin();
		assert_int_equal(lt_web_do(&web, &request, &response, &err),
		    strcmp(cases[i].path, "/bomb") == 0 ? LT_ELIMIT : LT_ENET);
		lt_guard_hide(err.text);
		assert_says(cases[i].path, &err, cases[i].says);
		assert_discreet(&err);
		lt_http_free(&response);
	}
}

/* A page with one of them, in whatever form. */
static void
test_secrets_alone(void **state)
{
	const struct lt_web_request requests[] = {
	    {.secret_query = "a=b1&key=hunter1"},
	    {.secret_header = "Authorization: Bearer hunter2"},
	    {.secret_header = "X-Token:hunter2"},
	    {.secret_login = "me:hunter3"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(requests); i++) {
		struct lt_web_request request = requests[i];
		struct lt_http_response response;
		struct lt_error err = {0};

		request.url = url_of("/echo-500");
		begin();
		assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ENET);
		lt_guard_hide(err.text);
		assert_discreet(&err);
		lt_http_free(&response);
		/* A page without it is shown. */
		err = (struct lt_error){0};
		request.url = url_of("/status/403");
		assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ENET);
		assert_says("alone", &err, "want 200: {\"error\"");
		lt_http_free(&response);
	}
}

/* A URL that is too long by its secret is refused without it. */
static void
test_long_secret(void **state)
{
	static char query[LT_URL_SIZE + LT_SECRET_SIZE];
	const struct lt_web_request request = {.url = url_of("/echo"), .secret_query = query};
	struct lt_http_response response;
	struct lt_error err = {0};

	(void)state;
	memset(query, 'h', sizeof(query) - 1);
	begin();
	assert_int_equal(lt_web_do(&web, &request, &response, &err), LT_ELIMIT);
	assert_says("too long", &err, "a URL of ");
	assert_null(strstr(err.text, "hhh"));
	assert_int_equal(memory.trace_count, 0);
	lt_http_free(&response);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_secrets),
	    cmocka_unit_test(test_secrets_in_errors),
	    cmocka_unit_test(test_secrets_alone),
	    cmocka_unit_test(test_long_secret),
	};

	return cmocka_run_group_tests(tests, web_start, web_end);
}
