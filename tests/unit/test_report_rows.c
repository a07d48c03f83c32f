/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a statement add up to it, to the micro: random runs over the ends of periods,
 * corrected, moved to other accounts, late for what is closed. The sums are SQLite's own, of the
 * entries. What is closed stays byte for byte.
 */
#include <time.h>

#include "report_world.h"

/* Another amount, length or account. */
static void
change_run(struct world *w, uint32_t i)
{
	struct lt_run *const run = &w->runs[i];

	if (run->key.job_id == 0)
		return;
	if (draw(w, 2) == 0)
		strcpy(run->account, accounts[draw(w, ACCOUNTS)].name);
	if (draw(w, 2) == 0)
		run->end_utc_s += draw(w, 5) * HOUR;
	if (run->end_utc_s - run->start_utc_s > HOURS_MOST * HOUR)
		run->end_utc_s = run->start_utc_s + HOURS_MOST * HOUR;
	run->money_micros = 1 + draw(w, 100000);
	run->parts = (struct lt_parts){draw(w, 1000), draw(w, 100)};
	settle_run(w, run);
}

static void
adjust(struct world *w)
{
	struct lt_entry entry = {.kind = LT_ENTRY_ADJUSTMENT,
	    .at_utc_s = w->now_utc_s - draw(w, 3 * LT_DAY_S),
	    .made_utc_s = w->now_utc_s,
	    .money_micros = (int64_t)draw(w, 1000) - 500,
	    .carbon_mg = 1,
	    .who = "root",
	    .reason = "credit"};

	strcpy(entry.account, accounts[draw(w, ACCOUNTS)].name);
	must(w->f, lt_ledger_adjust(w->f->ledger, &entry, &w->f->err));
}

static int64_t
total(const json_t *report, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(report, "total"), key));
}

/* What of the cost is for carbon and taken off, wherever it stands. */
static void
check_parts(struct world *w, const json_t *report, const char *where)
{
	static const char *const names[] = {"carbon_charge_micros", "discount_micros"};
	const json_t *const runs = json_object_get(report, "runs");
	char corrected[600];
	const char *by;
	json_t *groups;

	snprintf(corrected, sizeof(corrected), "%s AND kind = 1", where);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const int64_t sum = sum_of(w, names[i], where);
		char correction[64];

		snprintf(correction, sizeof(correction), "corrections_%s", names[i]);
		assert_int_equal(total(report, names[i]), sum);
		assert_int_equal(added(json_object_get(report, "teams"), names[i]), sum);
		assert_int_equal(added(runs, names[i]), sum);
		assert_int_equal(added(runs, correction), sum_of(w, names[i], corrected));
		json_object_foreach(json_object_get(report, "by"), by, groups)
			assert_int_equal(added(groups, names[i]), sum);
	}
	assert_int_equal(total(report, "nodes_micros") + total(report, "carbon_charge_micros") -
			     total(report, "discount_micros") + total(report, "adjustments_micros"),
	    total(report, "cost_micros"));
}

/* A month's groups have what its hours in the period were booked for. */
static void
check_months(struct world *w, const json_t *report, const char *where)
{
	static const struct {
		const char *month;
		int64_t from_utc_s, to_utc_s;
	} months[] = {{"2026-10", OCTOBER, NOVEMBER}, {"2026-11", NOVEMBER, DECEMBER},
	    {"2026-12", DECEMBER, JANUARY}};
	const json_t *const groups = json_object_get(json_object_get(report, "by"), "month,team");
	const int64_t east = w->offsets.count > 0 ? w->offsets.steps[0].offset_s : 0;

	for (size_t i = 0; i < sizeof(months) / sizeof(*months); i++) {
		int64_t sum = 0;
		char sql[400];
		size_t k;
		json_t *group;

		json_array_foreach(groups, k, group)
			if (strcmp(json_string_value(json_object_get(group, "month")),
				months[i].month) == 0)
				sum += json_integer_value(json_object_get(group, "cost_micros"));
		snprintf(sql, sizeof(sql), "%s AND at_utc_s >= %lld AND at_utc_s < %lld", where,
		    (long long)(months[i].from_utc_s - east),
		    (long long)(months[i].to_utc_s - east));
		assert_int_equal(sum, sum_of(w, "money_micros", sql));
	}
}

