/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_lowtide.so, driven as slurmctld would: every rule, every state
 * of the files.
 */
#include "fake.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "files.h"
#include "quote.h"
#include "ring.h"

static void
test_nothing_there(void **state)
{
	struct submission s;

	(void)state;
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 60});
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_string_equal(s.message, "");
	assert_string_equal(s.comment, "");
}

static void
test_nulls(void **state)
{
	job_desc_msg_t job;
	char *message = NULL, *hole[2] = {NULL, NULL};

	(void)state;
	assert_int_equal(fake_submit(NULL, 0, NULL), SLURM_SUCCESS);
	for (int with = 0; with < 2; with++) {
		memset(&job, 0, sizeof(job));
		fake_submit(&job, 0, NULL);
		free(job.admin_comment);
		free(job.account);
		memset(&job, 0xff, offsetof(job_desc_msg_t, account));
		fake_job_defaults(&job);
		job.spank_job_env = hole;
		job.spank_job_env_size = 2;
		job.env_size = 3;
		fake_submit(&job, 0, &message);
		free(job.admin_comment);
		free(job.account);
		free(message);
		message = NULL;
		fake_job_defaults(&job);
		assert_int_equal(fake_job_modify(&job, 0), SLURM_SUCCESS);
		memset(&job, 0, sizeof(job));
		fake_job_modify(&job, 12345);
		fake_snapshots("--limit 100");
		fake_restart();
	}
}

static void
test_admitted(void **state)
{
	struct submission s;
	struct lt_quote quote = {0};
	struct lt_ring_record record;

	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	fake_send(&s, &(struct wish){.account = "TEAM0000",
			  .minutes = 60,
			  .array = "0-9%2",
			  .gres = "gres:gpu:2",
			  .comment = "jobstats:1"});
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_string_equal(s.message, "");
	assert_int_equal(lt_quote_unpack(&quote, s.comment, strlen(s.comment), NULL), LT_OK);
	assert_non_null(strstr(s.comment, "jobstats:1"));
	assert_string_equal(quote.account, "team0000");
	assert_int_equal(quote.tasks, 10);
	/* 2 of 8 GPUs for an hour at 3.60, and one micro of rounding. */
	assert_int_equal(quote.hold_per_task.money_micros, 900001);
	assert_int_equal(fake_records(&record), 1);
	assert_true(record.quote_id == quote.id);
	assert_string_equal(record.account, "team0000");
	assert_int_equal(record.tasks, 10);
}

/* By another user than the one who runs slurmctld. */
static void
test_who_holds(void **state)
{
	struct submission s;
	struct lt_ring_record record;
	struct wish wish = {.account = "team0000", .minutes = 60, .uid = 4001};

	(void)state;
	fake_snapshots("--limit 100 --uid 4001");
	fake_restart();
	fake_send(&s, &wish);
	assert_int_equal(s.priority, NO_VAL);
	assert_int_equal(fake_records(&record), 1);
	assert_int_equal(record.uid, 4001);
	wish.uid = 4002;
	fake_send(&s, &wish);
	assert_int_equal(s.priority, 0);
	assert_non_null(strstr(s.message, "membership"));
	assert_int_equal(fake_records(NULL), 1);
}

/* Where it may still run, the dearest is held; where it is moved to, and when it then starts, is
 * what is held. */
