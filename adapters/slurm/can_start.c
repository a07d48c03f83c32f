/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a job that waits could start: Slurm's "will run" of a job that it
 * has. Held jobs and those that wait for their begin are looked at, too, as of
 * their begin; so did 22.05 to 26.05.
 */
#include <errno.h>
#include <unistd.h>

#include "can_start.h"
#include "compat.h"
#include "slurm_text.h"

/* Reads an errno of Slurm as an answer; any other is an error. */
static int
answer_of(enum lt_start *start, int slurm_errno, struct lt_error *err)
{
	switch (slurm_errno) {
	case 0:
		*start = LT_START_CAN;
		return LT_OK;
	case ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE:
	case ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE:
		*start = LT_START_CANNOT;
		return LT_OK;
	case ESLURM_INVALID_JOB_ID:
	case ESLURM_DISABLED: /* it runs, or has ended */
		return lt_fail(err, LT_ENOENT, "it waits no more");
	default:
		return lt_slurm_fail(
		    "slurmctld: can it start", slurm_errno, err);
	}
}

int
lt_batch_can_start(
    struct lt_start_answer *answer, uint32_t job_id, struct lt_error *err)
{
	will_run_response_msg_t *reply = NULL;
	job_desc_msg_t question;
	char name[] = LT_CAN_START_NAME, host[] = "localhost";

	*answer = (struct lt_start_answer){.start = LT_START_UNKNOWN};
	int code = lt_slurm_answers(err);
	if (code != LT_OK)
		return code;
	slurm_init_job_desc_msg(&question);
	LT_SLURM_JOB_ID(&question) = job_id;
	question.name = name;
	question.alloc_node = host;
	question.user_id = getuid();
	question.group_id = getgid();
	const int slurm_errno =
	    slurm_job_will_run2(&question, &reply) == SLURM_SUCCESS ? 0 : errno;
	if (reply != NULL) {
		answer->start_utc_s = (int64_t)reply->start_time;
		slurm_free_will_run_response_msg(reply);
	}
	code = answer_of(&answer->start, slurm_errno, err);
	return code == LT_OK ? code : lt_context(err, "job %u", job_id);
}
