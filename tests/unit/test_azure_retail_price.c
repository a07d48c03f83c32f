/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Azure's price list: which of its rows counts, what is refused, and its
 * pages from a server that answers as it does, or misbehaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_azure.h"

#define FIXTURES "tests/fixtures/azure_retail_price/"
#define NOW 1767225700 /* 2026-01-01T00:01:40Z */
#define HOUR 1767225600
#define SPAN (12 * 3600)
#define T4                                                                                         \
	{"region", "EastUS"},                                                                      \
	{                                                                                          \
		"sku", "Standard_NC4as_T4_v3"                                                      \
	}

static const struct option_case option_cases[] = {
    {"no sku", {{"region", "eastus"}}, 0, "needs \"sku\""},
    {"no region", {{"sku", "a"}}, 0, "needs \"region\""},
    {"a region for people", {{"region", "East US"}, {"sku", "a"}}, 10,
	"got \"East US\", want a name such as westeurope"},
    {"a quote in the sku", {{"region", "eastus"}, {"sku", "a' or 'b"}}, 11,
	"sku: got \"a' or 'b\""},
    {"another capacity", {T4, {"capacity", "low_priority"}}, 12,
	"capacity: got \"low_priority\", want spot or on_demand"},
    {"another os", {T4, {"os", "Linux"}}, 12, "want linux or windows"},
    {"a currency in small letters", {T4, {"currency", "usd"}}, 12, "got \"usd\""},
    {"not http", {T4, {"url", "ftp://a"}}, 12, "want http://"},
    {"spot", {T4}, 0, NULL},
    {"euros", {T4, {"currency", "EUR"}}, 0, NULL},
    {"on demand", {T4, {"capacity", "on_demand"}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static void
test_money(void **state)
{
	static const struct pair euros[] = {T4, {"currency", "EUR"}, {0}};
	static const struct pair usual[] = {T4, {0}};
	struct lt_source_options options = options_of(euros);

	(void)state;
	assert_int_equal(lt_adapter_quantity(adapter, &options), LT_QUANTITY_PRICE);
	assert_string_equal(adapter->currency(&options), "EUR");
	options = options_of(usual);
	assert_string_equal(adapter->currency(&options), "USD");
}

static void
assert_price(const char *why, const struct lt_points *points, double micros, int64_t hour_utc_s,
    const char *note)
{
	if (points->count != 1 || points->points[0].value != micros ||
	    points->points[0].start_utc_s != hour_utc_s ||
	    points->points[0].end_utc_s != hour_utc_s + SPAN ||
	    points->points[0].quality != LT_QUALITY_MEASURED ||
	    points->quantity != LT_QUANTITY_PRICE || points->issued_utc_s != 0 ||
	    strcmp(points->note, note) != 0)
		fail_msg("%s: %zu points, %f, %s", why, points->count,
		    points->count == 0 ? 0 : points->points[0].value, points->note);
}

/* A dozen rows of one SKU, of which each use has one. */
static void
test_list(void **state)
{
	static const struct {
		const char *why;
		struct pair pairs[5];
		double micros;
		const char *note;
	} uses[] = {
	    {"spot, of the primary meter, now", {T4}, 157800,
		"list price since 2023-06-01; 2 of 12 rows are unfit"},
	    {"on demand", {T4, {"capacity", "on_demand"}}, 526000, "list price since 2023-06-01"},
	    {"spot with Windows", {T4, {"os", "windows"}}, 231400, "list price since 2023-06-01"},
	    {"on demand with Windows", {T4, {"os", "windows"}, {"capacity", "on_demand"}}, 710000,
		"list price since 2023-06-01"},
	};
	char bytes[16384];
	const size_t length = read_fixture(FIXTURES "prices_SYNTHETIC.json", bytes, sizeof(bytes));

	(void)state;
	for (size_t i = 0; i < COUNT(uses); i++) {
		const struct lt_source_options options = options_of(uses[i].pairs);
		struct lt_points points = {0};
		struct lt_error err = {0};

		if (lt_adapter_parse(adapter, &options, &(struct lt_answer){bytes, length, NOW},
			&points, &err) != LT_OK)
			fail_msg("%s: %s", uses[i].why, err.text);
		assert_price(uses[i].why, &points, uses[i].micros, HOUR, uses[i].note);
		assert_string_equal(points.currency, "USD");
		lt_points_free(&points);
	}
}

#define PAGE(rows) "{\"BillingCurrency\":\"USD\",\"Items\":[" rows "]}"
#define ROW_OF(region, sku, money, unit, price, since, primary)                                    \
	"{\"armRegionName\":\"" region "\",\"armSkuName\":\"" sku "\",\"currencyCode\":\"" money   \
	"\",\"unitOfMeasure\":\"" unit "\",\"unitPrice\":" price                                   \
	",\"effectiveStartDate\":\"" since "\",\"isPrimaryMeterRegion\":" primary                  \
	",\"type\":\"Consumption\",\"skuName\":\"NC4as T4 v3 Spot\"}"
#define ROW(price, since, primary)                                                                 \
	ROW_OF(                                                                                    \
	    "eastus", "Standard_NC4as_T4_v3", "USD", "1 Hour", price, since "T00:00:00Z", primary)
/* For since: what follows it is the start again. */
#define ENDED(end) "2025-01-01T00:00:00Z\",\"effectiveEndDate\":\"" end "\",\"x\":\""

static const struct {
	const char *why, *bytes;
	const char *says; /* NULL = good */
	double micros;
	const char *note;
} parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "cut off", .bytes = "{\"Items\":[", .says = "not JSON"},
    {.why = "a list", .bytes = "[]", .says = "JSON without \"Items\""},
    {.why = "rows of text", .bytes = "{\"Items\":\"x\"}", .says = "JSON without \"Items\""},
    {.why = "an error with status 200",
	.bytes = "{\"Error\":{\"Code\":\"BadRequest\",\"Message\":"
		 "\"Invalid\\nline\"}}",
	.says = "the source says: BadRequest: Invalid"},
    {.why = "an error in another form",
	.bytes = "{\"Error\":\"no \\u001b\"}",
	.says = "the source says: no ?"},
    {.why = "no row: what was asked, and what to try",
	.bytes = PAGE(""),
	.says = "no price of Standard_NC4as_T4_v3 (spot, linux, USD) in "
		"EastUS: no row: letters' case counts in sku"},
    {.why = "another currency",
	.bytes = "{\"BillingCurrency\":\"EUR\",\"Items\":[{}]}",
	.says = "BillingCurrency: got \"EUR\", want \"USD\""},
    {.why = "no currency",
	.bytes = "{\"Items\":[{}]}",
	.says = "BillingCurrency: got \"\", want \"USD\""},
    {.why = "rows that are none",
	.bytes = PAGE("1,null,\"x\",[]"),
	.says = "all rows are for another capacity or os"},
    {.why = "another region",
	.bytes = PAGE(ROW_OF("westus", "Standard_NC4as_T4_v3", "USD", "1 Hour", "0.1",
	    "2023-01-01T00:00:00Z", "true")),
	.says = "a price of Standard_NC4as_T4_v3 in westus, which nobody"},
    {.why = "another sku",
	.bytes = PAGE(ROW_OF("eastus", "Standard_NC8as_T4_v3", "USD", "1 Hour", "0.1",
	    "2023-01-01T00:00:00Z", "true")),
	.says = "a price of Standard_NC8as_T4_v3 in eastus, which nobody"},
    {.why = "a row in another currency",
	.bytes = PAGE(ROW_OF("eastus", "Standard_NC4as_T4_v3", "INR", "1 Hour", "9",
	    "2023-01-01T00:00:00Z", "true")),
	.says = "currencyCode: got \"INR\", want \"USD\""},
    {.why = "by the month",
	.bytes = PAGE(ROW_OF("eastus", "Standard_NC4as_T4_v3", "USD", "1 Month", "90",
	    "2023-01-01T00:00:00Z", "true")),
	.says = "unitOfMeasure: got \"1 Month\", want \"1 Hour\""},
    {.why = "0 is unknown",
	.bytes = PAGE(ROW("0.0", "2023-01-01", "true")),
	.says = "unitPrice: want a number of more than 0"},
    {.why = "negative",
	.bytes = PAGE(ROW("-1", "2023-01-01", "true")),
	.says = "unitPrice: want a number of more than 0"},
    {.why = "a text that is none",
	.bytes = PAGE(ROW("\"NaN\"", "2023-01-01", "true")),
	.says = "unitPrice: want a number of more than 0"},
    {.why = "absurd",
	.bytes = PAGE(ROW("1e300", "2023-01-01", "true")),
	.says = "unitPrice: want a number"},
    {.why = "a day of nobody",
	.bytes = PAGE(ROW("1", "2023-13-01", "true")),
	.says = "effectiveStartDate: "},
    {.why = "to come",
	.bytes = PAGE(ROW("1", "2026-01-02", "true")),
	.says = "a price of a time to come"},
    {.why = "over",
	.bytes = PAGE(ROW("1", ENDED("2026-01-01T00:01:40Z"), "true")),
	.says = "a price of a time that is over"},
    {.why = "what is over does not hide what holds",
	.bytes = PAGE(
	    ROW("1", ENDED("2025-12-31T23:59:00Z"), "true") "," ROW("2", "2024-01-01", "true")),
	.micros = 2e6,
	.note = "list price since 2024-01-01; 1 of 2 rows are unfit"},
    {.why = "an end that is to come",
	.bytes = PAGE(ROW("1", ENDED("2026-01-01T00:01:41Z"), "true")),
	.micros = 1e6,
	.note = "list price since 2025-01-01"},
    {.why = "the region in another case",
	.bytes = PAGE(ROW_OF("EASTus", "Standard_NC4as_T4_v3", "USD", "1 Hour", "0.1",
	    "2023-01-01T00:00:00Z", "true")),
	.micros = 100000,
	.note = "list price since 2023-01-01"},
    {.why = "a revision wins, wherever it stands",
	.bytes = PAGE(ROW("3", "2023-01-02", "true") "," ROW("4", "2023-01-03", "true") "," ROW(
	    "5", "2023-01-01", "true")),
	.micros = 4e6,
	.note = "list price since 2023-01-03"},
    {.why = "the primary meter wins over a newer one",
	.bytes = PAGE(ROW("3", "2023-01-02", "true") "," ROW("4", "2024-01-03", "false")),
	.micros = 3e6,
	.note = "list price since 2023-01-02"},
    {.why = "no primary meter",
	.bytes = PAGE(ROW("4", "2023-01-03", "false")),
	.micros = 4e6,
	.note = "list price since 2023-01-03, not of the primary meter"},
    {.why = "two that nothing tells apart",
	.bytes = PAGE(ROW("5", "2023-01-02", "true") "," ROW("4", "2023-01-02", "true")),
	.micros = 5e6,
	.note = "list price since 2023-01-02, the dearer of several"},
    {.why = "a doubt that a newer price settles",
	.bytes = PAGE(ROW("5", "2023-01-02", "true") "," ROW("4", "2023-01-02", "true") "," ROW(
	    "3", "2023-01-09", "true")),
	.micros = 3e6,
	.note = "list price since 2023-01-09"},
    {.why = "one bad row does not cost the others",
	.bytes = "\xEF\xBB\xBF" PAGE(
	    ROW("0", "2024-01-02", "true") "," ROW("0.0987654321", "2023-01-02", "true")),
	.micros = 98765,
	.note = "list price since 2023-01-02; 1 of 2 rows are unfit"},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {T4, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		struct lt_points points = {0};

		if (parses(&options, NOW, parse_cases[i].why, parse_cases[i].bytes,
			parse_cases[i].says, &points))
			assert_price(parse_cases[i].why, &points, parse_cases[i].micros, HOUR,
			    parse_cases[i].note);
		lt_points_free(&points);
	}
}

/* Three pages, of which the last has the price. */
static void
test_fetch(void **state)
{
	static const struct {
		struct pair pairs[6];
		double micros;
		int requests;
		const char *note;
	} cases[] = {
	    {{T4}, 157800, 3, "list price since 2023-06-01"},
	    {{T4, {"currency", "EUR"}}, 145176, 3, "list price since 2023-06-01"},
	    {{{"region", "westus3"}, {"sku", "Standard_ND96isr_H100_v5"}}, 29496000, 1,
		"list price since 2024-02-01"},
	    {{{"region", "WESTUS3"}, {"sku", "Standard_ND96isr_H100_v5"}, {"os", "windows"}},
		33100000, 1, "list price since 2024-02-01"},
	};
	const int64_t now_utc_s = server_stop_clock();
	char url[128];

	(void)state;
	server_url(url, "/azure");
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_source_options options = options_of(cases[i].pairs);
		struct lt_source_memory memory = {0};
		struct lt_points points = {0};
		struct lt_error err = {0};

		options.items[options.count].key = "url";
		options.items[options.count++].value = url;
		options.memory = &memory;
		if (lt_adapter_fetch(adapter, &options,
			&(struct lt_window){now_utc_s - 86400, now_utc_s + 86400, now_utc_s},
			&points, &err) != LT_OK)
			fail_msg("%zu: %s", i, err.text);
		assert_price("fetched", &points, cases[i].micros, now_utc_s - now_utc_s % 3600,
		    cases[i].note);
		assert_string_equal(points.currency, adapter->currency(&options));
		assert_int_equal(memory.trace_count, cases[i].requests);
		assert_non_null(strstr(memory.trace[0].request, "&$filter=serviceName%20eq"
								"%20%27Virtual%20Mach"));
		lt_points_free(&points);
	}
}

