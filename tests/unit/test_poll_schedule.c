/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is asked what happens to jobs between two lists: slurmdbd, whose rows name who starts and
 * ends, or slurmctld.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon.h"
#include "poll_schedule.h"

enum { LATER = 1000 };

static struct lt_daemon d;

static void
test_rows_name(void **state)
{
	static const struct {
		const char *why;
		bool rows_tell;
		int64_t every_s;
		uint32_t looks; /* of a job that may change by itself */
		int64_t next_list, next_rows;
	} cases[] = {
	    {"rows name it", true, 60, 0, LATER, 0},
	    {"they are missing", false, 60, 1, 0, LATER},
	    {"a list is cheap", true, 2, 0, 0, LATER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		d.jobs = (struct lt_jobs_state){
		    .every_s = cases[i].every_s, .rows_tell = cases[i].rows_tell};
		d.jobs.next.list = d.jobs.next.started = d.jobs.next.ended = LATER;
		lt_poll_ahead(&d.jobs, 7);
		assert_int_equal(d.jobs.look_count, cases[i].looks);
		assert_int_equal(d.jobs.next.list, lt_poll_singly(&d.jobs) ? LATER : 0);
		lt_poll_running(&d.jobs);
		assert_int_equal(d.jobs.next.list, cases[i].next_list);
		assert_int_equal(d.jobs.next.started, cases[i].next_rows);
		assert_int_equal(d.jobs.next.ended, cases[i].next_rows);
		free(d.jobs.looks);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
