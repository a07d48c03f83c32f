/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SkyPilot's catalog: each cloud's columns and quirks, prices that are none, and a file that has
 * not changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "price_list_fixture.h"

#define FILES PRICE_LIST_FIXTURES "skypilot_catalog/"
#define AWS FILES "aws_SYNTHETIC.csv"
#define GCP FILES "gcp_SYNTHETIC.csv"
#define AZURE FILES "azure_SYNTHETIC.csv"
#define VERDA FILES "verda_SYNTHETIC.csv"
#define HEAD "InstanceType,Price,SpotPrice,Region\n"

static const struct option_case option_cases[] = {
    {"no cloud", {{"region", "r"}, {"instance_type", "t"}}, 0, "needs \"cloud\""},
    {"no region", {{"cloud", "aws"}, {"instance_type", "t"}}, 0, "needs \"region\""},
    {"nothing to look for", {{"cloud", "aws"}, {"region", "r"}}, 0,
	"instance_type: missing, want it, or an accelerator"},
    {"a path as cloud", {{"cloud", "../x"}, {"region", "r"}, {"instance_type", "t"}}, 10,
	"got \"../x\", want a directory of the catalog"},
    {"an empty zone", {{"cloud", "aws"}, {"region", "r"}, {"instance_type", "t"}, {"zone", ""}}, 13,
	"zone: got \"\", want 1 to"},
    {"another capacity",
	{{"cloud", "aws"}, {"region", "r"}, {"instance_type", "t"}, {"capacity", "Spot"}}, 13,
	"capacity: got \"Spot\", want spot or on_demand"},
    {"a count without accelerator",
	{{"cloud", "aws"}, {"region", "r"}, {"instance_type", "t"}, {"accelerator_count", "4"}}, 13,
	"together"},
    {"an accelerator without count", {{"cloud", "aws"}, {"region", "r"}, {"accelerator", "A100"}},
	12, "together"},
    {"no accelerators",
	{{"cloud", "aws"}, {"region", "r"}, {"accelerator", "A100"}, {"accelerator_count", "0"}},
	13, "got \"0\", want a number above 0"},
    {"a host without its GPUs",
	{{"cloud", "gcp"}, {"region", "r"}, {"instance_type", "a2-highgpu-4g"}}, 12,
	"gcp prices in rows of their own"},
    {"GPUs without their host",
	{{"cloud", "gcp"}, {"region", "r"}, {"accelerator", "A100"}, {"accelerator_count", "4"}},
	12, "gcp prices A100 without its machine: want instance_type"},
    {"a URL with a query",
	{{"cloud", "aws"}, {"region", "r"}, {"instance_type", "t"}, {"url", "http://a/?b"}}, 13,
	"without query"},
    {"a CPU machine", {{"cloud", "gcp"}, {"region", "r"}, {"instance_type", "n2-standard-8"}}, 0,
	NULL},
    {"a part of a GPU",
	{{"cloud", "aws"}, {"region", "r"}, {"instance_type", "g6f.large"}, {"accelerator", "L4"},
	    {"accelerator_count", "0.125"}},
	0, NULL},
    {"a whole machine by its GPUs",
	{{"cloud", "gcp"}, {"region", "r"}, {"accelerator", "B200"}, {"accelerator_count", "8"}}, 0,
	NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct price_case aws_cases[] = {
    {.why = "one zone",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "c5.large"}, {"zone", "use1-az1"}},
	.file = AWS,
	.micros = 31900},
    {.why = "the dearest zone",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "c5.large"}},
	.file = AWS,
	.micros = 42500,
	.note = "c5.large: the highest of 2 rows, from 0.0319 to 0.0425 USD; "
		"c5.large: 1 of 3 rows have no usable price"},
    {.why = "on demand",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "g6.12xlarge"},
	    {"capacity", "on_demand"}, {"accelerator", "L4"}, {"accelerator_count", "4"}},
	.file = AWS,
	.micros = 4600000},
    {.why = "spot may cost as much as on demand",
	.pairs = {{"region", "ap-northeast-1"}, {"instance_type", "a1.2xlarge"}},
	.file = AWS,
	.micros = 250000},
    {.why = "an eighth of a GPU",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "g6f.large"}, {"accelerator", "L4"},
	    {"accelerator_count", "0.125"}},
	.file = AWS,
	.micros = 90000},
    {.why = "not offered as spot",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "m1.small"}},
	.file = AWS,
	.says = "m1.small in us-east-1: no spot price in 1 rows: it is not "
		"offered as spot"},
    {.why = "another number of GPUs",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "g6.12xlarge"}, {"accelerator", "L4"},
	    {"accelerator_count", "8"}},
	.file = AWS,
	.says = "g6.12xlarge: got 4.0 x L4, want 8 x L4"},
    {.why = "no such type",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "c5"}},
	.file = AWS,
	.says = "no \"c5\" among the 10 rows of this cloud"},
    {.why = "no such size: its family",
	.pairs = {{"region", "us-east-1"}, {"instance_type", "c5.metal"}},
	.file = AWS,
	.says = "no \"c5.metal\" among the 10 rows of this cloud; of its "
		"family: c5.large"},
    {.why = "another region",
	.pairs = {{"region", "us-east-2"}, {"instance_type", "g6.12xlarge"}},
	.file = AWS,
	.says = "no g6.12xlarge in region \"us-east-2\"; it is in eu-north-1, "
		"us-east-1"},
    {.why = "another zone",
	.pairs = {{"region", "eu-north-1"}, {"instance_type", "g6.12xlarge"},
	    {"zone", "eu-north-1a"}},
	.file = AWS,
	.says = "no g6.12xlarge in zone \"eu-north-1a\" of eu-north-1; it is "
		"in eun1-az1, eun1-az2"},
};

