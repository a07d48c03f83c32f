/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Google's SKUs: which descriptions count, exact sums, pages and their end, and Google's errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "price_list_fixture.h"

#define KEY                                                                                        \
	{                                                                                          \
		"key_env", "LT_TEST_KEY"                                                           \
	}
#define REGION                                                                                     \
	{                                                                                          \
		"region", "us-central1"                                                            \
	}
#define CPU(family)                                                                                \
	REGION, {"cpu_family", family}, {"vcpus", "12"},                                           \
	{                                                                                          \
		"memory_gib", "85"                                                                 \
	}
#define GPU(name, count)                                                                           \
	REGION, {"gpu", name},                                                                     \
	{                                                                                          \
		"gpus", count                                                                      \
	}

/* One SKU of a GPU, described, in one region. */
#define PRICE(currency, unit_text, nanos)                                                          \
	"{\"unitPrice\":{\"currencyCode\":\"" currency "\",\"units\":" unit_text                   \
	",\"nanos\":" nanos "}}"
#define INFO(time, unit, prices)                                                                   \
	"{\"effectiveTime\":\"" time "\",\"pricingExpression\":{\"usageUnit\":\"" unit             \
	"\",\"tieredRates\":[" prices "]}}"
#define SKU(description, usage, infos)                                                             \
	"{\"description\":\"" description "\",\"category\":{\"usageType\":\"" usage                \
	"\"},\"serviceRegions\":[\"us-east1\",\"us-central1\"],"                                   \
	"\"pricingInfo\":[" infos "]}"
#define SPOT_T4 "Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in X"
#define DOLLAR PRICE("USD", "\"1\"", "0")
#define SIMPLE(description, usage)                                                                 \
	SKU(description, usage, INFO("2024-05-01T07:00:00Z", "h", DOLLAR))
#define PAGE(skus) "{\"skus\":[" skus "],\"nextPageToken\":\"\"}"
#define T4 .pairs = {GPU("Nvidia Tesla T4", "2")}

static const struct option_case option_cases[] = {
    {"no region", {{"gpu", "g"}, {"gpus", "1"}, KEY}, 0, "needs \"region\""},
    {"nothing at all", {REGION, KEY}, 0, "want cpu_family, gpu, or both"},
    {"a family without memory", {REGION, {"cpu_family", "N2"}, {"vcpus", "8"}, KEY}, 11,
	"want cpu_family together with memory_gib above 0"},
    {"memory without a family", {REGION, {"memory_gib", "8"}, KEY}, 11,
	"want cpu_family together with memory_gib"},
    {"a GPU without a number", {REGION, {"gpu", "Nvidia L4"}, KEY}, 11,
	"want gpu together with gpus above 0"},
    {"a part of a thousandth", {REGION, {"cpu_family", "N2"}, {"vcpus", "0.0001"}, KEY}, 12,
	"at most three decimals"},
    {"too many", {GPU("g", "1000001"), KEY}, 12, "a number up to 1000000"},
    {"an empty name", {GPU("", "1"), KEY}, 11, "gpu: got \"\""},
    {"no key", {GPU("g", "1")}, 0, "key_file or key_env: missing"},
    {"another capacity", {GPU("g", "1"), {"capacity", "x"}, KEY}, 13, "want spot or on_demand"},
    {"a currency in words", {GPU("g", "1"), {"currency", "Euro"}, KEY}, 13,
	"want an ISO 4217 code"},
    {"a machine", {CPU("A2"), {"gpu", "g"}, {"gpus", "1"}, KEY}, 0, NULL},
    {"GPUs alone, in euros", {GPU("g", "8"), {"currency", "EUR"}, KEY}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct price_case price_cases[] = {
    {.why = "attached to spot machines",
	T4,
	.bytes = PAGE(SIMPLE(SPOT_T4, "Preemptible")),
	.micros = 2000000},
    {.why = "as it was written once",
	T4,
	.bytes = PAGE(SIMPLE("Nvidia Tesla T4 GPU attached to preemptible VMs "
			     "running in X",
	    "Preemptible")),
	.micros = 2000000},
    {.why = "the newest price that is in effect",
	T4,
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"5\"", "0")) "," INFO(
		"2026-11-21T05:10:00.5Z", "h",
		PRICE("USD", "\"3\"", "0")) "," INFO("2026-11-21T05:11:00Z", "h",
		PRICE("USD", "\"9\"", "0")))),
	.micros = 6000000},
    {.why = "the dearest tier",
	T4,
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h",
		PRICE("USD", "\"0\"", "0") "," PRICE("USD", "\"0\"", "350000000")))),
	.micros = 700000},
    {.why = "half a micro is rounded away from zero",
	.pairs = {GPU("Nvidia Tesla T4", "1")},
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"123456\"", "999999500")))),
	.micros = 123457000000},
    {.why = "less than half is not",
	.pairs = {GPU("Nvidia Tesla T4", "1")},
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"123456\"", "999998499")))),
	.micros = 123456999998},
    {.why = "two of the same price are one",
	T4,
	.bytes = PAGE(SIMPLE(SPOT_T4, "Preemptible") "," SIMPLE(SPOT_T4, "OnDemand")),
	.micros = 2000000},
    {.why = "one bad SKU does not cost the others",
	T4,
	.bytes = PAGE(SIMPLE(SPOT_T4, "Preemptible") "," SKU(
	    SPOT_T4, "Preemptible", INFO("2024-01-01T00:00:00Z", "mo", DOLLAR)) ",3,null"),
	.micros = 2000000,
	.note = "1 matching SKUs were refused: \"" SPOT_T4 "\": usageUnit: got \"mo\", want \"h\""},
    {.why = "euros, which were asked for",
	.pairs = {GPU("Nvidia Tesla T4", "1"), {"currency", "EUR"}},
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h", PRICE("EUR", "\"0\"", "100000000")))),
	.micros = 100000},
};

