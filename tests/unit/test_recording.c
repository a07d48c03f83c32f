/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file and replay: options, CSV and JSON to points, files that are no files, recordings again and
 * again by whole weeks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "source.h"
#include "source_fixture.h"
#include "units.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define T0 1763690400 /* 2025-11-21T02:00Z */

static const struct {
	const char *why;
	struct pair pairs[6];
	int line;
	const char *says;
} option_cases[] = {
    {"no path", {{"quantity", "carbon"}}, 0, "needs \"path\""},
    {"no quantity", {{"path", "/a"}}, 0, "needs \"quantity\""},
    {"a relative path", {{"path", "a.csv"}, {"quantity", "carbon"}}, 10,
	"got \"a.csv\", want an absolute path"},
    {"an empty path", {{"path", ""}, {"quantity", "carbon"}}, 10,
	"got \"\", want an absolute path"},
    {"unknown quantity", {{"path", "/a"}, {"quantity", "co2"}}, 11,
	"got \"co2\", want carbon, marginal_carbon, price, tariff"},
    {"a scale of 0", {{"path", "/a"}, {"quantity", "price"}, {"scale", "0"}}, 12,
	"scale: got \"0\", want a number above 0"},
    {"a scale of words", {{"path", "/a"}, {"quantity", "price"}, {"scale", "8x"}}, 12,
	"scale: got \"8x\""},
    {"skip above its limit", {{"path", "/a"}, {"quantity", "price"}, {"skip", "1001"}}, 12,
	"skip: got \"1001\", want 0 to 1000"},
    {"a zone that we do not know", {{"path", "/a"}, {"quantity", "price"}, {"zone", "CET"}}, 12,
	"zone: got \"CET\", want utc"},
    {"a zero that is neither", {{"path", "/a"}, {"quantity", "carbon"}, {"zero", "0"}}, 12,
	"zero: got \"0\", want missing or data"},
    {"all options",
	{{"path", "/a"}, {"quantity", "tariff"}, {"scale", "8"}, {"skip", "1000"}, {"zone", "utc"}},
	0, NULL},
};

static void
test_options(void **state)
{
	static const char *const names[] = {"file", "replay"};

	(void)state;
	for (size_t i = 0; i < COUNT(option_cases) * 2; i++) {
		const struct lt_source_options options = options_of(option_cases[i / 2].pairs);
		const char *const why = option_cases[i / 2].why;
		struct lt_error err = {0};
		const int code = lt_adapter_check(lt_adapter_find(names[i % 2]), &options, &err);

		if ((code == LT_OK) != (option_cases[i / 2].says == NULL) ||
		    err.line != option_cases[i / 2].line)
			fail_msg("%s: %d, line %d: %s", why, code, err.line, err.text);
		if (code != LT_OK)
			assert_says(why, &err, option_cases[i / 2].says);
	}
}

