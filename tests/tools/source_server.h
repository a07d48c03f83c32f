/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small HTTP server for tests: real payloads on real sockets, and every
 * fault that a source can have. A child process; a process per connection.
 * Not libmicrohttpd: faults need the bare socket, at the same port and path.
 */
#ifndef LT_SOURCE_SERVER_H
#define LT_SOURCE_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "units.h"

struct server {
	int port; /* on 127.0.0.1 */
	pid_t pid;
};

enum { SERVER_REQUEST_MAX = 16384, SERVER_LIFE_S = 120 };

struct exchange {
	int fd, port;
	char request[SERVER_REQUEST_MAX]; /* head and body */
	char method[16], path[2048];	  /* path with its query */
	const char *body;
};

/* A test's own pages, asked before those below: true = answered. Set before server_start(). */
static bool (*server_own)(const struct exchange *exchange);

/* Where server_stop_clock() stopped the clock of all servers' processes; 0: it runs. */
static int64_t *server_clock;

/* The time of the pages that a server makes. */
static inline int64_t
server_time(void)
{
	return server_clock != NULL && *server_clock != 0 ? *server_clock : time(NULL);
}

/* Stops the clock of the servers that server_start() started and returns its time: a test and its
 * server mean the same now at any 5 minutes' end. */
static inline int64_t
server_stop_clock(void)
{
	*server_clock = time(NULL);
	return *server_clock;
}

static inline bool
server_write(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		const ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		at += sent;
		length -= (size_t)sent;
	}
	return true;
}

static inline void
server_answer(const struct exchange *exchange, int status, const char *type, const char *headers,
    const char *body)
{
	char head[1024];
	const int length = snprintf(head, sizeof(head),
	    "HTTP/1.1 %d Status\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	    "Connection: close\r\n%s\r\n",
	    status, type, strlen(body), headers);

	if (server_write(exchange->fd, head, (size_t)length))
		server_write(exchange->fd, body, strlen(body));
}

