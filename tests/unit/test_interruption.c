/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expected active time and the checkpoint interval, against closed forms that were verified by
 * Monte Carlo, and against Daly's published optima.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interruption.h"

#define H 3600.0

static void
test_active_time(void **state)
{
	static const struct {
		const char *why;
		double work_h, every_h, write_h, restart_h, mean_h, notice_h;
		double active_h, interruptions;
	} cases[] = {
	    {"A one segment", 10, 10, 1e-9, 0.1, 100, 0, 10.527614, 0.105276},
	    {"B no checkpoint", 24, 0, 0, 0.25, 24, 0, 41.670579, 1.736274},
	    {"C hourly", 24, 1, 1 / 60.0, 1 / 6.0, 12, 0, 25.801175, 2.150098},
	    {"D four days", 100, 2, 5 / 60.0, 10 / 60.0, 24, 0, 109.488468, 4.562019},
	    {"E last one shorter", 7.5, 2, 0.1, 0.2, 5, 0, 9.969632, 1.993926},
	    {"F often", 48, 0.5, 0.02, 0.3, 3, 0, 60.214002, 20.071334},
	    {"G written within the notice", 24, 1, 1 / 60.0, 1 / 6.0, 12, 2 / 60.0, 24.335659,
		24.335659 / 12},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_exposure exposure = {
		    .work_s = cases[i].work_h * H,
		    .hazard_per_h = 1 / cases[i].mean_h,
		    .restart_s = cases[i].restart_h * H,
		    .notice_s = cases[i].notice_h * H,
		    .checkpoint = {.enabled = cases[i].every_h > 0,
			.write_s = cases[i].write_h * H,
			.every_s = cases[i].every_h * H},
		};
		const struct lt_active active = lt_active_time(&exposure);

		if (fabs(active.active_s / H - cases[i].active_h) > 1e-6 ||
		    fabs(active.expected_interruptions - cases[i].interruptions) > 1e-6 ||
		    fabs(active.restart_chance - (1 - exp(-cases[i].work_h / cases[i].mean_h))) >
			1e-12)
			fail_msg("%s: %.9f h, %.9f", cases[i].why, active.active_s / H,
			    active.expected_interruptions);
		/* What is not lost is what takes its time undisturbed. */
		struct lt_exposure calm = exposure;
		calm.hazard_per_h = 0;
		const double calm_s =
		    cases[i].notice_h > 0 ? exposure.work_s : lt_active_time(&calm).active_s;
		assert_true(fabs(active.active_s - active.lost_s - calm_s) < 1e-6);
	}
}

static void
test_optimum(void **state)
{
	/* write 5 min; Daly's figures 3 to 5 print 117, 57 and 9.1 min. */
	static const struct {
		double mean_min, interval_min;
	} cases[] = {{24 * 60, 116.690}, {6 * 60, 56.714}, {15, 9.167}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double interval_s = lt_checkpoint_interval_s(5 * 60, 60 / cases[i].mean_min);

		assert_true(fabs(interval_s / 60 - cases[i].interval_min) < 6e-4);
	}
	assert_true(lt_checkpoint_interval_s(300, 0) == 0);
	assert_true(lt_checkpoint_interval_s(300, -1) == 0);
	/* Unknown write time: one minute. */
	assert_true(lt_checkpoint_interval_s(0, 0.01) == lt_checkpoint_interval_s(60, 0.01));
}

/* It is the optimum: a little more or less takes longer. Writes from a second to a day, hazards
 * from once in a century to once a minute. */
static void
test_optimum_is_least(void **state)
{
	static const double writes_s[] = {1, 60, 3600, 86400};
	static const double hazards_per_h[] = {1e-6, 1e-3, 0.1, 1, 60};

	(void)state;
	for (size_t w = 0; w < 4; w++) {
		for (size_t h = 0; h < 5; h++) {
			const double mean_s = H / hazards_per_h[h];
			const double d = writes_s[w] / mean_s;
			const double x =
			    lt_checkpoint_interval_s(writes_s[w], hazards_per_h[h]) / mean_s;

			/* Above, 1 - x is below what doubles tell apart. */
			assert_true(x > 0 && x <= 1);
			if (d > 10)
				continue;
			assert_true(fabs(log1p(-x) + x + d) <= 1e-9 * fmax(1, d));
			const double rate = expm1(x + d) / x;
			assert_true(rate <= expm1(x * 1.01 + d) / (x * 1.01) * (1 + 1e-12));
			assert_true(rate <= expm1(x * 0.99 + d) / (x * 0.99) * (1 + 1e-12));
		}
	}
}

static void
test_edges(void **state)
{
	struct lt_exposure exposure = {.work_s = 10 * H};
	struct lt_active active = lt_active_time(&exposure);

	(void)state;
	/* No hazard, no checkpoint: the work itself. */
	assert_true(active.active_s == 10 * H);
	assert_true(active.restart_chance == 0 && active.expected_interruptions == 0 &&
		    active.interval_s == 0);
	/* The user's own interval is paid for without a hazard too; there is none at the end. */
	exposure.checkpoint =
	    (struct lt_checkpoint){.enabled = true, .write_s = 60, .every_s = 2 * H};
	active = lt_active_time(&exposure);
	assert_true(active.active_s == 10 * H + 4 * 60);
	/* An optimal one without hazard is none. */
	exposure.checkpoint.every_s = 0;
	active = lt_active_time(&exposure);
	assert_true(active.active_s == 10 * H && active.interval_s == 0);
	/* Never done is infinite, not an error. */
	exposure.checkpoint.enabled = false;
	exposure.hazard_per_h = 1000;
	active = lt_active_time(&exposure);
	assert_true(isinf(active.active_s));
	assert_true(active.restart_chance == 1);
	/* A longer interval than the work is one segment. */
	exposure = (struct lt_exposure){.work_s = H,
	    .hazard_per_h = 0.01,
	    .checkpoint = {.enabled = true, .write_s = 60, .every_s = 5 * H}};
	active = lt_active_time(&exposure);
	assert_true(fabs(active.active_s - 100 * H * expm1(0.01)) < 1e-6);
}

