/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUDO Compute's machine types: sums, terms, absent machines, and the errors that its gateway and
 * its manual have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "price_list_fixture.h"

#define FILE_NAME PRICE_LIST_FIXTURES "cudo_compute/machine_types_SYNTHETIC.json"
#define NODE(center, type, gpu_count)                                                              \
	{"data_center", center}, {"machine_type", type}, {"vcpus", "8"}, {"memory_gib", "32"},     \
	{                                                                                          \
		"gpus", gpu_count                                                                  \
	}
#define MACHINE(vcpu, memory)                                                                      \
	"{\"dataCenterId\":\"d\",\"machineType\":\"m\","                                           \
	"\"vcpuPriceHr\":" vcpu ",\"memoryGibPriceHr\":" memory                                    \
	",\"gpuPriceHr\":{\"value\":\"1\"}}"

static const struct option_case option_cases[] = {
    {"no data center", {{"machine_type", "m"}, {"vcpus", "1"}, {"memory_gib", "1"}}, 0,
	"needs \"data_center\""},
    {"no vCPU", {{"data_center", "d"}, {"machine_type", "m"}, {"vcpus", "0"}, {"memory_gib", "1"}},
	12, "vcpus: got 0, want more"},
    {"less than a byte of memory",
	{{"data_center", "d"}, {"machine_type", "m"}, {"vcpus", "1"}, {"memory_gib", "0.0001"}}, 13,
	"memory_gib: got \"0.0001\""},
    {"a negative GPU", {NODE("d", "m", "-1")}, 14, "gpus: got \"-1\""},
    {"two keys", {NODE("d", "m", "1"), {"key_file", "/k"}, {"key_env", "K"}}, 16,
	"want one of them"},
    {"not http", {NODE("d", "m", "1"), {"url", "ftp://a"}}, 15, "want http://"},
    {"without a key", {NODE("d", "m", "1")}, 0, NULL},
    {"with a key", {NODE("d", "m", "1"), {"key_env", "K"}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct price_case answer_cases[] = {
    {.why = "vCPUs, memory and a GPU",
	.pairs = {NODE("br-saopaulo-1", "cascade-lake", "1")},
	.file = FILE_NAME,
	.micros = 8 * 2500 + 32 * 3800 + 50000},
    {.why = "of prices by term the one without",
	.pairs = {NODE("no-luster-1", "epyc-rome-rtx-a5000", "2")},
	.file = FILE_NAME,
	.micros = 8 * 2200 + 32 * 3600 + 2 * 550000},
    {.why = "no GPU, whose price is 0",
	.pairs = {NODE("no-luster-1", "standard", "0")},
	.file = FILE_NAME,
	.micros = 8 * 2200 + 32 * 3600},
    {.why = "a GPU for nothing is not believed",
	.pairs = {NODE("no-luster-1", "standard", "1")},
	.file = FILE_NAME,
	.says = "standard in no-luster-1: gpuPriceHr: got 0, want more"},
    {.why = "another machine type",
	.pairs = {NODE("no-luster-1", "cascade-lake", "1")},
	.file = FILE_NAME,
	.says = "no machine type \"cascade-lake\" in data center no-luster-1, "
		"which has epyc-rome-rtx-a5000, standard"},
    {.why = "another data center",
	.pairs = {NODE("nowhere", "standard", "1")},
	.file = FILE_NAME,
	.says = "no data center \"nowhere\"; there are br-saopaulo-1, "
		"no-luster-1"},
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "cut off", .bytes = "{\"machineTypes\":[", .says = "not JSON"},
    {.why = "no list", .bytes = "{}", .says = "without \"machineTypes\""},
    {.why = "an empty list",
	.pairs = {NODE("d", "m", "1")},
	.bytes = "{\"machineTypes\":[]}",
	.says = "no data center \"d\""},
    {.why = "an error with status 200",
	.bytes = "{\"code\":13,\"message\":\"in\\u001bternal\"}",
	.says = "the source says: in?ternal"},
    {.why = "machines that are none",
	.pairs = {NODE("d", "m", "1")},
	.bytes = "{\"machineTypes\":[3,null,{\"dataCenterId\":7}]}",
	.says = "no data center \"d\""},
    {.why = "no price",
	.pairs = {NODE("d", "m", "1")},
	.bytes = "{\"machineTypes\":[" MACHINE("null", "null") "]}",
	.says = "m in d: no vcpuPriceHr"},
    {.why = "a negative price",
	.pairs = {NODE("d", "m", "1")},
	.bytes = "{\"machineTypes\":[" MACHINE("{\"value\":\"1\"}", "{\"value\":\"-1\"}") "]}",
	.says = "memoryGibPriceHr: got -1, want more than 0"},
    {.why = "a price that is no number",
	.pairs = {NODE("d", "m", "1")},
	.bytes = "{\"machineTypes\":[" MACHINE("{\"value\":\"NaN\"}", "{\"value\":\"1\"}") "]}",
	.says = "no vcpuPriceHr"},
    {.why = "the dearest of two, and a third without price",
	.pairs = {NODE("d", "m", "0")},
	.bytes =
	    "{\"machineTypes\":[" MACHINE("{\"value\":\"1\"}", "{\"value\":\"1\"}") "," MACHINE(
		"{\"value\":\"2\"}", "{\"value\":\"1\"}") "," MACHINE("{}", "{}") "]}",
	.micros = 48e6,
	.note = "the highest of 2 rows of this machine type, from 40 to 48 "
		"USD; 1 of 3 rows have no usable price"},
    {.why = "half a micro is rounded away from zero",
	.pairs = {{"data_center", "d"}, {"machine_type", "m"}, {"vcpus", "0.5"},
	    {"memory_gib", "1"}},
	.bytes =
	    "{\"machineTypes\":[" MACHINE("{\"value\":\"0.000001\"}", "{\"value\":\"0.5\"}") "]}",
	.micros = 500001},
};

static void
test_parse(void **state)
{
	(void)state;
	check_prices(answer_cases, COUNT(answer_cases));
}

static void
test_fetch(void **state)
{
	static const struct fetch_case cases[] = {
	    {.path = "/catalog/cudo",
		.pairs = {NODE("no-luster-1", "standard", "0"), {"key_env", "LT_TEST_KEY"}},
		.micros = 132800},
	    {.path = "/catalog/cudo/",
		.pairs = {NODE("no-luster-1", "standard", "0")},
		.micros = 132800},
	    {.path = "/catalog/cudo",
		.pairs = {NODE("no-luster-1", "standard", "0"), {"key_env", "LT_TEST_WRONG_KEY"}},
		.code = LT_ENET,
		.says = "HTTP status 401, want 200: Request unauthenticated"},
	    {.path = "/catalog/cudo",
		.pairs = {NODE("no-luster-1", "a100", "0")},
		.code = LT_EINPUT,
		.says = "127.0.0.1: no machine type \"a100\""},
	    {.path = "/status/503",
		.pairs = {NODE("d", "m", "1")},
		.code = LT_ENET,
		.says = "want 200, asks to wait 7 s: as you like",
		.retry_after_s = 7},
	};

	(void)state;
	check_fetches(cases, COUNT(cases));
}

/* A key that can't be read ends it before anything is sent. */
static void
test_no_key(void **state)
{
	static const struct pair pairs[] = {
	    NODE("d", "m", "1"), {"key_env", "LT_TEST_NO_KEY"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options, &(struct lt_window){0, NOW, NOW}, &points, &err),
	    LT_EINPUT);
	assert_says("no key", &err, "LT_TEST_NO_KEY: not in the environment");
	lt_points_free(&points);
}

static int
start(void **state)
{
	(void)state;
	return start_named("cudo_compute");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_no_key),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
