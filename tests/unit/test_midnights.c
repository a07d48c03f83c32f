/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Days and months of zones whose midnights are amid an hour of UTC: charges as lowtided makes them
 * against a book that is kept here, minute by minute, by the C library's own local time. All rates
 * are whole per second, so all sums are exact.
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>

#include "carbon_fixture.h"
#include "time_zone.h"

enum {
	RUNS = 250,
	DAYS = 44, /* from 1 October to 13 November, UTC */
	MONTHS = 3,
	FIRST = NOVEMBER - 31 * LT_DAY_S,
	DEARER = NOVEMBER - 3 * LT_DAY_S, /* price and carbon are doubled */
	MICROS_A_S = 1000,
	MG_A_S = 100,
	EMBODIED_MG_A_S = 10,
};

static const char *const zones[] = {
    "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Adelaide"};

struct sums {
	int64_t money_micros, mg, embodied_mg, wh, node_s;
};
static struct book {
	struct sums days[DAYS + 1], months[MONTHS]; /* the first: -, October */
	struct sums teams[MONTHS][2], places[MONTHS][PARTITIONS];
} book;

static int64_t now_utc_s = NOVEMBER + 20 * LT_DAY_S;

time_t
time(time_t *out)
{
	if (out != NULL)
		*out = now_utc_s;
	return now_utc_s;
}

static void
add(struct sums *to, const struct sums *more)
{
	to->money_micros += more->money_micros;
	to->mg += more->mg;
	to->embodied_mg += more->embodied_mg;
	to->wh += more->wh;
	to->node_s += more->node_s;
}

/* A minute is of one local day, and of one price. */
static void
note(const struct lt_batch_run *row)
{
	const int place = strcmp(row->partition, "onprem") == 0;
	const int team = strcmp(row->account, "vision") == 0;

	for (int64_t at = row->start_utc_s; at < row->end_utc_s; at += 60) {
		const time_t then = at;
		const int64_t times = at < DEARER ? 1 : 2;
		const struct sums minute = {60 * MICROS_A_S * times,
		    60 * (MG_A_S * times + place * EMBODIED_MG_A_S), 60 * place * EMBODIED_MG_A_S,
		    60, 60};
		struct tm tm;

		localtime_r(&then, &tm);
		const int month = tm.tm_mon - 9;
		const int day = month * 31 + tm.tm_mday;
		assert_true(month >= 0 && month < MONTHS);
		if (day <= DAYS)
			add(&book.days[day], &minute);
		add(&book.months[month], &minute);
		add(&book.teams[month][team], &minute);
		add(&book.places[month][place], &minute);
	}
}

static void
set_rates(struct world *w)
{
	for (int i = 0; i < PARTITIONS; i++) {
		w->partitions[i].node_idle_w = 3600 / 1.25; /* 1 Wh a second */
		w->partitions[i].node_gpu_w = 1e-12;
		put(w, i, LT_RATE_PRICE, 1, 3600 * MICROS_A_S, "");
		put(w, i, LT_RATE_PRICE, DEARER, 2 * 3600 * MICROS_A_S, "");
		put(w, i, LT_RATE_CARBON, 1, MG_A_S, "grid");
		put(w, i, LT_RATE_CARBON, DEARER, 2 * MG_A_S, "grid");
		put(w, i, LT_RATE_PUE, 1, 1.25, "");
		put(w, i, LT_RATE_EMBODIED, 1, i * EMBODIED_MG_A_S * 3600 / 1000.0, "");
		put(w, i, LT_RATE_NODES, 1, 9, "");
	}
}

/* Of some minutes or of days; every third over a full half of an hour. */
static struct lt_batch_run
random_row(struct world *w, uint32_t job_id)
{
	const int64_t minutes = 1 + (int64_t)(lt_random(&w->random) % (job_id % 2 ? 90 : 50 * 60));
	int64_t start = (int64_t)(lt_random(&w->random) % (DAYS * 24 * 60)) * 60;

	if (job_id % 3 == 0)
		start += 45 * 60 - start % HOUR;
	struct lt_batch_run row = make_row(
	    job_id, (int)(job_id % PARTITIONS), FIRST - NOVEMBER + LT_DAY_S + start, minutes * 60);
	if (lt_random(&w->random) % 2)
		strcpy(row.account, "nlp");
	return row;
}

static void
is(const json_t *of, const char *key, int64_t want, const char *where)
{
	if (figure(of, key) != want)
		fail_msg("%s, %s: got %lld, want %lld", where, key, (long long)figure(of, key),
		    (long long)want);
}

/* A line, or a group, of a report. */
static void
is_sums(const json_t *of, const struct sums *want, const char *where)
{
	is(of, "cost_micros", want->money_micros, where);
	is(of, "carbon_mg", want->mg, where);
	is(of, "energy_wh", want->wh, where);
}