static inline void
server_head(const struct exchange *exchange, const char *headers)
{
	char head[512];
	const int length = snprintf(head, sizeof(head),
	    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s\r\n", headers);

	server_write(exchange->fd, head, (size_t)length);
}

/* Until the client has gone. */
static inline void
server_wait(const struct exchange *exchange)
{
	struct pollfd poll_fd = {.fd = exchange->fd, .events = POLLIN};
	char byte;

	while (poll(&poll_fd, 1, SERVER_LIFE_S * 1000) > 0 && read(exchange->fd, &byte, 1) > 0)
		;
}

/* Value of a request's header, "" without it. */
static inline const char *
server_header(const struct exchange *exchange, const char *name, char out[512])
{
	const size_t length = strlen(name);
	const char *line = exchange->request;

	out[0] = '\0';
	while ((line = strstr(line, "\r\n")) != NULL && line < exchange->body) {
		line += 2;
		if (strncasecmp(line, name, length) == 0 && line[length] == ':')
			sscanf(line + length + 1, " %511[^\r]", out);
	}
	return out;
}

/* A file as it is, with an ETag: 304 to who has it. */
static inline void
server_file(const struct exchange *exchange, const char *file_name, const char *type)
{
	static char body[4 * 1024 * 1024];
	FILE *const file = fopen(file_name, "rb");
	const size_t length = file == NULL ? 0 : fread(body, 1, sizeof(body) - 1, file);
	char head[512], etag[512], known[512];

	if (file == NULL) {
		server_answer(exchange, 404, "text/plain", "", file_name);
		return;
	}
	fclose(file);
	snprintf(etag, sizeof(etag), "\"%08x\"", lt_crc32c(0, body, length));
	server_header(exchange, "If-None-Match", known);
	if (strcmp(known, etag) == 0) {
		server_answer(exchange, 304, type, "", "");
		return;
	}
	const int head_length = snprintf(head, sizeof(head),
	    "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	    "ETag: %s\r\nConnection: close\r\n\r\n",
	    type, length, etag);
	if (server_write(exchange->fd, head, (size_t)head_length))
		server_write(exchange->fd, body, length);
}

/* /fixture/NAME/answer.json/...: that file of tests/fixtures, at any path. */
static inline void
serve_fixture(const struct exchange *exchange)
{
	const char *const name = exchange->path + strlen("/fixture/");
	const char *const end = strstr(name, ".json/");
	char file[256];

	snprintf(file, sizeof(file), "tests/fixtures/%.*s", end == NULL ? 0 : (int)(end - name) + 5,
	    name);
	server_file(exchange, file, "application/json");
}

static inline void
serve_ok(const struct exchange *exchange)
{
	server_answer(exchange, 200, "application/json", "", "{\"a\":1}");
}

static inline void
serve_echo(const struct exchange *exchange)
{
	server_answer(exchange, 200, "text/plain", "", exchange->request);
}

static inline void
serve_reset(const struct exchange *exchange)
{
	const struct linger linger = {.l_onoff = 1};

	server_head(exchange, "Content-Length: 1000\r\n");
	server_write(exchange->fd, "{\"data\":", 8);
	usleep(50000); /* let it arrive: a reset may throw away what waits */
	setsockopt(exchange->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static inline void
serve_short(const struct exchange *exchange)
{
	server_head(exchange, "Content-Length: 1000\r\n");
	server_write(exchange->fd, "{\"data\":", 8);
}

static inline void
serve_slow(const struct exchange *exchange)
{
	server_head(exchange, "Content-Length: 1000\r\n");
	for (int i = 0; i < SERVER_LIFE_S; i++) {
		if (!server_write(exchange->fd, " ", 1))
			return;
		sleep(1);
	}
}

/* Silent for three seconds, then right. */
static inline void
serve_thinking(const struct exchange *exchange)
{
	sleep(3);
	server_answer(exchange, 200, "application/json", "", "{}");
}

static inline void
serve_endless_headers(const struct exchange *exchange)
{
	server_write(exchange->fd, "HTTP/1.1 200 OK\r\n", 17);
	while (server_write(exchange->fd, "X-More: and more\r\n", 18))
		;
}

static inline void
serve_endless_body(const struct exchange *exchange)
{
	static const char blanks[4096] = {' '};

	server_head(exchange, "");
	while (server_write(exchange->fd, blanks, sizeof(blanks)))
		;
}

static inline void
serve_huge_length(const struct exchange *exchange)
{
	server_head(exchange, "Content-Length: 99999999999\r\n");
}

/* 128 MiB of zeros in 0.8 MB of deflate: one literal, then matches of 258 at distance 1 in the
 * fixed code (RFC 1951, 3.2.6): 8 + 5 bits each. */
static inline void
serve_bomb(const struct exchange *exchange)
{
	static const unsigned char head[10] = {0x1f, 0x8b, 8};
	/* One final block, fixed codes (3 bits), literal 0 (8 bits). */
	uint64_t bits = 0x3 | (uint64_t)0x0c << 3;
	int bit_count = 11;

	server_head(exchange, "Content-Encoding: gzip\r\n");
	server_write(exchange->fd, head, sizeof(head));
	for (int i = 0; i < 520000; i++) {
		unsigned char bytes[8];
		size_t length = 0;

		/* 285 is 11000101, most significant bit first; distance 0 */
		bits |= (uint64_t)0xa3 << bit_count;
		bit_count += 13;
		while (bit_count >= 8) {
			bytes[length++] = (unsigned char)bits;
			bits >>= 8;
			bit_count -= 8;
		}
		if (!server_write(exchange->fd, bytes, length))
			return;
	}
}

static inline void
serve_deep(const struct exchange *exchange)
{
	static char body[100001];

	memset(body, '[', sizeof(body) - 1);
	server_answer(exchange, 200, "application/json", "", body);
}

static inline void
serve_redirect(const struct exchange *exchange, const char *location)
{
	char header[600];

	snprintf(header, sizeof(header), "Location: %s\r\n", location);
	server_answer(exchange, 302, "text/plain", header, "moved");
}

static inline void
serve_redirect_host(const struct exchange *exchange)
{
	char location[64];

	snprintf(location, sizeof(location), "http://localhost:%d/ok", exchange->port);
	serve_redirect(exchange, location);
}

/* /status/503 and so on; 429 and 503 ask for a pause. */
static inline void
serve_status(const struct exchange *exchange)
{
	const int status = atoi(exchange->path + strlen("/status/"));

	server_answer(exchange, status, "application/json",
	    status == 429 || status == 503 ? "Retry-After: 7\r\n" : "",
	    "{\"error\":{\"code\":\"Status\",\"message\":\"as you like\"}}");
}

#include "source_server_uk.h"

static inline void
server_route(const struct exchange *exchange)
{
	static const struct {
		const char *path;
		void (*serve)(const struct exchange *exchange);
	} routes[] = {
	    {"/ok", serve_ok},
	    {"/echo", serve_echo},
	    {"/reset", serve_reset},
	    {"/short", serve_short},
	    {"/slow", serve_slow},
	    {"/thinking", serve_thinking},
	    {"/blackhole", server_wait},
	    {"/endless-headers", serve_endless_headers},
	    {"/endless-body", serve_endless_body},
	    {"/huge-length", serve_huge_length},
	    {"/bomb", serve_bomb},
	    {"/deep", serve_deep},
	    {"/redirect-host", serve_redirect_host},
	    {"/uk/", serve_uk},
	    {"/fixture/", serve_fixture},
	    {"/status/", serve_status},
	};
	static const struct {
		const char *path, *location;
	} redirects[] = {
	    {"/redirect-ok", "/ok"},
	    {"/redirect-loop", "/redirect-loop"},
	    {"/redirect-file", "file:///etc/passwd"},
	    {"/redirect-port", "http://127.0.0.1:1/ok"},
	};
	static const struct {
		const char *path, *type, *body;
	} bodies[] = {
	    {"/html", "text/html", "<html>Please log in</html>"},
	    {"/truncated", "application/json", "{\"data\":[{\"from\":"},
	    {"/empty", "application/json", ""},
	    {"/bom", "application/json", "\xEF\xBB\xBF{\"data\":[]}"},
	    {"/old", "application/json",
		"{\"data\":[{\"from\":\"2018-01-20T12:00Z\","
		"\"to\":\"2018-01-20T12:30Z\","
		"\"intensity\":{\"forecast\":9}}]}"},
	};
	/* A mirror's base URL may be any of these paths. */
	const char *const path = exchange->path;

	if (server_own != NULL && server_own(exchange))
		return;
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strncmp(path, routes[i].path, strlen(routes[i].path)) == 0) {
			routes[i].serve(exchange);
			return;
		}
	for (size_t i = 0; i < sizeof(redirects) / sizeof(redirects[0]); i++)
		if (strncmp(path, redirects[i].path, strlen(redirects[i].path)) == 0) {
			serve_redirect(exchange, redirects[i].location);
			return;
		}
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		if (strncmp(path, bodies[i].path, strlen(bodies[i].path)) == 0) {
			server_answer(exchange, 200, bodies[i].type, "", bodies[i].body);
			return;
		}
	server_answer(exchange, 404, "text/plain", "", "no such page");
}

/* The bytes of a request: its head, and as much body as it announces. */
static inline bool
server_read(struct exchange *exchange)
{
	size_t length = 0, wanted = SIZE_MAX;

	while (length < wanted && length + 1 < sizeof(exchange->request)) {
		const ssize_t got = read(exchange->fd, exchange->request + length,
		    sizeof(exchange->request) - length - 1);
		char announced[512];

		if (got <= 0)
			return false;
		length += (size_t)got;
		exchange->body = strstr(exchange->request, "\r\n\r\n");
		if (exchange->body == NULL)
			continue;
		exchange->body += 4;
		server_header(exchange, "Content-Length", announced);
		wanted = (size_t)(exchange->body - exchange->request) + (size_t)atoi(announced);
	}
	return true;
}

static inline void
server_exchange(int fd, int port)
{
	struct exchange exchange = {.fd = fd, .port = port};

	if (!server_read(&exchange))
		return;
	if (sscanf(exchange.request, "%15s %2047s", exchange.method, exchange.path) == 2)
		server_route(&exchange);
	/* Shut down, then wait for the client's end: closing with unread
	 * bytes would reset what it has not read yet. */
	if (strcmp(exchange.path, "/reset") != 0) {
		shutdown(fd, SHUT_WR);
		server_wait(&exchange);
	}
	close(fd);
}

static inline void
server_loop(int listen_fd, int port)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		const int fd = accept(listen_fd, NULL, NULL);

		if (fd < 0)
			continue;
		if (fork() == 0) {
			alarm(SERVER_LIFE_S);
			server_exchange(fd, port);
			_exit(0);
		}
		close(fd);
	}
}

/* port 0 = any; unix_path NULL = 127.0.0.1. Ends with its parent. */
static inline struct server
server_start(int port, const char *unix_path)
{
	struct sockaddr_in tcp = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(tcp);
	struct server server = {0};
	const int yes = 1;
	const int fd = socket(unix_path == NULL ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
	int failed;

	if (server_clock == NULL)
		server_clock = mmap(NULL, sizeof(*server_clock), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (server_clock == MAP_FAILED) {
		perror("server_start");
		exit(1);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (unix_path != NULL) {
		snprintf(local.sun_path, sizeof(local.sun_path), "%s", unix_path);
		failed = bind(fd, (struct sockaddr *)&local, sizeof(local));
	} else {
		failed = bind(fd, (struct sockaddr *)&tcp, sizeof(tcp)) != 0 ||
			 getsockname(fd, (struct sockaddr *)&tcp, &length) != 0;
	}
	if (failed || listen(fd, 16) != 0) {
		perror("source_server");
		exit(1);
	}
	server.port = ntohs(tcp.sin_port);
	server.pid = fork();
	if (server.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		server_loop(fd, server.port);
	}
	close(fd);
	return server;
}

static inline void
server_stop(const struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
}

#endif
