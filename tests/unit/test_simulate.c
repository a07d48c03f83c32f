/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator on GAIA's own setting: a week of 1,000 jobs on South Australia's grid. Its
 * baselines must give the figures of GAIA's code and notebook; what lt_decide() does is held
 * against them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/carbon_zone.h"
#include "trace.h"
#include "units.h"

enum { BEGIN_UTC_S = 1666195200 }; /* 2022-10-19 16:00 */

static struct lt_sim_trace trace;
static struct lt_sim_signal grid;
static double nowait_kg;

static char *
read_all(const char *path, size_t *length)
{
	FILE *const file = fopen(path, "r");
	char *const bytes = malloc(1 << 20);

	assert_non_null(file);
	assert_non_null(bytes);
	*length = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static struct lt_sim_result
simulate(const struct lt_sim_options *options)
{
	struct lt_sim_outlook *outlook = NULL;
	struct lt_sim_result result;
	struct lt_error err = {0};

	assert_int_equal(lt_sim_outlook_open(&outlook, &grid, options->forecast, &err), LT_OK);
	assert_int_equal(
	    lt_simulate(&result,
		&(struct lt_sim_input){.trace = &trace, .signal = &grid, .outlook = outlook},
		options, &err),
	    LT_OK);
	lt_sim_outlook_close(outlook);
	return result;
}

static int
setup(void **state)
{
	const struct lt_sim_trace_look look = {
	    .path = "pai_1k.csv", .from_utc_s = BEGIN_UTC_S, .unit_s = 1, .tick_s = 5};
	struct carbon_zone zone = {
	    .name = "AU-SA", .file = "au-sa.csv", .column = "Life cycle", .first_hour = 0};
	struct lt_sim_options options = lt_sim_defaults;
	struct lt_sim_result result;
	struct lt_error err = {0};
	size_t length;
	char *const bytes = read_all("tests/fixtures/simulate/pai_1k.csv", &length);

	(void)state;
	assert_int_equal(lt_sim_trace_parse(&trace, bytes, length, &look, &err), LT_OK);
	free(bytes);
	assert_true(zone_load(&zone, "tests/fixtures/simulate"));
	assert_int_equal(
	    lt_sim_signal_make(&grid, zone.first_hour, zone.values, zone.hours, &err), LT_OK);
	free(zone.values);
	options.policy = LT_SIM_NOWAIT;
	result = simulate(&options);
	nowait_kg = result.carbon_kg;
	lt_sim_result_free(&result);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	lt_sim_trace_free(&trace);
	lt_sim_signal_free(&grid);
	return 0;
}

/* Of GAIA 62a5efc, run on these two files: carbon over that of no waiting, dollars, and mean wait
 * where it counts each job once. */
static const struct {
	const char *why;
	enum lt_sim_policy policy;
	uint32_t reserved;
	bool spot;
	double of_nowait, money, wait_h; /* 0 = it counts parts of jobs */
} golden[] = {
    {"no waiting", LT_SIM_NOWAIT, 0, false, 1, 199.1759, 0},
    {"no waiting, 9 reserved", LT_SIM_NOWAIT, 9, false, 1, 154.3974, 0},
    {"lowest slot", LT_SIM_LOWEST_SLOT, 0, false, 0.779988, 199.1759, 5.6379},
    {"lowest window", LT_SIM_LOWEST_WINDOW, 0, false, 0.683641, 199.1759, 6.6460},
    {"carbon time", LT_SIM_CARBON_TIME, 0, false, 0.724712, 199.1759, 4.7210},
    {"carbon time, spot first", LT_SIM_CARBON_TIME, 0, true, 0.724712, 171.0886, 4.7210},
    {"ecovisor", LT_SIM_ECOVISOR, 0, false, 0.638786, 199.1759, 0},
    {"wait awhile", LT_SIM_WAIT_AWHILE, 0, false, 0.546233, 199.1759, 0},
    {"reserved first", LT_SIM_RES_FIRST, 9, false, 0.854439, 142.2039, 2.6362},
    {"reserved first, of none", LT_SIM_RES_FIRST, 0, false, 0.724712, 199.1759, 4.7210},
};

static void
test_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		struct lt_sim_options options = lt_sim_defaults;
		struct lt_sim_result result;

		options.policy = golden[i].policy;
		options.reserved = golden[i].reserved;
		options.spot = golden[i].spot;
		result = simulate(&options);
		if (fabs(result.carbon_kg / nowait_kg - golden[i].of_nowait) > 1e-6 ||
		    fabs(result.money - golden[i].money) > 0.0001 ||
		    (golden[i].wait_h > 0 &&
			fabs(result.wait_s / 3600 - golden[i].wait_h) > 0.0001))
			fail_msg("%s: %.6f of nowait, $%.4f, %.4f h", golden[i].why,
			    result.carbon_kg / nowait_kg, result.money, result.wait_s / 3600);
		assert_int_equal(result.late, 0);
		lt_sim_result_free(&result);
	}
	assert_true(fabs(nowait_kg - 561.503569) < 1e-6);
}

