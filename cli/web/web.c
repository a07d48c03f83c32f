/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide web: a page to look at, served to the user who runs it and asked of lowtided as that
 * user. This file has the options, the token, the socket on which it listens (a port of this host
 * alone, or a Unix socket that only its user opens) and the lines that it prints.
 *
 * Fails if lowtided does not answer, or the port or socket can't be had.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "units.h"
#include "web_page.h"

enum { BACKLOG = 32 };

static int
open_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Notes what went wrong, before close() changes errno. */
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
	if (page->fd < 0 || setsockopt(page->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(page->fd, (struct sockaddr *)&address, size) || listen(page->fd, BACKLOG) ||
	    getsockname(page->fd, (struct sockaddr *)&address, &size))
		return fail_at(page, where, err);
	page->port = ntohs(address.sin_port);
	return LT_OK;
}

/* Removes the socket of an earlier process that was killed. A socket that answers, and anything
 * that is not a socket of ours, stays. */
static int
make_room(const struct sockaddr_un *address, struct lt_error *err)
{
	struct stat facts;

	if (lstat(address->sun_path, &facts) || !S_ISSOCK(facts.st_mode) ||
	    facts.st_uid != geteuid())
		return LT_OK; /* bind() will fail and say why */
	const int fd = open_socket(AF_UNIX);

	if (fd < 0)
		return LT_OK;
	const bool answers = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
			     errno != ECONNREFUSED;

	close(fd);
	if (answers)
		return lt_fail(
		    err, LT_ECONFLICT, "%s: another one listens there", address->sun_path);
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
	/* Right from the first moment: a chmod() would come later. */
	const mode_t before = umask(0177);
	const bool ok = page->fd >= 0 &&
			bind(page->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			listen(page->fd, BACKLOG) == 0;

	umask(before);
	return ok ? LT_OK : fail_at(page, page->socket, err);
}

enum { PORT_MIN = 1024, PORT_MAX = 65535, SUGGESTED_PORT = 8017 };

const struct lt_cli_option lt_cli_web_options[] = {
    {"port", "N", "on 127.0.0.1: this port, not any that is free"},
    {"socket", "[=PATH]", "on a Unix socket; without PATH $XDG_RUNTIME_DIR/lowtide-web.sock"},
    {NULL, NULL, NULL},
};

static char socket_made[LT_PAGE_PATH_SIZE]; /* for end_web(); "" = none */

/* Ends at once, whatever it waits for: nothing needs to be finished. */
static void
end_web(int signal)
{
	if (socket_made[0] != '\0')
		(void)unlink(socket_made);
	_exit(128 + signal);
}

static void
catch_ends(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = end_web};

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		(void)sigaction(ends[i], &action, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

static int
make_token(char token[LT_PAGE_TOKEN_SIZE], struct lt_error *err)
{
	unsigned char bytes[LT_PAGE_TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return lt_fail(err, LT_EIO, "no random bytes for the address");
	for (int i = 0; i < LT_PAGE_TOKEN_BYTES; i++)
		snprintf(token + (size_t)2 * (size_t)i, 3, "%02x", bytes[i]);
	return LT_OK;
}

/* Names the socket: the PATH of --socket, or a file in the user's runtime directory. */
static int
name_socket(struct lt_page *page, const char *path, struct lt_error *err)
{
	const char *const dir = getenv("XDG_RUNTIME_DIR");
	const bool named = path[0] != '\0';

	if (!named && (dir == NULL || dir[0] != '/'))
		return lt_fail(err, LT_EINPUT,
		    "XDG_RUNTIME_DIR names no runtime directory; want --socket=PATH");
	const int length = snprintf(page->socket, sizeof(page->socket), "%s%s", named ? path : dir,
	    named ? "" : "/lowtide-web.sock");
	return (size_t)length < sizeof(page->socket)
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "%s: longer than a socket's name may be (%zu)",
			 named ? path : dir, sizeof(page->socket) - 1);
}

static int
start_page(struct lt_page *page, const char *socket, struct lt_error *err)
{
	json_t *status = NULL;

	/* Fail now if lowtided does not answer: the page would fail each minute. */
	if (lt_client_get(&status, page->cli, "/v1/status", err) != LT_OK)
		return err->code;
	json_decref(status);
	if (socket == NULL) {
		if (make_token(page->token, err) != LT_OK)
			return err->code;
		return lt_page_listen_port(page, err);
	}
	if (name_socket(page, socket, err) != LT_OK || lt_page_listen_socket(page, err) != LT_OK)
		return err->code;
	memcpy(socket_made, page->socket, sizeof(socket_made));
	return LT_OK;
}

/* Prints the address, and how to reach it from the machine with the browser. */
static void
print_address(const struct lt_page *page)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		(void)strcpy(host, "HOST");
	if (page->port != 0)
		printf("http://127.0.0.1:%d/%s/\n"
		       "from elsewhere: ssh -L %d:127.0.0.1:%d %s\n"
		       "and then the same address; Ctrl-C ends it\n",
		    page->port, page->token, page->port, page->port, host);
	else
		printf("%s\n"
		       "from elsewhere: ssh -L %d:%s %s\n"
		       "and then http://localhost:%d/; Ctrl-C ends it\n",
		    page->socket, SUGGESTED_PORT, page->socket, host, SUGGESTED_PORT);
	fflush(stdout);
}

int
lt_cli_web(const struct lt_cli *cli)
{
	const char *const port = lt_cli_value(cli, "port");
	const char *const socket = lt_cli_value(cli, "socket");
	struct lt_page page = {.cli = cli, .fd = -1};
	struct lt_error err = {0};
	int64_t number = 0;

	if (port != NULL && socket != NULL)
		return lt_cli_usage(cli, "--port and --socket are two places: want one");
	if (port != NULL && lt_int64_parse(port, PORT_MIN, PORT_MAX, &number, &err) != LT_OK)
		return lt_cli_usage(cli, "--port: %s", err.text);
	page.port = (int)number;
	lt_cli_whole_lines(); /* an address is copied */
	catch_ends();
	if (start_page(&page, socket, &err) != LT_OK)
		return lt_cli_fail(&err);
	print_address(&page);
	(void)lt_page_serve(&page, &err);
	if (socket_made[0] != '\0')
		(void)unlink(socket_made);
	return lt_cli_fail(&err);
}