/* Each way of asking, of one period and all or one account. */
static void
check(struct world *w, const char *period, const char *where, const char *team)
{
	static const char *const groupings[] = {
	    "day", "team", "partition", "name,state", "day,team", "month", "month,team"};
	char query[256], all[512];
	const char *const more = team[0] ? team : "";

	snprintf(all, sizeof(all), "%s%s%s%s", where, team[0] ? " AND account = '" : "", team,
	    team[0] ? "'" : "");
	snprintf(query, sizeof(query),
	    "%s%s%s&runs=all&by=day;team;partition;name,state;day,team;month;month,team", period,
	    team[0] ? "&team=" : "", more);
	json_t *const report = ask(w, query);
	const int64_t cost = sum_of(w, "money_micros", all);
	const int64_t carbon = sum_of(w, "carbon_mg", all);
	const json_t *const runs = json_object_get(report, "runs");
	const json_t *const adjustments = json_object_get(report, "adjustments");

	assert_int_equal(total(report, "cost_micros"), cost);
	assert_int_equal(total(report, "carbon_mg"), carbon);
	assert_int_equal(added(json_object_get(report, "teams"), "cost_micros"), cost);
	if (added(runs, "money_micros") + added(adjustments, "money_micros") != cost)
		fail_msg("%s: rows %lld + %lld, statement %lld", query,
		    (long long)added(runs, "money_micros"),
		    (long long)added(adjustments, "money_micros"), (long long)cost);
	assert_int_equal(added(runs, "carbon_mg") + added(adjustments, "carbon_mg"), carbon);
	assert_int_equal(added(runs, "corrections_micros"), total(report, "corrections_micros"));
	for (size_t i = 0; i < sizeof(groupings) / sizeof(*groupings); i++) {
		const json_t *const groups =
		    json_object_get(json_object_get(report, "by"), groupings[i]);

		if (added(groups, "cost_micros") != cost || added(groups, "carbon_mg") != carbon)
			fail_msg("%s by %s: %lld, want %lld", query, groupings[i],
			    (long long)added(groups, "cost_micros"), (long long)cost);
	}
	check_parts(w, report, all);
	check_months(w, report, all);
	json_decref(report);
}

/* The pages have the rows of the one answer. */
static void
check_pages(struct world *w, const char *period, const char *where)
{
	char query[256], next[128] = "";
	int64_t sum = 0;
	int pages = 0;

	do {
		snprintf(query, sizeof(query), "%s&limit=7&after=%s", period, next);
		json_t *const page = ask(w, query);
		const char *const place = json_string_value(json_object_get(page, "next"));

		sum += added(json_object_get(page, "runs"), "money_micros");
		snprintf(next, sizeof(next), "%s", place != NULL ? place : "");
		json_decref(page);
		assert_true(pages++ < RUNS);
	} while (next[0] != '\0');
	snprintf(query, sizeof(query), "%s AND kind != 2", where);
	assert_int_equal(sum, sum_of(w, "money_micros", query));
}

