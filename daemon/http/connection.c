/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Unix socket that lowtided listens on, the user at its other end as the kernel knows them, and
 * replies that are whole. serve.c and metrics_listen.c use it. A socket that can't be made is an
 * error of the caller's; a reply that can't be made closes its connection.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api.h"
#include "connection.h"
#include "door.h"
#include "http.h"

enum { BACKLOG = 256 };

int
lt_listen(const char *path, struct lt_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s.new", path) >=
	    (int)sizeof(address.sun_path))
		return lt_fail(err, LT_EINPUT, "%s: longer than a socket's name may be (%zu)", path,
		    sizeof(address.sun_path) - sizeof(".new"));
	unlink(address.sun_path);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
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

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof(peer) ||
	    peer.uid == (uid_t)-1)
		return false;
	*uid = peer.uid;
	return true;
}

/* ---- replies ---- */

void
lt_respond_until(struct MHD_Connection *connection, int64_t deadline_ms)
{
	struct lt_slot *const slot = lt_door_slot(connection);

	if (slot != NULL)
		slot->deadline_ms = deadline_ms;
}

enum MHD_Result
lt_respond_lent(struct MHD_Connection *connection, unsigned status, char *text, const char *type,
    void (*release)(void *text))
{
	struct MHD_Response *const response =
	    MHD_create_response_from_buffer_with_free_callback(strlen(text), text, release);

	if (response == NULL) {
		release(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == 401) /* whose only scheme is that of metrics */
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	const enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	lt_respond_until(connection, lt_monotonic_ms() + LT_SLOT_REPLY_MS);
	return result;
}

enum MHD_Result
lt_respond(struct MHD_Connection *connection, unsigned status, char *text, const char *type)
{
	return lt_respond_lent(connection, status, text, type, free);
}

enum MHD_Result
lt_respond_error(struct MHD_Connection *connection, unsigned status, const char *why)
{
	char *const text = lt_api_error_text(why);

	return text != NULL ? lt_respond(connection, status, text, "application/json") : MHD_NO;
}
