/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bookings of one node, placed anew together, against all that could be done:
 * every way to lay so many jobs beside each other, counted by the hour.
 */
#include <stdlib.h>

#include "decide_fixture.h"

#include "rearrange.h"

enum { HOURS = 40, LATEST = 16, JOBS = 4, WORLDS = 300, ROUNDS = 60 };

static unsigned seed;
static int64_t steps[HOURS + 1];
static double grams[HOURS], steps_of[HOURS], sums[HOURS + 1];
static struct lt_request requests[JOBS];
static struct lt_booking bookings[JOBS];
static struct lt_planned planned[2 * JOBS];
static int lengths[JOBS];

static int
below(int count)
{
	return rand_r(&seed) % count;
}

static void
make_world(int world)
{
	seed = (unsigned)world;
	setup(NULL);
	for (int h = 0; h <= HOURS; h++)
		steps[h] = NOW + h * HOUR;
	for (int h = 0; h < HOURS; h++)
		steps_of[h] = grams[h] = 50 + below(500);
	series[CARBON] = (struct lt_series){.count = HOURS,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW,
	    .start_utc_s = steps,
	    .value = steps_of, /* prepared: equal ones are one */
	    .integral = sums};
	assert_int_equal(lt_series_prepare(&series[CARBON], NULL), LT_OK);
	market.partition_count = 1;
	shapes[HOME].node_count = partitions[HOME].node_count = 1;
	for (int i = 0; i < JOBS; i++) {
		lengths[i] = 1 + below(4);
		requests[i] = request;
		requests[i].objective = LT_OBJECTIVE_CARBON;
		requests[i].limit_s = lengths[i] * HOUR;
		requests[i].earliest_utc_s = NOW;
		requests[i].latest_utc_s = NOW + LATEST * HOUR;
	}
}

static void
book(int i, int64_t start_utc_s)
{
	bookings[i] = (struct lt_booking){.request = &requests[i],
	    .partition = HOME,
	    .start_utc_s = start_utc_s,
	    .window = {HOME, 1, start_utc_s, start_utc_s + lengths[i] * HOUR}};
}

/* One after the other, as they come. */
static void
in_line(void)
{
	int at = 0;

	for (int i = 0; i < JOBS; i++) {
		book(i, NOW + at * HOUR);
		at += lengths[i];
	}
}

static double
sum_of(int from, int hours)
{
	double sum = 0;

	for (int h = from; h < from + hours; h++)
		sum += grams[h];
	return sum;
}

/* By the minute, so that it needs no hours. */
static double
total(void)
{
	double sum = 0;

	for (int i = 0; i < JOBS; i++)
		for (int m = 0; m < lengths[i] * 60; m++)
			sum += grams[(bookings[i].start_utc_s - NOW + m * 60) / HOUR] / 60;
	return sum;
}

static double
best_of(int job, uint64_t taken)
{
	double best = INFINITY;

	if (job == JOBS)
		return 0;
	for (int at = 0; at <= LATEST; at++) {
		const uint64_t own = ((UINT64_C(1) << lengths[job]) - 1) << at;

		if (taken & own)
			continue;
		best = fmin(best, sum_of(at, lengths[job]) + best_of(job + 1, taken | own));
	}
	return best;
}

static int
overlaps(void)
{
	int count = 0;

	for (int i = 0; i < JOBS; i++)
		for (int k = 0; k < i; k++)
			count += bookings[i].window.start_utc_s < bookings[k].window.end_utc_s &&
				 bookings[k].window.start_utc_s < bookings[i].window.end_utc_s;
	return count;
}

static void
rearrange(uint32_t rounds)
{
	const struct lt_rearrange of = {.market = &market,
	    .planned = planned,
	    .bookings = bookings,
	    .booking_count = JOBS,
	    .rounds = rounds,
	    .seed = seed,
	    .now_utc_s = NOW};

	assert_int_equal(lt_rearrange(&of, NULL), LT_OK);
	for (int i = 0; i < JOBS; i++) {
		assert_int_equal(bookings[i].window.start_utc_s, bookings[i].start_utc_s);
		assert_int_equal(
		    bookings[i].window.end_utc_s, bookings[i].start_utc_s + lengths[i] * HOUR);
		assert_in_range(bookings[i].start_utc_s, NOW, NOW + LATEST * HOUR);
	}
}