/* What lt_decide() keeps, against what is published of this setting. */
static const struct {
	const char *why;
	enum lt_sim_policy policy;
	enum lt_sim_forecast forecast;
	enum lt_sim_length length;
	enum lt_sim_again again;
	double at_most; /* of no waiting */
} ours[] = {
    {"it knows all: the best start there is", LT_SIM_LOWTIDE, LT_SIM_PERFECT, LT_SIM_EXACT,
	LT_SIM_DECIDE, 0.612},
    {"average runs: no worse than lowest window", LT_SIM_LOWTIDE, LT_SIM_PERFECT, LT_SIM_AVERAGE,
	LT_SIM_DECIDE, 0.685},
    {"it knows all and may suspend: wait awhile", LT_SIM_LOWTIDE_PAUSE, LT_SIM_PERFECT,
	LT_SIM_EXACT, LT_SIM_DECIDE, 0.546234},
    {"and by lt_pause_plan()", LT_SIM_LOWTIDE_SUSPEND, LT_SIM_PERFECT, LT_SIM_EXACT, LT_SIM_DECIDE,
	0.546234},
    {"four weeks of history, each hour", LT_SIM_LOWTIDE, LT_SIM_OWN_WEEKS, LT_SIM_EXACT,
	LT_SIM_DECIDE, 0.687},
    {"and suspended", LT_SIM_LOWTIDE_PAUSE, LT_SIM_OWN_WEEKS, LT_SIM_EXACT, LT_SIM_DECIDE, 0.611},
    {"and by lt_pause_plan()", LT_SIM_LOWTIDE_SUSPEND, LT_SIM_OWN_WEEKS, LT_SIM_EXACT,
	LT_SIM_DECIDE, 0.611},
    {"decided once", LT_SIM_LOWTIDE, LT_SIM_OWN_WEEKS, LT_SIM_EXACT, true, 0.75},
};

static void
test_ours(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		struct lt_sim_options options = lt_sim_defaults;
		struct lt_sim_result result;

		options.policy = ours[i].policy;
		/* So much that no figure's last digit keeps a job. */
		options.watts_per_cpu = 1e9;
		options.forecast = ours[i].forecast;
		options.length = ours[i].length;
		options.again = ours[i].again;
		result = simulate(&options);
		if (result.carbon_kg / nowait_kg * 1e-6 > ours[i].at_most)
			fail_msg("%s: %.4f of nowait, want at most %.4f", ours[i].why,
			    result.carbon_kg / nowait_kg * 1e-6, ours[i].at_most);
		assert_int_equal(result.late, 0);
		lt_sim_result_free(&result);
	}
}

/* Each start that is allowed, tick by tick, is no better than the optimum; and lt_decide(), with
 * all known, is nowhere better either. */