/* What a file's bytes come to, times as seconds after T0. */
static const struct {
	const char *why;
	const char *bytes;
	const char *says; /* NULL = good */
	int line, column;
	int count;
	int64_t out[3][3]; /* start, end, value */
	struct pair pairs[4];
} parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want CSV or JSON"},
    {.why = "a BOM alone", .bytes = "\xEF\xBB\xBF \n", .says = "empty, want CSV or JSON"},
    {.why = "a header alone", .bytes = "time,value\n", .says = "no row with a value"},
    {.why = "no such column",
	.bytes = "when,value\n1,2\n",
	.says = "no column \"time\", the header has: when, value",
	.line = 1,
	.column = 1},
    {.why = "a column twice",
	.bytes = "time,value,value\n1,2,3\n",
	.says = "two columns \"value\"",
	.line = 1,
	.column = 12},
    {.why = "one row, no end",
	.bytes = "time,value\n1763690400,5\n",
	.says = "one row without an end"},
    {.why = "a short row",
	.bytes = "time,value\n1763690400\n",
	.says = "a row of 1 cells",
	.line = 2,
	.column = 1},
    {.why = "words for a number",
	.bytes = "time,value\n1763690400,high\n",
	.says = "value: got \"high\", want a number",
	.line = 2,
	.column = 1},
    {.why = "a comma in a number",
	.bytes = "time;value\n1763690400;1,5\n",
	.says = "got \"1,5\", want a number",
	.line = 2,
	.column = 1},
    {.why = "0 stands for missing",
	.bytes = "time,value\n1763690400,0\n",
	.says = "missing value",
	.line = 2,
	.column = 1},
    {.why = "0 where the file is known to have real ones",
	.bytes = "time,value\n1763690400,0\n1763694000,\n1763697600,0.0\n"
		 "1763701200,4\n",
	.count = 3,
	.out = {{0, 3600, 0}, {7200, 10800, 0}, {10800, 14400, 4}},
	.pairs = {{"zero", "data"}}},
    {.why = "a time without zone",
	.bytes = "time,value\n2025-11-21T02:00,5\n",
	.says = "without a zone, say \"zone: utc\"",
	.line = 2,
	.column = 1},
    {.why = "a date is no number of seconds",
	.bytes = "time,value\n20251121,5\n",
	.says = "want a time from 1990 to 2099",
	.line = 2,
	.column = 1},
    {.why = "the end is named when the end is wrong",
	.bytes = "time,value,to\n1763690400,5,later\n",
	.says = "to: got \"later\"",
	.line = 2,
	.column = 1,
	.pairs = {{"end", "to"}}},
    {.why = "an end at the start",
	.bytes = "time,value,to\n1763690400,5,1763690400\n",
	.says = "not after its start",
	.line = 2,
	.column = 1,
	.pairs = {{"end", "to"}}},
    {.why = "an open quote must not hide the rest",
	.bytes = "time,value,x\n1763690400,5,\"a\n1763694000,6,b\n",
	.says = "a quote that is never closed",
	.line = 2,
	.column = 14},
    {.why = "an open quote in the header",
	.bytes = "time,\"value\n1,2\n",
	.says = "a quote that is never closed",
	.line = 1,
	.column = 6},
    {.why = "controls of a cell are not shown",
	.bytes = "time,value\n\"17\n\x1b[2J\xff\",5\n",
	.says = "got \"17??[2J?\"",
	.line = 2,
	.column = 1},
    {.why = "fewer lines than skipped",
	.bytes = "a\nb\n",
	.says = "want more than the 3 to skip",
	.pairs = {{"skip", "3"}}},
    {.why = "until the next row, the last as long as the one before",
	.bytes = "time,value\n1763690400,5\n1763694000,6\n",
	.count = 2,
	.out = {{0, 3600, 5}, {3600, 7200, 6}}},
    {.why = "a gap ends the row before it",
	.bytes = "time,value\n1763690400,5\n1763694000,\n"
		 "1763697600,7\n",
	.count = 2,
	.out = {{0, 3600, 5}, {7200, 10800, 7}}},
    {.why = "a gap at the end",
	.bytes = "time,value\n1763690400,5\n1763694000,\n",
	.count = 1,
	.out = {{0, 3600, 5}}},
    {.why = "gaps only", .bytes = "time,value\n1763690400,\n", .says = "no row with a value"},
    {.why = "in any order, with an end",
	.bytes = "to,time,value\n1763697600,1763694000,6\n"
		 "1763692200,1763690400,5\n",
	.count = 2,
	.out = {{0, 1800, 5}, {3600, 7200, 6}},
	.pairs = {{"end", "to"}}},
    {.why = "BOM, CRLF, semicolons, quotes, blanks, no last newline",
	.bytes = "\xEF\xBB\xBF\"time\";\"a;\"\"b\"; value\r\n\r\n"
		 "2025-11-21T02:00Z;\"x;\ny\"; 5 \r\n"
		 "2025-11-21T04:00:00+01:00;;6",
	.count = 2,
	.out = {{0, 3600, 5}, {3600, 7200, 6}}},
    {.why = "milliseconds, tabs, lines before the header",
	.bytes = "# made\n# by us\ntime\tvalue\n1763690400000\t5\n"
		 "1763694000000\t6\n",
	.count = 2,
	.out = {{0, 3600, 5}, {3600, 7200, 6}},
	.pairs = {{"skip", "2"}}},
    {.why = "utc by option, scale, other names",
	.bytes = "t,v\n2025-11-21 02:00,2\n2025-11-21 03:00:00,2.5\n",
	.count = 2,
	.out = {{0, 3600, 4}, {3600, 7200, 5}},
	.pairs = {{"zone", "utc"}, {"scale", "2"}, {"time", "t"}, {"value", "v"}}},
    {.why = "JSON cut off", .bytes = "[{\"time\":", .says = "not JSON", .line = 1, .column = 9},
    {.why = "JSON without a list", .bytes = "{\"a\":{}}", .says = "no list of objects"},
    {.why = "JSON with two lists", .bytes = "{\"a\":[],\"b\":[]}", .says = "more than one list"},
    {.why = "JSON of numbers", .bytes = "[1]", .says = "row 1: not an object"},
    {.why = "JSON without the value",
	.bytes = "[{\"time\":1763690400}]",
	.says = "row 1: no member \"value\""},
    {.why = "JSON with an object as value",
	.bytes = "[{\"time\":1763690400,\"value\":{}}]",
	.says = "value: want a text or a number"},
    {.why = "JSON deeper than we look",
	.says = "more than 32 levels",
	.bytes = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1",
	.line = 1,
	.column = 33},
    {.why = "JSON: BOM, null is a gap, texts are numbers",
	.bytes = "\xEF\xBB\xBF{\"rows\":[\n"
		 "{\"time\":\"2025-11-21T02:00Z\",\"value\":\"5\"},\n"
		 "{\"time\":1763694000,\"value\":null},\n"
		 "{\"time\":1763697600.0,\"value\":7.0}]}",
	.count = 2,
	.out = {{0, 3600, 5}, {7200, 10800, 7}}},
};