/* All that a report sums up of a span. */
static void
check_span(struct world *w, const char *span, const struct sums *want)
{
	char query[128];

	snprintf(query, sizeof(query), "%s&unused=1&by=partition", span);
	json_t *const report = ask(w, query, 200);
	is_sums(json_object_get(report, "total"), want, span);
	const json_t *const unused = json_object_get(json_object_get(report, "unused"), "total");
	is(unused, "used_micros", want->money_micros, span);
	is(unused, "used_node_s", want->node_s, span);
	json_decref(report);

	snprintf(query, sizeof(query), "%s&carbon=1", span);
	json_t *const carbon = ask(w, query, 200);
	const json_t *const rows = json_object_get(carbon_of(carbon), "rows");
	assert_int_equal(added(rows, "embodied_mg"), want->embodied_mg);
	assert_int_equal(added(rows, "location_mg"), want->mg - want->embodied_mg);
	json_decref(carbon);

	snprintf(query, sizeof(query), "%s&carbon=hours", span);
	json_t *const all = ask(w, query, 200);
	const json_t *const hours = json_object_get(all, "hours");
	assert_int_equal(added(hours, "seconds"), want->node_s);
	assert_int_equal(added(hours, "money_micros"), want->money_micros);
	json_decref(all);
}

/* The months' groups by day, and each day by itself. */
static void
check_days(struct world *w)
{
	json_t *const report = ask(w, "period=2026-Q4&by=day", 200);
	const json_t *const days = json_object_get(json_object_get(report, "by"), "day");
	size_t i;
	const json_t *row;

	assert_true(json_array_size(days) > DAYS);
	json_array_foreach(days, i, row) {
		const char *const day = text_of(row, "day");
		const int number = (atoi(day + 5) - 10) * 31 + atoi(day + 8);
		char span[64];

		if (number > DAYS)
			continue;
		is_sums(row, &book.days[number], day);
		is(row, "node_s", book.days[number].node_s, day);
		snprintf(span, sizeof(span), "from=%s&to=%s", day, day);
		check_span(w, span, &book.days[number]);
	}
	json_decref(report);
}

static void
check_groups(struct world *w, const char *span, const char *by, const struct sums sums[2])
{
	char query[128];
	size_t i;
	const json_t *row;

	snprintf(query, sizeof(query), "%s&by=%s", span, by);
	json_t *const report = ask(w, query, 200);
	json_array_foreach(json_object_get(json_object_get(report, "by"), by), i, row) {
		const char *const name = text_of(row, by);

		is_sums(
		    row, &sums[strcmp(name, "vision") == 0 || strcmp(name, "onprem") == 0], name);
	}
	assert_int_equal(i, 2);
	json_decref(report);
}

static void
check_months(struct world *w)
{
	for (int m = 0; m < MONTHS - 1; m++) {
		char span[32];

		snprintf(span, sizeof(span), "period=2026-%d", 10 + m);
		check_span(w, span, &book.months[m]);
		check_groups(w, span, "team", book.teams[m]);
		check_groups(w, span, "partition", book.places[m]);
	}
}

/* The rows of the carbon report are by month, and each is its own. */
static void
check_carbon_months(struct world *w)
{
	json_t *const report = ask(w, "period=2026-Q4&carbon=1", 200);
	int64_t mg[MONTHS] = {0};
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(carbon_of(report), "rows"), i, row) {
		const int month = atoi(text_of(row, "month") + 5) - 10;

		assert_true(month >= 0 && month < MONTHS);
		mg[month] += figure(row, "location_mg");
		mg[month] += json_integer_value(json_object_get(row, "embodied_mg"));
	}
	for (int m = 0; m < MONTHS; m++)
		assert_int_equal(mg[m], book.months[m].mg);
	json_decref(report);
}

static struct world *
make_zone(struct fixture *f, const char *zone)
{
	struct world *const w = make_world(f);

	must(f, lt_time_zone_set(zone, &f->err));
	lt_time_zone_offsets(&w->d->site.offsets);
	w->random = 42;
	set_rates(w);
	memset(&book, 0, sizeof(book));
	return w;
}

static void
test_sums(void **state)
{
	struct fixture *const f = *state;

	for (size_t z = 0; z < sizeof(zones) / sizeof(*zones); z++) {
		empty(f);
		struct world *const w = make_zone(f, zones[z]);

		print_message("# %s\n", zones[z]);
		for (uint32_t i = 1; i <= RUNS; i++) {
			struct lt_batch_run row = random_row(w, i);

			/* First of two nodes; put right, by corrections. */
			if (i % 5 == 0) {
				struct lt_batch_run wrong = row;

				wrong.nodes = 2;
				wrong.cpus *= 2;
				wrong.gpus *= 2;
				settle_row(w, &wrong, now_utc_s - HOUR);
			}
			settle_row(w, &row, now_utc_s);
			note(&row);
		}
		check_days(w);
		check_months(w);
		check_carbon_months(w);
		free_world(w);
	}
}

enum { /* of November in Kolkata, in seconds from November in UTC */
	MIDNIGHT = -19800,
	DECEMBER_UTC_S = DECEMBER + MIDNIGHT,
	OF_NODE = 2 * MICROS_A_S, /* then */
};

