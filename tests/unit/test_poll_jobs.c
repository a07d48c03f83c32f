/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that are asked for singly, where a list of all takes long: what is followed, what stays, and
 * that a list after it finds nothing new.
 */
#include "jobs.h"
#include "judge_fixture.h"
#include "poll_jobs.h"
#include "poll_schedule.h"
#include "expire.h"

enum { HELD = 300001, MANY = 40, ROUNDS = 60 };

/* A job with its quote, and the hold. */
static struct lt_ledger_hold
quote_job(struct world *w, struct lt_batch_job *job)
{
	static char texts[MANY + 1][LT_QUOTE_TEXT_SIZE];
	const struct lt_ledger_hold hold = hold_job(w, job, HELD, 0);

	assert_true(job->job_id <= MANY);
	assert_int_equal(lt_quote_pack(texts[job->job_id], sizeof(texts[0]), &hold.quote), LT_OK);
	job->admin_comment = texts[job->job_id];
	return hold;
}

/* As slurmctld does. */
static void
do_as_told(void)
{
	for (uint32_t i = 0; i < told.count; i++)
		for (uint32_t k = 0; k < fake_jobs.count; k++)
			if (fake_jobs.jobs[k].job_id == told.job_id[i] && told.hold[i] == LT_HOLD)
				fake_jobs.jobs[k].held = true;
	told = (struct told){0};
}

static void
list(struct world *w, struct lt_batch_job *jobs, uint32_t count)
{
	fake_jobs = (struct lt_batch_jobs){.count = count, .jobs = jobs};
	must(w->f, lt_reconcile(w->d, NOW, &w->f->err));
	do_as_told();
	/* As if it had taken long. */
	w->d->jobs.every_s = 60;
	w->d->jobs.next.list = w->d->jobs.next.ended = NOW + 60;
	questions->singly = 0;
}

static void
look(struct world *w)
{
	must(w->f, lt_poll(w->d, NOW, &w->f->err));
	do_as_told();
}

static void
end_world(struct world *w)
{
	fake_rows = (struct lt_batch_runs){0};
	lt_batch_jobs_free(&w->d->jobs.list);
	for (uint32_t i = 0; i < w->d->jobs.ended_count; i++)
		free(w->d->jobs.ended[i].run.admin_comment);
	free(w->d->jobs.ended);
	free(w->d->jobs.looks);
	free_world(w);
}

static void
cancel(struct lt_batch_job *job)
{
	job->state = LT_JOB_FINISHED;
	job->end_utc_s = NOW;
}

/* Of three that were cancelled the one that is named is free. */
static void
test_named(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[3];

	for (uint32_t i = 0; i < 3; i++) {
		jobs[i] = make_job(9 - i);
		quote_job(w, &jobs[i]);
	}
	list(w, jobs, 3);
	for (uint32_t i = 0; i < 3; i++)
		cancel(&jobs[i]);
	look(w);
	assert_int_equal(questions->singly, 0);
	lt_poll_at(&w->d->jobs, 8);
	lt_poll_at(&w->d->jobs, 8);
	look(w);
	assert_int_equal(questions->singly, 1);
	for (uint32_t id = 7; id <= 9; id++) {
		const bool named = id == 8;

		assert_int_equal(hold_now(w, id + 100).state, named ? LT_HOLD_VOID : LT_HOLD_OPEN);
		assert_int_equal(lt_jobs_find(&w->d->jobs.list, id)->state,
		    named ? LT_JOB_FINISHED : LT_JOB_PENDING);
		assert_int_equal(lt_live_find(&w->d->jobs, id + 100)->live, !named);
	}
	list(w, jobs, 3);
	assert_int_equal(hold_now(w, 107).state, LT_HOLD_VOID);
	end_world(w);
}

/* Of three the last is left for the next pass. */
static void
test_busy(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[3];

	for (uint32_t i = 0; i < 3; i++) {
		jobs[i] = make_job(i + 7);
		quote_job(w, &jobs[i]);
	}
	list(w, jobs, 3);
	for (uint32_t i = 0; i < 3; i++) {
		cancel(&jobs[i]);
		lt_poll_at(&w->d->jobs, i + 7);
	}
	busy_us = 600000;
	look(w);
	busy_us = 0;
	assert_int_equal(questions->singly, 2);
	assert_int_equal(hold_now(w, 108).state, LT_HOLD_VOID);
	assert_int_equal(hold_now(w, 109).state, LT_HOLD_OPEN);
	look(w);
	assert_int_equal(questions->singly, 3);
	assert_int_equal(hold_now(w, 109).state, LT_HOLD_VOID);
	end_world(w);
}

