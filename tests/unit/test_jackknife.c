/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interval of a part of a sum, against one that is summed anew. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "site.h"
#include "units.h"

enum { WEEKS = 6 };

/* Each week left out in turn, all others added up again; the pseudo-values of Tukey (1958), whose
 * mean's standard error is the jackknife's. */
static double
half_by_pseudo_values(const double *saved, const double *base, int count)
{
	static const double t[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571};
	double all_saved = 0, all_base = 0, pseudo[WEEKS], mean = 0, var = 0;

	for (int i = 0; i < count; i++) {
		all_saved += saved[i];
		all_base += base[i];
	}
	for (int i = 0; i < count; i++) {
		double s = 0, b = 0;

		for (int k = 0; k < count; k++)
			if (k != i) {
				s += saved[k];
				b += base[k];
			}
		pseudo[i] = count * all_saved / all_base - (count - 1) * s / b;
		mean += pseudo[i] / count;
	}
	for (int i = 0; i < count; i++)
		var += (pseudo[i] - mean) * (pseudo[i] - mean) / (count - 1);
	return t[count - 1] * sqrt(var / count);
}

static void
test_as_pseudo_values(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 50; round++)
		for (int count = 2; count <= WEEKS; count++) {
			double saved[WEEKS], base[WEEKS], s = 0, b = 0;

			for (int i = 0; i < count; i++) {
				base[i] = 1 + (double)(lt_random(&seed) % 900);
				saved[i] = base[i] * (double)(lt_random(&seed) % 400) / 1000 - 20;
				s += saved[i];
				b += base[i];
			}
			const struct lt_jackknife is = lt_jackknife_part(saved, base, count);
			const double half = half_by_pseudo_values(saved, base, count);

			assert_true(is.has_interval);
			assert_true(fabs(is.part - s / b) < 1e-12);
			assert_true(fabs(is.high - is.low - 2 * half) < 1e-9);
			assert_true(fabs((is.high + is.low) / 2 - is.part) < 1e-12);
		}
}

static void
test_what_has_none(void **state)
{
	(void)state;
	const struct lt_jackknife nothing = lt_jackknife_part(NULL, NULL, 0);
	const struct lt_jackknife one = lt_jackknife_part((double[]){3}, (double[]){10}, 1);
	const struct lt_jackknife empty = lt_jackknife_part((double[]){3, 0}, (double[]){10, 0}, 2);
	const struct lt_jackknife equal =
	    lt_jackknife_part((double[]){3, 6, 0, 9}, (double[]){10, 20, 0, 30}, 4);

	assert_false(nothing.has_part);
	assert_true(one.has_part);
	assert_false(one.has_interval);
	assert_false(empty.has_interval); /* a week in which nothing ran */
	assert_true(equal.has_interval);  /* all weeks saved as much */
	assert_true(fabs(equal.low - 0.3) < 1e-12);
	assert_true(fabs(equal.high - 0.3) < 1e-12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_as_pseudo_values),
	    cmocka_unit_test(test_what_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
