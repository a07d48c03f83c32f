/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates that were guessed and are known later: after an outage, of another source, and of the hours
 * that lowtided has in memory.
 */
#include "rates_fixture.h"

#define SOURCE(path)                                                                               \
	"currency: GBP\nsources:\n"                                                                \
	"  s: {adapter: file, quantity: price, currency: GBP, path: " path "}\n"                   \
	"partitions:\n  a: {price_per_node_hour: s}\n"

/* Hours of a price, the first of them at `from`; 0 = the source has none. */
static void
give_hours(
    struct site *site, int64_t from_utc_s, const double *values, uint32_t count, int64_t now_utc_s)
{
	struct lt_points points = {.quantity = LT_QUANTITY_PRICE};

	for (uint32_t i = 0; i < count; i++) {
		const int64_t at = from_utc_s + i * LT_HOUR_S;
		const struct lt_point point = {
		    at, at + LT_HOUR_S, values[i] * LT_MICROS, LT_QUALITY_MEASURED};

		if (values[i] > 0)
			assert_int_equal(lt_points_add(&points, &point, NULL), LT_OK);
	}
	assert_int_equal(lt_signals_take(site->d.ledger, site->d.site.policy,
			     &site->d.signals.sources[0], &points, now_utc_s),
	    LT_OK);
	lt_points_free(&points);
}

static void
is_rate(struct site *site, int64_t at, double value, enum lt_quality quality)
{
	const struct lt_rate_step step = step_at(site, LT_RATE_PRICE, at);

	if (step.value != value * LT_MICROS || step.quality != quality)
		fail_msg("at %lld: %g %d, not %g %d", (long long)(at - now), step.value / LT_MICROS,
		    step.quality, value, quality);
}

/* Down for twelve hours: what was not known then is a guess until the source has said what it was,
 * hour by hour; where it never says, it stays one. */
static void
test_outage(void **state)
{
	static const double before[] = {1, 2, 3},
			    after[] = {4, 5, 6, 0, 0, 0, 7, 8, 9, 10, 11, 12, 13};
	static const char text[] = SOURCE("/none");
	const int64_t back = now + 12 * LT_HOUR_S + 600;
	struct site *site = site_new(*state);

	load(site, text, now);
	give_hours(site, now - 3 * LT_HOUR_S, before, 3, now - 60);
	record(site, now - 60);
	is_rate(site, now - 60, 3, LT_QUALITY_MEASURED);
	site_free(site);
	/* Another lowtided. */
	site = site_new(*state);
	load(site, text, back);
	lt_signals_restore(&site->d.signals, site->d.ledger, back);
	record(site, back);
	is_rate(site, now - 60, 3, LT_QUALITY_MEASURED);
	for (int i = 0; i <= 12; i++)
		is_rate(site, now + i * LT_HOUR_S, 3, LT_QUALITY_LAST_VALUE);
	/* A source that has nothing to say puts nothing right. */
	free(site->d.site.rates.recorded);
	site->d.site.rates.recorded = NULL;
	record(site, back + 30);
	assert_int_equal(site->d.site.rates.righted_utc_s, 0);
	for (int twice = 0; twice < 2; twice++) {
		give_hours(site, now, after, 13, back + 60);
		record(site, back + 60);
		is_rate(site, now - 60, 3, LT_QUALITY_MEASURED);
		for (int i = 0; i <= 12; i++)
			is_rate(site, now + i * LT_HOUR_S, after[i] > 0 ? after[i] : 6,
			    after[i] > 0 ? LT_QUALITY_MEASURED : LT_QUALITY_LAST_VALUE);
		/* What was right then is not put right again. */
		assert_int_equal(site->d.site.rates.righted_utc_s, twice ? 0 : now);
		site->d.site.rates.righted_utc_s = 0;
	}
	/* What was measured stays, whatever the source says later. */
	give_hours(site, now + 7 * LT_HOUR_S, (const double[]){40}, 1, back + 120);
	record(site, back + 120);
	is_rate(site, now + 7 * LT_HOUR_S, 8, LT_QUALITY_MEASURED);
	assert_int_equal(site->d.site.rates.righted_utc_s, 0);
	site_free(site);
}

