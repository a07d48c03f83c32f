/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * WattTime's options, logins and requests, against a server that gives out tokens and stops taking
 * them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_marginal.h"

#define G_PER_LB 453.59237
#define ACCOUNT                                                                                    \
	{"username", "a"},                                                                         \
	{                                                                                          \
		"password_env", "P"                                                                \
	}

static struct lt_source_memory memory;

static const struct option_case option_cases[] = {
    {"no place", {ACCOUNT}, 0, "want region"},
    {"half a place", {{"latitude", "1"}, ACCOUNT}, 0, "want region, or latitude and longitude"},
    {"two places", {{"region", "A"}, {"latitude", "1"}, ACCOUNT}, 10, "want one of them"},
    {"beyond the pole", {{"latitude", "91"}, {"longitude", "1"}, ACCOUNT}, 10,
	"got \"91\", want degrees from -90 to 90"},
    {"no number", {{"latitude", "1"}, {"longitude", "east"}, ACCOUNT}, 11,
	"longitude: got \"east\""},
    {"a region with a query", {{"region", "A&b=c"}, ACCOUNT}, 10, "want a grid region"},
    {"no name", {{"region", "A"}, {"password_env", "P"}}, 0, "\"username\""},
    {"a colon ends the name", {{"region", "A"}, {"username", "a:b"}, {"password_env", "P"}}, 11,
	"without a colon"},
    {"no password", {{"region", "A"}, {"username", "a"}}, 0,
	"password_file or password_env: missing"},
    {"a password in the policy file", {{"region", "A"}, {"username", "a"}, {"password", "P"}}, 12,
	"unknown key \"password\""},
    {"a model that is no date", {{"region", "A"}, ACCOUNT, {"model", "2023-02-30"}}, 13,
	"want a date"},
    {"a model of words", {{"region", "A"}, ACCOUNT, {"model", "the newest one"}}, 13,
	"want a date"},
    {"not http", {{"region", "A"}, ACCOUNT, {"url", "ftp://a"}}, 13, "want http://"},
    {"a login in the clear", {{"region", "A"}, ACCOUNT, {"url", "http://a/b"}}, 13,
	"want https:// where a secret is sent"},
    {"all", {{"region", "A"}, ACCOUNT, {"model", "2023-03-01"}, {"url", "https://a/b"}}, 0, NULL},
    {"by degrees",
	{{"latitude", "-1.5"}, {"longitude", "180"}, {"username", "a"}, {"password_file", "/p"}}, 0,
	NULL},
};

static void
test_options(void **state)
{
	const struct lt_source_options none = {0};

	(void)state;
	check_options(option_cases, COUNT(option_cases));
	assert_int_equal(lt_adapter_quantity(adapter, &none), LT_QUANTITY_MARGINAL);
}

/* ---- against the server ---- */

static char base[128];

static int
fetch(const char *region, int64_t from_s, int64_t to_s, int64_t now_utc_s, struct lt_points *points,
    struct lt_error *err)
{
	const struct pair pairs[] = {{"url", base}, {"username", "lowtide"},
	    {"password_env", "LT_TEST_PASSWORD"},
	    {region == NULL ? "latitude" : "region", region == NULL ? "39.7" : region},
	    {region == NULL ? "longitude" : NULL, "-105"}, {0}};
	struct lt_source_options options = options_of(pairs);

	options.memory = &memory;
	*points = (struct lt_points){0};
	*err = (struct lt_error){0};
	const int code = lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){now_utc_s + from_s, now_utc_s + to_s, now_utc_s}, points, err);
	if (strstr(err->text, "example password") != NULL || strstr(err->text, "eyJ.") != NULL ||
	    strstr(points->note, "eyJ.") != NULL)
		fail_msg("a secret: %s", err->text);
	for (int i = 0; i < memory.trace_count && i < LT_TRACE_MAX; i++)
		if (strstr(memory.trace[i].request, "eyJ.") != NULL ||
		    strstr(memory.trace[i].request, "example p") != NULL)
			fail_msg("a secret: %s", memory.trace[i].request);
	return code;
}

static void
forget(void)
{
	memset(&memory, 0, sizeof(memory));
	memset(marginal, 0, sizeof(*marginal));
}

