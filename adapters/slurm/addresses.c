/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which node an address is of. NodeAddr is an address or a name, and in a cloud
 * it comes with the machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "compat.h"
#include "slurm_text.h"

/* A name may have several; one that does not resolve has none. */
static bool
is_of(const char *name, uint32_t address)
{
	const struct addrinfo hints = {
	    .ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
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
ask_node(struct lt_batch_address *found, const char *node, uint32_t address,
    struct lt_error *err)
{
	node_info_msg_t *answer = NULL;

	if (slurm_load_node_single(
		&answer, (char *)(uintptr_t)node, SHOW_ALL) != SLURM_SUCCESS ||
	    answer->record_count == 0) {
		const int number = errno;

		if (answer != NULL)
			slurm_free_node_info_msg(answer);
		(void)lt_slurm_fail("slurmctld: node",
		    number != 0 ? number : ESLURM_INVALID_NODE_NAME, err);
		return lt_context(err, "node %s", node);
	}
	lt_copy(found->node_address, sizeof(found->node_address),
	    answer->node_array[0].node_addr);
	if (is_of(answer->node_array[0].node_addr, address))
		found->whose = LT_WHOSE_NODE;
	slurm_free_node_info_msg(answer);
	return LT_OK;
}

static int
ask_others(
    struct lt_batch_address *found, uint32_t address, struct lt_error *err)
{
	node_info_msg_t *answer = NULL;

	if (slurm_load_node(0, &answer, SHOW_ALL) != SLURM_SUCCESS)
		return lt_slurm_fail("slurmctld: nodes", errno, err);
	for (uint32_t i = 0;
	     i < answer->record_count && found->whose == LT_WHOSE_NO_NODE;
	     i++) {
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
lt_batch_whose_address(struct lt_batch_address *found, const char *node,
    uint32_t address, struct lt_error *err)
{
	int rc = lt_slurm_answers(err);

	*found = (struct lt_batch_address){.whose = LT_WHOSE_NO_NODE};
	if (rc == LT_OK)
		rc = ask_node(found, node, address, err);
	if (rc == LT_OK && found->whose == LT_WHOSE_NO_NODE)
		rc = ask_others(found, address, err);
	return rc;
}