static void
test_hold_of_the_plan(void **state)
{
	static const char carbon[] = "_SLURM_SPANK_OPTION_lowtide_carbon_aware=carbon";

	static const struct {
		const char *why, *arguments, *partition, *option, *runs_in;
		int64_t micros;
		bool later;
	} cases[] = {
	    {"the cheap one alone", "--limit 100", "spot", NULL, "spot", 900001, false},
	    {"the dearest of two", "--limit 100", "spot,ondemand", NULL, "spot,ondemand", 3600001,
		false},
	    {"moved, and later", "--limit 100", NULL, carbon, "spot", 900001, true},
	    {"only watched: left as it came", "--limit 100 --mode observe", NULL, carbon, "",
		3600001, false},
	    {"over what only warns: moved all the same", "--limit 0.5 --rule warn", NULL, carbon,
		"spot", 900001, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct submission s;
		struct lt_quote quote = {0};

		print_message("# %s\n", cases[i].why);
		fake_snapshots(cases[i].arguments);
		fake_restart();
		fake_send(&s, &(struct wish){.account = "team0000",
				  .gres = "gpu:8",
				  .partition = cases[i].partition,
				  .option = cases[i].option});
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_string_equal(s.partition, cases[i].runs_in);
		assert_int_equal(
		    lt_quote_unpack(&quote, s.comment, strlen(s.comment), NULL), LT_OK);
		assert_int_equal(quote.hold_per_task.money_micros, cases[i].micros);
		assert_int_equal(s.begin_utc_s > 0, cases[i].later);
		if (cases[i].later)
			assert_int_equal(quote.start_utc_s, s.begin_utc_s);
		/* An hour is home's default. */
		assert_int_equal(s.time_limit, cases[i].later ? 60 : NO_VAL);
	}
}

/* One GPU on each node: more nodes cost more. The default account is named, for it is the one that
 * was priced. */
static void
test_kept_to_nodes(void **state)
{
	static const struct {
		const char *why, *arguments, *account, *runs_in;
		uint32_t nodes;
	} cases[] = {
	    {"its default account", "--limit 100", NULL, "team0000", 1},
	    {"no budget", "--limit 100", "free", "free", NO_VAL},
	    {"only watched", "--limit 100 --mode observe", NULL, NULL, NO_VAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		struct lt_quote quote = {0};

		print_message("# %s\n", cases[i].why);
		fake_snapshots(cases[i].arguments);
		fake_restart();
		fake_job_defaults(&job);
		job.account = slurm_xstrdup(cases[i].account);
		job.script = strdup("#!/bin/sh\n");
		job.tres_per_node = slurm_xstrdup("gres:gpu:1");
		job.num_tasks = 2;
		job.time_limit = 60;
		assert_int_equal(fake_submit(&job, job.user_id, NULL), SLURM_SUCCESS);
		assert_int_equal(job.max_nodes, cases[i].nodes);
		assert_int_equal(!!(job.bitflags & USE_MIN_NODES), cases[i].nodes == 1);
		assert_int_equal(job.account == NULL, cases[i].runs_in == NULL);
		if (job.account != NULL)
			assert_string_equal(job.account, cases[i].runs_in);
		assert_int_equal(
		    lt_quote_unpack(&quote, job.admin_comment, strlen(job.admin_comment), NULL),
		    LT_OK);
		/* an eighth of a node at 3.60, or of both */
		assert_int_equal(
		    quote.hold_per_task.money_micros, cases[i].nodes == 1 ? 450001 : 900001);
		free(job.account);
		free(job.script);
		free(job.tres_per_node);
		free(job.admin_comment);
	}
}

/* What is only watched is held all the same, above its limit. */
static void
test_watched(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 0.5 --mode advise");
	fake_restart();
	for (uint32_t i = 1; i <= 3; i++) {
		fake_send(
		    &s, &(struct wish){.account = "team0000", .gres = "gpu:8", .minutes = 60});
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_int_equal(fake_records(NULL), i);
	}
	assert_non_null(strstr(s.message, "-$6.70 left")); /* of 0.50 */
}

/* Without a market nothing can be priced; who and how many is known. */
static void
test_no_market(void **state)
{
	struct submission s;
	struct lt_quote quote = {0};

	(void)state;
	fake_snapshots("--limit 100");
	fake_shell("rm %s/market", fake_run);
	fake_restart();
	fake_send(&s, &(struct wish){.minutes = 10, .array = "0-9%2"});
	assert_int_equal(s.priority, 0);
	assert_non_null(strstr(s.message, "held until the balance "));
	assert_int_equal(lt_quote_unpack(&quote, s.comment, strlen(s.comment), NULL), LT_OK);
	assert_string_equal(quote.account, "team0000");
	assert_int_equal(quote.tasks, 10);
}

/* What Slurm resolves after the plugin only. */
static void
test_resolved_later(void **state)
{
	static const struct {
		const char *why;
		uint16_t core_spec, per_gpu;
		int64_t micros; /* 3.60 a node-hour, 64 CPUs and 8 GPUs */
	} cases[] = {
	    {"one of eight GPUs", NO_VAL16, NO_VAL16, 450001},
	    {"32 of 64 CPUs by --ntasks-per-gpu", NO_VAL16, 32, 1800001},
	    {"--core-spec takes the node", 0, NO_VAL16, 3600001},
	};

	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		struct lt_quote quote = {0};

		print_message("# %s\n", cases[i].why);
		fake_job_defaults(&job);
		job.account = slurm_xstrdup("team0000");
		job.script = strdup("#!/bin/sh\n");
		job.tres_per_job = slurm_xstrdup("gres:gpu:1");
		job.time_limit = 60;
		job.core_spec = cases[i].core_spec;
		job.ntasks_per_tres = cases[i].per_gpu;
		assert_int_equal(fake_submit(&job, job.user_id, NULL), SLURM_SUCCESS);
		assert_int_equal(
		    lt_quote_unpack(&quote, job.admin_comment, strlen(job.admin_comment), NULL),
		    LT_OK);
		assert_int_equal(quote.hold_per_task.money_micros, cases[i].micros);
		free(job.account);
		free(job.script);
		free(job.tres_per_job);
		free(job.admin_comment);
	}
}

static void
test_forged_quote(void **state)
{
	struct submission s;
	struct lt_quote quote = {0};
	const char *forged = "lowtide:1 q=00000000000000ff rev=9 team=x "
			     "hold=0,0 n=1 win=0-1 plan=a@0 base=a@0 exp=-,- "
			     "was=-,- by=off mode=enforce f=0;";

	(void)state;
	fake_send(&s, &(struct wish){.comment = forged});
	assert_null(strstr(s.comment, "lowtide:"));
	fake_snapshots("--limit 100");
	fake_restart();
	fake_send(&s, &(struct wish){.comment = forged, .minutes = 10});
	assert_int_equal(lt_quote_unpack(&quote, s.comment, strlen(s.comment), NULL), LT_OK);
	assert_true(quote.id != 0xff);
	assert_null(strstr(s.comment + 8, "lowtide:"));
}

static void
test_over(void **state)
{
	struct submission s;
	struct wish wish = {.account = "team0000", .gres = "gpu:8", .minutes = 60};

	(void)state;
	fake_snapshots("--limit 0.5");
	fake_restart();
	fake_send(&s, &wish);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	assert_non_null(strstr(s.message, "lowtide: team0000 has $0.50 of $0.50 left"));
	assert_non_null(strstr(s.message, "It would fit at --time="));
	assert_int_equal(fake_holds(NULL), 0);
	/* Ten tasks: 5 cents for each are 50 s at 3.60 an hour. */
	wish.array = "0-9";
	fake_send(&s, &wish);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	assert_null(strstr(s.message, "It would fit at --time="));
	wish.array = NULL;
	wish.account = "free";
	fake_send(&s, &wish);
	assert_int_equal(s.code, SLURM_SUCCESS);
}

static void
test_rules(void **state)
{
	static const struct {
		const char *why, *arguments;
		bool interactive, cron, held;
		int code;
		uint32_t priority;
		uint32_t flags; /* of the quote, else of what is noted */
	} cases[] = {
	    {"hold of a batch job", "--limit 0.5 --rule hold", false, false, false, SLURM_SUCCESS,
		0, LT_QUOTE_BUDGET_HOLD},
	    {"the user's own hold is noted", "--limit 0.5 --rule hold", false, false, true,
		SLURM_SUCCESS, 0, LT_QUOTE_BUDGET_HOLD | LT_QUOTE_USER_HOLD},
	    {"srun can't be held", "--limit 0.5 --rule hold", true, false, false,
		ESLURM_ACCOUNTING_POLICY, NO_VAL, LT_QUOTE_REFUSED | LT_QUOTE_BUDGET_HOLD},
	    {"a cron job can't be held", "--limit 0.5 --rule hold", false, true, false,
		ESLURM_ACCOUNTING_POLICY, NO_VAL, LT_QUOTE_REFUSED | LT_QUOTE_BUDGET_HOLD},
	    {"warn goes on", "--limit 0.5 --rule warn", false, false, false, SLURM_SUCCESS, NO_VAL,
		0},
	    {"observe goes on", "--limit 0.5 --mode observe", false, false, false, SLURM_SUCCESS,
		NO_VAL, 0},
	    {"advise goes on", "--limit 0.5 --mode advise", false, false, false, SLURM_SUCCESS,
		NO_VAL, 0},
	    {"stale: held", "--age 100 --stale 10", false, false, false, SLURM_SUCCESS, 0,
		LT_QUOTE_UNKNOWN},
	    {"stale: rejected", "--age 100 --stale 10 --unknown reject", false, false, false,
		ESLURM_ACCOUNTING_POLICY, NO_VAL, LT_QUOTE_REFUSED | LT_QUOTE_UNKNOWN},
	    {"stale: allowed", "--age 100 --stale 10 --unknown allow", false, false, false,
		SLURM_SUCCESS, NO_VAL, 0},
	    {"dated by a clock a little ahead of ours", "--age -5 --stale 10", false, false, false,
		SLURM_SUCCESS, NO_VAL, 0},
	    {"dated in the future, as after the clock was set back: held", "--age -100 --stale 10",
		false, false, false, SLURM_SUCCESS, 0, LT_QUOTE_UNKNOWN},
	    {"stale and observe", "--age 100 --stale 10 --mode observe", false, false, false,
		SLURM_SUCCESS, NO_VAL, 0},
	    {"not its member", "--uid 77 --unknown reject", false, false, false,
		ESLURM_ACCOUNTING_POLICY, NO_VAL, LT_QUOTE_REFUSED | LT_QUOTE_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct submission s;
		struct lt_ring_record record = {0};
		struct lt_quote quote = {0};

		print_message("# %s\n", cases[i].why);
		fake_snapshots(cases[i].arguments);
		fake_restart();
		fake_send(&s, &(struct wish){.account = "team0000",
				  .gres = "gpu:8",
				  .minutes = 60,
				  .interactive = cases[i].interactive,
				  .cron = cases[i].cron,
				  .held = cases[i].held});
		assert_int_equal(s.code, cases[i].code);
		assert_int_equal(s.priority, cases[i].priority);
		if (s.code != SLURM_SUCCESS) {
			assert_string_not_equal(s.message, "");
			(void)fake_records(&record);
			assert_int_equal(record.flags, cases[i].flags);
			continue;
		}
		assert_int_equal(
		    lt_quote_unpack(&quote, s.comment, strlen(s.comment), NULL), LT_OK);
		assert_int_equal(quote.flags, cases[i].flags);
		fake_send(&s, &(struct wish){.account = "free", .gres = "gpu:8", .minutes = 60});
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_int_equal(s.priority, NO_VAL);
	}
}

/* lowtided finds the job by its quote; a plan is never a job. */
static void
held_blindly(const struct submission *held)
{
	struct submission s;
	struct lt_quote quote = {0};

	assert_int_equal(
	    lt_quote_unpack(&quote, held->comment, strlen(held->comment), NULL), LT_OK);
	assert_int_equal(quote.flags, LT_QUOTE_UNKNOWN);
	assert_string_equal(quote.account, "team0000");
	fake_send(&s, &(struct wish){.account = "free",
			  .minutes = 10,
			  .option = "_SLURM_SPANK_OPTION_lowtide_"
				    "carbon_aware=plan"});
	assert_int_equal(s.code, ESLURM_DISABLED);
}

/* A partition that lowtide does not know can't be priced. */
static void
test_unknown_partition(void **state)
{
	struct submission s;
	struct lt_quote quote = {0};

	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10, .partition = "new"});
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_int_equal(s.priority, 0);
	assert_int_equal(lt_quote_unpack(&quote, s.comment, strlen(s.comment), NULL), LT_OK);
	assert_int_equal(quote.flags, LT_QUOTE_UNKNOWN);
}

