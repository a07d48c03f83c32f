/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is learned of forecasts: once an hour, from what came; who forecast is told apart; hindcasts
 * at the first start; bands never shrink with lead and hold about what they say.
 */
#include "ledger_fixture.h"

#include <math.h>
#include <sqlite3.h>

#include "forecast.h"
#include "forecast_learn.h"

enum {
	NOW = NOVEMBER + 15 * 60,
	DAYS = 28,
	HOURS = DAYS * 24,
	PAST_MAX = 80 * 24,
	KINDS = LT_FORECAST_KIND_COUNT,
	BUCKETS = LT_FORECAST_BUCKET_COUNT,
};

static struct lt_rate_step known[PAST_MAX + 400];

/* A day's shape and weather that loses a tenth an hour; hour 0 ends DAYS before NOW. */
static double
intensity(int hour)
{
	static double anomaly[PAST_MAX + 400];
	static int made;

	for (; made <= hour; made++) {
		static uint64_t seed = 7;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		anomaly[made] = (made > 0 ? 0.9 * anomaly[made - 1] : 0) +
				40 * ((double)(seed >> 11) * 0x1p-53 - 0.5);
	}
	return 300 + 80 * sin(hour * 0.2617993878) + anomaly[hour];
}

static struct lt_rate_step
step_of(int hour, enum lt_quality quality, double value)
{
	const int64_t first = NOVEMBER / HOUR - HOURS;

	return (struct lt_rate_step){.start_utc_s = (first + hour) * HOUR,
	    .end_utc_s = (first + hour + 1) * HOUR,
	    .value = value,
	    .quality = quality,
	    .source = "s"};
}

/* Measured hours [0, to), every ninth missing; then what the provider says of `ahead` more, `bias`
 * above what comes. */
static uint32_t
fill(int to, int ahead, double bias)
{
	uint32_t count = 0;

	for (int hour = to > HOURS ? to - HOURS : 0; hour < to; hour++)
		if (hour % 9 != 4)
			known[count++] = step_of(hour, LT_QUALITY_MEASURED, intensity(hour));
	for (int hour = to; hour < to + ahead; hour++)
		known[count++] = step_of(hour, LT_QUALITY_FORECAST, intensity(hour) + bias);
	return count;
}

static void
learn(struct fixture *f, uint32_t count, int64_t now_utc_s)
{
	const struct lt_known all = {
	    .steps = known, .count = count, .seasonal = true, .now_utc_s = now_utc_s};

	must(f, lt_forecast_learn(f->ledger, "grid", &all, &f->err));
}

static void
bands_of(struct fixture *f, const char *key, struct lt_forecast_band bands[KINDS][BUCKETS])
{
	must(f, lt_forecast_bands(f->ledger, key, bands, &f->err));
}