static const struct price_case gcp_cases[] = {
    {.why = "host and GPUs",
	.pairs = {{"region", "us-central1"}, {"instance_type", "a2-highgpu-4g"},
	    {"accelerator", "A100"}, {"accelerator_count", "4"}},
	.file = GCP,
	.micros = 7360000},
    {.why = "host and GPUs of one zone",
	.pairs = {{"region", "us-central1"}, {"instance_type", "a2-highgpu-1g"},
	    {"accelerator", "A100"}, {"accelerator_count", "1"}, {"zone", "us-central1-a"}},
	.file = GCP,
	.micros = 1840000},
    {.why = "the dearest of each",
	.pairs = {{"region", "us-central1"}, {"instance_type", "a2-highgpu-1g"},
	    {"accelerator", "A100"}, {"accelerator_count", "1"}},
	.file = GCP,
	.micros = 1870000,
	.note = "a2-highgpu-1g: the highest of 2 rows, from 0.37 to 0.37 USD; "
		"A100: the highest of 2 rows, from 1.47 to 1.5 USD"},
    {.why = "GPUs that are elsewhere",
	.pairs = {{"region", "europe-west4"}, {"instance_type", "a2-highgpu-1g"},
	    {"accelerator", "A100"}, {"accelerator_count", "1"}},
	.file = GCP,
	.says = "no A100 in region \"europe-west4\"; it is in us-central1"},
    {.why = "no such number of GPUs",
	.pairs = {{"region", "us-central1"}, {"instance_type", "a2-highgpu-1g"},
	    {"accelerator", "A100"}, {"accelerator_count", "3"}},
	.file = GCP,
	.says = "A100: got 1.0 x A100, 4.0 x A100, want 3 x A100"},
    {.why = "a row that is the whole machine",
	.pairs = {{"region", "us-central1"}, {"accelerator", "B200"}, {"accelerator_count", "8"}},
	.file = GCP,
	.micros = 39000000},
    {.why = "the stand-in for an unknown price",
	.pairs = {{"region", "asia-east1"}, {"accelerator", "tpu-v6e-1"},
	    {"accelerator_count", "1"}},
	.file = GCP,
	.says = "got 700.0, the catalog's stand-in for an unknown price"},
    {.why = "a TPU with a price",
	.pairs = {{"region", "us-east1"}, {"accelerator", "tpu-v6e-1"}, {"accelerator_count", "1"}},
	.file = GCP,
	.micros = 550000},
};

