/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists through a child: what is read there is here to the last text, an error there is one here,
 * and so is its death.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "associations.h"
#include "batch_child.h"

enum {
	MANY = 5000, /* more than the pipe and one read have room for */
	BUSY_US = 600000,
};

static struct lt_batch_jobs all;
static const struct lt_jobs_state none;
static struct lt_batch_runs rows;
static enum { ANSWERS, FAILS, DIES } manner;
static bool is_busy;

static int
answer(struct lt_error *err)
{
	if (manner == DIES)
		raise(SIGKILL);
	return manner == FAILS ? lt_fail(err, LT_EDENIED, "nobody may") : LT_OK;
}

int
lt_batch_jobs_each(const struct lt_batch_jobs_reader *reader, struct lt_error *err)
{
	const int code = answer(err);

	if (code != LT_OK)
		return code;
	reader->begin(reader->context, all.count, all.begun_utc_s);
	for (uint32_t i = 0; i < all.count; i++)
		reader->take(reader->context, &all.jobs[i]);
	return LT_OK;
}

/* Each id has a job, but every third. */
int
lt_batch_jobs(struct lt_batch_jobs *jobs, uint32_t job_id, struct lt_error *err)
{
	static const struct lt_batch_asked asked = {.tasks = 4};
	const int code = answer(err);

	*jobs = (struct lt_batch_jobs){0};
	if (code != LT_OK)
		return code;
	if (is_busy)
		usleep(BUSY_US);
	if (job_id % 3 == 0)
		return lt_fail(err, LT_ENOENT, "no job %u", job_id);
	jobs->jobs = calloc(1, sizeof(*jobs->jobs));
	jobs->count = 1;
	jobs->jobs[0] = (struct lt_batch_job){.job_id = job_id,
	    .name = "named",
	    .admin_comment = job_id % 2 ? "a text" : NULL,
	    .asked = &asked};
	return LT_OK;
}

int
lt_batch_associations(struct lt_batch_associations *to, struct lt_error *err)
{
	const int code = answer(err);

	*to =
	    (struct lt_batch_associations){.unknown_users = 3, .private_data = 5, .job_limits = 6};
	if (code != LT_OK)
		return code;
	to->account_count = 2;
	to->accounts = calloc(2, sizeof(*to->accounts));
	strcpy(to->accounts[1].name, "vision");
	to->pair_count = MANY;
	to->pairs = calloc(MANY, sizeof(*to->pairs));
	for (uint32_t i = 0; i < MANY; i++) {
		to->pairs[i].uid = 1000 + i;
		snprintf(to->pairs[i].user, sizeof(to->pairs[i].user), "user%u", i);
	}
	return LT_OK;
}

int
lt_batch_runs(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	*runs = rows;
	runs->count = (uint32_t)(to_utc_s - from_utc_s);
	return answer(err);
}

int
lt_batch_ended(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	(void)from_utc_s;
	(void)to_utc_s;
	*runs = rows;
	runs->count = 1;
	return answer(err);
}

int
lt_batch_runs_of(
    struct lt_batch_runs *runs, const uint32_t *job_ids, uint32_t count, struct lt_error *err)
{
	*runs = rows;
	runs->count = job_ids[count - 1];
	return answer(err);
}

void
lt_batch_runs_free(struct lt_batch_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++)
		free(runs->runs[i].admin_comment);
	free(runs->runs);
	*runs = (struct lt_batch_runs){0};
}