static void
test_optimum(void **state)
{
	struct lt_sim_options options = lt_sim_defaults;
	struct lt_sim_result best, decided;

	(void)state;
	options.policy = LT_SIM_OPTIMUM;
	best = simulate(&options);
	options.policy = LT_SIM_LOWTIDE;
	options.forecast = LT_SIM_PERFECT;
	options.again = LT_SIM_DECIDE;
	options.watts_per_cpu = 1e9;
	decided = simulate(&options);
	for (uint32_t i = 0; i < trace.count; i += 10) {
		const struct lt_sim_job *const job = &trace.jobs[i];
		const int64_t wait_s = job->run_s < 7200 ? 21600 : 86400;
		const int64_t start_s = best.fates[i].start_utc_s;
		const double least = lt_sim_signal_integral(&grid, start_s, start_s + job->run_s);
		const int64_t our_s = decided.fates[i].start_utc_s;

		assert_true(start_s >= job->submit_utc_s);
		assert_true(start_s <= job->submit_utc_s + wait_s);
		for (int64_t after_s = 0; after_s <= wait_s; after_s += 60) {
			const int64_t at_s = job->submit_utc_s + after_s;

			assert_true(
			    lt_sim_signal_integral(&grid, at_s, at_s + job->run_s) > least - 1e-6);
		}
		assert_true(
		    lt_sim_signal_integral(&grid, our_s, our_s + job->run_s) > least - 1e-6);
	}
	assert_true(best.carbon_kg / nowait_kg < 0.6121);
	lt_sim_result_free(&best);
	lt_sim_result_free(&decided);
}

/* All CPU-hours are in the load, whatever waits or is suspended. */
static void
test_load(void **state)
{
	(void)state;
	for (int policy = 0; policy < LT_SIM_POLICY_COUNT; policy++) {
		struct lt_sim_options options = lt_sim_defaults;
		struct lt_sim_result result;
		double hours = 0, load = 0;

		options.policy = (enum lt_sim_policy)policy;
		options.forecast = LT_SIM_WEEK;
		result = simulate(&options);
		for (uint32_t i = 0; i < trace.count; i++)
			hours += trace.jobs[i].cpus * (double)trace.jobs[i].run_s / 3600;
		for (int i = 0; i < result.load_hours; i++)
			load += result.load[i];
		if (fabs(load - hours) > 1e-6)
			fail_msg(
			    "%s: %.6f CPU-hours of %.6f", lt_sim_policy_name(policy), load, hours);
		lt_sim_result_free(&result);
	}
}

static char stood_still[256];

static void
note_pause(void *context, uint32_t number, int64_t from_utc_s, int64_t until_utc_s)
{
	const size_t length = strlen(stood_still);

	(void)context;
	(void)number;
	snprintf(stood_still + length, sizeof(stood_still) - length, "%lld-%lld ",
	    (long long)from_utc_s, (long long)until_utc_s);
}

/* Six hours of work on a grid that is clean but for its hours 4 to 8: as it is looked at, not as it
 * would be at each hour. */
