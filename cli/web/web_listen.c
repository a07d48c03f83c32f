/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where "lowtide web" listens: a port of this host alone, or a Unix socket
 * that only its user opens.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "web_page.h"

enum { BACKLOG = 32 };

static int
open_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* What went wrong, before close() says something else. */
static int
fail_at(struct lt_page *page, const char *where, struct lt_error *err)
{
	lt_fail(err, LT_EIO, "%s: %s", where, strerror(errno));
	if (page->fd >= 0)
		close(page->fd);
	page->fd = -1;
	return err->code;
}

int
lt_page_listen_port(struct lt_page *page, struct lt_error *err)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)page->port),
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	const int one = 1;
	char where[32];

	snprintf(where, sizeof(where), "127.0.0.1:%d", page->port);
	page->fd = open_socket(AF_INET);
	if (page->fd < 0 ||
	    setsockopt(page->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(page->fd, (struct sockaddr *)&address, size) ||
	    listen(page->fd, BACKLOG) ||
	    getsockname(page->fd, (struct sockaddr *)&address, &size))
		return fail_at(page, where, err);
	page->port = ntohs(address.sin_port);
	return LT_OK;
}

/* An earlier one that was killed left its socket there; one that answers, and
 * all that is no socket of ours, stays. */
static int
make_room(const struct sockaddr_un *address, struct lt_error *err)
{
	struct stat facts;

	if (lstat(address->sun_path, &facts) || !S_ISSOCK(facts.st_mode) ||
	    facts.st_uid != geteuid())
		return LT_OK; /* bind() says what is wrong */
	const int fd = open_socket(AF_UNIX);

	if (fd < 0)
		return LT_OK;
	const bool answers = connect(fd, (const struct sockaddr *)address,
				 sizeof(*address)) == 0 ||
			     errno != ECONNREFUSED;

	close(fd);
	if (answers)
		return lt_fail(err, LT_ECONFLICT,
		    "%s: another one listens there", address->sun_path);
	unlink(address->sun_path);
	return LT_OK;
}

int
lt_page_listen_socket(struct lt_page *page, struct lt_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	_Static_assert(sizeof(page->socket) == sizeof(address.sun_path),
	    "a name that is kept whole is one that fits");
	memcpy(address.sun_path, page->socket, sizeof(address.sun_path));
	if (make_room(&address, err) != LT_OK)
		return err->code;
	page->fd = open_socket(AF_UNIX);
	/* The mode from its first moment: a chmod() would come later. */
	const mode_t before = umask(0177);
	const bool ok =
	    page->fd >= 0 &&
	    bind(page->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(page->fd, BACKLOG) == 0;

	umask(before);
	return ok ? LT_OK : fail_at(page, page->socket, err);
}