static void
check_all(struct world *w)
{
	static const struct {
		const char *query;
		int64_t from_utc_s, to_utc_s;
	} periods[] = {
	    {"period=2026-10", OCTOBER, NOVEMBER},
	    {"period=2026-11", NOVEMBER, DECEMBER},
	    {"period=2026-Q4", OCTOBER, JANUARY},
	    {"period=2026-09", OCTOBER - 30 * LT_DAY_S, OCTOBER},
	    {"from=2026-10-20&to=2026-11-02", OCTOBER + 19 * LT_DAY_S, NOVEMBER + 2 * LT_DAY_S},
	    {"from=2026-10-31T20:00Z&to=2026-11-01T03:00Z", NOVEMBER - 4 * HOUR,
		NOVEMBER + 3 * HOUR},
	};
	const int64_t east = w->offsets.count > 0 ? w->offsets.steps[0].offset_s : 0;

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		const bool is_instant = strchr(periods[i].query, 'T') != NULL;
		const int64_t by = is_instant ? 0 : east;
		char where[128];

		snprintf(where, sizeof(where), "at_utc_s >= %lld AND at_utc_s < %lld",
		    (long long)(periods[i].from_utc_s - by), (long long)(periods[i].to_utc_s - by));
		check(w, periods[i].query, where, "");
		check_pages(w, periods[i].query, where);
		for (int a = 0; a < ACCOUNTS; a++)
			check(w, periods[i].query, where, accounts[a].name);
	}
}

static void
test_sums(void **state)
{
	static const int64_t east_s[] = {0, 5 * HOUR + HOUR / 2, -8 * HOUR};
	struct fixture *const f = *state;

	for (uint32_t i = 0; i < 3; i++) {
		struct world w = {.f = f, .random = 42 + i, .now_utc_s = NOVEMBER + 20 * LT_DAY_S};

		empty(f);
		if (east_s[i] != 0)
			w.offsets = (struct lt_offsets){
			    .count = 1, .steps = {{INT64_MIN, (int32_t)east_s[i], "X"}}};
		for (uint32_t r = 0; r < RUNS; r++)
			new_run(&w, r);
		check_all(&w);
		for (int c = 0; c < RUNS / 4; c++)
			change_run(&w, draw(&w, RUNS));
		for (int c = 0; c < 9; c++)
			adjust(&w);
		check_all(&w);
		w.closed_until_utc_s = NOVEMBER - east_s[i];
		for (int c = 0; c < RUNS / 4; c++)
			change_run(&w, draw(&w, RUNS));
		check_all(&w);
	}
}

/* slurmdbd says more of it, beside its charge. */
static void
describe_run(struct world *w, uint32_t i)
{
	struct lt_run *const run = &w->runs[i];

	if (run->key.job_id == 0)
		return;
	strcpy(run->name, "renamed");
	run->exit_code = 256;
	run->used = (struct lt_run_used){.has_cpu = true, .cpu_ms = 1 + i};
	must(w->f, lt_ledger_describe_run(w->f->ledger,
		       &(struct lt_settlement){.run = run,
			   .now_utc_s = w->now_utc_s,
			   .open_since_utc_s = w->closed_until_utc_s},
		       &w->f->err));
}

static void
check_same(const char *before, const char *after, int64_t by)
{
	size_t same = 0;

	while (before[same] != '\0' && before[same] == after[same])
		same++;
	if (before[same] != after[same])
		fail_msg("closed, and now by %lld s \"%.200s\", was \"%.200s\"", (long long)by,
		    after + (same < 99 ? 0 : same - 99), before + (same < 99 ? 0 : same - 99));
}

/* What the member's list says of the key, in all. */
static int64_t
total_of(const json_t *list, const char *key)
{
	int64_t total = 0;
	size_t i;
	const json_t *one;

	json_array_foreach(list, i, one)
		total += json_integer_value(json_object_get(one, key));
	return total;
}

/* Each day's sums by partition and what is incurred are what SQLite adds up by the hours that were
 * used. */
static void
check_incurred(struct world *w)
{
	int days_moved = 0;

	for (int64_t day = OCTOBER; day < NOVEMBER + 10 * LT_DAY_S; day += LT_DAY_S) {
		char from[32], to[32], query[128], where[128];

		lt_utc_text(from, sizeof(from), day);
		lt_utc_text(to, sizeof(to), day + LT_DAY_S);
		snprintf(query, sizeof(query), "from=%s&to=%s&by=partition&incurred=1", from, to);
		json_t *const report = ask(w, query);
		const json_t *const groups =
		    json_object_get(json_object_get(report, "by"), "partition");
		const json_t *const list = json_object_get(report, "incurred");

		snprintf(where, sizeof(where),
		    "kind < 2 AND for_utc_s >= %lld AND for_utc_s < %lld", (long long)day,
		    (long long)(day + LT_DAY_S));
		assert_true(json_is_array(list));
		assert_int_equal(total_of(groups, "cost_micros") + total_of(list, "cost_micros"),
		    sum_of(w, "money_micros", where));
		assert_int_equal(
		    total_of(groups, "discount_micros") + total_of(list, "discount_micros"),
		    sum_of(w, "discount_micros", where));
		days_moved += total_of(list, "cost_micros") != 0;
		json_decref(report);
	}
	assert_true(days_moved > 5);
	free(ask_text(w, "incurred=yes", 400));
}