static void
test_looks(void **state)
{
	enum { H = LT_HOUR_S, HOURS = 24 };

	static const struct {
		const char *why;
		struct lt_sim_look looks[3];
		uint32_t count;
		const char *story;
		int64_t end_s;
	} looked[] = {
	    {"at each hour", {{0, 0}}, 0, "14400-32400 ", 11 * H},
	    {"late, and done later; let go when somebody sees that it is due",
		{{5 * H - 900, 5 * H - 840}, {6 * H, 6 * H}, {9 * H + 30, 9 * H + 40}}, 3,
		"17160-32440 ", 6 * H + 15280},
	    {"nobody looks in the dirty hours", {{3 * H, 3 * H}}, 1, "", 6 * H},
	    {"nobody looks once it stands still", {{4 * H, 4 * H}}, 1, "14400-32400 ", 11 * H},
	};
	double seen[HOURS];
	struct lt_sim_job job = {.run_s = 6 * H, .exact_run_s = 6 * H, .cpus = 1};
	struct lt_sim_trace one = {.count = 1, .jobs = &job};
	struct lt_sim_options options = lt_sim_defaults;
	struct lt_sim_outlook *outlook;
	struct lt_sim_signal signal;

	(void)state;
	for (int i = 0; i < HOURS; i++)
		seen[i] = i >= 4 && i < 9 ? 1000 : 100;
	assert_int_equal(lt_sim_signal_make(&signal, 0, seen, HOURS, NULL), LT_OK);
	options.policy = LT_SIM_LOWTIDE_SUSPEND;
	options.forecast = LT_SIM_PERFECT;
	assert_int_equal(lt_sim_outlook_open(&outlook, &signal, options.forecast, NULL), LT_OK);
	for (size_t i = 0; i < sizeof(looked) / sizeof(looked[0]); i++) {
		const struct lt_sim_input input = {.trace = &one,
		    .signal = &signal,
		    .outlook = outlook,
		    .looks = looked[i].count > 0 ? looked[i].looks : NULL,
		    .look_count = looked[i].count,
		    .paused = note_pause};
		struct lt_sim_result result;

		print_message("# %s\n", looked[i].why);
		stood_still[0] = '\0';
		assert_int_equal(lt_simulate(&result, &input, &options, NULL), LT_OK);
		assert_string_equal(stood_still, looked[i].story);
		assert_int_equal(result.fates[0].end_utc_s, looked[i].end_s);
		lt_sim_result_free(&result);
	}
	lt_sim_outlook_close(outlook);
	lt_sim_signal_free(&signal);
}

/* What is expected at an hour must not change with what comes after it. */
static void
test_no_future(void **state)
{
	enum { NOW = 35 * 24 };
	static double seen[2][50 * 24];
	struct lt_sim_signal signals[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 50 * 24; i++)
			seen[k][i] = i <= NOW || k == 0 ? grid.seen[i] : 1000;
		assert_int_equal(
		    lt_sim_signal_make(&signals[k], grid.first_hour, seen[k], 50 * 24, NULL),
		    LT_OK);
	}
	for (int f = LT_SIM_OWN; f < LT_SIM_FORECAST_COUNT; f++) {
		const double *values[2];
		struct lt_sim_outlook *outlooks[2];

		for (int k = 0; k < 2; k++) {
			assert_int_equal(lt_sim_outlook_open(&outlooks[k], &signals[k],
					     (enum lt_sim_forecast)f, NULL),
			    LT_OK);
			values[k] = lt_sim_outlook_at(outlooks[k], grid.first_hour + NOW);
		}
		assert_memory_equal(values[0], values[1], 192 * sizeof(*values[0]));
		assert_true(values[0][0] == grid.seen[NOW]);
		for (int k = 0; k < 2; k++)
			lt_sim_outlook_close(outlooks[k]);
	}
	for (int k = 0; k < 2; k++)
		lt_sim_signal_free(&signals[k]);
}

/* Four CPUs. The second job needs all of them and is promised the first one's end; the third is
 * over by then and goes before it, the fourth would not be. */
