/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.c against a real server on real sockets, with every fault that a
 * source can have: each ends with one clear error, and none in a hang.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "http.h"
#include "tools/source_server.h"

static struct server server;
static char unix_path[64];

static const char *
url_of(const char *path)
{
	static char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", server.port,
	    path);
	return url;
}

static const struct {
	const char *why, *path;
	int code;
	long status;
	const char *says; /* in the error, else in the body */
} answers[] = {
	{ "all is well", "/ok", LT_OK, 200, "{\"a\":1}" },
	{ "we say who we are", "/echo", LT_OK, 200,
	    "User-Agent: lowtide/" LT_VERSION },
	{ "no body", "/empty", LT_OK, 200, "" },
	{ "not for http.c to judge", "/html", LT_OK, 200, "log in" },
	{ "one redirect on the same host", "/redirect-ok", LT_OK, 200,
	    "{\"a\":1}" },
	{ "401 is an answer", "/status/401", LT_OK, 401, "error" },
	{ "so is 403", "/status/403", LT_OK, 403, "error" },
	{ "and 404", "/none", LT_OK, 404, "no such page" },
	{ "and 500", "/status/500", LT_OK, 500, "error" },
	{ "a redirect for ever", "/redirect-loop", LT_ENET, 0,
	    "more than 3 redirects" },
	{ "to another host", "/redirect-host", LT_ENET, 0,
	    "http://localhost, want the same host" },
	{ "to another port", "/redirect-port", LT_ENET, 0, "same host" },
	{ "to a file of ours", "/redirect-file", LT_ENET, 0, "same host" },
	{ "reset in the middle", "/reset", LT_ENET, 0, "127.0.0.1: " },
	{ "shorter than it said", "/short", LT_ENET, 0, "127.0.0.1: " },
	{ "headers without end", "/endless-headers", LT_ENET, 0,
	    "headers of more than 65536 bytes" },
	{ "a body without end", "/endless-body", LT_ENET, 0,
	    "more than 16777216 bytes" },
	{ "a length that we would never take", "/huge-length", LT_ENET, 0,
	    "more than 16777216 bytes" },
	{ "small on the wire, huge unpacked", "/bomb", LT_ENET, 0,
	    "more than 16777216 bytes" },
};

static void
test_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const struct lt_http_request request = {
			.url = url_of(answers[i].path),
		};
		struct lt_http_response response;
		struct lt_error err = { 0 };
		const int code = lt_http_do(&request, &response, &err);
		const char *const text =
		    code == LT_OK ? response.body : err.text;

		if (code != answers[i].code ||
		    (code == LT_OK && response.status != answers[i].status) ||
		    strstr(text, answers[i].says) == NULL)
			fail_msg("%s: %d, status %ld, %s", answers[i].why,
			    code, response.status, text);
		assert_int_equal(err.code, code);
		lt_http_free(&response);
	}
}

static const struct {
	const char *why, *path;
} silent[] = {
	{ "no answer at all", "/blackhole" },
	{ "a byte a second", "/slow" },
};

static void
test_total_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		const struct lt_http_request request = {
			.url = url_of(silent[i].path), .total_ms = 300,
		};
		struct lt_http_response response;
		struct lt_error err = { 0 };

		if (lt_http_do(&request, &response, &err) != LT_ENET ||
		    strstr(err.text, "timed out") == NULL)
			fail_msg("%s: %s", silent[i].why, err.text);
		lt_http_free(&response);
	}
}

static void
test_get_wants_200(void **state)
{
	struct lt_http_response response;
	struct lt_error err = { 0 };

	(void)state;
	assert_int_equal(lt_http_get(url_of("/status/429"), &response, &err),
	    LT_ENET);
	assert_int_equal(response.status, 429);
	assert_int_equal(response.retry_after_s, 7);
	assert_string_equal(err.text,
	    "127.0.0.1: HTTP status 429, want 200, asks to wait 7 s: "
	    "{\"error\":{\"code\":\"Status\",\"message\":\"as you like\"}}");
	lt_http_free(&response);
	assert_int_equal(lt_http_get(url_of("/ok"), &response, NULL), LT_OK);
	assert_string_equal(response.content_type, "application/json");
	assert_int_equal(response.body_length, 7);
	lt_http_free(&response);
}

static void
test_refused(void **state)
{
	/* A port that was ours a moment ago: nobody listens. */
	const struct server gone = server_start(0, NULL);
	struct lt_http_response response;
	struct lt_error err = { 0 };
	char url[64];

	(void)state;
	server_stop(&gone);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", gone.port);
	assert_int_equal(lt_http_get(url, &response, &err), LT_ENET);
	assert_non_null(strstr(err.text, "127.0.0.1: "));
	lt_http_free(&response);
}

static const struct {
	const char *why, *url, *header;
	int code;
} unsendable[] = {
	{ "a file", "file:///etc/passwd", NULL, LT_EINPUT },
	{ "another protocol", "ftp://127.0.0.1/x", NULL, LT_ENET },
	{ "nothing", "", NULL, LT_EINPUT },
	{ "a header that would be two", "http://127.0.0.1:1/",
	    "X: a\r\nY: secret", LT_EINPUT },
};

static void
test_unsendable(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unsendable) / sizeof(unsendable[0]);
	     i++) {
		const struct lt_http_request request = {
			.url = unsendable[i].url,
			.headers = { unsendable[i].header },
		};
		struct lt_http_response response;
		struct lt_error err = { 0 };
		const int code = lt_http_do(&request, &response, &err);

		if (code != unsendable[i].code ||
		    strstr(err.text, "secret") != NULL || err.text[0] == '\0')
			fail_msg("%s: %d, %s", unsendable[i].why, code,
			    err.text);
		lt_http_free(&response);
	}
}

static void
test_post_by_unix_socket(void **state)
{
	const struct server local = server_start(0, unix_path);
	const struct lt_http_request request = {
		.url = "http://lowtided/echo", .unix_socket = unix_path,
		.body = "hello", .body_length = 5,
		.headers = { "Content-Type: application/json" },
	};
	struct lt_http_response response;

	(void)state;
	assert_int_equal(lt_http_do(&request, &response, NULL), LT_OK);
	assert_non_null(strstr(response.body, "POST /echo"));
	assert_non_null(strstr(response.body, "Host: lowtided"));
	assert_non_null(
	    strstr(response.body, "Content-Type: application/json"));
	lt_http_free(&response);
	server_stop(&local);
	unlink(unix_path);
	assert_int_equal(lt_http_do(&request, &response, NULL), LT_ENET);
	lt_http_free(&response);
}

/* Sent once: a redirect of a POST is the answer. */
static void
test_post_is_not_repeated(void **state)
{
	const struct lt_http_request request = {
		.url = url_of("/redirect-ok"), .body = "{}",
		.body_length = 2,
	};
	struct lt_http_response response;

	(void)state;
	assert_int_equal(lt_http_do(&request, &response, NULL), LT_OK);
	assert_int_equal(response.status, 302);
	lt_http_free(&response);
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(unix_path, sizeof(unix_path), "/tmp/lowtide-http-%d.sock",
	    (int)getpid());
	server = server_start(0, NULL);
	return lt_http_init(NULL);
}

static int
tear_down(void **state)
{
	(void)state;
	server_stop(&server);
	lt_http_cleanup();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_total_time),
		cmocka_unit_test(test_get_wants_200),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unsendable),
		cmocka_unit_test(test_post_by_unix_socket),
		cmocka_unit_test(test_post_is_not_repeated),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
