/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of the last task, against courses that are played event by event:
 * nodes fail, tasks restart and go back to their last checkpoint, and whoever is free takes the
 * next task. Nothing of the formulas is in here.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/course.h"
#include "last_task.h"

#define H 3600.0

enum { SLOTS_MAX = 1000 };

/* All tasks, each on the slot that is free first: a heap of their ends. */
static double
course_s(const struct course *course, int count, int slots)
{
	static double free_s[SLOTS_MAX];
	double last_s = 0;

	for (int i = 0; i < slots; i++)
		free_s[i] = 0;
	for (int i = 0; i < count; i++) {
		const double end_s = free_s[0] + task_s(course);
		int at = 0;

		for (;;) {
			int child = 2 * at + 1;

			if (child >= slots)
				break;
			if (child + 1 < slots && free_s[child + 1] < free_s[child])
				child++;
			if (free_s[child] >= end_s)
				break;
			free_s[at] = free_s[child];
			at = child;
		}
		free_s[at] = end_s;
		last_s = fmax(last_s, end_s);
	}
	return last_s;
}

struct seen {
	double late, off; /* parts */
	double late_error, off_error;
};

static struct seen
play(const struct lt_exposure *exposure, int count, int slots, int courses)
{
	const struct lt_active active = lt_active_time(exposure);
	const struct lt_delay delay = lt_task_delay(exposure, &active);
	const struct lt_tasks tasks = {count, slots};
	const double told_s = lt_last_task_mean_s(&delay, &tasks);
	const double latest_s = lt_last_task_latest_s(&delay, &tasks, 0.95);
	const struct course course = {.work_s = exposure->work_s,
	    .interval_s = active.interval_s,
	    .write_s = exposure->checkpoint.write_s,
	    .restart_s = exposure->restart_s,
	    .mean_s = H / exposure->hazard_per_h};
	double sum_s = 0, squares = 0, late = 0;

	for (int i = 0; i < courses; i++) {
		const double s = course_s(&course, count, slots);

		sum_s += s;
		squares += s * s;
		late += s > latest_s * (1 + 1e-12);
	}
	const double mean_s = sum_s / courses;

	return (struct seen){.late = late / courses,
	    .off = told_s / mean_s - 1,
	    .late_error = sqrt(0.05 * 0.95 / courses),
	    .off_error = sqrt(fmax(squares / courses - mean_s * mean_s, 0) / courses) / mean_s};
}

struct worst {
	double late, off; /* beyond what chance explains */
	double late_sum, off_sum;
	int settings;
};

static void
play_all(struct worst *worst, int count, int slots, int courses)
{
	static const double works_h[] = {2, 8, 24};
	static const double hazards_per_h[] = {0.0005, 0.004, 0.02, 0.1};
	static const double restarts_h[] = {0, 0.1, 1};

	for (int i = 0; i < 3 * 4 * 3 * 2; i++) {
		const struct lt_exposure exposure = {.work_s = works_h[i / 24] * H,
		    .hazard_per_h = hazards_per_h[i / 6 % 4],
		    .restart_s = restarts_h[i / 2 % 3] * H,
		    .checkpoint = {.enabled = i % 2 == 1, .write_s = 60}};
		const struct seen seen = play(&exposure, count, slots, courses);

		worst->late = fmax(worst->late, seen.late - 3 * seen.late_error);
		worst->off = fmax(worst->off, fabs(seen.off) - 3 * seen.off_error);
		worst->late_sum += seen.late;
		worst->off_sum += fabs(seen.off);
		worst->settings++;
	}
}

static void
test_last_task(void **state)
{
	/* late: of all but what chance explains. Where the last wave is not full it is told later
	 * than it comes. */
	static const struct {
		int count, slots, courses;
		double late, off, mean_off;
	} cases[] = {
	    {1, 1, 4000, 0.05, 0.001, 0.005},
	    {2, 2, 4000, 0.05, 0.02, 0.005},
	    {16, 16, 500, 0.05, 0.02, 0.015},
	    {64, 64, 200, 0.05, 0.02, 0.02},
	    {1000, 1000, 50, 0.05, 0.03, 0.025},
	    {10, 1, 1000, 0.05, 0.001, 0.005},
	    {20, 4, 500, 0.05, 0.06, 0.015},
	    {100, 10, 200, 0.05, 0.04, 0.015},
	    {400, 20, 60, 0.05, 0.02, 0.015},
	    {20, 7, 500, 0.05, 0.12, 0.05},
	};

	(void)state;
	seed = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct worst worst = {0};

		play_all(&worst, cases[i].count, cases[i].slots, cases[i].courses);
		const double late = worst.late_sum / worst.settings;
		const double off = worst.off_sum / worst.settings;

		print_message("# %d tasks, %d at once: %.1f %% late, told off "
			      "by %.2f %%\n",
		    cases[i].count, cases[i].slots, 100 * late, 100 * off);
		if (worst.late > cases[i].late || worst.off > cases[i].off || late > 0.05 ||
		    off > cases[i].mean_off)
			fail_msg("%d of %d: late at most %.3f, off %.3f", cases[i].count,
			    cases[i].slots, worst.late, worst.off);
	}
}