static const struct price_case refused_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "cut off", .bytes = "{\"skus\":[", .says = "not JSON"},
    {.why = "no SKUs", .bytes = "{}", .says = "JSON without \"skus\""},
    {.why = "an empty list",
	T4,
	.bytes = PAGE(""),
	.says = "no spot SKU for \"Nvidia Tesla T4\" (GPU) in us-central1: 0 "
		"matched among 0, 0 in other regions"},
    {.why = "another card of the same name",
	T4,
	.bytes = PAGE(SIMPLE("Nvidia Tesla T4 80GB GPU attached to Spot "
			     "Preemptible VMs running in X",
	    "Preemptible")),
	.says = "0 matched among 1"},
    {.why = "flexible start is another product",
	T4,
	.bytes = PAGE(SIMPLE("Nvidia Tesla T4 GPU attached to DWS Defined "
			     "Duration VMs running in X",
	    "OnDemand")),
	.says = "0 matched among 1"},
    {.why = "a commitment",
	T4,
	.bytes = PAGE(SIMPLE(SPOT_T4, "Commit1Yr")),
	.says = "0 matched among 1"},
    {.why = "on demand is no spot",
	T4,
	.bytes = PAGE(SIMPLE("Nvidia Tesla T4 GPU running in X", "OnDemand")),
	.says = "0 matched among 1"},
    {.why = "spot is not on demand, whatever its usage type",
	.pairs = {GPU("Nvidia Tesla T4", "1"), {"capacity", "on_demand"}},
	.bytes = PAGE(SIMPLE(SPOT_T4, "OnDemand")),
	.says = "no on-demand SKU for"},
    {.why = "another region",
	.pairs = {{"region", "mars"}, {"gpu", "Nvidia Tesla T4"}, {"gpus", "1"}},
	.bytes = PAGE(SIMPLE(SPOT_T4, "Preemptible")),
	.says = "in mars: 0 matched among 1, 1 in other regions"},
    {.why = "two with different prices",
	T4,
	.bytes = PAGE(SIMPLE(SPOT_T4, "Preemptible") "," SKU(
	    SPOT_T4, "Preemptible", INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"2\"", "0")))),
	.says = "2 spot SKUs for \"Nvidia Tesla T4\" (GPU) in us-central1, "
		"with different prices, as 1.000000000 and 2.000000000 USD"},
    {.why = "only prices to come",
	T4,
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible", INFO("2099-01-01T00:00:00Z", "h", DOLLAR))),
	.says = "refused: \"" SPOT_T4 "\": no price that is in effect now"},
    {.why = "a price of 0",
	T4,
	.bytes = PAGE(SKU(
	    SPOT_T4, "Preemptible", INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"0\"", "0")))),
	.says = "a price of 0, which stands for a missing one"},
    {.why = "no tier",
	T4,
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible", INFO("2024-01-01T00:00:00Z", "h", ""))),
	.says = "a price of 0"},
    {.why = "another unit",
	T4,
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible", INFO("2024-01-01T00:00:00Z", "GiBy.h", DOLLAR))),
	.says = "usageUnit: got \"GiBy.h\", want \"h\""},
    {.why = "another currency",
	T4,
	.bytes = PAGE(SKU(
	    SPOT_T4, "Preemptible", INFO("2024-01-01T00:00:00Z", "h", PRICE("EUR", "\"1\"", "0")))),
	.says = "a price in EUR, want USD"},
    {.why = "units that are no text",
	T4,
	.bytes = PAGE(SKU(
	    SPOT_T4, "Preemptible", INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "1.5", "0")))),
	.says = "units: got"},
    {.why = "negative units",
	T4,
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"-1\"", "0")))),
	.says = "units: got \"-1\""},
    {.why = "nanos above one",
	T4,
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"1\"", "1000000000")))),
	.says = "nanos: want 0 to 999999999"},
    {.why = "a sum that passes all bounds",
	.pairs = {GPU("Nvidia Tesla T4", "1000000")},
	.bytes = PAGE(SKU(SPOT_T4, "Preemptible",
	    INFO("2024-01-01T00:00:00Z", "h", PRICE("USD", "\"1000000\"", "0")))),
	.says = "the machine's price is too large"},
    {.why = "the first of three pages has no memory",
	.pairs = {CPU("A2")},
	.file = PRICE_LIST_FIXTURES "gcp_billing_sku/page1_SYNTHETIC.json",
	.says = "no spot SKU for \"A2\" (Instance Ram) in us-central1: 0 "
		"matched among 9"},
};

