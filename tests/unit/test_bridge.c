/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holes of a source on the way to the market, and prices of other currencies on the way to the
 * ledger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rate.h"
#include "exchange_rates.h"

#define M LT_QUALITY_MEASURED
#define E LT_QUALITY_ESTIMATED
#define L LT_QUALITY_LAST_VALUE
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct step {
	int64_t start, end; /* minutes */
	double value;
	enum lt_quality quality;
};

static const struct {
	const char *why;
	uint32_t room;
	struct step known[4], want[6]; /* ended by end 0 */
} bridges[] = {
    {"nothing", 9, {{0}}, {{0}}},
    {"no hole", 9, {{0, 30, 5, M}, {30, 60, 7, M}}, {{0, 30, 5, M}, {30, 60, 7, M}}},
    {"one half hour is the mean, marked", 9, {{0, 30, 5, M}, {60, 90, 7, M}},
	{{0, 30, 5, M}, {30, 60, 6, E}, {60, 90, 7, M}}},
    {"two hours still", 9, {{0, 30, 5, M}, {150, 180, 7, M}},
	{{0, 30, 5, M}, {30, 150, 6, E}, {150, 180, 7, M}}},
    {"a minute more is no mean: what was goes on, marked", 9, {{0, 30, 5, M}, {151, 180, 7, M}},
	{{0, 30, 5, M}, {30, 151, 5, L}, {151, 180, 7, M}}},
    {"no more than there is room for", 2, {{0, 30, 5, M}, {60, 90, 7, M}},
	{{0, 30, 5, M}, {30, 60, 6, E}}},
};

static uint32_t
steps_of(struct lt_rate_step *out, const struct step *steps)
{
	uint32_t count = 0;

	for (; steps[count].end > 0; count++)
		out[count] = (struct lt_rate_step){.start_utc_s = steps[count].start * 60,
		    .end_utc_s = steps[count].end * 60,
		    .value = steps[count].value,
		    .quality = steps[count].quality};
	return count;
}

static void
test_bridge(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bridges); i++) {
		struct lt_rate_step known[4], want[6], got[9];
		const uint32_t count = steps_of(known, bridges[i].known);
		const uint32_t wanted = steps_of(want, bridges[i].want);
		const uint32_t used = lt_bridge(got, bridges[i].room, known, count);

		if (used != wanted)
			fail_msg("%s: %u steps", bridges[i].why, used);
		for (uint32_t k = 0; k < used; k++)
			if (got[k].start_utc_s != want[k].start_utc_s ||
			    got[k].end_utc_s != want[k].end_utc_s ||
			    got[k].value != want[k].value || got[k].quality != want[k].quality)
				fail_msg("%s: step %u: %f, %d", bridges[i].why, k, got[k].value,
				    (int)got[k].quality);
	}
}

static struct lt_policy_exchange rows[] = {
    {"GBP", 1.25, INT64_MIN},
    {"USD", 0.90, 1000},
    {"USD", 0.95, 2000},
};

static const struct {
	const char *why, *site, *currency;
	struct lt_point point;
	const char *says; /* NULL = good */
	struct lt_point want[3];
} conversions[] = {
    {"the site's own, unsaid", "EUR", "", {0, 100, 5000000, M}, NULL, {{0, 100, 5000000, M}}},
    {"the site's own, said", "EUR", "EUR", {0, 100, 5000000, M}, NULL, {{0, 100, 5000000, M}}},
    {"a rate for all times", "EUR", "GBP", {0, 100, 4000000, M}, NULL, {{0, 100, 5000000, M}}},
    {"the rate of the day", "EUR", "USD", {1500, 1600, 1000000, M}, NULL,
	{{1500, 1600, 900000, M}}},
    {"cut where the rate changes, and before the first one nothing", "EUR", "USD",
	{500, 2500, 1000000, M}, NULL, {{1000, 2000, 900000, M}, {2000, 2500, 950000, M}}},
    {"whole micros", "EUR", "USD", {1500, 1600, 7, M}, NULL, {{1500, 1600, 6, M}}},
    {"only before the first rate", "EUR", "USD", {10, 20, 7, M},
	"prices in USD, want EUR: exchange_rates: has no row of USD", {{0}}},
    {"no rate at all", "EUR", "JPY", {10, 20, 7, M}, "exchange_rates: has no row of JPY", {{0}}},
    {"a site without money", "", "USD", {10, 20, 7, M}, "the policy file has no currency:", {{0}}},
};

static void
test_convert(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(conversions); i++) {
		const char *const why = conversions[i].why;
		struct lt_policy policy = {.exchanges = rows, .exchange_count = COUNT(rows)};
		struct lt_points points = {.quantity = LT_QUANTITY_PRICE};
		struct lt_error err = {0};
		size_t wanted = 0;

		strcpy(policy.currency, conversions[i].site);
		strcpy(points.currency, conversions[i].currency);
		assert_int_equal(lt_points_add(&points, &conversions[i].point, &err), LT_OK);
		const int code = lt_points_convert(&points, &policy, &err);
		if ((code == LT_OK) != (conversions[i].says == NULL) ||
		    (code != LT_OK && strstr(err.text, conversions[i].says) == NULL))
			fail_msg("%s: %d %s", why, code, err.text);
		while (conversions[i].want[wanted].end_utc_s > 0)
			wanted++;
		if (code == LT_OK && points.count != wanted)
			fail_msg("%s: %zu points", why, points.count);
		for (size_t k = 0; code == LT_OK && k < wanted; k++)
			if (memcmp(&points.points[k], &conversions[i].want[k],
				sizeof(points.points[k])) != 0)
				fail_msg("%s: point %zu: %f", why, k, points.points[k].value);
		lt_points_free(&points);
	}
}

/* "Nothing has changed" is not true in our money across a new rate. */
static void
test_begins(void **state)
{
	static const struct {
		const char *currency;
		int64_t after, until;
		bool begins;
	} spans[] = {
	    {"USD", 1500, 1999, false},
	    {"USD", 1500, 2000, true},
	    {"USD", 2000, INT64_MAX - 1, false}, /* it began already */
	    {"USD", 0, 3000, true},
	    {"GBP", 0, 3000, false}, /* one rate for all times */
	    {"", 0, 3000, false},
	};
	const struct lt_policy policy = {.exchanges = rows, .exchange_count = COUNT(rows)};

	(void)state;
	for (size_t i = 0; i < COUNT(spans); i++)
		if (lt_exchange_begins(&policy, spans[i].currency, spans[i].after,
			spans[i].until) != spans[i].begins)
			fail_msg("span %zu", i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bridge),
	    cmocka_unit_test(test_convert),
	    cmocka_unit_test(test_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
