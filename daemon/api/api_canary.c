/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/canary/JOB: interrupts a user's own job once, to see whether it resumes. Reads the job
 * from the batch system and asks life/canary.c to begin. A job that may not be interrupted now is
 * refused with 409.
 */
#include <stdio.h>

#include "access.h"
#include "api.h"
#include "api_job.h"
#include "canary.h"
#include "daemon.h"
#include "units.h"

/* A running record of what was asked for, else any. */
static const struct lt_batch_job *
find_record(const struct lt_batch_jobs *records, const struct lt_job_named *asked)
{
	const struct lt_batch_job *found = NULL;

	for (uint32_t i = 0; i < records->count; i++) {
		const struct lt_batch_job *const job = &records->jobs[i];

		if (lt_job_is(asked, job) && (found == NULL || (job->state == LT_JOB_RUNNING &&
								   found->state != LT_JOB_RUNNING)))
			found = job;
	}
	return found;
}

static int
begin_canary(struct lt_daemon *d, const struct lt_batch_job *job,
    const struct lt_api_request *request, const char *name, json_t **reply)
{
	const struct lt_books books = lt_daemon_books(d);
	int64_t requeue_in_s = 0;
	struct lt_error err = {0};
	char text[192], wait[48];
	const int code = lt_canary_begin(
	    &books, &d->notice, &d->proof, job, request->now_utc_s, &requeue_in_s, &err);

	if (code != LT_OK)
		return lt_api_error(
		    reply, code == LT_EDENIED ? 409 : 503, "job %s: %s", name, err.text);
	snprintf(text, sizeof(text),
	    "job %s is asked for a checkpoint now, requeued within %s and started again; what that shows: lowtide explain %s",
	    name, lt_duration_text(wait, sizeof(wait), requeue_in_s), name);
	*reply = json_pack("{s:I,s:I,s:s}", "job_id", (json_int_t)job->job_id, "requeue_in_s",
	    (json_int_t)requeue_in_s, "text", text);
	return 200;
}

int
lt_api_canary(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	struct lt_job_named asked;
	struct lt_batch_jobs records = {0};
	const struct lt_batch_job *job = NULL;
	int status = lt_job_named(&asked, request, reply);

	if (status != 200)
		return status;
	lt_job_catch_up(d, asked.job_id, request->now_utc_s);
	if (lt_batch_jobs(&records, asked.job_id, NULL) == LT_OK)
		job = find_record(&records, &asked);
	if (job == NULL)
		status = lt_job_unknown(&asked, reply);
	else if (!request->is_admin && job->uid != request->uid)
		status = lt_job_refuse(&access, &asked, reply);
	else
		status = begin_canary(d, job, request, asked.text, reply);
	lt_batch_jobs_free(&records);
	return status;
}
