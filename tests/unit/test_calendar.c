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
#include <time.h>

#include "time_zone.h"
#include "units.h"

static struct lt_offsets offsets;

static void
use_zone(const char *zone)
{
	assert_int_equal(lt_time_zone_set(zone, NULL), LT_OK);
	lt_time_zone_offsets(&offsets);
	assert_true(offsets.count < LT_OFFSETS_MAX);
}

static const struct {
	const char *why, *zone, *at;
	enum lt_period_kind kind;
	int ahead;
	const char *start, *end, *label;
} cases[] = {
    {"plain month", "UTC", "2026-11-21T02:00:00Z", LT_MONTH, 0, "2026-11-01T00:00:00Z",
	"2026-12-01T00:00:00Z", "2026-11"},
    {"local midnight, east", "Europe/Berlin", "2026-10-31T23:30:00Z", LT_MONTH, 0,
	"2026-10-31T23:00:00Z", "2026-11-30T23:00:00Z", "2026-11"},
    {"a month with a clock change is an hour longer", "Europe/London", "2026-10-15T12:00:00Z",
	LT_MONTH, 0, "2026-09-30T23:00:00Z", "2026-11-01T00:00:00Z", "2026-10"},
    {"and one an hour shorter", "Europe/London", "2026-03-15T12:00:00Z", LT_MONTH, 0,
	"2026-03-01T00:00:00Z", "2026-03-31T23:00:00Z", "2026-03"},
    {"next month over the year", "UTC", "2026-12-31T23:59:59Z", LT_MONTH, 1, "2027-01-01T00:00:00Z",
	"2027-02-01T00:00:00Z", "2027-01"},
    {"quarter", "UTC", "2026-11-21T02:00:00Z", LT_QUARTER, 0, "2026-10-01T00:00:00Z",
	"2027-01-01T00:00:00Z", "2026-Q4"},
    {"next quarter", "UTC", "2026-11-21T02:00:00Z", LT_QUARTER, 1, "2027-01-01T00:00:00Z",
	"2027-04-01T00:00:00Z", "2027-Q1"},
    {"year", "America/New_York", "2027-01-01T04:59:59Z", LT_YEAR, 0, "2026-01-01T05:00:00Z",
	"2027-01-01T05:00:00Z", "2026"},
    /* Cuba: 1 November 2020 at 1:00 (UTC-4) it is 0:00 again (UTC-5) */
    {"midnight twice: the last second before", "America/Havana", "2020-11-01T03:59:59Z", LT_MONTH,
	0, "2020-10-01T04:00:00Z", "2020-11-01T04:00:00Z", "2020-10"},
    {"midnight twice: the first", "America/Havana", "2020-11-01T04:00:00Z", LT_MONTH, 0,
	"2020-11-01T04:00:00Z", "2020-12-01T05:00:00Z", "2020-11"},
    {"midnight twice: the hour between", "America/Havana", "2020-11-01T04:59:59Z", LT_MONTH, 0,
	"2020-11-01T04:00:00Z", "2020-12-01T05:00:00Z", "2020-11"},
    {"midnight twice: the second", "America/Havana", "2020-11-01T05:00:00Z", LT_MONTH, 0,
	"2020-11-01T04:00:00Z", "2020-12-01T05:00:00Z", "2020-11"},
    /* Paraguay: 1 October 2017 at 0:00 (UTC-4) it is 1:00 (UTC-3) */
    {"no midnight: the month begins at the change", "America/Asuncion", "2017-10-01T04:00:00Z",
	LT_MONTH, 0, "2017-10-01T04:00:00Z", "2017-11-01T03:00:00Z", "2017-10"},
    {"no midnight: the second before", "America/Asuncion", "2017-10-01T03:59:59Z", LT_QUARTER, 0,
	"2017-07-01T04:00:00Z", "2017-10-01T04:00:00Z", "2017-Q3"},
};

static void
test_periods(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t at, start, end;
		struct lt_period period, next;

		use_zone(cases[i].zone);
		assert_int_equal(lt_utc_parse(cases[i].at, &at, NULL), LT_OK);
		assert_int_equal(lt_utc_parse(cases[i].start, &start, NULL), LT_OK);
		assert_int_equal(lt_utc_parse(cases[i].end, &end, NULL), LT_OK);
		lt_calendar_period(&period, &offsets, cases[i].kind, at, cases[i].ahead);
		if (period.start_utc_s != start || period.end_utc_s != end ||
		    strcmp(period.label, cases[i].label) != 0)
			fail_msg("%s: %lld .. %lld %s", cases[i].why, (long long)period.start_utc_s,
			    (long long)period.end_utc_s, period.label);
		lt_calendar_period(&next, &offsets, cases[i].kind, at, cases[i].ahead + 1);
		assert_true(next.start_utc_s == period.end_utc_s);
	}
}