/* What comes for a closed month is a correction of the open one, and says so; the closed one's
 * answers stay, whatever the clock says: in the second of its closing, later, and set back. */
static void
test_closed(void **state)
{
	struct world w = {.f = *state, .random = 7, .now_utc_s = CLOSED_AT};
	static const char query[] = "period=2026-10&runs=all&by=day;team;name,state&top=5";
	static const int clocks_s[] = {0, 10, -HOUR, 20};
	enum { CLOCKS = sizeof(clocks_s) / sizeof(*clocks_s) };

	for (uint32_t r = 0; r < RUNS / 2; r++)
		new_run(&w, r);
	w.closed_until_utc_s = NOVEMBER;
	const int64_t october =
	    sum_of(&w, "money_micros", "at_utc_s < 1793491200"); /* its end, NOVEMBER */
	const int64_t closed_utc_s = time(NULL);
	close_october(&w, NULL, 200);
	char *const before = ask_text(&w, query, 200);
	assert_non_null(strstr(before, "\"state\":\"closed\""));
	/* Whoever reads runs as lines takes what is before them for a head. */
	assert_memory_equal(strchr(before, '\n') - 8, "\"runs\":[", 8);
	for (uint32_t c = 0; c < CLOCKS; c++) {
		w.now_utc_s = closed_utc_s + clocks_s[c];
		for (uint32_t r = 0; r < RUNS / 2 / CLOCKS; r++)
			new_run(&w, RUNS / 2 + c * (RUNS / 2 / CLOCKS) + r);
		for (int n = 0; n < RUNS / 2 / CLOCKS; n++) {
			change_run(&w, draw(&w, RUNS));
			describe_run(&w, draw(&w, RUNS));
		}
		char *const after = ask_text(&w, query, 200);
		check_same(before, after, clocks_s[c]);
		free(after);
	}
	assert_int_equal(sum_of(&w, "money_micros", "at_utc_s < 1793491200"), october);
	assert_int_equal(
	    sum_of(&w, "kind = 1 AND for_utc_s < 1793491200", "at_utc_s >= 1793491200") > 0, 1);
	free(before);
	/* They are booked when they come. */
	char open_month[40];
	strftime(open_month, sizeof(open_month), "period=%Y-%m&runs=all",
	    gmtime(&(time_t){closed_utc_s}));
	json_t *const open = ask(&w, open_month);
	size_t i, named = 0;
	json_t *run;
	json_array_foreach(json_object_get(open, "runs"), i, run) {
		const char *const corrects = json_string_value(json_object_get(run, "corrects"));

		named += corrects != NULL && strcmp(corrects, "2026-10") == 0;
	}
	assert_true(named > 10);
	json_decref(open);
	check_incurred(&w);
}

/* At a busy site some run always waits for its row. One that has no part in the month does not keep
 * it open. */
static void
test_waiting(void **state)
{
	struct world w = {.f = *state, .now_utc_s = CLOSED_AT};
	struct lt_ended ended = {.run = {.job_id = 7,
				     .submit_utc_s = OCTOBER,
				     .start_utc_s = NOVEMBER - 1,
				     .end_utc_s = NOVEMBER + HOUR}};

	close_october(&w, &ended, 409);
	ended.run.start_utc_s = NOVEMBER;
	close_october(&w, &ended, 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_waiting, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