static void
test_fetch(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points;
	struct lt_error err;
	size_t measured = 0;

	(void)state;
	forget();
	if (fetch("CAISO_NORTH", -28 * 86400, 48 * 3600, now_utc_s, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.quantity, LT_QUANTITY_MARGINAL);
	assert_string_equal(points.note, "");
	assert_true(points.issued_utc_s > now_utc_s - 400 && points.issued_utc_s <= now_utc_s);
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		assert_int_equal(p->end_utc_s, p->start_utc_s + 300);
		assert_true(
		    fabs(p->value - marginal_value(p->start_utc_s) * G_PER_LB / 1000) < 1e-9);
		measured += p->quality == LT_QUALITY_MEASURED;
		assert_int_equal(p->quality == LT_QUALITY_FORECAST, p->end_utc_s > now_utc_s);
	}
	assert_true(measured > 28 * 288 - 6 && measured < 28 * 288);
	assert_true(points.points[points.count - 1].end_utc_s >= now_utc_s + 48 * 3600);
	lt_points_free(&points);
	assert_int_equal(marginal->logins, 1);
	assert_int_equal(marginal->requests, 2);
	assert_int_equal(marginal->both, 0);

	/* The token serves the next fetch, too. */
	assert_int_equal(fetch("CAISO_NORTH", -7200, 3600, now_utc_s + 60, &points, &err), LT_OK);
	lt_points_free(&points);
	assert_int_equal(marginal->logins, 1);
}

/* More than the API gives at once: chunks that leave nothing out. */
static void
test_chunks(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points;
	struct lt_error err;

	(void)state;
	forget();
	assert_int_equal(fetch("CAISO_NORTH", -80 * 86400, 0, now_utc_s, &points, &err), LT_OK);
	assert_int_equal(marginal->requests, 3);
	assert_true(marginal->longest_s <= 30 * 86400 - 300);
	for (size_t i = 1; i < points.count; i++)
		assert_int_equal(points.points[i].start_utc_s, points.points[i - 1].end_utc_s);
	assert_true(points.points[0].start_utc_s <= now_utc_s - 80 * 86400);
	assert_true(points.issued_utc_s > now_utc_s - 1500);
	lt_points_free(&points);
}

