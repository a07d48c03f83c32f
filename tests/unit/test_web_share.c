/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Equal requests of one process are sent once; which ones are equal. From the first test on, for
 * the whole program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "web_fixture.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void
answer(char out[32], const struct lt_web_request *request)
{
	struct lt_http_response response;
	struct lt_error err = {0};

	if (lt_web_do(&web, request, &response, &err) != LT_OK)
		fail_msg("%s: %s", request->url, err.text);
	snprintf(out, 32, "%s", response.body);
	lt_http_free(&response);
}

static void
test_share(void **state)
{
	struct lt_web_request request = {.url = url_of("/count"), .type = LT_WEB_TEXT};
	char first[32], second[32];

	(void)state;
	begin();
	answer(first, &request);
	answer(second, &request);
	assert_string_not_equal(first, second); /* the server counts */
	lt_web_share();
	answer(first, &request);
	begin(); /* another source's fetch */
	answer(second, &request);
	assert_string_equal(first, second);
	assert_int_equal(memory.trace_count, 1);
	assert_int_equal(memory.trace[0].status, 200);
	assert_int_equal(memory.trace[0].body_length, strlen(first));
}

/* An answer that is asked for often takes one of the few places. */
static void
test_share_often(void **state)
{
	struct lt_web_request request = {.type = LT_WEB_TEXT};
	char bodies[2][32];

	(void)state;
	begin();
	request.url = url_of("/count-often");
	for (int i = 0; i < 20; i++)
		answer(bodies[0], &request);
	request.url = url_of("/count-next");
	for (int i = 0; i < 2; i++)
		answer(bodies[i], &request);
	assert_string_equal(bodies[0], bodies[1]);
}

static void
test_share_what_differs(void **state)
{
	const struct lt_web_request requests[] = {
	    {.url = "/count-a", .body = "x=1"},
	    {.url = "/count-a", .body = "x=1", .method = "PUT"},
	    {.url = "/count-a", .body = "x=2", .method = "PUT"},
	    {.url = "/count-a", .secret_login = "a:b"},
	    {.url = "/count-a", .secret_header = "X-Token: hunter2"},
	    {.url = "/count-a", .headers = {"X-A: 1"}},
	    {.url = "/count-a", .secret_query = "key=hunter1"},
	    {.url = "/count-a"},
	    {.url = "/count-b"},
	};
	static char answers[COUNT(requests)][32];

	(void)state;
	begin();
	/* The last are more than are kept, but never another's either. */
	for (size_t i = 1; i < COUNT(requests); i++)
		for (size_t j = 0; j < 2; j++) {
			struct lt_web_request request = requests[j == 0 ? i - 1 : i];

			request.url = url_of(request.url);
			request.type = LT_WEB_TEXT;
			answer(answers[j == 0 ? i - 1 : i], &request);
			if (j == 1 && strcmp(answers[i - 1], answers[i]) == 0)
				fail_msg("%zu: an answer to another request", i);
		}
}

/* What failed once may be well the next time. */
static void
test_share_failure(void **state)
{
	const struct lt_web_request request = {.url = url_of("/count-404"), .type = LT_WEB_TEXT};
	char bodies[2][32];

	(void)state;
	begin();
	for (int i = 0; i < 2; i++) {
		struct lt_http_response response;

		assert_int_equal(lt_web_do(&web, &request, &response, NULL), LT_ENET);
		snprintf(bodies[i], 32, "%s", response.body);
		lt_http_free(&response);
	}
	assert_string_not_equal(bodies[0], bodies[1]);
}

/* A known answer needs no pause. */
static void
test_share_gap(void **state)
{
	const struct lt_web_request request = {
	    .url = url_of("/count"), .type = LT_WEB_TEXT, .gap_ms = 5000};
	const int64_t begin_ms = monotonic_ms();
	char body[32];

	(void)state;
	begin();
	answer(body, &request);
	answer(body, &request);
	assert_true(monotonic_ms() - begin_ms < 4000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_share),
	    cmocka_unit_test(test_share_often),
	    cmocka_unit_test(test_share_what_differs),
	    cmocka_unit_test(test_share_failure),
	    cmocka_unit_test(test_share_gap),
	};

	return cmocka_run_group_tests(tests, web_start, web_end);
}