/* Each half hour around the starts, some of the days between: what a period begins it ends, it
 * holds its now, and the second before its start is of the month before, by glibc's own local
 * time. */
static void
test_period_holds_now(void **state)
{
	(void)state;
	static const struct {
		const char *zone;
		int first_year, last_year;
	} zones[] = {
	    {"America/Havana", 2020, 2027},
	    {"America/Asuncion", 2013, 2024},
	    {"America/St_Johns", 2007, 2012}, /* back at 0:01, to 23:01 */
	    {"America/Sao_Paulo", 2012, 2019},
	    {"Asia/Beirut", 2021, 2026},
	    {"Africa/Cairo", 2010, 2026},
	    {"Pacific/Apia", 2010, 2013},
	    {"Atlantic/Azores", 2021, 2026},
	    {"Asia/Amman", 2019, 2023},
	    {"Australia/Lord_Howe", 2024, 2026},
	    {"Europe/London", 2024, 2026},
	    {"Asia/Kathmandu", 2026, 2026},
	    {"UTC", 2026, 2026},
	};
	for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++) {
		struct tm first = {.tm_year = zones[i].first_year - 1900, .tm_mday = 1};
		struct tm last = {.tm_year = zones[i].last_year - 1899, .tm_mday = 1};
		struct lt_period before = {0};

		use_zone(zones[i].zone);
		const int64_t end = (int64_t)timegm(&last);
		int64_t step = 0;
		for (int64_t at = (int64_t)timegm(&first); at < end; at += step) {
			const time_t local = (time_t)at;
			struct lt_period now, next;
			struct tm tm;

			localtime_r(&local, &tm);
			step = tm.tm_mday > 27 || tm.tm_mday < 3 ? 1799 : 21599;
			lt_calendar_period(&now, &offsets, LT_MONTH, at, 0);
			if (at < now.start_utc_s || at >= now.end_utc_s)
				fail_msg("%s: %lld is not in %lld .. %lld", zones[i].zone,
				    (long long)at, (long long)now.start_utc_s,
				    (long long)now.end_utc_s);
			if (now.start_utc_s == before.start_utc_s)
				continue;
			assert_true(before.end_utc_s == 0 || before.end_utc_s == now.start_utc_s);
			before = now;
			const time_t start = (time_t)now.start_utc_s, second_before = start - 1;
			localtime_r(&start, &tm);
			const int month = tm.tm_mon;
			assert_int_equal(tm.tm_mday, 1);
			localtime_r(&second_before, &tm);
			assert_int_equal((tm.tm_mon + 1) % 12, month);
			lt_calendar_period(&next, &offsets, LT_MONTH, at, 1);
			assert_true(next.start_utc_s == now.end_utc_s);
			lt_calendar_period(&next, &offsets, LT_MONTH, now.start_utc_s, 0);
			assert_true(next.start_utc_s == now.start_utc_s);
			lt_calendar_period(&next, &offsets, LT_MONTH, now.start_utc_s - 1, 0);
			assert_true(next.end_utc_s == now.start_utc_s);
		}
	}
}

static void
test_parse(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "2026-13", "2026-00", "2026-Q5", "2026-Q0", "26-11",
	    "2026-11-01", "2026-1", "now", "2026-1x", "-026", "2026-Q1x"};
	struct lt_period period;
	struct lt_error err;
	use_zone("UTC");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct lt_error){0};
		if (lt_calendar_parse(&period, &offsets, bad[i], &err) != LT_EINPUT ||
		    err.text[0] == '\0')
			fail_msg("accepted \"%s\"", bad[i]);
	}
	assert_int_equal(lt_calendar_parse(&period, &offsets, "2026-11", NULL), LT_OK);
	assert_string_equal(period.label, "2026-11");
	assert_int_equal(lt_calendar_parse(&period, &offsets, "2026-Q2", NULL), LT_OK);
	assert_string_equal(period.label, "2026-Q2");
	assert_int_equal(lt_calendar_parse(&period, &offsets, "2026", NULL), LT_OK);
	assert_string_equal(period.label, "2026");
}

static void
test_bad_zone(void **state)
{
	(void)state;
	static const char *const bad[] = {"Europe/Lundon", "/etc/passwd", "../zoneinfo/UTC"};
	for (size_t i = 0; i < 3; i++) {
		struct lt_error err = {0};

		assert_int_equal(lt_time_zone_set(bad[i], &err), LT_EINPUT);
		assert_non_null(strstr(err.text, bad[i]));
	}
}

