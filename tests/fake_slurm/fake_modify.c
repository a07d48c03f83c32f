/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_modify of job_submit_lowtide.so: what may be changed, released, raised.
 */
#include "fake.h"

#include <time.h>

#include "quote.h"
#include "files.h"
#include "terms.h"
#include "units.h"

int
fake_job_modify(job_desc_msg_t *job, uint32_t uid)
{
#if LT_MODIFY_HAS_MESSAGE
	char *message = NULL;
	const int code = fake_modify(job, NULL, uid, &message);

	free(message);
	return code;
#else
	return fake_modify(job, NULL, uid);
#endif
}

static void
terms(uint32_t flags)
{
	struct lt_terms one = {.job_id = 7,
	    .uid = getuid(),
	    .quote_id = 5,
	    .hold_money_micros = 3600001,
	    .hold_carbon_mg = 100000000,
	    .account_hash = lt_name_hash("team0000"),
	    .partition_hash = lt_name_hash("ondemand"),
	    .limit_s = 3600,
	    .nodes = 1,
	    .share_ppm = 1000000,
	    .tasks = 1,
	    .cpus = 64,
	    .flags = flags | LT_TERMS_BUDGETED | LT_TERMS_HAS_MONEY |
		     LT_TERMS_HAS_CARBON};
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_TERMS_FILE);
	assert_int_equal(lt_terms_write(path, &one, 1, 1, NULL), LT_OK);
}

static void
test_modify(void **state)
{
	static const struct {
		const char *why, *id, *account, *partition, *comment;
		uint32_t minutes, priority, terms;
		int code;
	} cases[] = {
	    {"shorter", "7", NULL, NULL, NULL, 30, NO_VAL, 0, SLURM_SUCCESS},
	    {"an hour more fits", "7", NULL, NULL, NULL, 120, NO_VAL, 0,
		SLURM_SUCCESS},
	    {"a day more does not", "7", NULL, NULL, NULL, 1500, NO_VAL, 0,
		ESLURM_ACCOUNTING_POLICY},
	    {"unlimited does not", "7_[1-4]", NULL, NULL, NULL, INFINITE,
		NO_VAL, 0, ESLURM_ACCOUNTING_POLICY},
	    {"a cheaper partition", "7", NULL, "spot", NULL, NO_VAL, NO_VAL, 0,
		SLURM_SUCCESS},
	    {"an account without budget", "7", "free", NULL, NULL, NO_VAL,
		NO_VAL, 0, SLURM_SUCCESS},
	    {"an account nobody knows", "7", "other", NULL, NULL, NO_VAL,
		NO_VAL, 0, ESLURM_ACCOUNTING_POLICY},
	    {"a job not in terms", "8", NULL, NULL, NULL, 10, NO_VAL, 0,
		ESLURM_ACCOUNTING_POLICY},
	    {"release of our hold", "7", NULL, NULL, NULL, NO_VAL, INFINITE,
		LT_TERMS_OUR_HOLD, ESLURM_ACCOUNTING_POLICY},
	    {"release of the user's hold", "7", NULL, NULL, NULL, NO_VAL,
		INFINITE, LT_TERMS_USER_HOLD, SLURM_SUCCESS},
	    {"release of a job not in terms", "8", NULL, NULL, NULL, NO_VAL,
		INFINITE, 0, ESLURM_ACCOUNTING_POLICY},
	    {"an hour more of all of a het job", "7", NULL, NULL, NULL, 120,
		NO_VAL, LT_TERMS_HET_LEADER, ESLURM_ACCOUNTING_POLICY},
	    {"an hour more of one component", "7+0", NULL, NULL, NULL, 120,
		NO_VAL, LT_TERMS_HET_LEADER, SLURM_SUCCESS},
	    {"lowtided's own update", "7", NULL, NULL,
		"lowtide:1 q=0000000000000005 rev=2 team=team0000 "
		"hold=1,1 n=1 win=0-1 plan=spot@0 base=spot@0 exp=-,- "
		"was=-,- by=off mode=enforce f=0;",
		1500, INFINITE, LT_TERMS_OUR_HOLD, SLURM_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		int code;

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots("--limit 10");
		terms(cases[i].terms);
		assert_int_equal(fake_init(), SLURM_SUCCESS);
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup(cases[i].id);
		job.account = slurm_xstrdup(cases[i].account);
		job.partition = slurm_xstrdup(cases[i].partition);
		job.admin_comment = slurm_xstrdup(cases[i].comment);
		job.time_limit = cases[i].minutes;
		job.priority = cases[i].priority;
		code = fake_job_modify(&job, getuid());
		free(job.job_id_str);
		free(job.account);
		free(job.partition);
		free(job.admin_comment);
		assert_int_equal(code, cases[i].code);
	}
}

/* Ways around a hold that need none of the fields above. */
static void
test_ways_around(void **state)
{
	static const struct {
		const char *why, *id;
		uint32_t nice, terms, user_id;
		int64_t begin_in_s, end_in_s; /* 0 = unset */
		int limit; /* of the team; the job may cost 3.6 */
		int code;
	} cases[] = {
	    {.why = "nice gives a job that we hold a priority",
		.id = "7",
		.nice = NICE_OFFSET + 5,
		.terms = LT_TERMS_OUR_HOLD,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "nice before the terms have the job",
		.id = "8",
		.nice = NICE_OFFSET + 5,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "nice of a job that is not held",
		.id = "7",
		.nice = NICE_OFFSET + 5,
		.code = SLURM_SUCCESS},
	    {.why = "its hold may be in another period: all must fit",
		.id = "7",
		.begin_in_s = -1,
		.limit = 3,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "all fits",
		.id = "7",
		.begin_in_s = 3600,
		.limit = 10,
		.code = SLURM_SUCCESS},
	    {.why = "a begin before the terms have the job",
		.id = "8",
		.begin_in_s = -1,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "the end of a running job, six hours on",
		.id = "7",
		.end_in_s = 6 * 3600,
		.limit = 10,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "another's uid in the request",
		.id = "8",
		.user_id = 54321,
		.begin_in_s = -1,
		.code = ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		int code;

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(
		    cases[i].limit == 3 ? "--limit 3" : "--limit 10");
		terms(cases[i].terms);
		assert_int_equal(fake_init(), SLURM_SUCCESS);
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup(cases[i].id);
		if (cases[i].begin_in_s)
			job.begin_time = time(NULL) + cases[i].begin_in_s;
		if (cases[i].end_in_s)
			job.end_time = time(NULL) + cases[i].end_in_s;
		if (cases[i].user_id)
			job.user_id = cases[i].user_id;
		if (cases[i].nice)
			job.nice = cases[i].nice;
		code = fake_job_modify(&job, getuid());
		free(job.job_id_str);
		assert_int_equal(code, cases[i].code);
	}
}

int
fake_modify_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_modify),
	    FAKE_TEST(test_ways_around),
	};

	return cmocka_run_group_tests_name("modify", tests, NULL, NULL);
}
