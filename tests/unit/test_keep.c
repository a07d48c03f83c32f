/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records of a long list stay, and that all that they point to does.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jobs.h"
#include "job_list.h"

enum { MANY = 2000 };

static const char *
in_pool(struct lt_batch_jobs *list, const char *text)
{
	const char *const at = lt_pool_share(&list->pool, text, strlen(text) + 1);

	assert_non_null(at);
	return at;
}

/* Every other one has texts of its own. */
static void
add_jobs(struct lt_batch_jobs *list, uint32_t count, const struct lt_batch_job *like)
{
	list->jobs = reallocarray(list->jobs, list->count + count, sizeof(*list->jobs));
	assert_non_null(list->jobs);
	for (uint32_t i = 0; i < count; i++) {
		struct lt_batch_job *const job = &list->jobs[list->count++];
		char name[16];

		snprintf(name, sizeof(name), "job%u", list->count);
		*job = *like;
		job->job_id = list->count;
		if (i % 2)
			job->texts = strdup(name);
		job->name = i % 2 ? job->texts : in_pool(list, name);
		job->account = i % 2 ? job->texts : in_pool(list, "vision");
	}
}

static void
test_keep(void **state)
{
	static const struct lt_batch_job waits = {.state = LT_JOB_PENDING},
					 over = {.state = LT_JOB_FINISHED, .end_utc_s = 9},
					 ran = {.state = LT_JOB_FINISHED,
					     .start_utc_s = 3,
					     .end_utc_s = 9};
	static const struct {
		const char *why;
		uint32_t waiting, cancelled, run, kept;
	} cases[] = {
	    {"none was cancelled", 5, 0, 2, 7},
	    {"few were", 5, MANY - 1, 0, MANY + 4},
	    {"more wait", MANY + 10, MANY, 0, 2 * MANY + 10},
	    {"many were", 5, MANY + 1, 2, 7},
	    {"all were: the last stays", 0, MANY + 1, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_batch_jobs list = {.begun_utc_s = 7};

		print_message("# %s\n", cases[i].why);
		add_jobs(&list, cases[i].waiting, &waits);
		add_jobs(&list, cases[i].cancelled, &over);
		add_jobs(&list, cases[i].run, &ran);
		const uint32_t last = list.jobs[list.count - 1].job_id;
		lt_keep_jobs(&list);
		assert_int_equal(list.count, cases[i].kept);
		assert_int_equal(list.begun_utc_s, 7);
		assert_int_equal(list.jobs[list.count - 1].job_id, last);
		for (uint32_t k = 0; k < list.count; k++) {
			char name[16];

			snprintf(name, sizeof(name), "job%u", list.jobs[k].job_id);
			assert_string_equal(list.jobs[k].name, name);
			assert_string_equal(
			    list.jobs[k].account, list.jobs[k].texts != NULL ? name : "vision");
			assert_null(list.jobs[k].asked);
		}
		lt_batch_jobs_free(&list);
	}
}

/* Those that were looked at singly, and then moved by lowtide. What is freed is overwritten. */
static void
test_keep_moved(void **state)
{
	static const struct lt_batch_job waits = {.state = LT_JOB_PENDING},
					 over = {.state = LT_JOB_FINISHED, .end_utc_s = 9};
	struct lt_batch_jobs list = {.begun_utc_s = 7};

	(void)state;
	mallopt(M_PERTURB, 0xa5);
	add_jobs(&list, 4, &waits);
	add_jobs(&list, MANY + 1, &over);
	for (uint32_t i = 0; i < 4; i++)
		lt_jobs_moved(&list, list.jobs[i].job_id, "spot", 5);
	lt_keep_jobs(&list);
	assert_int_equal(list.count, 5);
	for (uint32_t i = 0; i < 4; i++) {
		assert_string_equal(list.jobs[i].partition, "spot");
		assert_int_equal(list.jobs[i].eligible_utc_s, 5);
	}
	lt_batch_jobs_free(&list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_keep), cmocka_unit_test(test_keep_moved)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