static void
test_easy(void **state)
{
	enum { HOUR = 3600, AT = BEGIN_UTC_S };
	static struct lt_sim_job jobs[] = {
	    {AT, 10 * HOUR, 10 * HOUR, 0, 3, 0, 0, 0},
	    {AT + 60, HOUR, HOUR, 0, 4, 0, 0, 1},
	    {AT + 120, 2 * HOUR, 2 * HOUR, 3 * HOUR, 1, 0, 0, 2},
	    {AT + 180, 20 * HOUR, 20 * HOUR, 0, 1, 0, 0, 3},
	};
	static const int64_t starts[] = {AT, AT + 10 * HOUR, AT + 120, AT + 11 * HOUR};
	const struct lt_sim_trace four = {.count = 4, .jobs = jobs};
	struct lt_sim_options options = lt_sim_defaults;
	struct lt_sim_result result;
	struct lt_error err = {0};

	(void)state;
	options.policy = LT_SIM_NOWAIT;
	options.capacity = 4;
	assert_int_equal(
	    lt_simulate(
		&result, &(struct lt_sim_input){.trace = &four, .signal = &grid}, &options, &err),
	    LT_OK);
	for (int i = 0; i < 4; i++)
		assert_int_equal(result.fates[i].start_utc_s, starts[i]);
	assert_int_equal(result.late, 1); /* the short one: more than 6 h */
	lt_sim_result_free(&result);
	options.capacity = 3;
	assert_int_equal(
	    lt_simulate(
		&result, &(struct lt_sim_input){.trace = &four, .signal = &grid}, &options, &err),
	    LT_EINPUT);
	assert_string_equal(err.text, "capacity: a job of 4 CPUs, and there are 3");
	lt_sim_result_free(&result);
}

/* Whoever plans, no second has more CPUs in use than there are. */
static void
test_capacity(void **state)
{
	enum { CPUS = 25, TICKS = 400 * 720 };
	static uint8_t used[TICKS];

	(void)state;
	for (int herd = 0; herd < 2; herd++) {
		struct lt_sim_options options = lt_sim_defaults;
		struct lt_sim_result result;

		options.policy = LT_SIM_LOWTIDE;
		options.capacity = CPUS;
		options.herd = herd == 1;
		result = simulate(&options);
		memset(used, 0, sizeof(used));
		for (uint32_t i = 0; i < trace.count; i++) {
			const struct lt_sim_fate *const fate = &result.fates[i];

			assert_true(fate->start_utc_s >= trace.jobs[i].submit_utc_s);
			assert_int_equal(fate->end_utc_s - fate->start_utc_s, trace.jobs[i].run_s);
			for (int64_t at = fate->start_utc_s; at < fate->end_utc_s; at += 5) {
				uint8_t *const tick = &used[(at - BEGIN_UTC_S) / 5];

				*tick = (uint8_t)(*tick + trace.jobs[i].cpus);
				assert_true(*tick <= CPUS);
			}
		}
		lt_sim_result_free(&result);
	}
}

static void
test_holes(void **state)
{
	static const double seen[] = {NAN, 10, NAN, NAN, 40, NAN};
	struct lt_sim_signal signal;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_sim_signal_make(&signal, 100, seen, 6, NULL), LT_OK);
	assert_true(lt_sim_signal_at(&signal, 0) == 10);
	assert_true(lt_sim_signal_at(&signal, 102) == 20);
	assert_true(lt_sim_signal_at(&signal, 103) == 30);
	assert_true(lt_sim_signal_at(&signal, 999) == 40);
	assert_int_equal(signal.step_count, 2);
	/* Half of 10, 20, a quarter of 30. */
	assert_true(fabs(lt_sim_signal_integral(&signal, 101 * 3600 + 1800, 103 * 3600 + 900) -
			 32.5) < 1e-9);
	lt_sim_signal_free(&signal);
	assert_int_equal(lt_sim_signal_make(&signal, 100, seen, 1, &err), LT_EINPUT);
	assert_string_equal(err.text, "signal: no hour has a value");
	assert_int_equal(lt_sim_signal_make(&signal, 100, seen, 0, NULL), LT_EINPUT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_golden),
	    cmocka_unit_test(test_ours),
	    cmocka_unit_test(test_optimum),
	    cmocka_unit_test(test_load),
	    cmocka_unit_test(test_looks),
	    cmocka_unit_test(test_no_future),
	    cmocka_unit_test(test_easy),
	    cmocka_unit_test(test_capacity),
	    cmocka_unit_test(test_holes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
