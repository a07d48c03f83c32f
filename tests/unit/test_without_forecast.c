/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources of which the forecast alone fails: what was measured comes as it does where nobody asks
 * for a forecast, and the note says what is missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_europe.h"
#include "tools/source_server_marginal.h"

enum { DAY = 86400, RETRY_S = 7 };

static const struct {
	const char *path, *says;
	int64_t retry_after_s;
} faults[] = {
    {"/status/429", "HTTP status 429", RETRY_S},
    {"/truncated", "line 1, column", 0},
    {"/status/403", "HTTP status 403", 0},
    {"/status/404", "HTTP status 404", 0},
    {"/status/500", "HTTP status 500", 0},
    {"/reset", ": ", 0},
    {"/html", "got text/html", 0},
    {"/blackhole", ": ", 0},
};

/* mark: in the URLs that fail; NULL: those of Energy-Charts that ask for what is to come. It wants
 * 1.5 s between two requests: fewer faults, and a host for each of the two. */
static const struct {
	const char *adapter, *base, *mark, *host;
	size_t faults;
	struct pair pairs[8];
} sources[] = {
    {"uk_carbon_intensity", "/uk", "/fw48h", "127.0.0.1", COUNT(faults), {{0}}},
    {"uk_carbon_intensity", "/uk", "/fw48h", "127.0.0.1", COUNT(faults), {{"region", "13"}}},
    {"energy_charts", "/europe", NULL, "127.0.0.1", 2, {{"country", "fr"}}},
    {"energy_charts_price", "/europe", NULL, "localhost", 2, {{"bidding_zone", "FR"}}},
    {"energi_data_service", "/europe/eds", "CO2EmisProg", "127.0.0.1", COUNT(faults),
	{{"area", "DK1"}}},
    {"electricity_maps", "/europe/em/v3", "/forecast?", "127.0.0.1", COUNT(faults),
	{{"zone", "DE"}, {"key_env", "LT_TEST_KEY"}}},
    {"electricity_maps", "/europe/em/v3", "/latest?", "127.0.0.1", COUNT(faults),
	{{"zone", "DE"}, {"key_env", "LT_TEST_KEY"}, {"forecast", "no"}}},
    {"watttime", "/marginal/watttime", "/v3/forecast?", "127.0.0.1", COUNT(faults),
	{{"region", "PSCO"}, {"username", "lowtide"}, {"password_env", "LT_TEST_PASSWORD"}}},
    {"carbon_aware_sdk", "/marginal/sdk", "/forecasts/current?", "127.0.0.1", COUNT(faults),
	{{"location", "eastus"}}},
};

/* /SOURCE/FAULT/ and the source's own path. */
static bool
serve_all_but_forecasts(const struct exchange *exchange)
{
	struct exchange whole = *exchange;
	size_t source, fault;
	int length = 0;
	int64_t end_utc_s = 0;
	char end[64];

	if (sscanf(exchange->path, "/%zu/%zu%n", &source, &fault, &length) != 2 ||
	    source >= COUNT(sources) || fault >= COUNT(faults))
		return false;
	snprintf(whole.path, sizeof(whole.path), "%s", exchange->path + length);
	const char *const mark = sources[source].mark;
	const bool is_ahead = mark != NULL ? strstr(whole.path, mark) != NULL
					   : lt_utc_parse(europe_query(&whole, "end", end),
						 &end_utc_s, NULL) != LT_OK ||
						 end_utc_s > time(NULL) + 3600;
	if (is_ahead)
		strcpy(whole.path, faults[fault].path);
	else if (serve_europe(&whole) || serve_marginal(&whole))
		return true;
	server_own = NULL; /* of this process, which answers once */
	server_route(&whole);
	return true;
}

static int
fetch(size_t source, size_t fault, const struct lt_window *window, struct lt_source_memory *memory,
    struct lt_points *points, struct lt_error *err)
{
	char url[128];
	struct lt_source_options options = options_of(sources[source].pairs);

	snprintf(url, sizeof(url), "http://%s:%d/%zu/%zu%s", sources[source].host, server.port,
	    source, fault, sources[source].base);
	options.items[options.count].key = "url";
	options.items[options.count++].value = url;
	options.timeout_s = 1;
	options.memory = memory;
	adapter = lt_adapter_find(sources[source].adapter);
	assert_non_null(adapter);
	return lt_adapter_fetch(adapter, &options, window, points, err);
}

static void
points_are_equal(const char *why, const struct lt_points *points, const struct lt_points *wanted)
{
	if (points->count != wanted->count)
		fail_msg("%s: %zu points, want %zu", why, points->count, wanted->count);
	for (size_t i = 0; i < points->count; i++)
		if (points->points[i].start_utc_s != wanted->points[i].start_utc_s ||
		    points->points[i].value != wanted->points[i].value)
			fail_msg("%s: another point %zu", why, i);
	assert_int_equal(points->quantity, wanted->quantity);
	assert_string_equal(points->currency, wanted->currency);
}

static void
loses_the_forecast_alone(size_t source, size_t fault, const struct lt_points *past)
{
	const int64_t now_utc_s = server_time(); /* where it stopped */
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};
	struct lt_error err = {0};
	char why[128];

	snprintf(why, sizeof(why), "%s, %s", sources[source].adapter, faults[fault].path);
	if (fetch(source, fault,
		&(struct lt_window){now_utc_s - 2 * DAY, now_utc_s + 2 * DAY, now_utc_s}, &memory,
		&points, &err) != LT_OK)
		fail_msg("%s: %s", why, err.text);
	points_are_equal(why, &points, past);
	if (strstr(points.note, "without forecast: ") == NULL ||
	    strstr(points.note, faults[fault].says) == NULL)
		fail_msg("%s: \"%s\"", why, points.note);
	assert_false(points.past_lost);
	assert_int_equal(points.retry_after_s, 0);
	/* As it asks, or a minute, as Energi Data Service wants it. */
	if (faults[fault].retry_after_s > 0)
		assert_between(
		    memory.ahead_pause_utc_s - now_utc_s, faults[fault].retry_after_s, 60);
	else
		assert_int_equal(memory.ahead_pause_utc_s, 0);
	lt_points_free(&points);
}

static void
test_without_forecast(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sources); i++) {
		const int64_t now_utc_s = server_stop_clock();
		struct lt_source_memory memory = {0};
		struct lt_points past = {0};
		struct lt_error err = {0};

		if (fetch(i, 0, &(struct lt_window){now_utc_s - 2 * DAY, now_utc_s, now_utc_s},
			&memory, &past, &err) != LT_OK)
			fail_msg("%s: %s", sources[i].adapter, err.text);
		assert_true(past.count >= 47);
		for (size_t f = 0; f < sources[i].faults; f++)
			loses_the_forecast_alone(i, f, &past);
		lt_points_free(&past);
	}
}

static int
start(void **state)
{
	(void)state;
	setenv("LT_TEST_KEY", "europe-key", 1);
	setenv("LT_TEST_PASSWORD", "example password", 1);
	return adapter_start("uk_carbon_intensity", serve_all_but_forecasts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_without_forecast),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