/* slurmdbd's rows name those of the list that it does not know as ended. */
static void
test_rows(void **state)
{
	static const struct {
		const char *why;
		uint32_t job_id;
		int64_t start_utc_s, end_utc_s;
		enum lt_job_state state;
		uint32_t asked;
		const char *row_state;
		int64_t seen_before_s;
	} cases[] = {
	    {"it ended since", 7, NOW - 9, NOW + 1, LT_JOB_RUNNING, 1, "", 0},
	    {"cancelled since", 7, 0, NOW, LT_JOB_PENDING, 1, "", 0},
	    {"known to have ended", 7, 0, NOW + 1, LT_JOB_FINISHED, 0, "", 0},
	    {"an earlier run of it", 7, NOW - 9, NOW - 1, LT_JOB_PENDING, 0, "", 0},
	    {"nobody's in the list", 5, 0, NOW + 1, LT_JOB_PENDING, 0, "", 0},
	    {"it started since", 7, NOW, 0, LT_JOB_PENDING, 1, "", 0},
	    {"known to have started", 7, NOW, 0, LT_JOB_RUNNING, 0, "", 0},
	    {"a start of long ago", 7, NOW - 9, 0, LT_JOB_PENDING, 0, "", 0},
	    {"suspended", 7, NOW - 90, 0, LT_JOB_RUNNING, 1, "SUSPENDED", 30},
	    {"suspended, seen just now", 7, NOW - 90, 0, LT_JOB_RUNNING, 0, "SUSPENDED", 29},
	    {"resumed", 7, NOW - 90, 0, LT_JOB_SUSPENDED, 1, "RUNNING", 30},
	    {"it runs on", 7, NOW - 90, 0, LT_JOB_RUNNING, 0, "RUNNING", 90},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_batch_run row = {.job_id = cases[i].job_id,
		    .start_utc_s = cases[i].start_utc_s,
		    .end_utc_s = cases[i].end_utc_s};

		print_message("# %s\n", cases[i].why);
		snprintf(w->d->site.tables.conf.accounting_storage,
		    sizeof(w->d->site.tables.conf.accounting_storage), "slurmdbd");
		job.state = cases[i].state;
		job.seen_utc_s = NOW - cases[i].seen_before_s;
		snprintf(row.state_text, sizeof(row.state_text), "%s", cases[i].row_state);
		if (job.state != LT_JOB_PENDING)
			job.start_utc_s = NOW - 60;
		list(w, &job, 1);
		fake_rows = (struct lt_batch_runs){.count = 1, .runs = &row};
		look(w);
		assert_int_equal(questions->singly, 0); /* not due */
		w->d->jobs.next.ended = NOW;
		look(w);
		assert_int_equal(questions->singly, cases[i].asked);
		assert_true(w->d->jobs.next.ended > NOW);
		end_world(w);
	}
}

/* Too many, one that nobody knows, or a slurmctld that fails: a list. */
static void
test_a_list_is_due(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);

	quote_job(w, &job);
	list(w, &job, 1);
	/* As soon as the last one has paid; till then so many are asked. */
	w->d->jobs.next.list_soonest = NOW + 9;
	for (uint32_t id = 1; id <= MANY; id++)
		lt_poll_at(&w->d->jobs, 1000 + id);
	assert_int_equal(w->d->jobs.next.list, NOW + 9);
	assert_int_equal(w->d->jobs.look_count, lt_poll_most(&w->d->jobs));
	list(w, &job, 1);
	lt_poll_at(&w->d->jobs, 0);
	assert_int_equal(w->d->jobs.next.list, 0);
	list(w, &job, 1);
	cancel(&job);
	jobs_fail = true;
	lt_poll_at(&w->d->jobs, 7);
	assert_int_equal(lt_poll(w->d, NOW, &w->f->err), LT_ENET);
	jobs_fail = false;
	assert_int_equal(w->d->jobs.next.list, 0);
	assert_int_equal(w->d->jobs.list.count, 1);
	assert_int_equal(hold_now(w, 107).state, LT_HOLD_OPEN);
	/* It goes by all that slurmctld has, also those that were let go. */
	list(w, &job, 1);
	w->d->jobs.listed_count = 1000 * MANY;
	for (uint32_t id = 1; id <= MANY; id++)
		lt_poll_at(&w->d->jobs, 1000 + id);
	assert_int_equal(w->d->jobs.look_count, MANY);
	/* Cheap lists are never replaced. */
	list(w, &job, 1);
	w->d->jobs.every_s = 2;
	lt_poll_at(&w->d->jobs, 7);
	assert_int_equal(w->d->jobs.next.list, 0);
	end_world(w);
}