/* Another list, which knows nothing of the days before it. */
static void
test_another_source(void **state)
{
	static const char *const texts[] = {SOURCE("/one"), SOURCE("/two")};
	const int64_t back = now + 30 * LT_HOUR_S;
	struct site *const site = site_new(*state);

	load(site, texts[0], now);
	give_hours(site, now - LT_HOUR_S, (const double[]){3}, 1, now - 60);
	record(site, now - 60);
	/* As if it had been measured for as long as nothing else is said. */
	const struct lt_rate_step open = {.start_utc_s = now - LT_HOUR_S,
	    .end_utc_s = INT64_MAX,
	    .value = 3 * LT_MICROS,
	    .quality = LT_QUALITY_MEASURED};
	assert_int_equal(lt_ledger_put_rates(site->d.ledger, "a", LT_RATE_PRICE,
			     &(struct lt_rates){1, &open}, NULL),
	    LT_OK);
	load(site, texts[1], back);
	give_hours(site, back - LT_HOUR_S, (const double[]){7, 8}, 2, back + 60);
	record(site, back + 60);
	is_rate(site, back - 2 * LT_HOUR_S, 3, LT_QUALITY_LAST_VALUE);
	is_rate(site, back - LT_HOUR_S, 7, LT_QUALITY_MEASURED);
	site_free(site);
}

/* A guess of the last hours is put right, once, from where it was wrong. */
static void
test_recent_guess(void **state)
{
	static const double before[] = {1, 2}, same[] = {1, 2, 2}, after[] = {1, 2, 7};
	struct site *const site = site_new(*state);

	load(site, SOURCE("/none"), now);
	give_hours(site, now - 2 * LT_HOUR_S, before, 2, now - 60);
	/* The next hour has begun, and nobody has said what it costs. */
	record(site, now + 60);
	is_rate(site, now + 60, 2, LT_QUALITY_LAST_VALUE);
	assert_int_equal(site->d.site.rates.righted_utc_s, 0);
	give_hours(site, now - 2 * LT_HOUR_S, same, 3, now + 120);
	record(site, now + 120);
	is_rate(site, now + 60, 2, LT_QUALITY_MEASURED);
	assert_int_equal(site->d.site.rates.righted_utc_s, 0);
	/* And another one, whose price is not what it was. */
	record(site, now + LT_HOUR_S + 60);
	give_hours(site, now - LT_HOUR_S, after, 3, now + LT_HOUR_S + 300);
	record(site, now + LT_HOUR_S + 300);
	is_rate(site, now + LT_HOUR_S + 60, 7, LT_QUALITY_MEASURED);
	assert_int_equal(site->d.site.rates.righted_utc_s, now + LT_HOUR_S);
	site->d.site.rates.righted_utc_s = 0;
	give_hours(site, now - LT_HOUR_S, after, 3, now + LT_HOUR_S + 600);
	record(site, now + LT_HOUR_S + 600);
	assert_int_equal(site->d.site.rates.righted_utc_s, 0);
	/* One that is over, too. */
	const struct lt_rate_step guess = {.start_utc_s = now + 2 * LT_HOUR_S,
	    .end_utc_s = now + 2 * LT_HOUR_S + 1800,
	    .value = 3 * LT_MICROS,
	    .quality = LT_QUALITY_FORECAST};
	assert_int_equal(lt_ledger_put_rates(site->d.ledger, "a", LT_RATE_PRICE,
			     &(struct lt_rates){1, &guess}, NULL),
	    LT_OK);
	give_hours(site, now, (const double[]){2, 7, 8}, 3, now + 3 * LT_HOUR_S - 60);
	record(site, now + 3 * LT_HOUR_S - 60);
	assert_int_equal(site->d.site.rates.righted_utc_s, now + 2 * LT_HOUR_S);
	site_free(site);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_outage, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_another_source, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_recent_guess, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
