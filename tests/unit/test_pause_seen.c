/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Killed between any two steps, or beside others who suspend and resume: what the next record of
 * the job shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jobs.h"
#include "pause_plan.h"

enum { T = 1000000, OURS = T + 1, OTHERS = T - 60, LATER = T + 40 };
enum { RUNS = LT_JOB_RUNNING, STILL = LT_JOB_SUSPENDED };
enum {
	SUSPENDING = LT_PAUSE_SUSPENDING,
	PAUSED = LT_PAUSE_PAUSED,
	RESUMING = LT_PAUSE_RESUMING,
	FOR_GOOD = LT_PAUSE_RESUMING_FOR_GOOD,
	LEFT = LT_PAUSE_LEFT
};

static void
test_seen(void **state)
{
	static const struct {
		const char *why;
		int step;
		int64_t known; /* when it was suspended, by the row */
		int job;
		int64_t changed, seen;
		int want;
	} cases[] = {
	    {"asked for, and the record is of before", SUSPENDING, 0, RUNS, 0, T + 2, SUSPENDING},
	    {"it never was: killed before it was asked for", SUSPENDING, 0, RUNS, 0, T + 3,
		RESUMING},
	    {"the same, and it was paused before", SUSPENDING, 0, RUNS, OTHERS, T + 3, RESUMING},
	    {"it is: killed after it was asked for", SUSPENDING, 0, STILL, OURS, T + 1, PAUSED},
	    {"in the second before by Slurm's clock", SUSPENDING, 0, STILL, T - 1, T + 1, PAUSED},
	    {"an admin was faster", SUSPENDING, 0, STILL, OTHERS, T + 1, LEFT},
	    {"an admin let it go on at once", SUSPENDING, 0, RUNS, OURS, T + 3, LEFT},
	    {"it stands still", PAUSED, OURS, STILL, OURS, LATER, PAUSED},
	    {"somebody let it go on", PAUSED, OURS, RUNS, LATER, LATER, LEFT},
	    {"and suspended it again", PAUSED, OURS, STILL, LATER, LATER, LEFT},
	    {"killed before it was let go on", RESUMING, OURS, STILL, OURS, LATER, RESUMING},
	    {"it goes on", RESUMING, OURS, RUNS, LATER, LATER, RESUMING},
	    {"and somebody suspends it", RESUMING, OURS, STILL, LATER, LATER, LEFT},
	    {"its user's word, not done yet", FOR_GOOD, OURS, STILL, OURS, LATER, FOR_GOOD},
	    {"done", FOR_GOOD, OURS, RUNS, LATER, LATER, LEFT},
	    {"others have it", LEFT, OURS, STILL, OURS, LATER, LEFT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_paused row = {.step = (enum lt_pause_step)cases[i].step,
		    .at_utc_s = T,
		    .changed_utc_s = cases[i].known};
		const struct lt_batch_job job = {.state = (enum lt_job_state)cases[i].job,
		    .changed_utc_s = cases[i].changed,
		    .seen_utc_s = cases[i].seen};
		const int is = (int)lt_pausing_seen(&job, &row);

		if (is != cases[i].want)
			fail_msg("%s: %d, want %d", cases[i].why, is, cases[i].want);
	}
}

/* What was never seen to stand still may yet be suspended, by a slurmctld that was slow. */
static void
test_over(void **state)
{
	struct lt_paused row = {.step = LT_PAUSE_RESUMING, .at_utc_s = T, .changed_utc_s = OURS};
	struct lt_batch_job job = {.state = LT_JOB_RUNNING, .seen_utc_s = T + 1};

	(void)state;
	assert_true(lt_pausing_is_over(&job, &row));
	job.state = LT_JOB_SUSPENDED;
	assert_false(lt_pausing_is_over(&job, &row));
	job.state = LT_JOB_RUNNING;
	row.changed_utc_s = 0;
	job.seen_utc_s = T + 30;
	assert_false(lt_pausing_is_over(&job, &row));
	job.seen_utc_s++;
	assert_true(lt_pausing_is_over(&job, &row));
	row.step = LT_PAUSE_SUSPENDING;
	assert_false(lt_pausing_is_over(&job, &row));
}

/* From the requeue until it was told, no other part of lowtided plans it. */
static void
test_requeued(void **state)
{
	struct lt_paused rows[] = {
	    {.job_id = 3, .step = LT_PAUSE_ASKED},
	    {.job_id = 5, .step = LT_PAUSE_REQUEUED},
	    {.job_id = 8, .step = LT_PAUSE_REQUEUED_AWAY},
	    {.job_id = 9, .step = LT_PAUSE_ASKED_AWAY},
	    {.job_id = 11, .step = LT_PAUSE_PAUSED},
	};
	const struct lt_jobs_state jobs = {
	    .paused = rows, .paused_count = sizeof(rows) / sizeof(rows[0])};

	(void)state;
	for (uint32_t id = 0; id < 13; id++)
		assert_int_equal(lt_jobs_requeued(&jobs, id), id == 5 || id == 8);
	assert_false(lt_jobs_requeued(&(struct lt_jobs_state){0}, 5));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_seen),
	    cmocka_unit_test(test_over),
	    cmocka_unit_test(test_requeued),
	};

	return cmocka_run_group_tests_name("still_seen", tests, NULL, NULL);
}
