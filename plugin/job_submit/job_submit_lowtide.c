/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/lowtide: Slurm's entry points. They run inside slurmctld, with its locks held: no
 * network, no fork, no wait. Whatever fails, the job passes as it came unless a budget says
 * otherwise.
 */
#include "job_submit.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "job_change.h"
#include "job_state_internal.h"

const char plugin_name[] = "lowtide: places jobs by price and carbon";
const char plugin_type[] = "job_submit/lowtide";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init(void);
int fini(void);
int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg);
#if LT_MODIFY_HAS_MESSAGE
int job_modify(job_desc_msg_t *job, struct job_record *record, uint32_t submit_uid, char **err_msg);
#else
int job_modify(job_desc_msg_t *job, struct job_record *record, uint32_t submit_uid);
#endif

/*
 * Where JobSubmitPlugins names lowtide twice, Slurm calls each function twice, one after the other
 * in one thread, with the same description: the second time it is answered. The quote of the first
 * call is in it; a change has none.
 */
static atomic_int copies;
static _Thread_local struct answered {
	const job_desc_msg_t *job;
	int left; /* calls */
	uint64_t quote_id;
	int64_t at_ms;
} answered;

enum { ANSWERED_MS = 50 };

static uint64_t
quote_of(const job_desc_msg_t *job)
{
	const char *const comment = job->admin_comment;
	struct lt_quote quote;

	return comment != NULL && lt_quote_unpack(&quote, comment, strlen(comment), NULL) == LT_OK
		   ? quote.id
		   : 0;
}

static bool
was_answered(const job_desc_msg_t *job)
{
	return answered.left > 0 && answered.job == job && answered.quote_id == quote_of(job) &&
	       lt_monotonic_ms() - answered.at_ms < ANSWERED_MS && answered.left-- > 0;
}

static int
answer(const job_desc_msg_t *job, int code)
{
	const int more = atomic_load(&copies) - 1;

	/* A job that is refused is not asked for again. */
	answered = (struct answered){.left = 0};
	if (more > 0 && code == SLURM_SUCCESS)
		answered = (struct answered){job, more, quote_of(job), lt_monotonic_ms()};
	return code;
}

int
init(void)
{
	if (atomic_fetch_add(&copies, 1) > 0)
		lt_state_log(
		    "JobSubmitPlugins names lowtide more than once: once is enough, and each further call does nothing");
	lt_changes_forget();
	lt_asked_forget((int64_t)time(NULL));
	lt_state_init();
	return SLURM_SUCCESS;
}

int
fini(void)
{
	if (atomic_fetch_sub(&copies, 1) == 1)
		lt_state_fini();
	return SLURM_SUCCESS;
}

int
job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg)
{
	/* submit_uid is 0 for federated siblings: user_id counts. */
	if (job == NULL || lt_submit_is_question(job, submit_uid) || was_answered(job))
		return SLURM_SUCCESS;
	return answer(job, lt_submit(job, err_msg));
}

#if LT_MODIFY_HAS_MESSAGE
int
job_modify(job_desc_msg_t *job, struct job_record *record, uint32_t submit_uid, char **err_msg)
{
	(void)record;
	if (job == NULL || was_answered(job))
		return SLURM_SUCCESS;
	return answer(job, lt_modify(job, submit_uid, err_msg));
}
#else
int
job_modify(job_desc_msg_t *job, struct job_record *record, uint32_t submit_uid)
{
	(void)record;
	if (job == NULL || was_answered(job))
		return SLURM_SUCCESS;
	return answer(job, lt_modify(job, submit_uid, NULL));
}
#endif
