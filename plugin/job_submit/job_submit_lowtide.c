/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/lowtide: Slurm's entry points. Runs inside slurmctld, with its
 * locks held: no network, no fork, no wait; whatever fails, the job goes on as
 * it came unless a budget says otherwise.
 */
#include "job_submit.h"

#include <time.h>

#include "job_change.h"

const char plugin_name[] = "lowtide: places jobs by price and carbon";
const char plugin_type[] = "job_submit/lowtide";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init(void);
int fini(void);
int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg);
#if LT_MODIFY_HAS_MESSAGE
int job_modify(job_desc_msg_t *job, struct job_record *record,
    uint32_t submit_uid, char **err_msg);
#else
int job_modify(
    job_desc_msg_t *job, struct job_record *record, uint32_t submit_uid);
#endif

int
init(void)
{
	lt_changes_forget();
	lt_asked_forget((int64_t)time(NULL));
	lt_state_init();
	return SLURM_SUCCESS;
}

int
fini(void)
{
	lt_state_fini();
	return SLURM_SUCCESS;
}

int
job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg)
{
	/* submit_uid is 0 for federated siblings: user_id counts. */
	if (job == NULL || lt_submit_is_question(job, submit_uid))
		return SLURM_SUCCESS;
	return lt_submit(job, err_msg);
}

#if LT_MODIFY_HAS_MESSAGE
int
job_modify(job_desc_msg_t *job, struct job_record *record, uint32_t submit_uid,
    char **err_msg)
{
	(void)record;
	return job ? lt_modify(job, submit_uid, err_msg) : SLURM_SUCCESS;
}
#else
int
job_modify(job_desc_msg_t *job, struct job_record *record, uint32_t submit_uid)
{
	(void)record;
	return job != NULL ? lt_modify(job, submit_uid, NULL) : SLURM_SUCCESS;
}
#endif
