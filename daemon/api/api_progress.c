/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/progress: how far jobs are, as reported by the node where they run. The node's reader
 * reads it as the job's user, so it is trusted no more than any text of a user: it can only concern
 * their own job. Reports go to the proofs in memory and in the ledger; a job that is not known yet
 * is listed as "later".
 */
#include "access.h"
#include "api.h"
#include "daemon.h"
#include "limits.h"

enum {
	JOBS_MAX = 256, /* of a node; more: the next request */
	LONGEST_S = 400 * 24 * 3600,
};

static bool
is_time(json_int_t s)
{
	return s >= 0 && s <= LONGEST_S;
}

/* False: it is not that, or its markers are no progress. */
static bool
read_job(struct lt_proof_told *told, json_t *job)
{
	const char *first, *newest;
	json_int_t job_id, uid, restarts, first_after_s, newest_after_s;
	struct lt_progress *const progress = &told->progress;

	if (json_unpack(job, "{s:I,s:I,s:I,s:s,s:I,s:s,s:I}", "job_id", &job_id, "uid", &uid,
		"restarts", &restarts, "first", &first, "first_after_s", &first_after_s, "newest",
		&newest, "newest_after_s", &newest_after_s) != 0 ||
	    job_id <= 0 || job_id > UINT32_MAX || uid < 0 || uid > UINT32_MAX || restarts < 0 ||
	    restarts > INT32_MAX || !is_time(first_after_s) || !is_time(newest_after_s))
		return false;
	told->job_id = (uint32_t)job_id;
	told->uid = (uint32_t)uid;
	*progress = (struct lt_progress){.restarts = (uint32_t)restarts,
	    .first_after_s = first_after_s,
	    .newest_after_s = newest_after_s};
	return lt_marker_parse(&progress->first, first) &&
	       lt_marker_parse(&progress->newest, newest);
}

int
lt_api_progress(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *node = NULL;
	json_t *jobs = NULL, *job;
	size_t i;

	if (request->body == NULL ||
	    json_unpack(request->body, "{s:s,s:o}", "node", &node, "jobs", &jobs) != 0 ||
	    node[0] == '\0' || !json_is_array(jobs) || json_array_size(jobs) > JOBS_MAX)
		return lt_api_error(reply, 400, "want {node, jobs} with at most %d jobs", JOBS_MAX);
	const int allowed = lt_access_check_node(d, request, node, reply);
	if (allowed != 200)
		return allowed;
	json_t *const later = json_array();
	json_array_foreach(jobs, i, job) {
		struct lt_proof_told told = {.node = node};

		/* A user's text such as "loss=-0.53" is skipped; the other jobs count all the
		 * same. */
		if (!read_job(&told, job))
			continue;
		if (lt_proof_tell(d->ledger, &d->charges, &d->jobs, &d->proof, &told,
			request->now_utc_s) == LT_PROOF_LATER)
			json_array_append_new(later, json_integer(told.job_id));
	}
	*reply = json_pack("{s:o}", "later", later);
	return 200;
}
