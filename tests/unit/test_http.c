/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.c against a real server with every fault that a source can have: each
 * transfer ends, within its bounds, as an answer or with one clear error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "http.h"
#include "source_fixture.h"
#include "tools/source_server.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#ifndef __has_feature /* clang's; gcc says it by __SANITIZE_ADDRESS__ */
#define __has_feature(feature) 0
#endif

static struct server server;

static const char *
url_of(char out[128], const char *path)
{
	snprintf(out, 128, "http://127.0.0.1:%d%s", server.port, path);
	return out;
}

static const struct {
	const char *why, *path;
	int total_ms;	  /* 0 = the usual limit; here it never takes so long */
	long status;	  /* 0 = an error */
	const char *says; /* of the error, or the start of the body */
} cases[] = {
    {"an answer", "/ok", 0, 200, "{\"a\":1}"},
    {"an empty answer", "/empty", 0, 200, ""},
    {"a type is not ours to judge", "/html", 0, 200, "<html>"},
    {"half of a JSON is whole HTTP", "/truncated", 0, 200, "{\"data\""},
    {"reset within the body", "/reset", 0, 0, "127.0.0.1: "},
    {"less than was promised", "/short", 0, 0, "127.0.0.1: "},
    {"accepts and is silent", "/blackhole", 300, 0, "timed out"},
    {"a byte a second", "/slow", 1200, 0, "timed out"},
    {"headers without end", "/endless-headers", 0, 0, "headers of more than 65536 bytes"},
    {"a body without end", "/endless-body", 0, 0, "an answer of more than 16777216 bytes"},
    {"a length of 100 GB", "/huge-length", 0, 0, "an answer of more than 16777216 bytes"},
    {"0.8 MB that unpack to 128 MiB", "/bomb", 0, 0, "an answer of more than 16777216 bytes"},
    {"a redirect here", "/redirect-ok", 0, 200, "{\"a\":1}"},
    {"a redirect to itself", "/redirect-loop", 0, 0, "more than 3 redirects"},
    {"a redirect to another host", "/redirect-host", 0, 0,
	"a redirect to http://localhost, want the same host"},
    {"a redirect to another port", "/redirect-port", 0, 0,
	"a redirect to http://127.0.0.1, want the same host"},
    {"a redirect to a file", "/redirect-file", 0, 0, "a redirect to file://, want the same host"},
    {"401 is an answer", "/status/401", 0, 401, "{\"error\""},
    {"404 too", "/nowhere", 0, 404, "no such page"},
};

static void
test_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char url[128];
		const struct lt_http_request request = {
		    .url = url_of(url, cases[i].path),
		    .total_ms = cases[i].total_ms,
		};
		struct lt_http_response response;
		struct lt_error err = {0};
		const int code = lt_http_do(&request, &response, &err);

		const int want = cases[i].status != 0			      ? LT_OK
				 : strstr(cases[i].says, "an answer of more") ? LT_ELIMIT
									      : LT_ENET;

		if (code != want)
			fail_msg("%s: %d %s", cases[i].why, code, err.text);
		if (code != LT_OK) {
			assert_says(cases[i].why, &err, cases[i].says);
			if (strstr(err.text, cases[i].path) != NULL)
				fail_msg("%s: shows the URL's path: %s", cases[i].why, err.text);
		} else if (response.status != cases[i].status ||
			   strncmp(response.body, cases[i].says, strlen(cases[i].says)) != 0 ||
			   strlen(response.body) != response.body_length) {
			fail_msg("%s: %ld %s", cases[i].why, response.status, response.body);
		}
		if (response.body_length > LT_HTTP_BODY_MAX)
			fail_msg("%s: %zu bytes", cases[i].why, response.body_length);
		lt_http_free(&response);
	}
}

static void
test_refused(void **state)
{
	struct server gone;
	char url[64];
	const struct lt_http_request request = {.url = url};
	struct lt_http_response response;
	struct lt_error err = {0};

	(void)state;
	gone = server_start(0, NULL); /* a port that was free just now */
	server_stop(&gone);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/secret?key=k", gone.port);
	assert_int_equal(lt_http_do(&request, &response, &err), LT_ENET);
	assert_says("refused", &err, "127.0.0.1: ");
	assert_null(strstr(err.text, "secret"));
	assert_null(strstr(err.text, "key="));
	lt_http_free(&response);
}