static struct lt_source_options
parse_options(const struct pair extra[4], struct pair pairs[7])
{
	int count = 2;

	pairs[0] = (struct pair){"path", "/a"};
	pairs[1] = (struct pair){"quantity", "carbon"};
	for (int i = 0; i < 4 && extra[i].key != NULL; i++)
		pairs[count++] = extra[i];
	pairs[count].key = NULL;
	return options_of(pairs);
}

static void
test_parse(void **state)
{
	const struct lt_adapter *const adapter = lt_adapter_find("file");

	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		const char *const why = parse_cases[i].why;
		struct pair pairs[7];
		const struct lt_source_options options = parse_options(parse_cases[i].pairs, pairs);
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int code = lt_adapter_parse(adapter, &options,
		    &(struct lt_answer){
			parse_cases[i].bytes, strlen(parse_cases[i].bytes), T0 + 3600},
		    &points, &err);

		if ((code == LT_OK) != (parse_cases[i].says == NULL) ||
		    err.line != parse_cases[i].line || err.column != parse_cases[i].column ||
		    points.count != (size_t)parse_cases[i].count)
			fail_msg("%s: %d at %d:%d, %zu points: %s", why, code, err.line, err.column,
			    points.count, err.text);
		if (code != LT_OK)
			assert_says(why, &err, parse_cases[i].says);
		for (size_t j = 0; j < points.count; j++) {
			const struct lt_point *const p = &points.points[j];
			const int64_t *const out = parse_cases[i].out[j];

			if (p->start_utc_s - T0 != out[0] || p->end_utc_s - T0 != out[1] ||
			    (int64_t)p->value != out[2])
				fail_msg("%s: point %zu", why, j);
			assert_int_equal(
			    p->quality, out[0] <= 3600 ? LT_QUALITY_MEASURED : LT_QUALITY_FORECAST);
		}
		lt_points_free(&points);
	}
}

/* Money is micros of what people write, whole. */
static void
test_money(void **state)
{
	static const struct pair pairs[] = {
	    {"path", "/a"}, {"quantity", "tariff"}, {"scale", "0.001"}, {0}};
	static const char bytes[] = "time,value\n1763690400,-30.5\n"
				    "1763694000,0\n";
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};

	(void)state;
	assert_int_equal(lt_adapter_parse(lt_adapter_find("file"), &options,
			     &(struct lt_answer){bytes, strlen(bytes), T0}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 2);
	assert_true(points.points[0].value == -30500);
	assert_true(points.points[1].value == 0);
	lt_points_free(&points);
}

