/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tariffs by time of use: the text of the rates, then the steps, to the second, on days on which
 * the clocks change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "units.h"

static const struct {
	const char *why, *rates, *zone, *currency;
	int line; /* 10: rates, 11: timezone, 12: currency */
	const char *says;
} option_cases[] = {
    {"a base rate alone", "0.31", "", "EUR", 0, NULL},
    {"the manual's",
	"0.31; mon-fri 07:00-21:00 0.42; apr-sep sat,sun "
	"10:00-14:00 0.20",
	"Europe/London", "EUR", 0, NULL},
    {"a \";\" at the end", "0.31;", "UTC", "EUR", 0, NULL},
    {"exchanges have negative rates", "-0.01; JAN 0", "UTC", "EUR", 0, NULL},
    {"over the year and over the week", "1; nov-feb sat-mon 2", "UTC", "EUR", 0, NULL},
    {"nothing", "", "UTC", "EUR", 10, "at character 1: got \"the end\", want the base rate"},
    {"no base rate", "mon 0.2", "UTC", "EUR", 10,
	"at character 1: got \"mon\", want the base rate"},
    {"an empty rule", "1;;2", "UTC", "EUR", 10, "at character 3: got \";\", want months"},
    {"a rule without a rate", "1; mon", "UTC", "EUR", 10,
	"at character 7: got \"the end\", want months"},
    {"two rates", "1 2", "UTC", "EUR", 10, "at character 3: got \"2\", want \";\""},
    {"a wrong day", "1; mon-fry 2", "UTC", "EUR", 10, "at character 4: got \"mon-fry\""},
    {"half a day", "1; mo 2", "UTC", "EUR", 10, "at character 4"},
    {"a day's long name", "1; monday 2", "UTC", "EUR", 10, "at character 4"},
    {"a range of ranges", "1; mon-fri-sat 2", "UTC", "EUR", 10, "at character 4"},
    {"a comma at the end", "1; mon, 2", "UTC", "EUR", 10, "at character 4"},
    {"times before days", "1; 07:00-08:00 mon 2", "UTC", "EUR", 10,
	"at character 16: got \"mon\", want months"},
    {"twice the days", "1; mon tue 2", "UTC", "EUR", 10, "at character 8"},
    {"25 o'clock", "1; 07:00-25:00 2", "UTC", "EUR", 10, "at character 4"},
    {"a minute of 60", "1; 07:60-09:00 2", "UTC", "EUR", 10, "character 4"},
    {"short times", "1; 7:00-9:00 2", "UTC", "EUR", 10, "at character 4"},
    {"an empty range", "1; 07:00-07:00 2", "UTC", "EUR", 10, "character 4"},
    {"a start of 24:00", "1; 24:00-07:00 2", "UTC", "EUR", 10, "at character 4"},
    {"a comma as in Germany", "0,31", "UTC", "EUR", 10, "character 1"},
    {"no number", "nan", "UTC", "EUR", 10, "at character 1"},
    {"a seventh decimal", "0.1234567", "UTC", "EUR", 10, "at character 1"},
    {"absurd", "2000000", "UTC", "EUR", 10, "is the unit right?"},
    {"absurd, though it never holds", "1; 2000000; 2", "UTC", "EUR", 10, "is the unit right?"},
    {"a very long word", "1; monmonmonmonmonmonmonmonmonmonmonmonmonmonmonmonmonmon 2", "UTC",
	"EUR", 10, "at character 4"},
    {"a control in it", "1; \x1b[0m 2", "UTC", "EUR", 10, "at character 4"},
    {"no such zone", "1", "Europe/Atlantis", "EUR", 11, "want a name below /usr/share/zoneinfo"},
    {"a folder", "1", "Europe", "EUR", 11, "want a name below"},
    {"a way out", "1", "../../../etc/passwd", "EUR", 11, "want a name"},
    {"an absolute path", "1", "/etc/passwd", "EUR", 11, "want a name"},
    {"a wrong currency", "1", "UTC", "euro", 12, "ISO 4217"},
};

/* Without a timezone where it is "". */
static struct lt_source_options
options_for(const char *rates, const char *zone, const char *currency, struct pair pairs[4])
{
	pairs[0] = (struct pair){"rates", rates};
	pairs[1] = (struct pair){"timezone", zone};
	pairs[2] = (struct pair){"currency", currency};
	pairs[3] = (struct pair){NULL, NULL};
	if (zone[0] == '\0') {
		pairs[1] = pairs[2];
		pairs[2] = pairs[3];
	}
	return options_of(pairs);
}

