/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs on more than was admitted: who goes back to the queue for it, and that neither a price
 * nor a limit is taken for a size.
 */
#include "judge_fixture.h"

#include "facts.h"
#include "change.h"

enum { HALF = 300001, WHOLE = 600001, PRICE = 3600000 };

struct given { /* half a node was asked for; the node is given */
	const char *why;
	enum lt_underheld rule;
	enum lt_mode mode;
	int64_t ran_s, admitted, limit_s; /* limit_s: of the hold */
	double price;			  /* of the hold */
	uint32_t cpus, flags, tasks;
	bool interactive, no_requeue, cron, pending, completing, requeued, refuses;
	bool goes_back;
};
#define REQUEUE LT_UNDERHELD_REQUEUE, LT_MODE_ENFORCE
static const struct given cases[] = {
    {"twice the node that was held", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .goes_back = true},
    {"within the minute", REQUEUE, 60, HALF, 600, PRICE, 64, 0, 1, .goes_back = true},
    {"a second after it", REQUEUE, 61, HALF, 600, PRICE, 64, 0, 1, .goes_back = false},
    {"the site lets it run", LT_UNDERHELD_LET, LT_MODE_ENFORCE, 2, HALF, 600, PRICE, 64, 0, 1,
	.goes_back = false},
    {"advice touches nothing", LT_UNDERHELD_REQUEUE, LT_MODE_ADVISE, 2, HALF, 600, PRICE, 64, 0, 1,
	.goes_back = false},
    {"what was admitted", REQUEUE, 2, WHOLE, 600, PRICE, 64, 0, 1, .goes_back = false},
    {"half of it", REQUEUE, 2, HALF, 600, PRICE, 32, 0, 1, .goes_back = false},
    {"a price that rose is no size", REQUEUE, 2, HALF, 600, PRICE / 2, 32, 0, 1,
	.goes_back = false},
    {"nor is a limit that an admin raised", REQUEUE, 2, HALF, 300, PRICE, 32, 0, 1,
	.goes_back = false},
    {"once a job", REQUEUE, 2, HALF, 600, PRICE, 64, LT_QUOTE_UNDERHELD, 1, .goes_back = false},
    {"its user requeued it before", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .requeued = true,
	.goes_back = true},
    {"a task, though another one was", REQUEUE, 2, HALF, 600, PRICE, 64, LT_QUOTE_UNDERHELD, 4,
	.goes_back = true},
    {"a task that was", REQUEUE, 2, HALF, 600, PRICE, 64, LT_QUOTE_UNDERHELD, 4, .requeued = true},
    {"not a batch job", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .interactive = true},
    {"may not be requeued", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .no_requeue = true},
    {"of a scrontab", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .cron = true},
    {"it waits", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .pending = true},
    {"it is ending", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .completing = true},
    {"slurmctld refuses", REQUEUE, 2, HALF, 600, PRICE, 64, 0, 1, .refuses = true},
};

static struct lt_batch_job
job_of(const struct given *c)
{
	struct lt_batch_job job = make_job(7);

	job.state = c->pending ? LT_JOB_PENDING : LT_JOB_RUNNING;
	job.start_utc_s = NOW - c->ran_s;
	job.is_allocated = true;
	job.cpus = c->cpus;
	job.is_batch = !c->interactive;
	job.requeue_allowed = !c->no_requeue;
	job.is_cron = c->cron;
	job.completing = c->completing;
	job.requeued = c->requeued;
	return job;
}

static void
test_who_goes_back(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct given *const c = &cases[i];
		struct world *const w = make_world(*state);
		const struct lt_batch_job job = job_of(c);
		struct lt_ledger_hold hold = hold_job(w, &job, WHOLE, c->flags);
		const struct lt_admission admission = {.price = c->price,
		    .limit_s = c->limit_s,
		    .admitted = {.has_money = true, .money_micros = c->admitted}};

		print_message("# %s\n", c->why);
		hold.quote.tasks = c->tasks;
		must(w->f, lt_ledger_put_admission(w->f->ledger, 107, &hold.quote.hold_per_task,
			       &admission, &w->f->err));
		w->policy.on_underheld = c->rule;
		w->policy.mode = c->mode;
		told.refuses = c->refuses;
		must(w->f, lt_underheld_follow(&w->books, &job, &hold, NOW, &w->f->err));
		assert_int_equal(told.requeued, c->goes_back ? 7 : 0);
		const struct lt_ledger_hold now = hold_now(w, 107);
		assert_int_equal((now.quote.flags & LT_QUOTE_UNDERHELD) != 0,
		    c->goes_back || (c->flags & LT_QUOTE_UNDERHELD));
		/* The text on the job is written again, and it isn't freed. */
		assert_int_equal(told_of(7), c->goes_back ? (int)LT_LEAVE : LT_LEAVE - 1);
		assert_int_equal(now.quote.hold_per_task.money_micros, WHOLE);
		free_world(w);
	}
}

/* Nobody noted what was admitted: it is not known to be too little. */
static void
test_not_known(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_batch_job job = job_of(&cases[0]);
	struct lt_ledger_hold hold = hold_job(w, &job, WHOLE, 0);

	w->policy.on_underheld = LT_UNDERHELD_REQUEUE;
	must(w->f, lt_underheld_follow(&w->books, &job, &hold, NOW, &w->f->err));
	assert_int_equal(told.requeued, 0);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_who_goes_back, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_not_known, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("underheld", tests, NULL, NULL);
}
