/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that their owner takes back: drained, down, as they were.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "compat.h"
#include "slurm_text.h"

static int
update(
    const char *node, uint32_t state, const char *reason, struct lt_error *err)
{
	update_node_msg_t message;
	int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	slurm_init_update_node_msg(&message);
	message.node_names = (char *)(uintptr_t)node;
	message.node_state = state;
	if (reason != NULL) {
		message.reason = (char *)(uintptr_t)reason;
		LT_SLURM_REASON_UID(&message, (uint32_t)getuid());
	}
	if (slurm_update_node(&message) == SLURM_SUCCESS)
		return LT_OK;
	rc = lt_slurm_fail("slurmctld: update node", errno, err);
	(void)lt_context(err, "node %s", node);
	return rc;
}

int
lt_batch_drain(const char *node, const char *reason, struct lt_error *err)
{
	return update(node, NODE_STATE_DRAIN, reason, err);
}

int
lt_batch_down(const char *node, const char *reason, struct lt_error *err)
{
	return update(node, NODE_STATE_DOWN, reason, err);
}

int
lt_batch_resume(const char *node, struct lt_error *err)
{
	return update(node, NODE_RESUME, NULL, err);
}

int
lt_batch_node(
    struct lt_batch_node *found, const char *node, struct lt_error *err)
{
	node_info_msg_t *answer = NULL;
	int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	if (slurm_load_node_single(
		&answer, (char *)(uintptr_t)node, SHOW_ALL) != SLURM_SUCCESS) {
		rc = lt_slurm_fail("slurmctld: node", errno, err);
		(void)lt_context(err, "node %s", node);
		return rc;
	}
	const node_info_t *const record =
	    answer->record_count > 0 ? &answer->node_array[0] : NULL;

	if (record == NULL || record->name == NULL) {
		rc = lt_fail(err, LT_ENOENT, "node %s: no such node", node);
	} else {
		const uint32_t state = record->node_state;

		*found = (struct lt_batch_node){
		    .is_drained = (state & NODE_STATE_DRAIN) != 0,
		    .is_powered_down = (state & NODE_STATE_POWERED_DOWN) != 0,
		    .responds = (state & NODE_STATE_NO_RESPOND) == 0,
		    .boot_utc_s = record->boot_time};
		snprintf(found->reason, sizeof(found->reason), "%s",
		    record->reason != NULL ? record->reason : "");
	}
	slurm_free_node_info_msg(answer);
	return rc;
}

bool
lt_batch_has_node(const char *list, const char *node)
{
	const lt_slurm_hostlist nodes =
	    list != NULL ? slurm_hostlist_create(list) : NULL;
	const bool has = nodes != NULL && slurm_hostlist_find(nodes, node) >= 0;

	if (nodes != NULL)
		slurm_hostlist_destroy(nodes);
	return has;
}
