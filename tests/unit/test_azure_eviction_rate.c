/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Azure's eviction rate: steps to hazards, the login and its token, pages and refusals of Resource
 * Graph; and no secret in any word or trace.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_azure.h"

#define NOW 1767225700 /* 2026-01-01T00:01:40Z */
#define HOUR 1767225600
#define PLACE                                                                                      \
	{"region", "EastUS"},                                                                      \
	{                                                                                          \
		"sku", "Standard_NC4as_T4_v3"                                                      \
	}
#define IDS                                                                                        \
	{"tenant_id", AZURE_TENANT},                                                               \
	{                                                                                          \
		"client_id", AZURE_CLIENT                                                          \
	}

static const struct option_case option_cases[] = {
    {"no client", {PLACE, {"tenant_id", "a"}}, 0, "needs \"client_id\""},
    {"no secret", {PLACE, IDS}, 0, "secret_file or secret_env: missing, want where the secret is"},
    {"two secrets", {PLACE, IDS, {"secret_file", "/a"}, {"secret_env", "A"}}, 15,
	"secret_file and secret_env, want one of them"},
    {"a relative file", {PLACE, IDS, {"secret_file", "a"}}, 14,
	"secret_file: got \"a\", want an absolute path"},
    {"a path in the tenant",
	{PLACE, {"tenant_id", "a/../b"}, {"client_id", "a"}, {"secret_env", "A"}}, 12,
	"tenant_id: got \"a/../b\", want an ID"},
    {"more than an ID in the client",
	{PLACE, {"tenant_id", "a"}, {"client_id", "a&scope=b"}, {"secret_env", "A"}}, 13,
	"client_id: got \"a&scope=b\""},
    {"a quote in the region", {{"region", "eastus')"}, {"sku", "a"}, IDS, {"secret_env", "A"}}, 10,
	"region: got \"eastus')\""},
    {"not http", {PLACE, IDS, {"secret_env", "A"}, {"url", "ftp://a"}}, 15, "url: want http://"},
    {"a login that is no URL", {PLACE, IDS, {"secret_env", "A"}, {"login_url", "login"}}, 15,
	"login_url: want http://"},
    {"a tenant by its domain",
	{PLACE, {"tenant_id", "site.onmicrosoft.com"}, {"client_id", "a-1"},
	    {"secret_file", "/etc/lowtide/azure.secret"}},
	0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

#define ROW(region, sku, rate)                                                                     \
	"{\"skuName\":\"" sku "\",\"location\":\"" region "\",\"spotEvictionRate\":" rate "}"
#define DATA(rows) "{\"count\":1,\"data\":[" rows "]}"
#define RATE(rate) ROW("eastus", "standard_nc4as_t4_v3", rate)

static const struct {
	const char *why, *bytes;
	const char *says; /* NULL = good */
	double chance;	  /* within an hour */
	const char *note;
} parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "no data", .bytes = "{}", .says = "without a list \"data\""},
    {.why = "the other format",
	.bytes = "{\"data\":{\"columns\":[],\"rows\":[]}}",
	.says = "without a list \"data\""},
    {.why = "an error with status 200",
	.bytes = "{\"error\":{\"code\":\"BadRequest\",\"message\":\"a\"}}",
	.says = "the source says: BadRequest: a"},
    {.why = "its form letter, and what is wrong",
	.bytes = "{\"error\":{\"code\":\"BadRequest\",\"message\":\"Please\","
		 "\"details\":[{\"code\":\"InvalidQuery\",\"message\":"
		 "\"Query is invalid\"}]}}",
	.says = "the source says: InvalidQuery: Query is invalid"},
    {.why = "no row",
	.bytes = DATA(""),
	.says = "no eviction rate of Standard_NC4as_T4_v3 in EastUS: no row: "
		"is the SKU sold as spot there, and may the application read"},
    {.why = "another sku",
	.bytes = DATA(ROW("eastus", "standard_nc8as_t4_v3", "\"0-5\"")),
	.says = "a rate of standard_nc8as_t4_v3 in eastus, which nobody"},
    {.why = "another region",
	.bytes = DATA(ROW("westus", "standard_nc4as_t4_v3", "\"0-5\"")),
	.says = "a rate of standard_nc4as_t4_v3 in westus, which nobody"},
    {.why = "no rate", .bytes = DATA(RATE("null")), .says = "got \"\", want"},
    {.why = "an empty rate is not the least",
	.bytes = DATA(RATE("\"\"")),
	.says = "spotEvictionRate: got \"\", want 0-5, 5-10"},
    {.why = "a number", .bytes = DATA(RATE("7")), .says = "spotEvictionRate: got \"\""},
    {.why = "a step that nobody knows",
	.bytes = DATA(RATE("\"20-25\"")),
	.says = "spotEvictionRate: got \"20-25\", want"},
    {.why = "rows that are none",
	.bytes = DATA("1,null,[]"),
	.says = "a rate of no SKU in no region"},
    {.why = "the least",
	.bytes = DATA(RATE("\"0-5\"")),
	.chance = 0.025,
	.note = "0-5 % an hour, of the last 28 days"},
    {.why = "10 to 15",
	.bytes = DATA(RATE("\"10-15\"")),
	.chance = 0.125,
	.note = "10-15 % an hour, of the last 28 days"},
    {.why = "15 to 20",
	.bytes = DATA(RATE("\"15-20\"")),
	.chance = 0.175,
	.note = "15-20 % an hour, of the last 28 days"},
    {.why = "the step without end",
	.bytes = DATA(RATE("\"20+\"")),
	.chance = 0.25,
	.note = "20+ % an hour, of the last 28 days"},
    {.why = "of two the worse; one bad row does not cost the others",
	.bytes = "\xEF\xBB\xBF" DATA(RATE("\"5-10\"") "," RATE("\"0-5\"") "," RATE("\"?\"")),
	.chance = 0.075,
	.note = "5-10 % an hour, of the last 28 days"},
};