/* Too long: a cell of ours, a row, the header; others' cells may be. */
static void
test_limits(void **state)
{
	static const struct pair pairs[] = {{"path", "/a"}, {"quantity", "carbon"}, {0}};

	static const struct {
		const char *why, *before, *after;
		int repeat;
		char byte;
		const char *says;
	} cases[] = {
	    {"a value of 2048 bytes", "time,value\n1763690400,", "\n", 2048, '1',
		"a cell of more than 2047 bytes"},
	    {"a header of 1025 cells", "", "\n", 1024, ',', "more than 1024 columns"},
	    {"a row of 1101 cells", "time,value\n1763690400,5", "\n", 1100, ',',
		"more than 1024 cells"},
	    {"a foreign cell of 5000", "time,value,x\n1763690400,5,", "\n1763694000,6,\n", 5000,
		'x', NULL},
	};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		static char bytes[6000];
		struct lt_points points = {0};
		struct lt_error err = {0};
		size_t length = strlen(cases[i].before);

		memcpy(bytes, cases[i].before, length);
		memset(bytes + length, cases[i].byte, (size_t)cases[i].repeat);
		length += (size_t)cases[i].repeat;
		strcpy(bytes + length, cases[i].after);
		const int code = lt_adapter_parse(lt_adapter_find("file"), &options,
		    &(struct lt_answer){bytes, strlen(bytes), T0}, &points, &err);
		if (code != (cases[i].says == NULL ? LT_OK : LT_ELIMIT))
			fail_msg("%s: %d %s", cases[i].why, code, err.text);
		if (code != LT_OK)
			assert_says(cases[i].why, &err, cases[i].says);
		lt_points_free(&points);
	}
}

static void
fetch_fails(const char *path, int wanted, const char *says)
{
	const struct pair pairs[] = {{"path", path}, {"quantity", "carbon"}, {NULL, NULL}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};

	assert_int_equal(lt_adapter_find("file")->fetch(
			     &options, &(struct lt_window){0, INT64_MAX, T0}, &points, &err),
	    wanted);
	assert_says(path, &err, says);
	assert_true(strstr(err.text, path) == err.text);
	assert_int_equal(err.line, 0); /* the policy file's, not this one's */
	lt_points_free(&points);
}

static void
test_files(void **state)
{
	char path[] = "/tmp/lt-recording-XXXXXX";
	char bad[] = "/tmp/lt-recording-XXXXXX", place[64];

	(void)state;
	write_file(path, "", 0);
	fetch_fails(path, LT_EINPUT, "empty, want CSV or JSON");
	assert_int_equal(truncate(path, 16 * 1024 * 1024 + 1), 0);
	fetch_fails(path, LT_ELIMIT, "16777217 bytes, limit 16777216");
	assert_int_equal(unlink(path), 0);
	fetch_fails(path, LT_ENOENT, "No such file");
	assert_int_equal(mkfifo(path, 0600), 0);
	fetch_fails(path, LT_EIO, "not a regular file");
	unlink(path);
	fetch_fails("/tmp", LT_EIO, "not a regular file");
	write_file(bad, "time,value\nx,1\n", 15);
	snprintf(place, sizeof(place), "%s:2:1: time: got \"x\"", bad);
	fetch_fails(bad, LT_EINPUT, place);
	unlink(bad);
}

/* Only what overlaps is given, and old data says how old it is. */
static void
test_fetch(void **state)
{
	static const char bytes[] = "time,value\n1763690400,5\n"
				    "1763694000,6\n1763697600,7\n";
	char path[] = "/tmp/lt-recording-XXXXXX";
	const struct pair pairs[] = {{"path", path}, {"quantity", "carbon"}, {NULL, NULL}};
	const struct lt_source_options options = options_of(pairs);
	const struct lt_adapter *const adapter = lt_adapter_find("file");
	struct lt_points points = {0};

	(void)state;
	write_file(path, bytes, strlen(bytes));
	assert_int_equal(lt_adapter_fetch(adapter, &options,
			     &(struct lt_window){T0 + 3600, T0 + 7200, T0 + 4000}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 1);
	assert_true(points.points[0].value == 6);
	assert_int_equal(points.issued_utc_s, 0);
	lt_points_free(&points);
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options,
		&(struct lt_window){T0 + 90000, T0 + 99000, T0 + 90000}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 0);
	assert_int_equal(points.issued_utc_s, T0 + 10800);
	lt_points_free(&points);
	unlink(path);
}

