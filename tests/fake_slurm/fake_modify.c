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

void
fake_terms(struct lt_terms *jobs, uint32_t count)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_TERMS_FILE);
	assert_int_equal(lt_terms_write(path, jobs, count, 1, NULL), LT_OK);
}

/* Of terms_of(): in an account without a budget. */
static const uint32_t UNBUDGETED = UINT32_C(1) << 31;

static struct lt_terms
terms_like(uint32_t uid, uint32_t flags, int64_t start_utc_s)
{
	const bool budgeted = !(flags & UNBUDGETED);

	return (struct lt_terms){.job_id = 7,
	    .uid = uid,
	    .quote_id = 5,
	    .hold_money_micros = 3600001,
	    .hold_carbon_mg = 100000000,
	    .account_hash = lt_name_hash(budgeted ? "team0000" : "free"),
	    .partition_count = 1,
	    .partition_hash = {lt_name_hash("ondemand")},
	    .limit_s = 3600,
	    .tasks = 1,
	    .asked = {.min_nodes = 1, .max_nodes = 1, .cpus = 64},
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + 3600,
	    .flags = (flags & ~UNBUDGETED) | LT_TERMS_HAS_MONEY | LT_TERMS_HAS_CARBON |
		     (budgeted ? LT_TERMS_BUDGETED : 0u)};
}

static void
terms_of(uint32_t uid, uint32_t flags, int64_t start_utc_s)
{
	struct lt_terms one = terms_like(uid, flags, start_utc_s);

	fake_terms(&one, 1);
}

