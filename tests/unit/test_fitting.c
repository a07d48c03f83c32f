/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fits of sources in a process of their own: this test is started anew as lowtided would be. One at
 * a time, each source in turn, again after hours, and what fails costs nothing but the fit.
 */
#include "ledger_fixture.h"

#include <poll.h>

#include "fitting.h"

enum { NOW = NOVEMBER, DAYS = 120, WAIT_MS = 20000, SOURCES = 2 };

static struct lt_policy_source policies[SOURCES] = {{.name = "long"}, {.name = "short"}};
static struct lt_source sources[SOURCES];
static struct lt_signals_state signals = {SOURCES, sources, NULL, NULL, false, false};

static void
put_history(struct fixture *f, const char *key, int days)
{
	const uint32_t count = (uint32_t)days * 24;
	struct lt_rate_step *const steps = calloc(count, sizeof(*steps));

	for (uint32_t i = 0; i < count; i++) {
		const int64_t start = NOW - (int64_t)(count - i) * HOUR;

		steps[i] = (struct lt_rate_step){.start_utc_s = start,
		    .end_utc_s = start + HOUR,
		    .value =
			200 + (double)(start / HOUR % 24) * 5 + (double)(start / HOUR * 7919 % 31),
		    .quality = LT_QUALITY_MEASURED,
		    .source = "s"};
	}
	must(f, lt_ledger_put_points(f->ledger, key, steps, count, &f->err));
	free(steps);
}

static int
set_up_sources(void **state)
{
	static const struct lt_adapter adapter = {.name = "test"};
	static struct lt_rate_step step = {NOW - HOUR, NOW, 200, LT_QUALITY_MEASURED, "s", 0};

	if (set_up(state) != 0)
		return -1;
	struct fixture *const f = *state;
	memset(sources, 0, sizeof(sources));
	for (int i = 0; i < SOURCES; i++) {
		sources[i].policy = &policies[i];
		sources[i].adapter = &adapter;
		sources[i].quantity = LT_QUANTITY_CARBON;
		sources[i].step_count = 1;
		sources[i].steps = malloc(sizeof(step));
		*sources[i].steps = step;
		strcpy(sources[i].key, i == 0 ? "long#1" : "short#1");
	}
	put_history(f, "long#1", DAYS);
	put_history(f, "short#1", 40);
	signals.changed = false;
	return 0;
}

static int
tear_down_sources(void **state)
{
	lt_fitting_stop();
	for (int i = 0; i < SOURCES; i++) {
		free(sources[i].steps);
		free(sources[i].fit);
	}
	return tear_down(state);
}

/* Until none runs. */
static int
run_all(struct fixture *f, int64_t now_utc_s)
{
	struct pollfd fd;
	int turns = 0;

	lt_fitting_run(&signals, f->ledger, now_utc_s);
	while (lt_fitting_fds(&fd) > 0) {
		assert_true(poll(&fd, 1, WAIT_MS) == 1);
		lt_fitting_run(&signals, f->ledger, now_utc_s);
		assert_true(++turns < 100);
	}
	return turns;
}

static void
test_in_turn(void **state)
{
	struct fixture *const f = *state;

	assert_true(run_all(f, NOW) >= SOURCES);
	assert_non_null(sources[0].fit);
	assert_true(sources[0].fit->is_fitted[LT_FIT_WITHOUT]);
	assert_true(sources[0].fit->days[LT_FIT_WITHOUT] > 80);
	assert_true(sources[0].fit->seen_hour == NOW / HOUR - 1);
	assert_true(signals.changed);
	assert_true(sources[0].generation == 1);
	assert_true(sources[0].step_count > 100);
	/* Too short: none, and nothing has changed for it. */
	assert_null(sources[1].fit);
	assert_true(sources[1].generation == 0);
	/* Not again before it is due. */
	assert_int_equal(run_all(f, NOW + LT_FITTING_EVERY_S - 1), 0);
	assert_true(run_all(f, NOW + LT_FITTING_EVERY_S) > 0);
	assert_true(sources[0].fit_utc_s == NOW + LT_FITTING_EVERY_S);
	/* The clock was set back. */
	assert_true(run_all(f, NOW) > 0);
}

