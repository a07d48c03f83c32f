/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Refuses the calls of batch.h that only Slurm needs: in a cluster the cloud's own handler drains a
 * node that is taken back, and the kubelet warns its pods. Each fails with LT_EINPUT or has nothing
 * to give.
 */
#include "batch.h"

static int
fail_unsupported(struct lt_error *err)
{
	return lt_fail(
	    err, LT_EINPUT, "on Kubernetes the cloud's termination handler drains nodes");
}

int
lt_batch_can_start(struct lt_start_answer *answer, uint32_t job_id, struct lt_error *err)
{
	(void)job_id;
	*answer = (struct lt_start_answer){.start = LT_START_UNKNOWN};
	return lt_fail(err, LT_EINPUT, "on Kubernetes pods show why they are pending");
}

int
lt_batch_drain(const char *node, const char *reason, struct lt_error *err)
{
	(void)node;
	(void)reason;
	return fail_unsupported(err);
}

int
lt_batch_down(const char *node, const char *reason, struct lt_error *err)
{
	(void)node;
	(void)reason;
	return fail_unsupported(err);
}

int
lt_batch_resume(const char *node, struct lt_error *err)
{
	(void)node;
	return fail_unsupported(err);
}

int
lt_batch_node(struct lt_batch_node *found, const char *node, struct lt_error *err)
{
	(void)found;
	(void)node;
	return fail_unsupported(err);
}

int
lt_batch_whose_address(
    struct lt_batch_address *found, const char *node, uint32_t address, struct lt_error *err)
{
	(void)found;
	(void)node;
	(void)address;
	return fail_unsupported(err);
}

bool
lt_batch_has_node(const char *list, const char *node)
{
	(void)list;
	(void)node;
	return false;
}

int
lt_batch_signal(const struct lt_batch_job *job, uint32_t signal, struct lt_error *err)
{
	(void)job;
	(void)signal;
	return fail_unsupported(err);
}

int
lt_batch_requeue(const struct lt_batch_job *job, struct lt_error *err)
{
	(void)job;
	return fail_unsupported(err);
}

int
lt_batch_suspend(const struct lt_batch_job *job, struct lt_error *err)
{
	(void)job;
	return fail_unsupported(err);
}

int
lt_batch_go_on(const struct lt_batch_job *job, struct lt_error *err)
{
	(void)job;
	return fail_unsupported(err);
}

int
lt_batch_qoses(struct lt_batch_qoses *all, struct lt_error *err)
{
	(void)err;
	*all = (struct lt_batch_qoses){0};
	return LT_OK;
}

int
lt_batch_births(
    struct lt_batch_account *accounts, uint32_t count, int64_t since_utc_s, struct lt_error *err)
{
	(void)since_utc_s;
	(void)err;
	for (uint32_t i = 0; i < count; i++)
		accounts[i].parent[0] = '\0';
	return LT_OK;
}

/* Lists nobody: RBAC says who may change others' Jobs. */
int
lt_batch_managers(struct lt_batch_manager **managers, uint32_t *count, struct lt_error *err)
{
	(void)err;
	*managers = NULL;
	*count = 0;
	return LT_OK;
}

int
lt_batch_dbd_queue(uint32_t *queued, struct lt_error *err)
{
	(void)err;
	*queued = 0;
	return LT_OK;
}
