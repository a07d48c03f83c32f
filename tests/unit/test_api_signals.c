/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/signals and its export: what each source says and for whom, pages that lose and repeat
 * nothing, and what is refused.
 */
#include <time.h>

#include <jansson.h>

#include "api.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "log.h"
#include "policy_follow.h"
#include "policy_load.h"
#include "units.h"

static const char policy_text[] =
    "currency: GBP\n"
    "timezone: UTC\n"
    "stale_after: 3h\n"
    "exchange_rates: [{currency: USD, rate: 0.8},\n"
    "    {currency: USD, rate: 0.75, from: 2026-11-01}]\n"
    "sources:\n"
    "  london: {adapter: uk_carbon_intensity, region: 13}\n"
    "  britain: {adapter: uk_carbon_intensity}\n"
    "  price: {adapter: file, quantity: price, path: /p, zone: utc}\n"
    "partitions:\n"
    "  a: {carbon: [london, britain], price_per_node_hour: price}\n"
    "  b: {carbon: britain, preemptible: {interruptions_per_hour: 0.004,\n"
    "      restart: 6m}}\n"
    "  c: {carbon: 250, price_per_node_hour: 3.60}\n";

struct site {
	struct lt_daemon d;
	char path[64];
	int64_t now_utc_s, hour_utc_s;
};

static struct site *
site_new(struct fixture *f, const char *text)
{
	struct site *const site = calloc(1, sizeof(*site));
	struct lt_error err = {0};

	assert_non_null(site);
	strcpy(site->path, "/tmp/lowtide-api.XXXXXX");
	const int fd = mkstemp(site->path);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	lt_log_open("/dev/null");
	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	site->now_utc_s = time(NULL);
	site->hour_utc_s = site->now_utc_s - site->now_utc_s % LT_HOUR_S;
	site->d.ledger = f->ledger;
	site->d.args.config = site->path;
	if (lt_daemon_load_policy(&site->d, site->now_utc_s, &err) != LT_OK)
		fail_msg("%s", err.text);
	return site;
}

static void
site_free(struct site *site)
{
	lt_policy_drop(&site->d.site, &site->d.signals);
	free(site->d.signals.seen);
	free(site->d.signals.chosen);
	unlink(site->path);
	free(site);
}

/* Hours from start on: 100, 101, ... in the source's unit. */
static void
give(struct site *site, int index, int64_t start_utc_s, int count, int step_s, int64_t issued_utc_s)
{
	struct lt_source *const source = &site->d.signals.sources[index];
	struct lt_points points = {
	    .quantity = lt_adapter_quantity(source->adapter, &source->options),
	    .issued_utc_s = issued_utc_s};

	for (int i = 0; i < count; i++) {
		const int64_t start = start_utc_s + (int64_t)i * step_s;
		const struct lt_point point = {start, start + step_s,
		    (100 + i) * lt_quantity_scale(points.quantity),
		    start < site->now_utc_s ? LT_QUALITY_ESTIMATED : LT_QUALITY_FORECAST};

		assert_int_equal(lt_points_add(&points, &point, NULL), LT_OK);
	}
	lt_signals_take(site->d.ledger, site->d.site.policy, source, &points, site->now_utc_s);
	assert_string_equal(source->last_error, "");
	lt_points_free(&points);
}

static json_t *
ask(struct site *site, const char *uri, int want)
{
	char *text = NULL;
	const int status = lt_api(
	    &site->d, &(struct lt_api_asked){.uid = 1000, .method = "GET", .uri = uri}, &text);

	if (status != want)
		fail_msg("%s: %d, %s", uri, status, text);
	assert_true(strlen(text) < LT_API_REPLY_MAX);
	json_t *const json = json_loads(text, 0, NULL);
	assert_non_null(json);
	free(text);
	return json;
}

static const char *
text_of(const json_t *object, const char *key)
{
	const json_t *const value = json_object_get(object, key);

	return json_is_string(value) ? json_string_value(value) : "null";
}

