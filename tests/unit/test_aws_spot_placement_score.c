/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement scores: of the region or of one zone, for a whole request.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_aws.h"

#define T0 1795219200 /* 2026-11-21T00:00Z */
#define ANSWER(items)                                                                              \
	"<GetSpotPlacementScoresResponse><spotPlacementScoreSet>" items                            \
	"</spotPlacementScoreSet></GetSpotPlacementScoresResponse>"
#define SCORE(zone, score) "<item><region>us-east-2</region>" zone "<score>" score "</score></item>"
#define ZONE(id) "<availabilityZoneId>" id "</availabilityZoneId>"
#define TYPES "g5.xlarge,g6.xlarge, g6e.xlarge"

static const struct option_case option_cases[] = {
    {"three types", {{"region", "us-east-2"}, {"instance_types", TYPES}}, 0, NULL},
    {"all",
	{{"region", "us-east-2"}, {"instance_types", "g5.xlarge"}, {"capacity", "2000000000"},
	    {"zone_id", "use2-az1"}},
	0, NULL},
    {"no types", {{"region", "us-east-2"}, {"instance_types", ""}}, 11,
	"got \"\", want a list such as"},
    {"a comma too many", {{"region", "us-east-2"}, {"instance_types", "g5.xlarge,"}}, 11,
	"got \"g5.xlarge,\", want a list"},
    {"without commas", {{"region", "us-east-2"}, {"instance_types", "g5.xlarge g6.xlarge"}}, 11,
	"got \"g5.xlarge g6.xlarge\", want a list"},
    {"another action", {{"region", "us-east-2"}, {"instance_types", "a&Action=b"}}, 11,
	"want a list"},
    {"21 types",
	{{"region", "us-east-2"}, {"instance_types", "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a"}},
	11, "more than 20"},
    {"none wanted", {{"region", "us-east-2"}, {"instance_types", TYPES}, {"capacity", "0"}}, 12,
	"got \"0\", want a number of instances"},
    {"a zone by name",
	{{"region", "us-east-2"}, {"instance_types", TYPES}, {"zone_id", "us-east-2a"}}, 12,
	"want an id such as"},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct pair region[] = {{"region", "us-east-2"}, {"instance_types", TYPES}, {0}};
static const struct pair zone[] = {
    {"region", "us-east-2"}, {"instance_types", TYPES}, {"zone_id", "use2-az2"}, {0}};
static const struct pair few[] = {
    {"region", "us-east-2"}, {"instance_types", "g5.xlarge,g6.xlarge"}, {0}};

static const struct {
	const char *why;
	const struct pair *pairs;
	const char *bytes;
	const char *says; /* NULL = good */
	double value;
	const char *note;
} cases[] = {
    {"no XML", region, "{}", "not XML", 0, NULL},
    {"none", region, ANSWER(""), "0 scores and no usable one of us-east-2", 0, NULL},
    {"of zones only", region, ANSWER(SCORE(ZONE("use2-az1"), "9")),
	"1 scores and no usable one of us-east-2", 0, NULL},
    {"of another zone", zone, ANSWER(SCORE(ZONE("use2-az1"), "9")), "no usable one of use2-az2", 0,
	NULL},
    {"of another region", region, ANSWER("<item><region>us-east-1</region><score>9</score></item>"),
	"no usable one of us-east-2", 0, NULL},
    {"0", region, ANSWER(SCORE("", "0")), "got the score 0, want 1 to 10", 0, NULL},
    {"11", region, ANSWER(SCORE("", "11")), "got the score 11", 0, NULL},
    {"a half", region, ANSWER(SCORE("", "7.5")), "got the score 7.5", 0, NULL},
    {"no score", region, ANSWER("<item><region>us-east-2</region></item>"), "a place without score",
	0, NULL},
    {"10", region, ANSWER(SCORE("", "10")), NULL, 10, ""},
    {"the zone's", zone, ANSWER(SCORE(ZONE("use2-az1"), "9") SCORE(ZONE("use2-az2"), "5")), NULL, 5,
	""},
    {"few types", few, ANSWER(SCORE("", "3")), NULL, 3,
	"of fewer than 3 instance types, which AWS always scores low"},
};

static void
test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct lt_source_options options = options_of(cases[i].pairs);
		struct lt_points points = {0};

		if (parses(&options, T0 + 1234, cases[i].why, cases[i].bytes, cases[i].says,
			&points)) {
			assert_int_equal(points.quantity, LT_QUANTITY_SCORE);
			assert_int_equal(points.count, 1);
			assert_true(points.points[0].value == cases[i].value);
			assert_int_equal(points.points[0].quality, LT_QUALITY_ESTIMATED);
			assert_int_equal(points.points[0].start_utc_s, T0);
			assert_int_equal(points.points[0].end_utc_s, T0 + 6 * 3600);
			assert_string_equal(points.note, cases[i].note);
		}
		lt_points_free(&points);
	}
}

static void
test_sample(void **state)
{
	const struct lt_source_options options = options_of(zone);
	char bytes[2048];
	struct lt_points points = {0};
	const size_t length = read_fixture("tests/fixtures/aws_spot_placement_score/"
					   "placement_scores_SYNTHETIC.xml",
	    bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(lt_adapter_parse(adapter, &options, &(struct lt_answer){bytes, length, T0},
			     &points, NULL),
	    LT_OK);
	assert_true(points.points[0].value == 5);
	lt_points_free(&points);
}

static int
fetch(const char *path, const char *zone_id, struct lt_points *points, struct lt_error *err)
{
	char url[128];
	struct pair pairs[] = {{"region", "eu-west-2"}, {"instance_types", TYPES}, {"url", url},
	    {"zone_id", zone_id}, {NULL, NULL}};

	if (zone_id == NULL)
		pairs[3].key = NULL;
	const struct lt_source_options options = options_of(pairs);
	server_url(url, path);
	return lt_adapter_fetch(
	    adapter, &options, &(struct lt_window){T0, T0 + 86400, T0}, points, err);
}

static void
test_fetch(void **state)
{
	struct lt_points whole = {0}, one = {0}, none = {0};
	struct lt_error err = {0};

	(void)state;
	if (fetch("/aws/ec2", NULL, &whole, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_true(whole.points[0].value == 7);
	assert_int_equal(fetch("/aws/ec2", "euw2-az3", &one, &err), LT_OK);
	assert_true(one.points[0].value == 4);
	assert_int_equal(fetch("/aws/ec2", "euw2-az4", &none, &err), LT_EINPUT);
	assert_says("az4", &err, "src: 3 scores and no usable one of euw2-az4");
	lt_points_free(&whole);
	lt_points_free(&one);
}

static void
test_faults(void **state)
{
	static const struct {
		const char *path, *says;
	} faults[] = {
	    {"/aws/error/400/MaxConfigLimitExceeded/",
		"(too many different questions within 24 hours)"},
	    {"/aws/error/403/UnauthorizedOperation/",
		"(allow the IAM action ec2:GetSpotPlacementScores)"},
	    {"/html", "got text/html, want XML"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		struct lt_points points = {0};
		struct lt_error err = {0};

		assert_int_equal(fetch(faults[i].path, NULL, &points, &err), LT_ENET);
		assert_says(faults[i].path, &err, faults[i].says);
		assert_int_equal(points.count, 0);
	}
}

static int
start(void **state)
{
	(void)state;
	setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "s3cret", 1);
	return adapter_start("aws_spot_placement_score", serve_aws);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_sample),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
