/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What job_submit_lowtide.so makes of the file of past runs: the plan, what it says of it, and the
 * quote; with the file whole, another's, broken, gone.
 */
#include "fake.h"

#include "files.h"
#include "history_file.h"
#include "quote.h"

static char plan_option[] = "_SLURM_SPANK_OPTION_lowtide_carbon_aware=plan";
static char said_option[] = "_SLURM_SPANK_OPTION_lowtide_expected_time=90";

struct outcome {
	int code;
	char message[8192];
	struct lt_quote quote;
	struct lt_quote_run run;
};

/* Half a day of limit; a script of that name. */
static void
submit_named(
    struct outcome *out, const char *name, uint32_t uid, char **options, uint32_t option_count)
{
	char script[] = "#!/bin/sh\n", name_copy[64];
	job_desc_msg_t job;
	char *message = NULL;

	memset(out, 0, sizeof(*out));
	snprintf(name_copy, sizeof(name_copy), "%s", name);
	fake_job_defaults(&job);
	job.user_id = uid;
	job.script = script;
	job.name = name_copy;
	job.time_limit = 12 * 60;
	job.num_tasks = 4;
	job.spank_job_env = options;
	job.spank_job_env_size = option_count;
	out->code = fake_submit(&job, uid, &message);
	if (message != NULL)
		snprintf(out->message, sizeof(out->message), "%s", message);
	if (job.admin_comment != NULL && lt_quote_unpack(&out->quote, job.admin_comment,
					     strlen(job.admin_comment), NULL) == LT_OK)
		assert_int_equal(
		    lt_quote_run_unpack(&out->run, out->quote.run, strlen(out->quote.run), NULL),
		    LT_OK);
	free(message);
	free(job.account);
	free(job.admin_comment);
}

static void
history_path(char path[600])
{
	snprintf(path, 600, "%s/%s", fake_state, LT_HISTORY_FILE);
}

/* A command with the file's path in it. */
static void
shell_with(const char *command, const char *path)
{
	char line[800];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(line, sizeof(line), command, path);
#pragma GCC diagnostic pop
	fake_shell("%s", line);
}

/* 14 runs of ada's train_# on four CPUs, and what the account's tell. */
static struct lt_run_kind
write_history(uint32_t uid)
{
	const struct lt_run_kind kind = {uid, "team0000", "train_1", 1, 4, 0, 0, 12 * 3600, false};
	struct lt_history_record records[] = {
	    {lt_history_key(&kind, LT_HISTORY_NAME), {14, 7800, 9000, true, 0, 0}},
	    {lt_history_key(&kind, LT_HISTORY_ACCOUNT), {100, 250000, 500000, false, 0, 0}},
	};
	char path[600];

	history_path(path);
	assert_int_equal(lt_history_write(path, records, 2, 1764000000, NULL), LT_OK);
	return kind;
}

static void
test_learned(void **state)
{
	const uint32_t uid = 4001;
	char *options[] = {plan_option, said_option};
	struct outcome s;

	(void)state;
	fake_snapshots("--limit 100000 --uid 4001");
	const struct lt_run_kind kind = write_history(uid);
	fake_restart();
	submit_named(&s, "train_0413", uid, options, 1);
	assert_int_equal(s.code, ESLURM_DISABLED);
	assert_non_null(strstr(s.message, "expected 2:10 (median of 14 runs; limit 12:00)\n"));
	submit_named(&s, "train_0413", uid, options, 2);
	assert_non_null(strstr(s.message, "expected 1:30 (--expected-time; limit 12:00)\n"));

	submit_named(&s, "train_0413", uid, NULL, 0);
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_true(s.run.kind == lt_history_hash(&kind));
	assert_int_equal(s.run.expected.from, LT_HISTORY_NAME);
	assert_int_equal(s.run.expected.runs, 14);
	assert_int_equal(s.run.expected.expected_s, 7800);
	/* Half of the limit, as 95 % of the account's runs. */
	assert_int_equal(s.run.expected.upper_s, 21600);
	assert_int_equal(s.run.limit_s, 43200);
	assert_int_equal(s.run.ratio_ppm, 1000000);
	/* Held for all of its limit: half a day of 4 of 64 CPUs, of 3.60 an hour, with the micro of
	 * rounding. */
	assert_int_equal(s.quote.hold_per_task.money_micros, 2700001);
	submit_named(&s, "train_0413", uid, &options[1], 1);
	assert_int_equal(s.run.expected.from, LT_HISTORY_SAID);
	assert_int_equal(s.run.expected.expected_s, 5400);
	submit_named(&s, "other", uid, NULL, 0);
	assert_int_equal(s.run.expected.from, LT_HISTORY_ACCOUNT);
	assert_int_equal(s.run.expected.expected_s, 10800);
}

/* Without a restart, and while it is damaged the last good one counts. */
static void
test_replaced(void **state)
{
	static const struct {
		const char *why, *command;
		enum lt_history_group from;
	} steps[] = {
	    {"there is none", "rm -f '%s'", LT_HISTORY_NONE},
	    {"the first", NULL, LT_HISTORY_NAME},
	    {"an empty one", "f='%s'; : > $f.new; chmod 600 $f.new; mv $f.new $f", LT_HISTORY_NAME},
	};
	char path[600];

	(void)state;
	fake_snapshots("--limit 100000 --uid 4001");
	history_path(path);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct outcome s;

		print_message("# %s\n", steps[i].why);
		if (steps[i].command != NULL)
			shell_with(steps[i].command, path);
		else
			(void)write_history(4001);
		if (i == 0)
			fake_restart();
		else
			usleep(250000);
		submit_named(&s, "train_1", 4001, NULL, 0);
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_int_equal(s.run.expected.from, steps[i].from);
	}
	fake_shell("rm -f '%s'", path);
}

static void
test_not_of_others(void **state)
{
	struct outcome s;

	(void)state;
	fake_snapshots("--limit 100000 --uid 4002");
	(void)write_history(4001);
	fake_restart();
	submit_named(&s, "train_1", 4002, NULL, 0);
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_int_equal(s.run.expected.from, LT_HISTORY_ACCOUNT);
	assert_int_equal(s.run.expected.runs, 100);
}

/* Each way in which the file can be wrong leaves the job as without it. */
static void
test_broken(void **state)
{
	static const char *const ways[] = {"rm -f '%s'", "chmod 644 '%s'", "truncate -s 100 '%s'",
	    "truncate -s 0 '%s'", "printf x | dd of='%s' bs=1 seek=120 conv=notrunc 2>/dev/null",
	    "f='%s'; rm -f $f && mkfifo -m 600 $f"};
	char path[600];

	(void)state;
	fake_snapshots("--limit 100000 --uid 4001");
	history_path(path);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct outcome s;

		print_message("# %s\n", ways[i]);
		fake_shell("rm -f '%s'", path);
		(void)write_history(4001);
		shell_with(ways[i], path);
		fake_said[0] = '\0';
		fake_restart();
		submit_named(&s, "train_1", 4001, NULL, 0);
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_string_equal(s.message, "");
		assert_true(s.run.kind != 0);
		assert_int_equal(s.run.expected.from, LT_HISTORY_NONE);
		/* That there is none is no news; that it is bad, is. */
		assert_int_equal(strstr(fake_said, "history") != NULL, i > 0);
		fake_shell("rm -f '%s'", path);
	}
}

int
fake_history_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_learned),
	    FAKE_TEST(test_replaced),
	    FAKE_TEST(test_not_of_others),
	    FAKE_TEST(test_broken),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