static void
test_buckets(void **state)
{
	static const struct {
		int64_t lead_s;
		int bucket;
	} cases[] = {{-5, 0}, {0, 0}, {HOUR, 0}, {HOUR + 1, 1}, {3 * HOUR, 1}, {4 * HOUR, 2},
	    {24 * HOUR, 4}, {25 * HOUR, 5}, {192 * HOUR, 7}, {1000 * HOUR, 7}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(lt_forecast_bucket(cases[i].lead_s), cases[i].bucket);
	assert_string_equal(lt_forecast_kind_name(LT_FORECAST_LAST_VALUE), "last_value");
	assert_string_equal(lt_forecast_kind_name(LT_FORECAST_KIND_COUNT), "unknown");
}

static void
test_nothing_known(void **state)
{
	struct fixture *const f = *state;
	struct lt_forecast_band bands[KINDS][BUCKETS];

	learn(f, 0, NOW);
	bands_of(f, "grid", bands);
	for (int kind = 0; kind < KINDS; kind++)
		for (int i = 0; i < BUCKETS; i++) {
			assert_int_equal(bands[kind][i].count, 0);
			assert_false(bands[kind][i].has_interval);
		}
}

/* The first start: four weeks came from the provider at once. */
static void
test_hindcast(void **state)
{
	struct fixture *const f = *state;
	struct lt_forecast_band bands[KINDS][BUCKETS];

	learn(f, fill(HOURS, 0, 0), NOW);
	bands_of(f, "grid", bands);
	for (int i = 0; i < BUCKETS; i++) {
		const struct lt_forecast_band *const own = &bands[LT_FORECAST_OWN][i];

		assert_true(own->count > 80);
		assert_true(fabs(own->mean) <= own->mean_abs);
		assert_true(own->mean_abs < bands[LT_FORECAST_LAST_VALUE][i].mean_abs);
		assert_true(own->half_width > 1.59 * own->mean_abs);
		assert_true(own->half_width_95 > 1.6 * own->half_width);
		if (i > 0)
			assert_true(own->half_width >= own[-1].half_width);
		assert_int_equal(bands[LT_FORECAST_PROVIDER][i].count, 0);
	}
	/* Another source knows nothing of it. */
	bands_of(f, "other", bands);
	assert_int_equal(bands[LT_FORECAST_OWN][0].count, 0);
}

/* In the same hour nothing is done again. */
static void
test_once_an_hour(void **state)
{
	struct fixture *const f = *state;
	struct lt_forecast_band before[KINDS][BUCKETS], after[KINDS][BUCKETS];
	const uint32_t count = fill(HOURS, 0, 0);

	learn(f, count, NOW);
	bands_of(f, "grid", before);
	learn(f, count, NOW + 30 * 60);
	bands_of(f, "grid", after);
	assert_memory_equal(before, after, sizeof(before));
}

/* Four weeks of hours, one after the other: the provider is 10 too high, and what is said to hold
 * 80 % does. */
static void
test_scores(void **state)
{
	struct fixture *const f = *state;
	struct lt_forecast_band bands[KINDS][BUCKETS];

	for (int hour = 0; hour < 21 * 24; hour++)
		learn(f, fill(HOURS + hour, 48, 10), NOW + (int64_t)hour * HOUR);
	bands_of(f, "grid", bands);
	for (int i = 0; i < BUCKETS; i++) {
		const struct lt_forecast_band *const provider = &bands[LT_FORECAST_PROVIDER][i];

		if (lt_forecast_bucket_hours[i + 1] <= 48) {
			assert_true(provider->count > 350);
			assert_true(fabs(provider->mean - 10) < 1e-6);
			assert_true(fabs(provider->half_width - 16) < 1e-6);
		} else {
			assert_int_equal(provider->count, 0);
			assert_true(provider->has_interval);
			assert_true(fabs(provider->half_width - 16) < 1e-6);
		}
		assert_true(bands[LT_FORECAST_OWN][i].count > 200);
	}
	int inside = 0, inside_95 = 0, all = 0;
	for (int hour = 21 * 24; hour < 28 * 24; hour += 5) {
		static struct lt_rate_step out[LT_FORECAST_HOURS + 2];
		const uint32_t count = fill(HOURS + hour, 0, 0);
		const int64_t now = NOW + (int64_t)hour * HOUR;
		const uint32_t got = lt_forecast(out, LT_FORECAST_HOURS + 2,
		    &(struct lt_known){
			.steps = known, .count = count, .seasonal = true, .now_utc_s = now});

		for (uint32_t i = 1; i < got; i++) {
			const int64_t lead_s = out[i].start_utc_s - now / HOUR * HOUR;
			const double seen =
			    intensity((int)(out[i].start_utc_s / HOUR - (NOVEMBER / HOUR - HOURS)));
			const struct lt_forecast_band *const band =
			    &bands[LT_FORECAST_OWN][lt_forecast_bucket(lead_s)];

			inside += fabs(out[i].value - seen) <= band->half_width;
			inside_95 += fabs(out[i].value - seen) <= band->half_width_95;
			all++;
		}
	}
	assert_true(inside > all * 0.7 && inside < all * 0.92);
	assert_true(inside_95 > all * 0.9 && inside_95 < all);
}

/* Values that come late are waited for, those that never come are dropped. */
static void
test_waits(void **state)
{
	struct fixture *const f = *state;
	struct lt_due due;
	const int64_t hour = NOW / HOUR;

	learn(f, fill(HOURS, 48, 10), NOW);
	/* A day on, nothing new was measured. */
	learn(f, fill(HOURS, 48, 10), NOW + 24 * HOUR);
	must(f, lt_ledger_due_forecasts(f->ledger, "grid", hour + 24, &due, &f->err));
	assert_true(due.count >= 8);
	free(due.issued);
	/* It comes: scored and forgotten. */
	learn(f, fill(HOURS + 25, 23, 10), NOW + 25 * HOUR);
	must(f, lt_ledger_due_forecasts(f->ledger, "grid", hour + 24, &due, &f->err));
	for (uint32_t i = 0; i < due.count; i++) /* the hours that are missing */
		assert_int_equal((due.issued[i].target_hour - (NOVEMBER / HOUR - HOURS)) % 9, 4);
	free(due.issued);
	/* Never: dropped three days after its hour. */
	learn(f, fill(HOURS + 25, 48, 10), NOW + 600 * HOUR);
	must(f, lt_ledger_due_forecasts(f->ledger, "grid", hour + 600 - 72, &due, &f->err));
	assert_int_equal(due.count, 0);
	free(due.issued);
}

static void
test_bounds(void **state)
{
	struct fixture *const f = *state;
	struct lt_issued bad = {NOW / HOUR, NOW / HOUR + 1, 0, NAN};
	struct lt_error_sum sums[2] = {{1, 2, 4, 8, 8}, {1, 3, 0, 0, 0}};
	struct lt_error_sum got[4];
	int64_t hour;
	struct lt_forecast_news news = {
	    .hour = NOW / HOUR, .fresh = &bad, .fresh_count = 1, .sums = sums, .sum_count = 2};

	/* All or nothing. */
	assert_int_equal(lt_ledger_put_forecasts(f->ledger, "grid", &news, &f->err), LT_EINPUT);
	assert_int_equal(lt_ledger_forecast_errors(f->ledger, "grid", got, 4, &f->err), 0);
	bad.value = 3;
	must(f, lt_ledger_put_forecasts(f->ledger, "grid", &news, &f->err));
	news.fresh_count = 0;
	news.hour += 24;
	must(f, lt_ledger_put_forecasts(f->ledger, "grid", &news, &f->err));
	assert_int_equal(lt_ledger_forecast_errors(f->ledger, "grid", got, 4, &f->err), 1);
	assert_int_equal(got[0].count, 8);
	assert_true(got[0].sum == 16);
	must(f, lt_ledger_last_forecast(f->ledger, "grid", &hour, &f->err));
	assert_int_equal(hour, NOW / HOUR);
	/* After 90 days the errors are forgotten, day by day. */
	news.sum_count = 0;
	news.hour = NOW / HOUR + 91 * 24;
	must(f, lt_ledger_put_forecasts(f->ledger, "other", &news, &f->err));
	assert_int_equal(lt_ledger_forecast_errors(f->ledger, "grid", got, 4, &f->err), 1);
	assert_int_equal(got[0].count, 4);
	must(f, lt_ledger_last_forecast(f->ledger, "grid", &hour, &f->err));
	assert_int_equal(hour, -1);
}

/* A signals.db of version 1 keeps its points and learns from then on. */
static void
test_version_1(void **state)
{
	struct fixture *const f = *state;
	struct lt_forecast_band bands[KINDS][BUCKETS];
	struct lt_rate_step *points;
	const uint32_t count = fill(HOURS, 0, 0);
	uint32_t got;
	char path[96];
	sqlite3 *db;

	must(f, lt_ledger_put_points(f->ledger, "grid", known, 1, &f->err));
	lt_ledger_close(f->ledger);
	snprintf(path, sizeof(path), "%s/signals.db", f->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
			     "DROP TABLE forecasts; DROP TABLE forecast_errors;"
			     "ALTER TABLE rates DROP COLUMN issued_utc_s;"
			     "PRAGMA user_version=1",
			     NULL, NULL, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	must(f, lt_ledger_open(&f->ledger, f->dir, &f->err));
	must(f, lt_ledger_points(f->ledger, &(struct lt_points_asked){"grid", {0, NOW}}, &points,
		    &got, &f->err));
	assert_int_equal(got, 1);
	free(points);
	learn(f, count, NOW);
	bands_of(f, "grid", bands);
	assert_true(bands[LT_FORECAST_OWN][0].count > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_buckets),
	    EACH(test_nothing_known),
	    EACH(test_hindcast),
	    EACH(test_once_an_hour),
	    EACH(test_scores),
	    EACH(test_waits),
	    EACH(test_bounds),
	    EACH(test_version_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
