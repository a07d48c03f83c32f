/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is paid for owned nodes: against a sum second by second, and cases worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "owned.h"
#include "units.h"

enum { T0 = 1793491200, HOUR = LT_HOUR_S }; /* 2026-11-01T00:00:00Z */
#define SAID LT_QUALITY_CONSTANT
#define GUESS LT_QUALITY_ESTIMATED

static const struct {
	const char *why;
	struct lt_rate_step nodes[4], price[3];
	int64_t from_s, to_s;		 /* of the span, after T0 */
	int64_t first_s, last_s;	 /* that are the site's */
	int64_t node_s, owned_s, micros; /* -1: no price */
} cases[] = {
    {"3 nodes for 10 hours at 2.00", {{T0, INT64_MAX, 3, SAID, "", 0}},
	{{T0 - 5, INT64_MAX, 2000000, SAID, "", 0}}, 0, 10 * HOUR, 0, 10 * HOUR, 30 * HOUR,
	10 * HOUR, 60000000},
    {"a node less amid an hour, and a price amid another",
	{{T0, T0 + 1800, 3, SAID, "", 0}, {T0 + 1800, INT64_MAX, 2, SAID, "", 0}},
	{{T0, T0 + 5400, 2000000, SAID, "", 0},
	    {T0 + 5400, INT64_MAX, 1000000, LT_QUALITY_MEASURED, "", 0}},
	0, 2 * HOUR, 0, 2 * HOUR,
	/* 1.5 + 3 node-hours; 3 + 4 + 1 of money less the last half at half */
	3 * 1800 + 2 * 5400, 2 * HOUR, 3000000 + 4000000 + 1000000},
    {"recorded from the third hour on",
	{{T0, T0 + 2 * HOUR, 4, GUESS, "", 0}, {T0 + 2 * HOUR, INT64_MAX, 4, SAID, "", 0}},
	{{T0, INT64_MAX, 500000, SAID, "", 0}}, 0, 5 * HOUR, 2 * HOUR, 5 * HOUR, 12 * HOUR,
	3 * HOUR, 6000000},
    {"sold after the second hour, bought again for the fifth",
	{{T0 - HOUR, T0 + 2 * HOUR, 2, SAID, "", 0},
	    {T0 + 2 * HOUR, T0 + 4 * HOUR, LT_RATE_ENDED, SAID, "", 0},
	    {T0 + 4 * HOUR, INT64_MAX, 5, SAID, "", 0}},
	{{T0, INT64_MAX, 1000000, SAID, "", 0}}, 0, 5 * HOUR, 0, 5 * HOUR, 9 * HOUR, 3 * HOUR,
	9000000},
    {"sold before", {{T0 - HOUR, INT64_MAX, LT_RATE_ENDED, SAID, "", 0}},
	{{T0, INT64_MAX, 1000000, SAID, "", 0}}, 0, HOUR, 0, 0, 0, 0, 0},
    {"bought after", {{T0, T0 + HOUR, 5, GUESS, "", 0}}, {{T0, INT64_MAX, 1000000, SAID, "", 0}}, 0,
	HOUR, 0, 0, 0, 0, 0},
    {"owned, and all of its nodes are gone", {{T0, INT64_MAX, 0, SAID, "", 0}},
	{{T0, INT64_MAX, 1000000, SAID, "", 0}}, 0, HOUR, 0, HOUR, 0, HOUR, 0},
    {"never a price", {{T0, INT64_MAX, 2, SAID, "", 0}}, {{0}}, 0, HOUR, 0, HOUR, 2 * HOUR, HOUR,
	-1},
    {"a price that came after it all", {{T0, INT64_MAX, 2, SAID, "", 0}},
	{{T0, T0 + HOUR, 1000000, GUESS, "", 0}}, 0, HOUR, 0, HOUR, 2 * HOUR, HOUR, -1},
    {"a price that came in its second half", {{T0, INT64_MAX, 2, SAID, "", 0}},
	{{T0, T0 + 1800, 1000000, GUESS, "", 0}, {T0 + 1800, INT64_MAX, 1000000, SAID, "", 0}}, 0,
	HOUR, 0, HOUR, 2 * HOUR, HOUR, 2000000},
    {"half a micro goes up, and the span is cut", {{T0 - HOUR, INT64_MAX, 1, SAID, "", 0}},
	{{T0 - HOUR, INT64_MAX, 1, SAID, "", 0}}, 900, 2700, 900, 2700, 1800, 1800, 1},
    {"less than half a micro is none", {{T0 - HOUR, INT64_MAX, 1, SAID, "", 0}},
	{{T0 - HOUR, INT64_MAX, 1, SAID, "", 0}}, 0, 1799, 0, 1799, 1799, 1799, 0},
    {"no time", {{T0, INT64_MAX, 1, SAID, "", 0}}, {{T0, INT64_MAX, 1, SAID, "", 0}}, 60, 60, 0, 0,
	0, 0, 0},
};

