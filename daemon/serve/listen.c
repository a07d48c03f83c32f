/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Unix socket that lowtided listens on, and who is at its other end.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <string.h>

#include "listen.h"

enum {
	BACKLOG = 256,
	FREE_WITHIN_MS = 10 * 1000, /* children of a killed one end by then */
	LOOK_MS = 100,
};

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

/* Returns a listening socket, or -1 with errno. */
static int
listen_tcp(uint16_t port)
{
	const struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_port = htons(port)};
	const int on = 1;
	const int fd =
	    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* A port of connections that ended is free; one that another listens
	 * on is not, whoever that is. */
	if (fd < 0 ||
	    (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		bind(fd, (const struct sockaddr *)&address, sizeof(address)) ==
		    0 &&
		listen(fd, BACKLOG) == 0))
		return fd;
	const int why = errno;
	close(fd);
	errno = why;
	return -1;
}

int
lt_listen_tcp(uint16_t port, struct lt_error *err)
{
	int fd = listen_tcp(port);

	for (int ms = 0; fd < 0 && errno == EADDRINUSE && ms < FREE_WITHIN_MS;
	     ms += LOOK_MS) {
		usleep(LOOK_MS * 1000);
		fd = listen_tcp(port);
	}
	if (fd >= 0)
		return fd;
	return errno == EADDRINUSE
		   ? lt_fail(err, LT_ECONFLICT,
			 "port %u: another program listens there, a second lowtided maybe: stop it, or give this one another listen_port: in its policy",
			 port)
		   : lt_fail(err, LT_EIO, "port %u: %s", port, strerror(errno));
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