/* A list and its pass took a second. */
static void
pace(struct world *w, uint32_t cancelled)
{
	lt_poll_pace(&w->d->jobs, &(struct lt_listed){1000, cancelled}, NOW);
}

/* While slurmdbd does not answer, and at a site without it, only lists show who started or ended:
 * they are made as often as they may. */
static void
test_no_rows(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);

	quote_job(w, &job);
	list(w, &job, 1);
	w->d->jobs.list.count = 2000; /* as if there were so many */
	pace(w, 0);
	assert_int_equal(w->d->jobs.next.list, NOW + 50);
	w->d->jobs.list.count = 1;
	snprintf(w->d->site.tables.conf.accounting_storage,
	    sizeof(w->d->site.tables.conf.accounting_storage), "slurmdbd");
	w->d->jobs.next.ended = NOW;
	look(w);
	w->d->jobs.list.count = 2000;
	pace(w, 0);
	assert_int_equal(w->d->jobs.next.list, NOW + 600);
	/* While very many are cancelled its rows are late. */
	pace(w, 2000 / 70 + 1);
	assert_int_equal(w->d->jobs.next.list, NOW + 5);
	assert_int_equal(w->d->jobs.next.list_from, NOW + 5);
	assert_int_equal(w->d->jobs.next.list_soonest, NOW + 5);
	pace(w, 2000 / 70);
	assert_int_equal(w->d->jobs.next.list, NOW + 600);
	/* Those that slurmctld has no more don't pile up. */
	assert_int_equal(w->d->jobs.listed_count, 1);
	w->d->jobs.list.count = 2001;
	lt_poll_grown(&w->d->jobs, NOW);
	assert_int_equal(w->d->jobs.next.list, NOW + 600);
	w->d->jobs.list.count = 2002;
	lt_poll_grown(&w->d->jobs, NOW);
	assert_int_equal(w->d->jobs.next.list, NOW + 50);
	w->d->jobs.list.count = 2000;
	pace(w, 0);
	assert_int_equal(w->d->jobs.next.list, NOW + 600);
	w->d->jobs.list.count = 1;
	dbd_fails = true;
	w->d->jobs.next.ended = NOW;
	look(w);
	dbd_fails = false;
	assert_int_equal(w->d->jobs.next.list, NOW + 50);
	w->d->jobs.list.count = 2000;
	pace(w, 0);
	assert_int_equal(w->d->jobs.next.list, NOW + 50);
	w->d->jobs.list.count = 1;
	end_world(w);
}

/* An array is asked for by its first id, whichever task is named; what slurmctld has no more leaves
 * the list. */
static void
test_array(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[3] = {make_job(7), make_job(8), make_job(9)};

	for (uint32_t i = 0; i < 2; i++) {
		jobs[i].array_job_id = 8;
		jobs[i].state = LT_JOB_RUNNING;
		jobs[i].start_utc_s = NOW - 60;
	}
	jobs[1].state = LT_JOB_PENDING;
	jobs[1].array_pending = 4;
	struct lt_ledger_hold hold = hold_job(w, &jobs[1], HELD, 0);
	quote_job(w, &jobs[2]);
	hold.quote.tasks = hold.live_tasks = 5;
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	list(w, jobs, 3);
	assert_int_equal(lt_live_find(&w->d->jobs, 108)->live, 5);
	/* Its first task has left, another two were cancelled. */
	jobs[1].array_pending = 2;
	fake_jobs = (struct lt_batch_jobs){.count = 2, .jobs = jobs + 1};
	lt_poll_at(&w->d->jobs, 7);
	look(w);
	assert_int_equal(questions->singly, 1);
	assert_int_equal(w->d->jobs.list.count, 2);
	assert_null(lt_jobs_find(&w->d->jobs.list, 7));
	assert_int_equal(lt_live_find(&w->d->jobs, 108)->live, 2);
	/* A job that slurmctld has forgotten. */
	assert_int_equal(lt_live_find(&w->d->jobs, 109)->live, 1);
	fake_jobs.count = 1;
	lt_poll_at(&w->d->jobs, 9);
	look(w);
	assert_null(lt_live_find(&w->d->jobs, 109));
	assert_int_equal(w->d->jobs.list.count, 1);
	end_world(w);
}