static struct lt_rates
rates_of(const struct lt_rate_step *steps, uint32_t most)
{
	struct lt_rates rates = {0, steps};

	while (rates.count < most && steps[rates.count].end_utc_s != 0)
		rates.count++;
	return rates;
}

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_rates nodes = rates_of(cases[i].nodes, 4),
				      price = rates_of(cases[i].price, 3);
		const struct lt_span span = {T0 + cases[i].from_s, T0 + cases[i].to_s};
		struct lt_owned_paid paid;

		assert_int_equal(lt_owned_paid(&paid, &nodes, &price, span, NULL), LT_OK);
		const bool any = paid.from_utc_s < paid.to_utc_s;
		const int64_t micros = paid.has_micros ? paid.micros : -1;
		const int64_t first = any ? paid.from_utc_s - T0 : 0;
		const int64_t last = any ? paid.to_utc_s - T0 : 0;

		if (first != cases[i].first_s || last != cases[i].last_s ||
		    paid.node_s != cases[i].node_s || micros != cases[i].micros ||
		    lt_owned_s(&nodes, span) != cases[i].owned_s)
			fail_msg("%s: %lld to %lld, %lld node-s, %lld", cases[i].why,
			    (long long)first, (long long)last, (long long)paid.node_s,
			    (long long)micros);
	}
}

/* Thirty steps of each at odd seconds; the sum by each second, in integers. */
static void
test_by_second(void **state)
{
	enum { STEPS = 30, FROM = 1111, TO = 88888 };
	struct lt_rate_step nodes[STEPS], price[STEPS];
	uint64_t random = 53;
	int64_t at[2] = {T0, T0}, node_s = 0, micro_s = 0;

	(void)state;
	for (int i = 0; i < STEPS; i++)
		for (int k = 0; k < 2; k++) {
			struct lt_rate_step *const step = k == 0 ? &nodes[i] : &price[i];

			*step = (struct lt_rate_step){.start_utc_s = at[k], .quality = SAID};
			at[k] += (int64_t)(lt_random(&random) % 6000) + 1;
			step->end_utc_s = i + 1 == STEPS ? INT64_MAX : at[k];
			step->value = k == 0 ? (double)(lt_random(&random) % 9) - 1
					     : (double)(lt_random(&random) % 9000000);
		}
	for (int64_t t = T0 + FROM; t < T0 + TO; t++) {
		int n = 0, p = 0;

		while (nodes[n].end_utc_s <= t)
			n++;
		while (price[p].end_utc_s <= t)
			p++;
		if (nodes[n].value < 0)
			continue;
		node_s += (int64_t)nodes[n].value;
		micro_s += (int64_t)nodes[n].value * (int64_t)price[p].value;
	}
	const struct lt_rates of_nodes = {STEPS, nodes}, of_price = {STEPS, price};
	struct lt_owned_paid paid;
	assert_int_equal(
	    lt_owned_paid(&paid, &of_nodes, &of_price, (struct lt_span){T0 + FROM, T0 + TO}, NULL),
	    LT_OK);
	assert_true(node_s > 0);
	assert_int_equal(paid.node_s, node_s);
	assert_int_equal(paid.micros, (micro_s + 1800) / 3600);
}

/* The same seconds of any span, by as few steps as can say it. */
static void
test_times(void **state)
{
	struct lt_rate_step steps[] = {{T0, T0 + 10, 1, GUESS, "", 0},
	    {T0 + 10, T0 + 20, 1, SAID, "", 0}, {T0 + 20, T0 + 30, 0, SAID, "", 0},
	    {T0 + 30, T0 + 40, LT_RATE_ENDED, SAID, "", 0}, {T0 + 40, T0 + 50, 7, SAID, "", 0},
	    {T0 + 50, T0 + 51, LT_RATE_ENDED, SAID, "", 0}, {T0 + 51, T0 + 60, 2, SAID, "", 0},
	    {T0 + 60, INT64_MAX, 3, SAID, "", 0}};
	enum { COUNT = sizeof(steps) / sizeof(steps[0]) };
	struct lt_rate_step times[COUNT];

	(void)state;
	memcpy(times, steps, sizeof(times));
	const struct lt_rates all = {COUNT, steps};
	const struct lt_rates few = {lt_owned_times(times, COUNT), times};
	assert_int_equal(few.count, 3);
	assert_int_equal(times[0].start_utc_s, T0 + 10);
	assert_int_equal(times[0].end_utc_s, T0 + 30);
	assert_int_equal(times[2].start_utc_s, T0 + 51);
	assert_int_equal(times[2].end_utc_s, INT64_MAX);
	for (int from = 0; from < 80; from++)
		for (int to = from; to < 80; to++) {
			const struct lt_span span = {T0 + from, T0 + to};

			assert_int_equal(lt_owned_s(&few, span), lt_owned_s(&all, span));
		}
	assert_int_equal(lt_owned_s(&few, (struct lt_span){T0, T0 + 80}), 20 + 10 + 29);
}

static void
test_overflow(void **state)
{
	const struct lt_rate_step nodes = {T0, INT64_MAX, 1e6, SAID, "", 0},
				  price = {T0, INT64_MAX, 1e15, SAID, "", 0};
	struct lt_owned_paid paid;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(
	    lt_owned_paid(&paid, &(struct lt_rates){1, &nodes}, &(struct lt_rates){1, &price},
		(struct lt_span){T0, T0 + 31 * LT_DAY_S}, &err),
	    LT_EOVERFLOW);
	assert_non_null(strstr(err.text, "passes its range"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_by_second),
	    cmocka_unit_test(test_times),
	    cmocka_unit_test(test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
