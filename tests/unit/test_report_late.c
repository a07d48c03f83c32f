/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each second of each run is used in one month, whenever its row came, and what corrects hours
 * before a month is of closed ones. Sums are SQLite's own, of the entries.
 */
#include "report_world.h"

/* The row's seconds within the month, and what of those before it is new. */
static int64_t
seconds_of(const json_t *row, int64_t from_utc_s, int64_t to_utc_s)
{
	int64_t start, end, late = json_integer_value(json_object_get(row, "earlier_late_s"));

	assert_int_equal(
	    lt_utc_parse(json_string_value(json_object_get(row, "start")), &start, NULL), LT_OK);
	assert_int_equal(
	    lt_utc_parse(json_string_value(json_object_get(row, "end")), &end, NULL), LT_OK);
	if (start < from_utc_s)
		start = from_utc_s;
	if (end > to_utc_s)
		end = to_utc_s;
	return late + (end > start ? end - start : 0);
}

/* What of a month's corrections is of hours before it: by the entries, and in closed months
 * alone. */
static void
check_earlier(struct world *w, const json_t *report, int64_t from_utc_s, int64_t to_utc_s)
{
	const json_t *const rows = json_object_get(report, "runs");
	const json_t *row, *end;
	char where[200];
	size_t i;
	int64_t utc_s;

	snprintf(where, sizeof(where),
	    "at_utc_s >= %lld AND at_utc_s < %lld AND for_utc_s < %lld"
	    " AND kind = 1",
	    (long long)from_utc_s, (long long)to_utc_s, (long long)from_utc_s);
	assert_int_equal(added(rows, "earlier_micros"), sum_of(w, "money_micros", where));
	assert_int_equal(
	    added(json_object_get(json_object_get(report, "by"), "partition"), "earlier_micros"),
	    sum_of(w, "money_micros", where));
	json_array_foreach(rows, i, row) {
		end = json_object_get(row, "earlier_end");
		if (end == NULL)
			continue;
		assert_int_equal(lt_utc_parse(json_string_value(end), &utc_s, NULL), LT_OK);
		assert_true(utc_s <= w->closed_until_utc_s);
	}
}

static void
test_late(void **state)
{
	static const struct {
		const char *query;
		int64_t from_utc_s, to_utc_s;
	} months[] = {{"period=2026-10&runs=all&by=partition", OCTOBER, NOVEMBER},
	    {"period=2026-11&runs=all&by=partition", NOVEMBER, DECEMBER},
	    {"period=2026-12&runs=all&by=partition", DECEMBER, JANUARY}};
	struct world w = {.f = *state, .random = 11, .now_utc_s = CLOSED_AT};
	int64_t seconds[RUNS + 1] = {0}, late = 0;

	for (uint32_t r = 0; r < RUNS / 3; r++)
		new_run(&w, r);
	close_october(&w, NULL, 200);
	w.closed_until_utc_s = NOVEMBER;
	w.now_utc_s = NOVEMBER + 20 * LT_DAY_S;
	for (uint32_t r = RUNS / 3; r < 2 * RUNS / 3; r++)
		new_run(&w, r);
	/* November is over, and not closed. */
	w.now_utc_s = DECEMBER + 2 * LT_DAY_S;
	for (uint32_t r = 2 * RUNS / 3; r < RUNS; r++)
		new_run(&w, r);
	for (size_t m = 0; m < sizeof(months) / sizeof(*months); m++) {
		json_t *const report = ask(&w, months[m].query);
		const json_t *row;
		size_t i;

		json_array_foreach(json_object_get(report, "runs"), i, row) {
			seconds[json_integer_value(json_object_get(row, "job_id"))] +=
			    seconds_of(row, months[m].from_utc_s, months[m].to_utc_s);
			late += json_integer_value(json_object_get(row, "earlier_late_s"));
		}
		check_earlier(&w, report, months[m].from_utc_s, months[m].to_utc_s);
		json_decref(report);
	}
	for (uint32_t r = 0; r < RUNS; r++)
		if (seconds[r + 1] != w.runs[r].end_utc_s - w.runs[r].start_utc_s)
			fail_msg("run %u: %lld s in all months, ran for %lld", r,
			    (long long)seconds[r + 1],
			    (long long)(w.runs[r].end_utc_s - w.runs[r].start_utc_s));
	assert_true(late > 100 * HOUR);
	/* At another price nothing of it is used again. */
	for (uint32_t r = 0; r < RUNS; r++) {
		w.runs[r].money_micros += 7;
		settle_run(&w, &w.runs[r]);
	}
	for (size_t m = 0; m < sizeof(months) / sizeof(*months); m++) {
		json_t *const report = ask(&w, months[m].query);

		late -= added(json_object_get(report, "runs"), "earlier_late_s");
		check_earlier(&w, report, months[m].from_utc_s, months[m].to_utc_s);
		json_decref(report);
	}
	assert_int_equal(late, 0);
	json_t *const quarter = ask(&w, "period=2026-Q4&runs=all&months=1");
	const json_t *const names = json_object_get(json_object_get(quarter, "period"), "months");
	assert_int_equal(added(json_object_get(quarter, "runs"), "earlier_late_s"), 0);
	assert_int_equal(json_array_size(names), 3);
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(names, 0), "state")), "closed");
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(names, 1), "label")), "2026-11");
	json_decref(quarter);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