static void
test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(option_cases); i++) {
		struct option_case wanted = {.why = option_cases[i].why,
		    .line = option_cases[i].line,
		    .says = option_cases[i].says};

		options_for(option_cases[i].rates, option_cases[i].zone, option_cases[i].currency,
		    wanted.pairs);
		check_options(&wanted, 1);
	}
}

static void
test_rule_count(void **state)
{
	char text[160] = "1";
	struct pair pairs[4];
	struct lt_error err = {0};

	(void)state;
	for (int i = 0; i < 63; i++)
		strcat(text, ";2");
	struct lt_source_options options = options_for(text, "", "EUR", pairs);
	assert_int_equal(lt_adapter_check(adapter, &options, NULL), LT_OK);
	strcat(text, ";2");
	options = options_for(text, "", "EUR", pairs);
	assert_int_equal(lt_adapter_check(adapter, &options, &err), LT_EINPUT);
	assert_says("rules", &err, "at most 63 rules");
}

#define STEPS_MAX 12

static const struct {
	const char *why, *rates, *zone, *from, *to;
	struct {
		const char *start; /* UTC */
		double rate;
	} steps[STEPS_MAX];
} step_cases[] = {
    {"a winter day in London", "0.31; mon-fri 07:00-21:00 0.42", "Europe/London",
	"2026-01-05T00:00Z", "2026-01-06T00:00Z",
	{{"2026-01-05T00:00Z", 0.31}, {"2026-01-05T07:00Z", 0.42}, {"2026-01-05T21:00Z", 0.31}}},
    {"a summer day in London: an hour ahead of UTC", "0.31; mon-fri 07:00-21:00 0.42",
	"Europe/London", "2026-07-06T00:00Z", "2026-07-07T00:00Z",
	{{"2026-07-06T00:00Z", 0.31}, {"2026-07-06T06:00Z", 0.42}, {"2026-07-06T20:00Z", 0.31}}},
    {"a weekend is one step", "0.31; mon-fri 07:00-21:00 0.42", "Europe/London",
	"2026-01-09T20:30Z", "2026-01-12T08:00Z",
	{{"2026-01-09T20:30Z", 0.42}, {"2026-01-09T21:00Z", 0.31}, {"2026-01-12T07:00Z", 0.42}}},
    {"spring in London: 01:00 to 02:00 never comes",
	"1; 00:30-01:30 2; 01:00-02:00 3; 02:00-03:00 4", "Europe/London", "2026-03-29T00:00Z",
	"2026-03-29T03:00Z",
	{{"2026-03-29T00:00Z", 1}, {"2026-03-29T00:30Z", 2}, {"2026-03-29T01:00Z", 4},
	    {"2026-03-29T02:00Z", 1}}},
    {"spring in London: a rule that begins in the missing hour", "1; 01:30-04:00 2",
	"Europe/London", "2026-03-29T00:00Z", "2026-03-29T06:00Z",
	{{"2026-03-29T00:00Z", 1}, {"2026-03-29T01:00Z", 2}, {"2026-03-29T03:00Z", 1}}},
    {"autumn in London: 01:00 to 02:00 comes twice", "1; 01:30-02:00 2", "Europe/London",
	"2026-10-24T23:00Z", "2026-10-25T04:00Z",
	{{"2026-10-24T23:00Z", 1}, {"2026-10-25T00:30Z", 2}, {"2026-10-25T01:00Z", 1},
	    {"2026-10-25T01:30Z", 2}, {"2026-10-25T02:00Z", 1}}},
    {"autumn in London: a rule over both hours", "1; 01:00-02:00 2", "Europe/London",
	"2026-10-24T23:00Z", "2026-10-25T04:00Z",
	{{"2026-10-24T23:00Z", 1}, {"2026-10-25T00:00Z", 2}, {"2026-10-25T02:00Z", 1}}},
    {"spring in New York: 02:00 to 03:00 never comes", "1; 01:30-02:30 2; 02:30-03:30 3",
	"America/New_York", "2026-03-08T05:00Z", "2026-03-08T09:00Z",
	{{"2026-03-08T05:00Z", 1}, {"2026-03-08T06:30Z", 2}, {"2026-03-08T07:00Z", 3},
	    {"2026-03-08T07:30Z", 1}}},
    {"autumn in New York: 01:00 to 02:00 comes twice", "1; 01:15-01:45 2", "America/New_York",
	"2026-11-01T04:00Z", "2026-11-01T08:00Z",
	{{"2026-11-01T04:00Z", 1}, {"2026-11-01T05:15Z", 2}, {"2026-11-01T05:45Z", 1},
	    {"2026-11-01T06:15Z", 2}, {"2026-11-01T06:45Z", 1}}},
    {"a day of 23 hours", "1; sun 2", "America/New_York", "2026-03-07T00:00Z", "2026-03-10T00:00Z",
	{{"2026-03-07T00:00Z", 1}, {"2026-03-08T05:00Z", 2}, {"2026-03-09T04:00Z", 1}}},
    {"a day of 25 hours", "1; sun 2", "Europe/London", "2026-10-24T00:00Z", "2026-10-27T00:00Z",
	{{"2026-10-24T00:00Z", 1}, {"2026-10-24T23:00Z", 2}, {"2026-10-26T00:00Z", 1}}},
    {"over midnight, of the day it begins", "1; fri 22:00-06:00 2", "UTC", "2026-01-08T00:00Z",
	"2026-01-12T00:00Z",
	{{"2026-01-08T00:00Z", 1}, {"2026-01-09T22:00Z", 2}, {"2026-01-10T06:00Z", 1}}},
    {"over midnight, of the month it begins", "1; jan 22:00-06:00 2", "UTC", "2026-01-31T20:00Z",
	"2026-02-02T00:00Z",
	{{"2026-01-31T20:00Z", 1}, {"2026-01-31T22:00Z", 2}, {"2026-02-01T06:00Z", 1}}},
    {"over the year's end", "1; nov-feb 2; dec 3", "UTC", "2026-10-31T00:00Z", "2027-03-02T00:00Z",
	{{"2026-10-31T00:00Z", 1}, {"2026-11-01T00:00Z", 2}, {"2026-12-01T00:00Z", 3},
	    {"2027-01-01T00:00Z", 2}, {"2027-03-01T00:00Z", 1}}},
    {"over the week's end, and until 24:00", "1; sat-mon 18:00-24:00 2", "UTC", "2026-01-09T12:00Z",
	"2026-01-13T12:00Z",
	{{"2026-01-09T12:00Z", 1}, {"2026-01-10T18:00Z", 2}, {"2026-01-11T00:00Z", 1},
	    {"2026-01-11T18:00Z", 2}, {"2026-01-12T00:00Z", 1}, {"2026-01-12T18:00Z", 2},
	    {"2026-01-13T00:00Z", 1}}},
    {"the last that fits", "1; mon-sun 2; 10:00-12:00 3; mon 11:00-13:00 4", "UTC",
	"2026-01-05T00:00Z", "2026-01-06T00:00Z",
	{{"2026-01-05T00:00Z", 2}, {"2026-01-05T10:00Z", 3}, {"2026-01-05T11:00Z", 4},
	    {"2026-01-05T13:00Z", 2}}},
    {"negative and zero", "0; 10:00-11:00 -0.05", "UTC", "2026-01-05T09:00Z", "2026-01-05T12:00Z",
	{{"2026-01-05T09:00Z", 0}, {"2026-01-05T10:00Z", -0.05}, {"2026-01-05T11:00Z", 0}}},
    {"half an hour from UTC, and not on the second", "1; 09:00-10:00 2", "Asia/Kolkata",
	"2026-01-05T03:00:07Z", "2026-01-05T05:00:09Z",
	{{"2026-01-05T03:00:07Z", 1}, {"2026-01-05T03:30Z", 2}, {"2026-01-05T04:30Z", 1}}},
    {"Lord Howe changes by half an hour", "1; 02:00-02:30 2", "Australia/Lord_Howe",
	"2026-10-03T14:00Z", "2026-10-03T17:00Z", {{"2026-10-03T14:00Z", 1}}},
};