static const struct price_case other_cases[] = {
    {.why = "0.0 is unknown, not free",
	.pairs = {{"region", "eastus"}, {"instance_type", "Standard_NC40ads_H100_v5"}},
	.file = AZURE,
	.says = "got 0.0, which stands for an unknown price"},
    {.why = "a cell with a comma",
	.pairs = {{"region", "eastus"}, {"instance_type", "Standard_NV72ads_A10_v5"}},
	.file = AZURE,
	.micros = 1630000},
    {.why = "no price at all",
	.pairs = {{"region", "westus"}, {"instance_type", "Standard_NV4as_v4"},
	    {"capacity", "on_demand"}},
	.file = AZURE,
	.says = "no on-demand price in 1 rows"},
    {.why = "a cloud without zones",
	.pairs = {{"region", "eastus"}, {"instance_type", "Standard_NV72ads_A10_v5"},
	    {"zone", "1"}},
	.file = AZURE,
	.says = "no column \"AvailabilityZone\", the header has: InstanceType"},
    {.why = "a spot price without the other",
	.pairs = {{"region", "FIN-03"}, {"instance_type", "2B300.60V"}, {"accelerator", "B300"},
	    {"accelerator_count", "2"}},
	.file = VERDA,
	.micros = 4900000},
    {.why = "and the other without spot",
	.pairs = {{"region", "FIN-02"}, {"instance_type", "1H200.141S.44V"}},
	.file = VERDA,
	.says = "not offered as spot"},
    {.why = "empty", .bytes = "", .says = "empty, want CSV"},
    {.why = "a page",
	.bytes = "404: Not Found\n",
	.says = "no column \"InstanceType\", the header has: 404: Not Found"},
    {.why = "a file of the large kind, which is not here",
	.bytes = "version https://git-lfs.github.com/spec/v1\noid x\n",
	.says = "no column \"InstanceType\""},
    {.why = "two columns of one name",
	.bytes = "InstanceType,Region,Region,SpotPrice\n",
	.says = "two columns \"Region\""},
    {.why = "a BOM, blank lines, CRLF, 17 decimals",
	.pairs = {{"region", "r"}, {"instance_type", "t"}},
	.bytes = "\xEF\xBB\xBF" HEAD "\r\n\r\nt,1,0.36979999999999996,r\r\n",
	.micros = 369800},
    {.why = "a quote that is never closed",
	.pairs = {{"region", "r"}, {"instance_type", "t"}},
	.bytes = HEAD "t,1,\"0.3,r\n",
	.says = "a quote that is never closed"},
    {.why = "one broken row does not cost the others",
	.pairs = {{"region", "r"}, {"instance_type", "t"}},
	.bytes = HEAD "t,1,2,r,5\nt,1,nan,r\nt,1,-1,r\nt,1,0.25,r\n",
	.micros = 250000,
	.note = "t: 3 of 4 rows have no usable price"},
    {.why = "all broken",
	.pairs = {{"region", "r"}, {"instance_type", "t"}},
	.bytes = HEAD "t,1,NaN,r\nt,1,inf,r\n",
	.says = "no usable spot price in 2 rows: got \"NaN\", want a price"},
    {.why = "a row cut short",
	.pairs = {{"region", "r"}, {"instance_type", "t"}},
	.bytes = HEAD "t,1,0.3,r\nt,1",
	.micros = 300000},
    {.why = "an absurd price",
	.pairs = {{"region", "r"}, {"instance_type", "t"}},
	.bytes = HEAD "t,1,1e300,r\n",
	.says = "is the unit right?"},
    {.why = "names that no log can show",
	.pairs = {{"region", "r"}, {"instance_type", "t"}},
	.bytes = HEAD "t,1,2,\x1b[31m\xff\n",
	.says = "it is in ?[31m?"},
};

static void
test_parse(void **state)
{
	(void)state;
	check_prices(aws_cases, COUNT(aws_cases));
	check_prices(gcp_cases, COUNT(gcp_cases));
	check_prices(other_cases, COUNT(other_cases));
}