/* Nothing interrupts it: waves of the same length. */
static void
test_edges(void **state)
{
	struct lt_exposure exposure = {.work_s = 10 * H, .restart_s = 60};
	struct lt_active active = lt_active_time(&exposure);
	struct lt_delay delay = lt_task_delay(&exposure, &active);

	(void)state;
	assert_true(delay.least_s == 10 * H && delay.mean_s == 0 && delay.exposed == 0 &&
		    delay.variance == 0);
	assert_true(lt_last_task_mean_s(&delay, &(struct lt_tasks){100, 30}) == 40 * H);
	assert_true(lt_last_task_latest_s(&delay, &(struct lt_tasks){100, 30}, 0.95) == 40 * H);
	/* A user's own interval is paid for. */
	exposure.checkpoint =
	    (struct lt_checkpoint){.enabled = true, .write_s = 60, .every_s = 2 * H};
	active = lt_active_time(&exposure);
	delay = lt_task_delay(&exposure, &active);
	assert_true(delay.least_s == 10 * H + 4 * 60);
	/* Of the mean both say the same. */
	for (double hazard = 1e-9; hazard < 2; hazard *= 10)
		for (int saves = 0; saves < 2; saves++) {
			exposure.hazard_per_h = hazard;
			exposure.checkpoint.enabled = saves == 1;
			active = lt_active_time(&exposure);
			delay = lt_task_delay(&exposure, &active);
			assert_true(fabs(delay.least_s + delay.mean_s - active.active_s) <
				    1e-9 * active.active_s);
			assert_true(delay.variance >= 0 && delay.third >= 0);
		}
}

/* The integral of x^n e^-x from 0 to the end, by Simpson's rule. */
static double
part_moment(int n, double end)
{
	enum { STEPS = 2000 };
	double sum = 0;

	for (int i = 0; i <= STEPS; i++) {
		const double x = end * i / STEPS;

		sum += pow(x, n) * exp(-x) * (i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2);
	}
	return sum * end / STEPS / 3;
}

struct moments { /* of the time to a run without failure */
	double of[4];
};

/* Where it takes `length`, and after a failure goes on as `then` has it; NULL:
 * as the first time. In mean times between failures. */
static struct moments
moments_of(double length, const struct moments *then)
{
	static const int choose[4][4] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};
	const double through = exp(-length);
	struct moments m = {{1}};

	for (int n = 1; n < 4; n++) {
		const struct moments *const next = then != NULL ? then : &m;
		double sum = pow(length, n) * through;

		for (int k = 1; k <= n; k++)
			sum += choose[n][k] * part_moment(k, length) * next->of[n - k];
		m.of[n] = then != NULL ? sum + (1 - through) * then->of[n] : sum / through;
	}
	return m;
}

/* Its cumulants, by the moments of what comes after a failure. */
static void
test_cumulants(void **state)
{
	static const double lengths[] = {0.01, 0.09, 0.11, 0.7, 2.5};
	static const double restarts[] = {0, 0.02, 0.3};

	(void)state;
	for (int i = 0; i < 5 * 3; i++) {
		const double length = lengths[i / 3], restart = restarts[i % 3];
		const struct lt_exposure exposure = {
		    .work_s = length * H, .hazard_per_h = 1, .restart_s = restart * H};
		const struct lt_active active = lt_active_time(&exposure);
		const struct lt_delay is = lt_task_delay(&exposure, &active);
		const struct moments again = moments_of(length + restart, NULL);
		const struct moments all = moments_of(length, &again);
		const double mean = all.of[1];
		const double variance = all.of[2] - mean * mean;
		const double third = all.of[3] - 3 * mean * all.of[2] + 2 * mean * mean * mean;

		assert_true(fabs(is.least_s + is.mean_s - mean * H) < 1e-6 * mean * H);
		assert_true(fabs(is.variance / H / H - variance) < 1e-6 * variance);
		assert_true(fabs(is.third / H / H / H - third) < 1e-6 * third);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_last_task),
	    cmocka_unit_test(test_edges),
	    cmocka_unit_test(test_cumulants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