static void
test_parse(void **state)
{
	(void)state;
	check_prices(price_cases, COUNT(price_cases));
	check_prices(refused_cases, COUNT(refused_cases));
}

/* Which descriptions are of a core of the family A2. */
static void
test_descriptions(void **state)
{
	static const struct {
		const char *description;
		bool is_spot, is_demand;
	} cases[] = {
	    {"Spot Preemptible A2 Instance Core running in X", true, false},
	    {"Preemptible A2 Instance Core running in X", true, false},
	    {"spot preemptible a2 instance core running in X", true, false},
	    {"A2 Instance Core running in X", false, true},
	    {"A2 Predefined Instance Core running in X", false, true},
	    {"A2 AMD Instance Core running in X", false, true},
	    {"A2 Arm Instance Core running in X", false, true},
	    {"A2 Memory-optimized Instance Core running in X", false, true},
	    {"A2 Core running in X", false, true},
	    {"A2 Custom Instance Core running in X", false, false},
	    {"A2 Sole Tenancy Instance Core running in X", false, false},
	    {"A2Plus Instance Core running in X", false, false},
	    {"Reserved A2 Instance Core running in X", false, false},
	    {"Commitment v1: A2 Cpu in X for 1 Year", false, false},
	    {"DWS Defined Duration A2 Core running in X", false, false},
	    {"A2 Instance Ram running in X", false, false},
	    {"A2 Instance Core Premium running in X", false, false},
	    {"A2", false, false},
	    {"", false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (int spot = 0; spot < 2; spot++) {
			char bytes[1024];
			const struct pair pairs[] = {REGION, {"cpu_family", "A2"}, {"vcpus", "1"},
			    {"capacity", spot ? "spot" : "on_demand"}, {0}};
			const struct lt_source_options options = options_of(pairs);
			struct lt_points points = {0};

			snprintf(bytes, sizeof(bytes), PAGE(SIMPLE("%s", "OnDemand")),
			    cases[i].description);
			const int code = lt_adapter_parse(adapter, &options,
			    &(struct lt_answer){bytes, strlen(bytes), NOW}, &points, NULL);
			if ((code == LT_OK) != (spot ? cases[i].is_spot : cases[i].is_demand))
				fail_msg("\"%s\", spot %d: %d", cases[i].description, spot, code);
			lt_points_free(&points);
		}
}

static const struct fetch_case fetch_cases[] = {
    {.path = "/catalog/gcp",
	.pairs = {CPU("A2"), {"gpu", "Nvidia Tesla A100"}, {"gpus", "1"}, KEY},
	/* 12 x 0.0125 + 85 x 0.00165 + 1.4665 */
	.micros = 1756750},
    {.path = "/catalog/gcp",
	.pairs = {CPU("A2"), {"gpu", "Nvidia Tesla A100"}, {"gpus", "1"}, {"capacity", "on_demand"},
	    KEY},
	/* 12 x 0.031611 + 85 x 0.004237 + 2.9339 */
	.micros = 3673377},
    {.path = "/catalog/gcp/",
	.pairs = {REGION, {"cpu_family", "N1"}, {"vcpus", "1"}, {"memory_gib", "3.75"},
	    {"capacity", "on_demand"}, KEY},
	/* 0.031611 + 3.75 x 0.004237 = 0.04749975 */
	.micros = 47500},
    {.path = "/catalog/gcp",
	.pairs = {GPU("A4 Nvidia B200 (1 gpu slice)", "8"), KEY},
	.micros = 39200000},
    {.path = "/catalog/gcp",
	.pairs = {GPU("Nvidia Tesla T4", "1"), KEY},
	.code = LT_EINPUT,
	.says = "no spot SKU for \"Nvidia Tesla T4\" (GPU) in us-central1: 0 "
		"matched among 21"},
    {.path = "/catalog/gcp",
	.pairs = {GPU("Nvidia Tesla T4", "1"), {"key_env", "LT_TEST_WRONG_KEY"}},
	.code = LT_ENET,
	.says = "127.0.0.1: HTTP status 400, want 200: INVALID_ARGUMENT: API "
		"key not valid."},
    {.path = "/catalog/gcp-denied",
	.pairs = {GPU("Nvidia Tesla T4", "1"), KEY},
	.code = LT_ENET,
	.says = "HTTP status 403, want 200: PERMISSION_DENIED: Cloud Billing"},
    {.path = "/catalog/gcp-quota",
	.pairs = {GPU("Nvidia Tesla T4", "1"), KEY},
	.code = LT_ENET,
	.says = "asks to wait 60 s: RESOURCE_EXHAUSTED: Quota exceeded",
	.retry_after_s = 60},
    {.path = "/catalog/gcp-empty",
	.pairs = {GPU("Nvidia Tesla T4", "1"), KEY},
	.code = LT_EINPUT,
	.says = "127.0.0.1: JSON without \"skus\""},
    {.path = "/catalog/gcp-loop",
	.pairs = {GPU("Nvidia Tesla T4", "1"), KEY},
	.code = LT_ELIMIT,
	.says = "src: more than 40 pages of SKUs"},
};

static void
test_fetch(void **state)
{
	(void)state;
	check_fetches(fetch_cases, COUNT(fetch_cases));
}

static int
start(void **state)
{
	(void)state;
	return start_named("gcp_billing_sku");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_descriptions),
	    cmocka_unit_test(test_fetch),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
