/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the tests of price lists: tables of answers and of the price that is made of them, and a
 * server that plays the lists.
 */
#ifndef LT_PRICE_LIST_FIXTURE_H
#define LT_PRICE_LIST_FIXTURE_H

#include <stdlib.h>

#include "adapter_fixture.h"
#include "tools/source_server_price_list.h"

#define NOW 1795237800 /* 2026-11-21T05:10Z */

struct price_case {
	const char *why;
	struct pair pairs[9];
	const char *bytes; /* or of the file */
	const char *file;
	const char *says; /* NULL = good */
	double micros;
	const char *note; /* NULL = none */
};

static inline void
check_price(const struct price_case *one)
{
	static char text[65536];
	const char *bytes = one->bytes;
	const struct lt_source_options options = options_of(one->pairs);
	struct lt_points points = {0};

	if (bytes == NULL) {
		text[read_fixture(one->file, text, sizeof(text) - 1)] = '\0';
		bytes = text;
	}
	if (parses(&options, NOW, one->why, bytes, one->says, &points) &&
	    (points.count != 1 || points.points[0].value != one->micros ||
		points.points[0].start_utc_s != NOW - 600 ||
		points.points[0].end_utc_s != NOW - 600 + 2 * adapter->interval_s ||
		points.quantity != LT_QUANTITY_PRICE ||
		strcmp(points.currency, adapter->currency(&options)) != 0 ||
		strcmp(points.note, one->note == NULL ? "" : one->note) != 0))
		fail_msg("%s: %zu, %f %s, \"%s\"", one->why, points.count,
		    points.count == 0 ? 0 : points.points[0].value, points.currency, points.note);
	lt_points_free(&points);
}

static inline void
check_prices(const struct price_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_price(&cases[i]);
}

struct fetch_case {
	const char *path; /* of the server */
	struct pair pairs[9];
	const char *says; /* NULL = good */
	int code;
	int64_t retry_after_s;
	double micros;
};

static inline void
check_fetch(const struct fetch_case *one)
{
	char url[128];
	struct lt_source_options options = options_of(one->pairs);
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};
	struct lt_error err = {0};

	server_url(url, one->path);
	options.items[options.count].key = "url";
	options.items[options.count++].value = url;
	options.memory = &memory;
	const int code = lt_adapter_fetch(
	    adapter, &options, &(struct lt_window){NOW - 86400, NOW + 86400, NOW}, &points, &err);
	if (code != one->code || points.retry_after_s != one->retry_after_s)
		fail_msg("%s: %d, %d s, %s", one->path, code, (int)points.retry_after_s, err.text);
	if (code != LT_OK)
		assert_says(one->path, &err, one->says);
	else if (points.count != 1 || points.points[0].value != one->micros)
		fail_msg("%s: %zu points, %f", one->path, points.count,
		    points.count == 0 ? 0 : points.points[0].value);
	assert_true(memory.trace_count > 0);
	for (int i = 0; i < memory.trace_count && i < LT_TRACE_MAX; i++)
		if (strstr(memory.trace[i].request, PRICE_LIST_KEY) != NULL)
			fail_msg("a secret is shown: %s", memory.trace[i].request);
	if (strstr(err.text, PRICE_LIST_KEY) != NULL)
		fail_msg("a secret is told: %s", err.text);
	assert_int_equal(err.line, 0);
	lt_points_free(&points);
}

static inline void
check_fetches(const struct fetch_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_fetch(&cases[i]);
}

static inline int
start_named(const char *name)
{
	setenv("LT_TEST_KEY", PRICE_LIST_KEY, 1);
	setenv("LT_TEST_WRONG_KEY", "another", 1);
	unsetenv("LT_TEST_NO_KEY");
	return adapter_start(name, serve_price_list);
}

#endif
