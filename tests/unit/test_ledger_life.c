/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ledger knows of a job that lost its nodes.
 */
#include "ledger_jobs.h"
#include "ledger_fixture.h"

/* A run is told by who ended it, and by slurmdbd again: it counts once, and what was known first
 * stays. An id that is given again is another job. */
static void
interruptions_count_once(void **state)
{
	struct fixture *const f = *state;
	struct lt_interrupted run = {.job_id = 7,
	    .start_utc_s = NOVEMBER,
	    .at_utc_s = NOVEMBER + HOUR,
	    .counts = true,
	    .done_s = 3000};
	struct lt_losses life;

	must(f, lt_ledger_losses(f->ledger, 7, 0, &life, &f->err));
	assert_int_equal(life.interruptions, 0);
	must(f, lt_ledger_put_interruption(f->ledger, &run, &f->err));
	run.done_s = 0;
	must(f, lt_ledger_put_interruption(f->ledger, &run, &f->err));
	/* Moved by lowtide itself: its work counts, and no interruption. */
	run.start_utc_s += 2 * HOUR;
	run.at_utc_s += 2 * HOUR;
	run.counts = false;
	run.done_s = 500;
	must(f, lt_ledger_put_interruption(f->ledger, &run, &f->err));
	run.job_id = 8;
	must(f, lt_ledger_put_interruption(f->ledger, &run, &f->err));
	must(f, lt_ledger_losses(f->ledger, 7, NOVEMBER, &life, &f->err));
	assert_int_equal(life.interruptions, 1);
	assert_int_equal(life.done_s, 3500);
	must(f, lt_ledger_losses(f->ledger, 7, NOVEMBER + 1, &life, &f->err));
	assert_int_equal(life.interruptions, 0);
	assert_int_equal(life.done_s, 500);
	must(f, lt_ledger_prune_interruptions(f->ledger, NOVEMBER + 2 * HOUR, &f->err));
	must(f, lt_ledger_losses(f->ledger, 7, 0, &life, &f->err));
	assert_int_equal(life.done_s, 500);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(interruptions_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