static void
test_torn(void **state)
{
	struct submission s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char path[600];

		fake_snapshots("--limit 100");
		snprintf(
		    path, sizeof(path), i ? "%s/budget" : "%s/market", i ? fake_state : fake_run);
		/* Loaded before: the last good one stays. */
		fake_restart();
		fake_shell("truncate -s 100 %s", path);
		usleep(250000);
		fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10});
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_int_equal(s.priority, NO_VAL);
		assert_non_null(strstr(s.comment, "lowtide:1"));
		/* Never loaded: budgeted teams wait, others do not. */
		fake_restart();
		fake_send(&s, &(struct wish){.account = "free", .minutes = 10});
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_int_equal(s.priority, NO_VAL);
		fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10});
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_int_equal(s.priority, i ? NO_VAL : 0);
		if (i == 0)
			held_blindly(&s);
		for (int byte = 0; byte < 400; byte += 7) {
			fake_shell("printf x | dd of=%s bs=1 seek=%d conv=notrunc "
				   "2>/dev/null",
			    path, byte);
			fake_restart();
			fake_send(&s, &(struct wish){.account = "free", .minutes = 10});
			assert_int_equal(s.code, SLURM_SUCCESS);
		}
	}
}

static void
test_plan(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	fake_send(&s, &(struct wish){.account = "team0000",
			  .minutes = 60,
			  .option = "_SLURM_SPANK_OPTION_lowtide_"
				    "carbon_aware=plan"});
	assert_int_equal(s.code, ESLURM_DISABLED);
	assert_non_null(strstr(s.message, "spot"));
	assert_non_null(strstr(s.message, "ondemand"));
	assert_int_equal(fake_records(NULL), 0);
}