static void
test_fetch(void **state)
{
	static const struct fetch_case cases[] = {
	    {.path = "/catalog/sky",
		.pairs = {{"cloud", "aws"}, {"region", "us-east-1"}, {"instance_type", "c5.large"}},
		.micros = 42500},
	    {.path = "/catalog/sky/",
		.pairs = {{"cloud", "gcp"}, {"region", "us-central1"},
		    {"instance_type", "n2-standard-8"}},
		.micros = 90000},
	    {.path = "/catalog/sky",
		.pairs = {{"cloud", "verda"}, {"region", "FIN-03"}, {"instance_type", "2B300.60V"}},
		.micros = 4900000},
	    {.path = "/catalog/sky",
		.pairs = {{"cloud", "lambda"}, {"region", "us-east-1"},
		    {"instance_type", "gpu_8x_v100"}, {"capacity", "on_demand"}},
		.micros = 6160000},
	    {.path = "/catalog/sky/v9",
		.pairs = {{"cloud", "lambda"}, {"region", "us-east-1"},
		    {"instance_type", "gpu_8x_v100"}, {"capacity", "on_demand"}},
		.micros = 6160000},
	    {.path = "/catalog/sky/v9/",
		.pairs = {{"cloud", "lambda"}, {"region", "us-east-1"},
		    {"instance_type", "gpu_8x_v100"}, {"capacity", "on_demand"}},
		.micros = 6160000},
	    {.path = "/catalog/plain",
		.pairs = {{"cloud", "aws"}, {"region", "us-east-1"}, {"instance_type", "c5.large"}},
		.micros = 42500},
	    {.path = "/catalog/sky/v9",
		.pairs = {{"cloud", "verda"}, {"region", "FIN-03"}, {"instance_type", "2B300.60V"}},
		.code = LT_ENET,
		.says = "HTTP status 404"},
	    {.path = "/catalog/sky/v10",
		.pairs = {{"cloud", "lambda"}, {"region", "us-east-1"},
		    {"instance_type", "gpu_8x_v100"}},
		.code = LT_EVERSION,
		.says = "127.0.0.1: line 1, column 1: no column \"InstanceType\""},
	    {.path = "/catalog/sky",
		.pairs = {{"cloud", "nowhere"}, {"region", "r"}, {"instance_type", "t"}},
		.code = LT_ENET,
		.says = "127.0.0.1: HTTP status 404, want 200: 404: Not Found"},
	    {.path = "/catalog/sky",
		.pairs = {{"cloud", "aws"}, {"region", "r"}, {"instance_type", "c5.large"}},
		.code = LT_EINPUT,
		.says = "127.0.0.1: no c5.large in region \"r\""},
	    {.path = "/html",
		.pairs = {{"cloud", "aws"}, {"region", "r"}, {"instance_type", "t"}},
		.code = LT_ENET,
		.says = "got text/html, want data"},
	    {.path = "/status/429",
		.pairs = {{"cloud", "aws"}, {"region", "r"}, {"instance_type", "t"}},
		.code = LT_ENET,
		.says = "asks to wait 7 s",
		.retry_after_s = 7},
	};

	(void)state;
	check_fetches(cases, COUNT(cases));
}

/* The file is asked for by what is known of it; a refused one is not kept. */
static void
test_unchanged(void **state)
{
	char url[128];
	struct pair pairs[] = {{"url", url}, {"cloud", "aws"}, {"region", "nowhere"},
	    {"instance_type", "c5.large"}, {0}};
	struct lt_source_memory memory = {0};

	(void)state;
	server_url(url, "/catalog/sky");
	for (int i = 0; i < 3; i++) {
		struct lt_points points = {0};
		struct lt_error err = {0};
		struct lt_source_options options;

		if (i == 1)
			pairs[2].value = "us-east-1";
		options = options_of(pairs);
		options.memory = &memory;
		const int code = lt_adapter_fetch(
		    adapter, &options, &(struct lt_window){0, NOW, NOW}, &points, &err);
		assert_int_equal(code, i == 0 ? LT_EINPUT : LT_OK);
		assert_int_equal(points.unchanged, i == 2);
		assert_int_equal(points.count, i == 1);
		assert_int_equal(memory.etag[0] != '\0', i > 0);
		/* The next version is looked for first. */
		assert_int_equal(memory.trace[0].status, 404);
		assert_int_equal(memory.trace[1].status, i == 2 ? 304 : 200);
		assert_int_equal(memory.version, 9);
		if (i > 0)
			assert_true(points.issued_utc_s == NOW);
		lt_points_free(&points);
	}
}

/* The age is the list's: of one that has not changed, days. */
static void
test_age(void **state)
{
	char url[128];
	struct pair pairs[] = {{"url", url}, {"cloud", "aws"}, {"region", "us-east-1"},
	    {"instance_type", "c5.large"}, {0}};
	struct lt_source_options options;
	struct lt_source_memory memory = {0};

	(void)state;
	server_url(url, "/catalog/sky");
	options = options_of(pairs);
	options.memory = &memory;
	for (int day = 0; day < 6; day++) {
		const int64_t now_utc_s = NOW + day * LT_DAY_S;
		struct lt_points points = {0};

		assert_int_equal(lt_adapter_fetch(adapter, &options,
				     &(struct lt_window){0, now_utc_s, now_utc_s}, &points, NULL),
		    LT_OK);
		assert_true(points.issued_utc_s == NOW);
		if (day == 5)
			assert_string_equal(points.note, "the list has not changed for 5 days");
		lt_points_free(&points);
	}
	assert_int_equal(
	    lt_http_date("Wed, 21 Oct 2015 07:28:00 GMT"), 1445412480); /* RFC 9110's example */
	assert_int_equal(lt_http_date("yesterday"), 0);
}

static int
start(void **state)
{
	(void)state;
	return start_named("skypilot_catalog");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_unchanged),
	    cmocka_unit_test(test_age),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