/* Published rates of three kinds of period, as one. */
static void
test_hazard_per_hour(void **state)
{
	static const struct {
		const char *why;
		double chance, period_h, hazard;
	} cases[] = {
	    {"20 % a month", 0.2, 730, 3.05676e-4},
	    {"5 % an hour", 0.05, 1, 0.0512933},
	    {"20 % in 28 days", 0.2, 672, 3.32059e-4},
	    {"never", 0, 730, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double hazard = lt_hazard_per_hour(cases[i].chance, cases[i].period_h);

		if (fabs(hazard - cases[i].hazard) > 1e-6 * cases[i].hazard)
			fail_msg("%s: %.9g", cases[i].why, hazard);
	}
	assert_true(isnan(lt_hazard_per_hour(1, 730)));
	assert_true(isnan(lt_hazard_per_hour(-0.1, 730)));
	assert_true(isnan(lt_hazard_per_hour(NAN, 730)));
	assert_true(isnan(lt_hazard_per_hour(0.1, 0)));
}

/* One rule for the plan, the node and the pods. */
static void
test_every(void **state)
{
	static const struct {
		const char *why;
		struct lt_checkpoint checkpoint;
		double hazard_per_h, gib_per_s, every_s, told_s;
	} cases[] = {
	    {"none", {.enabled = false, .every_s = 60}, 1, 0, 0, 3600},
	    {"no hazard", {.enabled = true}, 0, 0, 0, 3600},
	    {"the user's own", {.enabled = true, .every_s = 60}, 0.1, 0, 60, 60},
	    {"the user's own without a hazard", {.enabled = true, .every_s = 60}, 0, 0, 60, 60},
	    {"the best", {.enabled = true, .write_s = 300}, 60.0 / 360, 0, 56.714 * 60,
		56.714 * 60},
	    {"by its size", {.enabled = true, .size_gib = 600}, 60.0 / 360, 2, 56.714 * 60,
		56.714 * 60},
	    {"what is said counts", {.enabled = true, .write_s = 300, .size_gib = 1}, 60.0 / 360, 2,
		56.714 * 60, 56.714 * 60},
	    {"never less than a second", {.enabled = true, .every_s = 0.25}, 1, 0, 0.25, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_checkpoint there =
		    lt_checkpoint_there(&cases[i].checkpoint, cases[i].gib_per_s);
		const double every_s = lt_checkpoint_every_s(&there, cases[i].hazard_per_h);

		if (fabs(every_s - cases[i].every_s) > 0.05 ||
		    fabs(lt_checkpoint_told_s(every_s) - cases[i].told_s) > 0.05)
			fail_msg("%s: %f", cases[i].why, every_s);
	}
}

static void
test_fits(void **state)
{
	const struct lt_checkpoint said = {.write_s = 30}, unsaid = {0};

	(void)state;
	assert_true(lt_checkpoint_fits(&said, 30));
	assert_false(lt_checkpoint_fits(&said, 29));
	assert_false(lt_checkpoint_fits(&said, 0));
	assert_true(lt_checkpoint_fits(&unsaid, 60));
	assert_false(lt_checkpoint_fits(&unsaid, 59));
}

/* All but an interval, a write and a start; nodes that are never taken: an hour. */
static void
test_kept(void **state)
{
	static const struct {
		const char *why;
		struct lt_checkpoint checkpoint;
		int64_t ran_s, kept_s;
		double restart_s;
	} kept[] = {
	    {"none is written", {.every_s = 600, .write_s = 60}, 1800, 0, 0},
	    {"an interval and a write", {.enabled = true, .every_s = 600, .write_s = 60}, 1800,
		1140, 0},
	    {"and a start", {.enabled = true, .every_s = 600, .write_s = 60}, 1800, 780, 360},
	    {"just one", {.enabled = true, .every_s = 600, .write_s = 60}, 661, 1, 0},
	    {"less", {.enabled = true, .every_s = 600, .write_s = 60}, 660, 0, 0},
	    {"nothing said: an hour, and a minute to write", {.enabled = true}, 5000,
		5000 - 3600 - 60, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (lt_checkpoint_kept_s(
			&kept[i].checkpoint, 0, kept[i].restart_s, kept[i].ran_s) != kept[i].kept_s)
			fail_msg("%s", kept[i].why);
	/* The best interval, once an hour: some 10 min. */
	assert_int_equal(lt_checkpoint_kept_s(
			     &(struct lt_checkpoint){.enabled = true, .write_s = 60}, 1, 0, 7200),
	    (int64_t)(7200 - 60 - lt_checkpoint_interval_s(60, 1)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_active_time),
	    cmocka_unit_test(test_optimum),
	    cmocka_unit_test(test_optimum_is_least),
	    cmocka_unit_test(test_edges),
	    cmocka_unit_test(test_every),
	    cmocka_unit_test(test_fits),
	    cmocka_unit_test(test_hazard_per_hour),
	    cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
