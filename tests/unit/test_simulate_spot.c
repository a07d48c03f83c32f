/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs with a deadline on spot nodes: what lt_replan() makes of traces whose seconds are reckoned
 * by hand, and of a recorded one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "simulation.h"
#include "units.h"

enum {
	TICKS = 1000,
	TICK_S = 600,
	/* Its leaving time is so far away that nobody leaves by it. */
	NO_GUARD_S = -30 * LT_DAY_S,
};

static uint8_t taken[TICKS];
static char story[2048];

/* One word an event: "1800:taken@spot(1020)". */
static void
note(void *context, const struct lt_sim_spot_event *event)
{
	const size_t length = strlen(story);

	(void)context;
	snprintf(story + length, sizeof(story) - length, "%s%lld:%s%s%s@%s(%lld)",
	    length > 0 ? " " : "", (long long)event->at_s, lt_sim_spot_word(event->what),
	    event->why[0] != '\0' ? "=" : "", event->why, event->is_spot ? "spot" : "ondemand",
	    (long long)event->done_s);
}

/* An hour's work with a limit of 4500 s, due after three hours; a checkpoint each 600 s takes 60 s,
 * a restart 120 s; 300 s of slack. */
static const struct lt_sim_spot_options hour = {.work_s = LT_HOUR_S,
    .limit_factor = 1.25,
    .deadline_factor = 3,
    .every_s = 600,
    .write_s = 60,
    .restart_s = 120,
    .slack_s = 300,
    .spot_per_hour = 1,
    .on_demand_per_hour = 3};

/*
 * Taken at 1800 s it has two checkpoints of 660 s: 2400 s of work are left,
 * with three checkpoints and the restart 2700 s. lowtided counts
 * 1800 - 660 - 120 = 1020 s as done, so that 3480 s of the limit are left: on
 * demand it has to be at 10800 - 300 - 3480 = 7020 s. A run on spot that began
 * just before might lose 780 s and what a limit is rounded up by, and Slurm
 * lets it wait for 120 s then: a look a minute before 7020 - 960 = 6060 s sends
 * it there.
 */
static const struct {
	const char *why;
	uint32_t number;
	int64_t came_s;
	int from_tick, to_tick; /* taken */
	uint32_t max_interruptions;
	int64_t slack_s;
	const char *story;
	bool in_time;
	double money;
	int64_t tick_s;
	bool returns;
} cases[] = {
    {"nothing is taken", 0, 0, 900, 901, 0, 300,
	"0:submitted@spot(0) 0:started@spot(0) 3900:ended@spot(0)", true, 3900 / 3600.0, TICK_S,
	false},
    {"the node comes back in time", 0, 0, 3, 5, 0, 300,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"3000:started@spot(1020) 5700:ended@spot(1020)",
	true, 4500 / 3600.0, TICK_S, false},
    {"it is back at once: lowtided lets it start half a minute later", 0, 1770, 120, 121, 0, 300,
	"1770:submitted@spot(0) 1770:started@spot(0) 1800:taken@spot(0) "
	"1830:started@spot(0) 5850:ended@spot(0)",
	true, 4050 / 3600.0, 15, false},
    {"no node for long: it leaves at the last look", 0, 0, 3, 100, 0, 300,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"6000:decided=deadline@ondemand(1020) 6000:started@ondemand(1020) "
	"8700:ended@ondemand(1020)",
	true, (1800 + 3 * 2700) / 3600.0, TICK_S, false},
    {"each job is looked at at seconds of its own", 7, 0, 3, 100, 0, 300,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"6007:decided=deadline@ondemand(1020) 6007:started@ondemand(1020) "
	"8707:ended@ondemand(1020)",
	true, (1800 + 3 * 2700) / 3600.0, TICK_S, false},
    {"it never had a node: 1800 + 10800 - 300 - 4500 - 960 - 60", 0, 1800, 3, 100, 0, 300,
	"1800:submitted@spot(0) 6780:decided=deadline@ondemand(0) "
	"6780:started@ondemand(0) 10680:ended@ondemand(0)",
	true, 3 * 3900 / 3600.0, TICK_S, false},
    {"once is too often: at the look while Slurm lets it wait", 0, 0, 3, 5, 1, 300,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"1830:decided=interrupted@ondemand(1020) "
	"1830:started@ondemand(1020) 4530:ended@ondemand(1020)",
	true, (1800 + 3 * 2700) / 3600.0, TICK_S, false},
    {"without the guard it waits beyond its deadline", 0, 0, 3, 100, 0, NO_GUARD_S,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"60000:started@spot(1020) 62700:ended@spot(1020)",
	false, 4500 / 3600.0, TICK_S, false},
    {"and gives up after ten deadlines", 0, 0, 3, 900, 0, NO_GUARD_S,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"108000:gave_up@spot(1020)",
	false, 1800 / 3600.0, TICK_S, false},
    /* 240 s and a tenth of 3480 sooner than at 6000. Asked at 6000, 450 s into its work; what is
     * left after that takes 1950 s, 3 checkpoints, a start. */
    {"who may come back leaves sooner, and does", 0, 0, 3, 10, 0, 300,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"5430:decided=deadline@ondemand(1020) 5430:started@ondemand(1020) "
	"6060:returns@ondemand(1470) 6060:decided=better@spot(1470) "
	"6060:started@spot(1470) 8310:ended@spot(1470)",
	true, (1800 + 3 * 630 + 2250) / 3600.0, TICK_S, true},
    {"not in its last minutes", 0, 0, 3, 14, 0, 300,
	"0:submitted@spot(0) 0:started@spot(0) 1800:taken@spot(1020) "
	"5430:decided=deadline@ondemand(1020) 5430:started@ondemand(1020) "
	"8130:ended@ondemand(1020)",
	true, (1800 + 3 * 2700) / 3600.0, TICK_S, true},
};