/* Of an array whose waiting tasks are cancelled nobody tells. */
static void
test_arrays_in_turn(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[2] = {make_job(7), make_job(8)};

	jobs[1].array_job_id = 8;
	jobs[1].array_pending = 4;
	quote_job(w, &jobs[0]);
	struct lt_ledger_hold hold = quote_job(w, &jobs[1]);
	hold.quote.tasks = hold.live_tasks = 4;
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	list(w, jobs, 2);
	look(w);
	assert_int_equal(questions->singly, 1);
	w->d->jobs.void_due = false;
	look(w);
	assert_int_equal(questions->singly, 2);
	assert_false(w->d->jobs.void_due); /* as it was: not followed */
	jobs[1].array_pending = 1;
	look(w);
	assert_true(w->d->jobs.void_due);
	assert_int_equal(lt_live_find(&w->d->jobs, 108)->live, 1);
	end_world(w);
}

/* Whose holds came since have the next ids; what has none is in no list that began before it. */
static void
test_new(void **state)
{
	enum { GAP = 8, PASSES = 10 };
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[3] = {make_job(7), make_job(8), make_job(10)};

	for (int i = 0; i < 3; i++)
		quote_job(w, &jobs[i]);
	list(w, jobs, 1);
	fake_jobs.count = 3;
	look(w);
	assert_int_equal(questions->singly, 0);
	w->d->jobs.unseen = 2;
	look(w);
	assert_int_equal(questions->singly, 3); /* 9 has no job */
	assert_int_equal(w->d->jobs.list.count, 3);
	assert_non_null(lt_live_find(&w->d->jobs, 110));
	w->d->jobs.next.list = NOW + 600;
	w->d->jobs.unseen = 1;
	for (int i = 0; i < PASSES; i++) {
		assert_int_equal(w->d->jobs.next.list, NOW + 600);
		questions->singly = 0;
		look(w);
		assert_int_equal(questions->singly, GAP);
	}
	assert_int_equal(w->d->jobs.unseen, 0);
	assert_int_equal(w->d->jobs.next.list, NOW + LT_VOID_UNSEEN_S + 1);
	/* Very many: a list, as soon as there may be one. */
	w->d->jobs.next.list = NOW + 600;
	w->d->jobs.next.list_from = NOW + 30;
	w->d->jobs.unseen = MANY;
	questions->singly = 0;
	look(w);
	assert_int_equal(questions->singly, 0);
	assert_int_equal(w->d->jobs.next.list, NOW + 30);
	end_world(w);
}

/* One that is named before any list or look had it is found once: a new job that was changed at
 * once, and a task that a change split from its array. */
static void
test_named_unknown(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[3] = {make_job(7), make_job(8), make_job(9)};

	jobs[0].array_job_id = jobs[1].array_job_id = 7;
	jobs[0].array_pending = 4;
	struct lt_ledger_hold hold = hold_job(w, &jobs[0], HELD, 0);
	hold.quote.tasks = hold.live_tasks = 4;
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	list(w, jobs, 1);
	jobs[0].array_pending = 3;
	fake_jobs.count = 2;
	lt_poll_at(&w->d->jobs, 8);
	for (int i = 0; i < 2; i++) {
		look(w);
		assert_int_equal(w->d->jobs.list.count, 2);
		assert_int_equal(lt_live_find(&w->d->jobs, 107)->live, 4);
	}
	quote_job(w, &jobs[2]);
	fake_jobs.count = 3;
	w->d->jobs.unseen = 1;
	lt_poll_at(&w->d->jobs, 9);
	look(w);
	assert_int_equal(w->d->jobs.unseen, 0);
	assert_int_equal(w->d->jobs.list.count, 3);
	end_world(w);
}

