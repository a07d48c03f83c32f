/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periods in the site's zone, over clock changes and ends of years.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "calendar.h"
#include "units.h"

static const struct {
	const char *why, *zone, *at;
	enum lt_period_kind kind;
	int ahead;
	const char *start, *end, *label;
} cases[] = {
    {"plain month", "UTC", "2026-11-21T02:00:00Z", LT_MONTH, 0,
	"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "November"},
    {"local midnight, east", "Europe/Berlin", "2026-10-31T23:30:00Z", LT_MONTH,
	0, "2026-10-31T23:00:00Z", "2026-11-30T23:00:00Z", "November"},
    {"a month with a clock change is an hour longer", "Europe/London",
	"2026-10-15T12:00:00Z", LT_MONTH, 0, "2026-09-30T23:00:00Z",
	"2026-11-01T00:00:00Z", "October"},
    {"and one an hour shorter", "Europe/London", "2026-03-15T12:00:00Z",
	LT_MONTH, 0, "2026-03-01T00:00:00Z", "2026-03-31T23:00:00Z", "March"},
    {"next month over the year", "UTC", "2026-12-31T23:59:59Z", LT_MONTH, 1,
	"2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z", "January"},
    {"quarter", "UTC", "2026-11-21T02:00:00Z", LT_QUARTER, 0,
	"2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z", "2026 Q4"},
    {"next quarter", "UTC", "2026-11-21T02:00:00Z", LT_QUARTER, 1,
	"2027-01-01T00:00:00Z", "2027-04-01T00:00:00Z", "2027 Q1"},
    {"year", "America/New_York", "2027-01-01T04:59:59Z", LT_YEAR, 0,
	"2026-01-01T05:00:00Z", "2027-01-01T05:00:00Z", "2026"},
};

static void
test_periods(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t at, start, end;
		struct lt_period period, next;
		assert_int_equal(lt_calendar_zone(cases[i].zone, NULL), LT_OK);
		assert_int_equal(lt_utc_parse(cases[i].at, &at, NULL), LT_OK);
		assert_int_equal(
		    lt_utc_parse(cases[i].start, &start, NULL), LT_OK);
		assert_int_equal(lt_utc_parse(cases[i].end, &end, NULL), LT_OK);
		lt_calendar_period(&period, cases[i].kind, at, cases[i].ahead);
		if (period.start_utc_s != start || period.end_utc_s != end ||
		    strcmp(period.label, cases[i].label) != 0)
			fail_msg("%s: %lld .. %lld %s", cases[i].why,
			    (long long)period.start_utc_s,
			    (long long)period.end_utc_s, period.label);
		lt_calendar_period(
		    &next, cases[i].kind, at, cases[i].ahead + 1);
		assert_true(next.start_utc_s == period.end_utc_s);
	}
}

static void
test_parse(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "2026-13", "2026-00", "2026-Q5",
	    "2026-Q0", "26-11", "2026-11-01", "2026-1", "now", "2026-1x",
	    "-026", "2026-Q1x"};
	struct lt_period period;
	struct lt_error err;
	assert_int_equal(lt_calendar_zone("UTC", NULL), LT_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct lt_error){0};
		if (lt_calendar_parse(&period, bad[i], &err) != LT_EINPUT ||
		    err.text[0] == '\0')
			fail_msg("accepted \"%s\"", bad[i]);
	}
	assert_int_equal(lt_calendar_parse(&period, "2026-11", NULL), LT_OK);
	assert_string_equal(period.label, "November");
	assert_int_equal(lt_calendar_parse(&period, "2026-Q2", NULL), LT_OK);
	assert_string_equal(period.label, "2026 Q2");
	assert_int_equal(lt_calendar_parse(&period, "2026", NULL), LT_OK);
	assert_string_equal(period.label, "2026");
}

static void
test_bad_zone(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "Europe/Lundon", "/etc/passwd", "../zoneinfo/UTC"};
	for (size_t i = 0; i < 3; i++) {
		struct lt_error err = {0};
		assert_int_equal(lt_calendar_zone(bad[i], &err), LT_EINPUT);
		assert_non_null(strstr(err.text, bad[i]));
	}
}

static void
test_steps(void **state)
{
	(void)state;
	struct lt_zone zone;
	int64_t now, change;
	assert_int_equal(lt_calendar_zone("Europe/London", NULL), LT_OK);
	assert_int_equal(
	    lt_utc_parse("2026-11-21T00:00:00Z", &now, NULL), LT_OK);
	assert_int_equal(
	    lt_utc_parse("2027-03-28T01:00:00Z", &change, NULL), LT_OK);
	lt_calendar_steps(&zone, now);
	assert_true(zone.count >= 4);
	assert_true(zone.steps[0].start_utc_s == INT64_MIN);
	int found = -1;
	for (int i = 1; i < zone.count; i++)
		if (zone.steps[i].start_utc_s == change)
			found = i;
	assert_true(found > 0);
	assert_int_equal(zone.steps[found].offset_s, 3600);
	assert_string_equal(zone.steps[found].abbreviation, "BST");
	assert_int_equal(lt_calendar_zone("UTC", NULL), LT_OK);
	lt_calendar_steps(&zone, now);
	assert_int_equal(zone.count, 1);
	assert_int_equal(zone.steps[0].offset_s, 0);
}

static void
test_time(void **state)
{
	static const struct {
		const char *why, *text, *utc; /* NULL = refused */
	} times[] = {
	    {"a day of summer begins an hour early", "2026-07-01",
		"2026-06-30T23:00:00Z"},
	    {"one of winter", "2026-11-21", "2026-11-21T00:00:00Z"},
	    {"a time as it is", "2026-07-01T02:00Z", "2026-07-01T02:00:00Z"},
	    {"31 April", "2026-04-31", NULL},
	    {"a digit short", "2026-4-30", NULL},
	    {"a time without its zone", "2026-07-01T02:00", NULL},
	    {"something after it", "2026-07-01x", NULL},
	    {"nothing", "", NULL},
	    {"a word", "yesterday", NULL},
	};
	(void)state;
	assert_int_equal(lt_calendar_zone("Europe/London", NULL), LT_OK);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct lt_error err = {0};
		int64_t got = 0;
		char text[40] = "";
		const int code = lt_calendar_time(&got, times[i].text, &err);
		if (code == LT_OK)
			lt_utc_text(text, sizeof(text), got);
		if (strcmp(text, times[i].utc ? times[i].utc : "") != 0 ||
		    (code != LT_OK && err.text[0] == '\0'))
			fail_msg("%s: got \"%s\"", times[i].why, text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_periods),
	    cmocka_unit_test(test_parse), cmocka_unit_test(test_bad_zone),
	    cmocka_unit_test(test_steps), cmocka_unit_test(test_time)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