/* As it was before hours were cut. */
static void
settle_whole(struct world *w, const struct lt_batch_run *row)
{
	const struct lt_offsets offsets = w->d->site.offsets;

	w->d->site.offsets = (struct lt_offsets){0};
	settle_row(w, row, now_utc_s);
	w->d->site.offsets = offsets;
}

static void
close_october(struct world *w)
{
	static const char body[] = "{\"period\":\"2026-10\"}";
	char *reply = NULL;
	const int status = lt_api(w->d,
	    &(struct lt_api_asked){.method = "POST",
		.uri = "/v1/close",
		.body = body,
		.body_length = sizeof(body) - 1},
	    &reply);

	if (status != 200)
		fail_msg("%s", reply);
	free(reply);
}

/* As an older release left it. */
static void
mark_whole_hours(struct world *w)
{
	char path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/ledger.db", w->f->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(db, "UPDATE closed SET whole_hours = 1", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void
is_month(struct world *w, const char *month, int runs, int64_t seconds)
{
	char query[64];

	snprintf(query, sizeof(query), "period=%s", month);
	json_t *const report = ask(w, query, 200);
	const json_t *const total = json_object_get(report, "total");
	is(total, "runs", runs, month);
	is(total, "cost_micros", seconds * OF_NODE, month);
	json_decref(report);
	snprintf(query, sizeof(query), "period=%s&carbon=hours", month);
	json_t *const all = ask(w, query, 200);
	assert_int_equal(added(json_object_get(all, "hours"), "seconds"), seconds);
	json_decref(all);
}

static void
is_owned_until(struct world *w, const char *until)
{
	json_t *const report = ask(w, "period=2026-10&unused=1", 200);
	const json_t *const rows = json_object_get(json_object_get(report, "unused"), "partitions");

	assert_string_equal(text_of(json_array_get(rows, 0), "to"), until);
	json_decref(report);
}

/* Hours that were booked whole stay so, in a closed month for ever: half an hour of November is
 * October's. */
static void
test_old_rows(void **state)
{
	static const char *const queries[] = {"/v1/report?period=2026-10",
	    "/v1/report?period=2026-10&by=day", "/v1/report?period=2026-10&unused=1",
	    "/v1/report?period=2026-10&carbon=1", "/v1/report?period=2026-10&carbon=hours",
	    "/v1/report?period=2026-10&runs=all"};
	enum { QUERIES = sizeof(queries) / sizeof(*queries) };
	struct world *const w = make_zone(*state, "Asia/Kolkata");
	struct lt_batch_run old = make_row(1, 1, MIDNIGHT - 2400, 2 * HOUR);
	const struct lt_batch_run brief = make_row(2, 1, MIDNIGHT - 60, 600);
	const struct lt_batch_run cut = make_row(3, 1, MIDNIGHT - 60, 600);
	char *texts[QUERIES];

	settle_whole(w, &old);
	settle_whole(w, &brief);
	is_month(w, "2026-10", 2, 600 + HOUR + 600);
	is_month(w, "2026-11", 1, 3000);
	close_october(w);
	is_owned_until(w, "2026-10-31T18:30:00Z");
	mark_whole_hours(w);
	is_owned_until(w, "2026-10-31T19:00:00Z");
	for (int i = 0; i < QUERIES; i++)
		texts[i] = api_ask_text(w->d, queries[i], 200);
	/* Priced again, and corrected; and one that came late. */
	settle_row(w, &old, now_utc_s + HOUR);
	is_month(w, "2026-11", 1, 3000);
	old.nodes = 2;
	old.cpus *= 2;
	old.gpus *= 2;
	settle_row(w, &old, now_utc_s + HOUR);
	settle_row(w, &cut, now_utc_s + HOUR);
	for (int i = 0; i < QUERIES; i++) {
		char *const after = api_ask_text(w->d, queries[i], 200);

		if (strcmp(texts[i], after) != 0)
			fail_msg("%s: got %s, want %s", queries[i], after, texts[i]);
		free(texts[i]);
		free(after);
	}
	json_t *const report = ask(w, "period=2026-11", 200);
	is(json_object_get(report, "total"), "cost_micros", (3000 + 2 * HOUR + 600) * OF_NODE,
	    "November");
	json_decref(report);
	free_world(w);
}

/* What closed hours cost is booked in the day that it is: ten minutes after midnight, in the hour
 * of UTC that began before it. */
static void
test_late(void **state)
{
	struct world *const w = make_zone(*state, "Asia/Kolkata");
	const struct lt_batch_run early = make_row(1, 1, MIDNIGHT - 60, 60);
	const struct lt_batch_run late = make_row(2, 1, MIDNIGHT - 60, 120);

	now_utc_s = DECEMBER_UTC_S + 600;
	settle_row(w, &early, NOVEMBER + HOUR);
	close_october(w);
	settle_row(w, &late, now_utc_s);
	is_month(w, "2026-10", 1, 60);
	is_month(w, "2026-11", 1, 60);
	json_t *const report = ask(w, "period=2026-12", 200);
	is(json_object_get(report, "total"), "cost_micros", 60 * OF_NODE, "December");
	json_decref(report);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(test_sums),
	    EACH(test_old_rows),
	    EACH(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
