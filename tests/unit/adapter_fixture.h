/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of sources have in common: one adapter, a server for it if
 * it is on the web, tables of options and of answers. Include after cmocka
 * and after the group's pages; the test's main() names adapter and pages.
 */
#ifndef LT_ADAPTER_FIXTURE_H
#define LT_ADAPTER_FIXTURE_H

#include <math.h>

#include "http.h"
#include "source_fixture.h"
#include "tools/source_server.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct lt_adapter *adapter;
static struct server server;

struct option_case {
	const char *why;
	struct pair pairs[12];
	int line;	  /* of the error; options_of() has them */
	const char *says; /* NULL = good */
};

static inline void
check_options(const struct option_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct lt_source_options options = options_of(cases[i].pairs);
		struct lt_error err = {0};
		const int code = lt_adapter_check(adapter, &options, &err);

		if ((code == LT_OK) != (cases[i].says == NULL) || err.line != cases[i].line)
			fail_msg("%s: %d, line %d: %s", cases[i].why, code, err.line, err.text);
		if (code != LT_OK)
			assert_says(cases[i].why, &err, cases[i].says);
	}
}

struct parse_case {
	const char *why, *bytes;
	const char *says; /* NULL = good, and then: */
	size_t count;
	double value;		       /* of the first, within 1e-9 */
	enum lt_quality quality;       /* of the first; NONE: any */
	const char *note;	       /* NULL = none */
	int64_t start_utc_s, length_s; /* of the first; 0: any */
};

/* Parses a text. True: it was taken, as says NULL wants; else it was refused in these words. */
static inline bool
parses(const struct lt_source_options *options, int64_t now_utc_s, const char *why,
    const char *bytes, const char *says, struct lt_points *points)
{
	struct lt_error err = {0};
	const int code = lt_adapter_parse(
	    adapter, options, &(struct lt_answer){bytes, strlen(bytes), now_utc_s}, points, &err);

	if ((code == LT_OK) != (says == NULL))
		fail_msg("%s: %d %s", why, code, err.text);
	if (code != LT_OK)
		assert_says(why, &err, says);
	return code == LT_OK;
}

static inline void
check_answer(
    const struct lt_source_options *options, int64_t now_utc_s, const struct parse_case *wanted)
{
	const char *const note = wanted->note == NULL ? "" : wanted->note;
	struct lt_points points = {0};

	if (parses(options, now_utc_s, wanted->why, wanted->bytes, wanted->says, &points) &&
	    (points.count != wanted->count ||
		!(fabs(points.points[0].value - wanted->value) < 1e-9) ||
		(wanted->quality != LT_QUALITY_NONE &&
		    points.points[0].quality != wanted->quality) ||
		(wanted->start_utc_s != 0 && points.points[0].start_utc_s != wanted->start_utc_s) ||
		(wanted->length_s != 0 &&
		    points.points[0].end_utc_s - points.points[0].start_utc_s !=
			wanted->length_s) ||
		points.quantity != lt_adapter_quantity(adapter, options) ||
		strcmp(points.note, note) != 0))
		fail_msg("%s: %zu points, %.9f, %s, \"%s\"", wanted->why, points.count,
		    points.points[0].value, lt_quality_name(points.points[0].quality), points.note);
	lt_points_free(&points);
}

static inline void
check_answers(const struct lt_source_options *options, int64_t now_utc_s,
    const struct parse_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_answer(options, now_utc_s, &cases[i]);
}

/* The bytes of a file of tests/fixtures; it must be there. */
static inline size_t
read_fixture(const char *path, char *bytes, size_t size)
{
	FILE *const file = fopen(path, "rb");

	if (file == NULL)
		fail_msg("%s: can't open", path);
	const size_t length = fread(bytes, 1, size, file);
	fclose(file);
	return length;
}

/* "http://127.0.0.1:PORT" and a path. */
static inline const char *
server_url(char out[128], const char *path)
{
	snprintf(out, 128, "http://127.0.0.1:%d%s", server.port, path);
	return out;
}

/* For a group's setup; pages NULL = those of source_server.h. */
static inline int
adapter_start(const char *name, bool (*pages)(const struct exchange *exchange))
{
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	server_own = pages;
	server = server_start(0, NULL);
	adapter = lt_adapter_find(name);
	return adapter == NULL || lt_http_init(NULL) != LT_OK;
}

static inline int
adapter_end(void **state)
{
	(void)state;
	lt_http_cleanup();
	server_stop(&server);
	return 0;
}

#endif
