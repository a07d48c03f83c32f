/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fetch of which a part may fail: the pause that a source asks for before more history stops
 * history alone. And what it says otherwise than before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "adapter.h"
#include "fetch_parts.h"
#include "forecast_learn.h"

enum { NOW = 1795219200, HOUR = 3600, DAY = 86400, PAUSE_S = 5400 };

static struct lt_window asked; /* of the last fetch */
static bool history_fails, forecast_fails;
static int64_t pause_s = PAUSE_S;

static void
add(struct lt_points *points, int64_t start_utc_s, double value)
{
	const struct lt_point point = {.start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + HOUR,
	    .value = value,
	    .quality = LT_QUALITY_MEASURED};

	points->quantity = LT_QUANTITY_CARBON;
	assert_int_equal(lt_points_add(points, &point, NULL), LT_OK);
}

static int
parts_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_fetch_parts parts = {0};

	asked = *window;
	parts.ahead.asked = window->to_utc_s > window->now_utc_s;
	if (parts.ahead.asked && forecast_fails) {
		parts.ahead.points.retry_after_s = pause_s;
		parts.ahead.code = lt_fail(&parts.ahead.err, LT_ENET, "no such plan");
	} else if (parts.ahead.asked) {
		add(&parts.ahead.points, window->now_utc_s, 200);
	}
	if (window->from_utc_s < window->now_utc_s) {
		parts.past.asked = true;
		if (history_fails) {
			parts.past.points.retry_after_s = pause_s;
			parts.past.code = lt_fail(&parts.past.err, LT_ENET, "too many requests");
		} else {
			add(&parts.past.points, window->from_utc_s, 210);
		}
	}
	const int code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

static const struct lt_adapter source = {.name = "parts", .fetch = parts_fetch};

static void
test_pause_of_history(void **state)
{
	static const struct {
		int64_t after_s;
		bool fails, waits, lost;
		size_t count;
	} turns[] = {
	    {0, true, false, true, 1},
	    {HOUR, false, true, true, 1}, /* forecasts alone */
	    {PAUSE_S - 1, false, true, true, 1},
	    {PAUSE_S, false, false, false, 2},
	    {PAUSE_S + HOUR, false, false, false, 2},
	};
	struct lt_source_memory memory = {0};
	const struct lt_source_options options = {.name = "grid", .memory = &memory};

	(void)state;
	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		const int64_t now_utc_s = NOW + turns[i].after_s;
		struct lt_points points = {0};

		history_fails = turns[i].fails;
		assert_int_equal(
		    lt_adapter_fetch(&source, &options,
			&(struct lt_window){now_utc_s - DAY, now_utc_s + DAY, now_utc_s}, &points,
			NULL),
		    LT_OK);
		assert_int_equal(asked.from_utc_s == now_utc_s, turns[i].waits);
		assert_int_equal(points.past_lost, turns[i].lost);
		assert_int_equal(points.count, turns[i].count);
		assert_int_equal(points.retry_after_s, 0);
		assert_string_equal(
		    points.note, turns[i].fails	  ? "without history: too many requests"
				 : turns[i].waits ? "history waits, as the source asked"
						  : "");
		lt_points_free(&points);
	}
}