/* Hours of `days` days from T0, values 1, 2, 3... */
static void
write_hours(char *path, int days)
{
	static char bytes[64 * 1024];
	size_t length = (size_t)sprintf(bytes, "time,value\n");

	for (int i = 0; i < days * 24; i++)
		length +=
		    (size_t)sprintf(bytes + length, "%lld,%d\n", (long long)T0 + i * 3600LL, i + 1);
	write_file(path, bytes, length);
}

static void
replay_is(const char *path, int64_t from_utc_s, int hours, int first_value, int length_hours)
{
	const struct pair pairs[] = {{"path", path}, {"quantity", "carbon"}, {NULL, NULL}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};
	const int code = lt_adapter_find("replay")->fetch(&options,
	    &(struct lt_window){from_utc_s, from_utc_s + hours * 3600, from_utc_s}, &points, &err);

	if (code != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.count, hours);
	for (int i = 0; i < hours; i++) {
		const struct lt_point *const p = &points.points[i];

		assert_int_equal(p->start_utc_s, from_utc_s + i * 3600);
		assert_int_equal(p->end_utc_s, p->start_utc_s + 3600);
		assert_int_equal((int)p->value, (first_value - 1 + i) % length_hours + 1);
		assert_int_equal(p->quality, LT_QUALITY_REPLAY);
	}
	assert_non_null(strstr(points.note, "replay of lt-replay-"));
	assert_non_null(strstr(points.note, "weeks"));
	lt_points_free(&points);
}

static void
test_replay(void **state)
{
	enum { WEEK_H = 168 };
	const int64_t week_s = WEEK_H * 3600;
	char path[] = "/tmp/lt-replay-XXXXXX";

	(void)state;
	write_hours(path, 17); /* two whole weeks, three days unused */
	replay_is(path, T0, 30, 1, 2 * WEEK_H);
	replay_is(path, T0 + week_s, 30, WEEK_H + 1, 2 * WEEK_H);
	replay_is(path, T0 + 52 * week_s, 2 * WEEK_H, 1, 2 * WEEK_H);
	replay_is(path, T0 + 2 * week_s - 3600, 30, 2 * WEEK_H, 2 * WEEK_H);
	replay_is(path, T0 - 2 * week_s, 30, 1, 2 * WEEK_H);
	replay_is(path, T0 - 3600, 30, 2 * WEEK_H, 2 * WEEK_H);
	unlink(path);
}

/* Money of another currency must not be taken for the site's. */
static void
test_replay_money(void **state)
{
	char path[] = "/tmp/lt-replay-XXXXXX";
	const struct pair pairs[] = {
	    {"path", path}, {"quantity", "price"}, {"currency", "USD"}, {NULL, NULL}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	write_hours(path, 7);
	assert_int_equal(lt_adapter_find("replay")->fetch(
			     &options, &(struct lt_window){T0, T0 + 3600, T0}, &points, &err),
	    LT_OK);
	unlink(path);
	assert_int_equal(points.count, 1);
	assert_true(points.points[0].value == 1e6);
	assert_string_equal(points.currency, "USD");
	lt_points_free(&points);
}

static void
test_replay_short(void **state)
{
	char path[] = "/tmp/lt-replay-XXXXXX";
	const struct pair pairs[] = {{"path", path}, {"quantity", "carbon"}, {NULL, NULL}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	write_hours(path, 6);
	assert_int_equal(lt_adapter_find("replay")->fetch(
			     &options, &(struct lt_window){T0, T0 + 3600, T0}, &points, &err),
	    LT_EINPUT);
	assert_says("6 days", &err, "covers 144 h, want a week (168 h)");
	assert_int_equal(points.count, 0);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_money),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_replay),
	    cmocka_unit_test(test_replay_money),
	    cmocka_unit_test(test_replay_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
