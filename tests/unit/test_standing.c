/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes a job's own nodes out of the market is what the market counted, whatever has happened
 * to the job since.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon.h"
#include "standing.h"
#include "units.h"

enum { NOW = 1795176000, HOUR = LT_HOUR_S };

static void
test_taken_out(void **state)
{
	static const struct {
		const char *why;
		int64_t eligible_h, counted_h; /* from now; -1: not counted */
		uint32_t waiting, counted;     /* tasks */
		int64_t taken_h;	       /* -1: nothing */
		float nodes;
	} cases[] = {
	    {"it waits as it was counted", 3, 3, 1, 1, 3, -1},
	    {"it ran when it was counted, and was requeued", 0, 1, 1, 1, 1, -1},
	    {"it was moved since", 5, 3, 1, 1, 3, -1},
	    {"tasks of its array have started since", 3, 3, 2, 5, 3, -2},
	    {"it is younger than the market", 3, -1, 1, 1, 3, -1},
	    {"it is in line, and was not counted", 0, -1, 1, 1, -1, 0},
	};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_standing *const s = calloc(1, sizeof(*s));
	struct lt_shape shape = {.node_count = 9, .cpus = 64};
	struct lt_partition partition = {.name = "own", .shape_count = 1, .node_count = 9};

	(void)state;
	assert_non_null(d);
	assert_non_null(s);
	d->site.market = (struct lt_market){
	    .partition_count = 1, .shape_count = 1, .partitions = &partition, .shapes = &shape};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_batch_job job = {.job_id = 7,
		    .partition = "own",
		    .admin_comment = "",
		    .state = LT_JOB_PENDING,
		    .nodes = 1,
		    .cpus = 64,
		    .limit_s = HOUR,
		    .array_pending = cases[i].waiting,
		    .eligible_utc_s = NOW + cases[i].eligible_h * HOUR};
		struct lt_counted counted[] = {{.job_id = 5},
		    {.job_id = 7,
			.window = {.nodes = (float)cases[i].counted,
			    .start_utc_s = NOW + cases[i].counted_h * HOUR,
			    .end_utc_s = NOW + (cases[i].counted_h + 1) * HOUR}},
		    {.job_id = 8}};
		struct lt_planned got;

		print_message("# %s\n", cases[i].why);
		d->jobs.counted = counted;
		d->jobs.counted_count = cases[i].counted_h < 0 ? 1 : 3;
		s->job = &job;
		s->now_utc_s = NOW;
		assert_int_equal(lt_standing_taken_out(&got, &d->site.market, &d->jobs, s),
		    cases[i].taken_h >= 0);
		if (cases[i].taken_h < 0)
			continue;
		assert_int_equal(got.start_utc_s, NOW + cases[i].taken_h * HOUR);
		assert_true(got.nodes == cases[i].nodes);
	}
	free(s);
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_taken_out)};

	return cmocka_run_group_tests_name("standing", tests, NULL, NULL);
}
