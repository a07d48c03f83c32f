/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/jobs, GET /v1/jobs/JOB: the jobs that wait and run, and those that ended, as long as the
 * batch system's list has them; then the last runs from the ledger. Reads the list of the last
 * pass. Only jobs that the user may see are in the answer; a job that is unknown gets 404.
 */
#include <stdlib.h>

#include "api_job.h"
#include "batch.h"
#include "daemon.h"
#include "job_json.h"
#include "jobs.h"
#include "units.h"

enum { PAGE_MAX = 200 }; /* of 2 KiB at most: 400 KiB */

struct wanted {
	struct lt_access access;
	const struct lt_job_named *named; /* NULL: by user, */
	bool all;			  /* or of everybody */
	uint32_t uid, after;
	bool hidden; /* there is one that may not be seen */
	int64_t now_utc_s;
};

static bool
is_wanted(struct wanted *wanted, const struct lt_batch_job *job)
{
	if (wanted->named != NULL ? !lt_job_is(wanted->named, job)
				  : !wanted->all && job->uid != wanted->uid)
		return false;
	if (lt_access_job(&wanted->access, job->uid, job->account))
		return true;
	wanted->hidden = true;
	return false;
}

/* A page of them; *next: the id after which the next one begins, 0 = the last. */
static json_t *
page(struct lt_daemon *d, struct wanted *wanted, uint32_t *next)
{
	const struct lt_batch_jobs *const list = &d->jobs.list;
	json_t *const rows = json_array();
	struct lt_ledger_hold hold;
	uint32_t last = 0;

	*next = 0;
	for (uint32_t i = lt_jobs_after(list, wanted->after); i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];

		if (!is_wanted(wanted, job) || !lt_hold_of_job(d->ledger, job, &hold) ||
		    hold.uid != job->uid)
			continue;
		if (json_array_size(rows) == PAGE_MAX) {
			*next = last;
			break;
		}
		json_array_append_new(rows, lt_job_json(d, job, &hold, wanted->now_utc_s));
		last = job->job_id;
	}
	return rows;
}

/* Adds the last PAGE_MAX runs that the list no longer has. */
static void
add_runs(struct lt_daemon *d, struct wanted *wanted, json_t *rows)
{
	const struct lt_job_named *const named = wanted->named;
	struct lt_run *runs = NULL;
	uint32_t count = 0;

	if (lt_ledger_runs_of_job(d->ledger, named->job_id, &runs, &count, NULL) != LT_OK)
		return;
	for (uint32_t i = count > PAGE_MAX ? count - PAGE_MAX : 0; i < count; i++) {
		const bool is_other =
		    named->task != UINT32_MAX &&
		    (runs[i].array_job_id != named->job_id || runs[i].array_task != named->task);

		if (is_other)
			continue;
		if (lt_access_job(&wanted->access, runs[i].uid, runs[i].account))
			json_array_append_new(rows, lt_job_json_of_run(&runs[i]));
		else
			wanted->hidden = true;
	}
	free(runs);
}

/* Neither in the list nor charged yet: its hold alone says that it was. */
static void
add_hold(struct lt_daemon *d, struct wanted *wanted, json_t *rows)
{
	const uint32_t job_id = wanted->named->job_id;
	char user[LT_NAME_SIZE];
	struct lt_ledger_hold hold;

	if (lt_ledger_hold_of_job(d->ledger, job_id, &hold, NULL) != LT_OK)
		return;
	if (!lt_access_job(&wanted->access, hold.uid, hold.quote.account)) {
		wanted->hidden = true;
		return;
	}
	const struct lt_batch_job job = {.job_id = job_id,
	    .array_task = UINT32_MAX,
	    .array_pending = 1,
	    .uid = hold.uid,
	    .user = lt_api_user_name(d, user, hold.uid),
	    .account = hold.quote.account,
	    .partition = hold.quote.partition,
	    .name = "",
	    .state_text = "ENDED",
	    .reason_text = "",
	    .state = LT_JOB_FINISHED,
	    .submit_utc_s = hold.submit_utc_s,
	    .start_utc_s = hold.start_utc_s};

	json_array_append_new(rows, lt_job_json(d, &job, &hold, wanted->now_utc_s));
}

static int
answer(const struct lt_daemon *d, const struct wanted *wanted, json_t *rows, uint32_t next,
    json_t **reply)
{
	*reply = json_pack("{s:o,s:s,s:o,s:o}", "now", lt_api_time(wanted->now_utc_s), "currency",
	    d->site.policy->currency, "jobs", rows, "next", lt_api_optional(next != 0, next));
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

/* Adds jobs whose pods run without a hold, as far as the user may see them, if there are any. */
static void
add_unheld(const struct wanted *wanted, json_t *answer)
{
	struct lt_batch_unheld *all = NULL;
	uint32_t count = 0;
	json_t *const list = json_array();

	(void)lt_batch_unheld(&all, &count, NULL);
	for (uint32_t i = 0; i < count; i++)
		if (lt_access_job(&wanted->access, all[i].uid, all[i].account))
			json_array_append_new(
			    list, json_pack("{s:s,s:I,s:s,s:s,s:I}", "id", all[i].name, "job_id",
				      (json_int_t)all[i].id, "account", all[i].account, "partition",
				      all[i].partitions, "pods", (json_int_t)all[i].pods));
	free(all);
	if (json_array_size(list) > 0)
		json_object_set(answer, "unheld", list);
	json_decref(list);
}

int
lt_api_jobs(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *const user = lt_api_value(request, "user");
	const char *const all = lt_api_value(request, "all");
	const char *const after = lt_api_value(request, "after");
	struct wanted wanted = {.access = lt_access_of(d, request),
	    .all = all != NULL && all[0] == '1' && all[1] == '\0',
	    .uid = request->uid,
	    .now_utc_s = request->now_utc_s};
	struct lt_error err = {0};
	int64_t number = 0;
	uint32_t next;

	if (all != NULL && !wanted.all)
		return lt_api_error(reply, 400, "all: got \"%s\", want 1", all);
	const int status =
	    user == NULL ? 200
			 : lt_access_user(d, request,
			       &(struct lt_access_named){.user = user,
				   .others = lt_access_jobs(&wanted.access),
				   .who = "root, SlurmUser, operators, viewers and coordinators"},
			       &wanted.uid, reply);
	if (status != 200)
		return status;
	if (after != NULL && lt_int64_parse(after, 0, UINT32_MAX, &number, &err) != LT_OK)
		return lt_api_error(reply, 400, "after: %s", err.text);
	wanted.after = (uint32_t)number;
	json_t *const rows = page(d, &wanted, &next);
	const int answered = answer(d, &wanted, rows, next, reply);
	if (answered == 200 && wanted.after == 0)
		add_unheld(&wanted, *reply);
	return answered;
}

int
lt_api_one_job(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_job_named named;
	struct wanted wanted = {
	    .access = lt_access_of(d, request), .named = &named, .now_utc_s = request->now_utc_s};
	uint32_t next;
	int status = lt_job_named(&named, request, reply);

	if (status != 200)
		return status;
	lt_job_catch_up(d, named.job_id, request->now_utc_s);
	json_t *const rows = page(d, &wanted, &next);
	if (json_array_size(rows) == 0)
		add_runs(d, &wanted, rows);
	if (json_array_size(rows) == 0)
		add_hold(d, &wanted, rows);
	if (json_array_size(rows) > 0)
		return answer(d, &wanted, rows, next, reply);
	json_decref(rows);
	return wanted.hidden ? lt_job_refuse(&wanted.access, &named, reply)
			     : lt_job_unknown(&named, reply);
}
