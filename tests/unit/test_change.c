/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hold follows its job: what grew is held, by what is left; what shrank frees no more than is
 * known; another team pays all of it.
 */
#include <inttypes.h>

#include "judge_fixture.h"

#include "change.h"

enum { HALF = 300001, WHOLE = 600001 };

static const struct {
	const char *why;
	uint32_t cpus_before, cpus;
	int64_t limit_s, held;
	enum lt_job_state state;
	enum lt_mode mode;
	int64_t others; /* of the budget, by bob */
	int64_t wants, most;
	bool held_back;
} cases[] = {
    {"nothing changed", 32, 32, 600, 5, LT_JOB_PENDING, LT_MODE_ENFORCE, 0, 5, 5, false},
    {"more CPUs are held", 32, 64, 600, HALF, LT_JOB_PENDING, LT_MODE_ENFORCE, 0, WHOLE, WHOLE,
	false},
    {"a longer limit is held", 32, 32, 1200, HALF, LT_JOB_PENDING, LT_MODE_ENFORCE, 0, WHOLE, WHOLE,
	false},
    {"fewer CPUs free the rest", 64, 32, 600, WHOLE, LT_JOB_PENDING, LT_MODE_ENFORCE, 0, HALF,
	HALF + 1, false},
    {"a bound above the record shrinks by the ratio", 64, 32, 600, 2 * WHOLE, LT_JOB_PENDING,
	LT_MODE_ENFORCE, 0, WHOLE, WHOLE + 2, false},
    {"what runs is what is held", 64, 32, 600, 2 * WHOLE, LT_JOB_RUNNING, LT_MODE_ENFORCE, 0, HALF,
	HALF, false},
    {"only the growth is judged, to the last micro", 32, 64, 600, HALF, LT_JOB_PENDING,
	LT_MODE_ENFORCE, BUDGET - WHOLE, WHOLE, WHOLE, false},
    {"one micro more is held back", 32, 64, 600, HALF, LT_JOB_PENDING, LT_MODE_ENFORCE,
	BUDGET - WHOLE + 1, WHOLE, WHOLE, true},
    {"what runs is held though it does not fit", 32, 64, 600, HALF, LT_JOB_RUNNING, LT_MODE_ENFORCE,
	BUDGET - WHOLE + 1, WHOLE, WHOLE, false},
    {"advice holds nothing back", 32, 64, 600, HALF, LT_JOB_PENDING, LT_MODE_ADVISE,
	BUDGET - WHOLE + 1, WHOLE, WHOLE, false},
    {"what shrinks in a full budget goes on", 64, 32, 600, WHOLE, LT_JOB_PENDING, LT_MODE_ENFORCE,
	BUDGET, HALF, HALF + 1, false},
};

static void
test_size(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job before = make_job(7), bobs = make_job(8);

		print_message("# %s\n", cases[i].why);
		struct lt_ledger_hold hold = hold_job(w, &before, cases[i].held, 0);
		bobs.uid = BOB;
		hold_job(w, &bobs, cases[i].others, 0);
		compile(w, NOW);
		before.cpus = cases[i].cpus_before;
		before.state = cases[i].state;
		struct lt_batch_job job = before;
		job.cpus = cases[i].cpus;
		job.limit_s = cases[i].limit_s;
		job.start_utc_s = cases[i].state == LT_JOB_PENDING ? 0 : NOW;
		w->policy.mode = cases[i].mode;
		must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
			       &(struct lt_change){&job, &before, NOW}, &hold, &w->f->err));
		hold = hold_now(w, 107);
		const int64_t held = hold.quote.hold_per_task.money_micros;
		if (held < cases[i].wants || held > cases[i].most)
			fail_msg("case %zu: %" PRId64, i, held);
		assert_int_equal(
		    (hold.quote.flags & LT_QUOTE_BUDGET_HOLD) != 0, cases[i].held_back);
		assert_int_equal(hold.uid, ADA);
		/* Each change is a new text, so that it is written again. */
		assert_int_equal(hold.quote.rev, i == 0 ? 1 : 2);
		assert_int_equal(hold_now(w, 108).quote.rev, 1);
		free_world(w);
	}
}