static void
test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_sim_spot_options options = hour;
		const struct lt_sim_spot spot = {.trace = {cases[i].tick_s, TICKS, taken},
		    .options = &options,
		    .watch = {.event = note}};
		struct lt_sim_spot_fate fate;

		memset(taken, 0, sizeof(taken));
		memset(
		    taken + cases[i].from_tick, 1, (size_t)(cases[i].to_tick - cases[i].from_tick));
		options.max_interruptions = cases[i].max_interruptions;
		options.slack_s = cases[i].slack_s;
		options.returns = cases[i].returns;
		story[0] = '\0';
		assert_int_equal(
		    lt_sim_spot_job(&fate, &spot, cases[i].number, cases[i].came_s, NULL), LT_OK);
		if (strcmp(story, cases[i].story) != 0)
			fail_msg("%s:\n%s, want\n%s", cases[i].why, story, cases[i].story);
		assert_int_equal(fate.done && fate.ended_s <= fate.deadline_s, cases[i].in_time);
		assert_true(fabs(fate.money - cases[i].money) < 1e-9);
	}
}

/* A limit that has no room for the restart kills it: 3900 s are enough for the work alone, and none
 * of it was kept. */
static void
test_limit(void **state)
{
	struct lt_sim_spot_options options = hour;
	const struct lt_sim_spot spot = {
	    .trace = {TICK_S, TICKS, taken}, .options = &options, .watch = {.event = note}};
	struct lt_sim_spot_fate fate;

	(void)state;
	memset(taken, 0, sizeof(taken));
	taken[1] = 1;
	options.limit_factor = 3900.0 / 3600;
	story[0] = '\0';
	assert_int_equal(lt_sim_spot_job(&fate, &spot, 0, 0, NULL), LT_OK);
	assert_string_equal(story, "0:submitted@spot(0) 0:started@spot(0) 600:taken@spot(0) "
				   "1200:started@spot(0) 5100:timed_out@spot(0)");
	assert_false(fate.done);
	assert_true(fate.timed_out);
}

/* As recorded: a hundred jobs that come at random, with the guard and without; events of each go
 * forward in time. */
