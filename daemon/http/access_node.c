/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks who may speak for a node. A munge credential has the uid and the address of its maker, and
 * only a host with the cluster's key can make one. Every host has the key: the check prevents
 * reports on the wrong node by mistake, and by those who are root elsewhere without having read the
 * key. A child asks slurmctld for the node's address; without an answer in two seconds the request
 * is refused with 503, and so are others for eight seconds.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>

#include "access.h"
#include "address.h"
#include "batch.h"
#include "child.h"
#include "daemon.h"
#include "http.h"

enum { ADDRESS_MS = 2000, PAUSE_MS = 8000, CHILD_S = 3 };

struct question { /* of the child, and its answer */
	const char *node;
	struct in_addr address;
	struct lt_batch_address found;
	struct lt_error err;
};

static void
answer(void *work, int fd)
{
	struct question *const question = work;

	(void)lt_batch_whose_address(
	    &question->found, question->node, question->address.s_addr, &question->err);
	(void)lt_child_write(fd, question, sizeof(*question));
}

/* Asks through a child, so that a silent slurmctld or name server does not block lowtided; after a
 * timeout nobody asks again for a while. */
static int
find_whose(struct question *question, struct lt_error *err)
{
	static int64_t silent_until_ms;
	struct lt_child child = {.fd = -1};
	const int64_t end_ms = lt_monotonic_ms() + ADDRESS_MS;
	int status = 0, code;
	bool ended = false;

	if (lt_monotonic_ms() < silent_until_ms)
		return lt_fail(err, LT_ENET,
		    "node %s: slurmctld or the names of nodes do not answer just now",
		    question->node);
	code = lt_child_start(&child, answer, question, CHILD_S, err);
	while (code == LT_OK && !ended) {
		struct pollfd wait = {.fd = child.fd, .events = POLLIN};
		const int64_t left_ms = end_ms - lt_monotonic_ms();

		if (left_ms <= 0) {
			silent_until_ms = lt_monotonic_ms() + PAUSE_MS;
			code = lt_fail(err, LT_ENET,
			    "node %s: slurmctld or the names of nodes do not answer within %d ms",
			    question->node, ADDRESS_MS);
		} else if (poll(&wait, 1, (int)left_ms) > 0) {
			ended = lt_child_read(&child, &status);
		}
	}
	if (code == LT_OK && child.length == sizeof(*question))
		memcpy(question, child.bytes, sizeof(*question));
	else if (code == LT_OK)
		code = lt_fail(
		    err, LT_EIO, "node %s: its address could not be looked up", question->node);
	lt_child_drop(&child);
	if (code == LT_OK && question->err.code != LT_OK)
		code = (*err = question->err).code;
	return code;
}

/* False for an address that every host has, or none. */
static bool
says_host(struct in_addr address)
{
	return address.s_addr != INADDR_ANY && !lt_ipv4_is_loopback(address.s_addr);
}

static int
judge(const struct lt_api_request *request, const struct question *asked, bool is_node_root,
    json_t **reply)
{
	const struct lt_batch_address *const found = &asked->found;
	char from[INET_ADDRSTRLEN] = "?";

	(void)inet_ntop(AF_INET, &asked->address, from, sizeof(from));
	if (found->whose == LT_WHOSE_NODE)
		return is_node_root
			   ? 200
			   : lt_api_error(reply, 403,
				 "node %s: the request is from it (%s), but of uid %u, want root or SlurmdUser",
				 asked->node, from, request->uid);
	if (found->whose == LT_WHOSE_OTHER_NODE)
		return lt_api_error(reply, 403,
		    "node %s: the request is from %s, which is node %s; Slurm has %s at %s",
		    asked->node, from, found->other, asked->node, found->node_address);
	if (!says_host(asked->address))
		return lt_api_error(reply, 403,
		    "node %s: the request is from %s, by munge there, which is no host's own address (munged --origin sets it); Slurm has %s at %s",
		    asked->node, from, asked->node, found->node_address);
	return request->is_admin
		   ? 200
		   : lt_api_error(reply, 403,
			 "node %s: the request is from %s, which is no node, and of uid %u, want root or SlurmUser; Slurm has %s at %s",
			 asked->node, from, request->uid, asked->node, found->node_address);
}

int
lt_access_check_node(const struct lt_daemon *d, const struct lt_api_request *request,
    const char *node, json_t **reply)
{
	const bool is_node_root =
	    request->uid == 0 || request->uid == d->site.tables.conf.slurmd_uid;
	struct lt_error err = {0};

	if (request->from == NULL)
		return request->is_admin ? 200
					 : lt_api_error(reply, 403,
					       "%s: only for root and SlurmUser", request->path);
	if (!is_node_root && !request->is_admin)
		return lt_api_error(reply, 403,
		    "%s: the request is of uid %u, want root or SlurmdUser of the node itself, or root or SlurmUser where no node is",
		    request->path, request->uid);
	if (node == NULL)
		return 200;
	struct question question = {.node = node, .address = *request->from};
	const int code = find_whose(&question, &err);

	if (code != LT_OK)
		return lt_api_error(reply,
		    code == LT_ENOENT	? 404
		    : code == LT_EINPUT ? 400
					: 503,
		    "%s", err.text);
	return judge(request, &question, is_node_root, reply);
}