static void
assert_rate(const char *why, const struct lt_points *points, double chance, int64_t hour_utc_s,
    const char *note)
{
	const struct lt_point *const point = points->points;

	if (points->count != 1 || point->start_utc_s != hour_utc_s ||
	    point->end_utc_s != hour_utc_s + 12 * 3600 ||
	    fabs(point->value + log(1 - chance)) > 1e-12 ||
	    point->quality != LT_QUALITY_ESTIMATED || points->quantity != LT_QUANTITY_HAZARD ||
	    strcmp(points->note, note) != 0)
		fail_msg("%s: %zu points, %s", why, points->count, points->note);
}

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {PLACE, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		struct lt_points points = {0};

		if (parses(&options, NOW, parse_cases[i].why, parse_cases[i].bytes,
			parse_cases[i].says, &points))
			assert_rate(parse_cases[i].why, &points, parse_cases[i].chance, HOUR,
			    parse_cases[i].note);
		lt_points_free(&points);
	}
}

/* One fetch from /azure or a fault of it. */
struct attempt {
	struct lt_source_memory memory;
	struct lt_points points;
	struct lt_error err;
	int code;
};

static void
fetch(struct attempt *attempt, const char *path, const char *login_path)
{
	char url[128], login_url[128];
	const struct pair pairs[] = {PLACE, IDS, {"secret_env", "LT_TEST_AZURE"}, {"url", url},
	    {"login_url", login_url}, {NULL, NULL}};
	struct lt_source_options options = options_of(pairs);

	server_url(url, path);
	server_url(login_url, login_path);
	options.memory = &attempt->memory;
	attempt->err = (struct lt_error){0};
	attempt->points = (struct lt_points){0};
	attempt->code = lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){NOW - 86400, NOW, NOW}, &attempt->points, &attempt->err);
}