/* A source that asks for a month waits a day, and a pause of a clock that was set back is none. */
static void
test_pause_too_long(void **state)
{
	static const int64_t pauses[] = {30 * DAY, INT64_MAX};
	struct lt_source_memory memory = {0};
	const struct lt_source_options options = {.name = "grid", .memory = &memory};

	(void)state;
	for (int i = 0; i < 2; i++)
		for (int64_t after_s = 0; after_s <= DAY; after_s += DAY / 2) {
			struct lt_points points = {0};

			pause_s = pauses[i];
			history_fails = after_s == 0;
			assert_int_equal(lt_adapter_fetch(&source, &options,
					     &(struct lt_window){NOW + after_s - DAY,
						 NOW + after_s + DAY, NOW + after_s},
					     &points, NULL),
			    LT_OK);
			assert_int_equal(points.count, after_s == DAY ? 2 : 1);
			lt_points_free(&points);
		}
	memory.past_pause_utc_s = NOW + HOUR;
	struct lt_points points = {0};
	const int64_t before = NOW - 300 * (int64_t)DAY;
	assert_int_equal(
	    lt_adapter_fetch(&source, &options,
		&(struct lt_window){before - DAY, before + DAY, before}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 2);
	lt_points_free(&points);
	pause_s = PAUSE_S;
}

/* Where nothing is remembered, all waits. */
static void
test_pause_without_memory(void **state)
{
	const struct lt_source_options options = {.name = "grid"};
	struct lt_points points = {0};

	(void)state;
	history_fails = true;
	assert_int_equal(lt_adapter_fetch(&source, &options,
			     &(struct lt_window){NOW - DAY, NOW + DAY, NOW}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.retry_after_s, PAUSE_S);
	lt_points_free(&points);
	history_fails = false;
}

/* A source whose forecast fails by itself gives what was measured; its pause stops the forecast
 * alone. */
static void
test_without_forecast(void **state)
{
	static const struct {
		const char *why;
		int64_t after_s, pause_s;
		bool forecast, history; /* fails */
		int code;
		bool asks_ahead;
		size_t count;
		int64_t retry_after_s;
		const char *says; /* error, or note */
	} turns[] = {
	    {"no forecast", 0, 0, true, false, LT_OK, true, 1, 0, "without forecast: no such plan"},
	    {"a pause of the forecast", HOUR, PAUSE_S, true, false, LT_OK, true, 1, 0,
		"without forecast: no such plan"},
	    {"history in the pause", 2 * HOUR, 0, false, false, LT_OK, false, 1, 0,
		"the forecast waits, as the source asked"},
	    {"a failure in the pause", 2 * HOUR, 60, false, true, LT_ENET, false, 0, 60,
		"too many requests"},
	    {"both after the pause", HOUR + PAUSE_S, 0, false, false, LT_OK, true, 2, 0, ""},
	    {"neither comes", HOUR + PAUSE_S, PAUSE_S, true, true, LT_ENET, true, 0, PAUSE_S,
		"no such plan"},
	    {"that pause is the caller's", 2 * HOUR + PAUSE_S, 0, false, false, LT_OK, true, 2, 0,
		""},
	};
	struct lt_source_memory memory = {0};
	const struct lt_source_options options = {.name = "grid", .memory = &memory};

	(void)state;
	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		const int64_t now_utc_s = NOW + turns[i].after_s;
		struct lt_points points = {0};
		struct lt_error err = {0};

		pause_s = turns[i].pause_s;
		forecast_fails = turns[i].forecast;
		history_fails = turns[i].history;
		const int code = lt_adapter_fetch(&source, &options,
		    &(struct lt_window){now_utc_s - DAY, now_utc_s + DAY, now_utc_s}, &points,
		    &err);
		if (code != turns[i].code || points.count != turns[i].count ||
		    points.retry_after_s != turns[i].retry_after_s ||
		    (asked.to_utc_s > now_utc_s) != turns[i].asks_ahead || points.past_lost ||
		    strcmp(code == LT_OK ? points.note : err.text, turns[i].says) != 0)
			fail_msg("%s: %d, %zu points, %d s: %s%s", turns[i].why, code, points.count,
			    (int)points.retry_after_s, err.text, points.note);
		if (code == LT_OK)
			assert_int_equal(points.points[0].start_utc_s, now_utc_s - DAY);
		lt_points_free(&points);
	}
	forecast_fails = history_fails = false;
	pause_s = PAUSE_S;
}

/* Without a memory the forecast's pause stops all. */
static void
test_forecast_pause_without_memory(void **state)
{
	const struct lt_source_options options = {.name = "grid"};
	struct lt_points points = {0};

	(void)state;
	forecast_fails = true;
	assert_int_equal(lt_adapter_fetch(&source, &options,
			     &(struct lt_window){NOW - DAY, NOW + DAY, NOW}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 1);
	assert_int_equal(points.retry_after_s, PAUSE_S);
	lt_points_free(&points);
	forecast_fails = false;
}

static void
test_revisions(void **state)
{
	struct lt_rate_step known[4] = {0};
	struct lt_points points = {0};
	double most;

	(void)state;
	for (int i = 0; i < 4; i++)
		known[i] = (struct lt_rate_step){.start_utc_s = NOW + i * HOUR,
		    .end_utc_s = NOW + (i + 1) * HOUR,
		    .value = 100 + i,
		    .quality = i == 2 ? LT_QUALITY_ESTIMATED : LT_QUALITY_MEASURED};
	add(&points, NOW - HOUR, 1); /* a hole before, filled */
	add(&points, NOW, 100);
	add(&points, NOW + HOUR, 94);
	add(&points, NOW + 2 * HOUR, 1); /* an estimate, now measured */
	assert_int_equal(lt_revisions(known, 4, &points, &most), 1);
	assert_true(most == 7);
	add(&points, NOW + 3 * HOUR, 203.5);
	add(&points, NOW + 4 * HOUR, 9);
	assert_int_equal(lt_revisions(known, 4, &points, &most), 2);
	assert_true(most == 100.5);
	assert_int_equal(lt_revisions(known, 0, &points, &most), 0);
	assert_true(most == 0);
	lt_points_free(&points);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pause_of_history),
	    cmocka_unit_test(test_pause_too_long),
	    cmocka_unit_test(test_pause_without_memory),
	    cmocka_unit_test(test_without_forecast),
	    cmocka_unit_test(test_forecast_pause_without_memory),
	    cmocka_unit_test(test_revisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