static void
test_token(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points;
	struct lt_error err;

	(void)state;
	forget();
	assert_int_equal(fetch("PSCO", 0, 3600, now_utc_s, &points, &err), LT_OK);
	lt_points_free(&points);
	assert_int_equal(marginal->logins, 1);

	/* Over by the clock: a new one before anything is asked. */
	assert_int_equal(fetch("PSCO", 0, 86400, now_utc_s + 28 * 60, &points, &err), LT_OK);
	lt_points_free(&points);
	assert_int_equal(marginal->logins, 2);
	assert_int_equal(marginal->requests, 2);

	/* The server stops taking it: once more, and the answer is there. */
	marginal->good_token = -1;
	assert_int_equal(fetch("PSCO", -7200, 3600, now_utc_s, &points, &err), LT_OK);
	lt_points_free(&points);
	assert_int_equal(marginal->logins, 3);
	assert_int_equal(marginal->requests, 5);

	/* It takes none: one login, one more try, no more. */
	marginal->gate = 1;
	assert_int_equal(fetch("PSCO", 0, 3600, now_utc_s, &points, &err), LT_ENET);
	assert_says("gate", &err, "127.0.0.1: HTTP status 403, want 200");
	assert_int_equal(points.count, 0);
	assert_int_equal(marginal->logins, 4);
	assert_int_equal(memory.token[0], '\0');
	assert_int_equal(marginal->both, 0);
	assert_int_equal(fetch("PSCO", 0, 3600, now_utc_s, &points, &err), LT_ENET);
	assert_int_equal(marginal->logins, 5);

	/* Without a memory each fetch logs in. */
	forget();
	const struct pair pairs[] = {{"url", base}, {"username", "lowtide"},
	    {"password_env", "LT_TEST_PASSWORD"}, {"region", "PSCO"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	for (int i = 1; i < 3; i++) {
		points = (struct lt_points){0};
		assert_int_equal(
		    lt_adapter_fetch(adapter, &options,
			&(struct lt_window){now_utc_s, now_utc_s + 3600, now_utc_s}, &points, NULL),
		    LT_OK);
		lt_points_free(&points);
		assert_int_equal(marginal->logins, i);
	}
}

static void
test_errors(void **state)
{
	static const struct {
		const char *region;
		int code;
		const char *says;
		int logins, requests;
		int64_t retry_after_s;
	} cases[] = {
	    {"NOT_IN_PLAN", LT_ENET,
		"HTTP status 403, want 200: not in this account's plan: "
		"Invalid scope. You do not have",
		1, 3, 0},
	    {"WRONG", LT_ENET, "HTTP status 422, want 200: unknown region", 1, 3, 0},
	    {"BUSY", LT_ENET, "asks to wait 7 s: Too many requests", 1, 2, 7},
	    {"NOT_JSON", LT_EINPUT, "127.0.0.1: line 1, column", 1, 2, 0},
	    {"ELSEWHERE", LT_EINPUT, "127.0.0.1: region: got \"CAISO_NORTH\", want ELSEWHERE", 1, 2,
		0},
	    {"PERCENT", LT_EINPUT, "units: got \"percentile\"", 1, 2, 0},
	};
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_points points;
		struct lt_error err;

		forget();
		const int code = fetch(cases[i].region, -86400, 3600, now_utc_s, &points, &err);
		if (code != cases[i].code || points.count != 0 ||
		    points.retry_after_s != cases[i].retry_after_s ||
		    marginal->logins != cases[i].logins || marginal->requests != cases[i].requests)
			fail_msg("%s: %d %s, %d logins, %d requests", cases[i].region, code,
			    err.text, marginal->logins, marginal->requests);
		assert_says(cases[i].region, &err, cases[i].says);
		lt_points_free(&points);
	}
}

static void
test_parts(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points;
	struct lt_error err;

	(void)state;
	/* One day is all that there is. */
	forget();
	assert_int_equal(fetch("ONE_DAY", 0, 72 * 3600, now_utc_s, &points, &err), LT_OK);
	assert_int_equal(points.count, 288);
	lt_points_free(&points);

	/* The loss of history does not cost the forecast. */
	forget();
	assert_int_equal(fetch("NO_HISTORY", -86400, 3600, now_utc_s, &points, &err), LT_OK);
	assert_true(points.count >= 12);
	assert_non_null(strstr(points.note, "without history: 127.0.0.1: HTTP status 400"));
	lt_points_free(&points);

	/* Nothing else was asked for. */
	assert_int_equal(fetch("NO_HISTORY", -86400, 0, now_utc_s, &points, &err), LT_ENET);

	/* A place by degrees; one that no grid covers. */
	forget();
	assert_int_equal(fetch(NULL, -86400, 3600, now_utc_s, &points, &err), LT_OK);
	assert_int_equal(marginal->requests, 3);
	lt_points_free(&points);
	const struct pair pairs[] = {{"url", base}, {"username", "lowtide"},
	    {"password_env", "LT_TEST_PASSWORD"}, {"latitude", "0"}, {"longitude", "0"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s, now_utc_s + 3600, now_utc_s}, &points, &err),
	    LT_ENET);
	assert_says("ocean", &err, "404, want 200: No coverage available");
}

static void
test_login(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points;
	struct lt_error err;

	(void)state;
	forget();
	setenv("LT_TEST_PASSWORD", "another", 1);
	assert_int_equal(fetch("PSCO", 0, 3600, now_utc_s, &points, &err), LT_ENET);
	assert_says("wrong", &err, "login: 127.0.0.1: HTTP status 403");
	assert_null(strstr(err.text, "another"));
	unsetenv("LT_TEST_PASSWORD");
	assert_int_equal(fetch("PSCO", 0, 3600, now_utc_s, &points, &err), LT_EINPUT);
	assert_says("unset", &err, "LT_TEST_PASSWORD: not in the environment");
	setenv("LT_TEST_PASSWORD", "example password", 1);
	assert_int_equal(marginal->logins, 0);
}

static int
start(void **state)
{
	(void)state;
	setenv("LT_TEST_PASSWORD", "example password", 1);
	marginal_start();
	const int code = adapter_start("watttime", serve_marginal);
	server_url(base, "/marginal/watttime");
	return code;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_chunks),
	    cmocka_unit_test(test_token),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_parts),
	    cmocka_unit_test(test_login),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