static void
test_jobs(void **state)
{
	static struct lt_batch_job jobs[MANY];
	static char names[MANY][16];
	static const struct lt_batch_asked asked[3] = {[1] = {.tasks = 1}, [2] = {.tasks = 2}};
	struct lt_batch_jobs got;
	struct lt_error err = {0};

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "job%u", i);
		jobs[i] = (struct lt_batch_job){.job_id = i + 1,
		    .user = "ada",
		    .account = "vision",
		    .qos = "",
		    .partition = "spot,ondemand",
		    .name = names[i],
		    .state_text = "PENDING",
		    .reason_text = "Priority",
		    .node_list = "",
		    .comment_head = "why",
		    .array_tasks = i % 2 ? "1-4" : NULL,
		    .admin_comment = i % 2 ? names[i] : NULL,
		    .suspended_s = i,
		    .asked = i % 3 ? &asked[i % 3] : NULL};
	}
	all = (struct lt_batch_jobs){.count = MANY, .jobs = jobs, .begun_utc_s = 1234567890};
	assert_int_equal(lt_child_jobs(&got, &none, &err), LT_OK);
	assert_int_equal(got.count, MANY);
	assert_int_equal(got.begun_utc_s, 1234567890);
	for (uint32_t i = 0; i < MANY; i++) {
		const struct lt_batch_job *const job = &got.jobs[i];

		assert_int_equal(job->job_id, i + 1);
		assert_int_equal(job->suspended_s, i);
		assert_string_equal(job->user, "ada");
		assert_string_equal(job->account, "vision");
		assert_string_equal(job->qos, "");
		assert_string_equal(job->partition, "spot,ondemand");
		assert_string_equal(job->name, names[i]);
		assert_string_equal(job->state_text, "PENDING");
		assert_string_equal(job->reason_text, "Priority");
		assert_string_equal(job->node_list, "");
		assert_string_equal(job->comment_head, "why");
		if (i % 2) {
			assert_string_equal(job->admin_comment, names[i]);
			assert_string_equal(job->array_tasks, "1-4");
		} else {
			assert_null(job->admin_comment);
			assert_null(job->array_tasks);
		}
		assert_int_equal(lt_job_asked(job)->tasks, i % 3);
	}
	/* One copy for all. */
	assert_ptr_equal(got.jobs[0].user, got.jobs[MANY - 1].user);
	assert_ptr_equal(got.jobs[1].asked, got.jobs[4].asked);
	lt_batch_jobs_free(&got);
	all.count = 0;
	assert_int_equal(lt_child_jobs(&got, &none, &err), LT_OK);
	assert_int_equal(got.count, 0);
	lt_batch_jobs_free(&got);
}

/* Who is named, and who has the next ids; of nobody there is nothing. While slurmctld is busy the
 * rest waits for the next time. */
static void
test_named(void **state)
{
	static const uint32_t ids[] = {8, 6, 7};
	struct lt_job_lookup named = {.ids = ids, .count = 3, .after = 20, .unseen = 3};
	struct lt_job_lookup_found found;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_child_named(&found, &named, &err), LT_OK);
	assert_int_equal(found.asked, 3);
	assert_int_equal(found.seen, 3);
	static const uint32_t there[] = {22, 23, 25, 8, 7};
	assert_int_equal(found.jobs.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct lt_batch_job *const job = &found.jobs.jobs[i];

		assert_int_equal(job->job_id, there[i]);
		assert_string_equal(job->name, "named");
		assert_int_equal(job->asked->tasks, 4);
		assert_int_equal(job->admin_comment != NULL, there[i] % 2);
		assert_non_null(job->texts); /* its own */
	}
	lt_batch_jobs_free(&found.jobs);
	named.unseen = 0;
	is_busy = true;
	assert_int_equal(lt_child_named(&found, &named, &err), LT_OK);
	is_busy = false;
	assert_int_equal(found.asked, 2);
	assert_int_equal(found.jobs.count, 1);
	lt_batch_jobs_free(&found.jobs);
	manner = FAILS;
	assert_int_equal(lt_child_named(&found, &named, &err), LT_EDENIED);
	assert_int_equal(found.jobs.count, 0);
	manner = ANSWERS;
}

static void
test_rows(void **state)
{
	static struct lt_batch_run runs[MANY];
	static char text[] = "lowtide:1 q=1";
	struct lt_batch_runs got;
	struct lt_error err = {0};

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		runs[i] = (struct lt_batch_run){.job_id = i,
		    .first_node = "n1",
		    .energy_joules = -1,
		    .admin_comment = i % 3 ? text : NULL};
	}
	rows = (struct lt_batch_runs){MANY, runs};
	assert_int_equal(lt_child_rows(&got, lt_batch_runs, 100, 100 + MANY, &err), LT_OK);
	assert_int_equal(got.count, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(got.runs[i].job_id, i);
		assert_int_equal(got.runs[i].energy_joules, -1);
		assert_string_equal(got.runs[i].first_node, "n1");
		if (i % 3)
			assert_string_equal(got.runs[i].admin_comment, text);
		else
			assert_null(got.runs[i].admin_comment);
	}
	lt_batch_runs_free(&got);
	assert_int_equal(lt_child_rows(&got, lt_batch_ended, 1, 2, &err), LT_OK);
	assert_int_equal(got.count, 1);
	lt_batch_runs_free(&got);
	assert_int_equal(lt_child_runs_of_jobs(&got, (const uint32_t[]){9, 7}, 2, &err), LT_OK);
	assert_int_equal(got.count, 7);
	lt_batch_runs_free(&got);
}

