/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job that a path names, for explain, now and jobs: its number, a task of an array as Slurm
 * writes it, or the name that its system has for it.
 */
#ifndef LT_API_JOB_H
#define LT_API_JOB_H

#include "access.h"
#include "batch.h"

struct lt_job_named {
	uint32_t job_id;  /* of the array, where a task is asked for */
	uint32_t task;	  /* UINT32_MAX = none */
	const char *name; /* "NAMESPACE/NAME", lent; "" = by number */
	char text[24];	  /* "23", "23_1" */
};

/* Reads request->rest: status 200, or the error in *reply. */
int lt_job_named(struct lt_job_named *asked, const struct lt_api_request *request, json_t **reply);

/* A job just submitted is not in our list yet, or it is not as it was: if the system has it, look
 * again. */
void lt_job_catch_up(struct lt_daemon *d, uint32_t job_id, int64_t now_utc_s);

/* The id of the task's own record in the list, or else job_id as it is. */
uint32_t lt_job_record(const struct lt_batch_jobs *list, const struct lt_job_named *asked);

/* True if the task waits by a record that stands for these tasks ("1-4,7"). Slurm cuts long lists:
 * then it may be behind the end. */
bool lt_job_has_task(const char *array_tasks, uint32_t task);

/* True if the record is one of those that are asked for, or if the task waits by it. */
bool lt_job_is(const struct lt_job_named *named, const struct lt_batch_job *job);

/* The error's status: not known here; or another's, which is the same where Slurm hides jobs. */
int lt_job_unknown(const struct lt_job_named *asked, json_t **reply);
int lt_job_refuse(const struct lt_access *access, const struct lt_job_named *asked, json_t **reply);

#endif
