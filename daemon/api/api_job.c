/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the job that a path names, and makes the answers if there is none or if the user may not
 * see it: 404, or 403. Names are asked of the batch system.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_job.h"
#include "batch.h"
#include "daemon.h"
#include "jobs.h"
#include "poll_schedule.h"
#include "units.h"

static const int64_t job_id_max = UINT32_MAX - 16, task_max = UINT32_MAX - 1;

/* "23" or "23_1"; false: neither. */
static bool
parse_number(struct lt_job_named *asked, const char *text)
{
	const size_t length = strcspn(text, "_");
	char number[16];
	int64_t value, task = UINT32_MAX;

	if (length >= sizeof(number))
		return false;
	memcpy(number, text, length);
	number[length] = '\0';
	if (lt_int64_parse(number, 1, job_id_max, &value, NULL) != LT_OK ||
	    (text[length] == '_' &&
		lt_int64_parse(text + length + 1, 0, task_max, &task, NULL) != LT_OK))
		return false;
	asked->job_id = (uint32_t)value;
	asked->task = (uint32_t)task;
	return true;
}

int
lt_job_named(struct lt_job_named *asked, const struct lt_api_request *request, json_t **reply)
{
	const char *const job = request->rest;
	struct lt_error err = {0};

	*asked = (struct lt_job_named){.name = "", .task = UINT32_MAX};
	if (strchr(job, '/') != NULL) {
		const int code = lt_batch_find(job, &asked->job_id, &err);

		if (code != LT_OK)
			return lt_api_error(
			    reply, code == LT_ENOENT ? 404 : 503, "job: %s", err.text);
		asked->name = job;
	} else if (!parse_number(asked, job)) {
		return lt_api_error(reply, 400, "job: got \"%.40s\", want a number%s%s", job,
		    lt_batch_words.name != NULL ? " or " : " or one as 23_1",
		    lt_batch_words.name != NULL ? lt_batch_words.name : "");
	}
	snprintf(asked->text, sizeof(asked->text), asked->task == UINT32_MAX ? "%u" : "%u_%u",
	    asked->job_id, asked->task);
	return 200;
}

void
lt_job_catch_up(struct lt_daemon *d, uint32_t job_id, int64_t now_utc_s)
{
	struct lt_batch_jobs one = {0};

	if (lt_jobs_find(&d->jobs.list, job_id) != NULL && !lt_poll_singly(&d->jobs))
		return;
	if (lt_batch_jobs(&one, job_id, NULL) == LT_OK && one.count > 0) {
		lt_poll_at(&d->jobs, job_id);
		d->cycle(d, now_utc_s);
	}
	lt_batch_jobs_free(&one);
}

uint32_t
lt_job_record(const struct lt_batch_jobs *list, const struct lt_job_named *asked)
{
	if (asked->task != UINT32_MAX)
		for (uint32_t i = 0; i < list->count; i++)
			if (list->jobs[i].array_job_id == asked->job_id &&
			    list->jobs[i].array_task == asked->task)
				return list->jobs[i].job_id;
	return asked->job_id;
}

bool
lt_job_has_task(const char *array_tasks, uint32_t task)
{
	const char *at = array_tasks;

	while (*at >= '0' && *at <= '9') {
		char *end;
		const unsigned long first = strtoul(at, &end, 10);
		unsigned long last = first, step = 1;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (*end == ':')
			step = strtoul(end + 1, &end, 10);
		if (task >= first && task <= last && step > 0 && (task - first) % step == 0)
			return true;
		at = *end == ',' ? end + 1 : end;
	}
	return *at == '.';
}

bool
lt_job_is(const struct lt_job_named *named, const struct lt_batch_job *job)
{
	if (named->task == UINT32_MAX)
		return job->job_id == named->job_id || job->array_job_id == named->job_id;
	return job->array_job_id == named->job_id &&
	       (job->array_task == named->task ||
		   (job->array_tasks != NULL && lt_job_has_task(job->array_tasks, named->task)));
}

int
lt_job_unknown(const struct lt_job_named *asked, json_t **reply)
{
	const char *const starter = lt_batch_starter(asked->job_id);

	if (starter != NULL)
		return lt_api_error(reply, 404,
		    "job %s: %s starts it, and lowtide takes no hold for it", asked->text, starter);
	return lt_api_error(reply, 404, "job %s: not known here", asked->text);
}

int
lt_job_refuse(const struct lt_access *access, const struct lt_job_named *asked, json_t **reply)
{
	return lt_access_knows_jobs(access)
		   ? lt_api_error(reply, 403, "job %s is not yours", asked->text)
		   : lt_job_unknown(asked, reply);
}
