/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes of slurmctld, for notices that a node is taken back: which node an address is of, a node's
 * state, and the three changes of it. NodeAddr is an address or a name, and in a cloud it comes
 * with the machine. Asks slurmctld and the resolver, keeps nothing; a refusal is returned in
 * Slurm's words.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "compat.h"
#include "slurm_text.h"

/* ---- which node an address is of ---- */

/* A name may have several; one that does not resolve has none. */
static bool
is_of(const char *name, uint32_t address)
{
	const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	struct in_addr number;
	bool found = false;

	if (name == NULL || name[0] == '\0')
		return false;
	if (inet_pton(AF_INET, name, &number) == 1)
		return number.s_addr == address;
	if (getaddrinfo(name, NULL, &hints, &list) != 0)
		return false;
	for (const struct addrinfo *at = list; at != NULL; at = at->ai_next) {
		struct sockaddr_in one;

		memcpy(&one, at->ai_addr, sizeof(one));
		found |= one.sin_addr.s_addr == address;
	}
	freeaddrinfo(list);
	return found;
}

static int
ask_node(struct lt_batch_address *found, const char *node, uint32_t address, struct lt_error *err)
{
	node_info_msg_t *answer = NULL;

	if (slurm_load_node_single(&answer, (char *)(uintptr_t)node, SHOW_ALL) != SLURM_SUCCESS ||
	    answer->record_count == 0) {
		const int number = errno;

		if (answer != NULL)
			slurm_free_node_info_msg(answer);
		(void)lt_slurm_fail(
		    "slurmctld: node", number != 0 ? number : ESLURM_INVALID_NODE_NAME, err);
		return lt_context(err, "node %s", node);
	}
	lt_copy(found->node_address, sizeof(found->node_address), answer->node_array[0].node_addr);
	if (is_of(answer->node_array[0].node_addr, address))
		found->whose = LT_WHOSE_NODE;
	slurm_free_node_info_msg(answer);
	return LT_OK;
}

static int
ask_others(struct lt_batch_address *found, uint32_t address, struct lt_error *err)
{
	node_info_msg_t *answer = NULL;

	if (slurm_load_node(0, &answer, SHOW_ALL) != SLURM_SUCCESS)
		return lt_slurm_fail("slurmctld: nodes", errno, err);
	for (uint32_t i = 0; i < answer->record_count && found->whose == LT_WHOSE_NO_NODE; i++) {
		const node_info_t *const node = &answer->node_array[i];

		if (node->name == NULL || !is_of(node->node_addr, address))
			continue;
		found->whose = LT_WHOSE_OTHER_NODE;
		lt_copy(found->other, sizeof(found->other), node->name);
	}
	slurm_free_node_info_msg(answer);
	return LT_OK;
}

int
lt_batch_whose_address(
    struct lt_batch_address *found, const char *node, uint32_t address, struct lt_error *err)
{
	int rc = lt_slurm_answers(err);

	*found = (struct lt_batch_address){.whose = LT_WHOSE_NO_NODE};
	if (rc == LT_OK)
		rc = ask_node(found, node, address, err);
	if (rc == LT_OK && found->whose == LT_WHOSE_NO_NODE)
		rc = ask_others(found, address, err);
	return rc;
}

/* ---- drain, down, resume ---- */

static int
update_node(const char *node, uint32_t state, const char *reason, struct lt_error *err)
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
	return update_node(node, NODE_STATE_DRAIN, reason, err);
}

int
lt_batch_down(const char *node, const char *reason, struct lt_error *err)
{
	return update_node(node, NODE_STATE_DOWN, reason, err);
}

int
lt_batch_resume(const char *node, struct lt_error *err)
{
	return update_node(node, NODE_RESUME, NULL, err);
}

int
lt_batch_node(struct lt_batch_node *found, const char *node, struct lt_error *err)
{
	node_info_msg_t *answer = NULL;
	int rc = lt_slurm_answers(err);

	if (rc != LT_OK)
		return rc;
	if (slurm_load_node_single(&answer, (char *)(uintptr_t)node, SHOW_ALL) != SLURM_SUCCESS) {
		rc = lt_slurm_fail("slurmctld: node", errno, err);
		(void)lt_context(err, "node %s", node);
		return rc;
	}
	const node_info_t *const record = answer->record_count > 0 ? &answer->node_array[0] : NULL;

	if (record == NULL || record->name == NULL) {
		rc = lt_fail(err, LT_ENOENT, "node %s: no such node", node);
	} else {
		const uint32_t state = record->node_state;

		*found = (struct lt_batch_node){.is_drained = (state & NODE_STATE_DRAIN) != 0,
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
	const lt_slurm_hostlist nodes = list != NULL ? slurm_hostlist_create(list) : NULL;
	const bool has = nodes != NULL && slurm_hostlist_find(nodes, node) >= 0;

	if (nodes != NULL)
		slurm_hostlist_destroy(nodes);
	return has;
}
