/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens and closes a connection to slurmdbd, one for each call, as it may be down for days. A
 * failure is returned in Slurm's words.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dbd_link.h"
#include "slurm_text.h"

void
lt_dbd_close(struct lt_dbd_link *link)
{
	if (link->clusters != NULL)
		slurm_list_destroy(link->clusters);
	if (link->connection != NULL)
		(void)slurmdb_connection_close(&link->connection);
}

/*
 * libslurm writes a message's length and its body apart, and the second waits for the first one's
 * acknowledgement, which TCP delays by 40 ms: half of what a small answer takes. libslurm does not
 * say which socket it has: one of the first, in a process that has few. Those that are not TCP
 * refuse the option.
 */
static void
send_at_once(void)
{
	enum { FDS = 64 };
	const int on = 1;

	for (int fd = STDERR_FILENO + 1; fd < FDS; fd++)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int
lt_dbd_open(struct lt_dbd_link *link, struct lt_error *err)
{
	uint16_t flags = 0;

	*link = (struct lt_dbd_link){0};
	errno = 0;
	link->connection = slurmdb_connection_get(&flags);
	if (link->connection == NULL || errno != 0)
		return lt_slurm_fail("slurmdbd: connection", errno, err);
	send_at_once();
	link->clusters = slurm_list_create(NULL);
	(void)slurm_list_append(link->clusters, slurm_conf.cluster_name);
	return LT_OK;
}
