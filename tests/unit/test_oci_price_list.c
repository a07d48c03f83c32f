/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Oracle Cloud's price list: sums of recorded parts, free tiers, parts of another metric or none,
 * and the fetch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "price_list_fixture.h"

#define RECORDED PRICE_LIST_FIXTURES "oci_price_list/products.json"
#define CPU(part, count)                                                                           \
	{"ocpu_part", part},                                                                       \
	{                                                                                          \
		"ocpus", count                                                                     \
	}
#define RAM(part, count)                                                                           \
	{"memory_part", part},                                                                     \
	{                                                                                          \
		"memory_gb", count                                                                 \
	}
#define GPUS(part, count)                                                                          \
	{"gpu_part", part},                                                                        \
	{                                                                                          \
		"gpus", count                                                                      \
	}
#define ITEM(part, prices)                                                                         \
	"{\"partNumber\":\"" part "\",\"displayName\":\"n\",\"metricName\":"                       \
	"\"OCPU Per Hour\",\"serviceCategory\":\"Compute - GPU\","                                 \
	"\"currencyCodeLocalizations\":[{\"currencyCode\":\"EUR\",\"prices\":"                     \
	"[{\"model\":\"PAY_AS_YOU_GO\",\"value\":3}]},{\"currencyCode\":"                          \
	"\"USD\",\"prices\":[" prices "]}]}"
#define PRICE(value) "{\"model\":\"PAY_AS_YOU_GO\",\"value\":" value "}"

static const struct option_case option_cases[] = {
    {"nothing", {{NULL, NULL}}, 0, "want ocpu_part and ocpus, or gpu_part"},
    {"a part without how many", {{"ocpu_part", "B93113"}}, 10,
	"ocpu_part without ocpus: want both"},
    {"how many of what", {{"gpus", "8"}}, 10, "gpus without gpu_part: want both"},
    {"a shape", {CPU("VM.Standard.E4", "8")}, 10,
	"got \"VM.Standard.E4\", want a part number such as B93113"},
    {"a negative amount", {CPU("B93113", "-1")}, 11, "ocpus: got \"-1\""},
    {"a currency that is none", {CPU("B1", "1"), {"currency", "usd"}}, 12, "currency: got \"usd\""},
    {"not http", {CPU("B1", "1"), {"url", "ftp://a"}}, 12, "want http://"},
    {"GPUs alone", {GPUS("B98415", "8")}, 0, NULL},
    {"all", {CPU("B93113", "8"), RAM("B93114", "32.5"), GPUS("B95907", "8"), {"currency", "EUR"}},
	0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

/* Of the recorded list, by hand. */
static const struct price_case cases[] = {
    {.why = "16 OCPUs at 0.025 and 64 GB at 0.0015",
	.pairs = {CPU("B93113", "16"), RAM("B93114", "64")},
	.file = RECORDED,
	.micros = 496000},
    {.why = "8 H100 at 10 USD", .pairs = {GPUS("B98415", "8")}, .file = RECORDED, .micros = 80e6},
    {.why = "a shape whose price is that of its OCPUs",
	.pairs = {CPU("B88515", "52")},
	.file = RECORDED,
	.micros = 6630000},
    {.why = "a free tier is no price: 4 at 0.01 and 24 GB at 0.0015",
	.pairs = {CPU("B93297", "4"), RAM("B93298", "24")},
	.file = RECORDED,
	.micros = 76000,
	.note = "B93298 costs 0 to 0.0015 USD by amount, the highest counts"},
    {.why = "a free offer is none",
	.pairs = {CPU("B93307", "1")},
	.file = RECORDED,
	.says = "ocpu_part B93307 has no price in USD above 0"},
    {.why = "a part of another kind",
	.pairs = {GPUS("B93113", "1")},
	.file = RECORDED,
	.says = "gpu_part B93113 is \"Compute - Standard - E4 - OCPU\" by "
		"\"OCPU Per Hour\", want one by \"GPU Per Hour\""},
    {.why = "a part that is not there",
	.pairs = {GPUS("B110978", "8")},
	.file = RECORDED,
	.says = "no gpu_part B110978 in the list; it has B88315, B88318, "
		"B88515, B88517, B93113,"},
    {.why = "another currency",
	.pairs = {GPUS("B98415", "8"), {"currency", "EUR"}},
	.file = RECORDED,
	.says = "gpu_part B98415 has no price in EUR above 0"},
    {.why = "empty", .pairs = {CPU("B1", "1")}, .bytes = "", .says = "empty"},
    {.why = "no list", .pairs = {CPU("B1", "1")}, .bytes = "{}", .says = "JSON without \"items\""},
    {.why = "an empty list",
	.pairs = {CPU("B1", "1")},
	.bytes = "{\"items\":[]}",
	.says = "no ocpu_part B1 in the list"},
    {.why = "items that are none",
	.pairs = {CPU("B1", "1")},
	.bytes = "{\"items\":[3,null,{\"partNumber\":7}]}",
	.says = "no ocpu_part B1 in the list"},
    {.why = "tiers in any order",
	.pairs = {CPU("B1", "2")},
	.bytes = "{\"items\":[" ITEM("B1", PRICE("0.5") "," PRICE("0")) "]}",
	.micros = 1000000,
	.note = "B1 costs 0 to 0.5 USD by amount, the highest counts"},
    {.why = "of two currencies the one",
	.pairs = {CPU("B1", "2"), {"currency", "EUR"}},
	.bytes = "{\"items\":[" ITEM("B1", PRICE("0.5")) "]}",
	.micros = 6000000},
    {.why = "a yearly commitment is another model",
	.pairs = {CPU("B1", "1")},
	.bytes = "{\"items\":[" ITEM("B1", "{\"model\":\"MONTHLY_COMMIT\",\"value\":1}") "]}",
	.says = "has no price in USD above 0"},
    {.why = "a price in words",
	.pairs = {CPU("B1", "1")},
	.bytes = "{\"items\":[" ITEM("B1", PRICE("\"call us\"")) "]}",
	.says = "has no price in USD above 0"},
    {.why = "absurd",
	.pairs = {CPU("B1", "1")},
	.bytes = "{\"items\":[" ITEM("B1", PRICE("1e18")) "]}",
	.says = "is the unit right?"},
};

static void
test_parse(void **state)
{
	(void)state;
	check_prices(cases, COUNT(cases));
}

static void
test_fetch(void **state)
{
	static const struct fetch_case fetches[] = {
	    {.path = "/catalog/oci",
		.pairs = {CPU("B93113", "16"), RAM("B93114", "64")},
		.micros = 496000},
	    {.path = "/catalog/oci",
		.pairs = {GPUS("B98415", "8"), {"currency", "EUR"}},
		.code = LT_EINPUT,
		.says = "127.0.0.1: no gpu_part B98415 in the list"},
	    {.path = "/status/503",
		.pairs = {GPUS("B98415", "8")},
		.code = LT_ENET,
		.says = "HTTP status 503, want 200, asks to wait 7 s",
		.retry_after_s = 7},
	};

	(void)state;
	check_fetches(fetches, COUNT(fetches));
}

static int
start(void **state)
{
	(void)state;
	return start_named("oci_price_list");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_fetch),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