static double
number_of(const json_t *object, const char *key)
{
	const json_t *const value = json_object_get(object, key);

	if (!json_is_number(value))
		fail_msg("%s is no number", key);
	return json_number_value(value);
}

static bool
is(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* What was not kept must be sent again: validators are of what is here. */
static void
test_lost(void **state)
{
	struct site *const site = site_new(*state, policy_text);
	struct lt_source *const source = &site->d.signals.sources[2];
	const struct lt_point point = {
	    site->hour_utc_s, site->hour_utc_s + LT_HOUR_S, 1e6, LT_QUALITY_MEASURED};
	struct lt_points points = {.quantity = LT_QUANTITY_PRICE, .currency = "ZZZ"};

	assert_int_equal(lt_points_add(&points, &point, NULL), LT_OK);
	strcpy(source->memory->etag, "\"1\"");
	strcpy(source->memory->last_modified, "yesterday");
	lt_signals_take(site->d.ledger, site->d.site.policy, source, &points, site->now_utc_s);
	assert_non_null(strstr(source->last_error, "ZZZ"));
	assert_string_equal(source->memory->etag, "");
	assert_string_equal(source->memory->last_modified, "");
	lt_points_free(&points);
	/* "As before", where there is no before. */
	points = (struct lt_points){.unchanged = true};
	source->last_error[0] = '\0';
	strcpy(source->memory->etag, "\"1\"");
	lt_signals_take(site->d.ledger, site->d.site.policy, source, &points, site->now_utc_s);
	assert_non_null(strstr(source->last_error, "nothing is known"));
	assert_string_equal(source->memory->etag, "");
	site_free(site);
}

/* A lost fetch does not make old data look new; a clock that is ahead does
 * not make it newer than now. */
static void
test_truth(void **state)
{
	struct site *const site = site_new(*state, policy_text);
	struct lt_source *const source = &site->d.signals.sources[1];
	const int64_t issued_utc_s = site->now_utc_s - LT_DAY_S;

	give(site, 1, site->hour_utc_s, 24, LT_HOUR_S, issued_utc_s);
	struct lt_points points = {.quantity = LT_QUANTITY_PRICE, .currency = "ZZZ"};
	const struct lt_point point = {
	    site->hour_utc_s, site->hour_utc_s + LT_HOUR_S, 1e6, LT_QUALITY_MEASURED};
	assert_int_equal(lt_points_add(&points, &point, NULL), LT_OK);
	assert_int_not_equal(lt_signals_take(site->d.ledger, site->d.site.policy, source, &points,
				 site->now_utc_s + LT_HOUR_S),
	    LT_OK);
	lt_points_free(&points);
	assert_int_equal(source->issued_utc_s, issued_utc_s);
	assert_int_equal(source->fetched_utc_s, site->now_utc_s);
	assert_int_equal(source->quantity, LT_QUANTITY_CARBON);
	give(site, 1, site->hour_utc_s, 24, LT_HOUR_S, site->now_utc_s + LT_DAY_S);
	assert_int_equal(source->issued_utc_s, site->now_utc_s);
	/* What begins in an hour says nothing of now. */
	give(site, 2, site->hour_utc_s + LT_HOUR_S, 3, LT_HOUR_S, site->now_utc_s);
	json_t *const answer = ask(site, "/v1/signals?source=price", 200);
	const json_t *const price = json_array_get(json_object_get(answer, "sources"), 0);
	assert_true(json_is_null(json_object_get(price, "value_now")));
	assert_string_equal(text_of(price, "quality"), "none");
	json_decref(answer);
	site_free(site);
}

static void
test_state(void **state)
{
	struct site *const site = site_new(*state, policy_text);
	const int64_t hour = site->hour_utc_s;

	/* london: fresh, 6 hours ahead; britain: fresh; price: never. */
	give(site, 0, hour - 2 * LT_HOUR_S, 8, LT_HOUR_S, site->now_utc_s);
	give(site, 1, hour, 24, LT_HOUR_S, site->now_utc_s);
	json_t *const answer = ask(site, "/v1/signals", 200);
	assert_string_equal(text_of(answer, "currency"), "GBP");
	assert_string_equal(text_of(answer, "carbon_intensity"), "average");
	assert_true(number_of(answer, "stale_after_s") == 3 * LT_HOUR_S);
	assert_true(json_is_null(json_object_get(answer, "next")));
	const json_t *const sources = json_object_get(answer, "sources");
	assert_int_equal(json_array_size(sources), 3);
	const json_t *one = json_array_get(sources, 0);
	assert_string_equal(text_of(one, "options"), "region 13");
	assert_string_equal(text_of(one, "instance_type"), "null");
	assert_string_equal(text_of(one, "quantity"), "carbon");
	assert_true(number_of(one, "value_now") == 102);
	assert_string_equal(text_of(one, "quality"), "estimated");
	assert_false(is(one, "stale"));
	const json_t *const hours = json_object_get(one, "hours");
	assert_int_equal(json_array_size(hours), 24);
	assert_true(number_of(json_array_get(hours, 3), "value") == 105);
	assert_string_equal(text_of(json_array_get(hours, 3), "quality"), "forecast");
	const json_t *const use = json_array_get(json_object_get(one, "used_by"), 0);
	assert_string_equal(text_of(use, "partition"), "a");
	assert_string_equal(text_of(use, "key"), "carbon");
	assert_true(number_of(use, "place") == 1 && is(use, "in_use"));
	/* Never fetched: no value, no hours, and a unit all the same. */
	one = json_array_get(sources, 2);
	assert_string_equal(text_of(one, "options"), "");
	assert_string_equal(text_of(one, "unit"), "micros/node-h");
	assert_true(number_of(one, "scale") == 1e6);
	assert_true(json_is_null(json_object_get(one, "value_now")));
	assert_true(json_is_null(json_object_get(one, "issued")));
	assert_true(is(one, "stale"));
	assert_string_equal(text_of(one, "stale_since"), "null");
	assert_true(json_is_null(json_array_get(json_object_get(one, "hours"), 0)));
	/* The one preemptible partition. */
	const json_t *const partitions = json_object_get(answer, "partitions");
	assert_int_equal(json_array_size(partitions), 1);
	one = json_array_get(partitions, 0);
	assert_string_equal(text_of(one, "name"), "b");
	one = json_object_get(one, "hazard");
	assert_true(number_of(one, "value") == 0.004);
	assert_string_equal(text_of(one, "source"), "null");
	/* What no source says. */
	const json_t *const fixed = json_object_get(answer, "fixed");
	assert_int_equal(json_array_size(fixed), 2);
	one = json_array_get(fixed, 0);
	assert_string_equal(text_of(one, "partition"), "c");
	assert_string_equal(text_of(one, "key"), "carbon");
	assert_true(number_of(one, "value") == 250);
	assert_true(number_of(one, "scale") == 1);
	one = json_array_get(fixed, 1);
	assert_string_equal(text_of(one, "key"), "price_per_node_hour");
	assert_string_equal(text_of(one, "unit"), "micros/node-h");
	assert_true(number_of(one, "value") == 3600000);
	assert_true(number_of(one, "scale") == 1e6);
	const json_t *const rates = json_object_get(answer, "exchange_rates");
	assert_int_equal(json_array_size(rates), 2);
	one = json_array_get(rates, 0);
	assert_string_equal(text_of(one, "currency"), "USD");
	assert_true(number_of(one, "rate") == 0.8);
	assert_string_equal(text_of(one, "from"), "null");
	one = json_array_get(rates, 1);
	assert_string_equal(text_of(one, "from"), "2026-11-01T00:00:00Z");
	json_decref(answer);
	site_free(site);
}

/* What invoices call the machines that a price is of. */
static void
test_instance_type(void **state)
{
	struct site *const site =
	    site_new(*state, "currency: USD\n"
			     "sources:\n"
			     "  vm: {adapter: azure_retail_price, region: westeurope,\n"
			     "       sku: Standard_NC4as_T4_v3}\n"
			     "  list: {adapter: skypilot_catalog, cloud: aws,\n"
			     "         region: eu-west-2, instance_type: p4d.24xlarge}\n"
			     "  cudo: {adapter: cudo_compute, data_center: gb-bournemouth,\n"
			     "         machine_type: epyc-rome-rtx-a5000, vcpus: 4,\n"
			     "         memory_gib: 16}\n"
			     "partitions:\n"
			     "  a: {price_per_node_hour: [vm, list, cudo]}\n");
	static const char *const want[] = {
	    "Standard_NC4as_T4_v3", "p4d.24xlarge", "epyc-rome-rtx-a5000"};
	json_t *const answer = ask(site, "/v1/signals", 200);
	const json_t *const sources = json_object_get(answer, "sources");

	assert_int_equal(json_array_size(sources), 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(text_of(json_array_get(sources, i), "instance_type"), want[i]);
	json_decref(answer);
	site_free(site);
}

static void
test_failover(void **state)
{
	struct site *const site = site_new(*state, policy_text);
	const int64_t hour = site->hour_utc_s;
	const int64_t long_ago = site->now_utc_s - 2 * LT_DAY_S;

	give(site, 0, hour - 60 * LT_HOUR_S, 90, LT_HOUR_S, long_ago);
	give(site, 1, hour, 24, LT_HOUR_S, site->now_utc_s);
	json_t *const answer = ask(site, "/v1/signals", 200);
	const json_t *const sources = json_object_get(answer, "sources");
	const json_t *const first = json_array_get(sources, 0);
	assert_true(is(first, "stale"));
	assert_string_not_equal(text_of(first, "stale_since"), "null");
	assert_false(is(json_array_get(json_object_get(first, "used_by"), 0), "in_use"));
	const json_t *const use =
	    json_array_get(json_object_get(json_array_get(sources, 1), "used_by"), 0);
	assert_true(number_of(use, "place") == 2 && is(use, "in_use"));
	json_decref(answer);
	site_free(site);
}

static void
test_export(void **state)
{
	enum { COUNT = 9001, STEP_S = 300 };
	struct site *const site = site_new(*state, policy_text);
	const int64_t first = site->hour_utc_s - (int64_t)COUNT * STEP_S;
	char uri[256] = "/v1/signals/export?source=price", next[64] = "";
	int count = 0, pages = 0;

	give(site, 2, first, COUNT, STEP_S, site->now_utc_s);
	do {
		json_t *const page = ask(site, uri, 200);
		size_t i;
		json_t *point;

		assert_string_equal(text_of(page, "currency"), "GBP");
		json_array_foreach(json_object_get(page, "points"), i, point) {
			char want[40];

			lt_utc_text(want, sizeof(want), first + (int64_t)count * STEP_S);
			assert_string_equal(text_of(point, "start"), want);
			assert_true(number_of(point, "value") == (100 + count) * 1e6);
			count++;
		}
		snprintf(next, sizeof(next), "%s", text_of(page, "next"));
		snprintf(uri, sizeof(uri), "/v1/signals/export?source=price&after=%s", next);
		json_decref(page);
		pages++;
	} while (strcmp(next, "null") != 0 && pages < 10);
	assert_int_equal(count, COUNT);
	assert_int_equal(pages, 3);
	/* A day of it. */
	char day[16];
	const time_t at = (time_t)(site->hour_utc_s - 5 * LT_DAY_S);
	strftime(day, sizeof(day), "%Y-%m-%d", gmtime(&at));
	const time_t after = at + LT_DAY_S;
	char to[16];
	strftime(to, sizeof(to), "%Y-%m-%d", gmtime(&after));
	snprintf(uri, sizeof(uri), "/v1/signals/export?source=price&from=%s&to=%s", day, to);
	json_t *const page = ask(site, uri, 200);
	const json_t *const points = json_object_get(page, "points");
	assert_int_equal(json_array_size(points), LT_DAY_S / STEP_S);
	assert_memory_equal(text_of(json_array_get(points, 0), "start"), day, 10);
	json_decref(page);
	site_free(site);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *uri;
		int status;
	} cases[] = {
	    {"an unknown source", "/v1/signals?source=x", 404},
	    {"no number", "/v1/signals?offset=-1", 400},
	    {"past the last", "/v1/signals?offset=3", 200},
	    {"no source", "/v1/signals/export", 400},
	    {"an unknown one", "/v1/signals/export?source=x", 404},
	    {"a day that is none", "/v1/signals/export?source=price&from=2026-02-30", 400},
	    {"backwards", "/v1/signals/export?source=price&from=2026-11-22&to=2026-11-21", 400},
	    {"no day at all", "/v1/signals/export?source=price&to=now", 400},
	    {"years ago", "/v1/signals/export?source=price&from=1971-01-01", 200},
	    {"errors of one", "/v1/signals/errors?source=price", 200},
	    {"errors of none", "/v1/signals/errors?source=x", 404},
	};
	struct site *const site = site_new(*state, policy_text);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		json_decref(ask(site, cases[i].uri, cases[i].status));
	site_free(site);
}

static void
test_errors(void **state)
{
	struct site *const site = site_new(*state, policy_text);
	json_t *const answer = ask(site, "/v1/signals/errors", 200);
	const json_t *const sources = json_object_get(answer, "sources");

	assert_int_equal(json_array_size(sources), 3);
	const json_t *const models = json_object_get(json_array_get(sources, 0), "models");
	assert_int_equal(json_array_size(models), 3);
	const json_t *const model = json_array_get(models, 0);
	assert_string_equal(text_of(model, "model"), "provider");
	const json_t *const bucket = json_array_get(json_object_get(model, "buckets"), 0);
	assert_true(number_of(bucket, "count") == 0);
	assert_true(json_is_null(json_object_get(bucket, "mae")));
	json_decref(answer);
	site_free(site);
}

/* All that a policy may have: each page is still below the limit. */
static void
test_pages(void **state)
{
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	fprintf(out, "sources:\n");
	for (int i = 0; i < LT_SOURCES_MAX; i++)
		fprintf(out, "  s%d: {adapter: uk_carbon_intensity}\n", i);
	fprintf(out, "partitions:\n");
	for (int i = 0; i < 256; i++)
		fprintf(out,
		    "  a-partition-with-a-name-%d: {carbon: [s0, s1, s2, "
		    "s3]}\n",
		    i);
	fclose(out);
	struct site *const site = site_new(*state, text);
	free(text);
	for (int i = 0; i < LT_SOURCES_MAX; i += 2)
		give(site, i, site->hour_utc_s, 24, LT_HOUR_S, site->now_utc_s);
	int count = 0;
	for (int64_t next = 0; next >= 0;) {
		char uri[64];

		snprintf(uri, sizeof(uri), "/v1/signals?offset=%lld", (long long)next);
		json_t *const page = ask(site, uri, 200);
		const json_t *const at = json_object_get(page, "next");
		const json_t *const list = json_object_get(page, "sources");
		for (size_t i = 0; i < json_array_size(list); i++) {
			char want[16];

			snprintf(want, sizeof(want), "s%d", count++);
			assert_string_equal(text_of(json_array_get(list, i), "name"), want);
		}
		next = json_is_integer(at) ? json_integer_value(at) : -1;
		json_decref(page);
	}
	assert_int_equal(count, LT_SOURCES_MAX);
	json_decref(ask(site, "/v1/signals/errors", 200));
	site_free(site);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_lost, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_truth, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_state, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_instance_type, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_failover, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_export, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_pages, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