/* Nothing secret in what people may read. */
static void
assert_discreet(const struct attempt *attempt)
{
	static const char *const secrets[] = {
	    "s3cret", AZURE_TOKEN, "synthetic.access", "client_secret"};

	for (size_t i = 0; i < COUNT(secrets); i++) {
		if (strstr(attempt->err.text, secrets[i]) != NULL ||
		    strstr(attempt->points.note, secrets[i]) != NULL)
			fail_msg(
			    "%s is in: %s %s", secrets[i], attempt->err.text, attempt->points.note);
		for (int j = 0; j < attempt->memory.trace_count; j++)
			if (strstr(attempt->memory.trace[j].request, secrets[i]) != NULL)
				fail_msg(
				    "%s is in: %s", secrets[i], attempt->memory.trace[j].request);
	}
}

static void
assert_fetched(struct attempt *attempt, double chance, const char *note, int request_count)
{
	if (attempt->code != LT_OK)
		fail_msg("%s", attempt->err.text);
	assert_rate("fetched", &attempt->points, chance, HOUR, note);
	assert_int_equal(attempt->memory.trace_count, request_count);
	assert_discreet(attempt);
	lt_points_free(&attempt->points);
}

#define FIVE_TO_TEN "5-10 % an hour, of the last 28 days"

static void
test_fetch(void **state)
{
	static struct attempt attempt;

	(void)state;
	attempt = (struct attempt){0};
	setenv("LT_TEST_AZURE", AZURE_SECRET, 1);
	fetch(&attempt, "/azure", "/azure");
	assert_fetched(&attempt, 0.075, FIVE_TO_TEN, 2);
	assert_string_equal(attempt.memory.token, AZURE_TOKEN);
	assert_int_equal(attempt.memory.token_until_utc_s, NOW + 3599 - 300);
	/* The token is kept, ... */
	fetch(&attempt, "/azure", "/azure");
	assert_fetched(&attempt, 0.075, FIVE_TO_TEN, 1);
	/* ... renewed before its end, ... */
	attempt.memory.token_until_utc_s = NOW;
	fetch(&attempt, "/azure", "/azure");
	assert_fetched(&attempt, 0.075, FIVE_TO_TEN, 2);
	/* ... and when it is refused: denied, login, once more. */
	strcpy(attempt.memory.token, "withdrawn");
	fetch(&attempt, "/azure", "/azure");
	assert_fetched(&attempt, 0.075, FIVE_TO_TEN, 3);
	assert_string_equal(attempt.memory.token, AZURE_TOKEN);
	fetch(&attempt, "/azure/fault-pages", "/azure");
	assert_fetched(&attempt, 0.075, FIVE_TO_TEN, 2);
}