static void
test_near_the_best(void **state)
{
	double was = 0, is = 0, best = 0;

	(void)state;
	for (int world = 0; world < WORLDS; world++) {
		make_world(world);
		in_line();
		const double least = best_of(0, 0), before = total();

		rearrange(ROUNDS);
		const double after = total();
		if (overlaps() > 0 || after > before + 1e-6 || after < least - 1e-6)
			fail_msg("world %d: %d overlap; %f, best %f, before %f", world, overlaps(),
			    after, least, before);
		was += before;
		is += after;
		best += least;
	}
	print_message("# in line %.1f, best %.1f, found %.1f: %.1f %%\n", was, best, is,
	    100 * (was - is) / (was - best));
	assert_true(was - is > 0.95 * (was - best));
}

/* Booked for the same hours: room comes first. */
static void
test_room_for_all(void **state)
{
	(void)state;
	for (int world = 0; world < WORLDS; world++) {
		make_world(world);
		for (int i = 0; i < JOBS; i++)
			book(i, NOW + below(3) * HOUR);
		const int before = overlaps();
		bool moved = false;

		rearrange(ROUNDS);
		for (int i = 0; i < JOBS; i++)
			moved |= bookings[i].changed;
		assert_true(before == 0 || moved);
		if (overlaps() > 0)
			fail_msg("world %d: %d overlap", world, overlaps());
	}
}

static void
test_same_seed_same_outcome(void **state)
{
	struct lt_booking first[JOBS];

	(void)state;
	make_world(1);
	in_line();
	rearrange(ROUNDS);
	memcpy(first, bookings, sizeof(first));
	make_world(1);
	in_line();
	rearrange(ROUNDS);
	for (int i = 0; i < JOBS; i++)
		assert_int_equal(first[i].start_utc_s, bookings[i].start_utc_s);
	/* No round: nothing happens. */
	in_line();
	rearrange(0);
	for (int i = 0; i < JOBS; i++)
		assert_false(bookings[i].changed);
}

/* No hour saves carbon against what waiting is worth, and money chose: so much later than money
 * would choose today is a change only where a figure shows it. */
static void
test_what_no_figure_shows(void **state)
{
	static const struct {
		const char *why;
		int later_s;
		bool moves;
	} cases[] = {
	    {"10 s are 3 mg of waiting", 10, false},
	    {"4 minutes are 67 mg", 240, false},
	    {"5 minutes sooner, as lt_replan() has it", 300, true},
	    {"2 h are 2 g, and the figure has grams", 2 * HOUR, true},
	};
	int64_t start_utc_s;

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		seed = 1;
		setup(NULL);
		set_series(PRICE_HOME, 4e6, 1e6, 1e6);
		set_series(CARBON, 300, 300, 300);
		market.partition_count = 1;
		market.waiting_mg_per_hour = 1000;
		request.objective = LT_OBJECTIVE_CARBON;
		request.latest_utc_s = NOW + LATEST * HOUR;
		decide();
		start_utc_s = plan.chosen.start_utc_s;
		assert_in_range(start_utc_s, NOW + HOUR, NOW + 8 * HOUR);
		for (int i = 0; i < JOBS; i++) {
			requests[i] = request;
			lengths[i] = 2;
			book(i, start_utc_s + (i == 0 ? cases[c].later_s : 0));
		}
		rearrange(ROUNDS);
		for (int i = 0; i < JOBS; i++)
			if (bookings[i].changed != (i == 0 && cases[c].moves))
				fail_msg("%s: booking %d is at %+lld s", cases[c].why, i,
				    (long long)(bookings[i].start_utc_s - start_utc_s));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_near_the_best),
	    cmocka_unit_test(test_room_for_all),
	    cmocka_unit_test(test_same_seed_same_outcome),
	    cmocka_unit_test(test_what_no_figure_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