static int64_t
utc_of(const char *text)
{
	int64_t utc_s = 0;

	assert_int_equal(lt_utc_parse(text, &utc_s, NULL), LT_OK);
	return utc_s;
}

static void
test_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(step_cases); i++) {
		const char *const why = step_cases[i].why;
		struct pair pairs[4];
		struct lt_points points = {0};
		struct lt_error err = {0};
		size_t count = 0;
		const struct lt_source_options options =
		    options_for(step_cases[i].rates, step_cases[i].zone, "EUR", pairs);
		const int64_t to_utc_s = utc_of(step_cases[i].to);

		if (lt_adapter_fetch(adapter, &options,
			&(struct lt_window){utc_of(step_cases[i].from), to_utc_s, to_utc_s},
			&points, &err) != LT_OK)
			fail_msg("%s: %s", why, err.text);
		for (; count < STEPS_MAX && step_cases[i].steps[count].start != NULL; count++) {
			const struct lt_point *const p = &points.points[count];

			if (count >= points.count ||
			    p->start_utc_s != utc_of(step_cases[i].steps[count].start) ||
			    p->value != lt_quantity_from(
					    LT_QUANTITY_TARIFF, step_cases[i].steps[count].rate) ||
			    p->quality != LT_QUALITY_MEASURED ||
			    (count > 0 && p[-1].end_utc_s != p->start_utc_s)) {
				char text[32];

				lt_utc_text(
				    text, sizeof(text), count < points.count ? p->start_utc_s : 0);
				fail_msg("%s: step %zu: %s", why, count, text);
			}
		}
		if (points.count != count || points.points[count - 1].end_utc_s != to_utc_s)
			fail_msg("%s: %zu steps", why, points.count);
		assert_string_equal(points.currency, "EUR");
		assert_int_equal(points.quantity, LT_QUANTITY_TARIFF);
		lt_points_free(&points);
	}
}