static void
test_team(void **state)
{
	static const struct {
		const char *why;
		int64_t held, others; /* of speech */
		bool held_back;
	} moves[] = {
	    {"all of it fits there", BUDGET / 2, 0, false},
	    {"all of it does not", BUDGET / 2, 1, true},
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7), other = make_job(8);

		print_message("# %s\n", moves[i].why);
		struct lt_ledger_hold hold = hold_job(w, &job, moves[i].held, 0);
		other.account = "speech";
		hold_job(w, &other, moves[i].others, 0);
		compile(w, NOW);
		job.account = "speech";
		must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
			       &(struct lt_change){&job, &job, NOW}, &hold, &w->f->err));
		hold = hold_now(w, 107);
		assert_string_equal(hold.quote.account, "speech");
		assert_int_equal(
		    (hold.quote.flags & LT_QUOTE_BUDGET_HOLD) != 0, moves[i].held_back);
		free_world(w);
	}
}

/* A task's share is everybody's: it shrinks only with all of them. */
static void
test_array(void **state)
{
	static const struct {
		uint32_t tasks_of_record, cpus_before, cpus;
		int64_t held, wants, most;
	} arrays[] = {
	    {2, 64, 32, WHOLE, WHOLE, WHOLE},
	    {4, 64, 32, WHOLE, HALF, HALF + 1},
	    {2, 32, 64, HALF, WHOLE, WHOLE},
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job before = make_job(7);
		struct lt_ledger_hold hold = hold_job(w, &before, arrays[i].held, 0);

		hold.quote.tasks = hold.live_tasks = 4;
		before.cpus = arrays[i].cpus_before;
		before.array_pending = arrays[i].tasks_of_record;
		struct lt_batch_job job = before;
		job.cpus = arrays[i].cpus;
		must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
			       &(struct lt_change){&job, &before, NOW}, &hold, &w->f->err));
		const int64_t held = hold.quote.hold_per_task.money_micros;
		if (held < arrays[i].wants || held > arrays[i].most)
			fail_msg("array %zu: %" PRId64, i, held);
		free_world(w);
	}
}

/* As it waits, its partition becomes one of whole nodes. */
static void
test_partition(void **state)
{
	static const struct {
		const char *why;
		bool whole, dearer, anew;
		int64_t others, wants;
		bool held_back;
	} turns[] = {
	    {"whole nodes are held", true, false, true, 0, WHOLE, false},
	    {"which another price alone is not", false, true, true, 0, HALF, false},
	    {"and nobody looks twice at one market", true, false, false, 0, HALF, false},
	    {"what does not fit waits", true, false, true, BUDGET - WHOLE + 1, WHOLE, true},
	};

	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job before = make_job(7), other = make_job(8);
		struct lt_ledger_hold hold = hold_job(w, &before, HALF, 0);

		print_message("# %s\n", turns[i].why);
		before.asked = &(const struct lt_batch_asked){.min_nodes = 1, .max_nodes = 1};
		hold_job(w, &other, turns[i].others, 0);
		compile(w, NOW);
		lt_change_look(&w->d->site.market, &before, NULL, false, NOW);
		assert_true(before.node_shares > 0.4999 && before.node_shares < 0.5001);
		struct lt_batch_job job = before;
		job.node_shares = 0;
		if (turns[i].whole)
			w->partition.flags |= LT_PARTITION_EXCLUSIVE;
		if (turns[i].dearer)
			w->value[0] *= 2;
		lt_change_look(&w->d->site.market, &job, &before, turns[i].anew, NOW);
		must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
			       &(struct lt_change){&job, &before, NOW}, &hold, &w->f->err));
		hold = hold_now(w, 107);
		assert_int_equal(hold.quote.hold_per_task.money_micros, turns[i].wants);
		assert_int_equal(
		    (hold.quote.flags & LT_QUOTE_BUDGET_HOLD) != 0, turns[i].held_back);
		free_world(w);
	}
}