static void
test_not_sent(void **state)
{
	static const struct {
		const char *why, *url, *header, *says;
		int code;
	} bad[] = {
	    {"nothing", "", NULL, "a URL without host", LT_EINPUT},
	    {"a file", "file:///etc/passwd", NULL, "a URL without host", LT_EINPUT},
	    {"words", "no url at all", NULL, "a URL without host", LT_EINPUT},
	    {"another scheme", "ftp://127.0.0.1/", NULL, "127.0.0.1: ", LT_ENET},
	    {"a header in a header", "http://127.0.0.1:1/", "A: b\r\nAuthorization: c",
		"a request header with a line break", LT_EINPUT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		const struct lt_http_request request = {
		    .url = bad[i].url, .headers = {bad[i].header}};
		struct lt_http_response response;
		struct lt_error err = {0};
		const int code = lt_http_do(&request, &response, &err);

		if (code != bad[i].code)
			fail_msg("%s: %d %s", bad[i].why, code, err.text);
		assert_says(bad[i].why, &err, bad[i].says);
		lt_http_free(&response);
	}
}

/* The server plays back what it was asked. */
static void
test_request(void **state)
{
	char url[128];
	struct lt_http_request request = {
	    .url = url_of(url, "/echo?a=b"), .headers = {"X-One: 1", NULL, "X-Three: 3"}};
	struct lt_http_response response;

	(void)state;
	assert_int_equal(lt_http_do(&request, &response, NULL), LT_OK);
	assert_int_equal(strncmp(response.body, "GET /echo?a=b HTTP/1.1\r\n", 24), 0);
	assert_non_null(strstr(response.body, "X-One: 1\r\n"));
	assert_non_null(strstr(response.body, "X-Three: 3\r\n"));
	assert_non_null(strstr(response.body, "User-Agent: lowtide/"));
	assert_string_equal(response.content_type, "text/plain");
	lt_http_free(&response);
	request.body = "{}";
	request.body_length = 2;
	request.method = "PUT";
	assert_int_equal(lt_http_do(&request, &response, NULL), LT_OK);
	assert_int_equal(strncmp(response.body, "PUT /echo?a=b ", 14), 0);
	assert_non_null(strstr(response.body, "Content-Length: 2\r\n"));
	lt_http_free(&response);
}

/* A redirect of anything but a GET is an answer. */
static void
test_post_redirect(void **state)
{
	char url[128];
	const struct lt_http_request request = {
	    .url = url_of(url, "/redirect-ok"),
	    .body = "x",
	    .body_length = 1,
	};
	struct lt_http_response response;

	(void)state;
	assert_int_equal(lt_http_do(&request, &response, NULL), LT_OK);
	assert_int_equal(response.status, 302);
	lt_http_free(&response);
}

static void
test_unix_socket(void **state)
{
	char directory[] = "/tmp/lt-http-XXXXXX", path[64];
	struct lt_http_request request = {.url = "http://lowtide/ok", .unix_socket = path};
	struct lt_http_response response;
	struct lt_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/s", directory);
	assert_int_equal(lt_http_do(&request, &response, &err), LT_ENET);
	assert_says("no socket", &err, path);
	lt_http_free(&response);
	const struct server local = server_start(0, path);
	assert_int_equal(lt_http_do(&request, &response, NULL), LT_OK);
	assert_string_equal(response.body, "{\"a\":1}");
	lt_http_free(&response);
	server_stop(&local);
	unlink(path);
	rmdir(directory);
}

/* After all of the above: the bounds held in memory too. What the sanitizers need for themselves is
 * no part of that. */
static void
test_memory(void **state)
{
	struct rusage usage;

	(void)state;
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
	getrusage(RUSAGE_SELF, &usage);
	assert_true(usage.ru_maxrss < 128 * 1024); /* KiB */
#else
	(void)usage;
	skip();
#endif
}

static int
start(void **state)
{
	(void)state;
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	server = server_start(0, NULL);
	return lt_http_init(NULL);
}

static int
end(void **state)
{
	(void)state;
	lt_http_cleanup();
	server_stop(&server);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_not_sent),
	    cmocka_unit_test(test_request),
	    cmocka_unit_test(test_post_redirect),
	    cmocka_unit_test(test_unix_socket),
	    cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, start, end);
}