static void
terms(uint32_t flags)
{
	terms_of(getuid(), flags, 0);
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
	    {"an hour more fits", "7", NULL, NULL, NULL, 120, NO_VAL, 0, SLURM_SUCCESS},
	    {"a day more does not", "7", NULL, NULL, NULL, 1500, NO_VAL, 0,
		ESLURM_ACCOUNTING_POLICY},
	    {"unlimited does not", "7_[1-4]", NULL, NULL, NULL, INFINITE, NO_VAL, 0,
		ESLURM_ACCOUNTING_POLICY},
	    {"a cheaper partition", "7", NULL, "spot", NULL, NO_VAL, NO_VAL, 0, SLURM_SUCCESS},
	    {"an account without budget", "7", "free", NULL, NULL, NO_VAL, NO_VAL, 0,
		SLURM_SUCCESS},
	    {"an account nobody knows", "7", "other", NULL, NULL, NO_VAL, NO_VAL, 0,
		ESLURM_ACCOUNTING_POLICY},
	    {"into a budget that has room", "7", "team0000", NULL, NULL, NO_VAL, NO_VAL, UNBUDGETED,
		SLURM_SUCCESS},
	    {"into a budget that has not", "7", "team0000", NULL, NULL, 1500, NO_VAL, UNBUDGETED,
		ESLURM_ACCOUNTING_POLICY},
	    {"out of none, where nobody knows", "7", "other", NULL, NULL, NO_VAL, NO_VAL,
		UNBUDGETED, ESLURM_ACCOUNTING_POLICY},
	    {"a job not in terms", "8", NULL, NULL, NULL, 10, NO_VAL, 0, ESLURM_ACCOUNTING_POLICY},
	    {"release of our hold", "7", NULL, NULL, NULL, NO_VAL, INFINITE, LT_TERMS_OUR_HOLD,
		ESLURM_ACCOUNTING_POLICY},
	    {"release of the user's hold", "7", NULL, NULL, NULL, NO_VAL, INFINITE,
		LT_TERMS_USER_HOLD, SLURM_SUCCESS},
	    {"release of a job not in terms", "8", NULL, NULL, NULL, NO_VAL, INFINITE, 0,
		ESLURM_ACCOUNTING_POLICY},
	    {"an hour more of all of a het job", "7", NULL, NULL, NULL, 120, NO_VAL,
		LT_TERMS_HET_LEADER, ESLURM_ACCOUNTING_POLICY},
	    {"an hour more of one component", "7+0", NULL, NULL, NULL, 120, NO_VAL,
		LT_TERMS_HET_LEADER, SLURM_SUCCESS},
	    {"of the component with that offset", "6+1", NULL, NULL, NULL, 120, NO_VAL,
		LT_TERMS_HET_LEADER, SLURM_SUCCESS},
	    {"an hour more of tasks that have other ids", "7", NULL, NULL, NULL, 120, NO_VAL,
		LT_TERMS_ARRAY_ONLY, ESLURM_ACCOUNTING_POLICY},
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
		fake_again();
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

/* A stranger's change is Slurm's to refuse: we hold nothing and say nothing, whatever is asked. Of
 * the owner's own the same is judged. */
static void
test_strangers(void **state)
{
	static const struct {
		const char *why;
		uint32_t minutes, priority, terms, by;
		int code;
	} cases[] = {
	    {"the owner: over", 1500, NO_VAL, LT_TERMS_PENDING, 4001, ESLURM_ACCOUNTING_POLICY},
	    {"a stranger: nothing", 1500, NO_VAL, LT_TERMS_PENDING, 4002, SLURM_SUCCESS},
	    {"a stranger: nothing of what fits", 120, NO_VAL, LT_TERMS_PENDING, 4002,
		SLURM_SUCCESS},
	    {"a stranger's release of our hold: Slurm's answer", NO_VAL, INFINITE,
		LT_TERMS_PENDING | LT_TERMS_OUR_HOLD, 4002, SLURM_SUCCESS},
	    {"root is judged", 1500, NO_VAL, LT_TERMS_PENDING, 0, ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots("--limit 10");
		terms_of(4001, cases[i].terms, (int64_t)time(NULL));
		fake_again();
		fake_said[0] = '\0';
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.time_limit = cases[i].minutes;
		job.priority = cases[i].priority;
		assert_int_equal(fake_job_modify(&job, cases[i].by), cases[i].code);
		free(job.job_id_str);
		assert_int_equal(fake_said[0] != '\0', cases[i].code != SLURM_SUCCESS);
	}
}

/* lowtided's own update is known by who sends it and by the quote of the job; the text alone says
 * nothing. */
static void
test_forged(void **state)
{
	static const struct {
		const char *why;
		uint32_t by;
		char quote;
		int code;
	} cases[] = {
	    {"ours", 0, '5', SLURM_SUCCESS},
	    {"its owner copies our text", 4001, '5', ESLURM_ACCOUNTING_POLICY},
	    {"with another job's quote", 0, '6', ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		char text[] = "lowtide:1 q=0000000000000005 rev=2 "
			      "team=team0000 hold=1,1 n=1 win=0-1 plan=spot@0 "
			      "base=spot@0 exp=-,- was=-,- by=off "
			      "mode=enforce f=0;";

		print_message("# %s\n", cases[i].why);
		*strchr(text, '5') = cases[i].quote;
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots("--limit 10");
		terms_of(4001, LT_TERMS_PENDING, (int64_t)time(NULL));
		fake_again();
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.admin_comment = slurm_xstrdup(text);
		job.time_limit = 1500;
		assert_int_equal(fake_job_modify(&job, cases[i].by), cases[i].code);
		free(job.job_id_str);
		free(job.admin_comment);
	}
}

/* What a user names is one line of slurmctld's log, and no escape. */
static void
test_names_are_no_lines(void **state)
{
	static const char *const names[] = {"x\n[2026-11-22] error: forged",
	    "x\r[2026-11-22] error: forged", "x\033[2J", "x\302\2332J", "x\2332J"};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
		job_desc_msg_t job;
		const char *const name = names[i / 2];

		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots("--limit 10");
		terms(0);
		fake_again();
		fake_said[0] = '\0';
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		if (i % 2)
			job.account = slurm_xstrdup(name);
		else
			job.partition = slurm_xstrdup(name);
		assert_int_not_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
		free(job.job_id_str);
		free(job.account);
		free(job.partition);
		assert_non_null(strstr(fake_said, "lowtide: job 7"));
		/* its own line end is the only one */
		assert_ptr_equal(strchr(fake_said, '\n'), strrchr(fake_said, '\n'));
		for (const char *c = fake_said; *c; c++)
			assert_true((unsigned char)*c >= ' ' || *c == '\n');
		assert_null(strchr(fake_said, '\233'));
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
		int limit;		      /* of the team; the job may cost 3.6 */
		bool held_now;		      /* its hold is in the period of now */
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
		.terms = LT_TERMS_PENDING,
		.limit = 3,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "its hold is in that period: it is asked for once",
		.id = "7",
		.begin_in_s = -1,
		.terms = LT_TERMS_PENDING,
		.limit = 3,
		.held_now = true,
		.code = SLURM_SUCCESS},
	    {.why = "a job that ran, by the terms: requeued since",
		.id = "7",
		.begin_in_s = -1,
		.limit = 10,
		.held_now = true,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "its run after a requeue is not admitted",
		.id = "7",
		.begin_in_s = -1,
		.terms = LT_TERMS_PENDING | LT_TERMS_LOCKED,
		.limit = 10,
		.held_now = true,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "a task of its array ran",
		.id = "7_3",
		.begin_in_s = -1,
		.terms = LT_TERMS_PENDING | LT_TERMS_ARRAY_RAN,
		.limit = 10,
		.held_now = true,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "nice of a run that is not admitted",
		.id = "7",
		.nice = NICE_OFFSET + 5,
		.terms = LT_TERMS_PENDING | LT_TERMS_LOCKED,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "nice of an array, of which a task ran",
		.id = "7",
		.nice = NICE_OFFSET + 5,
		.terms = LT_TERMS_PENDING | LT_TERMS_ARRAY_RAN,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {.why = "all fits",
		.id = "7",
		.terms = LT_TERMS_PENDING,
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
		fake_snapshots(cases[i].limit == 3 ? "--limit 3" : "--limit 10");
		terms_of(getuid(), cases[i].terms, cases[i].held_now ? (int64_t)time(NULL) : 0);
		fake_again();
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

/* What only touches a job is not judged, whatever is known of it. */
static void
test_touched(void **state)
{
	(void)state;
	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots("--limit 0");
	fake_restart();
	for (int i = 0; i < 3; i++) {
		job_desc_msg_t job;

		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("8");
		if (i == 0)
			job.comment = slurm_xstrdup("text");
		if (i == 1)
			job.name = slurm_xstrdup("text");
		if (i == 2)
			job.requeue = 1;
		assert_int_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
		free(job.job_id_str);
		free(job.comment);
		free(job.name);
	}
}

/* A job that the terms do not have, by the site's rule, once lowtided is away for too long; while
 * it is there it will soon have it. */
static void
test_not_in_terms(void **state)
{
	static const struct {
		const char *snapshot;
		int code;
	} cases[] = {
	    {"--limit 10 --unknown allow", ESLURM_ACCOUNTING_POLICY},
	    {"--limit 10 --unknown allow --age 3600 --stale 60", SLURM_SUCCESS},
	    {"--limit 10 --unknown reject --age 3600 --stale 60", ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;

		print_message("# %s\n", cases[i].snapshot);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(cases[i].snapshot);
		fake_restart();
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("8");
		job.time_limit = 5;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		job.time_limit = NO_VAL;
		job.priority = INFINITE;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		free(job.job_id_str);
	}
}

/* Observe and advise refuse nothing, whether the mode is known by the market or only by the budget
 * snapshot, which then lets pass what is unknown. */
static void
test_unclear_is_watched(void **state)
{
	static const struct {
		const char *snapshot;
		bool has_market;
		int code;
	} cases[] = {
	    {"--limit 10 --mode observe --unknown allow", true, SLURM_SUCCESS},
	    {"--limit 10 --mode advise --unknown allow", true, SLURM_SUCCESS},
	    {"--limit 10 --mode observe --unknown allow", false, SLURM_SUCCESS},
	    {"--limit 10", true, ESLURM_ACCOUNTING_POLICY},
	    {"--limit 10", false, ESLURM_ACCOUNTING_POLICY},
	};
	static const uint32_t kinds[] = {LT_TERMS_HET_LEADER, LT_TERMS_ARRAY_ONLY};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;

		print_message("# %s\n", cases[i / 2].snapshot);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(cases[i / 2].snapshot);
		if (!cases[i / 2].has_market)
			fake_shell("rm %s/market", fake_run);
		terms(kinds[i % 2]);
		fake_restart();
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.time_limit = 120;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i / 2].code);
		free(job.job_id_str);
	}
}

/* Held for at the price of another hour: a release asks for the rest. */
static void
test_release_in_a_dear_hour(void **state)
{
	static const struct {
		const char *why, *id, *snapshot;
		int64_t held_micros;
		uint32_t flags;
		int code;
	} cases[] = {
	    {"at this hour's price", "7", "--limit 0", 3600001, LT_TERMS_PENDING, SLURM_SUCCESS},
	    {"what more it costs fits", "7", "--limit 10", 36000, LT_TERMS_PENDING, SLURM_SUCCESS},
	    {"and does not", "7", "--limit 1", 36000, LT_TERMS_PENDING, ESLURM_ACCOUNTING_POLICY},
	    {"one that runs is released of nothing", "7", "--limit 1", 36000, 0, SLURM_SUCCESS},
	    {"lowtided sees to arrays and het jobs as a whole", "7", "--limit 1", 36000,
		LT_TERMS_PENDING | LT_TERMS_HET_LEADER, SLURM_SUCCESS},
	    {"a component is judged", "7+0", "--limit 1", 36000,
		LT_TERMS_PENDING | LT_TERMS_HET_LEADER, ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms job = terms_like(getuid(), cases[i].flags, (int64_t)time(NULL));
		job_desc_msg_t released;

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots(cases[i].snapshot);
		job.hold_money_micros = cases[i].held_micros;
		fake_terms(&job, 1);
		fake_again();
		fake_job_defaults(&released);
		released.job_id_str = slurm_xstrdup(cases[i].id);
		released.priority = INFINITE;
		assert_int_equal(fake_job_modify(&released, getuid()), cases[i].code);
		free(released.job_id_str);
	}
}

int
fake_modify_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_modify),
	    FAKE_TEST(test_ways_around),
	    FAKE_TEST(test_strangers),
	    FAKE_TEST(test_forged),
	    FAKE_TEST(test_names_are_no_lines),
	    FAKE_TEST(test_touched),
	    FAKE_TEST(test_not_in_terms),
	    FAKE_TEST(test_unclear_is_watched),
	    FAKE_TEST(test_release_in_a_dear_hour),
	};

	return cmocka_run_group_tests_name("modify", tests, NULL, NULL);
}