/* Its begin was moved to hours of another price: twice as dear from noon on. */
static void
test_begin(void **state)
{
	enum { CHEAP = NOW + LT_HOUR_S, DEAR = NOW + 13 * LT_HOUR_S };

	static const struct {
		const char *why;
		int64_t eligible_before_utc_s, eligible_utc_s, held, others;
		int64_t wants, most;
		bool held_back;
	} moves[] = {
	    {"dearer is held", CHEAP, DEAR, HALF, 0, WHOLE, WHOLE, false},
	    {"and held back where it does not fit", CHEAP, DEAR, HALF, BUDGET - WHOLE + 1, WHOLE,
		WHOLE, true},
	    {"cheaper frees the rest", DEAR, CHEAP, WHOLE, 0, HALF, HALF + 1, false},
	    {"one time of the past is as another", NOW - LT_HOUR_S, NOW, 5, 0, 5, 5, false},
	};
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job before = make_job(7), other = make_job(8);
		int64_t starts[] = {NOVEMBER, NOW + 12 * LT_HOUR_S, DECEMBER};
		double values[] = {3600000, 7200000}, integrals[3];

		print_message("# %s\n", moves[i].why);
		w->series.count = 2;
		w->series.start_utc_s = starts;
		w->series.value = values;
		w->series.integral = integrals;
		assert_int_equal(lt_series_prepare(&w->series, NULL), LT_OK);
		struct lt_ledger_hold hold = hold_job(w, &before, moves[i].held, 0);
		hold_job(w, &other, moves[i].others, 0);
		compile(w, NOW);
		before.eligible_utc_s = moves[i].eligible_before_utc_s;
		struct lt_batch_job job = before;
		job.eligible_utc_s = moves[i].eligible_utc_s;
		must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
			       &(struct lt_change){&job, &before, NOW}, &hold, &w->f->err));
		hold = hold_now(w, 107);
		const int64_t held = hold.quote.hold_per_task.money_micros;
		if (held < moves[i].wants || held > moves[i].most)
			fail_msg("begin %zu: %" PRId64, i, held);
		assert_int_equal(
		    (hold.quote.flags & LT_QUOTE_BUDGET_HOLD) != 0, moves[i].held_back);
		free_world(w);
	}
}

/* What has ended moves no more. */
static void
test_left_alone(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job before = make_job(7), job = before;
	struct lt_ledger_hold hold = hold_job(w, &job, HALF, 0);

	job.cpus = 64;
	hold.state = LT_HOLD_SETTLED;
	must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
		       &(struct lt_change){&job, &before, NOW}, &hold, &w->f->err));
	hold.state = LT_HOLD_OPEN;
	job.state = LT_JOB_FINISHED;
	must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
		       &(struct lt_change){&job, &before, NOW}, &hold, &w->f->err));
	assert_int_equal(hold_now(w, 107).quote.hold_per_task.money_micros, HALF);
	assert_int_equal(hold.quote.rev, 1);
	free_world(w);
}

/* Seen first: what Slurm made of it counts, only up; of a job that waits not what another market's
 * price alone would make. */
static void
test_seen_first(void **state)
{
	static const struct {
		const char *why;
		uint32_t cpus;
		int64_t held, wants;
		enum lt_job_state state;
	} firsts[] = {
	    {"Slurm gives more", 64, HALF, WHOLE, LT_JOB_PENDING},
	    {"less than held frees nothing", 32, WHOLE, WHOLE, LT_JOB_PENDING},
	    {"a little more is a newer price", 32, HALF - 2000, HALF - 2000, LT_JOB_PENDING},
	    {"a little more of what runs is held", 32, HALF - 2000, HALF, LT_JOB_RUNNING},
	};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_ledger_hold hold = hold_job(w, &job, firsts[i].held, 0);

		print_message("# %s\n", firsts[i].why);
		job.cpus = firsts[i].cpus;
		job.state = firsts[i].state;
		job.start_utc_s = job.state == LT_JOB_PENDING ? 0 : NOW;
		must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
			       &(struct lt_change){&job, NULL, NOW}, &hold, &w->f->err));
		assert_int_equal(
		    hold_now(w, 107).quote.hold_per_task.money_micros, firsts[i].wants);
		free_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_size, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_team, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_array, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_partition, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_begin, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_left_alone, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_seen_first, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
