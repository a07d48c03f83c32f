/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spot prices: records of changes become steps; a captured answer, then fetches from a server with
 * pages, and from one that fails midway.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_aws.h"

#define FIXTURES "tests/fixtures/aws_spot_price/"
#define T0 1363788000 /* 2013-03-20T14:00Z */
#define ANSWER(items)                                                                              \
	"<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>" items                            \
	"</spotPriceHistorySet><nextToken/></"                                                     \
	"DescribeSpotPriceHistoryResponse>"
#define RECORD(type, product, price, time, zone, id)                                               \
	"<item><instanceType>" type "</instanceType><productDescription>" product                  \
	"</productDescription><spotPrice>" price "</spotPrice><timestamp>2013-03-20T" time         \
	"Z</timestamp>"                                                                            \
	"<availabilityZone>us-west-2" zone "</availabilityZone>" id "</item>"
#define ID(id) "<availabilityZoneId>usw2-az" id "</availabilityZoneId>"
#define PRICE(price, time, zone, id) RECORD("g5.xlarge", "Linux/UNIX", price, time, zone, ID(id))

static const struct option_case option_cases[] = {
    {"by id", {{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone_id", "usw2-az1"}}, 0,
	NULL},
    {"by name",
	{{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone", "us-west-2a"},
	    {"product", "SUSE Linux"}},
	0, NULL},
    {"any", {{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone", "any"}}, 0, NULL},
    {"no region", {{"instance_type", "g5.xlarge"}, {"zone", "any"}}, 0, "needs \"region\""},
    {"no zone", {{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}}, 0,
	"want one of zone_id (such as euw2-az1) and zone"},
    {"both",
	{{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone_id", "usw2-az1"},
	    {"zone", "any"}},
	13, "want one of zone_id"},
    {"a name as an id",
	{{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone_id", "us-west-2a"}}, 12,
	"got \"us-west-2a\", want an id such as euw2-az1"},
    {"an id as a name",
	{{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone", "usw2-az1"}}, 12,
	"want any or a zone of us-west-2, such as us-west-2a"},
    {"a region of China",
	{{"region", "cn-north-1"}, {"instance_type", "g5.xlarge"}, {"zone", "any"}}, 10,
	"whose prices are not in USD"},
    {"a region that is a host", {{"region", "x/"}, {"instance_type", "g5.xlarge"}, {"zone", "any"}},
	10, "want one such as eu-west-2"},
    {"types", {{"region", "us-west-2"}, {"instance_type", "g5.xlarge,g6.xlarge"}, {"zone", "any"}},
	11, "want one such as g5.xlarge"},
    {"a product of nobody",
	{{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone", "any"},
	    {"product", "Linux"}},
	13, "got \"Linux\", want Linux/UNIX"},
    {"keys in the policy file",
	{{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone", "any"},
	    {"credentials", "AKID:secret"}},
	13, "want environment, file or instance"},
    {"not http",
	{{"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone", "any"},
	    {"url", "ftp://a"}},
	13, "want http://"},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct pair by_id[] = {
    {"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone_id", "usw2-az1"}, {0}};
static const struct pair by_any[] = {
    {"region", "us-west-2"}, {"instance_type", "g5.xlarge"}, {"zone", "any"}, {0}};

/* Steps as "start-end price", minutes from T0; the present ends at 30. */
static const struct {
	const char *why;
	const struct pair *pairs;
	const char *bytes;
	const char *says; /* NULL = good */
	const char *steps, *note;
} cases[] = {
    {.why = "empty", by_id, .bytes = "", .says = "empty, want XML"},
    {.why = "no records",
	by_id,
	.bytes = ANSWER(""),
	.says = "0 prices and no usable one of g5.xlarge, Linux/UNIX, usw2-az1"},
    {.why = "an error",
	by_id,
	.bytes = "<Response><Errors/></Response>",
	.says = "XML of <Response>, want <DescribeSpotPriceHistoryResponse>"},
    {.why = "another type, product, zone",
	by_id,
	.bytes = ANSWER(RECORD("g5.large", "Linux/UNIX", "1", "13:00:00", "a", ID("1"))
		RECORD("g5.xlarge", "Windows", "1", "13:00:00", "a", ID("1"))
		    PRICE("1", "13:00:00", "b", "2")),
	.says = "3 prices and no usable one"},
    {.why = "a price of 0",
	by_id,
	.bytes = ANSWER(PRICE("0.000000", "13:00:00", "a", "1")),
	.says = "got the price 0.000000, want more than 0"},
    {.why = "a price below 0",
	by_id,
	.bytes = ANSWER(PRICE("-1", "13:00:00", "a", "1")),
	.says = "got the price -1"},
    {.why = "a price of a machine of gold",
	by_id,
	.bytes = ANSWER(PRICE("1000001", "13:00:00", "a", "1")),
	.says = "at most a million"},
    {.why = "a comma by another locale",
	by_id,
	.bytes = ANSWER(PRICE("0,5", "13:00:00", "a", "1")),
	.says = "got \"0,5\", want an amount"},
    {.why = "no number",
	by_id,
	.bytes = ANSWER(PRICE("N/A*", "13:00:00", "a", "1")),
	.says = "got \"N/A*\""},
    {.why = "tomorrow",
	by_id,
	.bytes = ANSWER(PRICE("1", "14:30:00", "a", "1")),
	.says = "which is yet to come"},
    {.why = "no time",
	by_id,
	.bytes = ANSWER(PRICE("1", "noon", "a", "1")),
	.says = "got \"2013-03-20TnoonZ\""},
    {.why = "two zones without ids",
	by_id,
	.bytes = ANSWER(RECORD("g5.xlarge", "Linux/UNIX", "1", "13:00:00", "a", "")
		RECORD("g5.xlarge", "Linux/UNIX", "2", "13:00:00", "b", "")),
	.says = "prices of 2 zones without their ids, want those of usw2-az1"},
    {.why = "one, which holds on",
	by_id,
	.bytes = ANSWER(PRICE("0.5", "13:00:00", "a", "1")),
	.steps = "-60-30 500000;"},
    {.why = "newest first, other zones between; exact decimals",
	by_id,
	.bytes = ANSWER(PRICE("0.123457", "13:50:00.999", "a", "1") PRICE("9", "13:45:00", "b", "2")
		PRICE("0.1", "13:40:00", "a", "1")),
	.steps = "-20--10 100000;-10-30 123457;"},
    {.why = "an account without ids, and the name of before 2013",
	by_id,
	.bytes = ANSWER(RECORD("g5.xlarge", "Linux/UNIX (Amazon VPC)", "1", "13:00:00", "a", "")),
	.steps = "-60-30 1000000;"},
    {.why = "twice the same, and a change that is none",
	by_id,
	.bytes = ANSWER(PRICE("0.5", "13:50:00", "a", "1") PRICE("0.5", "13:50:00", "a", "1")
		PRICE("0.5", "13:40:00", "a", "1")),
	.steps = "-20-30 500000;"},
    {.why = "of two for one time the dearer",
	by_id,
	.bytes = ANSWER(PRICE("0.6", "13:50:00", "a", "1") PRICE("0.5", "13:50:00", "a", "1")),
	.steps = "-10-30 600000;"},
    {.why = "blank values, as on last pages",
	by_id,
	.bytes = ANSWER(PRICE("0.5", "13:50:00", "a",
	    "1") "<item><instanceType>g5.xlarge</instanceType></item><item/>"),
	.steps = "-10-30 500000;"},
    {.why = "one that can't be leaves a gap",
	by_id,
	.bytes = ANSWER(PRICE("0.6", "13:50:00", "a", "1") PRICE("0", "13:40:00", "a", "1")
		PRICE("0.5", "13:30:00", "a", "1")),
	.steps = "-30--20 500000;-10-30 600000;",
	.note = "1 of 3 prices can't be used: got the price 0, want more than "
		"0 and at most a million"},
    {.why = "any: the dearest at each time",
	by_any,
	.bytes = ANSWER(PRICE("0.3", "13:55:00", "a", "1") PRICE("0.4", "13:50:00", "b", "2")
		PRICE("0.6", "13:45:00", "a", "1") PRICE("0.7", "13:30:00", "b", "2")
		    PRICE("0.5", "13:00:00", "a", "1")),
	.steps = "-60--30 500000;-30--10 700000;-10--5 600000;-5-30 400000;",
	.note = "the dearest of 2 zones"},
};

static void
test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct lt_source_options options = options_of(cases[i].pairs);
		struct lt_points points = {0};
		char steps[256] = "";

		if (!parses(&options, T0, cases[i].why, cases[i].bytes, cases[i].says, &points)) {
			lt_points_free(&points);
			continue;
		}
		for (size_t j = 0; j < points.count; j++)
			snprintf(steps + strlen(steps), sizeof(steps) - strlen(steps),
			    "%d-%d %.0f;", (int)(points.points[j].start_utc_s - T0) / 60,
			    (int)(points.points[j].end_utc_s - T0) / 60, points.points[j].value);
		assert_string_equal(steps, cases[i].steps);
		assert_string_equal(points.note, cases[i].note == NULL ? "" : cases[i].note);
		assert_int_equal(points.quantity, LT_QUANTITY_PRICE);
		assert_string_equal(points.currency, "USD");
		assert_int_equal(points.points[0].quality, LT_QUALITY_MEASURED);
		lt_points_free(&points);
	}
}

/* A captured answer of 2013, of an account without ids. */
static void
test_captured(void **state)
{
	static const struct pair pairs[] = {
	    {"region", "us-west-2"}, {"instance_type", "m1.small"}, {"zone", "us-west-2b"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	static char bytes[100000];
	struct lt_points points = {0};
	struct lt_error err = {0};
	const size_t length =
	    read_fixture(FIXTURES "describe_spot_price_history_2013.xml", bytes, sizeof(bytes));

	(void)state;
	if (lt_adapter_parse(
		adapter, &options, &(struct lt_answer){bytes, length, T0}, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.count, 41);
	/* 01:39:07, then 01:44:42; the last from 13:35:55 on. */
	assert_int_equal(points.points[0].start_utc_s, 1363743547);
	assert_int_equal(points.points[0].end_utc_s, 1363743882);
	assert_true(points.points[0].value == 10000);
	assert_true(points.points[1].value == 20000);
	assert_int_equal(points.points[40].start_utc_s, 1363786555);
	assert_int_equal(points.points[40].end_utc_s, T0 + 1800);
	assert_true(points.points[40].value == 10000);
	lt_points_free(&points);
}

/* The server's rule gives the price of each time. */
static void
fetch_is_whole(const char *key, const char *value, int zone, const char *note)
{
	char url[128];
	const struct pair pairs[] = {{"region", "eu-west-2"}, {"instance_type", "g5.xlarge"},
	    {key, value}, {"url", url}, {NULL, NULL}};
	static struct lt_source_memory memory;
	struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};
	const int64_t now_utc_s = server_stop_clock(), from_utc_s = now_utc_s - 28 * 86400;

	options.memory = &memory;
	server_url(url, "/aws/ec2");
	if (lt_adapter_fetch(adapter, &options,
		&(struct lt_window){from_utc_s, now_utc_s + 86400, now_utc_s}, &points,
		&err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.points[0].start_utc_s, from_utc_s);
	/* No gap when the next fetch comes a jitter late. */
	assert_int_equal(points.points[points.count - 1].end_utc_s, now_utc_s + 1800);
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		assert_true(p->value == (double)aws_price(zone, p->start_utc_s));
		assert_true(i == 0 || p->start_utc_s == points.points[i - 1].end_utc_s);
	}
	assert_between((int64_t)points.count, 28 * 4, 28 * 4 + 2);
	assert_string_equal(points.note, note);
	/* The present, then the past in pages. */
	assert_true(memory.trace_count > 2);
	lt_points_free(&points);
}

static void
test_fetch(void **state)
{
	(void)state;
	fetch_is_whole("zone_id", "euw2-az2", 1, "");
	fetch_is_whole("zone", "eu-west-2a", 0, "");
	fetch_is_whole("zone", "any", AWS_ZONES - 1, "the dearest of 3 zones");
}

/* History is lost, the present is not. */
static void
test_no_past(void **state)
{
	char url[128];
	const struct pair pairs[] = {{"region", "eu-west-2"}, {"instance_type", "g5.xlarge"},
	    {"zone", "any"}, {"url", url}, {NULL, NULL}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	server_url(url, "/aws/no-past");
	if (lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s - 28 * 86400, now_utc_s + 86400, now_utc_s}, &points,
		&err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.points[0].start_utc_s, now_utc_s - 900);
	assert_between((int64_t)points.count, 1, 2);
	assert_true(
	    points.points[points.count - 1].value == (double)aws_price(AWS_ZONES - 1, now_utc_s));
	assert_non_null(
	    strstr(points.note, "without history: 127.0.0.1: HTTP status 503, want 200: "
				"RequestLimitExceeded (the account asks too often)"));
	lt_points_free(&points);
}

static void
test_faults(void **state)
{
	static const struct {
		const char *path, *says;
		int code;
	} faults[] = {
	    {"/aws/error/401/AuthFailure/", "is the region enabled", LT_ENET},
	    {"/aws/error/403/UnauthorizedOperation/",
		"(allow the IAM action ec2:DescribeSpotPriceHistory)", LT_ENET},
	    {"/aws/loop", "the same nextToken again", LT_OK},
	    {"/html", "127.0.0.1: got text/html, want XML", LT_ENET},
	    {"/status/500", "HTTP status 500", LT_ENET},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		char url[128];
		const struct pair pairs[] = {{"region", "eu-west-2"},
		    {"instance_type", "g5.xlarge"}, {"zone", "any"}, {"url", url}, {NULL, NULL}};
		const struct lt_source_options options = options_of(pairs);
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int64_t now_utc_s = server_stop_clock();

		server_url(url, faults[i].path);
		const int code = lt_adapter_fetch(adapter, &options,
		    &(struct lt_window){now_utc_s - 28 * 86400, now_utc_s, now_utc_s}, &points,
		    &err);
		if (code != faults[i].code)
			fail_msg("%s: %d %s", faults[i].path, code, err.text);
		if (code == LT_OK)
			assert_non_null(strstr(points.note, faults[i].says));
		else
			assert_says(faults[i].path, &err, faults[i].says);
		assert_int_equal(err.line, 0);
		lt_points_free(&points);
	}
}

/* Without keys nothing is asked. */
static void
test_no_keys(void **state)
{
	const struct lt_source_options options = options_of(by_id);
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	unsetenv("AWS_ACCESS_KEY_ID");
	assert_int_equal(lt_adapter_fetch(adapter, &options, &(struct lt_window){T0, T0 + 900, T0},
			     &points, &err),
	    LT_EINPUT);
	assert_says("no keys", &err, "no access key id");
}

static int
start(void **state)
{
	(void)state;
	setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "s3cret", 1);
	unsetenv("AWS_SESSION_TOKEN");
	return adapter_start("aws_spot_price", serve_aws);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_captured),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_no_past),
	    cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_no_keys),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
