/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user has an own job interrupted, to see whether it resumes.
 */
#include <stdio.h>

#include "access.h"
#include "api.h"
#include "api_job.h"
#include "canary.h"
#include "daemon.h"
#include "jobs.h"
#include "units.h"

int
lt_api_canary(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	struct lt_job_named asked;
	struct lt_error err = {0};
	int64_t requeue_in_s = 0;
	int status = lt_job_named(&asked, request, reply);

	if (status != 200)
		return status;
	lt_job_catch_up(d, asked.job_id, request->now_utc_s);
	const struct lt_batch_job *const job =
	    lt_jobs_find(&d->jobs.list, lt_job_record(&d->jobs.list, &asked));
	if (job == NULL)
		return lt_job_unknown(&asked, reply);
	if (!request->is_admin && job->uid != request->uid)
		return lt_job_refuse(&access, &asked, reply);
	const int code =
	    lt_canary_begin(d, job, request->now_utc_s, &requeue_in_s, &err);
	if (code != LT_OK)
		return lt_api_error(reply, code == LT_EDENIED ? 409 : 503,
		    "job %s: %s", asked.text, err.text);
	char text[192], wait[48];

	snprintf(text, sizeof(text),
	    "job %s is asked for a checkpoint now, requeued within %s and started again; what that shows: lowtide explain %s",
	    asked.text, lt_duration_text(wait, sizeof(wait), requeue_in_s),
	    asked.text);
	*reply = json_pack("{s:I,s:I,s:s}", "job_id", (json_int_t)job->job_id,
	    "requeue_in_s", (json_int_t)requeue_in_s, "text", text);
	return 200;
}