static void
test_faults(void **state)
{
	static const struct {
		const char *path, *says;
		int code;
		int64_t retry_after_s;
	} faults[] = {
	    {"/azure/fault-other-host",
		"127.0.0.1: NextPageLink leads to http://localhost:", LT_EINPUT, 0},
	    {"/azure/fault-loop", "more than 8 pages", LT_ELIMIT, 0},
	    {"/azure/fault-second", "status 503, want 200, asks to wait 9 s", LT_ENET, 9},
	    {"/azure/nowhere", "HTTP status 404, want 200: no such resource", LT_ENET, 0},
	    {"/html/a", "127.0.0.1: got text/html, want JSON", LT_ENET, 0},
	    {"/truncated/a", "127.0.0.1: line 1, column ", LT_EINPUT, 0},
	    {"/bom/a", "127.0.0.1: JSON without \"Items\"", LT_EINPUT, 0},
	    {"/status/429", "asks to wait 7 s: Status: as you like", LT_ENET, 7},
	    {"/status/404", "404, want 200: Status: as you like", LT_ENET, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		char url[128];
		const struct pair pairs[] = {T4, {"url", url}, {NULL, NULL}};
		struct lt_points points = {0};
		struct lt_error err = {0};

		server_url(url, faults[i].path);
		const struct lt_source_options options = options_of(pairs);
		const int code = lt_adapter_fetch(
		    adapter, &options, &(struct lt_window){NOW, NOW, NOW}, &points, &err);
		if (code != faults[i].code || points.count != 0 ||
		    points.retry_after_s != faults[i].retry_after_s)
			fail_msg("%s: %d %s", faults[i].path, code, err.text);
		assert_says(faults[i].path, &err, faults[i].says);
		assert_int_equal(err.line, 0);
		lt_points_free(&points);
	}
}

/* What the service says of a filter that it does not take. */
static bool
serve_links(const struct exchange *exchange)
{
	static const struct {
		const char *path, *link;
	} links[] = {
	    {"/link/none/", ""},
	    {"/link/file/", "file:///etc/passwd"},
	    {"/link/port/", "http://127.0.0.1:1/"},
	    {"/link/tls/", "https://127.0.0.1/"},
	    {"/link/user/", "http://127.0.0.1:PORT@evil.example/"},
	    {"/link/slash/", "http://127.0.0.1:PORT\\\\@evil.example/"},
	    {"/link/blank/", "http://127.0.0.1:PORT/a b"},
	    {"/link/relative/", "/api/retail/prices"},
	};
	char body[512];

	for (size_t i = 0; i < COUNT(links); i++) {
		const char *const link = links[i].link;
		const char *const port = strstr(link, "PORT");
		const int before = port == NULL ? (int)strlen(link) : (int)(port - link);

		if (strncmp(exchange->path, links[i].path, strlen(links[i].path)) != 0)
			continue;
		snprintf(body, sizeof(body), "{\"Items\":[],\"NextPageLink\":\"%.*s", before, link);
		if (port != NULL)
			sprintf(body + strlen(body), "%d%s", exchange->port, port + 4);
		strcat(body, "\"}");
		server_answer(exchange, 200, "application/json", "", body);
		return true;
	}
	if (strncmp(exchange->path, "/link/bad/", 10) == 0) {
		server_answer(exchange, 400, "application/json", "",
		    "{\"Error\":{\"Code\":\"BadRequest\",\"Message\":"
		    "\"Invalid OData parameters supplied\"}}");
		return true;
	}
	return serve_azure(exchange);
}

/* A link to anywhere else is never followed. */
static void
test_links(void **state)
{
	static const struct {
		const char *name, *says;
	} cases[] = {
	    {"none", "127.0.0.1: no price of Standard_NC4as_T4_v3"},
	    {"file", "NextPageLink leads to no plain URL, want http://127"},
	    {"port", "NextPageLink leads to http://127.0.0.1:1, want"},
	    {"tls", "leads to https://127.0.0.1:443, want http://127.0.0.1:"},
	    {"user", "NextPageLink leads to no plain URL"},
	    {"slash", "NextPageLink leads to no plain URL"},
	    {"blank", "NextPageLink leads to no plain URL"},
	    {"relative", "NextPageLink leads to no plain URL"},
	    {"bad", "HTTP status 400, want 200: BadRequest: Invalid OData "
		    "parameters supplied"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char path[32], url[128];
		const struct pair pairs[] = {T4, {"url", url}, {NULL, NULL}};
		struct lt_source_memory memory = {0};
		struct lt_points points = {0};
		struct lt_error err = {0};

		snprintf(path, sizeof(path), "/link/%s", cases[i].name);
		server_url(url, path);
		struct lt_source_options options = options_of(pairs);
		options.memory = &memory;
		if (lt_adapter_fetch(adapter, &options, &(struct lt_window){NOW, NOW, NOW}, &points,
			&err) == LT_OK ||
		    memory.trace_count != 1)
			fail_msg("%s: %d requests", cases[i].name, memory.trace_count);
		assert_says(cases[i].name, &err, cases[i].says);
		lt_points_free(&points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("azure_retail_price", serve_links);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_money),
	    cmocka_unit_test(test_list),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
