/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the few changes that lowtided makes to jobs: updates, signals, requeues, suspensions.
 * slurmctld's refusal is returned in its own words; an array's tasks are asked for one by one, and
 * the first failure counts.
 */
#include <errno.h>
#include <signal.h>

#include "batch.h"
#include "compat.h"
#include "decide.h"
#include "slurm_text.h"

/* Returns Slurm's errno, or the first of a task; 0 = none. Frees tasks. */
static int
of_tasks(int slurm_errno, job_array_resp_msg_t *tasks)
{
	for (uint32_t i = 0; slurm_errno == 0 && tasks != NULL && i < tasks->job_array_count; i++)
		slurm_errno = (int)tasks->error_code[i];
	if (tasks != NULL)
		slurm_free_job_array_resp(tasks);
	return slurm_errno;
}

static int
update_task(job_desc_msg_t *request, const char *task)
{
	job_array_resp_msg_t *tasks = NULL;

	request->job_id_str = (char *)(uintptr_t)task;
	const int rc = slurm_update_job2(request, &tasks) == SLURM_SUCCESS ? 0 : errno;
	return of_tasks(rc, tasks);
}

int
lt_batch_update_job(const struct lt_batch_update *update, struct lt_error *err)
{
	job_desc_msg_t request;
	int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	slurm_init_job_desc_msg(&request);
	if (update->task == NULL)
		LT_SLURM_JOB_ID(&request) = update->job_id;
	/* Slurm's message has no const; it does not write to them. */
	request.partition = (char *)(uintptr_t)update->partition;
	request.admin_comment = (char *)(uintptr_t)update->admin_comment;
	LT_SLURM_KEEP_TASKS(&request, update->tasks);
	if (update->begin_utc_s != LT_UNSET_64)
		request.begin_time = (time_t)update->begin_utc_s;
	if (update->limit_s == INT64_MAX)
		request.time_limit = INFINITE;
	else if (update->limit_s != LT_UNSET_64)
		request.time_limit = (uint32_t)((update->limit_s + 59) / 60);
	if (update->hold == LT_HOLD || update->hold == LT_USER_HOLD)
		request.priority = 0;
	if (update->hold == LT_USER_HOLD)
		request.alloc_sid = ALLOC_SID_USER_HOLD;
	else if (update->hold == LT_RELEASE)
		request.priority = INFINITE;
	if (update->task != NULL)
		rc = update_task(&request, update->task);
	else if (slurm_update_job(&request) != SLURM_SUCCESS)
		rc = errno;
	if (rc != 0) {
		rc = lt_slurm_fail("slurmctld: update", rc, err);
		(void)lt_context(err, "job %u", update->job_id);
		return rc;
	}
	return LT_OK;
}

int
lt_batch_cancel(uint32_t job_id, struct lt_error *err)
{
	int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	if (LT_SLURM_KILL_JOB(job_id, SIGKILL, LT_SLURM_KILL_FLAGS) != SLURM_SUCCESS) {
		rc = lt_slurm_fail("slurmctld: cancel", errno, err);
		(void)lt_context(err, "job %u", job_id);
		return rc;
	}
	return LT_OK;
}

/* slurm_errno 0 = it worked. */
static int
check_answer(const char *what, int slurm_errno, const char *name, struct lt_error *err)
{
	if (slurm_errno == 0)
		return LT_OK;
	const int code = lt_slurm_fail(what, slurm_errno, err);
	(void)lt_context(err, "job %s", name);
	return code;
}

static int
requeue_job(const struct lt_batch_job *job, uint32_t flags, struct lt_error *err)
{
	job_array_resp_msg_t *tasks = NULL;
	char name[LT_JOB_ADDRESS_SIZE];
	int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	(void)lt_job_address(name, job);
	rc = slurm_requeue2(name, flags, &tasks) == SLURM_SUCCESS ? 0 : errno;
	return check_answer("slurmctld: requeue", of_tasks(rc, tasks), name, err);
}

int
lt_batch_requeue(const struct lt_batch_job *job, struct lt_error *err)
{
	return requeue_job(job, 0, err);
}

int
lt_batch_requeue_held(const struct lt_batch_job *job, struct lt_error *err)
{
	return requeue_job(job, JOB_REQUEUE_HOLD, err);
}

int
lt_batch_signal(const struct lt_batch_job *job, uint32_t signal, struct lt_error *err)
{
	char name[LT_JOB_ADDRESS_SIZE];
	const int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	return check_answer("slurmctld: signal",
	    slurm_kill_job2(lt_job_address(name, job), (uint16_t)signal, 0, NULL) == SLURM_SUCCESS
		? 0
		: errno,
	    name, err);
}

typedef int slurm_change(char *job_id, job_array_resp_msg_t **tasks);

static int
change_suspension(
    slurm_change *call, const char *what, const struct lt_batch_job *job, struct lt_error *err)
{
	job_array_resp_msg_t *tasks = NULL;
	char name[LT_JOB_ADDRESS_SIZE];
	int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	(void)lt_job_address(name, job);
	rc = call(name, &tasks) == SLURM_SUCCESS ? 0 : errno;
	return check_answer(what, of_tasks(rc, tasks), name, err);
}

int
lt_batch_suspend(const struct lt_batch_job *job, struct lt_error *err)
{
	return change_suspension(slurm_suspend2, "slurmctld: suspend", job, err);
}

int
lt_batch_go_on(const struct lt_batch_job *job, struct lt_error *err)
{
	return change_suspension(slurm_resume2, "slurmctld: resume", job, err);
}