static void
test_recorded(void **state)
{
	struct lt_sim_spot_options options = lt_sim_spot_defaults;
	struct lt_sim_spot spot = {.options = &options};
	struct lt_sim_spot_result with, without;
	struct lt_error err = {0};
	uint8_t *recorded;

	(void)state;
	assert_int_equal(lt_simulation_read_spot_trace(
			     &spot.trace, &recorded, "tests/fixtures/simulate/spot.json", &err),
	    LT_OK);
	assert_int_equal(spot.trace.tick_s, 600);
	assert_int_equal(spot.trace.count, 554);
	assert_int_equal(lt_simulate_spot(&with, &spot, &err), LT_OK);
	assert_int_equal(with.taken, 53);
	assert_int_equal(with.in_time, 100);
	assert_true(with.interruptions > 200);
	assert_true(with.money < 0.8 * with.on_demand_money);
	/* Long ones with little time can't wait, but come back. */
	options.work_s = 10 * LT_HOUR_S;
	options.limit_factor = 1.1;
	options.deadline_factor = 1.3;
	options.slack_s = 0;
	assert_int_equal(lt_simulate_spot(&without, &spot, &err), LT_OK);
	assert_int_equal(without.left, 100);
	options.returns = true;
	assert_int_equal(lt_simulate_spot(&with, &spot, &err), LT_OK);
	assert_int_equal(with.in_time, 100);
	assert_true(with.returns > 50);
	assert_true(with.money < 0.95 * without.money);
	options = lt_sim_spot_defaults;
	options.slack_s = NO_GUARD_S;
	assert_int_equal(lt_simulate_spot(&without, &spot, &err), LT_OK);
	if (without.in_time > 60 || without.in_time == 0)
		fail_msg("%u in time without the guard", without.in_time);
	assert_int_equal(without.left, 0);
	free(recorded);
}

/* Nodes that come and go at random, no slack at all: each is on time, for what a last run on spot
 * may take is kept free. */
static void
test_on_time(void **state)
{
	uint64_t seed = 11;
	uint32_t ran_out = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct lt_sim_spot_options options = hour;
		const struct lt_sim_spot spot = {.trace = {60, TICKS, taken}, .options = &options};
		const uint64_t flips = 2 + lt_random(&seed) % 60;
		struct lt_sim_spot_fate fate;

		options.slack_s = 0;
		options.returns = i % 2 == 1;
		options.limit_factor = 1.2;
		options.deadline_factor = 2.5 + (double)(i % 8) / 4;
		for (int t = 0; t < TICKS; t++)
			taken[t] = lt_random(&seed) % flips == 0 ? lt_random(&seed) % 2
								 : taken[t > 0 ? t - 1 : 0];
		assert_int_equal(lt_sim_spot_job(&fate, &spot, (uint32_t)i, 0, NULL), LT_OK);
		if (!fate.timed_out && fate.ended_s > fate.deadline_s)
			fail_msg("try %d: %lld, due at %lld", i, (long long)fate.ended_s,
			    (long long)fate.deadline_s);
		ran_out += fate.left;
	}
	assert_true(ran_out > 100);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} traces[] = {
	    {"", "lt_spot.json"},
	    {"{}", "metadata.gap_seconds: want the seconds of a tick"},
	    {"{\"metadata\":{\"gap_seconds\":0},\"data\":[0]}", "gap_seconds"},
	    {"{\"metadata\":{\"gap_seconds\":60}}", "data: got 0 ticks"},
	    {"{\"metadata\":{\"gap_seconds\":60},\"data\":[0,2]}",
		"data[1]: want 1 (no node) or 0"},
	    {"{\"metadata\":{\"gap_seconds\":60},\"data\":[true]}", "data[0]"},
	};
	char path[] = "/tmp/lt_spot.json.XXXXXX";
	struct lt_sim_spot_options options = hour;
	struct lt_sim_spot spot = {.trace = {TICK_S, TICKS, taken}, .options = &options};
	struct lt_error err = {0};
	uint8_t *read;

	(void)state;
	close(mkstemp(path));
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		FILE *const file = fopen(path, "w");

		assert_non_null(file);
		fputs(traces[i].text, file);
		fclose(file);
		err = (struct lt_error){0};
		if (lt_simulation_read_spot_trace(&spot.trace, &read, path, &err) == LT_OK ||
		    strstr(err.text, traces[i].says) == NULL)
			fail_msg("%s: %s", traces[i].text, err.text);
		free(read);
	}
	unlink(path);
	spot.trace = (struct lt_sim_spot_trace){TICK_S, TICKS, taken};
	options.limit_factor = 1;
	assert_int_equal(lt_sim_spot_check(&spot, NULL), LT_EINPUT);
	options = hour;
	options.deadline_factor = 1.2;
	assert_int_equal(lt_sim_spot_check(&spot, NULL), LT_EINPUT);
	options = hour;
	assert_int_equal(lt_sim_spot_check(&spot, NULL), LT_OK);
	spot.trace.count = 0;
	assert_int_equal(lt_sim_spot_check(&spot, NULL), LT_EINPUT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_on_time),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
