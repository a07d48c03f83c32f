/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lowtided tells job_modify of the jobs that live: for how many tasks a change is held, and
 * what of a het job is held back.
 */
#include "jobs.h"
#include "judge_fixture.h"
#include "ledger.h"
#include "batch.h"
#include "terms.h"
#include "write_terms.h"

/* The terms of one id, of the jobs that slurmctld has. */
static struct lt_terms
terms_for(struct world *w, struct lt_batch_job *jobs, uint32_t count, uint32_t id)
{
	struct lt_terms terms = {0};
	char path[] = "/tmp/lowtide-terms.XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(w->d->paths.terms, sizeof(w->d->paths.terms), "%s", path);
	w->d->jobs.list = (struct lt_batch_jobs){.jobs = jobs, .count = count};
	lt_jobs_sort(&w->d->jobs.list);
	must(w->f, lt_write_terms(w->d->site.policy, w->d->ledger, &w->d->jobs, &w->d->budget,
		       &w->d->paths, &w->f->err));
	must(w->f, lt_terms_find(path, id, &terms, &w->f->err));
	w->d->jobs.list = (struct lt_batch_jobs){0};
	unlink(path);
	return terms;
}

/* Whatever waits of an array, its tasks share one amount. */
static void
test_tasks(void **state)
{
	static const struct {
		const char *why;
		uint32_t live, pending, wants;
	} cases[] = {
	    {"six wait, four run", 10, 6, 10},
	    {"all wait", 10, 10, 10},
	    {"one job", 1, 0, 1},
	    {"its run is settled", 0, 0, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_ledger_hold hold = hold_job(w, &job, 5, 0);

		print_message("# %s\n", cases[i].why);
		hold.quote.tasks = 10;
		hold.live_tasks = cases[i].live;
		must(w->f, lt_ledger_put_hold(w->d->ledger, &hold, &w->f->err));
		job.array_pending = cases[i].pending;
		compile(w, NOW);
		assert_int_equal(terms_for(w, &job, 1, 7).tasks, cases[i].wants);
		free_world(w);
	}
}

/* What no record shows is from the quote. */
static void
test_quote(void **state)
{
	static const uint32_t both[][2] = {
	    {LT_QUOTE_PLANE, LT_TERMS_PLANE},
	    {LT_QUOTE_USER_HOLD, LT_TERMS_USER_HOLD},
	    {LT_QUOTE_CHECKPOINT, 0},
	};

	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);

		hold_job(w, &job, 5, both[i][0]);
		compile(w, NOW);
		assert_int_equal(
		    terms_for(w, &job, 1, 7).flags & (LT_TERMS_PLANE | LT_TERMS_USER_HOLD),
		    both[i][1]);
		free_world(w);
	}
}

/* By its leader's id all of it is released. */
static void
test_leaders(void **state)
{
	static const struct {
		const char *why;
		uint32_t leader, other, flags; /* of the quotes */
		bool held;
	} cases[] = {
	    {"nothing is held", 7, 7, 0, false},
	    {"a component is", 7, 7, LT_QUOTE_BUDGET_HOLD, true},
	    {"its balance is unknown", 7, 7, LT_QUOTE_UNKNOWN, true},
	    {"by its user", 7, 7, LT_QUOTE_USER_HOLD, false},
	    {"of another job", 7, 6, LT_QUOTE_BUDGET_HOLD, false},
	    {"no het job", 0, 0, LT_QUOTE_BUDGET_HOLD, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job jobs[] = {make_job(8), make_job(7)};

		print_message("# %s\n", cases[i].why);
		hold_job(w, &jobs[0], 5, cases[i].flags);
		hold_job(w, &jobs[1], 5, 0);
		jobs[0].het_job_id = cases[i].other;
		jobs[1].het_job_id = cases[i].leader;
		compile(w, NOW);
		assert_int_equal(
		    (terms_for(w, jobs, 2, 7).flags & LT_TERMS_OUR_HOLD) != 0, cases[i].held);
		free_world(w);
	}
}

/* By an array's id it is known that a task has run, also where that record has left slurmctld;
 * among jobs that are no arrays, in the order of ids. */
static void
test_arrays(void **state)
{
	static const struct {
		uint32_t id, array_id;
		enum lt_job_state state;
	} jobs[] = {
	    {5, 0, LT_JOB_PENDING},
	    {7, 7, LT_JOB_PENDING},
	    {9, 7, LT_JOB_RUNNING},
	    {11, 0, LT_JOB_PENDING},
	    {12, 6, LT_JOB_RUNNING},
	    {13, 13, LT_JOB_PENDING},
	};
	static const struct {
		uint32_t id, flags;
	} wants[] = {{5, 0}, {6, LT_TERMS_ARRAY_ONLY | LT_TERMS_ARRAY_RAN}, {7, LT_TERMS_ARRAY_RAN},
	    {9, 0}, {11, 0}, {12, 0}, {13, 0}};
	enum { COUNT = sizeof(jobs) / sizeof(jobs[0]) };

	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job listed[COUNT];

		for (size_t k = 0; k < COUNT; k++) {
			listed[k] = make_job(jobs[k].id);
			listed[k].array_job_id = jobs[k].array_id;
			listed[k].state = jobs[k].state;
			hold_job(w, &listed[k], 5, 0);
		}
		compile(w, NOW);
		assert_int_equal(terms_for(w, listed, COUNT, wants[i].id).flags &
				     (LT_TERMS_ARRAY_ONLY | LT_TERMS_ARRAY_RAN),
		    wants[i].flags);
		free_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_tasks, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_quote, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_leaders, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_arrays, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("terms_of_jobs", tests, NULL, NULL);
}