static void
test_steps(void **state)
{
	(void)state;
	struct lt_zone zone;
	int64_t now, change;
	use_zone("Europe/London");
	assert_int_equal(lt_utc_parse("2026-11-21T00:00:00Z", &now, NULL), LT_OK);
	assert_int_equal(lt_utc_parse("2027-03-28T01:00:00Z", &change, NULL), LT_OK);
	lt_calendar_zone(&zone, &offsets, now);
	assert_true(zone.count >= 4);
	assert_true(zone.steps[0].start_utc_s == INT64_MIN);
	int found = -1;
	for (int i = 1; i < zone.count; i++)
		if (zone.steps[i].start_utc_s == change)
			found = i;
	assert_true(found > 0);
	assert_int_equal(zone.steps[found].offset_s, 3600);
	assert_string_equal(zone.steps[found].abbreviation, "BST");
	use_zone("UTC");
	lt_calendar_zone(&zone, &offsets, now);
	assert_int_equal(zone.count, 1);
	assert_int_equal(zone.steps[0].offset_s, 0);
}

static void
test_time(void **state)
{
	static const struct {
		const char *why, *text, *utc; /* NULL = refused */
	} times[] = {
	    {"a day of summer begins an hour early", "2026-07-01", "2026-06-30T23:00:00Z"},
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
	use_zone("Europe/London");
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct lt_error err = {0};
		int64_t got = 0;
		char text[40] = "";
		const int code = lt_calendar_time(&got, &offsets, times[i].text, &err);

		if (code == LT_OK)
			lt_utc_text(text, sizeof(text), got);
		if (strcmp(text, times[i].utc != NULL ? times[i].utc : "") != 0 ||
		    (code != LT_OK && err.text[0] == '\0'))
			fail_msg("%s: got \"%s\"", times[i].why, text);
	}
}

/* The part of the period before that is as long as what has passed. */
static void
test_same_part(void **state)
{
	static const struct {
		const char *why, *zone;
		enum lt_period_kind kind;
		const char *now, *end;
	} parts[] = {
	    {"as many days, to the end of the hour", "UTC", LT_MONTH, "2026-11-28T17:40:00Z",
		"2026-10-28T18:00:00Z"},
	    {"on the hour: it has begun", "UTC", LT_MONTH, "2026-11-28T17:00:00Z",
		"2026-10-28T18:00:00Z"},
	    {"the first second", "UTC", LT_MONTH, "2026-11-01T00:00:00Z", "2026-10-01T01:00:00Z"},
	    {"the last hour of a day", "UTC", LT_MONTH, "2026-11-02T23:59:59Z",
		"2026-10-03T00:00:00Z"},
	    {"the last second is all but a day", "UTC", LT_MONTH, "2026-11-30T23:59:59Z",
		"2026-10-31T00:00:00Z"},
	    {"a shorter one as a whole", "UTC", LT_MONTH, "2026-03-29T00:00:00Z",
		"2026-03-01T00:00:00Z"},
	    {"its last day in part", "UTC", LT_MONTH, "2026-03-28T05:30:00Z",
		"2026-02-28T06:00:00Z"},
	    {"days of the zone", "Europe/Berlin", LT_MONTH, "2026-11-27T23:30:00Z",
		"2026-10-28T00:00:00Z"},
	    {"over a clock change, by the clock", "Europe/Berlin", LT_MONTH, "2026-11-20T11:30:00Z",
		"2026-10-20T11:00:00Z"},
	    {"on the day of one, as many hours", "Europe/Berlin", LT_MONTH, "2026-11-25T11:30:00Z",
		"2026-10-25T11:00:00Z"},
	    {"midnight after the day of one", "Europe/Berlin", LT_MONTH, "2026-11-25T22:30:00Z",
		"2026-10-25T23:00:00Z"},
	    {"half hours", "Asia/Kolkata", LT_MONTH, "2026-11-10T06:10:00Z",
		"2026-10-10T07:00:00Z"},
	    {"and their midnights", "Asia/Kolkata", LT_MONTH, "2026-11-10T18:20:00Z",
		"2026-10-10T18:30:00Z"},
	    {"a quarter", "UTC", LT_QUARTER, "2026-11-15T03:10:00Z", "2026-08-15T04:00:00Z"},
	    {"a year after one with 29 February", "UTC", LT_YEAR, "2025-12-31T12:00:00Z",
		"2024-12-30T13:00:00Z"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct lt_period period, before;
		int64_t now;
		char got[40];

		use_zone(parts[i].zone);
		assert_int_equal(lt_calendar_time(&now, &offsets, parts[i].now, NULL), LT_OK);
		lt_calendar_period(&period, &offsets, parts[i].kind, now, 0);
		lt_calendar_period(&before, &offsets, parts[i].kind, period.start_utc_s - 1, 0);
		lt_utc_text(
		    got, sizeof(got), lt_calendar_same_part(&offsets, &period, &before, now));
		if (strcmp(got, parts[i].end) != 0)
			fail_msg("%s: got %s, want %s", parts[i].why, got, parts[i].end);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_periods),
	    cmocka_unit_test(test_period_holds_now), cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_bad_zone), cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_time), cmocka_unit_test(test_same_part)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