static void
test_plan_tells_members(void **state)
{
	struct submission s;

	(void)state;
	for (int member = 0; member < 2; member++) {
		fake_snapshots(member ? "--limit 0.01" : "--limit 0.01 --uid 77");
		fake_restart();
		fake_send(&s, &(struct wish){.account = "team0000",
				  .minutes = 600,
				  .gres = "gpu:8",
				  .option = "_SLURM_SPANK_OPTION_lowtide_"
					    "carbon_aware=plan"});
		assert_int_equal(s.code, ESLURM_DISABLED);
		assert_int_equal(strstr(s.message, "budget") != NULL, member == 1);
	}
}

static void
test_options_of_job(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	fake_send(&s, &(struct wish){.account = "team0000",
			  .minutes = 60,
			  .option = "_SLURM_SPANK_OPTION_lowtide_"
				    "checkpoint=wrote=1m"});
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_non_null(strstr(s.message, "checkpoint"));
	fake_send(
	    &s, &(struct wish){.account = "team0000", .minutes = 60, .partition = "spot,nowhere"});
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_int_equal(s.priority, 0); /* no bound is known */
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 60, .array = "1-x"});
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	fake_send(&s, &(struct wish){.account = "free", .minutes = 60, .array = "1-x"});
	assert_int_equal(s.code, SLURM_SUCCESS);
}

int
fake_submit_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_nothing_there),
	    FAKE_TEST(test_nulls),
	    FAKE_TEST(test_admitted),
	    FAKE_TEST(test_who_holds),
	    FAKE_TEST(test_hold_of_the_plan),
	    FAKE_TEST(test_kept_to_nodes),
	    FAKE_TEST(test_watched),
	    FAKE_TEST(test_no_market),
	    FAKE_TEST(test_resolved_later),
	    FAKE_TEST(test_forged_quote),
	    FAKE_TEST(test_over),
	    FAKE_TEST(test_rules),
	    FAKE_TEST(test_torn),
	    FAKE_TEST(test_unknown_partition),
	    FAKE_TEST(test_plan),
	    FAKE_TEST(test_plan_tells_members),
	    FAKE_TEST(test_options_of_job),
	};

	return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