static void
test_failures(void **state)
{
	struct lt_batch_jobs jobs;
	struct lt_batch_runs runs;
	struct lt_error err = {0};

	(void)state;
	manner = FAILS;
	assert_int_equal(lt_child_jobs(&jobs, &none, &err), LT_EDENIED);
	assert_string_equal(err.text, "nobody may");
	assert_int_equal(jobs.count, 0);
	manner = DIES;
	err = (struct lt_error){0};
	assert_int_equal(lt_child_rows(&runs, lt_batch_runs, 1, 2, &err), LT_ENET);
	assert_string_equal(err.text, "slurmdbd: asking it was ended by signal 9");
	manner = ANSWERS;
}

static void
test_associations(void **state)
{
	struct lt_batch_associations read;
	struct lt_error err = {0};
	uint32_t uid;

	(void)state;
	manner = ANSWERS;
	assert_int_equal(lt_child_associations(&read, &err), LT_OK);
	assert_int_equal(read.account_count, 2);
	assert_string_equal(read.accounts[1].name, "vision");
	assert_int_equal(read.pair_count, MANY);
	assert_string_equal(lt_pairs_user(read.pairs, MANY, 1000 + MANY - 1), "user4999");
	assert_null(lt_pairs_user(read.pairs, MANY, 1000 + MANY));
	assert_true(lt_pairs_uid(read.pairs, MANY, "user7", &uid));
	assert_int_equal(uid, 1007);
	assert_false(lt_pairs_uid(read.pairs, MANY, "user", &uid));
	assert_int_equal(read.tie_count, 0);
	assert_int_equal(read.unknown_users, 3);
	assert_int_equal(read.private_data, 5);
	assert_int_equal(read.job_limits, 6);
	lt_batch_associations_free(&read);
	manner = FAILS;
	assert_int_equal(lt_child_associations(&read, &err), LT_EDENIED);
	assert_string_equal(err.text, "nobody may");
	assert_null(read.pairs);
	manner = DIES;
	err = (struct lt_error){0};
	assert_int_equal(lt_child_associations(&read, &err), LT_ENET);
	assert_non_null(strstr(err.text, "no answer"));
	manner = ANSWERS;
}

/* Each of the accounts was made below one of its own. */
int
lt_batch_births(
    struct lt_batch_account *accounts, uint32_t count, int64_t since_utc_s, struct lt_error *err)
{
	const int code = answer(err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		snprintf(accounts[i].parent, LT_ACCOUNT_SIZE, "p%u.%d", i, (int)since_utc_s);
	return code;
}

static void
test_births(void **state)
{
	static struct lt_batch_account accounts[MANY];
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_child_births(accounts, MANY, 7, &err), LT_OK);
	assert_string_equal(accounts[0].parent, "p0.7");
	assert_string_equal(accounts[MANY - 1].parent, "p4999.7");
	manner = FAILS;
	assert_int_equal(lt_child_births(accounts, 1, 8, &err), LT_EDENIED);
	assert_string_equal(err.text, "nobody may");
	assert_string_equal(accounts[0].parent, "p0.7");
	manner = DIES;
	err = (struct lt_error){0};
	assert_int_equal(lt_child_births(accounts, 1, 8, &err), LT_ENET);
	assert_non_null(strstr(err.text, "transactions: no answer"));
	manner = ANSWERS;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_jobs),
	    cmocka_unit_test(test_named),
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_failures),
	    cmocka_unit_test(test_associations),
	    cmocka_unit_test(test_births),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
