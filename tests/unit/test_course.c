/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cheapest course of work that may stand still, against each course there is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "course.h"

enum { UNITS_MAX = 12, STRETCHES = 5, ROUNDS = 4000 };

static double
cost_of(const double *runs, const double *rests, unsigned worked)
{
	double sum = 0;

	for (int u = 0; worked >> u != 0; u++)
		sum += worked >> u & 1 ? runs[u] : rests[u];
	return sum;
}

/* Each set of seconds. */
static double
brute(const double *runs, const double *rests, int units, int work)
{
	double least = INFINITY;

	for (unsigned set = 1; set < 1U << units; set++)
		if (__builtin_popcount(set) == work)
			least = fmin(least, cost_of(runs, rests, set));
	return least;
}

static void
test_brute(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < ROUNDS; round++) {
		struct lt_stretch s[STRETCHES];
		double runs[UNITS_MAX], rests[UNITS_MAX];
		uint16_t order[STRETCHES];
		int units = 0, count = 0, done = 0;

		while (count < STRETCHES) {
			const int length = 1 + rand() % 3;
			const double run = rand() % 12 - 2, rest = rand() % 4;

			if (units + length > UNITS_MAX)
				break;
			s[count++] = (struct lt_stretch){.from_utc_s = units,
			    .to_utc_s = units + length,
			    .runs = run,
			    .rests = rest};
			for (int u = 0; u < length; u++, units++) {
				runs[units] = run;
				rests[units] = rest;
			}
		}
		const int work = 1 + rand() % units;
		const double least = lt_course_least(s, (uint32_t)count, work, order);
		unsigned set = 0;

		assert_float_equal(least, brute(runs, rests, units, work), 1e-9);
		for (int i = 0; i < count; i++) {
			assert_in_range(s[i].run_s, 0, s[i].to_utc_s - s[i].from_utc_s);
			done += (int)s[i].run_s;
			for (int64_t u = 0; u < s[i].run_s; u++)
				set |= 1U << (s[i].from_utc_s + u);
		}
		/* What is written is such a course. */
		assert_int_equal(done, work);
		assert_float_equal(cost_of(runs, rests, set), least, 1e-9);
	}
}

static void
test_edges(void **state)
{
	struct lt_stretch s[] = {{.from_utc_s = 0, .to_utc_s = 10, .runs = 3, .rests = 1},
	    {.from_utc_s = 10, .to_utc_s = 20, .runs = 3, .rests = 1},
	    {.from_utc_s = 20, .to_utc_s = 30, .runs = 1, .rests = 0}};
	uint16_t order[3];

	(void)state;
	/* More than there is. */
	assert_true(isinf(lt_course_least(s, 3, 31, order)));
	assert_true(isinf(lt_course_through(s, 3, 31)));
	/* All of it, to the second. */
	assert_float_equal(lt_course_least(s, 3, 30, order), 70, 1e-9);
	assert_float_equal(lt_course_through(s, 3, 30), 70, 1e-9);
	/* 10 rests of 20 cost more than 10 of work save: at once. */
	assert_float_equal(lt_course_least(s, 3, 10, order), 30, 1e-9);
	assert_int_equal(s[0].run_s, 10);
	/* Of equals the earlier. */
	s[0].rests = s[1].rests = 0;
	s[2].runs = 3;
	assert_float_equal(lt_course_least(s, 3, 10, order), 30, 1e-9);
	assert_int_equal(s[0].run_s, 10);
	s[2].runs = 1;
	assert_float_equal(lt_course_least(s, 3, 15, order), 25, 1e-9);
	assert_int_equal(s[0].run_s, 5);
	assert_int_equal(s[2].run_s, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_brute),
	    cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
