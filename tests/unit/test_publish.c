/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How old a budget snapshot may become, and what it may have in it: amid a transaction never what
 * may be undone.
 */
#include "breath.h"
#include "files.h"
#include "http.h"
#include "judge_fixture.h"
#include "publish.h"

/* Of the file. */
static int64_t
made(struct world *w, uint64_t *generation)
{
	int64_t made_utc_s;

	must(w->f, lt_file_stamp(generation, &made_utc_s, w->d->paths.snapshot, true, &w->f->err));
	return made_utc_s - NOW;
}

static void
at(struct world *w, int64_t after_s)
{
	w->d->pass.utc_s = NOW + after_s;
	w->d->pass.began_ms = lt_monotonic_ms();
}

static void
test_age(void **state)
{
	enum { NONE, PASS, READ, COMMITTED };
	static const struct {
		const char *why;
		int64_t at_s;
		int how;
		bool dirty, is_as_ledger, is_new;
		int64_t made_s;
	} steps[] = {
	    {"the first", 0, PASS, false, false, true, 0},
	    {"too young", 2, PASS, false, false, false, 0},
	    {"nothing has changed", 3, PASS, false, false, false, 3},
	    {"something has", 4, PASS, true, false, true, 4},
	    {"amid work, nothing has changed", 7, READ, false, false, false, 7},
	    {"amid a transaction that changes", 10, READ, true, false, false, 7},
	    {"right before it", 10, READ, true, true, false, 10},
	    {"between two", 13, COMMITTED, true, false, true, 13},
	    {"between two, nothing", 16, COMMITTED, false, false, false, 16},
	    {"holds move on in time", 28, PASS, false, false, true, 28},
	};
	struct world *const w = make_world(*state);
	uint64_t before = 0, generation;

	snprintf(w->d->paths.terms, sizeof(w->d->paths.terms), "%s/terms", w->f->dir);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		print_message("# %s\n", steps[i].why);
		at(w, steps[i].at_s);
		w->d->budget.dirty = steps[i].dirty;
		w->d->budget.is_as_ledger = steps[i].is_as_ledger;
		if (steps[i].how == PASS)
			lt_publish(w->d, lt_pass_now(&w->d->pass));
		else
			lt_publish_amid(
			    w->d, steps[i].how == READ ? LT_TURN_READ : LT_TURN_COMMITTED);
		assert_int_equal(made(w, &generation), steps[i].made_s);
		assert_int_equal(generation != before, steps[i].is_new);
		before = generation;
	}
	unlink(w->d->paths.terms);
	free_world(w);
}

static struct world *working;

/* An lt_breath_function: each part of the work takes four seconds. */
static void
take_long(enum lt_turn turn, int fd)
{
	(void)fd;
	working->d->pass.utc_s += 4;
	lt_publish_amid(working->d, turn);
}

/* Terms of very many jobs take longer than a snapshot may be old. */
static void
test_long_terms(void **state)
{
	struct world *const w = working = make_world(*state);
	struct lt_batch_job jobs[] = {make_job(7), make_job(8)};
	uint64_t generation;

	snprintf(w->d->paths.terms, sizeof(w->d->paths.terms), "%s/terms", w->f->dir);
	at(w, 0);
	lt_publish(w->d, NOW);
	w->d->jobs.list = (struct lt_batch_jobs){.jobs = jobs, .count = 2};
	w->d->budget.dirty = true;
	at(w, 4);
	lt_breath_by(take_long);
	lt_publish_amid(w->d, LT_TURN_COMMITTED);
	lt_breath_by(NULL);
	assert_int_equal(made(w, &generation), 12);
	w->d->jobs.list = (struct lt_batch_jobs){0};
	unlink(w->d->paths.terms);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_age, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_long_terms, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