/* Another zone is asked for a moment only. */
static void
test_zone_is_put_back(void **state)
{
	struct pair pairs[4];
	struct lt_source_options options =
	    options_for("1; 07:00-08:00 2", "Asia/Tokyo", "EUR", pairs);
	struct lt_points points = {0};
	const time_t summer = 1783332000; /* 2026-07-06T10:00Z */
	struct tm parts;

	(void)state;
	setenv("TZ", "Europe/Paris", 1);
	tzset();
	assert_int_equal(lt_adapter_fetch(adapter, &options,
			     &(struct lt_window){summer, summer + 86400, summer}, &points, NULL),
	    LT_OK);
	lt_points_free(&points);
	assert_string_equal(getenv("TZ"), "Europe/Paris");
	localtime_r(&summer, &parts);
	assert_int_equal(parts.tm_hour, 12);

	/* The site's own zone where none is given. */
	options = options_for("1; 12:00-13:00 2", "", "EUR", pairs);
	assert_int_equal(lt_adapter_fetch(adapter, &options,
			     &(struct lt_window){summer, summer + 7200, summer}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 2);
	assert_true(points.points[0].value == 2e6);
	lt_points_free(&points);

	unsetenv("TZ");
	tzset();
	options = options_for("1", "Asia/Tokyo", "EUR", pairs);
	assert_int_equal(lt_adapter_fetch(adapter, &options,
			     &(struct lt_window){summer, summer + 7200, summer}, &points, NULL),
	    LT_OK);
	assert_null(getenv("TZ"));
	lt_points_free(&points);
}

/* A rule by brute force: at each minute of a year the step that holds is the last rule that fits
 * the wall clock. */
static void
test_every_minute(void **state)
{
	static const char *const zones[] = {
	    "Europe/London", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"};
	struct pair pairs[4];

	(void)state;
	for (size_t i = 0; i < COUNT(zones); i++) {
		const struct lt_source_options options =
		    options_for("1; sat,sun 2; mon-fri 01:30-02:15 3; "
				"sun 23:30-03:00 4; mar,oct 02:00-02:45 5",
			zones[i], "EUR", pairs);
		const int64_t from_utc_s = utc_of("2026-01-01T00:00Z");
		struct lt_points points = {0};
		size_t at = 0;

		assert_int_equal(
		    lt_adapter_fetch(adapter, &options,
			&(struct lt_window){from_utc_s, from_utc_s + 365 * 86400, from_utc_s},
			&points, NULL),
		    LT_OK);
		setenv("TZ", zones[i], 1);
		tzset();
		for (int64_t t = from_utc_s; t < from_utc_s + 365 * 86400; t += 60) {
			const time_t seconds = (time_t)t;
			struct tm tm;

			localtime_r(&seconds, &tm);
			const int minute = tm.tm_hour * 60 + tm.tm_min;
			const bool weekend = tm.tm_wday == 0 || tm.tm_wday == 6;
			int rate = weekend ? 2 : 1;

			if (!weekend && minute >= 90 && minute < 135)
				rate = 3;
			if ((tm.tm_wday == 0 && minute >= 1410) ||
			    (tm.tm_wday == 1 && minute < 180))
				rate = 4;
			if ((tm.tm_mon == 2 || tm.tm_mon == 9) && minute >= 120 && minute < 165)
				rate = 5;
			while (points.points[at].end_utc_s <= t)
				at++;
			if (points.points[at].value != rate * 1e6)
				fail_msg("%s: %lld: %f, want %d", zones[i], (long long)t,
				    points.points[at].value, rate);
		}
		lt_points_free(&points);
	}
	unsetenv("TZ");
	tzset();
}

static int
start(void **state)
{
	(void)state;
	adapter = lt_adapter_find("time_of_use");
	return adapter == NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_rule_count),
	    cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_zone_is_put_back),
	    cmocka_unit_test(test_every_minute),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
