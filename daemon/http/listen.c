/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Unix socket that lowtided listens on, and who is at its other end.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <string.h>

#include "listen.h"

enum { BACKLOG = 256 };

int
lt_listen(const char *path, struct lt_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s.new",
		path) >= (int)sizeof(address.sun_path))
		return lt_fail(err, LT_EINPUT,
		    "%s: longer than a socket's name may be (%zu)", path,
		    sizeof(address.sun_path) - sizeof(".new"));
	unlink(address.sun_path);
	const int fd =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    chmod(address.sun_path, 0666) != 0 || listen(fd, BACKLOG) != 0 ||
	    rename(address.sun_path, path) != 0) {
		lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return err != NULL ? err->code : LT_EIO;
	}
	return fd;
}

void
lt_listen_refuse(int fd)
{
	static const char text[] =
	    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
	    "Content-Type: application/json\r\n\r\n"
	    "{\"error\":\"lowtided: too many connections, of this user or in all: try again\"}";
	char asked[512];

	/* Closed with something unread, it would read a reset, not this. */
	shutdown(fd, SHUT_RD);
	while (recv(fd, asked, sizeof(asked), MSG_DONTWAIT) > 0)
		;
	(void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

void
lt_listen_hang_up(int fd)
{
	(void)shutdown(fd, SHUT_RDWR);
}

bool
lt_listen_peer(int fd, uint32_t *uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
	    size != sizeof(peer) || peer.uid == (uid_t)-1)
		return false;
	*uid = peer.uid;
	return true;
}
