/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose change of which job job_modify judges at all, and what it leaves in the ring where there is
 * nothing to hold; and whose question is none.
 */
#include "fake.h"

#include <time.h>

#include "can_start.h"
#include "files.h"
#include "terms.h"
#include "units.h"

/* The terms have job 7 alone, an hour of a node of team0000's. */
static void
terms_of(uint32_t uid, uint32_t flags, int64_t start_utc_s)
{
	struct lt_terms one = {.job_id = 7,
	    .uid = uid,
	    .quote_id = 5,
	    .hold_money_micros = 3600001,
	    .hold_carbon_mg = 100000000,
	    .account_hash = lt_name_hash("team0000"),
	    .partition_count = 1,
	    .partition_hash = {lt_name_hash("ondemand")},
	    .limit_s = 3600,
	    .tasks = 1,
	    .asked = {.min_nodes = 1, .max_nodes = 1, .cpus = 64},
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + 3600,
	    .flags = flags | LT_TERMS_BUDGETED | LT_TERMS_HAS_MONEY | LT_TERMS_HAS_CARBON};
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_TERMS_FILE);
	assert_int_equal(lt_terms_write(path, &one, 1, 1, NULL), LT_OK);
}

/* The snapshot of the fake, and who may change others' jobs in it: team0000 is below team0001,
 * `free` below neither. */
static void
managers(void)
{
	static struct lt_manager rows[3];
	struct lt_budget_snapshot snapshot, changed;
	struct lt_error err = {0};
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_SHEET_FILE);
	if (lt_sheet_load(&snapshot, path, &err) != LT_OK)
		fail_msg("%s", err.text);
	const int team = lt_sheet_account(&snapshot, "team0000");
	const int above = lt_sheet_account(&snapshot, "team0001");
	const int unbudgeted = lt_sheet_account(&snapshot, "free");

	rows[0] = (struct lt_manager){5001, 0};
	rows[1] = (struct lt_manager){5002, (uint32_t)above + 1};
	rows[2] = (struct lt_manager){5003, (uint32_t)unbudgeted + 1};
	snapshot.accounts[team].parent = (uint32_t)above + 1;
	changed = snapshot;
	changed.managers = rows;
	changed.manager_count = 3;
	assert_int_equal(lt_sheet_save(&changed, path, &err), LT_OK);
	lt_sheet_free(&snapshot);
}

/* A stranger's change is Slurm's to refuse: we hold nothing and say nothing, whatever is asked. Of
 * who may change the job it is judged. */