/* The same by itself as by the process. */
static void
test_make(void **state)
{
	struct fixture *const f = *state;
	const struct lt_known now = {.seasonal = true, .now_utc_s = NOW};
	struct lt_forecast_fit fit;

	(void)run_all(f, NOW);
	must(f, lt_fitting_make(
		    &fit, f->ledger, &now, &(struct lt_weather_keys){.source = "long#1"}, &f->err));
	assert_memory_equal(fit.weights, sources[0].fit->weights, sizeof(fit.weights));
	must(f, lt_fitting_make(
		    &fit, f->ledger, &now, &(struct lt_weather_keys){.source = "none#1"}, &f->err));
	assert_false(fit.is_fitted[LT_FIT_WITHOUT]);
}

/* With the weather of its keys, and the operator's, in the process and after it. */
static void
test_with_weather(void **state)
{
	struct fixture *const f = *state;
	static const char *const keys[LT_AHEAD_COUNT] = {
	    "wind#1", "sun#1", "warmth#1", "wind_power#1", "solar_power#1", "load#1"};

	for (int i = 0; i < LT_AHEAD_COUNT; i++) {
		put_history(f, keys[i], DAYS);
		sources[0].weather[i] = keys[i];
	}
	(void)run_all(f, NOW);
	assert_non_null(sources[0].fit);
	assert_true(sources[0].fit->is_fitted[LT_FIT_WITH]);
	assert_true(sources[0].fit->days[LT_FIT_WITH] > 80);
	assert_true(sources[0].fit->days[LT_FIT_OPERATOR] > 80);
}

static void
test_not_seasonal(void **state)
{
	struct fixture *const f = *state;

	for (int i = 0; i < SOURCES; i++)
		sources[i].quantity = LT_QUANTITY_PRICE;
	assert_int_equal(run_all(f, NOW), 0);
	assert_true(sources[0].fit_utc_s == 0);
}

/* A history that is gone takes the fit with it; a child that fails does not. */
static void
test_lost(void **state)
{
	struct fixture *const f = *state;
	char path[96], moved[96];

	(void)run_all(f, NOW);
	assert_non_null(sources[0].fit);
	snprintf(path, sizeof(path), "%s/signals.db", f->dir);
	snprintf(moved, sizeof(moved), "%s/moved.db", f->dir);
	assert_int_equal(rename(path, moved), 0);
	assert_true(run_all(f, NOW + LT_FITTING_EVERY_S) > 0);
	assert_non_null(sources[0].fit);
	assert_int_equal(rename(moved, path), 0);
	must(f, lt_ledger_prune_signals(f->ledger, NOW - 30 * LT_DAY_S, 100000, &f->err));
	assert_true(run_all(f, NOW + 2 * LT_FITTING_EVERY_S) > 0);
	assert_null(sources[0].fit);
}

/* Stopped while it runs, and a policy that changes meanwhile. */
static void
test_stopped(void **state)
{
	struct fixture *const f = *state;
	struct pollfd fd;

	lt_fitting_run(&signals, f->ledger, NOW);
	assert_int_equal(lt_fitting_fds(&fd), 1);
	lt_fitting_stop();
	assert_int_equal(lt_fitting_fds(&fd), 0);
	assert_null(sources[0].fit);
	lt_fitting_run(&signals, f->ledger, NOW + LT_FITTING_EVERY_S);
	strcpy(sources[1].key, "other#1");
	strcpy(sources[0].key, "another#1");
	(void)run_all(f, NOW + LT_FITTING_EVERY_S);
	assert_null(sources[0].fit);
}

static void
test_arguments(void **state)
{
	char *some[] = {"lowtided", "--once", NULL};
	char *wrong[] = {"lowtided", "--fit", "/nowhere", "key", "0", "", "", "", "", "", "", NULL};

	(void)state;
	assert_int_equal(lt_fitting_main(1, some), -1);
	assert_int_equal(lt_fitting_main(2, some), -1);
	assert_int_equal(lt_fitting_main(4, wrong), -1);
	assert_int_equal(lt_fitting_main(5, wrong), -1);
	assert_int_equal(lt_fitting_main(11, wrong), 1);
}

#define EACH_SOURCE(test) cmocka_unit_test_setup_teardown(test, set_up_sources, tear_down_sources)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    EACH_SOURCE(test_in_turn),
	    EACH_SOURCE(test_make),
	    EACH_SOURCE(test_with_weather),
	    EACH_SOURCE(test_not_seasonal),
	    EACH_SOURCE(test_lost),
	    EACH_SOURCE(test_stopped),
	    cmocka_unit_test(test_arguments),
	};
	const int fitted = lt_fitting_main(argc, argv);

	return fitted >= 0 ? fitted : cmocka_run_group_tests(tests, NULL, NULL);
}