/* Nothing kept, a secret from a file. */
static void
test_without_memory(void **state)
{
	char path[] = "/tmp/test_azure.XXXXXX", url[128];
	const struct pair pairs[] = {
	    PLACE, IDS, {"secret_file", path}, {"url", url}, {"login_url", url}, {NULL, NULL}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	write_file(path, AZURE_SECRET "\n", strlen(AZURE_SECRET "\n"));
	server_url(url, "/azure");
	if (lt_adapter_fetch(adapter, &options, &(struct lt_window){0, NOW, NOW}, &points, &err) !=
	    LT_OK)
		fail_msg("%s", err.text);
	unlink(path);
	assert_rate("from a file", &points, 0.075, HOUR, FIVE_TO_TEN);
	lt_points_free(&points);
}

static const struct {
	const char *why, *path, *login_path, *secret, *token;
	int code, requests;
	int64_t retry_after_s;
	const char *says;
} faults[] = {
    {"a wrong secret", "/azure", "/azure", "s3cret-old", "", LT_ENET, 1, 0,
	"HTTP status 401, want 200: invalid_client: AADSTS7000215: Invalid "
	"client secret provided."},
    {"no secret", "/azure", "/azure", NULL, "", LT_EINPUT, 0, 0,
	"LT_TEST_AZURE: not in the environment"},
    {"a gateway that repeats the request", "/azure", "/azure/fault-echo", AZURE_SECRET, "", LT_ENET,
	1, 0, "HTTP status 502, want 200: no reason in a known form"},
    {"a login page", "/azure", "/html", AZURE_SECRET, "", LT_ENET, 1, 0,
	"127.0.0.1: got text/html, want JSON"},
    {"a login without a token", "/azure", "/azure/fault-no-token", AZURE_SECRET, "", LT_EINPUT, 1,
	0, "127.0.0.1: access_token: 0 bytes, want 1 to 4095"},
    {"a login that is no JSON: not a piece of it is told", "/azure", "/azure/fault-bare-token",
	AZURE_SECRET, "", LT_EINPUT, 1, 0, "127.0.0.1: the login's answer: want one JSON object"},
    {"a login that asks to wait", "/azure", "/status/429/", AZURE_SECRET, "", LT_ENET, 1, 7,
	"asks to wait 7 s: Status: as you like"},
    {"a fresh token is refused: no second login", "/azure/fault-denied", "/azure", AZURE_SECRET, "",
	LT_ENET, 2, 0, "HTTP status 401, want 200: ExpiredAuthenticationToken: The access"},
    {"a kept and a fresh one are refused", "/azure/fault-denied", "/azure", AZURE_SECRET,
	AZURE_TOKEN, LT_ENET, 3, 0, "HTTP status 401, want 200: ExpiredAuthenticationToken"},
    {"a kept one is refused, and the login fails", "/azure/fault-denied", "/azure", "s3cret-old",
	AZURE_TOKEN, LT_ENET, 2, 0, "AADSTS7000215"},
    {"no rights: no second login", "/azure/fault-forbidden", "/azure", AZURE_SECRET, AZURE_TOKEN,
	LT_ENET, 1, 0, "HTTP status 403, want 200: AuthorizationFailed: The client"},
    {"a query that it does not take", "/azure/fault-invalid", "/azure", AZURE_SECRET, AZURE_TOKEN,
	LT_ENET, 1, 0, "HTTP status 400, want 200: InvalidQuery: Query is invalid."},
    {"too many queries", "/azure/fault-throttled", "/azure", AZURE_SECRET, AZURE_TOKEN, LT_ENET, 1,
	5, "asks to wait 5 s: RateLimiting"},
    {"no rows", "/azure/fault-none", "/azure", AZURE_SECRET, AZURE_TOKEN, LT_EINPUT, 1, 0,
	"127.0.0.1: no eviction rate of Standard_NC4as_T4_v3 in EastUS: no "
	"row"},
    {"pages without end", "/azure/fault-endless", "/azure", AZURE_SECRET, AZURE_TOKEN, LT_ELIMIT, 4,
	0, "more than 4 pages"},
    {"cut off", "/truncated/a", "/azure", AZURE_SECRET, AZURE_TOKEN, LT_EINPUT, 1, 0,
	"127.0.0.1: line 1, column "},
};

static void
test_faults(void **state)
{
	static struct attempt attempt;

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		attempt = (struct attempt){0};
		strcpy(attempt.memory.token, faults[i].token);
		attempt.memory.token_until_utc_s = NOW + 600;
		unsetenv("LT_TEST_AZURE");
		if (faults[i].secret != NULL)
			setenv("LT_TEST_AZURE", faults[i].secret, 1);
		fetch(&attempt, faults[i].path, faults[i].login_path);
		if (attempt.code != faults[i].code ||
		    attempt.memory.trace_count != faults[i].requests ||
		    attempt.points.retry_after_s != faults[i].retry_after_s ||
		    attempt.points.count != 0)
			fail_msg("%s: %d, %d requests: %s", faults[i].why, attempt.code,
			    attempt.memory.trace_count, attempt.err.text);
		assert_says(faults[i].why, &attempt.err, faults[i].says);
		assert_int_equal(attempt.err.line, 0);
		assert_discreet(&attempt);
		if (strstr(attempt.err.text, "status 401") != NULL)
			assert_string_equal(attempt.memory.token, "");
		lt_points_free(&attempt.points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("azure_eviction_rate", serve_azure);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_without_memory),
	    cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