static void
test_who_may_change(void **state)
{
	static const struct {
		const char *why, *account;
		uint32_t minutes, priority, terms, by;
		int code;
	} cases[] = {
	    {"the owner: over", NULL, 1500, NO_VAL, LT_TERMS_PENDING, 4001,
		ESLURM_ACCOUNTING_POLICY},
	    {"a stranger: nothing", NULL, 1500, NO_VAL, LT_TERMS_PENDING, 4002, SLURM_SUCCESS},
	    {"a stranger: nothing of what fits", NULL, 120, NO_VAL, LT_TERMS_PENDING, 4002,
		SLURM_SUCCESS},
	    {"a stranger's release of our hold: Slurm's answer", NULL, NO_VAL, INFINITE,
		LT_TERMS_PENDING | LT_TERMS_OUR_HOLD, 4002, SLURM_SUCCESS},
	    {"root is judged", NULL, 1500, NO_VAL, LT_TERMS_PENDING, 0, ESLURM_ACCOUNTING_POLICY},
	    {"an operator is judged", NULL, 1500, NO_VAL, LT_TERMS_PENDING, 5001,
		ESLURM_ACCOUNTING_POLICY},
	    {"an operator's release of our hold", NULL, NO_VAL, INFINITE,
		LT_TERMS_PENDING | LT_TERMS_OUR_HOLD, 5001, ESLURM_ACCOUNTING_POLICY},
	    {"the coordinator above is judged", NULL, 1500, NO_VAL, LT_TERMS_PENDING, 5002,
		ESLURM_ACCOUNTING_POLICY},
	    {"his release of our hold", NULL, NO_VAL, INFINITE,
		LT_TERMS_PENDING | LT_TERMS_OUR_HOLD, 5002, ESLURM_ACCOUNTING_POLICY},
	    {"he moves it to another of his: judged", "team0001", 1500, NO_VAL, LT_TERMS_PENDING,
		5002, ESLURM_ACCOUNTING_POLICY},
	    {"to one that is not his: a stranger", "free", 1500, NO_VAL, LT_TERMS_PENDING, 5002,
		SLURM_SUCCESS},
	    {"to one that nobody knows: a stranger", "other", 1500, NO_VAL, LT_TERMS_PENDING, 5002,
		SLURM_SUCCESS},
	    {"an operator, to one that nobody knows", "other", 1500, NO_VAL, LT_TERMS_PENDING, 5001,
		ESLURM_ACCOUNTING_POLICY},
	    {"a coordinator of another account: a stranger", NULL, 1500, NO_VAL, LT_TERMS_PENDING,
		5003, SLURM_SUCCESS},
	    {"he takes it to his own: a stranger", "free", NO_VAL, NO_VAL, LT_TERMS_PENDING, 5003,
		SLURM_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		uint32_t before;

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots("--limit 10 --teams 2");
		managers();
		terms_of(4001, cases[i].terms, (int64_t)time(NULL));
		fake_again();
		before = fake_records(NULL);
		fake_said[0] = '\0';
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.account = slurm_xstrdup(cases[i].account);
		job.time_limit = cases[i].minutes;
		job.priority = cases[i].priority;
		assert_int_equal(fake_job_modify(&job, cases[i].by), cases[i].code);
		free(job.job_id_str);
		free(job.account);
		assert_int_equal(fake_said[0] != '\0', cases[i].code != SLURM_SUCCESS);
		assert_int_equal(fake_records(NULL), before); /* nothing is held */
	}
}

/* A user of team0000 and of an account without budget changes a job that the terms lack: his newest
 * is of no budget, if he asked for none since. */
static void
test_of_no_budget(void **state)
{
	enum { USER = 4001, OTHER = 4002, LATER = 300 };

	static const struct {
		const char *why, *account, *submits, *id;
		uint32_t submitter, priority;
		int64_t listed_in_s; /* the snapshot's job list, from now */
		bool array, other_terms, damaged, manager, restarts;
		int code;
	} cases[] = {
	    {"longer: nobody's money", .listed_in_s = LATER},
	    {"its release", .priority = INFINITE, .listed_in_s = LATER},
	    {"into an account without budget", "free", .listed_in_s = LATER},
	    {"into a team", "team0000", .listed_in_s = LATER, .code = ESLURM_ACCOUNTING_POLICY},
	    {"into one that nobody knows", "other", .listed_in_s = LATER,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {"the list may lack a job of before this process", .listed_in_s = 59,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {"he submitted for the team since", .submits = "team0000", .submitter = USER,
		.listed_in_s = 61, .code = ESLURM_ACCOUNTING_POLICY},
	    {"he submitted by his default account since", .submits = "", .submitter = USER,
		.listed_in_s = 61, .code = ESLURM_ACCOUNTING_POLICY},
	    {"the list is of after that", .submits = "team0000", .submitter = USER,
		.listed_in_s = LATER},
	    {"he submitted without budget since", .submits = "free", .submitter = USER,
		.listed_in_s = 61},
	    {"another one submitted for the team", .submits = "team0000", .submitter = OTHER,
		.listed_in_s = 61},
	    {"tasks of his get new ids", .array = true, .listed_in_s = LATER,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {"terms of another sheet", .other_terms = true, .listed_in_s = LATER,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {"terms that can't be read", .damaged = true, .listed_in_s = LATER,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {"a name that only Slurm can tell", .id = "s1", .listed_in_s = LATER,
		.code = ESLURM_ACCOUNTING_POLICY},
	    {"a coordinator: it may be anybody's", .manager = true, .listed_in_s = LATER,
		.code = ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct lt_manager lead = {USER, 1};
		struct lt_budget_snapshot snapshot, changed;
		struct lt_terms none = {0};
		job_desc_msg_t job;
		char path[600], terms[600];

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots("--limit 10 --uid 4001");
		snprintf(path, sizeof(path), "%s/%s", fake_state, LT_SHEET_FILE);
		snprintf(terms, sizeof(terms), "%s/%s", fake_state, LT_TERMS_FILE);
		assert_int_equal(lt_sheet_load(&snapshot, path, NULL), LT_OK);
		changed = snapshot;
		changed.jobs_utc_s = (int64_t)time(NULL) + cases[i].listed_in_s;
		for (uint32_t k = 0; k < snapshot.pair_count; k++)
			snapshot.pairs[k].has_array = cases[i].array;
		if (cases[i].manager) {
			changed.managers = &lead;
			changed.manager_count = 1;
		}
		assert_int_equal(lt_sheet_save(&changed, path, NULL), LT_OK);
		assert_int_equal(lt_terms_write(terms, &none, 0,
				     snapshot.generation + cases[i].other_terms, NULL),
		    LT_OK);
		if (cases[i].damaged)
			fake_shell("printf LTTRM02 | dd of=%s conv=notrunc "
				   "status=none",
			    terms);
		lt_sheet_free(&snapshot);
		fake_again();
		if (cases[i].submits != NULL) {
			const time_t began = time(NULL);

			while (time(NULL) < began + 2)
				usleep(20000);
			fake_job_defaults(&job);
			job.user_id = cases[i].submitter;
			job.account = slurm_xstrdup(cases[i].submits);
			job.script = strdup("#!/bin/sh\n");
			job.time_limit = 1;
			job.min_nodes = 1;
			(void)fake_submit(&job, job.user_id, NULL);
			free(job.account);
			free(job.script);
			free(job.admin_comment);
		}
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup(cases[i].id != NULL ? cases[i].id : "8");
		job.account = slurm_xstrdup(cases[i].account);
		if (cases[i].priority)
			job.priority = cases[i].priority;
		else
			job.time_limit = 1500;
		assert_int_equal(fake_job_modify(&job, USER), cases[i].code);
		free(job.job_id_str);
		free(job.account);
	}
}

/* What lowers or only touches leaves a record of nothing: lowtided looks. */
static void
test_nothing_is_told(void **state)
{
	static const struct {
		const char *why, *partition, *features;
		uint32_t minutes, by;
		uint32_t told; /* records */
		bool holds;
	} cases[] = {
	    {"a shorter limit", NULL, NULL, 30, 4001, 1, false},
	    {"a cheaper partition", "spot", NULL, NO_VAL, 4001, 1, false},
	    {"other features", NULL, "ib", NO_VAL, 4001, 1, false},
	    {"root's shorter limit", NULL, NULL, 30, 0, 1, false},
	    {"a longer one is held", NULL, NULL, 120, 4001, 1, true},
	    {"a stranger's shorter one", NULL, NULL, 30, 4002, 0, false},
	    {"nothing that is of money", NULL, NULL, NO_VAL, 4001, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_ring_record record = {0};
		job_desc_msg_t job;
		uint32_t before;

		print_message("# %s\n", cases[i].why);
		fake_shell("rm -f %s/*", fake_state);
		fake_snapshots("--limit 10 --uid 4001");
		terms_of(4001, LT_TERMS_PENDING, (int64_t)time(NULL));
		fake_again();
		before = fake_records(NULL);
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.partition = slurm_xstrdup(cases[i].partition);
		job.features = slurm_xstrdup(cases[i].features);
		job.time_limit = cases[i].minutes;
		assert_int_equal(fake_job_modify(&job, cases[i].by), SLURM_SUCCESS);
		free(job.job_id_str);
		free(job.partition);
		free(job.features);
		assert_int_equal(fake_records(&record), before + cases[i].told);
		if (cases[i].told == 0)
			continue;
		assert_int_equal(record.job_id, 7);
		assert_int_equal(record.quote_id, 5);
		assert_int_equal(record.uid, 4001);
		assert_true(record.flags & LT_QUOTE_MODIFY);
		assert_int_equal(record.per_task.money_micros > 0, cases[i].holds);
		assert_string_equal(record.account, "team0000");
	}
}

/* However often somebody lowers his job, half of the ring stays for holds. */
static void
test_nothing_is_bounded(void **state)
{
	job_desc_msg_t job;

	(void)state;
	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots("--limit 10 --uid 4001");
	terms_of(4001, LT_TERMS_PENDING, (int64_t)time(NULL));
	fake_again();
	fake_job_defaults(&job);
	job.job_id_str = slurm_xstrdup("7");
	job.time_limit = 30;
	for (int i = 0; i < LT_RING_SLOTS / 2 + 100; i++)
		assert_int_equal(fake_job_modify(&job, 4001), SLURM_SUCCESS);
	const uint32_t noted = fake_records(NULL);
	assert_in_range(noted, LT_RING_SLOTS / 2 - 10, LT_RING_SLOTS / 2);
	job.time_limit = 120;
	assert_int_equal(fake_job_modify(&job, 4001), SLURM_SUCCESS);
	free(job.job_id_str);
	assert_int_equal(fake_records(NULL), noted + 1);
}

/* lowtided's question is let pass, and nothing can be submitted by it; one that a user forged in
 * any part is a submission as any other. */
static void
test_question(void **state)
{
	static const struct {
		const char *why, *name;
		uint32_t job_id, user, sender; /* 0 = slurmctld's own */
		bool is_question;
	} cases[] = {
	    {"lowtided's", LT_CAN_START_NAME, 7, 0, 0, true},
	    {"of no job", LT_CAN_START_NAME, NO_VAL, 0, 0, false},
	    {"a user's", LT_CAN_START_NAME, 7, 1, 1, false},
	    {"a sibling's in a federation, of a user", LT_CAN_START_NAME, 7, 1, 0, false},
	    {"in SlurmUser's name, by a user", LT_CAN_START_NAME, 7, 0, 1, false},
	    {"by another name", "can-start", 7, 0, 0, false},
	    {"by no name", NULL, 7, 0, 0, false},
	};

	(void)state;
	fake_snapshots("--limit 0.01");
	fake_restart();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_desc_msg_t job;
		char *said = NULL;

		fake_job_defaults(&job);
		lt_job_desc_id(&job) = cases[i].job_id;
		job.user_id = geteuid() + cases[i].user;
		if (cases[i].name != NULL)
			job.name = slurm_xstrdup(cases[i].name);
		job.account = slurm_xstrdup("team0000");
		job.time_limit = 60;
		const int code = fake_submit(&job, geteuid() + cases[i].sender, &said);
		const bool is_question =
		    job.partition != NULL && strcmp(job.partition, LT_CAN_START_PARTITION) == 0;
		if (is_question != cases[i].is_question ||
		    (is_question && (code != SLURM_SUCCESS || said != NULL)) ||
		    (!is_question && code == SLURM_SUCCESS))
			fail_msg("%s: %d, %s", cases[i].why, code, said != NULL ? said : "");
		free(said);
		free(job.name);
		free(job.account);
		free(job.partition);
	}
	assert_int_equal(fake_holds(NULL), 0);
}

int
fake_rights_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_who_may_change),
	    FAKE_TEST(test_of_no_budget),
	    FAKE_TEST(test_nothing_is_told),
	    FAKE_TEST(test_nothing_is_bounded),
	    FAKE_TEST(test_question),
	};

	return cmocka_run_group_tests_name("rights", tests, NULL, NULL);
}