static uint32_t
drawn(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* Something happens to a job. */
static void
happen(struct lt_batch_job *job, uint32_t *seed)
{
	if (job->state == LT_JOB_PENDING && drawn(seed, 2)) {
		job->state = LT_JOB_RUNNING;
		job->start_utc_s = NOW - 10;
		job->end_utc_s = NOW + 590;
	} else if (job->state == LT_JOB_PENDING && drawn(seed, 2)) {
		job->limit_s += 60;
	} else if (job->state == LT_JOB_RUNNING && drawn(seed, 3) == 0) {
		job->state = LT_JOB_PENDING;
		job->held = false;
		job->requeued = true;
		job->submit_utc_s = NOW - 5;
		job->start_utc_s = job->end_utc_s = 0;
	} else if (job->state != LT_JOB_FINISHED) {
		job->state = LT_JOB_FINISHED;
		job->end_utc_s = job->start_utc_s ? NOW - 1 : NOW;
	}
}

static struct round {
	char holds[MANY][96], live[MANY][96];
	uint32_t live_count;
} rounds[2][ROUNDS];

static void
note(struct round *round, struct world *w)
{
	round->live_count = w->d->jobs.live_count;
	for (uint32_t i = 0; i < round->live_count; i++) {
		const struct lt_live *const live = &w->d->jobs.live[i];

		snprintf(round->live[i], sizeof(round->live[i]),
		    "%d of job %u: %u live, %u pending, %d %d %d", (int)live->quote_id,
		    live->job_id, live->live, live->pending, (int)(live->submit_utc_s - NOW),
		    (int)(live->start_utc_s - NOW), (int)(live->end_utc_s - NOW));
	}
	for (uint32_t i = 0; i < MANY; i++) {
		const struct lt_ledger_hold hold = hold_now(w, i + 101);

		snprintf(round->holds[i], sizeof(round->holds[i]),
		    "of job %u: rev %u flags %x money %d state %d live %u, %d %d", hold.job_id,
		    hold.quote.rev, hold.quote.flags, (int)hold.quote.hold_per_task.money_micros,
		    (int)hold.state, hold.live_tasks, (int)(hold.submit_utc_s - NOW),
		    (int)(hold.start_utc_s - NOW));
	}
}

/* The same things happen; those that they happen to are looked at, or all. */
static void
play(struct fixture *f, bool by_list)
{
	static struct lt_batch_job jobs[MANY];
	uint32_t seed = 20261123;
	struct world *const w = make_world(f);

	for (uint32_t i = 0; i < MANY; i++) {
		jobs[i] = make_job(i + 1);
		if (i % 4 == 3)
			jobs[i].array_job_id = i; /* with the one before */
		if (i % 4 == 2)
			jobs[i].array_job_id = i + 1;
		quote_job(w, &jobs[i]);
	}
	list(w, jobs, MANY);
	for (int i = 0; i < ROUNDS; i++) {
		for (uint32_t k = 0; k < 3; k++) {
			struct lt_batch_job *const job = &jobs[drawn(&seed, MANY)];

			happen(job, &seed);
			lt_poll_at(&w->d->jobs, job->job_id);
		}
		if (by_list)
			list(w, jobs, MANY);
		else
			look(w);
		note(&rounds[by_list][i], w);
	}
	end_world(w);
}

static void
test_by_looks(void **state)
{
	play(*state, false);
}

/* Whatever happened to whom, a list would have found the same. */
static void
test_by_lists(void **state)
{
	play(*state, true);
	for (int i = 0; i < ROUNDS; i++) {
		const struct round *const looks = &rounds[0][i];
		const struct round *const lists = &rounds[1][i];

		print_message("# round %d\n", i);
		assert_int_equal(looks->live_count, lists->live_count);
		for (uint32_t k = 0; k < looks->live_count; k++)
			assert_string_equal(looks->live[k], lists->live[k]);
		for (uint32_t k = 0; k < MANY; k++)
			assert_string_equal(looks->holds[k], lists->holds[k]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_named, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_busy, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_a_list_is_due, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_no_rows, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_array, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_arrays_in_turn, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_new, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_named_unknown, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_by_looks, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_by_lists, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("look", tests, NULL, NULL);
}
